// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of `sonde stat` share: options, counters, and the rows that counts are added up in.
#pragma once
#include "agg/spread.h"
#include "base/opt.h"
#include "base/out.h"
#include "event/core/dynamic.h"
#include "event/core/metric.h"
#include "event/core/spec.h"
#include "flow/control.h"
#include "flow/everywhere.h"
#include "flow/target.h"
#include "sys/perf.h"
#include "sys/workload.h"

enum stat_by {
	STAT_BY_ALL,
	STAT_BY_CPU,
	STAT_BY_CORE,
	STAT_BY_DIE,
	STAT_BY_SOCKET,
	STAT_BY_NODE,
	STAT_BY_THREAD
};
enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };

struct stat_options {
	struct target_options target;
	struct event_specs specs;
	struct opt_list cgroups, metrics;
	const char *each_cgroup, *output, *separator, *pre, *post, *ignored;
	bool no_aggr, per_socket, per_core, per_die, per_node, per_thread;
	bool no_inherit, null_run, table, append, quiet, summary, no_csv_summary, metric_only, json;
	bool big_num, scale, sync, group, all_user, all_kernel, interval_clear, dummy;
	bool metric_no_group, metric_no_merge, metric_only_given, each_thread, topdown, smi_cost,
		transaction;
	const char *bpf_programs; // -b: ids; NULL: not given
	unsigned topdown_level;	  // 0: as many as there are
	const char *root;	  // of /sys and /proc in tests; NULL: the real one
	int detail, verbose;
	unsigned interval_ms, interval_count, timeout_ms;
	unsigned repeat; // 0: for ever
	int delay_ms;	 // -1: stays disabled
	int log_fd;
	bool timeout_given, log_given;
	struct control control;
	enum stat_by by;
	enum stat_format format;
	bool keep;	   // stat record: counts go to a file as well
	const char *input; // stat report
	const char *const *command_line;
};

struct stat_count {
	uint64_t value, enabled_ns, running_ns;
};

struct stat_counter {
	struct event_spec *spec;
	const char *cgroup; // NULL: none
	int cgroup_fd;	    // -1: none
	uint32_t leader;
	uint32_t group_n;
	bool supported;
	int *fds;		   // by cell (cpu * threads + thread), -1: not open
	struct stat_count *before; // what was read last, and is in the rows
	struct stat_count *now;	   // what is read
	struct stat_count *rows;   // since the last stat_rows_clear, scaled, by row
	unsigned *row_cells;	   // how many cells were added to a row
	struct stat_count *totals; // of all intervals, by row
	struct spread spread;	   // of the sum over all rows
};

struct stat_row {
	int cpu, socket, die, core, node;
	pid_t thread;
	char comm[65];	// of the kernel's workers longer than others
	unsigned cells; // CPUs in it
};

// A metric of -M and where its counts are.
struct stat_named {
	const struct metric *metric;
	const char *formula;
	struct stat_named_event {
		struct str name;
		uint32_t first, n; // specs that the name stands for
	} * events;
	uint32_t events_n;
};

struct counting {
	struct stat_options *options;
	VEC(struct stat_named) named;
	size_t named_from; // specs from here on are those of -M
	struct target target;
	struct everywhere everywhere;
	struct perf_missing missing;
	struct event_dynamic dynamic;
	VEC(struct stat_counter) counters;
	VEC(struct stat_row) rows;
	unsigned *row_of; // by cell
	struct out out;
	struct workload workload;
	struct control control;
	int signal_fd, signal;
	bool stop, timed_out, intervals_done, kernel_excluded;
	bool has_cgroups, smi_set;

	unsigned runs;					     // added up in the counters' rows
	uint64_t started_ns, elapsed_ns, user_ns, system_ns; // of this run
	struct spread elapsed, user, system;
	VEC(uint64_t) run_ns;
	char **command;
	unsigned printed;	   // intervals since the last header
	struct bpf_runs *bpf_runs; // NULL: none
	struct stat_file *file;	   // NULL: not kept
};

// events.c: the counters of the options: -e, else perf's default set with -d; cgroups.
int stat_choose(struct counting *stat);

// A counter for each of the options' events.
void stat_counters_add(struct counting *stat, const char *cgroup, int cgroup_fd);

// count.c: rows for the target; opening, reading, closing. `topology` NULL: this machine's.
struct topology;
void stat_rows_make(struct counting *stat, const struct topology *topology);
void stat_rows_clear(struct counting *stat);
// The rows become the sums of all intervals.
void stat_rows_total(struct counting *stat);
int stat_open(struct counting *stat);
int stat_switch(struct counting *stat, bool on);
// Adds what was counted since the last read to the rows.
void stat_read(struct counting *stat);
// Adds what a counter stands at now.
void stat_add(struct counting *stat, struct stat_counter *counter, size_t cell,
	      struct stat_count now);
void stat_close(struct counting *stat);

// metric.c: what follows from a count and others of its row.
struct stat_metric {
	double value;
	const char *format; // "%8.3f"
	bool is_named;	    // of -M
	char unit[64];
};
enum { STAT_METRICS = 64 };
// At most STAT_METRICS; returns how many. Values of -M are NAN where they are not known.
unsigned stat_metrics(const struct counting *stat, const struct stat_counter *counter, size_t row,
		      struct stat_metric *ret);
// The mean over runs; negative: not counted.
double stat_value(const struct counting *stat, const struct stat_counter *counter, size_t row);
bool stat_is_clock(const struct stat_counter *counter);

// named.c: the events of -M, behind those of -e. -ENOENT with a sentence: no such metric, or none of its events.
int stat_named_choose(struct counting *stat);
// Of the metrics of -M those whose line `counter` is.
unsigned stat_named_metrics(const struct counting *stat, const struct stat_counter *counter,
			    size_t row, struct stat_metric *ret);
void stat_named_done(struct counting *stat);

// presets.c: the events of --topdown, --smi-cost, -T; -EOPNOTSUPP with a sentence: not on this machine.
int stat_preset(struct counting *stat);
// Sets back what --smi-cost set.
void stat_preset_done(struct counting *stat);
bool stat_cpu_has(struct counting *stat, const char *event);

// figures.c: of events of slots, transactions, SMIs: how many figures follow from them; -1: it is none of these.
int stat_figures(const struct counting *stat, const struct stat_counter *counter, size_t row,
		 struct stat_metric *ret);

// bpf.c: -b.
int stat_bpf_check(const struct stat_options *options);
// When all counters are open; with a sentence.
int stat_bpf_open(struct counting *stat);
// Fills `now` of all cells.
void stat_bpf_read(struct counting *stat);
void stat_bpf_close(struct counting *stat);

// record.c: the counts in a recording, as perf stat record writes them. After stat_open.
struct stat_file;
int stat_file_open(struct counting *stat);
// What was read last; is_final: the end of the run.
int stat_file_round(struct counting *stat, uint64_t since_ns, bool is_final);
int stat_file_close(struct counting *stat);
// Of perf's number of an aggregation; of one that isn't known: all.
enum stat_by stat_by_of(uint64_t aggregation);

// stat.c: opens -o, or takes what it stands for, when all else stands: what is in the file stays until then.
int stat_output_open(struct counting *stat);

// report.c: prints what such a recording holds.
int stat_report(struct counting *stat);

// print.c: counts of an interval (since_ns: after the start) or of all.
void stat_print_interval(struct counting *stat, uint64_t since_ns);
void stat_print(struct counting *stat);
