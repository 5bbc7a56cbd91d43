// SPDX-License-Identifier: GPL-2.0-or-later
// -M: the events that metrics need, in groups that are counted together, and the figures that come of them.
#include "base/err.h"
#include "base/log.h"
#include "cmd/stat/stat.h"
#include "event/core/event_kind.h"
#include "event/core/internal.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>

static const struct event_context usual;

// What a metric needs, as it is found out.
struct needed {
	struct counting *stat;
	struct event_specs *scratch;
	struct stat_named named;
	bool *grouped; // by event: can be counted together with others
	uint32_t room;
};

// Counters of the processor, which are few, are counted together; the kernel's own count always.
static bool is_counter(const struct event_specs *specs, size_t from)
{
	bool counts = specs->events.n > from;

	for (size_t i = from; i < specs->events.n; i++) {
		const struct event_spec *spec = &specs->events.v[i];

		counts = counts && !spec->tool && !spec->cpus_are_uncore &&
			 spec->attr.type != PERF_TYPE_SOFTWARE &&
			 spec->attr.type != PERF_TYPE_TRACEPOINT;
	}
	return counts;
}

static void need(void *arg, struct str name)
{
	struct needed *needed = arg;
	struct stat_named *named = &needed->named;
	const struct stat_options *options = needed->stat->options;
	bool whole_cpus = options->target.all_cpus || options->target.cpus;
	size_t before = needed->scratch->events.n;

	if (str_is(name, "clock"))
		name = whole_cpus ? STR("cpu-clock") : STR("task-clock");
	for (uint32_t i = 0; i < named->events_n; i++) {
		if (str_eq(named->events[i].name, name))
			return;
	}
	if (named->events_n == needed->room) {
		needed->room = 2 * needed->room + 8;
		named->events = xrealloc(named->events, needed->room * sizeof(*named->events));
		needed->grouped = xrealloc(needed->grouped, needed->room * sizeof(*needed->grouped));
	}
	auto_free char *text = str_dup(name);

	// It was parsed when the form was chosen.
	if (event_parse(needed->scratch, text, &usual) < 0)
		err_clear();
	named->events[named->events_n] =
		(struct stat_named_event){name, UINT32_MAX,
					  (uint32_t)(needed->scratch->events.n - before)};
	needed->grouped[named->events_n++] = is_counter(needed->scratch, before);
	needed->scratch->events.n = before;
}

// Where an earlier metric has the event; UINT32_MAX: nowhere.
static uint32_t known(const struct stat_named *of, struct str name)
{
	for (uint32_t i = 0; i < of->events_n; i++) {
		if (str_eq(of->events[i].name, name))
			return of->events[i].first;
	}
	return UINT32_MAX;
}

// An earlier metric may have counted all that is counted together, too; single events may be anybody's.
static void share(struct needed *needed)
{
	struct stat_named *named = &needed->named;

	vec_each(const struct stat_named, earlier, &needed->stat->named) {
		bool has_all = true;

		for (uint32_t i = 0; i < named->events_n; i++)
			has_all = has_all && (!needed->grouped[i] ||
					      known(earlier, named->events[i].name) != UINT32_MAX);
		for (uint32_t i = 0; i < named->events_n; i++) {
			if ((has_all || !needed->grouped[i]) && named->events[i].first == UINT32_MAX)
				named->events[i].first = known(earlier, named->events[i].name);
		}
	}
}

static int add_events(struct needed *needed)
{
	const struct stat_options *options = needed->stat->options;
	struct event_specs *specs = &needed->stat->options->specs;
	struct stat_named *named = &needed->named;
	struct out text;
	unsigned together = 0;
	int err = 0;

	out_init_memory(&text);
	for (uint32_t i = 0; i < named->events_n; i++)
		together += needed->grouped[i] && named->events[i].first == UINT32_MAX;
	together = together > 1 && !options->metric_no_group ? together : 0;
	uint32_t at = (uint32_t)specs->events.n, in_group = 0;
	// The group first, then the others.
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < named->events_n; i++) {
			struct stat_named_event *event = &named->events[i];

			if (event->first != UINT32_MAX || needed->grouped[i] != !pass)
				continue;
			event->first = at;
			at += event->n;
			out_printf(&text, "%s%s%.*s", text.n ? "," : "",
				   together && !in_group ? "{" : "", STR_FMT(event->name));
			if (together && ++in_group == together) {
				out_text(&text, "}:W");
				together = 0;
			}
		}
	}
	out_char(&text, 0);
	if (*text.buf)
		err = event_parse(specs, text.buf, &usual);
	out_done(&text);
	return err;
}

static void add_name(void *arg, struct str name)
{
	struct out *text = arg;

	out_printf(text, "%s%.*s", text->n ? "," : "", STR_FMT(name));
}

static int no_events(const struct metric *metric)
{
	struct out names;
	int err;

	out_init_memory(&names);
	metric_events(metric->forms[0], add_name, &names);
	out_char(&names, 0);
	err = fail(ENOENT,
		   "metric '%s' needs events that this machine does not name: %s (sonde list metric shows what there is)",
		   metric->name, names.buf);
	out_done(&names);
	return err;
}

static void add_small(struct event_names *names, struct str name)
{
	auto_free char *small = str_dup(name);

	for (char *c = small; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	event_names_add(names, small);
}

static int no_metric(struct str word)
{
	struct event_names names = {0};
	auto_free char *small = str_dup(word);

	for (char *c = small; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	for (const struct metric *metric = metric_table; metric->name; metric++) {
		struct str groups = str_of(metric->groups);

		add_small(&names, str_of(metric->name));
		if (metric->alias)
			add_small(&names, str_of(metric->alias));
		while (groups.p)
			add_small(&names, str_cut(&groups, ';'));
	}
	auto_free char *hint = event_names_hint(&names, str_of(small));
	event_names_done(&names);
	return fail(ENOENT, "there is no metric or group '%.*s'%s (all names: sonde list metric)",
		    STR_FMT(word), hint);
}

static bool is_chosen(const struct counting *stat, const struct metric *metric)
{
	vec_each(const struct stat_named, named, &stat->named) {
		if (named->metric == metric)
			return true;
	}
	return false;
}

static void choose(struct needed *needed, const struct metric *metric, const char *formula)
{
	needed->named = (struct stat_named){.metric = metric, .formula = formula};
	vec_push(&needed->stat->named, needed->named);
}

// A word of the list: of a group those metrics that this machine counts; if it counts none, those whose events have names.
static int choose_word(struct needed *needed, struct str word)
{
	const struct metric *last = NULL;
	bool any = false;

	for (int pass = 0; pass < 2 && !any; pass++) {
		for (const struct metric *metric = metric_table; metric->name; metric++) {
			const char *formula;
			bool opens;

			if (!metric_matches(metric, word))
				continue;
			last = metric;
			formula = metric_form(metric, needed->scratch, &usual, &opens);
			if (!formula || (!opens && !pass))
				continue;
			any = true;
			if (!is_chosen(needed->stat, metric))
				choose(needed, metric, formula);
		}
	}
	return any ? 0 : last ? no_events(last) : no_metric(word);
}

static int by_events(const void *a, const void *b)
{
	const struct needed *x = a, *y = b;

	return x->named.events_n != y->named.events_n
		       ? (x->named.events_n > y->named.events_n ? -1 : 1)
	       : x->named.metric < y->named.metric ? -1
						   : x->named.metric > y->named.metric;
}

// Those with the most events first, so that others find theirs in them.
static int add_all(struct counting *stat, struct event_specs *scratch)
{
	size_t n = stat->named.n;
	auto_free struct needed *all = xcalloc(n + 1, sizeof(*all));
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		all[i] = (struct needed){.stat = stat, .scratch = scratch, .named = stat->named.v[i]};
		metric_events(all[i].named.formula, need, &all[i]);
	}
	qsort(all, n, sizeof(*all), by_events);
	stat->named.n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!stat->options->metric_no_merge)
			share(&all[i]);
		if (!err)
			err = add_events(&all[i]);
		vec_push(&stat->named, all[i].named);
		free(all[i].grouped);
	}
	return err;
}

int stat_named_choose(struct counting *stat)
{
	const struct opt_list *list = &stat->options->metrics;
	struct event_specs scratch;
	struct needed needed = {.stat = stat, .scratch = &scratch};
	int err = 0;

	event_specs_init(&scratch);
	stat->named_from = stat->options->specs.events.n;
	for (size_t i = 0; i < list->n; i++) {
		struct str rest = str_of(list->v[i]);

		while (rest.p && !err)
			err = choose_word(&needed, str_trim(str_cut(&rest, ',')));
	}
	if (!err)
		err = add_all(stat, &scratch);
	event_specs_done(&scratch);
	return err;
}

struct place {
	const struct counting *stat;
	const struct stat_named *named;
	const struct stat_counter *counters; // of one cgroup
	size_t row;
};

static double count_of(const struct place *place, const struct stat_counter *counter)
{
	const struct counting *stat = place->stat;
	double value = stat_value(stat, counter, place->row);

	// The tool's own count stands in one row, for all.
	for (size_t row = 0; counter->spec->tool && value < 0 && row < stat->rows.n; row++)
		value = stat_value(stat, counter, row);
	return value >= 0 && counter->spec->scale && !stat_is_clock(counter)
		       ? value * counter->spec->scale
		       : value;
}

static double value_of(void *arg, struct str name)
{
	const struct place *place = arg;
	double sum = (double)NAN;

	if (str_is(name, "clock"))
		name = known(place->named, STR("cpu-clock")) != UINT32_MAX ? STR("cpu-clock")
									   : STR("task-clock");
	for (uint32_t i = 0; i < place->named->events_n; i++) {
		const struct stat_named_event *event = &place->named->events[i];

		if (!str_eq(event->name, name))
			continue;
		// One name may stand for several kinds of cores; a task may have run on one of them only.
		for (uint32_t j = 0; j < event->n; j++) {
			double count = count_of(place, &place->counters[event->first + j]);

			if (count >= 0)
				sum = isnan(sum) ? count : sum + count;
		}
	}
	return sum;
}

unsigned stat_named_metrics(const struct counting *stat, const struct stat_counter *counter,
			    size_t row, struct stat_metric *ret)
{
	size_t spec = (size_t)(counter->spec - stat->options->specs.events.v);
	unsigned n = 0;

	vec_each(const struct stat_named, named, &stat->named) {
		struct place place = {stat, named, counter - spec, row};
		uint32_t at = UINT32_MAX;

		for (uint32_t i = 0; i < named->events_n; i++)
			at = MIN(at, named->events[i].first);
		if (at != spec || n == STAT_METRICS)
			continue;
		ret[n] = (struct stat_metric){.value = metric_value(named->formula, value_of, &place),
					      .format = named->metric->format,
					      .is_named = true};
		snprintf(ret[n].unit, sizeof(ret[n].unit), "%s%s%s",
			 named->metric->unit ? named->metric->unit : "",
			 named->metric->unit ? "  " : "", named->metric->name);
		n++;
	}
	return n;
}

void stat_named_done(struct counting *stat)
{
	vec_each(struct stat_named, named, &stat->named)
		free(named->events);
	vec_done(&stat->named);
}
