// SPDX-License-Identifier: GPL-2.0-or-later
// A live profiler: one const struct in src/prof/NAME.c, called profiler_NAME. It says which events it needs and takes their
// samples; whether they come from the running kernel or a recording is not its business, nor how its tables are printed.
#pragma once
#include "base/opt.h"
#include "flow/feed.h"
#include "model/sched.h"
#include "prof/core/spec.h"
#include "prof/core/value.h"
#include "view/table.h"

struct prof;

// Begins the struct that a profiler's options point into: the options that all profilers understand. Which of them a
// profiler takes is said by its table (PROF_OPTIONS_...).
struct prof_options {
	struct target_options target;
	struct opt_list events;
	const char *cgroups, *from, *to, *output, *key, *flame_graph, *heatmap, *format;
	uint64_t interval_ms, results_n, mmap_pages, exit_n, order_mem, usage_self_ms, watermark;
	bool order, inherit, inherit_given, overwrite;
	bool exclude_user, exclude_kernel, exclude_guest, exclude_host;
	bool user_chain, user_chain_given, kernel_chain, kernel_chain_given;
	bool call_graph, perins;
	bool quiet, no_bpf, version;
	const char *word; // what stands between options and --, of a profiler that takes one
	int64_t clock_offset;
	bool has_clock_offset, tsc, monotonic;
	int verbose;
};

// What a profiler finds out about an event of its -e.
struct prof_event {
	struct feed_event *feed;
	const struct prof_spec *spec; // attributes; of built-in events without any
	uint32_t index, stage;	      // stage: which -e
	const char *label;	      // alias, or the name without its system
	struct sched_event sched;     // kind SCHED_OTHER: none of the scheduler's
	// With --cgroups: the fields with tasks that it is about; 0: the kernel chooses by the context.
	const struct tp_field *about[2];
	uint32_t about_n;
	// Of a profiler in -e ("task-state/-g/"): its name, and whose events are wanted (NULL: those that it happens to).
	const char *source;
	uint64_t limit, taken_n; // of a source: so many samples; 0: all
	struct prof_tasks *tasks;
	struct prof_push *push; // its samples are sent away; NULL: they are the profiler's
	uint32_t push_index;
	bool plain; // none of these, from the beginning of the run: each sample is the profiler's
	void *user;
};

enum prof_events {
	PROF_EVENTS_WANTED, // -e has to be given
	PROF_EVENTS_NONE,   // takes no -e
};

struct profiler {
	const char *name;    // as typed: "multi-trace"
	const char *summary; // one line, no full stop
	const char *usage;   // "sonde prof multi-trace -e EVENT ... [options]"
	const char *description;
	const struct opt *opts; // ends with OPT_END; offsets into a struct that begins with struct prof_options
	size_t size;		 // of that struct, zeroed
	size_t state_size;	 // of prof->state, zeroed
	const struct tool *tool; // that it is made of (tool/core/tool.h); NULL: it is a profiler
	const struct command_example *examples;
	enum prof_events events;
	const char *const *default_events; // -e when none is given, NULL-terminated; may be NULL
	const char *const *attributes; // of -e that it understands besides the common ones, NULL-terminated; may be NULL
	bool counts; // events are only counted: hook count, no samples
	bool in_context; // without a key events count for the task in whose context they happen (--cgroups)
	bool ordered;	      // always in the order of time
	bool takes_word;      // an expression or the like behind the options
	bool tasks;	      // needs names of tasks even where it prints no events
	bool takes_profilers; // other profilers may be events of its -e
	bool endless; // makes its tables at the end when no interval is given; else each second
	// All hooks but setup may be NULL; results as in struct feed_hooks. sample NULL: the tally takes it, where there is one.
	int (*setup)(struct prof *prof); // events of -e are there; adds its own, compiles, sets defaults
	int (*begin)(struct prof *prof); // all stands, the output is open, nothing has come yet
	int (*sample)(struct prof *prof, struct prof_event *event, const struct sample *sample);
	int (*record)(struct prof *prof, const struct perf_event_header *header,
		      const struct sample *ids);
	// Something was lost: pairs that span it are not known. Already told to the user.
	void (*lost)(struct prof *prof, const struct run_loss *loss);
	int (*count)(struct prof *prof, struct prof_event *event, uint32_t instance, uint64_t delta);
	int (*period)(struct prof *prof, uint64_t now_ns); // each prof->period_ns, before interval
	int (*interval)(struct prof *prof, uint64_t now_ns); // one result, then forget it
	int (*finish)(struct prof *prof, uint64_t now_ns);   // the last; NULL: interval
	// A line was typed while it runs (on a terminal): "" ends what the last one asked for. Fails with a sentence that is shown.
	int (*typed)(struct prof *prof, const char *line);
	void (*done)(struct prof *prof);
};

extern const struct profiler *const profilers[]; // by name, ends with NULL; made by src/registry.c

struct prof_tasks;
struct prof_flame;
struct tally;
struct prof_push;
struct prof_typed;
struct prof_heat;
struct prof_cgroups;
struct tool;

// One run.
struct prof {
	const struct profiler *profiler;
	struct prof_options *options; // the profiler's struct
	void *state;		      // the profiler's, of state_size
	struct feed *feed;
	struct prof_specs specs;
	VEC(struct prof_event *) events;
	VEC(struct prof_tasks *) source_tasks; // of profilers in -e
	VEC(struct prof_push *) pushes;
	const struct foreign *foreign; // whose names tasks have: of the sample that is at hand; NULL: this system's
	uint32_t stages;
	int (*find)(struct feed *feed, const char *name,
		    int (*found)(void *arg, struct event *event, const char *system, const char *name),
		    void *arg);
	// Events that another sonde pushes; NULL: there are none.
	int (*pull)(struct feed *feed, const struct feed_pull *pull);
	struct expr_machine *machine;
	struct prof_pace *pace; // when what is due
	struct out *out;	// lines of text; beside tables in csv or json, standard error
	struct out *tables;	// tables in the format that is wanted
	struct prof_print *print;
	struct tally *tally;	  // NULL: it counts by itself
	struct prof_flame *flame; // NULL: none is drawn
	struct prof_heat *heat;	  // likewise
	struct prof_typed *typed; // NULL: nobody can type
	uint64_t period_ns;	  // 0: interval alone
	uint64_t interval_ns;
	uint64_t sampled_n;
	uint64_t lost_interval, lost_all; // lost events
	uint64_t no_place_n; // events since the last result that are in no row: there were too many keys
	uint64_t backward_n; // pairs since the last result whose second event happened before the first
	uint64_t started_ns;
	struct arena arena;
	struct prof_cgroups *cgroups; // NULL: no group has to be followed
	bool follows_cgroups;
	bool everywhere, follows, ordered; // setup may set them: see feed_options
	bool needs_symbols, needs_tasks;   // likewise; prof_compile sets them
};

#define PROF_STATE(type, prof) ((type *)(prof)->state)
#define PROF_OPTIONS(type, prof) ((const type *)(const void *)(prof)->options)

// A built-in event, "sched:sched_switch"; filter may be NULL. -ENOENT, -EACCES with a sentence.
int prof_add(struct prof *prof, const char *name, const char *filter, struct prof_event **ret);
// Likewise one of the scheduler (model/sched_event.h).
int prof_add_sched(struct prof *prof, const char *name, const char *filter, struct prof_event **ret);

// Beside a result: how many `what` ("calls") are left out, as events were lost within them. Nothing when none, or with -q.
#define PROF_LOST_WITHIN "are not known, as events were lost within them"
void prof_put_unknown(struct prof *prof, uint64_t now_ns, uint64_t n, const char *what);
// At the end: what the model of the scheduler had no room for.
void prof_warn_sched(const struct sched *sched);
// Beginning of a line: the time of day of an event, "2024-02-21 14:57:43.999022"; where that is not known the event's own.
void prof_put_time(struct prof *prof, uint64_t time_ns);
// The time of an event as its own clock has it: --clock-offset is added; the processor's counter with --tsc. Of an event of another
// system: what that one said. event NULL: one of this system.
uint64_t prof_event_clock(const struct prof *prof, const struct prof_event *event, uint64_t time_ns);
// One event as `trace` prints it, without the time of day; its stack, when it has one.
void prof_put_event(struct prof *prof, const struct prof_event *event, const struct sample *sample);
// At the right of 16 columns; behind a G when the event comes from another system.
void prof_put_comm(struct prof *prof, const struct prof_event *event, const struct sample *sample);
void prof_put_stack(struct prof *prof, const struct sample *sample, const char *indent);
// The fields of an event as `trace` prints them; its frames, "; " between them.
void prof_event_text(const struct prof_event *event, const struct sample *sample, struct out *out);
void prof_stack_text(struct prof *prof, const struct sample *sample, struct out *out);
// A title line with the time, then the table in the format of --format.
void prof_put_table(struct prof *prof, struct table *table, uint64_t now_ns);
// The table alone; in the other formats each row has the time.
void prof_put_rows(struct prof *prof, struct table *table, uint64_t now_ns);
// Negative when nothing can be written any more.
static inline int prof_broken(const struct prof *prof)
{
	return out_broken(prof->tables) ? prof->tables->error : 0;
}
const char *prof_comm(struct prof *prof, uint32_t pid, uint32_t tid);

#include "prof/core/options.h"
