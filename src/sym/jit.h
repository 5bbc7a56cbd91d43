// SPDX-License-Identifier: GPL-2.0-or-later
// Code of JIT compilers as maps: each piece of a jitdump is a map of the dump itself, from when it was made.
#pragma once
#include "obj/cfi.h"
#include "sym/private.h"

// A process mapped a jitdump; nothing happens when it can't be read.
void jit_open(struct sym *sym, struct task *task, struct dso *dso);
// Has that process one? Then its anonymous maps, in which the code lies, say nothing, once all has been written.
bool jit_has(const struct sym *sym, uint32_t pid);
// Takes over the caller's reference of an anonymous map of code: what dumps told of stays where it is, around it is the map.
void jit_insert_around(struct sym *sym, struct space *space, struct mapping *map);
// What lies at an offset of a dump, up to its end; nothing when the dso is no dump.
struct str jit_bytes(const struct sym *sym, const struct dso *dso, uint64_t at);
// How the frames of a dump's code are left, by offsets in the dump; false: it does not say.
bool jit_frames(const struct sym *sym, const struct dso *dso, struct cfi_table *ret);
void jit_free(struct sym *sym);
