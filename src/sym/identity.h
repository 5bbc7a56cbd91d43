// SPDX-License-Identifier: GPL-2.0-or-later
// Which file it is: by what the kernel tells of a mapped one, and by what is kept of it to know it again.
#pragma once
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

struct build_id {
	uint8_t n; // 0: none
	uint8_t bytes[20];
};
// Hex digits and a NUL.
void build_id_text(const struct build_id *id, char ret[41]);

// (device, inode, generation) as the 24 bytes lie in an MMAP2 record; all zero: not known.
struct file_id {
	uint64_t words[3];
};
static inline bool file_id_known(const struct file_id *id)
{
	return id && (id->words[0] | id->words[1] | id->words[2]);
}
// Records that were made from /proc/PID/maps have no generation.
static inline bool file_id_same(const struct file_id *a, const struct file_id *b)
{
	return a->words[0] == b->words[0] && a->words[1] == b->words[1] &&
	       (!a->words[2] || !b->words[2] || a->words[2] == b->words[2]);
}

enum likeness {
	LIKE_UNKNOWN, // nothing can be said
	LIKE_SAME,
	LIKE_OTHER,
};
// Is the open file the one that was mapped, as far as its inode tells? Some file systems (overlayfs, btrfs) have other numbers in stat(2)
// than in maps; what both say counts. `is_same_boot`: numbers of devices have not changed since.
enum likeness file_likeness(const struct file_id *id, int fd, bool is_same_boot);

// What a record would say of an open file, by stat(2). False: it can't be looked at.
bool file_id_read(int fd, struct file_id *ret);

// What a file holds: its size and a hash of 256 pieces all over it, of all of it up to 1 MB. Costs below a millisecond.
struct file_print {
	uint64_t size, hash; // size 0: not known
};
bool file_print_read(int fd, struct file_print *ret);

// What a recording notes of a file that was mapped, where name and table of build-ids don't say it all.
struct file_facts {
	const char *name; // as the records have it
	struct file_id id;
	bool is_lost; // it was gone before it could be looked at: nothing else is known
	struct build_id build_id;
	struct file_print print;
	const char *path; // where it lay, when that is not its name; NULL: there
};
// As a line for struct recording_info.notes, heap; NULL when the name can't stand in a line.
char *file_facts_text(const struct file_facts *facts);
// False when it is no such line; name and path lie on the heap then.
bool file_facts_parse(struct str line, struct file_facts *ret);
