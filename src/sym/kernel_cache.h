// SPDX-License-Identifier: GPL-2.0-or-later
// A ready copy of the running kernel's symbols. The kernel needs some 40 ms to write /proc/kallsyms; the copy is
// mapped in 2. It is good for one boot and one set of modules.
#pragma once
#include "sym/symtab_file.h"

// What the running kernel looks like; differs whenever its kallsyms may.
struct kernel_cache_key {
	uint64_t words[2];
};

// False when it can't be told, or when addresses are hidden.
bool kernel_cache_key(struct kernel_cache_key *ret);

struct kernel_copy {
	struct symtab_rows rows; // as symtab_fix leaves them; where hidden_width is not 0, "[module]" stands behind the NUL of the name
	size_t kernel_n;	 // so many of the first are the kernel's own
	uint64_t references[2];	 // the addresses of _text and _stext (0: none)
};

// *ret_map holds it until file_unmap. False: there is none that fits, nothing was changed.
bool kernel_cache_load(const struct kernel_cache_key *key, struct kernel_copy *ret,
		       struct mapped *ret_map);
// Failure is no error: the next run reads /proc/kallsyms again.
void kernel_cache_save(const struct kernel_cache_key *key, struct symtab *symtab,
		       const uint64_t references[2]);
