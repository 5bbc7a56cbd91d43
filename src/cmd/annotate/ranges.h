// SPDX-License-Identifier: GPL-2.0-or-later
// What ran from branch stacks, with or without cycles: between where one branch went to and the next began, all was executed.
// Such ranges overlap; cut at all their begins and ends they say how often each piece ran, was jumped to, was left.
// perf's tools/perf/util/block-range.c of 6.1 does so for addresses of memory, this for those of files.
#pragma once
#include "abi/sample.h"
#include "base/map.h"
#include "base/vec.h"
#include "sym/sym.h"

struct range {		     // one that ran
	uint64_t start, end; // in the file's symbol space; `end` is where the branch begins
	uint64_t n;	     // how often
	uint64_t predicted;  // how often of these that branch was
};

struct piece {
	uint64_t start, end;
	uint64_t n;		  // how often it ran
	uint64_t entered;	  // by a branch to its start
	uint64_t left, predicted; // by the branch at its end
};

struct file_ranges {
	struct map by_ends; // hash of start and end -> index + 1
	VEC(struct range) ranges;
	VEC(struct piece) pieces; // in order of addresses
};

struct ranges {
	VEC(struct file_ranges *) files; // by id of the dso
};

struct ranges *ranges_new(void);
void ranges_free(struct ranges *ranges);
// About 60 ns a branch.
void ranges_add_sample(struct ranges *ranges, struct sym *sym, struct task *task,
		       const struct sample *sample);
// One that ran once.
void ranges_add(struct ranges *ranges, const struct dso *dso, struct range ran);
// Makes the pieces of all files; nothing is added after it.
void ranges_finish(struct ranges *ranges);

// What is to be said of an instruction, in percent; 0: nothing.
struct range_note {
	double entered; // of the times when the next branch was come to, how often it was by a jump to here
	double left;	  // of the times when this branch was come to, how often it was taken,
	double predicted; // and of these, how often that was predicted
};
// At an address of a file's symbol space. Log n.
struct range_note ranges_at(const struct ranges *ranges, const struct dso *dso, uint64_t addr);
