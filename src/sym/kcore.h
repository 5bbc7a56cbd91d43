// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel's code, as /proc/kcore shows it, kept in the build-id cache with the kallsyms and modules
// that belong to it: FOLDER/[kernel.kcore]/ID/TIME/{kcore,kallsyms,modules}, as tools/perf/util/symbol-elf.c does.
#pragma once
#include <stdbool.h>

// `path` is /proc/kcore, or another file called kcore with kallsyms and modules beside it. Only the kernel's and the
// modules' code is copied (some 30 MB). Without `force` the same is not kept twice. -errno with a sentence.
int kcore_keep(const char *path, const char *folder, bool force);
