// SPDX-License-Identifier: GPL-2.0-or-later
// Recording: what `sonde record` and those commands that record first, or sample as it does, share.
#pragma once
#include "base/intern.h"
#include "base/map.h"
#include "base/opt.h"
#include "base/vec.h"
#include "data/writer.h"
#include "event/core/dynamic.h"
#include "event/core/spec.h"
#include "flow/control.h"
#include "flow/moved_text.h"
#include "flow/opened.h"
#include "flow/target.h"
#include "sym/held.h"
#include "sys/workload.h"
#include <stdbool.h>
#include <stdint.h>

struct delay_range {
	uint64_t from_ms, to_ms; // to 0: until the end
};

// AUTO: whole stacks, by whatever each piece of code allows, where samples are not too many for that.
enum call_graph_mode {
	CALL_GRAPH_NONE,
	CALL_GRAPH_FP,
	CALL_GRAPH_DWARF,
	CALL_GRAPH_LBR,
	CALL_GRAPH_AUTO
};

struct record_options {
	struct target_options target;
	struct event_specs specs; // of -e
	struct opt_list cgroups;
	// what to sample
	uint64_t count, frequency; // 0: not given
	bool frequency_max, strict_freq, period, period_given, no_samples, no_inherit, inherit_stat;
	enum call_graph_mode call_graph;
	uint32_t stack_bytes;	   // of a copy; 0: as suits the frequency
	uint32_t max_stack;	   // frames of a chain's part; 0: all that there are
	uint32_t kernel_max_stack; // of the kernel's own chains
	size_t ring_bytes;	   // of one that stacks are copied to, for each event
	bool raw_stacks;	   // goes to the file as copied by the kernel, not unwound
	uint64_t branch_type;
	bool address, timestamp, timestamp_given, raw, weight, phys_address, sample_cpu,
		sample_identifier, data_page_size, code_page_size, transaction, namespaces,
		all_cgroups, switch_events, all_user, all_kernel, user_callchains,
		kernel_callchains, running_time, no_bpf_event, exclude_self, group;
	uint64_t intr_regs, user_regs;
	bool use_clockid;
	uint32_t clockid;
	// how
	const char *output;
	size_t mmap_pages;
	uint64_t mmap_flush;
	int zstd_level;
	bool no_buildid, no_buildid_cache, buildid_all, buildid_mmap, no_buffering, overwrite,
		tail_synthesize, timestamp_boundary, timestamp_filename, dry_run, realtime_given,
		kcore, archive;
	unsigned realtime;
	uint64_t max_size;
	struct {
		bool on, on_signal;
		uint64_t bytes, ns;
		struct event_specs specs; // of --switch-output-event
		unsigned max_files;
	} rotate;
	struct {
		bool task, mmap, cgroup, off;
	} synth;
	VEC(struct delay_range) delays;
	bool start_disabled;
	struct control control;
	bool quiet;
	int verbose;
	const char *threads; // spec of --threads; NULL: none
	unsigned affinity;   // enum record_affinity
	const char *dummy;   // of options that are taken and need nothing
	unsigned dummy_number;
	const char **command_line;
};

// Those of a recording of which nothing else is said.
void record_options_init(struct record_options *options);
// Records what the options say, of a command or (NULL) of what runs already, to options->output; its messages are record's. The exit
// status of the command, or negative with a sentence. What the options own is released.
int record_run(struct record_options *options, char **command);
// Likewise as `sonde record` does it, with options and command from argv[1] on; that is the command line that is noted, too, if the
// options have none.
int record_typed(struct record_options *options, int argc, char **argv);

opt_call record_opt_event, record_opt_filter, record_opt_call_graph, record_opt_branch,
	record_opt_regs, record_opt_mmap, record_opt_switch, record_opt_synth, record_opt_delay,
	record_opt_control, record_opt_clockid, record_opt_frequency, record_opt_unsupported,
	record_opt_compress, record_opt_switch_event, record_opt_threads, record_opt_affinity,
	record_opt_vmlinux;

// Makes attrs of the options: what to sample, where tracking records go, ids. The dummy that tracks tasks from
// the beginning is added where perf adds it.
int record_configure(struct record_options *options, struct opened *opened,
		     const struct target *target);
// How large a ring for copies of stacks may be: they fill one of half a megabyte in a few milliseconds.
size_t record_stack_pages(const struct target *target);
// -G: opens the cgroups and gives them to the events in turn.
int record_attach_cgroups(const struct record_options *options, struct opened *opened,
			  const struct target *target);

// Where the records go: one file, a pipe, or a sequence of files.
struct recorder {
	struct record_options *options;
	struct opened opened;
	struct opened trigger; // of --switch-output-event
	struct opened early;   // tells at once of files that are mapped
	struct event_spec early_spec;
	struct event_dynamic dynamic; // probes among all these
	struct target target;
	struct workload workload;
	struct sample_plan *plans; // of the events, by index
	struct map events_by_id;   // id -> index
	struct live *live;	   // NULL: no stacks are unwound
	struct drain *drain;	   // empties the rings for live; NULL: they are read where they are
	struct readers *readers;   // of --threads; NULL: the rings are read here
	uint64_t beside_bytes;	   // that they wrote
	struct affinity *affinity; // NULL: none
	struct writer *writer;
	int fd;
	bool is_pipe, kept_old;
	char *path;	   // being written; NULL for pipes; a folder with --kcore, --threads
	VEC(char *) files; // closed by --switch-output
	uint64_t file_started_ns, written_bytes, wakeups, samples;
	uint64_t first_ns, last_ns; // of samples
	struct loss {
		uint64_t records, samples, first_ns, last_ns;
		size_t event;
		int cpu;
	} * losses;
	size_t losses_n;
	struct intern dsos, modules; // paths of files, of the kernel's modules
	struct held *held;	     // files that were mapped executable
	struct moved_texts moved;
	struct out behind; // records that follow those that collect_account saw
	bool kernel_hidden;
	void *straddle; // room for one record cut by the ring's end
};

int output_open(struct recorder *recorder);
// Writes what tells of tasks that were there before.
int output_synthesize(struct recorder *recorder);
int output_rotate(struct recorder *recorder);
// The end of the last file: build-ids, header, name.
int output_finish(struct recorder *recorder);
// Takes back a file in which nothing was recorded; what was there before stands again.
void output_discard(struct recorder *recorder);

// Opens the events of --switch-output-event; did one of them occur since the last call?
int trigger_open(struct recorder *recorder);
bool trigger_fired(struct recorder *recorder);

// Tells of mapped files as soon as they are, where another event can be opened; takes note of those since the last call.
void early_open(struct recorder *recorder);
void early_take(struct recorder *recorder);

// Copies kallsyms, modules and the kernel's code to FOLDER/kcore_dir. About 30 MB.
int kcore_save_beside(const char *folder);

// The GNU build-id of a file on this machine; its size, 0: none.
size_t build_id_of_file(const char *path, uint8_t ret[20]);
// Gives the writer the build-ids of the kernel, its modules and all that was mapped.
void build_ids_add(struct recorder *recorder);

// Takes all that lies in the rings: accounts and writes. *ret_bytes: how much it was.
int collect_rings(struct recorder *recorder, uint64_t *ret_bytes);
// Walks the records of one ring's pieces: counts, losses, times, maps.
int collect_account(struct recorder *recorder, const struct ring *ring,
		    const struct ring_pieces *pieces);
// Reads the counters of lost samples at the end and writes them as LOST_SAMPLES records.
int collect_lost(struct recorder *recorder);
// The index of the event that a sample belongs to.
size_t collect_event(const struct recorder *recorder, const struct perf_event_header *header);
void collect_note_map(struct recorder *recorder, const struct perf_event_header *header);
// What was lost, on stderr.
void collect_report(const struct recorder *recorder);
