// SPDX-License-Identifier: GPL-2.0-or-later
// A piece of JIT code as an ELF file of its own, for readers that know no jitdump.
#pragma once
#include "sym/jitdump.h"

// Where the code stands in the file: the pgoff of its map.
enum { JIT_ELF_TEXT = 128 };

// Writes code, symbol, build-id, and, where the dump has them, line table and unwind information. Replaces `path`.
// *ret_size: bytes from JIT_ELF_TEXT on that were mapped. -errno with a sentence.
int jit_elf_write(const char *path, const struct jitdump *dump, const struct jit_code *code,
		  uint64_t *ret_size);
