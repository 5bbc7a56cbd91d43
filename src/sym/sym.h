// SPDX-License-Identifier: GPL-2.0-or-later
// Tasks, their memory maps over time, DSOs and symbols: from (task, cpumode, address) to (dso, symbol).
// One `struct sym` a recording or live run. Side-band records are fed in time order; lookups ask about the present state.
#pragma once
#include "abi/record.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "sym/identity.h"
#include <stdbool.h>

struct held;

struct sym_options {
	const char *root;	 // of /proc and /sys ("" normally)
	const char *symfs;	 // --symfs
	const char *vmlinux;	 // -k
	const char *kallsyms;	 // --kallsyms
	const char *debug_dir;	 // buildid cache, default $HOME/.debug
	const char *archive_dir; // an unpacked archive, looked in before debug_dir; NULL: none
	bool ignore_vmlinux, ignore_build_ids, no_demangle, demangle_kernel;
	bool demangle_parameters; // functions with their parameters, as with -v
	bool live;		  // addresses are of the running system
	bool other_machine; // the recording names another kernel than the running one: /proc/kallsyms of this one is not for it
	bool no_cache_dir;
	bool foreign_maps; // perf-PID.map of other users than root and oneself are used too
	bool aliases;	   // all names of an address are kept, as the prober needs
	// Files of live processes that somebody else opens in time; NULL: sym does so itself.
	struct held *held;
	// The recording is of this machine and of this boot, so what it says of inodes can be compared; when it was complete, 0: not known.
	bool same_host, same_boot;
	int64_t recorded_ns;
	// Code without a symbol is named by where its function begins, "gzip@4300", as far as the file tells how to unwind it.
	bool functions;
};

enum dso_kind {
	DSO_USER,
	DSO_KERNEL, // [kernel.kallsyms] and relatives, long_name may be a vmlinux path
	DSO_MODULE, // [ext4]
	DSO_GUEST_KERNEL,
	DSO_GUEST_MODULE,
	DSO_VDSO, // [vdso], [vdso32]
	DSO_ANON, // //anon, [heap], [stack], anon_inode..., JIT (perf-PID.map)
	DSO_BPF,  // bpf_prog_*
	DSO_OOL,  // out of line kernel text (ftrace trampolines)
	DSO_HYPERVISOR,
};

enum dso_state { DSO_NOT_LOADED, DSO_LOADED, DSO_NO_SYMBOLS };

struct symbol {
	uint64_t start, end; // [start, end) in the dso's symbol address space (see location.addr)
	const char *name;    // demangled unless told not to
	uint8_t binding;     // STB_*
	uint8_t type;	     // STT_*
	bool inlined, ignore;
	bool mangled;	  // private: the name is not demangled yet
	bool is_place;	  // no name of the program's: "gzip@4300", see sym_options.functions
	bool guessed_end; // private: the file tells no size
	uint8_t hidden_width; // what perf counts for a column's width besides the name ("\t[module]" of kallsyms)
};

// The name without the version that a library gives it: "pthread_create@@GLIBC_2.34".
struct str symbol_plain_name(const struct symbol *symbol);

struct dso {
	uint32_t id; // dense, from 0
	enum dso_kind kind;
	const char *name; // as the recording names it: what script prints ("[unknown]" without a dso)
	const char *long_name, *short_name; // of the file in use; its last part: what report prints
	struct build_id build_id;
	bool hit; // some sample was in it
	bool is_64bit;
	bool adjust_symbols; // as perf's dso->adjust_symbols: ET_EXEC or prelinked
	enum dso_state state;
	char origin; // perf's symtab origin letter ('k' kallsyms, 'd', 'B', ...), '!' none yet
	uint64_t samples_n;    // that lie in it, where a run counts them
	uint64_t cut_stacks_n; // that end in it, as it has no unwind information
	bool is_other_file; // what has its name now is not surely the file that ran, as `note` says
	const char *note; // why there are no symbols (wrong build-id, not found, no permission), or NULL
	const char *refused;	  // what of the file that gave them is not believed, or NULL
	uint32_t names_epoch;	  // moves when more symbols came
	uint32_t pid;		  // of anonymous maps: whose perf-PID.map
	const char *symbols_path; // the file the symbols came from, or NULL
	struct symtab *symtab;	  // private
	void *user;
};

struct mapping {
	uint64_t start, end, pgoff;
	uint64_t reloc;
	struct dso *dso;
	uint32_t prot, flags, maj, min;
	uint64_t ino, ino_generation;
	bool identity; // addresses are the dso's own (kernel)
	bool is_mmap2, has_build_id;
	bool may_be_jit; // private: of a file; whether a perf-PID.map has names in it is not known yet
	bool follows;	 // private: of code that has no file: more of its names may be found later
	uint32_t refs;
};

// The address space of a thread group. `id` never comes again; `generation` moves at each change.
struct space {
	uint32_t id, generation;
	uint32_t pid;
	uint32_t refs;		    // living tasks
	uint32_t users;		    // tasks that are known, dead ones too
	VEC(struct mapping *) maps; // sorted by start, not overlapping
};

struct task {
	uint32_t pid, tid, ppid;
	struct space *space; // shared by the threads of a process; never NULL
	uint32_t comm;	     // interned id (sym->strings); ":TID" until known
	bool comm_set, exited;
	uint64_t comm_time, start_time; // of its fork or last exec
	int32_t cpu;
	uint32_t index; // dense, in order of first sight
	void *user;
};

enum { SYM_RECENT_TASKS = 256 };

struct sym {
	struct sym_options options;
	struct intern strings;
	VEC(struct dso *) dsos;
	VEC(struct task *) tasks; // dead ones too until bounded by the owner
	struct space *kernel;	  // kernel and module maps
	uint64_t kernel_start;
	bool clock_is_monotonic; // the recording's times are CLOCK_MONOTONIC: set before the first record
	uint64_t next_jit_ns;  // sym_advance has something to do from then on; UINT64_MAX: never
	uint64_t maps_dropped; // made up recordings have more maps than memory allows
	// Called once, before the first file is asked for from a debuginfod server; NULL: nobody wants to know.
	void (*before_servers)(void *arg);
	void *before_servers_arg;
	struct task *recent_tasks[SYM_RECENT_TASKS]; // by tid; of sym_task
	struct sym_private *private;
};

int sym_new(struct sym **ret, const struct sym_options *options);
void sym_free(struct sym *sym);

// Takes in a side-band record: MMAP, MMAP2, COMM, FORK, EXIT, NAMESPACES, KSYMBOL, BPF_EVENT, TEXT_POKE,
// CGROUP; others are ignored. `time` UINT64_MAX when unknown. Malformed: -EINVAL, nothing changed.
int sym_record(struct sym *sym, const struct perf_event_header *header, uint64_t time);
// Live, now and then: files that no process maps any more are closed (held_age).
void sym_age(struct sym *sym);
// Code that JIT compilers made up to `time` (jitdump) appears; to be called when time >= sym->next_jit_ns.
void sym_advance(struct sym *sym, uint64_t time);
// Build-ids of the recording's table.
void sym_build_id(struct sym *sym, const char *name, uint16_t misc, const struct build_id *id);

// What the recording notes of a file; before the first record.
void sym_learn_file(struct sym *sym, const struct file_facts *facts);

struct task *sym_task_slow(struct sym *sym, uint32_t pid, uint32_t tid); // for sym_task
// The task, made when unknown (comm ":TID", tid 0 is "swapper" as perf). pid UINT32_MAX: not known.
static inline struct task *sym_task(struct sym *sym, uint32_t pid, uint32_t tid)
{
	struct task *task = sym->recent_tasks[tid % SYM_RECENT_TASKS];

	return task && task->tid == tid && task->pid == pid ? task : sym_task_slow(sym, pid, tid);
}
struct task *sym_find_task(struct sym *sym, uint32_t tid);
static inline const char *task_comm(const struct sym *sym, const struct task *task)
{
	return intern_get(&sym->strings, task->comm);
}
// The path of a cgroup id, or NULL.
const char *sym_cgroup(const struct sym *sym, uint64_t id);

// Where an address lies.
struct location {
	const struct mapping *map; // NULL: in no known map
	struct dso *dso;	   // NULL: likewise
	const struct symbol *sym;  // NULL: none
	uint64_t addr; // in the dso's symbol space (perf's al->addr); the address itself without a map
	uint64_t ip; // the address asked for
	uint8_t cpumode;
	char level; // '.' 'k' 'g' 'u' 'H' as perf
};

// Like perf's machine__resolve/thread__find_symbol. About 10 ns for an address of a file seen lately, in whatever space.
struct location sym_resolve(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip);
// A tp_resolver (abi/tracepoint.h) of the kernel's functions; arg: struct sym.
const char *sym_name_in_print(void *arg, uint64_t addr, uint64_t *ret_start, const char **ret_module);
// Likewise of where a call returns to. Behind a call that never returns (throw, abort) another function begins there, or none is:
// the function that has the call is the answer then. (In the kernel only where the padding of another one is: code that was
// interrupted at its first instruction is as likely.)
struct location sym_resolve_return(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip);
// Likewise for addresses whose cpumode is a guess (sample.addr, branches): when nothing lies there, the half that
// the address belongs to decides. Like perf's thread__find_map_fb.
struct location sym_resolve_guess(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip);
// Likewise where nothing says in which mode it lies (ends of branches): user, kernel, else nowhere (level 'H', as perf).
struct location sym_resolve_any(struct sym *sym, struct task *task, uint64_t ip);
// Only the map, symbols are not loaded.
struct location sym_resolve_map(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t ip);
// In a dso's symbol space; loads the symbols when needed.
const struct symbol *dso_find_symbol(struct sym *sym, struct dso *dso, uint64_t addr);
const struct symbol *dso_find_symbol_by_name(struct sym *sym, struct dso *dso, const char *name);
// cpumode of an address when the record doesn't say (callchains without context): kernel or user half.
uint8_t sym_cpumode_of(const struct sym *sym, uint64_t ip);
// `to` waits for debuginfod servers no longer than what `from` left of the time.
void sym_share_wait(struct sym *to, const struct sym *from);
// A program or library by its path, without any record about it.
struct dso *sym_file(struct sym *sym, const char *path);
// All symbols of a dso in address order.
size_t dso_symbols(struct sym *sym, struct dso *dso, const struct symbol **ret);
// Code of a kernel, ours or a guest's: modules, BPF programs and trampolines, too; not a hypervisor's.
bool dso_is_kernel(const struct dso *dso);
