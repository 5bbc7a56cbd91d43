// SPDX-License-Identifier: GPL-2.0-or-later
// What is asked of a report.
#pragma once
#include "flow/event_switch.h"
#include "flow/filter.h"

enum chain_mode { CHAIN_GRAPH, CHAIN_FRACTAL, CHAIN_FLAT, CHAIN_FOLDED, CHAIN_NONE };
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

struct chain_options {
	enum chain_mode mode;
	enum chain_value value;
	bool enabled, caller, order_given, by_address, by_srcline, branch;
	double least_percent;
	uint32_t print_limit;
};

struct report_options {
	const char *input, *vmlinux, *kallsyms, *symfs, *sort, *fields, *parent, *separator, *widths;
	const char *symbol_filter, *percentage, *pretty, *format, *time_quantum, *ignore_callees;
	const char *ignored_text, *stdio_color;
	struct filter_options filter;
	struct event_switch_options event_switch;
	struct chain_options chain;
	float percent_limit;
	unsigned max_stack, jobs;
	int verbose, socket, group_index, ignored_int;
	bool quiet, dump, stats, tasks, mmaps, ignore_vmlinux, force, modules, counts, threads, tui,
		gtk, stdio;
	bool header, header_only, cpu_utilization, exclude_other, children, inverted,
		hide_unresolved, full_info;
	int branch; // 1, 0: asked for, or not to; -1: as the recording has it
	bool total_period, group, group_given, branch_history, demangle, demangle_kernel;
	bool functions, functions_given;
	bool mem_mode, raw_trace, hierarchy, inlines, ns, skip_empty, unordered, total_cycles,
		ignored;
	bool full_source_path, stitch_lbr, source;
};
