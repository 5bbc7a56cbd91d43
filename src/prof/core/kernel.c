// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/kernel.h"
#include "base/err.h"
#include "base/log.h"
#include "expr/bpf.h"
#include "flow/event_fields.h"

struct prof_kernel {
	struct bpf_count *count;
	VEC(struct expr *) exprs;
	const char *name; // of the profiler
};

static bool no(const struct prof *prof, const char *why)
{
	inform("%s counts in sonde, not in the kernel: %s", prof->profiler->name, why);
	return false;
}

bool prof_kernel_may(const struct prof *prof)
{
	const struct prof_options *options = prof->options;
	const struct target_options *target = &options->target;

	if (options->no_bpf)
		return no(prof, "--no-bpf");
	if (options->from || options->to)
		return no(prof, "events go through a recording");
	if (target->pids || target->tids || target->users || options->cgroups ||
	    (prof->feed->options && prof->feed->options->workload))
		return no(prof, "it watches tasks");
	if (options->verbose > 1 || options->exit_n || options->call_graph)
		return no(prof, "single events are wanted (-vv, -N, -g)");
	vec_each(struct prof_event *, event, &prof->events)
		if ((*event)->push || (*event)->feed->foreign)
			return no(prof, "events are pushed or pulled");
	if (options->exclude_user || options->exclude_kernel || options->exclude_guest ||
	    options->exclude_host)
		return no(prof, "--exclude-... is given");
	return true;
}

static uint32_t record_bytes(const struct event *event)
{
	const struct tp_field *fields;
	const size_t n = tracepoint_fields(event->tp, &fields);
	uint32_t end = 0;

	for (size_t i = 0; i < n; i++)
		end = MAX(end, (uint32_t)fields[i].offset + fields[i].size);
	return end;
}

static struct expr *keep(struct prof_kernel *kernel, struct expr *expr)
{
	vec_push(&kernel->exprs, expr);
	return expr;
}

struct found {
	struct event *event;
	const char *system;
};

static int found(void *arg, struct event *event, const char *system, const char *name)
{
	*(struct found *)arg = (struct found){event, system};
	return 0;
}

static int compile(struct prof_kernel *kernel, const struct event *event, const char *text,
		   const struct expr **ret)
{
	const struct expr_fields fields = event_fields(event);
	struct expr *expr = NULL;
	int err = text ? expr_compile(&expr, text, &fields) : 0;

	if (!err && text)
		*ret = keep(kernel, expr);
	return err;
}

static int add_event(struct prof *prof, struct prof_kernel *kernel,
		     const struct prof_kernel_event *wanted, uint32_t keys_n)
{
	const struct feed_event *feed = wanted->event ? wanted->event->feed : NULL;
	struct found which = {feed ? feed->event : NULL, feed ? feed->system : NULL};
	struct bpf_count_event event = {.begins = wanted->begins,
					.ends = wanted->ends,
					.only_remembered_n = wanted->only_remembered_n,
					.updates_n = wanted->updates_n};
	struct expr *expr = NULL;
	int err = feed ? 0 : prof->find(prof->feed, wanted->name, found, &which);

	if (err < 0)
		return err;
	const struct expr_fields fields = event_fields(which.event);

	event.id = (uint32_t)which.event->attr.config;
	event.record_bytes = record_bytes(which.event);
	event.not_self = !feed_is_of_system(which.system);
	memcpy(event.only_remembered, wanted->only_remembered, sizeof(event.only_remembered));
	if (feed && feed->filter) {
		err = expr_filter_compile(&expr, feed->filter, &fields);
		if (err < 0)
			return err;
		event.filter = keep(kernel, expr);
	}
	err = compile(kernel, which.event, wanted->pair, &event.pair);
	if (!err)
		err = compile(kernel, which.event, wanted->remember, &event.remember);
	for (uint32_t i = 0; !err && i < keys_n && !wanted->begins; i++)
		err = compile(kernel, which.event, wanted->keys[i], &event.keys[i]);
	for (uint32_t i = 0; !err && i < wanted->updates_n; i++) {
		event.updates[i].cell = wanted->updates[i].cell;
		event.updates[i].delay = wanted->updates[i].delay;
		err = compile(kernel, which.event, wanted->updates[i].value, &event.updates[i].value);
	}
	return err < 0 ? err : bpf_count_add(kernel->count, &event);
}

static int open_count(struct prof *prof, struct prof_kernel *kernel,
		      const struct prof_kernel_rows *rows)
{
	struct bpf_count_options options = {.keys = rows->keys,
					    .keys_n = rows->keys_n,
					    .cells = rows->cells,
					    .cells_n = rows->cells_n,
					    .rows_max = rows->rows_max};
	struct target target;
	VEC(uint32_t) cpus = {0};
	int err;

	if (!prof->options->target.cpus)
		return bpf_count_open(&kernel->count, &options);
	err = target_init(&target, &prof->options->target);
	if (err < 0)
		return err;
	vec_each(int, cpu, &target.cpus)
		vec_push(&cpus, (uint32_t)*cpu);
	options.cpus = cpus.v;
	options.cpus_n = (uint32_t)cpus.n;
	err = bpf_count_open(&kernel->count, &options);
	vec_done(&cpus);
	target_done(&target);
	return err;
}

bool prof_kernel_open(struct prof *prof, const struct prof_kernel_rows *rows,
		      const struct prof_kernel_event *events, size_t n)
{
	struct prof_kernel *kernel;
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		const struct feed_event *feed = events[i].event ? events[i].event->feed : NULL;

		if (!feed)
			continue;
		if (!feed->event->tp || feed->event->attr.type != PERF_TYPE_TRACEPOINT)
			return no(prof, "not all events are tracepoints");
		if (feed->cpus || feed->stack)
			return no(prof, "an event has CPUs of its own, or call chains");
	}
	kernel = NEW(struct prof_kernel);
	kernel->name = prof->profiler->name;
	err = open_count(prof, kernel, rows);
	for (size_t i = 0; i < n && !err; i++)
		err = add_event(prof, kernel, &events[i], rows->keys_n);
	if (err < 0) {
		no(prof, err_sentence());
		err_clear();
		bpf_count_close(kernel->count);
		kernel->count = NULL;
		prof_kernel_close(kernel);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (events[i].event)
			events[i].event->feed->in_kernel = events[i].event->feed->counts = true;
	inform("%s counts in the kernel", prof->profiler->name);
	prof->kernel = kernel;
	return true;
}

int prof_kernel_read(struct prof *prof,
		     int (*row)(void *arg, const void *key, const uint64_t *cells), void *arg)
{
	return bpf_count_read(prof->kernel->count, row, arg);
}

static void tell_stats(const struct prof_kernel *kernel)
{
	struct bpf_count_stats stats;

	if (bpf_count_stats(kernel->count, &stats) < 0)
		return;
	if (stats.failed)
		warn("%s: for %llu events the expressions failed; they are not counted",
		     kernel->name, (unsigned long long)stats.failed);
	if (stats.full)
		warn("%s: %llu events are not counted: there were more keys than the kernel's table has places",
		     kernel->name, (unsigned long long)stats.full);
	if (stats.waits_full)
		warn("%s: %llu first events are not counted: more waited for their second than the kernel's table has places",
		     kernel->name, (unsigned long long)stats.waits_full);
	if (stats.backward)
		warn("%s: %llu pairs ran backward in time; they are no delays and are left out",
		     kernel->name, (unsigned long long)stats.backward);
	if (stats.missed && stats.missed != UINT64_MAX)
		warn("%s: the kernel left out %llu events that came while it was counting others",
		     kernel->name, (unsigned long long)stats.missed);
}

void prof_kernel_close(struct prof_kernel *kernel)
{
	if (!kernel)
		return;
	if (kernel->count)
		tell_stats(kernel);
	bpf_count_close(kernel->count);
	vec_each(struct expr *, expr, &kernel->exprs)
		expr_free(*expr);
	vec_done(&kernel->exprs);
	free(kernel);
}

uint32_t prof_kernel_text_size(struct prof *prof, const struct prof_event *event, const char *text)
{
	const struct expr_fields fields = event_fields(event->feed->event);
	const struct tracepoint *tp = event->feed->event->tp;
	const struct tp_field *field = tp ? tracepoint_field(tp, text) : NULL;
	struct expr *expr = NULL;
	uint32_t limit, size;

	if (!strcmp(text, "comm(_tid)") ||
	    (field && field->is_dynamic && text_ends(field->name, "comm")))
		return 24; // names of tasks have at most 15 bytes, wherever they lie

	if (expr_compile(&expr, text, &fields) < 0) {
		err_clear();
		return 0;
	}
	limit = expr_text_limit(expr);
	expr_free(expr);
	size = (limit + 8) / 8 * 8; // with a NUL
	return limit && size <= EXPR_BPF_TEXT_MAX ? size : 0;
}
