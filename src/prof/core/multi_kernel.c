// SPDX-License-Identifier: GPL-2.0-or-later
// Delays between two events, counted in the kernel: a row for each key (with --perins) and bucket of delays.
#include "base/log.h"
#include "prof/core/kernel.h"
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
	if (prof->events.n != 2 || prof->stages != 2 || multi->cycle || multi->keeps ||
	    multi->impl != MULTI_DELAY || prof->options->heatmap)
		return false;
	for (size_t i = 0; i < 2; i++) {
		const struct multi_event *m = &multi->events[i];

		if (m->untraced || m->trigger || m->has_role || m->begins == m->ends)
			return false;
	}
	return true;
}

void multi_count_in_kernel(struct prof *prof, struct multi *multi)
{
	static const struct bpf_key keys[] = {{BPF_KEY_NUMBER, 0}, {BPF_KEY_DELAY, 0}};
	static const struct bpf_cell cells[] = {{BPF_CELL_HITS, false},
						{BPF_CELL_SUM, false},
						{BPF_CELL_MIN, false},
						{BPF_CELL_MAX, false}};
	static const struct prof_kernel_rows rows = {keys, ARRAY_SIZE(keys), cells,
						     ARRAY_SIZE(cells), 8192};
	const char *first, *second;

	if (!prof_kernel_may(prof))
		return;
	if (!is_simple(prof, multi)) {
		inform("%s counts in sonde, not in the kernel: there are more than two events, or single ones are wanted",
		       prof->profiler->name);
		return;
	}
	first = key_text(prof, multi, 0);
	second = key_text(prof, multi, 1);
	const struct prof_kernel_event events[] = {
		{.event = prof->events.v[0], .begins = true, .pair = first},
		{.event = prof->events.v[1],
		 .ends = true,
		 .pair = second,
		 .keys = {prof->options->perins ? second : "0"},
		 .updates = {{0}, {1, .delay = true}, {2, .delay = true}, {3, .delay = true}},
		 .updates_n = 4},
	};
	prof_kernel_open(prof, &rows, events, ARRAY_SIZE(events));
}

static int take_row(void *arg, const void *key, const uint64_t *cells)
{
	enum { FIRST_AND_SECOND = 1 }; // 0 * 2 + 1
	struct prof *prof = arg;
	struct multi *multi = PROF_STATE(struct multi, prof);
	const struct dist_part part = {cells[0], cells[1], cells[2], cells[3]};
	struct multi_row *row;
	uint64_t keys[2]; // key, bucket

	memcpy(keys, key, sizeof(keys));
	if (!prof->options->perins) {
		dist_add_part(&multi->dists[FIRST_AND_SECOND], &part);
		return 0;
	}
	row = multi_row_of(multi, keys[0], FIRST_AND_SECOND);
	if (row)
		dist_add_part(&row->dist, &part);
	return 0;
}

int multi_read_kernel(struct prof *prof)
{
	return prof_kernel_read(prof, take_row, prof);
}
