// SPDX-License-Identifier: GPL-2.0-or-later
// The running kernel's code, as /proc/kcore shows it (patched, with what was made for ftrace and BPF), kept with the
// kallsyms and modules that belong to it: beside a recording, or in the build-id cache as
// FOLDER/[kernel.kcore]/ID/TIME/{kcore,kallsyms,modules}. The same files as tools/perf/util/symbol-elf.c makes.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// `path` is /proc/kcore, or another file called kcore with kallsyms and modules beside it. Only the kernel's and the
// modules' code is copied (some 30 MB). Without `force` the same is not kept twice. -errno with a sentence.
int kcore_keep(const char *path, const char *folder, bool force);

// The three files of `proc` ("/proc") in a folder that is made. Nothing is left of them when it fails. -errno with a sentence.
int kcore_save(const char *proc, const char *folder);
// The kallsyms that was kept last of the kernel with a build-id (hex digits); false: none was.
bool kcore_find_kallsyms(const char *folder, const char *id, char *ret, size_t ret_size);
