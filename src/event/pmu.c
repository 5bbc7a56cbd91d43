// SPDX-License-Identifier: GPL-2.0-or-later
// PMU/term=value,.../ with the fields that the kernel describes in sysfs, and the events that it names there,
// with (cpu/mem-loads/) or without (mem-loads) their PMU.
#include "base/alloc.h"
#include "base/num.h"
#include "event/core/event_kind.h"
#include "sys/pmu.h"
#include <ctype.h>
#include <stdio.h>

static struct event_spec *add_pmu(struct event_parser *p, struct pmus *pmus, struct pmu *pmu)
{
	struct event_spec *spec = event_add(p, pmu->type, 0);

	pmu_details(pmus, pmu);
	spec->pmu_name = event_text(p->specs, str_of(pmu->name));
	spec->cpus = pmu->cpus;
	spec->cpus_n = pmu->cpus_n;
	spec->cpus_are_uncore = pmu->cpus_are_uncore;
	return spec;
}

static bool is_digits(const char *s)
{
	if (*s == '_')
		s++;
	while (isdigit((unsigned char)*s))
		s++;
	return !*s;
}

// "uncore_imc" and "imc" mean uncore_imc_0, uncore_imc_1, ...; globs are allowed.
static bool matches(const char *pmu, const char *wanted)
{
	for (int i = 0; i < 2; i++) {
		size_t n = strlen(wanted);

		if (strpbrk(wanted, "*?[") ? text_glob(pmu, wanted)
					   : !strncmp(pmu, wanted, n) && is_digits(pmu + n))
			return true;
		if (!text_starts(pmu, "uncore_"))
			return false;
		pmu += strlen("uncore_");
	}
	return false;
}

// What the hardware kind calls otherwise than sysfs does.
static struct str sysfs_name(struct str name)
{
	static const struct {
		const char *name, *sysfs;
	} others[] = {{"cycles", "cpu-cycles"}, {"branches", "branch-instructions"}};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (str_is(name, others[i].name))
			return str_of(others[i].sysfs);
	return name;
}

static const struct pmu_event *find_event(const struct pmu *pmu, struct str name)
{
	const struct pmu_event *event = pmu_event(pmu, name);

	return event ? event : pmu_event(pmu, sysfs_name(name));
}

// What terms change, and where in the text the one is that does it.
struct setting {
	struct event_parser *p;
	struct event_spec *spec;
	struct str where;
};

static int set_field(const struct setting *to, const struct pmu_format *format,
		     const struct event_term *term)
{
	struct event_spec *spec = to->spec;
	uint64_t value = 1, bits, *config;

	if (term->has_value && num_parse_u64(term->value, &value) < 0)
		return event_fail(to->p, to->where,
				  "the field '%s' takes a number of at most 64 bits", format->name);
	if (pmu_spread(format->mask, value, &bits) < 0)
		return event_fail(to->p, to->where,
				  "the field '%s' has %d bits; %#llx does not fit", format->name,
				  __builtin_popcountll(format->mask), (unsigned long long)value);
	config = format->config == 0   ? (uint64_t *)&spec->attr.config
		 : format->config == 1 ? (uint64_t *)&spec->attr.config1
		 : format->config == 2 ? (uint64_t *)&spec->attr.config2
				       : (uint64_t *)&spec->attr.config3;
	*config = (*config & ~format->mask) | bits;
	spec->given |= EVENT_CONFIG;
	return 1;
}

// "ldlat=?" of an event's terms is given by the user as a term of its own.
static bool is_parameter(const struct event_term *term)
{
	return term->has_value && str_is(term->value, "?");
}

static int apply_event(const struct setting *to, struct pmu *pmu, const struct pmu_event *event)
{
	struct event_spec *spec = to->spec;
	struct event_term term;
	size_t at = 0;

	while (event_next_term(str_of(event->terms), &at, &term)) {
		const struct pmu_format *format = pmu_format(pmu, term.name);
		int err = 1;

		if (is_parameter(&term))
			continue;
		if (format)
			err = set_field(to, format, &term);
		else if (str_is(term.name, "config"))
			num_parse_u64(term.value, (uint64_t *)&spec->attr.config);
		else if (str_is(term.name, "config1"))
			num_parse_u64(term.value, (uint64_t *)&spec->attr.config1);
		else if (str_is(term.name, "config2"))
			num_parse_u64(term.value, (uint64_t *)&spec->attr.config2);
		else if (str_is(term.name, "period") && !(spec->given & EVENT_PERIOD) &&
			 num_parse_u64(term.value, (uint64_t *)&spec->attr.sample_period) == 0)
			spec->given |= EVENT_PERIOD;
		if (err < 0)
			return err;
	}
	if (event->unit)
		spec->unit = event->unit;
	spec->scale = event->scale;
	spec->per_package |= event->per_package;
	spec->snapshot |= event->snapshot;
	return 1;
}

static int term(struct event_parser *p, struct event_spec *spec, const struct event_term *term_)
{
	const struct setting to = {p, spec, event_where(p, term_->at, term_->name.n)};
	struct pmus *pmus = event_pmus(p->specs, p->ctx);
	struct pmu *pmu = pmus_find(pmus, str_of(spec->pmu_name));
	const struct pmu_format *format;
	const struct pmu_event *event;
	uint64_t raw;

	if (!pmu)
		return 0;
	format = pmu_format(pmu, term_->name);
	if (format)
		return set_field(&to, format, term_);
	event = term_->has_value ? NULL : find_event(pmu, term_->name);
	if (event)
		return apply_event(&to, pmu, event);
	if (!term_->has_value && term_->name.p[0] == 'r' && term_->name.n > 1 &&
	    num_parse_hex((struct str){term_->name.p + 1, term_->name.n - 1}, &raw) == 0) {
		spec->attr.config = raw;
		spec->given |= EVENT_CONFIG;
		return 1;
	}
	return 0;
}

static void term_names(struct event_parser *p, const struct event_spec *spec,
		       void (*add)(void *arg, const char *name), void *arg)
{
	struct pmu *pmu = pmus_find(event_pmus(p->specs, p->ctx), str_of(spec->pmu_name));

	if (!pmu)
		return;
	vec_each(struct pmu_format, format, &pmu->formats)
		add(arg, format->name);
	vec_each(struct pmu_event, event, &pmu->events)
		add(arg, event->name);
}

static int missing(struct event_parser *p, struct str head)
{
	if (event_peek(p) != '/')
		return 0;
	struct pmus *pmus = event_pmus(p->specs, p->ctx);
	char known[400] = "";
	size_t used = 0;

	vec_each(struct pmu, pmu, &pmus->list) {
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 used ? ", " : "", pmu->name);
		if (used >= sizeof(known))
			break;
	}
	if (str_is(head, "cpu"))
		return event_fail_absent(p, head,
					 "there is no PMU 'cpu' here: this machine (or its hypervisor) lends no "
					 "hardware counters; there are: %s",
					 known);
	if (head.n && head.p[0] == '.')
		return event_fail_absent(p, head,
					 "events of BPF programs in files are not made by sonde, as not by perf since 6.6; tracepoints, "
					 "kprobes and uprobes have events of their own (sonde list, sonde probe)");
	return event_fail_absent(p, head, "there is no PMU '%.*s'; there are: %s", STR_FMT(head),
				 known);
}

static int take(struct event_parser *p, struct str head)
{
	struct pmus *pmus = event_pmus(p->specs, p->ctx);
	struct pmu *exact = pmus_find(pmus, head);
	size_t found = 0;

	if (event_peek(p) == '/' && exact) {
		add_pmu(p, pmus, exact);
		return 1;
	}
	auto_free char *wanted = str_dup(head);
	vec_each(struct pmu, pmu, &pmus->list) {
		if (event_peek(p) == '/' && matches(pmu->name, wanted)) {
			add_pmu(p, pmus, pmu);
			found++;
		}
	}
	if (found)
		return 1;
	// An event's name alone: of every PMU that has it.
	vec_each(struct pmu, pmu, &pmus->list) {
		pmu_details(pmus, pmu);
		const struct pmu_event *event = pmu_event(pmu, head);
		if (!event)
			continue;
		const struct setting to = {p, add_pmu(p, pmus, pmu), head};
		int err = apply_event(&to, pmu, event);
		if (err < 0)
			return err;
		found++;
	}
	return found > 0;
}

struct shown {
	const struct pmu *pmu;
	const struct pmu_event *event;
};

static int by_text(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;
	int order = strcmp(x->pmu->name, y->pmu->name);

	return order ? order : strcmp(x->event->name, y->event->name);
}

static int list(struct event_lister *lister)
{
	struct pmus *pmus = event_pmus(lister->specs, lister->ctx);
	VEC(struct shown) all = {0};

	vec_each(struct pmu, pmu, &pmus->list) {
		pmu_details(pmus, pmu);
		vec_each(struct pmu_event, event, &pmu->events)
			vec_push(&all, (struct shown){pmu, event});
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_text);
	vec_each(struct shown, shown, &all) {
		const char *pmu = shown->pmu->name, *event = shown->event->name;
		auto_free char *whole = text_dup_fmt("%s/%s/", pmu, event);
		auto_free char *encoding = text_dup_fmt("%s/%s/", pmu, shown->event->terms);
		bool is_cpu = !strcmp(pmu, "cpu");

		lister->add(lister->arg, &(struct event_entry){
						 .name = is_cpu ? event : whole,
						 .alias = is_cpu ? whole : NULL,
						 .label = "Kernel PMU event",
						 .encoding = encoding,
						 .pmu = pmu,
						 .unit = shown->event->unit,
					 });
	}
	vec_done(&all);
	return 0;
}

const struct event_kind event_kind_pmu = {
	.name = "pmu",
	.short_name = "pmu",
	.rank = 6,
	.list_rank = 5,
	.take = take,
	.missing = missing,
	.term = term,
	.term_names = term_names,
	.list = list,
};
