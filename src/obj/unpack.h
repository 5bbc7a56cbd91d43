// SPDX-License-Identifier: GPL-2.0-or-later
// Compressed object files in memory: kernel modules (.gz .xz .zst) and .gnu_debugdata sections (xz).
#pragma once
#include "base/str.h"
#include "obj/elf.h"
#include <stdbool.h>
#include <stdint.h>

// Unpacks by the magic at the start. *ret is the caller's to free. -EINVAL when it is no such
// compressed data or damaged, -EFBIG above 256 MB, -ENOTSUP when that kind is not built in; no sentence.
int unpack(struct str packed, uint8_t **ret, size_t *ret_size);
bool unpack_knows_xz(void);
// The bytes of a section, unpacked where they are packed: SHF_COMPRESSED, or .zdebug_* of old programs ("ZLIB" and the size).
// *ret_unpacked is the caller's to free, NULL where nothing was packed. Empty when damaged, of another kind or above `most` bytes.
struct str unpack_section(const struct elf *elf, const struct elf_section *section, uint64_t most,
			  uint8_t **ret_unpacked);
bool unpack_section_is_packed(const struct elf_section *section);
