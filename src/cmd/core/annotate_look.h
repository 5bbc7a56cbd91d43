// SPDX-License-Identifier: GPL-2.0-or-later
// How annotate --stdio2 and the screens show the lines of a function: [annotate] of ~/.perfconfig.
#pragma once
#include <stdbool.h>

struct annotate_look {
	bool no_source, addresses, jump_counts, line_numbers, no_arrows;
	bool cycle_range;      // cycles with their least and most
	unsigned offset_level; // offsets stand at 1: where jumps go to, 2: also calls, 3: all
};

// perf's defaults and what is set.
void annotate_look_init(struct annotate_look *ret);
