// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of `sonde annotate` share.
#pragma once
#include "cmd/annotate/ranges.h"
#include "code/annotate.h"
#include "cmd/core/annotate_look.h"
#include "cmd/core/percent_type.h"
#include "cmd/core/report/report.h"

struct annotate_command_options {
	const char *input, *vmlinux, *symfs, *dsos, *symbol, *style, *percent_type, *prefix;
	const char *cpus, *time, *format, *ignored_text, *stdio_color;
	double percent_limit;
	uint32_t prefix_strip;
	int verbose;
	bool force, ignore_vmlinux, lines, full_paths, modules, counts, quiet, dump, raw_bytes,
		demangle, demangle_kernel, functions, group, group_given, total_period,
		skip_missing, source, stdio, stdio2, tui, gtk, ignored;
};

struct known_name {
	const struct symbol *symbol;
	bool is_wanted;
};

struct annotate {
	struct annotate_command_options o;
	struct report report; // puts the functions into perf's order
	struct filter *dsos;  // samples elsewhere do not count; NULL: all do
	struct annotate_counts *counts;
	struct blocks *blocks; // of branch stacks; NULL: there are none
	struct ranges *ranges; // likewise
	struct annotator *annotator;
	enum percent_type percent_type;
	struct annotate_look look;
	struct out out;
	bool colors;
	struct known_name known[4096]; // of symbols met lately, when one is asked for
	uint64_t samples_n;
	uint64_t unnamed_n; // of them, in code without a name
	struct map unnamed; // dso -> how many
};

// A function of an event as perf prints it. `events_n` columns, from the event on.
struct annotate_view {
	const struct annotated *lines;
	const struct hist *hist; // of the event, or of the group's leader
	const struct entry *entry;
};
void annotate_print(struct annotate *annotate, const struct annotate_view *view);
void annotate_print_like_screen(struct annotate *annotate, const struct annotate_view *view); // --stdio2
void annotate_print_hottest_lines(struct annotate *annotate, const struct annotate_view *view); // -l
// The share of a line's counts of one event (from 0 in the view), by the wanted kind.
double annotate_percent(const struct annotate *annotate, const struct annotate_view *view,
			const struct annotated_count *counts, uint32_t event);
