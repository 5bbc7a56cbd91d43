// SPDX-License-Identifier: GPL-2.0-or-later
// Names of C++, Rust, D, Java and OCaml symbols as people wrote them. By libiberty, guarded against hostile names.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// The demangled name on the heap, or NULL when `name` is not mangled (or too long or too deep to be a real
// name). `parameters`: with those of functions (perf shows them with -v only).
char *demangle(const char *name, bool parameters);
// Could it be mangled? Cheap; no false negatives.
bool demangle_maybe(const char *name);

// Without the version that a library gives it: "pthread_create@@GLIBC_2.34"; "read@plt" has none.
struct str name_without_version(struct str name);
