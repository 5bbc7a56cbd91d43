// SPDX-License-Identifier: GPL-2.0-or-later
// Stable sort of numbers that stand for something: no comparison, so no look at what they stand for.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct keyed {
	uint64_t key;
	uint32_t value;
};

// Ascending by key, equal ones stay in their order. A pass over all for each byte in which keys differ; room for n
// more meanwhile.
void radix_sort(struct keyed *v, size_t n);
