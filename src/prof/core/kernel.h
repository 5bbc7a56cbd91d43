// SPDX-License-Identifier: GPL-2.0-or-later
// For profilers that only add up: the kernel does it where the events happen (flow/bpf_count.h), and no event comes out.
#pragma once
#include "flow/bpf_count.h"
#include "prof/core/profiler.h"

struct prof_kernel;

// What one event of the profiler adds up, as texts of expressions. Its filter is that of the feed.
struct prof_kernel_event {
	struct prof_event *event; // NULL: none of the profiler's but `name`
	const char *name;
	const char *keys[BPF_KEYS_MAX]; // as many as the rows have
	struct {
		uint32_t cell;
		const char *value; // NULL: of HITS
		bool delay;
	} updates[BPF_UPDATES_MAX];
	uint32_t updates_n;
	// Pairs, see struct bpf_count_event.
	const char *pair, *remember;
	bool begins, ends;
	uint64_t only_remembered[2];
	uint32_t only_remembered_n;
};

struct prof_kernel_rows {
	const struct bpf_key *keys;
	uint32_t keys_n;
	const struct bpf_cell *cells;
	uint32_t cells_n;
	uint32_t rows_max; // 0: some thousand
};

// Can the run be counted in the kernel? It must be live and of all tasks, and nothing must want the single events. False: -v says why.
bool prof_kernel_may(const struct prof *prof);
// In setup. True: the feed will not deliver these events; prof_kernel_read gives the rows. False: it is not possible (-v says why), and
// nothing has changed.
bool prof_kernel_open(struct prof *prof, const struct prof_kernel_rows *rows,
		      const struct prof_kernel_event *events, size_t n);
// The rows since the last read; see bpf_count_read.
int prof_kernel_read(struct prof *prof,
		     int (*row)(void *arg, const void *key, const uint64_t *cells), void *arg);
// Says what was not counted. NULL is allowed.
void prof_kernel_close(struct prof_kernel *kernel);

// A constant size in which the text of `expr` (of event) always has room, 0: there is none up to EXPR_BPF_TEXT_MAX.
uint32_t prof_kernel_text_size(struct prof *prof, const struct prof_event *event, const char *text);
