// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/history.h"
#include "base/alloc.h"
#include <string.h>

void history_init(struct history *history, size_t size)
{
	*history = (struct history){.bytes = xmalloc(size), .size = size};
}

void history_done(struct history *history)
{
	free(history->bytes);
	*history = (struct history){0};
}

static struct history_entry *entry_at(const struct history *history, uint64_t at)
{
	return (struct history_entry *)(history->bytes + (at & (history->size - 1)));
}

// Gives up the oldest until `size` bytes fit behind `to`.
static void make_room(struct history *history, size_t size)
{
	while (history->to + size - history->from > history->size)
		history->from += entry_at(history, history->from)->size;
}

uint64_t history_add(struct history *history, uint32_t event, uint64_t key,
		     const struct sample *sample)
{
	size_t record = sample->header->size,
	       size = (sizeof(struct history_entry) + record + 7) & ~(size_t)7;
	size_t left = history->size - (history->to & (history->size - 1));
	struct history_entry *entry;
	uint64_t at;

	// An entry is never cut by the end.
	if (left < size) {
		make_room(history, left);
		entry = entry_at(history, history->to);
		entry->size = (uint32_t)left;
		// Less than an entry's head may be left: 8 bytes always are.
		entry->event = UINT32_MAX;
		history->to += left;
	}
	make_room(history, size);
	at = history->to;
	entry = entry_at(history, at);
	*entry = (struct history_entry){.size = (uint32_t)size,
					.event = event,
					.time_ns = sample->time,
					.key = key,
					.cpu = sample->cpu,
					.pid = sample->pid,
					.tid = sample->tid};
	memcpy(entry + 1, sample->header, record);
	history->to += size;
	return at;
}

static uint64_t skip_filler(const struct history *history, uint64_t at)
{
	if (at < history->to && entry_at(history, at)->event == UINT32_MAX)
		at += entry_at(history, at)->size;
	return at;
}

const struct history_entry *history_at(const struct history *history, uint64_t at)
{
	if (at < history->from)
		return NULL;
	at = skip_filler(history, at);
	return at < history->to ? entry_at(history, at) : NULL;
}

uint64_t history_next(const struct history *history, uint64_t at)
{
	at = skip_filler(history, at);
	return at < history->to ? at + entry_at(history, at)->size : at;
}
