// SPDX-License-Identifier: GPL-2.0-or-later
// How symbols get from files into a dso's table; for the parts of sym/ that load.
#pragma once
#include "base/file.h"
#include "obj/elf.h"
#include "sym/private.h"

// One ELF file that may give symbols.
struct elf_source {
	struct mapped file;
	uint8_t *unpacked; // of a compressed one
	struct elf elf;
	struct elf_section symtab, dynsym;
	bool has_symtab, has_dynsym;
	char origin;
	char *path;
};

enum { SOURCE_OK, SOURCE_ABSENT, SOURCE_NOT_ELF, SOURCE_WRONG_BUILD_ID };

// Opens a file as a source of the dso's symbols; one of SOURCE_*. A build-id that differs from the recorded
// one makes it unusable.
int source_open(const struct sym *sym, const struct dso *dso, const char *path,
		struct elf_source *ret);
int source_of_bytes(const struct sym *sym, const struct dso *dso, struct elf_source *source);
void source_done(struct elf_source *source);
// The first file of a dso, in the order in which symbols are looked for, that `wanted` takes; false: none.
bool dso_find_file(const struct sym *sym, const struct dso *dso,
		   bool (*wanted)(const struct elf_source *source), struct elf_source *ret);
// The file that was mapped; false when it is not here.
bool dso_open_mapped(const struct sym *sym, const struct dso *dso, struct elf_source *ret);
// Likewise, also a vdso and a file of the build-id cache.
bool source_open_mapped(struct sym *sym, struct dso *dso, struct elf_source *ret);

// Adds the functions, objects and labels of a file's tables, in addresses of the file's offsets.
// Returns how many. `runtime`: the file that is mapped when `symbols` is its debug file.
size_t load_elf(struct sym *sym, struct dso *dso, const struct elf_source *symbols,
		const struct elf_source *runtime);
// The functions that a program of Go lists for itself, stripped or not. Returns how many.
size_t load_go(struct sym *sym, struct dso *dso, const struct elf_source *runtime);
// Code without a symbol gets the name of the file and the address where its function begins: "gzip@4300", and what runs first
// "_start". Only where sym_options.functions wants it. Returns how many.
size_t load_functions(struct sym *sym, struct dso *dso, const struct elf_source *runtime);
void load_plt(struct sym *sym, struct dso *dso, const struct elf_source *runtime);

// Through which map the kernel or a module is met while its file is read.
struct kernel_load {
	struct sym *sym;
	struct dso *dso;
	struct mapping *map;
	bool is_module, adjust, placed;
	uint64_t reloc;
	uint32_t section; // of the last symbol, with the dso that it goes to
	struct dso *target;
};
size_t load_kernel_elf(struct kernel_load *load, const struct elf_source *source);

// Each loads what it is about and sets the dso's state, origin, note.
void load_user(struct sym *sym, struct dso *dso);
void load_kernel(struct sym *sym, struct dso *dso);
void load_module(struct sym *sym, struct dso *dso, const struct mapping *map);
void load_perfmap(struct sym *sym, struct dso *dso);
// Is that the name of one, and whose? It is a number of a thread, as the program knows it.
bool perfmap_pid(const char *name, int *ret);
// What a running process has written to its perf map since. Looked for now and then only; true: there are more symbols.
bool perfmap_follow(struct sym *sym, struct dso *dso);
// Moves when there are; likewise.
uint32_t perfmap_epoch(struct sym *sym, struct dso *dso);
void load_vdso(struct sym *sym, struct dso *dso);
// A map of a file without symbols that the perf-PID.map of its process has names in (.NET writes code to a memfd) is that JIT code's, in this
// space alone: tasks that were forked have the same mapping. Returns the space's own, or what it had. A forked process without a perf map
// of its own still has the code of its parent.
const struct mapping *perfmap_take_over(struct sym *sym, struct space *space,
					const struct mapping *map);

void load_done(struct sym *sym, struct dso *dso, char origin, const char *path);
void load_failed(struct sym *sym, struct dso *dso, const char *why, ...)
	__attribute__((format(printf, 3, 4)));

// Where the build-id cache is.
void cache_folder(const struct sym *sym, char ret[4096]);
// ~/.debug/.build-id/xx/yyyy/KIND, false when the dso has no build-id or there is no cache.
bool cache_path(const struct sym *sym, const struct dso *dso, const char *kind, char ret[PATH_MAX]);
bool same_build_id(const struct build_id *recorded, const uint8_t *id, size_t n);
