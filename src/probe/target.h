// SPDX-License-Identifier: GPL-2.0-or-later
// The program, module or kernel that is probed.
#pragma once
#include "base/arena.h"
#include "base/file.h"
#include "obj/btf.h"
#include "obj/cfi.h"
#include "obj/line.h"
#include "obj/variable.h"
#include "sym/source.h"

// A program, a module or, without both, the kernel.
struct probe_options {
	const char *exec, *module, *vmlinux, *symfs;
	const char *source;  // the folder of its source; NULL: where debug information says
	uint32_t max_probes; // places of a request
	bool no_inlines, no_demangle, demangle_kernel;
	uint32_t target_ns; // a process in whose mount namespace the names of files are meant; 0: ours
};

// A function's range of addresses; reach: where all up to this one end.
struct probe_function {
	uint64_t low, high, reach;
	struct die die;
};

struct probe_functions {
	struct probe_function *v;
	size_t n, capacity;
};

struct probe_target {
	const struct probe_options *options;
	bool is_kernel;
	const char *path;   // of the program; the kernel: NULL or that of its debug file
	const char *real;   // where the program's bytes are: below --symfs
	const char *name;   // the path as the process of --target-ns has it
	const char *module; // of the kernel; NULL: the kernel itself
	struct sym *sym;
	struct dso *dso;
	struct sources *sources;
	struct dwarf *debug; // NULL: no debug information
	struct mapped file;  // of the program
	uint8_t *unpacked;   // owned: the module in a packed file
	struct elf elf;
	struct cfi_table cfi;
	bool has_cfi;
	struct dwarf_unit *marks_unit; // whose lines are in `marks`
	struct line_marks marks;
	struct dwarf_unit *functions_unit; // whose functions are in `functions`
	struct probe_functions functions;  // by address
	struct str kallsyms; // of the running kernel, read when it is asked for; likewise:
	char *btf_bytes;
	struct btf btf;
	char *module_btf_bytes; // likewise of the module
	struct btf module_btf;
	bool has_btf, has_module_btf;
	struct arena arena;
};

// 0, or -errno with a sentence; -ENOENT: there is no such file. Borrows the options.
int probe_target_open(struct probe_target *ret, const struct probe_options *options);
void probe_target_done(struct probe_target *target);
// The file that is probed, below --symfs: its symbols and debug information. 0, or -errno with a sentence; close it all the same.
int probe_target_file(struct probe_target *target, const char *path);
void probe_target_close(struct probe_target *target);
// From virtual addresses to what uprobe_events and symbols count in, offsets in the file; and back. False: in no segment.
// Of code.
bool probe_file_offset(const struct probe_target *target, uint64_t vaddr, uint64_t *ret);
bool probe_vaddr(const struct probe_target *target, uint64_t offset, uint64_t *ret);
// For struct place_context; arg is the target.
bool probe_cfa(void *arg, uint64_t pc, unsigned *ret_register, int64_t *ret_offset);
// The sentence for what needs debug information; returns -ENOENT.
int probe_no_debug(const struct probe_target *target);
// A symbol's name as people write it, or itself; by the options, in the target's arena.
const char *probe_plain_name(struct probe_target *target, const char *symbol);
// The virtual address of a function's symbol, mangled or not, whatever its version; false: there is none.
bool probe_symbol(struct probe_target *target, const char *name, uint64_t *ret);

// ---- modules of the kernel (module.c)

typedef int probe_name_call(void *arg, struct str name); // 0, or -errno to stop

// Of -m NAME|PATH: a file with debug information where there is one of the module that runs, by its name or build-id. 0, or -errno
// with a sentence: that file can't be read or is of another build.
int probe_module_open(struct probe_target *target);
// Unpacks what is mapped (.ko.xz) into target->elf; -errno without a sentence: it is nothing of the kind.
int probe_module_bytes(struct probe_target *target);
// The kernel's name of the function that starts at an address: "work.isra.0" of what debug information calls `name`.
const char *probe_symbol_at(const struct probe_target *target, uint64_t addr, const char *name);
// Functions of the module's file, which needn't run. 0, or what ends it.
int probe_module_functions(const struct probe_target *target, probe_name_call *call, void *arg);
// Where a function of a relocatable file is placed; false: there is none.
bool probe_module_symbol(const struct probe_target *target, const char *name, uint64_t *ret);

// ---- the running kernel (kernel.c), without its debug information

// Functions of the target, the kernel itself or a module, by /proc/kallsyms. 0, or -errno with a sentence.
int probe_kernel_functions(struct probe_target *target, probe_name_call *call, void *arg);
// The target's; NULL: the kernel doesn't tell.
const struct btf *probe_kernel_types(struct probe_target *target);
void probe_kernel_done(struct probe_target *target);
