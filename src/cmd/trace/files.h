// SPDX-License-Identifier: GPL-2.0-or-later
// Which files the descriptors of processes stand for: followed through the calls that change that, in the order of time. What is not
// known yet is asked of /proc, which tells what is there now, not what was there when the call was made: so it is asked once for each,
// and what the followed calls say comes first.
//
// Memory is bounded: when there are too many names, all is forgotten and asked again.
#pragma once
#include "abi/syscall_args.h"
#include <stdbool.h>
#include <stdint.h>

struct files;
struct files_about;

// A call that returned. Zero: no path was read.
struct files_call {
	uint32_t pid; // of the process
	const struct files_about *about;
	const uint64_t *args;
	int64_t ret;
	const char *path,
		*how; // what the kernel read at entry: the path; struct open_how, 8 bytes at least
};

// `root` stands before /proc ("": the system's). follows: the calls are given with files_called; else nothing is remembered.
struct files *files_new(const char *root, bool follows);
void files_free(struct files *files);

// What this call does to descriptors; NULL: nothing. About 100 ns: to be asked once for each number.
const struct files_about *files_about(const struct syscall_def *def);
void files_called(struct files *files, const struct files_call *call);
void files_forked(struct files *files, uint32_t parent, uint32_t child);
void files_execed(struct files *files, uint32_t pid); // what is to be closed then is
void files_ended(struct files *files, uint32_t pid);
void files_forget(struct files *files); // calls were lost

// Reads all that the process has now. Some us a descriptor.
void files_look(struct files *files, uint32_t pid);
// NULL: not known. Valid until the next call of any of these functions. About 20 ns, some us where /proc is asked.
const char *files_name(struct files *files, uint32_t pid, int32_t fd);
// Likewise without asking /proc, which has another file there by now.
const char *files_known_name(struct files *files, uint32_t pid, int32_t fd);
