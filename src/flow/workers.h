// SPDX-License-Identifier: GPL-2.0-or-later
// Several processes share the work on one recording. Processes, as then nothing of sym/ needs a lock: each reads all of the recording, so
// each knows the same tasks and maps at each record, but only hands out the samples of some pieces of it. A piece is a number of records that
// follow each other in the order of time; who comes to one that nobody has taken takes it. What was written while a piece was at
// hand goes out in the order of the pieces, so the result is the same, byte for byte; likewise the messages.
//
// Or the first process goes through all pieces by itself, and the others only work out answers that it needs (options.answers): what one
// has written of a piece is given to it, when it comes there. Nobody has to answer: what is missing it works out.
//
// The process that began is the first worker and the only one that goes on behind the end. It makes the others when it has
// worked a while: symbols that it has read by then are shared.
#pragma once
#include "base/out.h"

enum { WORKERS_STEP = 64, WORKERS_MOST = 256 };

struct workers_options {
	unsigned jobs;	 // 0: one a CPU, and when it pays
	struct out *out; // what is written to; NULL: the others answer
	// What the others found out that the result needs: written by them, then read by the first one, once for each.
	void (*put_findings)(void *arg, struct out *out);
	void (*take_findings)(void *arg, struct str findings);
	void *arg;
};

struct workers {
	struct workers_options options;
	bool mine; // the piece at hand is this process's; the first one's are all, where the others answer
	bool is_asked;	  // this process answers, by `answers`
	uint64_t given_n; // pieces that were given, so far
	struct str given; // to the first process: what another one answers of the piece at hand
	struct out answers;
	uint64_t records;
	struct workers_private *private;
};

// NULL: there is to be one process.
struct workers *workers_new(const struct workers_options *options);
void workers_free(struct workers *workers);
// Before each record, in all processes alike: whether a piece may begin with it.
static inline bool workers_step(struct workers *workers)
{
	return ++workers->records % WORKERS_STEP == 0;
}
bool workers_have_begun(const struct workers *workers);
// Whether it pays to begin, when about so many records are left.
bool workers_pay(struct workers *workers, uint64_t left_records);
// Here the others are made, unless the system refuses.
void workers_begin(struct workers *workers, uint64_t left_records);
// At a step: the next piece begins, if this one is complete. 0, or > 0 when the work is to stop.
int workers_next(struct workers *workers);
// The end of the work, with 0 or why it stopped, as hooks return it: the others end here. The first one waits for them; then `out`
// has what could not be written, if so. Returns what came first in the order of pieces.
int workers_end(struct workers *workers, int err);
