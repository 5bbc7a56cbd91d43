// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of -s and -S: system calls by thread.
#include "cmd/trace/trace.h"
#include <stdio.h>

enum { MOST_ENDED = 4096 }; // of which each has rows of its own: some MB

static struct call_stat *stat_of(struct trace_thread *thread, uint32_t number)
{
	uint64_t key = (uint64_t)thread->is_32bit << 32 | number;
	uint64_t *index = map_at(&thread->by_number, key, NULL);
	struct call_stat *stat;

	if (!*index) {
		stat = vec_add(&thread->stats);
		stat->number = number;
		stat->is_32bit = thread->is_32bit;
		*index = thread->stats.n;
	}
	return &thread->stats.v[*index - 1];
}

void trace_count(struct trace *trace, struct trace_thread *thread, const uint64_t *duration_ns,
		 int64_t ret)
{
	struct call_stat *stat = stat_of(thread, thread->number);

	stat->n++;
	if (duration_ns) {
		if (stat->times.n == 0 || *duration_ns < stat->min)
			stat->min = *duration_ns;
		if (*duration_ns > stat->max)
			stat->max = *duration_ns;
		spread_add(&stat->times, (double)*duration_ns);
	}
	if (thread->is_32bit)
		ret = (int32_t)ret;
	if (ret >= 0)
		return;
	stat->errors++;
	if (trace->options->errno_summary)
		++*map_at(&stat->errnos, (uint64_t)-ret, NULL);
}

static double total_ms(const struct call_stat *stat)
{
	return stat->times.n * (stat->times.mean / 1e6);
}

static int by_total(const void *a, const void *b)
{
	const struct call_stat *x = a, *y = b;
	double mine = total_ms(x), theirs = total_ms(y);

	if (mine != theirs)
		return mine > theirs ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_number(const void *a, const void *b)
{
	const struct map_slot *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static void put_errnos(struct out *out, const struct map *errnos)
{
	VEC(struct map_slot) rows = {0};
	struct map_slot slot;

	for (size_t i = 0; map_next(errnos, &i, &slot);)
		vec_push(&rows, slot);
	if (rows.n)
		qsort(rows.v, rows.n, sizeof(*rows.v), by_number);
	vec_each(struct map_slot, row, &rows) {
		const char *name = syscall_errno_name((unsigned)row->key);

		if (name)
			out_printf(out, "\t\t\t\t%s: %llu\n", name, (unsigned long long)row->value);
		else
			out_printf(out, "\t\t\t\terrno %llu: %llu\n", (unsigned long long)row->key,
				   (unsigned long long)row->value);
	}
	vec_done(&rows);
}

static void put_stat(struct trace *trace, const struct call_stat *stat)
{
	const struct trace_thread as = {.is_32bit = stat->is_32bit};
	const struct syscall_def *def = trace_def(trace, &as, stat->number);
	struct out *out = trace->out;
	char name[32];

	if (!def)
		snprintf(name, sizeof(name), "syscall_%u", stat->number);
	out_printf(out, "   %-15s %8llu %6llu %9.3f %9.3f %9.3f %9.3f %9.2f%%\n",
		   def ? def->name : name, (unsigned long long)stat->n,
		   (unsigned long long)stat->errors, total_ms(stat), (double)stat->min / 1e6,
		   stat->times.mean / 1e6, (double)stat->max / 1e6, spread_percent(&stat->times));
	put_errnos(out, &stat->errnos);
}

static void put_thread(struct trace *trace, struct trace_thread *thread)
{
	static const char heading[] =
		"\n   syscall            calls  errors  total       min       avg       max       stddev\n"
		"                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
		"   --------------- --------  ------ -------- --------- --------- ---------     ------\n";
	const struct task *task = sym_find_task(trace->feed->sym, thread->tid);
	struct out *out = trace->out;

	out_char(out, ' ');
	if (thread == trace->folded)
		out_printf(out, "%llu more threads, which have ended",
			   (unsigned long long)trace->folded_n);
	else if (thread->comm)
		out_escaped(out, thread->comm);
	else if (task)
		out_escaped(out, task_comm(trace->feed->sym, task));
	else
		out_printf(out, ":%u", thread->tid);
	if (thread != trace->folded)
		out_printf(out, " (%u)", thread->tid);
	out_printf(out, ", %llu events, %.1f%%", (unsigned long long)thread->events_n,
		   (double)thread->events_n / (double)trace->events_n * 100);
	if (thread->faults_major)
		out_printf(out, ", %llu majfaults", (unsigned long long)thread->faults_major);
	if (thread->faults_minor)
		out_printf(out, ", %llu minfaults", (unsigned long long)thread->faults_minor);
	if (trace->options->sched)
		out_printf(out, ", %.3f msec", thread->runtime_ms);
	out_char(out, '\n');
	out_text(out, heading);
	if (thread->stats.n)
		qsort(thread->stats.v, thread->stats.n, sizeof(*thread->stats.v), by_total);
	vec_each(struct call_stat, stat, &thread->stats)
		put_stat(trace, stat);
	out_text(out, "\n\n");
}

static int by_events(const void *a, const void *b)
{
	const struct trace_thread *x = *(struct trace_thread *const *)a;
	const struct trace_thread *y = *(struct trace_thread *const *)b;

	if (x->events_n != y->events_n)
		return x->events_n > y->events_n ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void fold(struct trace_thread *into, const struct trace_thread *from)
{
	into->events_n += from->events_n;
	into->faults_major += from->faults_major;
	into->faults_minor += from->faults_minor;
	into->runtime_ms += from->runtime_ms;
	vec_each(const struct call_stat, stat, &from->stats) {
		struct map_slot slot;
		struct call_stat *sum;

		into->is_32bit = stat->is_32bit;
		sum = stat_of(into, stat->number);
		if (stat->times.n > 0) {
			sum->min = sum->times.n > 0 ? MIN(sum->min, stat->min) : stat->min;
			sum->max = MAX(sum->max, stat->max);
		}
		spread_merge(&sum->times, &stat->times);
		sum->n += stat->n;
		sum->errors += stat->errors;
		for (size_t i = 0; map_next(&stat->errnos, &i, &slot);)
			*map_at(&sum->errnos, slot.key, NULL) += slot.value;
	}
}

void trace_fold_ended(struct trace *trace)
{
	VEC(struct trace_thread *) ended = {0};

	if (trace->ended_n <= MOST_ENDED)
		return;
	vec_each(struct trace_thread *, thread, &trace->all)
		if ((*thread)->ended)
			vec_push(&ended, *thread);
	qsort(ended.v, ended.n, sizeof(*ended.v), by_events);
	if (!trace->folded)
		trace->folded = NEW(struct trace_thread);
	for (size_t i = MOST_ENDED / 2; i < ended.n; i++) {
		fold(trace->folded, ended.v[i]);
		trace->folded_n++;
		trace->ended_n--;
		trace_thread_remove(trace, ended.v[i]);
	}
	vec_done(&ended);
}

void trace_summary(struct trace *trace)
{
	out_text(trace->out, "\n Summary of events:\n\n");
	if (trace->all.n)
		qsort(trace->all.v, trace->all.n, sizeof(*trace->all.v), by_events);
	vec_each(struct trace_thread *, thread, &trace->all) {
		if ((*thread)->events_n)
			put_thread(trace, *thread);
	}
	if (trace->folded)
		put_thread(trace, trace->folded);
}
