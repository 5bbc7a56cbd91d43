// SPDX-License-Identifier: GPL-2.0-or-later
// A thread that takes records out of the rings as soon as they come, while those before are still unwound: what a stack's copy has
// room for but doesn't hold is left out. It runs before all others where that is allowed, as nothing waits for it longer than a
// ring lasts. What it holds is bounded; beyond that records stay in the rings, and the kernel counts what it loses.
#pragma once
#include "sys/ring.h"
#include <stdbool.h>

struct recorder;
struct drain;

// The rings are the thread's from now on. -errno with a sentence.
int drain_start(struct drain **ret, struct recorder *recorder);
void drain_stop(struct drain *drain);
// Readable when much is there, or something for long.
int drain_fd(const struct drain *drain);
// All that has come, also what lies in the rings still. What was taken before is gone.
void drain_take(struct drain *drain);
struct ring_pieces drain_pieces(const struct drain *drain, size_t ring);
// Have all ended that wrote to the rings?
bool drain_is_over(const struct drain *drain);
