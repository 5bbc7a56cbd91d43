// SPDX-License-Identifier: GPL-2.0-or-later
// What `sonde doctor` finds out. Each file of this folder adds its checks.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

enum check_state {
	CHECK_OK,
	CHECK_LIMITED, // works in part
	CHECK_MISSING,
	CHECK_INFO, // neither good nor bad
};

struct check {
	const char *section; // "Recording"
	const char *name;    // "hardware counters"
	enum check_state state;
	const char *value; // "2 (no kernel samples)"
	const char *why; // one sentence: what is missing and what follows from it; NULL: nothing is
	const char *fix; // the exact command; NULL: there is none
};

struct doctor {
	const char *root; // of /proc and /sys, "" normally
	struct arena arena;
	VEC(struct check) checks;
	uint64_t capabilities;	// effective
	bool in_user_namespace; // they count for nothing outside of it
	int64_t paranoid;	// INT64_MIN: not known
	bool can_record;
};

// `check` has the section, the name and the state. Texts are copied.
void doctor_add(struct doctor *doctor, struct check check, const char *value_fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doctor_why(struct doctor *doctor, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 3, 4))); // of the last check

// One that the kernel asks for, of the whole system.
bool doctor_capability(const struct doctor *doctor, unsigned number);
// CAP_PERFMON, or CAP_SYS_ADMIN which older kernels ask for: perf_event_paranoid is not for such a user.
bool doctor_may_perf(const struct doctor *doctor);
// A number in a file below root; `absent` when it can't be read.
int64_t doctor_number(const struct doctor *doctor, const char *path, int64_t absent);

void doctor_user(struct doctor *doctor);      // who we are: first, others use it
void doctor_recording(struct doctor *doctor); // opens events
void doctor_tracing(struct doctor *doctor);   // tracefs, probes, BPF
void doctor_symbols(struct doctor *doctor);
void doctor_limits(struct doctor *doctor);
