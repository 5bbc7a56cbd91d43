// SPDX-License-Identifier: GPL-2.0-or-later
// First events that wait for their second, by key. Bounded: above the limit the oldest half is given up and counted.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair_slot {
	uint64_t key, time_ns;
	uint64_t data;	// the user's
	uint32_t event; // the user's
	uint32_t used;
};

// Zero-initialised is empty; limit 0: 1 << 20 pairs (32 bytes each, and as much again).
struct pairs {
	struct pair_slot *slots;
	size_t n, mask, limit;
	uint64_t aged_out_n;
};

void pairs_done(struct pairs *pairs);
void pairs_clear(struct pairs *pairs);
// The one that waits with this key, or NULL; valid until the next call. About 5 ns.
struct pair_slot *pairs_find(const struct pairs *pairs, uint64_t key);
// A slot for the key: the one that waits (*ret_replaced), or a new one. Its fields are to be set.
struct pair_slot *pairs_put(struct pairs *pairs, uint64_t key, bool *ret_replaced);
void pairs_remove(struct pairs *pairs, struct pair_slot *slot);
// Walk: for (size_t i = 0; (slot = pairs_next(pairs, &i));)
struct pair_slot *pairs_next(const struct pairs *pairs, size_t *i);
