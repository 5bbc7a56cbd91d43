// SPDX-License-Identifier: GPL-2.0-or-later
// --stats; -D: the records themselves, then how many there were of each kind. The same as `script -D` without its own lines.
#include "cmd/core/script/dump.h"
#include "cmd/core/report/report.h"

struct dumping {
	struct report *report;
	struct dump dump;
};

static int on_raw(void *arg, struct run *run, const struct record *record)
{
	struct dumping *dumping = arg;

	if (record->header->type >= RECORD_HEADER_ATTR)
		dump_tool_record(&dumping->dump, record);
	return out_broken(dumping->dump.out);
}

static int on_record(void *arg, struct run *run, const struct hit *hit)
{
	struct dumping *dumping = arg;

	if (hit->record.header->type >= RECORD_HEADER_ATTR)
		return 0;
	dump_record(&dumping->dump, hit, false);
	return out_broken(dumping->dump.out);
}

static int on_sample(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	const struct sample *sample = &hit->sample;
	struct task *task = hit->task;
	const struct record *record = &hit->record;
	struct dumping *dumping = arg;

	// Whether the sample passes; it is counted below.
	struct event_switch after = dumping->report->event_switch;

	dump_sample(&dumping->dump, event, sample, record);
	if (filter_time(dumping->report->skip, sample->time) && event_switch_passes(&after, event))
		dump_place(&dumping->dump, sample, task);
	// The counts at the end are those of the table, which has a row for each branch of a sample.
	int err = report_samples(dumping->report, run, hit, 1);

	return err ? err : out_broken(dumping->dump.out);
}

void report_stats(struct report *report)
{
	const struct run_stats *stats = &report->run->stats;
	struct recording *recording = report->run->recording;
	struct out *out = &report->out;

	out_printf(out, "\nAggregated stats:%s\n",
		   recording->features[FEATURE_AUXTRACE].present
			   ? " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)"
			   : "");
	if (stats->total || !report->o.skip_empty)
		out_printf(out, "%16s events: %10llu\n", "TOTAL", (unsigned long long)stats->total);
	for (uint32_t i = 1; i < ARRAY_SIZE(stats->records); i++) {
		const char *name = record_type_name(i);

		if (!strcmp(name, "UNKNOWN") || (report->o.skip_empty && !stats->records[i]))
			continue;
		out_printf(out, "%16s events: %10llu", name, (unsigned long long)stats->records[i]);
		if (stats->total)
			out_printf(out, "  (%4.1f%%)",
				   100.0 * (double)stats->records[i] / (double)stats->total);
		out_char(out, '\n');
	}
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct hist *hist = report_hist(report, recording->events.v[i]);

		if (report->o.skip_empty && !hist->samples && !hist->lost_samples)
			continue;
		out_safe(out, hist->event->name);
		out_text(out, " stats:\n");
		if (hist->samples)
			out_printf(out, "%16s events: %10u\n", "SAMPLE", hist->samples);
		if (hist->lost_samples)
			out_printf(out, "%16s events: %10u\n", "LOST_SAMPLES", hist->lost_samples);
	}
}

int report_dump(struct report *report)
{
	const struct run_hooks hooks = {.hit = on_sample, .record = on_record, .raw = on_raw};
	const struct chains_options options = {.escape = report->out.is_terminal};
	struct chains chains;
	struct dumping dumping = {.report = report,
				  .dump = {.out = &report->out,
					   .run = report->run,
					   .chains = &chains,
					   .unordered = report->o.unordered,
					   .counts_only = true}};
	int err;

	chains_init(&chains, report->run->sym, &options);
	err = run_process(report->run, &hooks, &dumping);
	if (err >= 0)
		report_stats(report);
	chains_done(&chains);
	return err < 0 ? err : 0;
}
