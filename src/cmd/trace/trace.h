// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of `sonde trace`.
#pragma once
#include "abi/syscall_args.h"
#include "agg/spread.h"
#include "base/opt.h"
#include "base/vec.h"
#include "flow/bpf_texts.h"
#include "flow/feed.h"
#include "input/core/input.h"
#include "sys/syscalls.h"

struct files;
struct files_about;

// In trace->wanted: shown, by the native table and by that of 32-bit programs; seen only because it changes what descriptors are.
enum { TRACE_NATIVE = 1, TRACE_OF_32BIT = 2, TRACE_FOLLOWED = 4 };

enum trace_fault { FAULT_MAJOR = 1, FAULT_MINOR = 2 };

// -e, --event, --filter in the order in which they were given.
struct trace_choice {
	const char *text;
	bool is_filter;
	bool is_setting; // trace.add_events
};

struct trace_options {
	struct target_options target;
	VEC(struct trace_choice) choices;
	const char *input, *output, *filter_pids, *cgroups, *switch_on, *switch_off;
	double duration_ms;
	uint64_t max_events, delay_ms;
	uint64_t mmap_pages, ignored;
	uint32_t min_stack, max_stack, stack_bytes;
	int verbose;
	unsigned faults; // enum trace_fault
	bool stacks, kernel_stacks, no_kernel_stacks;
	bool comm, full_time, failure, summary_only, summary, errno_summary, sched, syscalls, force;
	bool no_inherit, print_fmt, sorted, print_sample, show_on_off, no_strings, tool_stats;
};

// What one of the events that trace takes is for.
enum trace_role {
	ROLE_ENTER,
	ROLE_EXIT,
	ROLE_FAULT_MAJOR,
	ROLE_FAULT_MINOR,
	ROLE_RUNTIME,
	ROLE_PAYLOAD, // what the arguments of the next entry point at
	ROLE_OTHER,
};

struct trace_event {
	enum trace_role role;
	struct feed_event *feed;
	struct tp_field id, args[SYSCALL_ARGS], ret; // of ENTER and EXIT
	bool plain; // the fields lie as the native 64-bit kernel puts them
	bool switches_on, switches_off;
	uint64_t max, printed;	       // max 0: no limit
	const struct syscall_def *def; // of syscalls:sys_enter_*
};

struct call_stat {
	uint32_t number;
	bool is_32bit;
	uint64_t n, errors, min, max;
	struct spread times; // ns, of calls whose entry was seen
	struct map errnos;
};

// What the kernel read of the memory that an entry's arguments point at.
struct trace_payload {
	bool there;
	uint32_t number;
	struct {
		uint8_t arg;
		uint16_t size, at;
	} pieces[BPF_TEXTS_PLACES];
	uint32_t pieces_n, capacity;
	char *bytes;
};

struct trace_thread {
	uint32_t tid, pid;
	size_t index;	  // in trace->all
	const char *comm; // of one that has ended
	bool ended;
	uint64_t entry_ns;
	uint32_t number;
	bool entered;	  // an entry waits for its exit
	bool pending;	  // and is not printed yet
	bool is_followed; // its arguments wait for its exit, which is not shown
	bool is_32bit;	  // of the call
	uint64_t args[SYSCALL_ARGS];
	struct trace_payload payload;
	uint64_t events_n, faults_major, faults_minor;
	double runtime_ms;
	struct map by_number; // -> index in stats + 1
	VEC(struct call_stat) stats;
};

// What [trace] of the settings says about lines.
struct trace_look {
	bool no_time, no_duration, no_names, zeros, prefix;
	unsigned alignment; // the column of the result within the call's text
};

struct trace {
	const struct trace_options *options;
	struct trace_look look;
	const struct input *input;
	struct feed *feed;
	struct out *out;
	struct out line, text; // in memory
	VEC(struct trace_event) events;
	const struct syscall_def **defs[2]; // by number: native, 32-bit
	uint32_t numbers_n[2];
	struct files *files; // live, with lines
	const struct files_about **abouts[2];
	bool follows; // calls that change descriptors are seen
	enum syscalls abi, abi_32bit;
	bool has_32bit, colors, shows_syscalls, on, has_other, several_threads;
	uint8_t *wanted; // by number of either table, TRACE_*; NULL: all
	uint32_t wanted_n;
	uint64_t base_ns, printed_n, events_n, lost_n;
	double runtime_ms;
	struct map threads; // tid -> struct trace_thread *
	VEC(struct trace_thread *)
	all;			     // ended ones stay only with a summary, and not all of them:
	struct trace_thread *folded; // the sums of the others; NULL: none
	uint64_t ended_n, folded_n;
	struct trace_thread *last, *current; // current: the thread that entered last
	struct bpf_texts *texts;	     // NULL: there are only pointers
	bool texts_started;
	struct arena arena;
};

// ---- select.c: what -e means.
// Fills trace->wanted from names, globs, groups; others are events, added to the feed. -EINVAL, -ENOENT with a sentence.
int trace_select(struct trace *trace);
// The kernel's filter over the field "id" (and common_pid of --filter-pids); NULL: none.
const char *trace_filter(struct trace *trace);
// The entry's definition; NULL: the number is not known.
const struct syscall_def *trace_def(const struct trace *trace, const struct trace_thread *thread,
				    uint32_t number);
bool trace_wants(const struct trace *trace, const struct trace_thread *thread, uint32_t number);
int trace_add_event(struct trace *trace, const char *name, enum trace_role role);

// ---- calls.c: entries and exits.
int trace_enter(struct trace *trace, struct trace_event *event, const struct sample *sample);
int trace_exit(struct trace *trace, struct trace_event *event, const struct sample *sample);
struct trace_thread *trace_thread(struct trace *trace, const struct sample *sample);
void trace_want_abi(struct trace *trace, struct trace_event *event); // live, before it is opened
void trace_set_abi(struct trace_thread *thread, const struct sample *sample);
void trace_thread_ended(struct trace *trace, uint32_t tid);
void trace_threads_done(struct trace *trace);
void trace_thread_remove(struct trace *trace, struct trace_thread *thread); // that has ended
void trace_forget_entries(struct trace *trace);				    // after a loss

uint64_t trace_number_of(const struct trace_event *event, const struct sample *sample);
int64_t trace_ret_of(const struct trace_event *event, const struct sample *sample);
void trace_take_args(const struct trace_event *event, struct trace_thread *thread,
		     const struct sample *sample);

// ---- follow.c: names of descriptors.
// After trace_select: chooses the calls that have to be seen for that.
void trace_follow_open(struct trace *trace);
void trace_follow_begin(struct trace *trace); // of the tasks that are watched from now on
void trace_follow_task(struct trace *trace, const struct perf_event_header *header);
bool trace_follows(const struct trace *trace, const struct trace_thread *thread, uint32_t number);
// Of each entry and exit first. True: it is not to be shown.
bool trace_follow(struct trace *trace, struct trace_event *event, const struct sample *sample);
// A call whose entry was seen returned.
void trace_followed(struct trace *trace, struct trace_thread *thread, int64_t ret);
// "</etc/passwd>", nothing where it is not known; with the number before it
void trace_put_file(struct trace *trace, uint32_t pid, int32_t fd, struct out *out);
// Of a number that a call gave to another file: with the name of what it was before.
void trace_put_new_fd(struct trace *trace, uint32_t pid, int32_t fd, struct out *out);
void trace_put_fd(struct trace *trace, uint32_t pid, int32_t fd, struct out *out);

// ---- look.c: settings.
void trace_look(struct trace_look *ret);
// What trace.add_events adds to the events of -e.
void trace_add_settings(struct trace_options *options);

// ---- print.c: lines.
void trace_put_head(struct trace *trace, const struct trace_thread *thread, uint64_t time_ns,
		    const uint64_t *duration_ns);
void trace_put_args(struct trace *trace, const struct trace_thread *thread,
		    const struct syscall_def *def, struct out *out);
void trace_print_exit(struct trace *trace, struct trace_thread *thread, const uint64_t *duration_ns,
		      int64_t ret);
void trace_print_interrupted(struct trace *trace);
void trace_print_no_return(struct trace *trace, struct trace_thread *thread);
// "1234 (comm)"
void trace_put_pid(struct trace *trace, int64_t pid, struct out *out);
// Likewise, with the call chain in trace->text below it.
int trace_end_event(struct trace *trace);

// ---- events.c: page faults, the scheduler, other events, call chains.
int trace_fault(struct trace *trace, struct trace_event *event, const struct sample *sample);
int trace_runtime(struct trace *trace, struct trace_event *event, const struct sample *sample);
int trace_other(struct trace *trace, struct trace_event *event, const struct sample *sample);
// The frames of a sample; < 0: fewer than --min-stack.
int trace_stack(struct trace *trace, const struct trace_event *event, const struct sample *sample,
		struct out *ret);
// Live, before the events are opened: registers and a copy of the stack, so that chains can be unwound.
void trace_want_stacks(struct trace *trace, struct trace_event *event);

// ---- texts.c: what arguments point at.
// Adds the event that brings it where the kernel allows that; -v says why not.
void trace_texts_open(struct trace *trace);
int trace_texts_opened(void *arg, struct feed_event *event, uint32_t cpu, int fd);
int trace_payload(struct trace *trace, struct trace_event *event, const struct sample *sample);
// At entry: is the payload of this call?
void trace_match_payload(struct trace_thread *thread, uint64_t number);
void trace_texts_close(struct trace *trace);

// ---- run.c
int trace_run(const struct trace_options *options, struct feed_options *feed_options);
// Of this kernel: one that does has a file for it (arch/x86/entry/vdso/vdso32-setup.c).
bool trace_runs_32bit(void);

// ---- summary.c
// Of thread->number.
void trace_count(struct trace *trace, struct trace_thread *thread, const uint64_t *duration_ns,
		 int64_t ret);
void trace_summary(struct trace *trace);
// When many ended threads are kept, those with the fewest events become one sum.
void trace_fold_ended(struct trace *trace);
