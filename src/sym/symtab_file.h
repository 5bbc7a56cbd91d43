// SPDX-License-Identifier: GPL-2.0-or-later
// A table of symbols as a file of the cache folder: its rows are searched where they lie in the mapped file.
#pragma once
#include "base/file.h"
#include "sym/symtab.h"

// What the table was made of: all that would make it another one. The rest is 0.
struct symtab_file_key {
	uint64_t words[8];
};

struct symtab_file {
	struct symtab_rows rows;
	uint64_t facts[4]; // what else whoever saved it has to know
};

// *ret_map holds what ret points to until file_unmap. False: there is none that fits, or it is damaged; nothing was changed.
bool symtab_file_load(const char *name, const struct symtab_file_key *key, struct symtab_file *ret,
		      struct mapped *ret_map);
// In address order, with ends. Failure is no error: the next run makes the table again.
void symtab_file_save(const char *name, const struct symtab_file_key *key, struct symtab *symtab,
		      const uint64_t facts[4]);

// Of what lies in memory, for tests. What a row says is looked at when its symbol is made.
bool symtab_file_parse(struct str bytes, const struct symtab_file_key *key, struct symtab_file *ret);
