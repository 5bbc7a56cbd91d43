// SPDX-License-Identifier: GPL-2.0-or-later
// A program's code that lies in anonymous memory: programs copy theirs to huge pages.
#pragma once
#include "base/map.h"
#include "base/perf_event.h"
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct moved_text {
	pid_t pid;
	const char *path;	       // of the file that is mapped beside it
	uint64_t start, end;	       // anonymous, executable
	uint64_t beside, beside_pgoff; // where some of the file is mapped
};

// Is what lies there what the file's segment has for these addresses? Compares some pages of both; `ret`: the place in the file.
bool moved_text_find(const struct moved_text *text, uint64_t *ret);

// Of processes that do so while they are watched: the kernel tells of anonymous code only.
struct moved_texts {
	struct map looks; // at each process
	struct map found; // records without trailer, by process and address
	void *record;	  // the last one that was asked for
};

void moved_texts_done(struct moved_texts *texts);
// Looks whether what an MMAP2 record tells of is a file's code, and remembers it for when the record comes by another way; by then
// the process may have ended.
void moved_texts_look(struct moved_texts *texts, const struct perf_event_header *header);
// What has to follow a record, with the same trailer of so many bytes: an MMAP2 of the file; valid until the next call. NULL: nothing.
const struct perf_event_header *moved_texts_record(struct moved_texts *texts,
						   const struct perf_event_header *header,
						   size_t trailer_bytes);
