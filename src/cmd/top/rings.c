// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/top/top.h"
#include "flow/synthesize.h"
#include "sym/options.h"
#include "sys/signals.h"
#include <signal.h>
#include <stdio.h>

enum {
	MOST_NODES = 1 << 20, // of the table of stacks: some 30 MB
	MOST_FRAMES = 1 << 18,
	MOST_TEXTS = 1 << 20,
	RING_BYTES = 4 << 20, // a second is nothing when symbols of a large file are read
};

// ---- what the report knows of the events

static int add_event(struct top *top, size_t i)
{
	const struct opened_event *opened = &top->opened.events.v[i];
	const struct tracefs *tracefs =
		opened->spec->probe ? top->dynamic.tracefs : top->o.record.specs.tracefs;
	struct event *event;
	int err = rings_add_event(top->run, opened->spec, tracefs, &event);

	if (err)
		return err;
	if (opened->leader < event->index)
		event->leader = top->run->recording->events.v[opened->leader];
	event->group_members = opened->leader == i ? MAX(opened->group_n, 1u) : 0;
	return 0;
}

// The first events_n; the others tell of tasks only.
static int learn_events(struct top *top, size_t events_n)
{
	size_t n = top->opened.events.n;
	auto_free struct event **events = xcalloc(n, sizeof(struct event *));
	int err = 0;

	for (size_t i = 0; i < events_n && !err; i++)
		err = add_event(top, i);
	for (size_t i = 0; i < events_n && !err; i++)
		events[i] = top->run->recording->events.v[i];
	rings_init(&top->rings, top->run);
	top->rings.tasks = true;
	rings_learn(&top->rings, &top->opened, events);
	return err;
}

// ---- hooks

static int take_samples(void *arg, struct run *run, const struct hit *samples, size_t n)
{
	struct top *top = arg;

	for (size_t i = 0; i < n; i++) {
		uint8_t mode = samples[i].sample.cpumode;
		bool is_user = mode == PERF_RECORD_MISC_USER || mode == PERF_RECORD_MISC_GUEST_USER;
		int err;

		top->samples_n++;
		top->counts.samples++;
		top->counts.kernel += !is_user;
		top->counts.exact +=
			(samples[i].record.header->misc & PERF_RECORD_MISC_EXACT_IP) != 0;
		if (top->frozen || (is_user ? top->o.hide_user : top->o.hide_kernel))
			continue;
		err = report_samples(&top->report, run, &samples[i], 1);
		if (err)
			return err;
	}
	return 0;
}

static int take_loss(void *arg, struct run *run, const struct run_loss *loss)
{
	struct top *top = arg;

	top->counts.lost += loss->lost;
	top->lost_n += loss->lost;
	return 0;
}

static int learn(void *arg, const struct perf_event_header *header)
{
	struct top *top = arg;

	sym_record(top->run->sym, header, 0);
	return 0;
}

// What runs already.
static int synthesize(struct top *top)
{
	struct synth synth = {.root = "",
			      .trailer_bytes = top->rings.sources[0].plan.trailer_size,
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

// From here on signals wait, for the screen or the pages of text to read them: the events must be taken away at the end.
static int make_probes(struct top *top)
{
	struct event_specs *specs = &top->o.record.specs;
	bool any = false;
	int fd;

	vec_each(const struct event_spec, spec, &specs->events)
		any |= spec->probe != NULL;
	if (!any)
		return 0;
	fd = signals_open(SIGWINCH);
	if (fd < 0)
		return fd;
	close(fd);
	return event_dynamic_make(&top->dynamic, specs);
}

static int open_events(struct top *top)
{
	struct record_options *o = &top->o.record;
	const struct event_context context = {0};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = o->mmap_pages, events_n;
	int err = 0;

	if (!o->specs.events.n)
		err = event_default(&o->specs, &context, true);
	if (!err)
		err = target_init(&top->target, &o->target);
	if (!err)
		err = make_probes(top);
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

static int open_run(struct top *top)
{
	static const struct run_hooks hooks = {.hits = take_samples, .lost = take_loss};
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
	int err;

	top->report.o = *o;
	if (sym_options_check(&options) < 0)
		return -COMMAND_INVALID;
	err = run_open_live(&top->run, &options);
	if (err)
		return err;
	top->report.run = top->run;
	top->run->hooks = &hooks;
	top->run->arg = top;
	return 0;
}

int top_open(struct top *top)
{
	int err = open_run(top);

	if (!err)
		err = open_events(top);
	if (!err)
		err = report_prepare(&top->report);
	if (err)
		return err;
	rings_begin(&top->rings, &top->opened);
	top->rings.merge.ordered = true;
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
	for (size_t i = 0; top->shown && i < top->run->recording->events.n; i++)
		hist_free(top->shown[i]);
	free(top->shown);
	top->shown = NULL;
}

void top_close(struct top *top)
{
	free_shown(top);
	report_done(&top->report);
	rings_done(&top->rings);
	opened_done(&top->opened);
	event_dynamic_done(&top->dynamic);
	target_done(&top->target);
	event_specs_done(&top->o.record.specs);
	free(top->o.record.cgroups.v);
	free(top->fds);
}

int top_drain(struct top *top)
{
	int err = merge_round(&top->rings.merge, false);

	sym_age(top->run->sym);
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
	for (size_t i = 0; i < top->run->recording->events.n; i++) {
		struct event *event = top->run->recording->events.v[i];

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
	struct recording *recording = top->run->recording;
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
