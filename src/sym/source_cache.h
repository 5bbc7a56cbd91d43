// SPDX-License-Identifier: GPL-2.0-or-later
// What debug information said about addresses, kept in files of the cache folder: to answer it again nothing has to be unpacked
// or read. One file for each file with debug information that has a build-id.
#pragma once
#include "obj/inline.h"
#include "sym/sym.h"

enum source_ask {
	SOURCE_FRAMES, // of dwarf_frames
	SOURCE_LINE,   // of dwarf_line: one frame without a function, or none
	SOURCE_ASKS
};

// The file that the answers are of. Its size and time are told apart too: one debug file may say more than another.
struct source_key {
	struct build_id id;
	uint64_t size_bytes, modified_ns;
};

struct source_cache;

// Answers that were kept, none where there is no file that makes sense. NULL: none can be kept of such a file.
struct source_cache *source_cache_new(const struct source_key *key);
// Keeps what was added; true: a file was written (cache_trim is the caller's). Failure is no error: the next run works it out again.
bool source_cache_save(struct source_cache *cache);
void source_cache_free(struct source_cache *cache);

// False: not known. Texts are borrowed until source_cache_free. At most `most`, as of dwarf_frames.
struct source_answer {
	struct dwarf_frame *frames;
	size_t most, n;
};
bool source_cache_find(const struct source_cache *cache, enum source_ask ask, uint64_t addr,
		       struct source_answer *ret);
// Texts are borrowed until source_cache_save.
void source_cache_add(struct source_cache *cache, enum source_ask ask, uint64_t addr,
		      const struct source_answer *answer);

// A file's content, for tests; false unless every byte makes sense.
struct source_kept {
	const struct source_kept_answer {
		uint64_t addr;
		uint32_t first, n; // frames
	} * answers[SOURCE_ASKS];  // sorted
	const struct source_kept_frame {
		uint32_t function, file, line; // texts: 0: none, else where they begin
	} * frames;
	const char *texts;
	uint32_t answers_n[SOURCE_ASKS];
};
bool source_cache_parse(struct str bytes, const struct source_key *key, struct source_kept *ret);
