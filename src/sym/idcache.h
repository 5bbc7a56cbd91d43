// SPDX-License-Identifier: GPL-2.0-or-later
// perf's cache of files by build-id, by default ~/.debug: NAME/ID/{elf,debug,kallsyms,vdso,probes}, and for each a link
// .build-id/xx/yyyy to NAME/ID. Written as tools/perf/util/build-id.c does, so that both programs share it.
#pragma once
#include "base/vec.h"
#include "sym/sym.h"

// The folder: $PERF_BUILDID_DIR (as perf hands it to its scripts), else ~/.debug. On the heap; NULL without a home.
char *idcache_folder_dup(void);

enum idcache_kind { IDCACHE_ELF, IDCACHE_KALLSYMS, IDCACHE_VDSO, IDCACHE_DEBUG };

struct idcache_file {
	const char *name; // as the recording names it: an absolute path, "[kernel.kallsyms]", "[vdso]"
	const char *path; // where its bytes are now
	enum idcache_kind kind;
	struct build_id id;
};

// Puts a file in: a link where it can be, else a copy; of a program its separate debug file as well, and its static
// probes. What is there already stays. -errno with a sentence.
int idcache_add(const char *folder, const struct idcache_file *file);
// -ENOENT with a sentence when it is not there.
int idcache_remove(const char *folder, const struct build_id *id);
// Removes all entries, also broken ones, and never follows a link. What can't be removed, or is not the cache's, is told with
// warn() and stays; -EIO with a sentence in the first case.
int idcache_purge(const char *folder);
// The entry's folder, by its link; on the heap. It need not be there.
char *idcache_link_dup(const char *folder, const struct build_id *id);
// Its files are there, not only its link.
bool idcache_has(const char *folder, const struct build_id *id);

struct idcache_entry {
	char id[41]; // hexadecimal
	char *name;
	bool is_vdso;
};

// All that is whole, by id. The caller frees with idcache_list_done.
struct idcache_list {
	VEC(struct idcache_entry) entries;
};
void idcache_list_take(const char *folder, struct idcache_list *ret);
void idcache_list_done(struct idcache_list *list);

// Hex digits, an even number of them up to 40.
bool build_id_parse(const char *text, struct build_id *ret);
// Of an ELF file; false: not one, or it has none.
bool file_build_id(const char *path, struct build_id *ret);
// Of the kernel that runs, by what stands below `root` ("": really); false: it tells none.
bool kernel_build_id(const char *root, struct build_id *ret);
