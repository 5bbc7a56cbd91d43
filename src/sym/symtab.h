// SPDX-License-Identifier: GPL-2.0-or-later
// Symbols of one file, sorted by address, with perf's rules for duplicates and for symbols without a size.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include "sym/sym.h"

// A symbol of a table that lies ready in a file.
struct symtab_row {
	uint64_t start, end;
	uint32_t name; // where it begins in the names
	uint8_t type, binding, hidden_width;
	uint8_t is; // SYMTAB_*
};
enum { SYMTAB_MANGLED = 1, SYMTAB_PLACE = 2, SYMTAB_GUESSED_END = 4 };

// Rows in address order. All borrowed; the names end with two NULs.
struct symtab_rows {
	const struct symtab_row *v;
	size_t n;
	struct str names;
	uint64_t delta; // that addresses are lower here than there
	bool apart;	// none overlap, and they are so many that no index is made
};

struct symtab {
	VEC(struct symbol)
	symbols; // sorted once symtab_sort has run; of those in `rows` some are not made yet: symtab_at, symtab_fill
	struct symtab_rows rows;   // n 0: all are made
	size_t mapped_bytes;	   // symbols.v is no heap memory but a map of so many
	VEC(struct symbol *) late; // added one by one afterwards, sorted
	struct arena names;
	uint32_t *around; // per symbol: the nearest before it that ends later; NULL when none overlap
	uint32_t *index; // by (address - the lowest) >> index_shift: the first symbol that starts there or behind; NULL: none
	unsigned index_shift;
	uint64_t lowest, highest; // of the starts, with an index
	uint32_t *starts;	  // less the lowest, close together; NULL: they don't fit
	bool parameters;	  // demangled names with them
	bool aliases;		  // several symbols of one address stay
	struct symtab *before; // what is looked through next: symbols that were read earlier stay where they are
};

void symtab_done(struct symtab *symtab);
void symtab_clear(struct symtab *symtab); // forgets the symbols, not their names
// The first symbols of an empty table are these rows, each made when it is first asked for: to load a kernel's 170,000 costs
// the memory of those that are met.
void symtab_set_rows(struct symtab *symtab, const struct symtab_rows *rows);
struct symbol *symtab_at(struct symtab *symtab, size_t i); // i < symbols.n
void symtab_fill(struct symtab *symtab);		   // makes them all
void symtab_take(struct symtab *symtab, struct symtab *from); // moves the symbols of another table here
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

struct symbol *symtab_find(struct symtab *symtab, uint64_t addr);
bool symtab_shows_parameters(const struct symtab *symtab); // in demangled names
// Demangles the name in place.
void symtab_name(struct symtab *symtab, struct symbol *symbol);

void symtab_add_late(struct symtab *symtab, struct symbol *symbol);
void symtab_remove_late(struct symtab *symtab, uint64_t addr);
