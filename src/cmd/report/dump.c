// SPDX-License-Identifier: GPL-2.0-or-later
// -D: the records themselves, then how many there were of each kind. The same as `script -D` without its own lines.
#include "cmd/script/dump.h"
#include "cmd/report/report.h"

struct dumping {
	struct report *report;
	struct dump dump;
};

static int on_raw(void *arg, struct session *session, const struct record *record)
{
	struct dumping *dumping = arg;

	if (record->header->type >= RECORD_HEADER_ATTR)
		dump_tool_record(&dumping->dump, record);
	return out_broken(dumping->dump.out);
}

static int on_record(void *arg, struct session *session, struct event *event,
		     const struct sample *ids, const struct record *record)
{
	struct dumping *dumping = arg;
	const struct perf_event_header *header = record->header;

	if (header->type >= RECORD_HEADER_ATTR)
		return 0;
	dump_record(&dumping->dump, event, ids, record, false);
	return out_broken(dumping->dump.out);
}

static int on_sample(void *arg, struct session *session, struct event *event,
		     const struct sample *sample, struct task *task, const struct record *record)
{
	struct dumping *dumping = arg;

	// Whether the sample passes; it is counted below.
	struct event_switch after = dumping->report->event_switch;

	dump_sample(&dumping->dump, event, sample, record);
	if (filter_time(dumping->report->skip, sample->time) && event_switch_passes(&after, event))
		dump_place(&dumping->dump, sample, task);
	// The counts at the end are those of the table, which has a row for each branch of a sample.
	int err = report_sample(dumping->report, session, event, sample, task, record);

	return err ? err : out_broken(dumping->dump.out);
}

int report_dump(struct report *report)
{
	const struct session_hooks hooks = {.sample = on_sample, .record = on_record, .raw = on_raw};
	const struct chains_options options = {.escape = report->out.is_terminal};
	struct chains chains;
	struct dumping dumping = {.report = report,
				  .dump = {.out = &report->out,
					   .session = report->session,
					   .chains = &chains,
					   .unordered = report->o.unordered,
					   .counts_only = true}};
	int err;

	chains_init(&chains, report->session->sym, &options);
	err = session_process(report->session, &hooks, &dumping);
	if (err >= 0)
		report_stats(report);
	chains_done(&chains);
	return err < 0 ? err : 0;
}
