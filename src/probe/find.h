// SPDX-License-Identifier: GPL-2.0-or-later
// Places in a program, by debug information: those that a request means (find.c), lines (lines_walk.c), and back from an address to
// function and line (source.c).
#pragma once
#include "probe/parse.h"
#include "probe/target.h"

// A place that a request means.
struct probe_site {
	uint64_t addr;	     // virtual
	struct die function; // the real one that the address is in
	struct die scope;    // that, or the inlined call that was asked for
	uint64_t entry;	     // of the function
	bool is_return;
};
typedef int probe_site_call(void *arg, const struct probe_site *site); // 0, or -errno to stop

// Calls with each place, by debug information. The count, or -errno with a sentence; 0: there is none.
int probe_find(struct probe_target *target, const struct probe_point *point, probe_site_call *call,
	       void *arg);
struct place_context probe_context(struct probe_target *target, const struct probe_site *site);

// The lines of an entry of .debug_info, a unit or a function, where statements begin; in a function without those of what is
// inlined into it. call returns 0, or what ends the walk.
struct probe_spot {
	const char *file;
	uint32_t line;
};

typedef int probe_line_call(void *arg, const char *file, uint32_t line, uint64_t addr);
int probe_walk_lines(struct probe_target *target, const struct die *die, probe_line_call *call,
		     void *arg);
// Calls with each inlined or own instance of an abstract function.
int probe_walk_instances(const struct die *origin, int (*call)(void *arg, const struct die *at),
			 void *arg);
// The real function at an address; false: none. log n, but another unit's functions are gathered first.
bool probe_real_function(struct probe_target *target, struct dwarf_unit *unit, uint64_t addr,
			 struct die *ret);
// The file of a unit that is meant; NULL: none.
const char *probe_file_in_unit(struct dwarf_unit *unit, const char *wanted);
// All rows of a unit's lines; good until another unit's are asked for.
const struct line_marks *probe_marks(struct probe_target *target, struct dwarf_unit *unit);
// The first line that an address is of; as perf has it, the function's own at its start. False: not known.
bool probe_first_line(struct probe_target *target, struct dwarf_unit *unit, uint64_t addr,
		      struct probe_spot *ret);
// The innermost place around an address as source: what -l shows. False: not known.
bool probe_find_source(struct probe_target *target, uint64_t addr, struct probe_point *ret);
// What is inlined at an address straight into a function, or into what is inlined. False: nothing is.
bool probe_top_inlined(const struct die *function, uint64_t addr, struct die *ret);
// The source file that debug information names, where it can be read; on the heap, NULL: it isn't here.
char *probe_source_path(const struct probe_target *target, const char *name, const char *comp_dir);
// Is `path` the file that `wanted` ("t.c", "src/t.c") means?
bool probe_same_file(const char *path, const char *wanted);
bool probe_name_matches(const struct die *die, const char *wanted);
