// SPDX-License-Identifier: GPL-2.0-or-later
// Delays between two events, counted in the kernel: a row for each key (with --perins) and bucket of delays.
//
// Out of the kernel multi counts by itself: stages that go round, roles that a record decides, what stays alone and what lies between are
// told by its own pairs, and with the same tally for the simple case there would be two ways to count here, not one.
#include "prof/core/counted.h"
#include "prof/core/multi.h"
#include "prof/core/pairing.h"

static const char *key_text(const struct prof *prof, const struct multi *multi, size_t i)
{
	const char *text = prof_spec_attr(prof->events.v[i]->spec, "key");

	if (multi->events[i].by_cpu)
		return "_cpu";
	if (multi->events[i].by_thread)
		return PROF_THREAD_KEY;
	return text && *text ? text : prof->options->key;
}

static bool is_simple(const struct prof *prof, const struct multi *multi)
{
	if (prof->events.n != 2 || prof->stages != 2 || multi->options->cycle || multi->keeps ||
	    multi->impl != MULTI_DELAY || prof->options->heatmap)
		return false;
	for (size_t i = 0; i < 2; i++) {
		const struct multi_event *m = &multi->events[i];

		if (m->untraced || m->trigger || m->has_role || m->begins == m->ends)
			return false;
	}
	return true;
}

int multi_count_in_kernel(struct prof *prof, struct multi *multi)
{
	static const struct tally_key keys[] = {{TALLY_NUMBER}};
	static const enum tally_cell_kind cells[] = {TALLY_DIST};
	static const struct tally_update update = {0, TALLY_DELAY};
	const bool simple = is_simple(prof, multi);
	struct tally_event *events = arena_zalloc(&prof->arena, 2 * sizeof(*events));
	struct tally_options plan = {.keys = keys,
				     .keys_n = ARRAY_SIZE(keys),
				     .cells = cells,
				     .cells_n = ARRAY_SIZE(cells),
				     .events = events,
				     .events_n = simple ? 2 : 0,
				     .rows_max = 8192,
				     .kernel_or_none = true};
	int err;

	if (!simple) {
		plan.not_in_kernel = prof_not_in_kernel(prof);
		if (!plan.not_in_kernel)
			plan.not_in_kernel =
				"there are more than two events, or single ones are wanted";
	} else {
		events[0] = prof_tally_event(prof->events.v[0]);
		events[0].role = TALLY_FIRST;
		events[0].pair = key_text(prof, multi, 0);
		events[1] = prof_tally_event(prof->events.v[1]);
		events[1].role = TALLY_SECOND;
		events[1].pair = key_text(prof, multi, 1);
		events[1].keys[0] = prof->options->perins ? events[1].pair : "0";
		events[1].updates = &update;
		events[1].updates_n = 1;
	}
	err = prof_tally_open(prof, &plan);
	return MIN(err, 0);
}

int multi_read_kernel(struct prof *prof)
{
	enum { FIRST_AND_SECOND = 1 }; // 0 * 2 + 1
	struct multi *multi = PROF_STATE(struct multi, prof);
	int err = tally_read(prof->tally);

	for (size_t i = 0; i < tally_rows(prof->tally); i++) {
		const struct dist *dist = tally_dist(prof->tally, i);
		struct multi_row *row = NULL;

		if (!prof->options->perins)
			dist_merge(&multi->dists[FIRST_AND_SECOND], dist);
		else
			row = multi_row_of(multi, tally_number(prof->tally, i, 0), FIRST_AND_SECOND);
		if (row)
			dist_merge(&row->dist, dist);
		else if (prof->options->perins)
			prof->no_place_n += dist->n;
	}
	tally_clear(prof->tally);
	return err;
}
