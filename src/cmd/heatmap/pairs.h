// SPDX-License-Identifier: GPL-2.0-or-later
// Latencies in a recording: which two events begin and end one, and how the two that belong together are found.
#pragma once
#include "base/map.h"
#include "cmd/heatmap/heatmap.h"
#include "flow/run.h"

enum { PAIR_KEYS_MAX = 4 };

struct known_pair;

struct pair_key {
	const struct tp_field *field;
	uint64_t (*of_sample)(const struct sample *sample); // where there is no field of that name
};

// What an event means for the latency.
struct pair_role {
	bool from, to;
	unsigned keys_n; // 0: the thread
	struct pair_key from_keys[PAIR_KEYS_MAX], to_keys[PAIR_KEYS_MAX];
	// of the scheduler's events
	const struct tp_field *prev_pid, *prev_state, *next_pid, *woken_pid;
};

struct pairing {
	const struct known_pair *known; // NULL: none, the thread or --key tells what belongs together
	char *from, *to, *key;
	struct map pending; // key -> when it began
	struct map running; // threads that are on a CPU
	uint64_t unpaired;
};

// A sample of an event of the pair; begins are of interest only where `begins`.
struct pair_hit {
	const struct pair_role *role;
	const struct sample *sample;
	bool begins;
};

struct pair_result {
	uint64_t ns;
	uint32_t tid; // whose it is; UINT32_MAX: of who began it
};

// What --latency, --from-event, --to-event and --key mean for the recording. -ENODATA with a sentence that names the event
// that isn't there.
int pairing_choose(struct pairing *ret, const struct point_options *options, const struct run *run);
void pairing_done(struct pairing *pairing);
// "Block I/O latency"
const char *pairing_title(const struct pairing *pairing);
int pairing_role(const struct pairing *pairing, const struct event *event, struct pair_role *ret);
// True: the sample ends one.
bool pairing_take(struct pairing *pairing, const struct pair_hit *hit, struct pair_result *ret);
// Records were lost, or there are no more: what waits may have ended meanwhile, and is counted as unpaired.
void pairing_lost(struct pairing *pairing);
// The known latency whose events the recording has, as typed after --latency; NULL: none.
const char *pairing_hint(const struct run *run);

// -EINVAL with a sentence that names the nearest.
int point_no_such_field(const struct event *event, const char *field);
