// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/complete_event.h"
#include "base/err.h"
#include "event/core/event_kind.h"
#include "sys/pmu.h"
#include "sys/syscalls.h"
#include <string.h>

struct offering {
	struct out *out;
	struct str before;
	const char *begin;
};

static void offer(const struct offering *o, struct str name, const char *label)
{
	if (!str_starts(name, o->begin))
		return;
	out_str(o->out, o->before);
	out_str(o->out, name);
	out_char(o->out, '\t');
	out_text(o->out, label);
	out_char(o->out, '\n');
}

static void add(void *arg, const struct event_entry *entry)
{
	const struct offering *o = arg;
	bool is_sdt = !strcmp(entry->label, "SDT event");

	if (entry->is_form && !is_sdt)
		return;
	offer(o, (struct str){entry->name, is_sdt ? strcspn(entry->name, "@") : strlen(entry->name)},
	      entry->label);
	if (entry->alias)
		offer(o, str_of(entry->alias), entry->label);
}

void complete_event_names(struct out *out, struct str before, const char *begin)
{
	static const struct event_context usual;
	struct offering o = {out, before, begin};
	struct event_specs specs;

	event_specs_init(&specs);
	for (const struct event_kind *const *kind = event_kinds; *kind; kind++) {
		struct event_lister lister = {.ctx = &usual, .specs = &specs, .add = add, .arg = &o};

		if ((*kind)->list && strcmp((*kind)->short_name, "pfm"))
			(*kind)->list(&lister);
	}
	event_specs_done(&specs);
	err_clear();
}

// Where the last event of the text begins; *ret_term: the term between its slashes, 0: none is open. Commas there are inside of an event.
static size_t last_event(const char *text, size_t *ret_term)
{
	bool in_terms = false;
	size_t at = 0, term = 0;

	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '/')
			in_terms = !in_terms;
		if (in_terms && strchr("/,", text[i]))
			term = i + 1;
		else if (!in_terms && strchr(",{!", text[i]))
			at = i + 1;
	}
	*ret_term = in_terms ? term : 0;
	return at;
}

// What needs no value is whole: more terms or the end may follow.
static void offer_term(const struct offering *o, const char *name, bool needs_value, const char *label)
{
	auto_free char *closed = text_dup_fmt("%s%s", name, needs_value ? "=" : "/");

	if (!needs_value)
		offer(o, str_of(name), label);
	offer(o, str_of(closed), label);
}

// The terms of an event "PMU/..." or "NAME/...".
static void offer_terms(const struct offering *o, struct str event)
{
	static const struct event_context usual;
	struct event_specs specs;
	struct pmu *pmu;
	bool needs_value;
	const char *name;

	event_specs_init(&specs);
	pmu = pmus_find(event_pmus(&specs, &usual), str_cut(&event, '/'));
	if (pmu) {
		pmu_details(specs.pmus, pmu);
		vec_each(struct pmu_event, named, &pmu->events)
			offer_term(o, named->name, false, "Kernel PMU event");
		vec_each(struct pmu_format, format, &pmu->formats)
			offer_term(o, format->name, (format->mask & (format->mask - 1)) != 0,
				   "field of the PMU");
	}
	for (size_t i = 0; (name = event_common_term(i, &needs_value)); i++)
		offer_term(o, name, needs_value, "of every event");
	event_specs_done(&specs);
	err_clear();
}

void complete_event(struct out *out, const char *command, const char *text)
{
	size_t term, at = last_event(text, &term);
	const struct offering o = {out, {text, at}, text + at};

	if (term) {
		const struct offering inside = {out, {text, term}, text + term};

		offer_terms(&inside, str_of(text + at));
		return;
	}
	complete_event_names(out, o.before, o.begin);
	for (uint64_t i = 0; !strcmp(command, "trace") && i < syscall_limit(); i++) {
		const char *name = syscall_name(i);

		if (name)
			offer(&o, str_of(name), "System call");
	}
}
