// SPDX-License-Identifier: GPL-2.0-or-later
// Places of a program or of the kernel as events: what is asked for, in which program, where that is, and what the kernel is told.
#pragma once
#include "base/arena.h"
#include "base/file.h"
#include "base/out.h"
#include "obj/btf.h"
#include "obj/cfi.h"
#include "obj/line.h"
#include "obj/type.h"
#include "obj/variable.h"
#include "sym/source.h"

struct tracefs;

enum { PROBE_MOST_ARGS = 128 }; // MAX_TRACE_ARGS of the kernel

// ---- what was asked for (parse.c)

struct probe_field {
	struct str name; // of a member; empty: an index
	int64_t index;
	bool is_arrow; // ->
};

struct probe_arg {
	const char *name; // "x" of x=l->y; NULL: none was given
	const char *var;  // of the program, or the kernel's own: %di, $retval, +0(%sp), @symbol
	VEC(struct probe_field) fields;
	const char *type; // "s32", "string"; NULL
	bool is_raw;	  // the kernel's own
	bool is_user;	  // @user: in memory of the user
};

struct probe_point {
	const char *function, *file; // function may be a glob; file NULL: any
	uint32_t line;		     // with a function: from its first line on; 0: none
	uint64_t offset;
	const char *lazy; // lines that look like this
	bool is_return;
	bool is_start;	 // the very start, also of functions that were built without optimization
	bool is_address; // function is "0x..."
	bool is_place;	 // function is "FILE@ADDRESS", as code without symbols is called
	uint64_t address;
};

struct probe_request {
	const char *group, *event; // NULL: not given; of %NAME they are globs
	struct probe_point point;
	VEC(struct probe_arg) args;
	bool is_sdt; // %[GROUP:]NAME: a static probe, or one of the cache
};

// -EINVAL with a sentence. All texts lie in the arena.
int probe_parse(struct arena *arena, const char *text, struct probe_request *ret);
void probe_request_done(struct probe_request *request);

// FUNC[@SRC][:START[-END|+N]] or SRC[:START[-END|+N]]
struct probe_lines {
	const char *function, *file;
	uint32_t start, end; // inclusive; UINT32_MAX: to the end
};
int probe_parse_lines(struct arena *arena, const char *text, struct probe_lines *ret);
// "work:6", "work+4", "@t.c:26"
void probe_put_point(struct out *out, const struct probe_point *point);
// "[GROUP:EVENT=]PLACE ARG...", as the request was typed; `group` where it names an event only.
void probe_put_request(struct out *out, const struct probe_request *request, const char *group);
// "x=l->y:s32"
void probe_put_arg(struct out *out, const struct probe_arg *arg);
bool probe_is_glob(const char *text);
// Does it need the parameters or variables of a function?
bool probe_is_function_arg(const struct probe_arg *arg);
// A text of strangers as the name of an event or argument: what the kernel doesn't take becomes '_'.
const char *probe_clean_name(struct arena *arena, struct str text);
// Can it be a part of a definition? Blanks and control characters end words, '#' begins a comment.
bool probe_is_word(const char *text);

// ---- the program (target.c)

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

// ---- places in a program (find.c, lines_walk.c)

// A place that a request means.
struct probe_site {
	uint64_t addr;	     // virtual
	struct die function; // the real one that the address is in
	struct die scope;    // that, or the inlined call that was asked for
	uint64_t entry;	     // of the function
	bool is_return;
};
typedef int probe_site_call(void *arg, const struct probe_site *site); // 0, or -errno to stop

// Calls with each place, by debug information. The count, or -errno with a sentence; 0: there is none.
int probe_find(struct probe_target *target, const struct probe_point *point, probe_site_call *call,
	       void *arg);
struct place_context probe_context(struct probe_target *target, const struct probe_site *site);

// The lines of an entry of .debug_info, a unit or a function, where statements begin; in a function without those of what is
// inlined into it. call returns 0, or what ends the walk.
struct probe_spot {
	const char *file;
	uint32_t line;
};

typedef int probe_line_call(void *arg, const char *file, uint32_t line, uint64_t addr);
int probe_walk_lines(struct probe_target *target, const struct die *die, probe_line_call *call,
		     void *arg);
// Calls with each inlined or own instance of an abstract function.
int probe_walk_instances(const struct die *origin, int (*call)(void *arg, const struct die *at),
			 void *arg);
// The real function at an address; false: none. log n, but another unit's functions are gathered first.
bool probe_real_function(struct probe_target *target, struct dwarf_unit *unit, uint64_t addr,
			 struct die *ret);
// The file of a unit that is meant; NULL: none.
const char *probe_file_in_unit(struct dwarf_unit *unit, const char *wanted);
// All rows of a unit's lines; good until another unit's are asked for.
const struct line_marks *probe_marks(struct probe_target *target, struct dwarf_unit *unit);
// The first line that an address is of; as perf has it, the function's own at its start. False: not known.
bool probe_first_line(struct probe_target *target, struct dwarf_unit *unit, uint64_t addr,
		      struct probe_spot *ret);
// The innermost place around an address as source: what -l shows. False: not known.
bool probe_find_source(struct probe_target *target, uint64_t addr, struct probe_point *ret);
// The source file that debug information names, where it can be read; on the heap, NULL: it isn't here.
char *probe_source_path(const struct probe_target *target, const char *name, const char *comp_dir);
// Is `path` the file that `wanted` ("t.c", "src/t.c") means?
bool probe_same_file(const char *path, const char *wanted);
bool probe_name_matches(const struct die *die, const char *wanted);

// ---- what the kernel is told (argument.c, event.c)

struct probe_value {
	const char *name, *value, *type; // name, type: NULL: none
};

struct probe_event {
	const char *group, *event;
	const char *path;   // NULL: the kernel
	const char *symbol; // of the kernel, with "module:"
	uint64_t at;	    // offset in the file, or from the symbol
	uint64_t semaphore; // offset in the file, 0: none
	bool is_return;
	VEC(struct probe_value) values;
	const char *real_name; // of the function
};

// The values of a request's arguments at a site; 0, or -errno with a sentence.
int probe_values(struct probe_target *target, const struct probe_request *request,
		 const struct probe_site *site, struct probe_event *event);
// Likewise without debug information: raw ones only.
int probe_raw_values(struct probe_target *target, const struct probe_request *request,
		     struct probe_event *event);
// Raw arguments; those by name are parameters, as the kernel's own type information has them.
int probe_kernel_values(struct probe_target *target, const struct probe_request *request,
			struct probe_event *event);

// Their parts.
const char *probe_value_name(struct arena *arena, const struct probe_arg *arg);
void probe_add_raw(struct probe_event *event, const struct probe_arg *arg);
// "+8(", "+u8(" of the user's memory
void probe_put_offset(struct out *out, const struct probe_arg *arg, int64_t offset);
bool probe_is_string(const char *type); // NULL: no; likewise:
bool probe_is_kind(const char *type);	// "s", "u", "x": of the variable's own size
// Bits as the kernel's types have them: 8, 16, 32, 64.
unsigned probe_whole_bits(uint64_t bytes);

// The group of those whose request names none.
const char *probe_group_of(struct probe_target *target);

struct probe_events {
	VEC(struct probe_event) v;
};
void probe_events_done(struct probe_events *events);
// All events that a request makes; -errno with a sentence.
int probe_make_events(struct probe_target *target, const struct probe_request *request,
		      struct probe_events *ret);
// Texts of a definition have to be words, as it is one line. -EINVAL with a sentence.
int probe_check_words(const struct probe_event *event);
// "p:group/event path:0x1 a=%di:s32"
void probe_put_value(struct out *out, const struct probe_value *value);
void probe_put_definition(struct out *out, const struct probe_event *event);

// ---- perf's cache of probes (cached.c): sym/probe_cache.h

// Adds those that the cache has for a request: of the text, or by the names of %[GROUP:]NAME, without a file in all files that are
// still the same. How many; damage of the cache is passed over. -ERANGE with a sentence above --max-probes.
int probe_cached_find(struct probe_target *target, const struct probe_request *request,
		      struct probe_events *events);
// Keeps what a request made. 0, or -errno with a sentence.
int probe_cached_add(struct probe_target *target, const struct probe_request *request,
		     const struct probe_events *events);

// ---- tracefs (store.c)

// One line of uprobe_events or kprobe_events.
struct probe_stored {
	const char *line; // whole
	struct str group, event;
	bool is_uprobe, is_return;
	struct str path; // of uprobes; of kprobes: the symbol
	uint64_t at;
	VEC(struct str) names; // of arguments
};

struct probe_store {
	struct tracefs *tracefs;
	struct arena arena;
	VEC(struct probe_stored) v; // sorted as perf sorts them
};
int probe_store_open(struct probe_store *ret);
void probe_store_done(struct probe_store *store);
const struct probe_stored *probe_store_find(const struct probe_store *store, const char *group,
					    const char *event);
int probe_store_add(struct probe_store *store, const struct probe_event *event);
// As if it were added.
int probe_store_note(struct probe_store *store, const struct probe_event *event);
void probe_store_sort_by_name(struct probe_store *store);
int probe_store_remove(struct probe_store *store, const struct probe_stored *stored);
