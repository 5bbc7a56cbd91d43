// SPDX-License-Identifier: GPL-2.0-or-later
// Which frames a location is, as stacks tell them apart. Inside src/sym only.
#pragma once
#include "sym/stacks.h"

// The frame of a location or, where functions were inlined, the run of frames. *ret_tells: it says all of the place, nothing was inlined
// there or is told apart by less.
uint32_t stacks_frames_of(struct stacks *stacks, const struct location *location, bool is_return,
			  bool *ret_tells);
// The location's frame, which has no symbol, will be asked for soon.
void stacks_expect(const struct stacks *stacks, const struct location *location);
