// SPDX-License-Identifier: GPL-2.0-or-later
// Source lines and inlined functions of addresses, from the debug information of the files that the symbols come from: the
// file itself, its separate debug file, split parts (.dwo, .dwp) and supplementary files (dwz). Each file is opened, each of its
// units read, when the first address in it is asked for.
#pragma once
#include "sym/sym.h"

struct sources;

struct source_frame {
	const struct symbol *sym; // of an inlined function: its own, `inlined` is set; else the one given; NULL: none
	const char *file; // as the compiler was told it; NULL: not known
	uint32_t line;	  // 0: not known
};

struct sources *sources_new(struct sym *sym);
void sources_show_paths(struct sources *sources); // source_text has whole paths, not just names of files
void sources_free(struct sources *sources);

// The function at an address (location.addr) of a dso behind those inlined into it there, innermost first, each with the line
// where it is. The last one is the function that the address is in, named by `sym`. 0: the file has no debug information
// for it. Borrowed; stays until sources_free. About 1 us the first time, 30 ns later.
struct source_frames {
	const struct source_frame *v;
	size_t n;
};
struct source_frames source_frames(struct sources *sources, struct dso *dso, uint64_t addr,
				   const struct symbol *sym);
// Only the innermost line: cheaper. False: not known.
bool source_line(struct sources *sources, struct dso *dso, uint64_t addr, struct source_frame *ret);
// The debug information of the dso itself, borrowed until sources_free; NULL: there is none.
struct dwarf;
struct dwarf *source_dwarf(struct sources *sources, struct dso *dso);
// An address of the dso as its file counts it (`addr` again where that is not known).
uint64_t source_address(struct sources *sources, struct dso *dso, uint64_t addr);
// Does the dso have line information at all?
bool source_exists(struct sources *sources, struct dso *dso);

// "file.c:12" as perf prints it. Interned in sym->strings. NULL when nothing is known.
const char *source_text(struct sources *sources, const struct source_frame *frame);
