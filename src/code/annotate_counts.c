// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/annotate_counts.h"

struct annotate_counts *annotate_counts_new(uint32_t events_n)
{
	struct annotate_counts *counts = NEW(struct annotate_counts);

	counts->events_n = events_n;
	return counts;
}

static void free_counted(struct counted *counted)
{
	map_done(&counted->by_place);
	vec_done(&counted->places);
	free(counted->totals);
	free(counted);
}

void annotate_counts_clear(struct annotate_counts *counts)
{
	for (size_t i = 0; i < counts->all.n; i++)
		free_counted(counts->all.v[i]);
	vec_clear(&counts->all);
	map_clear(&counts->by_symbol);
}

void annotate_counts_free(struct annotate_counts *counts)
{
	if (!counts)
		return;
	annotate_counts_clear(counts);
	vec_done(&counts->all);
	map_done(&counts->by_symbol);
	free(counts);
}

static uint64_t *index_of(const struct annotate_counts *counts, struct counted *counted,
			  uint64_t offset, uint32_t event)
{
	return map_at(&counted->by_place, offset * counts->events_n + event, NULL);
}

void annotate_counts_add(struct annotate_counts *counts, uint32_t event,
			 const struct location *location, uint64_t period)
{
	struct counted *counted = map_find_ptr(&counts->by_symbol, (uintptr_t)location->sym);
	uint64_t offset = location->addr - location->sym->start, *at;
	struct counted_place *place;

	if (event >= counts->events_n)
		return;
	if (!counted) {
		counted = NEW(struct counted);
		counted->symbol = location->sym;
		counted->totals = xcalloc(counts->events_n, sizeof(*counted->totals));
		map_set_ptr(&counts->by_symbol, (uintptr_t)location->sym, counted);
		vec_push(&counts->all, counted);
	}
	at = index_of(counts, counted, offset, event);
	if (!*at) {
		vec_push(&counted->places, (struct counted_place){.offset = offset, .event = event});
		*at = counted->places.n;
	}
	place = &counted->places.v[*at - 1];
	place->count.samples++;
	place->count.period += period;
	counted->totals[event].samples++;
	counted->totals[event].period += period;
}

static uint64_t decayed(uint64_t n, unsigned keep)
{
	return (uint64_t)((__uint128_t)n * keep / 8);
}

static void decay(const struct annotate_counts *counts, struct counted *counted, unsigned keep)
{
	size_t before = counted->places.n, kept = 0;

	memset(counted->totals, 0, counts->events_n * sizeof(*counted->totals));
	for (size_t i = 0; i < before; i++) {
		struct counted_place place = counted->places.v[i];
		struct annotated_count *total = &counted->totals[place.event];

		place.count.samples = decayed(place.count.samples, keep);
		place.count.period = decayed(place.count.period, keep);
		if (!place.count.samples && !place.count.period)
			continue;
		total->samples += place.count.samples;
		total->period += place.count.period;
		counted->places.v[kept++] = place;
	}
	if (kept == before)
		return;
	counted->places.n = kept;
	map_done(&counted->by_place);
	for (size_t i = 0; i < kept; i++)
		*index_of(counts, counted, counted->places.v[i].offset, counted->places.v[i].event) =
			i + 1;
}

void annotate_counts_decay(struct annotate_counts *counts, unsigned keep)
{
	size_t kept = 0;

	for (size_t i = 0; i < counts->all.n; i++) {
		struct counted *counted = counts->all.v[i];

		decay(counts, counted, keep);
		if (counted->places.n) {
			counts->all.v[kept++] = counted;
			continue;
		}
		map_remove(&counts->by_symbol, (uintptr_t)counted->symbol);
		free_counted(counted);
	}
	counts->all.n = kept;
}

const struct counted *annotate_counts_find(const struct annotate_counts *counts,
					   const struct symbol *symbol)
{
	return map_find_ptr(&counts->by_symbol, (uintptr_t)symbol);
}

struct annotated_count annotate_counts_of(const struct annotate_counts *counts,
					  const struct symbol *symbol, uint32_t event)
{
	const struct counted *counted = annotate_counts_find(counts, symbol);

	return counted && event < counts->events_n ? counted->totals[event]
						   : (struct annotated_count){0};
}
