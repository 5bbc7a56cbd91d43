// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/radix.h"
#include "base/alloc.h"
#include <stdlib.h>
#include <string.h>

enum { FEW = 32, BYTES = 8, VALUES = 256 };

static void insertion_sort(struct keyed *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct keyed one = v[i];
		size_t at = i;

		for (; at && v[at - 1].key > one.key; at--)
			v[at] = v[at - 1];
		v[at] = one;
	}
}

static void count_bytes(const struct keyed *v, size_t n, uint32_t (*counts)[VALUES])
{
	for (size_t i = 0; i < n; i++) {
		for (unsigned byte = 0; byte < BYTES; byte++)
			counts[byte][v[i].key >> byte * 8 & 255]++;
	}
}

// How many have a value becomes where they begin.
static void counts_to_places(uint32_t *counts)
{
	uint32_t start = 0;

	for (unsigned value = 0; value < VALUES; value++) {
		uint32_t many = counts[value];

		counts[value] = start;
		start += many;
	}
}

static void sort_many(struct keyed *v, size_t n)
{
	uint32_t counts[BYTES][VALUES] = {0};
	struct keyed *other = xreallocarray(NULL, n, sizeof(*other)), *from = v, *to = other;

	count_bytes(v, n, counts);
	for (unsigned byte = 0; byte < BYTES; byte++) {
		struct keyed *sorted = to;

		if (counts[byte][from[0].key >> byte * 8 & 255] == n)
			continue;
		counts_to_places(counts[byte]);
		for (size_t i = 0; i < n; i++)
			to[counts[byte][from[i].key >> byte * 8 & 255]++] = from[i];
		to = from;
		from = sorted;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	free(other);
}

void radix_sort(struct keyed *v, size_t n)
{
	if (n <= FEW)
		insertion_sort(v, n);
	else
		sort_many(v, n);
}
