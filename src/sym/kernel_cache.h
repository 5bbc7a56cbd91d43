// SPDX-License-Identifier: GPL-2.0-or-later
// A ready copy of the running kernel's symbols. The kernel needs some 40 ms to write /proc/kallsyms; the copy is
// mapped in 2. It is good for one boot and one set of modules.
#pragma once
#include "base/file.h"
#include "sym/symtab.h"

// What the running kernel looks like; differs whenever its kallsyms may.
struct kernel_cache_key {
	uint64_t words[2];
};

// False when it can't be told, or when addresses are hidden.
bool kernel_cache_key(struct kernel_cache_key *ret);

// Symbols in address order with their ends, as symtab_fix leaves them; where hidden_width is not 0, "[module]" stands
// behind the NUL of the name. Names lie in the copy, which `ret_map` holds until file_unmap. *ret_reference: the address of _text, then that of _stext (0: none).
// False: there is none that fits, nothing was changed.
bool kernel_cache_load(const struct kernel_cache_key *key, struct symtab *ret,
		       struct mapped *ret_map, uint64_t ret_references[2]);
// Failure is no error: the next run reads /proc/kallsyms again.
void kernel_cache_save(const struct kernel_cache_key *key, const struct symtab *symtab,
		       const uint64_t references[2]);

// Of what lies in memory, for tests: false unless every byte makes sense.
bool kernel_cache_parse(struct str copy, const struct kernel_cache_key *key, struct symtab *ret,
			uint64_t ret_references[2]);
