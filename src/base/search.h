// SPDX-License-Identifier: GPL-2.0-or-later
// Binary search in whatever has indices.
#pragma once
#include <stddef.h>

// The first index `i` of [0, n) for which `is_before`, an expression of i, does not hold; n when it holds for all. It must hold
// for a prefix and for nothing behind: SEARCH(v.n, i, v.v[i].start <= addr) is one behind the last that starts at or
// before addr.
#define SEARCH(n, i, is_before)                                                                    \
	({                                                                                         \
		size_t low_ = 0, high_ = (n);                                                      \
		while (low_ < high_) {                                                             \
			size_t i = (low_ + high_) / 2;                                             \
			if (is_before)                                                             \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})
