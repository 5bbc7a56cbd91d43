// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sched.h"
#include "base/alloc.h"

enum { USUAL_LIMIT = 1 << 20 };

void sched_done(struct sched *sched)
{
	vec_done(&sched->tasks);
	vec_done(&sched->cpus);
	vec_done(&sched->unused);
	map_done(&sched->by_tid);
}

// ---- CPUs

static void use(struct sched_cpu *cpu, uint32_t tid, uint64_t ns)
{
	*(tid == SCHED_NOBODY ? &cpu->use.unknown_ns
	  : tid		      ? &cpu->use.busy_ns
			      : &cpu->use.idle_ns) += ns;
}

static void switch_cpu(struct sched *sched, const struct sched_hit *hit)
{
	struct sched_cpu *cpu;
	uint32_t who = SCHED_NOBODY;
	uint64_t ns = 0;

	if (hit->cpu >= SCHED_MOST_CPUS) {
		sched->odd_cpus_n++;
		return;
	}
	while (sched->cpus.n <= hit->cpu)
		vec_push(&sched->cpus, (struct sched_cpu){.tid = SCHED_NOBODY});
	cpu = &sched->cpus.v[hit->cpu];
	if (cpu->seen && hit->time_ns >= cpu->since_ns) {
		ns = hit->time_ns - cpu->since_ns;
		// Another one than the last switch said: there was one between that was not shown.
		who = cpu->tid == hit->tid ? hit->tid : SCHED_NOBODY;
	}
	use(cpu, who, ns);
	cpu->use.switches_n++;
	cpu->seen = true;
	cpu->tid = hit->next;
	cpu->since_ns = hit->time_ns;
	if (sched->ran && who != SCHED_NOBODY)
		sched->ran(sched->arg, hit, ns);
}

void sched_cut(struct sched *sched, uint64_t now_ns)
{
	vec_each(struct sched_cpu, cpu, &sched->cpus) {
		if (!cpu->seen || now_ns < cpu->since_ns)
			continue;
		use(cpu, cpu->tid, now_ns - cpu->since_ns);
		cpu->since_ns = now_ns;
	}
}

// ---- tasks

struct sched_task *sched_task(const struct sched *sched, uint32_t tid)
{
	const uint64_t *at = map_find(&sched->by_tid, tid);

	return at ? &sched->tasks.v[*at] : NULL;
}

static void forget(struct sched *sched, struct sched_task *task)
{
	vec_push(&sched->unused, (uint32_t)(task - sched->tasks.v));
	map_remove(&sched->by_tid, task->tid);
	*task = (struct sched_task){.state = SCHED_UNKNOWN};
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

// The dead are forgotten when they leave, but not all are seen to.
static void forget_half(struct sched *sched)
{
	auto_free uint64_t *times = xcalloc(sched->by_tid.n, sizeof(*times));
	uint64_t middle;
	size_t n = 0;

	vec_each(struct sched_task, task, &sched->tasks) {
		if (task->tid)
			times[n++] = task->since_ns;
	}
	qsort(times, n, sizeof(*times), by_time);
	middle = times[n / 2];
	vec_each(struct sched_task, task, &sched->tasks) {
		if (!task->tid || task->since_ns > middle)
			continue;
		forget(sched, task);
		sched->forgotten_n++;
	}
}

// NULL: nobody asked for it. Most are found at the first look.
static struct sched_task *take_task(struct sched *sched, uint32_t tid)
{
	struct sched_task *task = tid && sched->left ? sched_task(sched, tid) : NULL;
	uint32_t at;

	if (!tid || !sched->left || (task && !sched->asks_again))
		return task;
	if (sched->wanted && !sched->wanted(sched->arg, tid)) {
		if (task)
			forget(sched, task);
		return NULL;
	}
	if (task)
		return task;
	if (sched->by_tid.n >= (sched->limit ? sched->limit : USUAL_LIMIT))
		forget_half(sched);
	if (sched->unused.n) {
		at = vec_pop(&sched->unused);
	} else {
		at = (uint32_t)sched->tasks.n;
		vec_push(&sched->tasks, (struct sched_task){0});
	}
	*map_at(&sched->by_tid, tid, NULL) = at;
	sched->tasks.v[at] = (struct sched_task){.tid = tid,
						 .cpu = UINT32_MAX,
						 .waker = SCHED_NOBODY,
						 .state = SCHED_UNKNOWN};
	return &sched->tasks.v[at];
}

static void enter(struct sched *sched, struct sched_task *task, uint8_t state,
		  const struct sched_hit *hit)
{
	if (task->state != SCHED_UNKNOWN)
		sched->left(sched->arg, task, hit);
	task->state = state;
	task->since_ns = hit->time_ns;
	task->mark = hit->mark;
	task->cpu = hit->kind == SCHED_SWITCH ? hit->cpu : hit->to_cpu;
}

// The state has ended, nobody knows when.
static void hide(struct sched *sched, struct sched_task *task)
{
	if (task->state != SCHED_UNKNOWN)
		sched->left(sched->arg, task, NULL);
	task->state = SCHED_UNKNOWN;
}

static void switch_tasks(struct sched *sched, const struct sched_hit *hit)
{
	struct sched_task *task = take_task(sched, hit->tid);

	if (task) {
		// It ran, though nothing told since when: what it did before ended then.
		if (task->state != SCHED_RUNS)
			hide(sched, task);
		enter(sched, task, hit->state, hit);
		task->waker = SCHED_NOBODY;
		if (hit->is_dead)
			forget(sched, task);
	}
	task = take_task(sched, hit->next);
	if (!task)
		return;
	// Who runs sleeps no longer, also where nothing told what woke it up: a sandbox may hide events of idle CPUs. Who ran before
	// has left meanwhile, nobody knows when.
	if (task->state == SCHED_RUNS)
		hide(sched, task);
	enter(sched, task, SCHED_RUNS, hit);
}

void sched_take(struct sched *sched, const struct sched_hit *hit)
{
	struct sched_task *task;

	switch (hit->kind) {
	case SCHED_SWITCH:
		switch_cpu(sched, hit);
		switch_tasks(sched, hit);
		return;
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		task = take_task(sched, hit->tid);
		// One that was about to sleep, and does not.
		if (!task || task->state == SCHED_RUNS || task->state == SCHED_WAITS)
			return;
		enter(sched, task, SCHED_WAITS, hit);
		task->waker = hit->by;
		return;
	case SCHED_MIGRATE:
		task = sched_task(sched, hit->tid);
		if (task)
			task->cpu = hit->to_cpu;
		return;
	case SCHED_OTHER:
		return;
	}
}

size_t sched_lost(struct sched *sched, uint32_t cpu)
{
	size_t n = 0;

	for (size_t i = 0; i < sched->cpus.n; i++) {
		if (cpu == UINT32_MAX || cpu == i)
			sched->cpus.v[i].tid = SCHED_NOBODY;
	}
	vec_each(struct sched_task, task, &sched->tasks) {
		n += task->state != SCHED_UNKNOWN;
		task->state = SCHED_UNKNOWN;
	}
	return n;
}
