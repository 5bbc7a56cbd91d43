// SPDX-License-Identifier: GPL-2.0-or-later
// From the addresses that were sampled in a function to its annotated lines: for annotate, and for the browsers of report
// and top.
#pragma once
#include "code/annotate_counts.h"
#include "code/blocks.h"
#include "sym/sym.h"
#include "view/annotated.h"

struct annotator;

struct annotate_options {
	bool intel;	// Intel's syntax, not AT&T's
	bool no_source; // instructions only
	bool own_lines; // source lines once, before their first instruction: without objdump's notes (for a browser)
	const char *prefix; // put before absolute source paths, after `strip` of their parts are gone; NULL: none
	unsigned strip;
};

// Files that are opened for one function stay open for the next. Borrows the sym.
struct annotator *annotator_new(struct sym *sym, const struct annotate_options *options);
void annotator_free(struct annotator *annotator);
// The lines of a function; `counts` and `blocks` may be NULL. `first`, n: which events become columns. -ENOENT, -ENOTSUP with a sentence:
// no code, no disassembler. The lines are the caller's (annotated_done), but the names in them live as long as the annotator.
// About 2 us an instruction.
struct annotate_request {
	struct dso *dso;
	const struct symbol *symbol;
	const struct annotate_counts *counts;
	const struct blocks *blocks;
	uint32_t first, n;
};
int annotator_lines(struct annotator *annotator, const struct annotate_request *request,
		    struct annotated *ret);
// The counts in lines that were made before, anew (a live screen).
void annotator_recount(const struct annotate_request *request, struct annotated *annotated);
