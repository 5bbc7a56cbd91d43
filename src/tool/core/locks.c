// SPDX-License-Identifier: GPL-2.0-or-later
#include "tool/core/locks.h"

// A thread waits for one lock at a time, and what interrupts it for another; idle tasks have one number on all CPUs. A mutex is first spun
// on, then slept for: both begin the wait.
#define WAIT "(unsigned long)lock_addr * 0x9e3779b97f4a7c15ul ^ (_tid ? _tid : 0x100000000 + _cpu)"
static const struct tool_event events[] = {
	{"lock:contention_begin", TALLY_FIRST, WAIT, .keeps = true},
	{"lock:contention_end", TALLY_SECOND, WAIT},
	{0},
};
const struct tool_event *const tool_lock_waits[] = {events, NULL};
