// SPDX-License-Identifier: GPL-2.0-or-later
// Symbols of one file, sorted by address, with perf's rules for duplicates and for symbols without a size.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include "sym/sym.h"

struct symtab {
	VEC(struct symbol) symbols; // sorted once symtab_sort has run
	VEC(struct symbol *) late;  // added one by one afterwards, sorted
	struct arena names;
	uint32_t *around; // per symbol: the nearest before it that ends later; NULL when none overlap
	uint32_t *index; // by (address - the lowest) >> index_shift: the first symbol that starts there or behind; NULL: none
	unsigned index_shift;
	bool parameters; // demangled names with them
	bool aliases;	 // several symbols of one address stay
	struct symtab *before; // what is looked through next: symbols that were read earlier stay where they are
};

void symtab_done(struct symtab *symtab);
void symtab_clear(struct symtab *symtab); // forgets the symbols, not their names
// A symbol; the name is borrowed (from symtab->names or what lives as long). A size of 0 is not known yet.
void symtab_add(struct symtab *symtab, const struct symbol *symbol);

enum symtab_ends {
	SYMTAB_FILE,	 // a symbol without a size reaches to the next
	SYMTAB_KALLSYMS, // likewise, but not from one module into another ("name\t[module]")
};
// Sorts, gives sizes to those without, keeps the best of those at one address. May be done again
// after more were added.
void symtab_fix(struct symtab *symtab, enum symtab_ends ends);
// Only sorts, later ones behind earlier ones of the same address.
void symtab_sort(struct symtab *symtab);
// After the last symtab_sort; n log n at worst, then symtab_find takes log n.
void symtab_ready(struct symtab *symtab);

struct symbol *symtab_find(const struct symtab *symtab, uint64_t addr);
// Demangles the name in place.
void symtab_name(struct symtab *symtab, struct symbol *symbol);

void symtab_add_late(struct symtab *symtab, struct symbol *symbol);
void symtab_remove_late(struct symtab *symtab, uint64_t addr);
