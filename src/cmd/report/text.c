// SPDX-License-Identifier: GPL-2.0-or-later
// The report as text, in perf's layout to the byte.
#include "cmd/report/report.h"

static void print_headers(const struct hist *hist, struct out *out)
{
	const struct report *report = hist->report;
	const char *between = report->separator ? report->separator_text : "  ";
	bool first = true;

	out_text(out, "# ");
	for (size_t i = 0; i < report->fields.n; i++) {
		if (column_skipped(report->fields.v[i], hist))
			continue;
		if (!first)
			out_text(out, between);
		first = false;
		column_header(report->fields.v[i], hist, out);
	}
	out_char(out, '\n');
	if (report->separator)
		return;
	out_text(out, "# ");
	first = true;
	for (size_t i = 0; i < report->fields.n; i++) {
		if (column_skipped(report->fields.v[i], hist))
			continue;
		if (!first)
			out_text(out, between);
		first = false;
		out_fill(out, '.', (size_t)column_width(report->fields.v[i], hist));
	}
	out_text(out, "\n#\n");
}

static void print_rows(struct hist *hist, struct out *out)
{
	struct report *report = hist->report;
	struct out line;

	out_init_memory(&line);
	for (size_t i = 0; i < hist->rows_n && !out_broken(out); i++) {
		const struct entry *e = hist->rows[i];

		if (i + 16 < hist->rows_n)
			__builtin_prefetch(hist->rows[i + 16]);
		if (e->filtered || entry_percent(e) < report->o.percent_limit)
			continue;
		line.n = 0;
		if (!report->o.exclude_other || e->x->parent)
			hist_print_columns(hist, e, &line);
		out_bytes(out, line.buf, line.n);
		out_char(out, '\n');
		if (report->use_chains)
			entry_print_chain(e, out);
	}
	out_done(&line);
}

static char with_unit(uint64_t *n)
{
	double value = (double)*n;
	char unit = ' ';

	for (size_t i = 0; i < 3 && value > 1000.0; i++) {
		value /= 1000.0;
		unit = "KMG"[i];
	}
	*n = (uint64_t)value;
	return unit;
}

static void print_summary(const struct hist *hist, struct out *out)
{
	struct report *report = hist->report;
	const struct recording *recording = report->run->recording;
	bool relative = !strcmp(report->o.percentage, "relative");
	uint64_t samples = 0, period = 0;
	uint32_t members = report->grouped ? MAX(hist->event->group_members, 1u) : 1;
	char unit;

	for (uint32_t i = 0; i < members; i++) {
		const struct hist *one = recording->events.v[hist->event->index + i]->user;

		samples += relative ? one->shown_samples : one->samples;
		period += relative ? one->total_shown_period : one->total_period;
	}
	unit = with_unit(&samples);
	out_printf(out, "# Samples: %llu%c of event%s '", (unsigned long long)samples, unit,
		   hist->event->group_members > 1 ? "s" : "");
	report_event_name(report, hist->event, out);
	out_char(out, '\'');
	if (report->o.filter.times)
		out_printf(out, " (time slices: %s)", report->o.filter.times);
	if (report->o.mem_mode)
		out_printf(out, "\n# Total weight : %llu\n# Sort order   : %s",
			   (unsigned long long)period,
			   report->sort_order
				   ? report->sort_order
				   : "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,"
				     "locked,blocked,local_ins_lat,local_p_stage_cyc");
	else
		out_printf(out, "\n# Event count (approx.): %llu", (unsigned long long)period);
	if (report->o.socket > -1)
		out_printf(out, "\n# Processor Socket: %d", report->o.socket);
	out_text(out, "\n#\n");
}

static void print_branch_types(const struct report *report, struct out *out)
{
	const struct {
		const char *name;
		uint64_t n;
	} first[] = {{"COND_FWD", report->branch_forward},
		     {"COND_BWD", report->branch_backward},
		     {"CROSS_4K", report->branch_4k},
		     {"CROSS_2M", report->branch_2m}};
	uint64_t total = 0;

	for (size_t i = 0; i < 16; i++)
		total += report->branch_types[i];
	if (!total)
		return;
	out_text(out, "\n#\n# Branch Statistics:\n#");
	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		if (first[i].n)
			out_printf(out, "\n%8s: %5.1f%%", first[i].name,
				   100.0 * (double)first[i].n / (double)total);
	}
	for (size_t i = 0; i < 16; i++) {
		if (report->branch_types[i])
			out_printf(out, "\n%8s: %5.1f%%", report_branch_names[i],
				   100.0 * (double)report->branch_types[i] / (double)total);
	}
	for (size_t i = 0; i < 8; i++) {
		if (report->branch_new_types[i])
			out_printf(out, "\n%8s: %5.1f%%", report_new_branch_names[i],
				   100.0 * (double)report->branch_new_types[i] / (double)total);
	}
}

void report_print(struct report *report)
{
	const struct recording *recording = report->run->recording;
	struct out *out = &report->out;

	if (!report->quiet)
		out_printf(out, "#\n# Total Lost Samples: %llu\n#\n",
			   (unsigned long long)report->run->stats.lost_samples);
	for (size_t i = 0; i < recording->events.n; i++) {
		struct event *event = recording->events.v[i];
		struct hist *hist = report_hist(report, event);

		if (report->grouped && event->leader != event)
			continue;
		if (report->o.skip_empty && !hist->samples)
			continue;
		if (!report->quiet)
			print_summary(hist, out);
		if (report->o.total_cycles) {
			report_print_blocks(report, hist);
			continue;
		}
		hist_widen_to_headers(hist);
		if (report->o.hierarchy) {
			hierarchy_print(hist, out);
		} else {
			if (!report->quiet)
				print_headers(hist, out);
			print_rows(hist, out);
		}
		out_text(out, "\n\n");
	}
	if (!report->quiet)
		out_text(out, "#\n");
	if (report->o.threads)
		thread_values_print(report);
	if (report->mode == MODE_BRANCH)
		print_branch_types(report, out);
}
