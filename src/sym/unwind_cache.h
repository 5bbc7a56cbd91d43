// SPDX-License-Identifier: GPL-2.0-or-later
// Unwind tables by build-id: in memory, and in files of the cache folder, which are mapped as they are.
#pragma once
#include "base/file.h"
#include "obj/cfi.h"
#include "sym/sym.h"

struct unwind_tables;

struct unwind_tables *unwind_tables_new(bool no_files);
void unwind_tables_free(struct unwind_tables *tables);

// The table of a build-id, from memory or from a file that makes sense to its last byte; NULL: not there.
const struct cfi_table *unwind_tables_find(struct unwind_tables *tables, const struct build_id *id);
// Takes the table over; one with a build-id that took long to make is kept as a file too. Failure to write is no error.
const struct cfi_table *unwind_tables_add(struct unwind_tables *tables, const struct build_id *id,
					  const struct cfi_table *table);

// Of a file's bytes, for tests. False unless all make sense; the table points into them.
bool unwind_cache_parse(const uint8_t *p, size_t n, const struct build_id *id, struct cfi_table *ret);
