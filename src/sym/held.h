// SPDX-License-Identifier: GPL-2.0-or-later
// Files that running processes map, opened while the processes are there: their names may lead elsewhere or nowhere later (chroot,
// containers, files that are removed or replaced), and who is asked then may have ended.
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "abi/record.h"
#include "sym/identity.h"

// Where open files have names; only as long as they are open.
#define HELD_FOLDER "/proc/self/fd/"

// Builds run a new file of the same name again and again; beyond so many, files are known by their names.
enum { HELD_MOST_FILES = 1 << 16 };

struct held_file {
	struct file_facts facts;
	int fd;		  // -1: not open; the newest few hundred are
	uint64_t used_ns; // when a process was last known to map it
	uint32_t pid;	  // that mapped it last, where
	uint64_t start, end;
	bool is_ended;	   // closed as no process mapped it any more
	bool is_looked_at; // facts are filled in
	unsigned tries;
	char *path; // of facts
};

// perf-PID.map of a process that has /tmp or its number in namespaces of its own.
struct held_perfmap {
	uint32_t pid;
	uint64_t inner; // its number there; 0: it is not elsewhere
	int folder, fd; // its /tmp and the file, which is made later; -1: not open
	struct file_facts *facts; // heap, with its path: where it lay when its process had ended; NULL: nowhere
};

struct held {
	VEC(struct held_perfmap) perfmaps; // the newest, as far as they are elsewhere
	size_t oldest_perfmap;
	struct map by_key;
	VEC(struct held_file *) files; // in the order of their first maps
	struct held_file **open;       // a ring: the oldest is closed for a new one
	size_t open_n, open_at;
	bool keeps_facts; // are looked at before they are closed
	bool keeps_open;  // what has ended, too: somebody wants a copy at the end
	uint64_t next_age_ns, ended_n;
};

struct held *held_new(void);
void held_free(struct held *held);
// Takes in an MMAP2 record of user space (name: its text). NULL when it is of no file that can be told by its inode, or there are too many. A file seen
// before costs a look-up, a new one some open(2) calls.
struct held_file *held_note(struct held *held, const struct record_mmap2 *record, const char *name);
// A file known by nothing but its name.
struct held_file *held_note_name(struct held *held, const char *name);
// Fills in the facts: what it is, and where it lies. When it is not open and another file has its name: facts.is_lost.
void held_look(struct held_file *file);

struct held_users {
	bool (*any)(void *arg, const struct held_file *file); // does a living process map it?
	void *arg;
};
// Closes what no process has mapped for some seconds, as an open file keeps its file system from being unmounted, and its room on the
// disk. Does so once a second, however often it is called. `users`: is asked when who mapped it last does not any more; NULL: nobody knows.
void held_age(struct held *held, const struct held_users *users);

// A process has code that is in no file.
void held_note_code(struct held *held, uint32_t pid);
// The open perf-PID.map of such a process elsewhere, also when that has ended; -1: none.
int held_perfmap(struct held *held, uint32_t pid);
// Where such maps can be found later, as facts whose name is /tmp/perf-PID.map: `take` gets each that has a path here.
void held_perfmaps_each(struct held *held, void (*take)(void *arg, const struct file_facts *facts),
			void *arg);
