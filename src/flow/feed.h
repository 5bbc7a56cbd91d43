// SPDX-License-Identifier: GPL-2.0-or-later
// Between an input (src/input: the running kernel, a recording) and who takes its events (src/prof): which events are
// wanted of whom, and the hooks that get them. Neither side knows the other.
#pragma once
#include "expr/expr.h"
#include "flow/foreign.h"
#include "flow/run.h"
#include "flow/target.h"
#include "sym/sym.h"
#include "sys/cgroup.h"

// One event that is wanted. The same kernel event may be wanted several times, with other filters.
struct feed_event {
	uint32_t index;
	const char *system, *name; // of tracepoints, else NULL
	struct event *event;	   // name, attr, plan and format, as the input found it
	const char *filter;	   // in the kernel's syntax, NULL: none; before feed_run
	const char *cpus;	   // "0,2": only there; NULL: where the feed is
	bool stack;		   // call chains
	bool counts;		   // only counted: comes by the hook count
	bool in_kernel; // with counts: the consumer has it counted in the kernel, nothing is opened for it
	bool everywhere; // of all CPUs whatever the tasks are, as feed_options.everywhere, but this one alone
	bool addresses;	    // the address that it was about
	bool cgroup;	    // the control group that it happens in
	uint32_t max_stack; // frames, 0: as many as the kernel gives
	uint64_t period_ns; // of a clock; 0: it is none
	uint64_t frequency; // of a counter or clock: samples a second; 0: each event, or as the input thinks
	struct feed_event *next_same; // wants the same event; the first is its event->user
	struct expr *test;	      // the filter, where it runs here
	struct map advanced; // of a recording, with counts: by instance, since the last tick
	const struct foreign *foreign; // the other system that it comes from; NULL: this one
	uint64_t samples_n;
	void *user; // of the consumer
};

// Events that another sonde pushes at `where`, by name or glob: found is called with each.
struct feed_pull {
	const char *where, *name;
	int (*found)(void *arg, struct event *event, const char *system, const char *name);
	void *arg;
};

// Hooks return 0 to go on, > 0 to end the run quietly, < 0 (fail) to end it with the error. All may be NULL.
struct feed_hooks {
	// Once: all stands that the run needs, nothing was given yet and a command not let go. The place to open an output.
	int (*begin)(void *arg);
	int (*sample)(void *arg, struct feed_event *event, const struct sample *sample);
	// FORK, EXIT, COMM, MMAP ..., after they were applied to tasks and maps.
	int (*record)(void *arg, const struct perf_event_header *header, const struct sample *ids);
	int (*lost)(void *arg, const struct run_loss *loss);
	// What a counted event advanced since the last call, on one CPU or of one thread (feed_instance).
	int (*count)(void *arg, struct feed_event *event, uint32_t instance, uint64_t delta);
	// Every tick_ns: all that happened before `now_ns` (the events' clock) was given.
	int (*tick)(void *arg, uint64_t now_ns);
	// Live: SIGUSR1 or SIGUSR2 came; all that happened before was given. NULL: they end the run.
	int (*asked)(void *arg, int signal);
	// Live: there is something to read at typed_fd.
	int (*typed)(void *arg);
	// Live, some 20 times a second and more often when much comes: all that happened before `time_ns` (the events' clock; 0: not known)
	// was given, and what came so far.
	int (*settled)(void *arg, uint64_t time_ns);
	// Live, before anything is switched on: a descriptor of an event that is everywhere, still the input's.
	int (*opened)(void *arg, struct feed_event *event, uint32_t cpu, int fd);
};

struct feed_options {
	struct target_options target;
	const char *cgroups;	     // regular expressions, separated by commas
	const char *from, *to;	     // recordings
	const char *const *workload; // NULL-terminated; NULL: none
	size_t mmap_pages;	     // 0: by need
	uint64_t delay_ms;	     // live: the events are switched on so much later
	unsigned watermark_percent;  // 0: by need
	bool ordered, inherit, overwrite;
	bool follows; // with everywhere: the consumer also takes what the watched tasks start
	bool everywhere; // events of all CPUs whatever the tasks are: their events are told apart by the consumer
	bool no_user, no_kernel, no_guest, no_host;
	int64_t clock_offset_ns; // what the consumer adds to times when it shows them
	bool tsc; // times by the kernel's own clock, and how the processor's counter comes from them (feed.tsc)
	bool monotonic; // times of CLOCK_MONOTONIC whatever they cost
	bool no_user_chain, no_kernel_chain;
	bool needs_tasks;		 // names and families of tasks
	bool needs_maps;		 // symbols of user space
	const char *const *command_line; // for recordings
};

struct feed_stats {
	uint64_t samples, lost, late, wakeups;
};

// counter = ((time - zero) << shift) / mult: linux/perf_event.h, struct perf_event_mmap_page
struct feed_tsc {
	uint64_t zero;
	uint32_t mult; // 0: not known
	uint16_t shift;
};

struct feed {
	const struct feed_options *options;
	VEC(struct feed_event *) events;
	const struct feed_hooks *hooks;
	void *arg;
	uint64_t tick_ns;	     // 0: never
	int typed_fd;		     // what the user types; -1: nobody reads it
	int peers_fd;		     // wakes the run up for the hook `settled`; -1: none
	struct run *run;	     // that it is of
	struct sym *sym;	     // the run's
	struct task *task;	     // of the sample that is given; NULL: nobody looked yet
	const struct target *target; // live, while it runs; NULL: a recording
	// Of a recording that was made of some tasks: which, and whether also of what they started.
	const uint64_t *recorded_tasks;
	size_t recorded_tasks_n;
	bool recorded_children;
	bool has_wall;		// events have a time of day:
	int64_t wall_offset_ns; // add it to the events' clock
	bool own_clock;		// live: that is not CLOCK_MONOTONIC, but so much ahead of it:
	int64_t ahead_ns;
	struct feed_tsc tsc;
	// uname's machine and name of a recording; NULL: live, or the recording doesn't say
	const char *arch, *host;
	// Live, once events are opened, with options.cgroups: these groups; NULL: none.
	const struct cgroup_names *cgroups;
	const struct cgroup_mount *cgroup_mount;
	bool is_live, stop;
	bool interrupted;   // a signal ended it
	int exit_code;	    // of the workload, or 128 + signal
	pid_t workload_pid; // 0: none
	uint64_t first_ns, last_ns;
	struct feed_stats stats;
	struct expr_machine *machine; // of tests; NULL: none
	struct arena arena;
	void *input; // private to it
};

void feed_init(struct feed *feed, const struct feed_options *options);
void feed_done(struct feed *feed);
// A new wanted event; the texts are copied.
struct feed_event *feed_add(struct feed *feed, struct event *event, const char *system,
			    const char *name);
// "a" and "b" both: "(a) && (b)". Either may be NULL.
const char *feed_and(struct feed *feed, const char *a, const char *b);
// Who did it: known already, where a recording was read.
static inline struct task *feed_task(const struct feed *feed, const struct sample *sample)
{
	struct task *task = feed->task;

	return task && task->tid == sample->tid && task->pid == sample->pid
		       ? task
		       : sym_task(feed->sym, sample->pid, sample->tid);
}

// Are instances threads (the feed is attached to tasks), or CPUs?
bool feed_has_tasks(const struct feed *feed);

// Do events of this system belong to no task but to the CPU or to the scheduler? Ours are then part of what is watched; all others would
// feed on themselves. NULL is allowed.
bool feed_is_of_system(const char *system);

static inline int feed_begin(struct feed *feed)
{
	return feed->hooks->begin ? feed->hooks->begin(feed->arg) : 0;
}

// ---- for the inputs

// Makes wanted->test of wanted->filter, where there is one. -EINVAL with a sentence.
int feed_make_test(struct feed *feed, struct feed_event *wanted);
// Does the test take the sample? Some 10 ns.
bool feed_test(const struct feed *feed, const struct feed_event *wanted, const struct sample *sample);

static inline int feed_hit(struct feed *feed, struct feed_event *event, const struct hit *hit)
{
	if (event->test && !feed_test(feed, event, &hit->sample))
		return 0;
	event->samples_n++;
	feed->stats.samples++;
	feed->task = hit->task;
	return feed->hooks->sample ? feed->hooks->sample(feed->arg, event, &hit->sample) : 0;
}

int feed_lost(struct feed *feed, const struct run_loss *loss);

// Of a run, for each event of which event->user is the first who wants it, with a feed as the argument.
int feed_take_samples(void *feed, struct run *run, const struct hit *samples, size_t n);
int feed_take_record(void *feed, struct run *run, const struct hit *hit);
int feed_take_loss(void *feed, struct run *run, const struct run_loss *loss);
