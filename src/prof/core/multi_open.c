// SPDX-License-Identifier: GPL-2.0-or-later
// Delays above --than whose second event has not come: a call that hangs is one.
#include "prof/core/multi.h"
#include "prof/core/pairing.h"
#include <stdio.h>
#include <unistd.h>

// A first event that waits for long outlives its place in the history.
struct multi_first {
	uint64_t time_ns; // with the key: which
	bool told;
	struct history_entry *entry; // a copy; NULL: it is still there, or was not kept
};

static struct multi_first *known(const struct multi *multi, const struct pair_slot *slot)
{
	struct multi_first *first = map_find_ptr(&multi->firsts, slot->key);

	return first && first->time_ns == slot->time_ns ? first : NULL;
}

const struct history_entry *multi_first(const struct multi *multi, const struct pair_slot *slot)
{
	const struct history_entry *entry = history_at(&multi->history, slot->data);
	const struct multi_first *first = known(multi, slot);

	return entry ? entry : first ? first->entry : NULL;
}

static struct multi_first *note(struct multi *multi, const struct pair_slot *slot)
{
	struct multi_first *first = known(multi, slot);

	if (first)
		return first;
	first = map_find_ptr(&multi->firsts, slot->key);
	if (!first) {
		first = NEW(struct multi_first);
		map_set_ptr(&multi->firsts, slot->key, first);
	}
	free(first->entry);
	*first = (struct multi_first){.time_ns = slot->time_ns};
	return first;
}

// Those whose key waits no longer.
static void drop_old(struct multi *multi)
{
	struct map kept = {0};
	struct map_slot slot;

	for (size_t i = 0; map_next(&multi->firsts, &i, &slot);) {
		struct multi_first *first = (struct multi_first *)(uintptr_t)slot.value;
		const struct pair_slot *waits = pairs_find(&multi->waiting, slot.key);

		if (waits && waits->time_ns == first->time_ns) {
			map_set_ptr(&kept, slot.key, first);
		} else {
			free(first->entry);
			free(first);
		}
	}
	map_done(&multi->firsts);
	multi->firsts = kept;
}

void multi_keep_firsts(struct multi *multi)
{
	const struct history *history = &multi->history;
	struct pair_slot *slot;

	multi->kept_to = history->to;
	drop_old(multi);
	for (size_t i = 0; (slot = pairs_next(&multi->waiting, &i));) {
		const struct history_entry *entry = history_at(history, slot->data);
		struct multi_first *first;

		if (!entry || slot->data >= history->from + history->size / 2)
			continue;
		first = note(multi, slot);
		if (!first->entry)
			first->entry = xmemdup(entry, entry->size);
	}
}

static bool is_of_task(const struct multi *multi)
{
	static const char *const names[] = {"pid", "prev_pid", "next_pid", "common_pid", "_tid"};
	bool any = multi->key_is_task;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		any |= !strcmp(multi->key_title, names[i]);
	return any;
}

// Who has ended does nothing more that could be a second event.
static bool has_ended(struct prof *prof, const struct multi *multi, uint64_t key)
{
	const struct task *task;
	char path[64];

	if (!is_of_task(multi) || !key || key > UINT32_MAX)
		return false;
	task = sym_find_task(prof->feed->sym, (uint32_t)key);
	if (task && task->exited)
		return true;
	// At the end of the run a command is ended by us.
	if (!prof->feed->is_live || (task && prof->feed->stop))
		return false;
	snprintf(path, sizeof(path), "/proc/%u", (unsigned)key);
	return access(path, F_OK) < 0;
}

void multi_show_waiting(struct prof *prof, struct multi *multi, uint64_t now_ns)
{
	struct prof_open open;
	VEC(uint64_t) ended = {0};
	struct pair_slot *slot;
	size_t n;

	if (!multi->than_ns)
		return;
	prof_open_init(&open, prof, multi->than_ns, now_ns);
	for (size_t i = 0; (slot = pairs_next(&multi->waiting, &i));) {
		size_t before = open.v.n;

		prof_open_add(&open, slot);
		if (open.v.n > before && has_ended(prof, multi, slot->key)) {
			vec_push(&ended, slot->key);
			open.v.n--;
		}
	}
	vec_each(uint64_t, key, &ended) {
		slot = pairs_find(&multi->waiting, *key);
		multi->events[slot->event].unpaired_n++;
		pairs_remove(&multi->waiting, slot);
	}
	vec_done(&ended);
	n = prof_open_sort(&open);
	for (size_t i = 0; i < n; i++) {
		struct multi_first *first = note(multi, &open.v.v[i]);
		const struct multi_waiting waiting = {.entry = multi_first(multi, &open.v.v[i]),
						      .now_ns = open.now_ns,
						      .told = first->told};

		multi_show_open(prof, multi, &open.v.v[i], &waiting);
		prof_open_put(prof, &open, &open.v.v[i]);
		first->told = true;
	}
	prof_open_done(&open, prof);
}

int multi_record(struct prof *prof, const struct perf_event_header *header, const struct sample *ids)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	const struct record_task *task = (const void *)header;
	struct pair_slot *slot;

	if (header->type != PERF_RECORD_EXIT || !record_is_whole(header) || !is_of_task(multi))
		return 0;
	slot = pairs_find(&multi->waiting, task->tid);
	if (!slot || slot->time_ns > task->time)
		return 0;
	if (multi->than_ns && task->time - slot->time_ns > multi->than_ns) {
		const struct multi_waiting waiting = {.entry = multi_first(multi, slot),
						      .now_ns = task->time};

		multi_show_open(prof, multi, slot, &waiting);
		out_printf(prof->out, "`Ended %.3f us with its thread\n",
			   (double)(task->time - slot->time_ns) / 1e3);
	}
	multi->events[slot->event].unpaired_n++;
	pairs_remove(&multi->waiting, slot);
	return 0;
}

void multi_open_done(struct multi *multi)
{
	struct map_slot slot;

	for (size_t i = 0; map_next(&multi->firsts, &i, &slot);) {
		struct multi_first *first = (struct multi_first *)(uintptr_t)slot.value;

		free(first->entry);
		free(first);
	}
	map_done(&multi->firsts);
}
