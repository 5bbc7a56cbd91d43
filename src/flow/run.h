// SPDX-License-Identifier: GPL-2.0-or-later
// One run: records in the order of time, side-band records applied to the tasks and maps, samples decoded and handed out. They come
// from a recording (run_open, run_process: its runs merged, by rounds), or out of the rings of the running kernel
// (run_open_live, flow/rings.h).
#pragma once
#include "data/recording.h"
#include "sym/stacks.h"

struct run;

struct run_options {
	const char *path; // NULL: "perf.data"
	bool force;
	bool unordered;	   // file order
	bool no_archive;   // what lies beside the recording (RECORDING.archive) is not used
	bool count_places; // dso.samples_n: some ns a sample
	bool no_fetch;	   // debuginfod is asked in the order in which files are needed
	struct sym_options sym;
};

// Counts of what was seen, per record type and of trouble; shown with every result.
struct run_stats {
	uint64_t records[96]; // by type
	uint64_t total;
	uint64_t lost_events;  // sum of LOST.lost
	uint64_t lost_samples; // sum of LOST_SAMPLES.lost
	uint64_t unknown_ids, bad_samples, bad_records, out_of_order, throttled;
	uint64_t first_ns, last_ns; // of samples; first UINT64_MAX when none
};

// What was lost of one event on one CPU.
struct run_event_loss {
	struct event *event;		  // NULL: not known
	uint32_t cpu;			  // UINT32_MAX: not known
	bool samples;			  // LOST_SAMPLES, else LOST records
	uint64_t lost, first_ns, last_ns; // first UINT64_MAX: no time known
};

// What an event's counter had at the end (PERF_FORMAT_LOST): samples that LOST records have among theirs.
static inline bool run_event_loss_is_counter(const struct run_event_loss *loss)
{
	return loss->samples && loss->first_ns == UINT64_MAX;
}

// What was lost between two records of a CPU, or at the end. Times are those of the last sample before and of the record that tells
// it, 0 and UINT64_MAX where there is none.
struct run_loss {
	uint32_t cpu; // UINT32_MAX: not known
	uint64_t lost, from_ns, to_ns;
};

struct run_hooks;

struct run {
	struct recording *recording; // of the running kernel: its events and their formats, and no more
	struct sym *sym;
	struct run_stats stats;
	VEC(struct run_event_loss) losses;
	uint64_t places_n;	       // samples that run_count_place has counted
	const struct run_hooks *hooks; // while it runs
	void *arg;
	VEC(uint64_t) last_ns; // with the hook `lost`: [cpu], of the last sample
	uint64_t told_n,
		counted_n; // lost: by records that came; by what the events' own counters had at the end
	struct run_private *private;
	struct run_unwind *unwind; // of chain.c
	struct workers *workers;   // the consumer's: others that share the work; NULL: none
	struct stacks *stacks;	   // the consumer's: hits have their stack; NULL: they have none
};

// For what is said of files without names: by whoever looks up where a sample lies.
static inline void run_count_place(struct run *run, const struct location *location)
{
	run->places_n++;
	if (location->dso)
		location->dso->samples_n++;
}

// One sample, or another record: then `sample` has its trailing ids (what is not there is UINT64_MAX, UINT32_MAX).
struct hit {
	struct sample sample;
	struct event *event; // of other records: by id, may be NULL
	struct task *task; // of samples; may be NULL without TID, and out of rings whose consumer looks for it itself (rings.tasks)
	struct record record;
	uint32_t stack; // of samples, with run->stacks: the whole chain; then the task is never NULL
};
enum { RUN_BATCH = 16 };
// Of a record that is no sample, still without its trailing ids.
static inline void hit_init(struct hit *ret, struct event *event, const struct record *record)
{
	sample_ids_init(&ret->sample, record->header);
	ret->event = event;
	ret->task = NULL;
	ret->record = *record;
}

// Hooks return 0 to go on, > 0 to stop quietly, < 0 (fail) to end the run with the error. All may be NULL.
struct run_hooks {
	// Of a recording: before the first record; again at the end where there was none, and on pipes, when attrs have arrived.
	int (*begin)(void *arg, struct run *run);
	// Is the sample wanted? Else nothing is looked up for it, and `hits` doesn't get it.
	bool (*wants)(void *arg, struct run *run, const struct hit *hit);
	// Samples in the order of time: up to RUN_BATCH of them, with no other record between them.
	int (*hits)(void *arg, struct run *run, const struct hit *hits, size_t n);
	// In place of `hits`: each as soon as it is known.
	int (*hit)(void *arg, struct run *run, const struct hit *hit);
	// Every other record in the order of time, after it was applied to tasks and maps.
	int (*record)(void *arg, struct run *run, const struct hit *record);
	// Some was lost there; the record that tells it, if there is one, comes next.
	int (*lost)(void *arg, struct run *run, const struct run_loss *loss);
	// Every record in file order when it is read, before anything else (dump -D).
	int (*raw)(void *arg, struct run *run, const struct record *record);
};

// Opens the recording and makes its sym; -errno with a sentence.
int run_open(struct run **ret, const struct run_options *options);
// Of the running kernel; flow/rings.h adds its events.
int run_open_live(struct run **ret, const struct sym_options *options);
// The whole recording. < 0 with a sentence when a hook failed. A damaged file is not an error here: see
// run->recording->damage, which commands show with run_warn.
int run_process(struct run *run, const struct run_hooks *hooks, void *arg);
void run_close(struct run *run);

// For the inputs of a run. A record that is no sample: counted, applied to tasks and maps, given to the hooks.
int run_take_record(struct run *run, const struct hit *record);
void run_note_cpu(struct run *run, const struct sample *sample);
// A sample is to be handed out: when it was.
static inline void run_note_sample(struct run *run, const struct sample *sample)
{
	if (sample->time == UINT64_MAX)
		return;
	if (sample->time < run->stats.first_ns)
		run->stats.first_ns = sample->time;
	if (sample->time > run->stats.last_ns)
		run->stats.last_ns = sample->time;
	if (sample->cpu < run->last_ns.n)
		run->last_ns.v[sample->cpu] = sample->time;
	else if (run->hooks->lost)
		run_note_cpu(run, sample);
}
// At the end: what the events' own counters have lost in all is told where records did not tell it.
int run_tell_counted(struct run *run);
// Tells on stderr what the result lacks: damage, lost records, unknown ids, out of order, no symbols for
// this kernel.... Returns 1 when the file was damaged (commands then exit 1 after showing what they could), else 0.
int run_warn(const struct run *run);
// Of that which names are missing in what was shown, and why.
void run_warn_names(const struct run *run);
