// SPDX-License-Identifier: GPL-2.0-or-later
// A recording as other programs take it: samples in the order of time, each with its thread, CPU, event and stack; stacks as a
// tree, frames with source lines, files with build-ids. All texts are ids of one table, so that formats with a table of
// strings write it as it is. The maker fills in the vectors, then calls profile_finish once.
#pragma once
#include "base/intern.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

enum profile_kind { PROFILE_USER, PROFILE_KERNEL, PROFILE_JIT, PROFILE_KINDS };

#define PROFILE_NONE UINT32_MAX

struct profile_file {
	uint32_t path, name; // name: the last part
	uint32_t build_id;   // hex; 0: not known
	uint8_t kind;
	uint64_t start, end; // addresses of its code, as frames have them
};

struct profile_function {
	uint32_t name;
	uint32_t file;	 // PROFILE_NONE: in no known file
	uint32_t source; // path of the source; 0: not known
	uint8_t kind;
	bool unresolved; // stands for all addresses of the file that have no symbol; name is "[FILE]"
	uint64_t start, size; // of the symbol around it; size 0: not known
};

struct profile_frame {
	uint32_t function;
	uint32_t source, line; // 0: not known
	uint64_t address; // in the file, of callers within the call; as it was sampled when there is no file
	uint16_t inline_depth; // how many functions around it are at the same address
};

// Node 0 is the empty stack.
struct profile_node {
	uint32_t parent, frame;
};

struct profile_thread {
	uint32_t pid, tid; // UINT32_MAX: not known
	uint32_t name;
	uint32_t process_name; // of the thread whose tid is the pid
	uint32_t nth; // from 0: others before it had the same tid (the number came again, or the program was replaced)
	uint32_t process_nth;	    // the nth of that thread
	uint64_t first_ns, last_ns; // of its samples
	size_t first, n;	    // its samples: by_thread[first..]
};

struct profile_event {
	uint32_t name;
	bool is_tracepoint;
	bool is_time; // weights are ns
	uint64_t samples_n;
	uint64_t period; // as asked for; 0: by frequency
};

struct profile_sample {
	uint64_t time_ns; // UINT64_MAX: not known
	uint64_t weight;  // the period
	uint32_t thread, node;
	uint32_t cpu;  // PROFILE_NONE: not known
	uint32_t text; // of a tracepoint: what it says; 0: nothing
	uint32_t event;
};

struct profile {
	struct intern strings;
	VEC(struct profile_file) files;
	VEC(struct profile_function) functions;
	VEC(struct profile_frame) frames;
	VEC(struct profile_node) nodes;
	VEC(struct profile_thread) threads;
	VEC(struct profile_event) events;
	VEC(struct profile_sample) samples;
	VEC(uint32_t) notes;			      // sentences: what was lost
	uint64_t lost_n;			      // records and samples
	uint32_t title;				      // the recording's name
	uint32_t host, system, cpu, machine, command; // 0: not known
	uint64_t wall_start_ns;			      // time of day of first_ns; 0: not known
	uint64_t first_ns, last_ns;
	uint32_t cpus_n; // highest seen + 1
	uint32_t main_event; // the first one that is no tracepoint, else the first, of those that have samples
	uint32_t *by_thread; // indices of samples, thread after thread
};

void profile_init(struct profile *profile);
void profile_done(struct profile *profile);
// The order of samples by time (where it isn't so already: late records), counts, times and the order by thread. O(samples) where it is.
void profile_finish(struct profile *profile);

static inline struct str profile_text(const struct profile *profile, uint32_t id)
{
	return profile->strings.strings.v[id];
}
static inline const struct profile_function *profile_function_of(const struct profile *profile,
								 uint32_t node)
{
	return &profile->functions.v[profile->frames.v[profile->nodes.v[node].frame].function];
}
// The nodes of a stack from the outermost frame on, in a vector that can be used again. Zero-initialised is empty.
struct profile_path {
	VEC(uint32_t) nodes;
};
void profile_path(const struct profile *profile, uint32_t node, struct profile_path *path);
// How long a sample stands for what a thread does: half of all gaps between samples of a thread are at most as long. 0 when
// there is none. O(samples of the event).
uint64_t profile_usual_gap_ns(const struct profile *profile, uint32_t event);
