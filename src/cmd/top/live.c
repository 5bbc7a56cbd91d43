// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/top/top.h"
#include "flow/session_parts.h"
#include "flow/synthesize.h"
#include "sym/options.h"
#include "sys/tracefs.h"
#include <stdio.h>

enum {
	MOST_NODES = 1 << 20, // of the table of stacks: some 30 MB
	MOST_FRAMES = 1 << 18,
	MOST_TEXTS = 1 << 20,
	MOST_FORMAT_BYTES = 1 << 20,
	RING_BYTES = 4 << 20, // a second is nothing when symbols of a large file are read
};

// ---- what the report knows of the events

static int read_format(struct top *top, const struct event_spec *spec, struct event *event)
{
	auto_free char *path = text_dup_fmt("events/%s/%s/format", spec->tp_system, spec->tp_name);
	auto_free char *text = NULL;
	const struct tp_options options = {.long_size = sizeof(long),
					   .page_size = (uint32_t)sysconf(_SC_PAGESIZE)};
	size_t n;
	int err = tracefs_read(top->o.record.specs.tracefs, path, MOST_FORMAT_BYTES, &text, &n);

	if (err)
		return fail(-err, "can't read the format of %s: %s", spec->name, strerror(-err));
	if (!top->recording.tracepoints) {
		top->recording.tracepoints = tracepoints_new(&options);
		tracepoints_set_resolver(top->recording.tracepoints, sym_name_in_print,
					 top->session.sym);
	}
	err = tracepoints_add(top->recording.tracepoints, spec->tp_system, (struct str){text, n});
	event->tp = tracepoints_by_name(top->recording.tracepoints, spec->tp_system, spec->tp_name);
	return err;
}

static int add_event(struct top *top, size_t i)
{
	const struct opened_event *opened = &top->opened.events.v[i];
	struct event *event = arena_zalloc(&top->arena, sizeof(*event));

	event->index = (uint32_t)top->recording.events.n;
	event->attr = opened->spec->attr;
	event->name = opened->name;
	event->plan = top->sources[i].plan;
	event->leader = opened->leader == i || opened->leader >= event->index
				? event
				: top->recording.events.v[opened->leader];
	event->group_members = opened->leader == i ? MAX(opened->group_n, 1u) : 0;
	event->scale = 1;
	top->sources[i].event = event;
	vec_push(&top->recording.events, event);
	return opened->spec->tp_system ? read_format(top, opened->spec, event) : 0;
}

static int learn_events(struct top *top, size_t events_n)
{
	struct opened *opened = &top->opened;
	int err = 0;

	top->sources = xcalloc(opened->events.n, sizeof(*top->sources));
	for (size_t i = 0; i < opened->events.n && !err; i++) {
		const struct opened_event *event = &opened->events.v[i];

		sample_plan_init(&top->sources[i].plan, &event->spec->attr);
		for (size_t k = 0; k < event->ids.n; k++)
			*map_at(&top->ids, event->ids.v[k], NULL) = i;
		if (i < events_n)
			err = add_event(top, i);
	}
	if (opened->events.n > 1) {
		top->id_at = sample_id_offset(&opened->events.v[0].spec->attr);
		top->id_before_end = -trailer_id_offset(&opened->events.v[0].spec->attr);
	}
	return err;
}

// ---- records

static const struct top_source *source_of(const struct top *top,
					  const struct perf_event_header *header)
{
	int at = header->type == PERF_RECORD_SAMPLE ? top->id_at : header->size - top->id_before_end;
	const uint64_t *index;
	uint64_t id;

	if (!top->id_at)
		return &top->sources[0];
	if (at < (int)sizeof(*header) || at + 8 > header->size)
		return NULL;
	memcpy(&id, (const char *)header + at, 8);
	index = map_find(&top->ids, id);
	return index ? &top->sources[*index] : NULL;
}

static uint64_t look(void *arg, const struct perf_event_header *header, void **ret_what)
{
	const struct top_source *source = source_of(arg, header);

	*ret_what = (void *)(uintptr_t)source;
	return source ? sample_plan_time(&source->plan, header) : 0;
}

static int take_sample(struct top *top, const struct top_source *source,
		       const struct perf_event_header *header)
{
	struct record record = {.header = header};
	struct sample sample;
	struct task *task;
	bool is_user;

	if (sample_decode(&source->plan, header, &sample) < 0) {
		top->bad_n++;
		return 0;
	}
	is_user = sample.cpumode == PERF_RECORD_MISC_USER ||
		  sample.cpumode == PERF_RECORD_MISC_GUEST_USER;
	top->samples_n++;
	top->counts.samples++;
	top->counts.kernel += !is_user;
	top->counts.exact += (header->misc & PERF_RECORD_MISC_EXACT_IP) != 0;
	if (top->frozen || (is_user ? top->o.hide_user : top->o.hide_kernel))
		return 0;
	task = sym_task(top->session.sym, sample.pid, sample.tid);
	return report_sample(&top->report, &top->session, source->event, &sample, task, &record);
}

static int give(void *arg, const struct perf_event_header *header, uint64_t time, void *what)
{
	struct top *top = arg;
	const struct top_source *source = what;
	uint64_t lost = 0;

	if (!source || !record_is_whole(header)) {
		top->bad_n++;
		return 0;
	}
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		return source->event ? take_sample(top, source, header) : 0;
	case PERF_RECORD_LOST:
		lost = ((const struct record_lost *)header)->lost;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		lost = ((const struct record_lost_samples *)header)->lost;
		break;
	default:
		sym_record(top->session.sym, header, time);
	}
	top->counts.lost += lost;
	top->lost_n += lost;
	return 0;
}

static int learn(void *arg, const struct perf_event_header *header)
{
	struct top *top = arg;

	sym_record(top->session.sym, header, 0);
	return 0;
}

// What runs already.
static int synthesize(struct top *top)
{
	struct synth synth = {.root = "",
			      .trailer_bytes = top->sources[0].plan.trailer_size,
			      .timeout_ns = 500000000,
			      .emit = learn,
			      .arg = top};
	int err = synth_kernel(&synth, &top->kernel_hidden);

	if (!err && top->target.system_wide)
		return synth_all_processes(&synth);
	for (size_t i = 0; i < top->target.threads.n && !err; i++)
		err = top->target.threads.v[i] > 0 ? synth_process(&synth, top->target.threads.v[i])
						   : synth_all_processes(&synth);
	return err;
}

static int open_events(struct top *top)
{
	struct record_options *o = &top->o.record;
	const struct event_context context = {0};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = o->mmap_pages, events_n;
	int err = 0;

	if (!o->specs.events.n)
		err = event_default(&o->specs, &context, true);
	vec_each(const struct event_spec, spec, &o->specs.events) {
		if (spec->probe)
			return fail(EINVAL,
				    "%s: a probe isn't made for 'sonde top'; 'sonde prof top' takes it, record and stat, too",
				    spec->name);
	}
	if (!err)
		err = target_init(&top->target, &o->target);
	if (err)
		return err;
	events_n = o->specs.events.n;
	err = record_configure(o, &top->opened, &top->target);
	if (!err)
		err = record_attach_cgroups(o, &top->opened, &top->target);
	if (!err)
		err = opened_open(&top->opened, &top->target);
	if (!err)
		err = opened_filter(&top->opened);
	// Others may lock what perf_event_mlock_kb allows.
	if (!pages && geteuid() == 0)
		pages = RING_BYTES / page;
	if (!err)
		err = opened_map(&top->opened, pages, false);
	return err ? err : learn_events(top, events_n);
}

// What a report would read from a file.
static int open_session(struct top *top)
{
	const struct report_options *o = &top->o.report;
	const struct sym_options options = {.root = "",
					    .live = true,
					    .symfs = o->symfs,
					    .vmlinux = o->vmlinux,
					    .kallsyms = o->kallsyms,
					    .ignore_vmlinux = o->ignore_vmlinux,
					    .no_demangle = !o->demangle,
					    .demangle_kernel = o->demangle_kernel,
					    .functions = o->functions};

	top->recording.path = "the running system";
	top->session.recording = &top->recording;
	top->session.stats.first_ns = UINT64_MAX;
	top->report.o = *o;
	top->report.session = &top->session;
	if (sym_options_check(&options) < 0)
		return -COMMAND_INVALID;
	return sym_new(&top->session.sym, &options);
}

int top_open(struct top *top)
{
	int err = open_session(top);

	if (!err)
		err = open_events(top);
	if (!err)
		err = report_prepare(&top->report);
	if (err)
		return err;
	merge_init(&top->merge, top->opened.rings.v, top->opened.rings.n);
	top->merge.ordered = true;
	top->merge.look = look;
	top->merge.give = give;
	top->merge.arg = top;
	top->fds = xcalloc(top->opened.rings.n + 1, sizeof(*top->fds));
	for (size_t i = 0; i < top->opened.rings.n; i++)
		top->fds[i] = (struct pollfd){.fd = top->opened.rings.v[i].fd, .events = POLLIN};
	return 0;
}

int top_start(struct top *top)
{
	if (opened_enable(&top->opened) < 0)
		return fail(EIO, "can't switch the events on: %s", strerror(errno));
	// Now that nothing is missed any more.
	return synthesize(top);
}

static void free_shown(struct top *top)
{
	for (size_t i = 0; top->shown && i < top->recording.events.n; i++)
		hist_free(top->shown[i]);
	free(top->shown);
	top->shown = NULL;
}

void top_close(struct top *top)
{
	struct report *report = &top->report;

	free_shown(top);
	for (size_t i = 0; i < top->recording.events.n; i++)
		hist_free(top->recording.events.v[i]->user);
	if (report->session) {
		stacks_done(&report->stacks);
		sources_free(report->sources);
		map_done(&report->srclines);
	}
	session_unwind_free(top->session.unwind);
	sym_free(top->session.sym);
	report->session = NULL; // is no session of a file
	report_done(report);
	merge_done(&top->merge);
	opened_done(&top->opened);
	target_done(&top->target);
	vec_done(&top->recording.events);
	tracepoints_free(top->recording.tracepoints);
	event_specs_done(&top->o.record.specs);
	free(top->o.record.cgroups.v);
	free(top->sources);
	free(top->fds);
	map_done(&top->ids);
	arena_done(&top->arena);
}

int top_drain(struct top *top)
{
	int err = merge_round(&top->merge, false);

	sym_age(top->session.sym);
	return err < 0 ? err : 0;
}

bool top_ended(struct top *top)
{
	size_t gone = 0, n = top->opened.rings.n;

	for (size_t i = 0; i < n; i++)
		gone += top->fds[i].fd < 0;
	if ((n && gone == n) || (top->target.has_tasks && !target_alive(&top->target)))
		top->ended = true;
	return top->ended;
}

// ---- rows

// What only grows begins anew before it is too much: then what was is forgotten, as by -z.
static bool is_full(const struct top *top)
{
	return top->report.stacks.nodes.n > MOST_NODES ||
	       top->report.stacks.frames.n > MOST_FRAMES || top->report.texts.strings.n > MOST_TEXTS;
}

static void start_over(struct top *top)
{
	struct report *report = &top->report;

	free_shown(top);
	for (size_t i = 0; i < top->recording.events.n; i++) {
		struct event *event = top->recording.events.v[i];

		hist_free(event->user);
		event->user = NULL;
	}
	report_forget_stacks(report);
	if (report->addresses)
		annotate_counts_clear(report->addresses);
	top->started_over_n++;
}

static void hide_rare(const struct top *top, struct hist *hist)
{
	for (size_t i = 0; i < hist->rows_n && top->o.least_samples; i++) {
		if (hist->rows[i]->samples < top->o.least_samples)
			hist->rows[i]->filtered |= HIDDEN_RARE;
	}
}

int top_refresh(struct top *top)
{
	struct recording *recording = &top->recording;
	size_t n = recording->events.n;
	struct report *report = &top->report;
	// perf's fading.
	unsigned keep = top->o.zero || top->forget ? 0 : top->shown ? 7 : 8;
	struct hist **next;
	int err = top_drain(top);

	if (err < 0 || (top->frozen && top->shown))
		return err;
	if (is_full(top))
		start_over(top);
	next = xcalloc(n, sizeof(*next));
	for (size_t i = 0; i < n; i++)
		next[i] = hist_aged(report_hist(report, recording->events.v[i]), keep);
	if (report->addresses)
		annotate_counts_decay(report->addresses, keep);
	top->forget = false;
	report_make_rows(report);
	free_shown(top);
	top->shown = next;
	for (size_t i = 0; i < n; i++) {
		struct hist *made = recording->events.v[i]->user;

		recording->events.v[i]->user = next[i];
		top->shown[i] = made;
		hide_rare(top, made);
	}
	return 0;
}
