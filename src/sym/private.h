// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of sym/ share and nobody else sees.
#pragma once
#include "base/arena.h"
#include "base/file.h"
#include "sym/debuginfod.h"
#include "sym/held.h"
#include "sym/identity.h"
#include "sym/sym.h"
#include "sym/symtab.h"

// May the file that has a dso's name now give its names?
enum verdict { VERDICT_NONE, VERDICT_TAKE, VERDICT_TAKE_NOTED, VERDICT_REFUSE };

// Of a perf-PID.map: how far it was read, and when it may be looked at again.
struct perfmap_state {
	uint64_t read_bytes, inode;
	uint64_t first_ns, next_ns;
	uint64_t refused_n;  // lines that are of more than
	uint64_t longest;    // the longest piece of code that the process had then,
	uint32_t generation; // in its address space as it was
	bool follows;	     // of a running process: it may grow
	bool misses;	     // an address had no name since it was read
};

struct dso_private {
	struct dso dso; // first: dso_private_of casts
	struct dso_private *same_name;
	struct file_id file;
	const struct held_file *held;	// live, NULL: none
	const struct file_facts *facts; // that the recording notes, NULL: none
	enum verdict verdict;		// on the file of its name
	bool header_build_id;		// from the table of the recording, which knows names alone
	bool has_functions; // among its symbols: those of stripped programs are data and imports
	bool unlisted;	    // made by a KSYMBOL record: lookups by name don't see it
	bool module;	    // knows that it is a .ko
	bool is_vdso;
	uint32_t pid; // that mapped it last, where; 0: nobody
	uint64_t mapped_at, mapped_end;
	uint64_t mount_space;	// inode of that process's mount namespace, 0: not known
	bool section_of_kernel; // [kernel.kallsyms].init.text and the like
	struct perfmap_state perfmap;
	struct symtab symtab;
};

// Symbols of addresses that were asked for lately; direct mapped, so of bounded size and one cache line a look-up.
enum { KNOWN_USER = 1 << 12, KNOWN_KERNEL = 1 << 12 };

// Of files: the same whatever the address space.
struct known_symbol {
	const struct dso *dso; // NULL: empty
	uint64_t addr;
	const struct symbol *sym;
};

// Of the kernel and its modules: good for one generation of the kernel's space.
struct known_kernel {
	uint64_t ip;
	const struct mapping *map;
	const struct symbol *sym;
	uint32_t generation; // 0: empty
};

enum { NEAR_MAPS = 128 };

// A map, or a hole between maps, where an address was lately.
struct near_map {
	uint64_t key; // id of the space << 32 | its generation; 0: empty
	uint64_t start, end;
	const struct mapping *map; // NULL: a hole
};

struct sym_private {
	struct arena arena;
	struct map tasks_by_tid;
	struct near_map near[NEAR_MAPS]; // direct mapped
	struct map dsos_by_name;	 // interned name -> first dso_private, then same_name
	struct map dsos_by_short;	 // interned short name -> first dso_private
	struct map cgroups;		 // id -> path
	struct mapping *kernel_map;
	struct dso *kernel_dso;
	const char *reference_name; // the symbol whose address the recording tells, NULL: none
	uint64_t reference_addr;
	uint32_t next_space_id;
	VEC(char *) texts;	   // of kallsyms: symbols' names lie there
	VEC(struct mapped) copies; // likewise, of what was kept of symbols
	size_t maps_total;	   // pointers in all spaces
	uint64_t copy_budget;	   // pointers that forks may still copy
	struct space **dead;	   // ring of spaces without living tasks
	size_t dead_at;
	struct task **dead_tasks; // ring, of a live run: the oldest make room for new ones
	size_t dead_tasks_at;
	VEC(struct task *) free_tasks;
	VEC(struct space *) free_spaces;
	struct jit *jits;
	struct debuginfod_wait debuginfod;
	struct held *own_held;		   // where options.held is none
	struct map facts;		   // hash of name and file_id -> struct file_facts
	struct map mount_spaces;	   // pid -> inode of the mount namespace
	struct known_symbol *known_user;   // KNOWN_USER of them
	struct known_kernel *known_kernel; // KNOWN_KERNEL
};

static inline struct dso_private *dso_private_of(struct dso *dso)
{
	return (struct dso_private *)dso;
}

// maps.c
struct space *space_new(struct sym *sym, uint32_t pid);
const struct mapping *space_find(const struct space *space, uint64_t ip);
void near_map_find(struct near_map *near, const struct space *space, uint64_t ip);
// Likewise in a space whose maps don't overlap: looks first at where addresses were lately.
static inline const struct mapping *space_find_near(struct sym *sym, const struct space *space,
						    uint64_t ip)
{
	struct near_map *near = &sym->private->near[(ip >> 20 ^ ip >> 25 ^ space->id) % NEAR_MAPS];
	uint64_t key = (uint64_t)space->id << 32 | space->generation;

	if (near->key != key || ip < near->start || ip >= near->end) {
		near_map_find(near, space, ip);
		near->key = key;
	}
	return near->map;
}
// Takes over the caller's reference; what lay there before is cut or split.
void space_insert(struct sym *sym, struct space *space, struct mapping *map);
// Likewise without cutting what it overlaps.
void space_insert_raw(struct sym *sym, struct space *space, struct mapping *map);
// The space's mapping as one that no other space has, to be changed.
struct mapping *space_own(struct space *space, const struct mapping *map);
void space_remove(struct sym *sym, struct space *space, struct mapping *map);
void space_clone(struct sym *sym, struct space *space, const struct space *parent);
void space_clear(struct sym *sym, struct space *space);
void space_sort(struct space *space);
static inline uint64_t mapping_addr(const struct mapping *map, uint64_t ip)
{
	return map->identity ? ip : ip - map->start + map->pgoff;
}

// sym.c: what the recording notes of a file; NULL: nothing.
const struct file_facts *sym_facts(const struct sym *sym, const char *name, const struct file_id *id);

// tasks.c
void task_set_comm(struct sym *sym, struct task *task, const char *comm, uint64_t time);
void task_fork(struct sym *sym, const struct record_task *fork, uint64_t time);
void task_exit(struct sym *sym, const struct record_task *exit);

// dso.c
struct dso *dso_get(struct sym *sym, const char *name, const struct file_id *file);
struct dso *dso_find(struct sym *sym, const char *name);
struct dso *dso_add_unlisted(struct sym *sym, const char *name, enum dso_kind kind);
struct dso *dso_get_module(struct sym *sym, const char *path);
struct dso *dso_get_vdso(struct sym *sym);
void dso_set_build_id(struct dso *dso, const uint8_t *id, size_t size);
void dso_set_long_name(struct sym *sym, struct dso *dso, const char *name);
void dso_set_short_name(struct sym *sym, struct dso *dso, const char *name);

// How a path names a kernel module: perf's rules. name_size >= 256.
struct module_name {
	bool is_module, is_compressed;
	char name[256];
};
void module_name_parse(struct module_name *ret, const char *path);

// load.c: loads the symbols unless that was tried. `map`: through which it was met.
void dso_load(struct sym *sym, struct dso *dso, const struct mapping *map);
