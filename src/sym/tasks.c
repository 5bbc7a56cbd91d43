// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "base/num.h"
#include "sym/private.h"

// Processes that ended lately keep their maps: records of other CPUs may still come late.
enum { KEPT_DEAD = 1024, KEPT_DEAD_TASKS = 8192 };

static struct task *task_of(struct sym *sym, uint32_t pid, uint32_t tid, bool create);

static void space_died(struct sym *sym, struct space *space)
{
	struct sym_private *p = sym->private;
	struct space **at;

	if (!p->dead)
		p->dead = xcalloc(KEPT_DEAD, sizeof(*p->dead));
	at = &p->dead[p->dead_at++ % KEPT_DEAD];
	if (*at && !(*at)->refs)
		space_clear(sym, *at);
	*at = space;
}

static void bury(struct sym *sym, struct task *task);

static void task_died(struct sym *sym, struct task *task)
{
	if (task->exited)
		return;
	task->exited = true;
	if (!--task->space->refs)
		space_died(sym, task->space);
	if (sym->options.live)
		bury(sym, task);
}

static void use_space(struct sym *sym, struct task *task, struct space *space)
{
	struct space *old = task->space;

	if (old == space)
		return;
	task->space = space;
	space->users++;
	if (old)
		old->users--;
	if (task->exited)
		return;
	space->refs++;
	if (old && !--old->refs)
		space_clear(sym, old);
}

static void learn_pid(struct sym *sym, struct task *task, uint32_t pid)
{
	if (pid == UINT32_MAX || task->pid != UINT32_MAX)
		return;
	task->pid = pid;
	if (pid == task->tid)
		task->space->pid = pid;
	else
		use_space(sym, task, task_of(sym, pid, pid, true)->space);
}

// Runs of months see millions of tasks: one that died long ago gives its place to a new one.
static void bury(struct sym *sym, struct task *task)
{
	struct sym_private *p = sym->private;
	struct task **at, *old;

	if (!p->dead_tasks)
		p->dead_tasks = xcalloc(KEPT_DEAD_TASKS, sizeof(*p->dead_tasks));
	at = &p->dead_tasks[p->dead_tasks_at++ % KEPT_DEAD_TASKS];
	old = *at;
	*at = task;
	if (!old)
		return;
	if (map_find_ptr(&p->tasks_by_tid, old->tid) == old) {
		map_remove(&p->tasks_by_tid, old->tid);
		if (sym->recent_tasks[old->tid % SYM_RECENT_TASKS] == old)
			sym->recent_tasks[old->tid % SYM_RECENT_TASKS] = NULL;
	}
	if (!--old->space->users && !old->space->refs) {
		space_clear(sym, old->space);
		vec_done(&old->space->maps);
		*old->space = (struct space){0};
		vec_push(&p->free_spaces, old->space);
	}
	vec_push(&p->free_tasks, old);
}

static struct task *task_new(struct sym *sym)
{
	struct sym_private *p = sym->private;
	struct task *task;
	uint32_t index;

	if (p->free_tasks.n) {
		task = vec_pop(&p->free_tasks);
		index = task->index;
		*task = (struct task){.index = index};
		return task;
	}
	task = arena_zalloc(&p->arena, sizeof(*task));
	task->index = (uint32_t)sym->tasks.n;
	vec_push(&sym->tasks, task);
	return task;
}

// ":123": nothing better is known.
static void name_by_tid(struct sym *sym, struct task *task)
{
	char name[16] = ":";
	unsigned n = 1;

	if (task->tid > INT32_MAX) {
		name[n++] = '-';
		n += num_put_u64(name + n, -(uint64_t)(int32_t)task->tid);
	} else {
		n += num_put_u64(name + n, task->tid);
	}
	task->comm = intern_str(&sym->strings, (struct str){name, n});
}

// Has no name yet.
static struct task *task_add(struct sym *sym, uint32_t pid, uint32_t tid)
{
	struct sym_private *p = sym->private;
	struct task *task = task_new(sym);

	task->pid = pid;
	task->tid = tid;
	task->ppid = UINT32_MAX;
	task->cpu = -1;
	map_set_ptr(&p->tasks_by_tid, tid, task);
	if (pid == tid || pid == UINT32_MAX)
		use_space(sym, task, space_new(sym, pid));
	else
		use_space(sym, task, task_of(sym, pid, pid, true)->space);
	sym->recent_tasks[tid % SYM_RECENT_TASKS] = task;
	return task;
}

static struct task *task_of(struct sym *sym, uint32_t pid, uint32_t tid, bool create)
{
	struct sym_private *p = sym->private;
	struct task **recent = &sym->recent_tasks[tid % SYM_RECENT_TASKS];
	struct task *task = *recent;

	if (!task || task->tid != tid) {
		task = map_find_ptr(&p->tasks_by_tid, tid);
		if (task)
			*recent = task;
	}
	if (task) {
		if (task->pid != pid)
			learn_pid(sym, task, pid);
		return task;
	}
	if (!create)
		return NULL;
	task = task_add(sym, pid, tid);
	name_by_tid(sym, task);
	return task;
}

struct task *sym_task_slow(struct sym *sym, uint32_t pid, uint32_t tid)
{
	return task_of(sym, pid, tid, true);
}

struct task *sym_find_task(struct sym *sym, uint32_t tid)
{
	return map_find_ptr(&sym->private->tasks_by_tid, tid);
}

// Where rings are read one by one, what is older can come later; a recording comes in the order that was asked for. What was asked of /proc
// has no time and gives way.
static bool is_newer(const struct sym *sym, uint64_t known, uint64_t time)
{
	return sym->options.live && known != UINT64_MAX && known > time;
}

void task_set_comm(struct sym *sym, struct task *task, const char *comm, uint64_t time)
{
	if (task->comm_set && is_newer(sym, task->comm_time, time))
		return;
	task->comm = intern_text(&sym->strings, comm);
	task->comm_set = true;
	task->comm_time = time;
}

static void task_remove(struct sym *sym, struct task *task)
{
	struct task **recent = &sym->recent_tasks[task->tid % SYM_RECENT_TASKS];

	map_remove(&sym->private->tasks_by_tid, task->tid);
	if (*recent == task)
		*recent = NULL;
	task_died(sym, task);
}

void task_fork(struct sym *sym, const struct record_task *fork, uint64_t time)
{
	struct task *task = task_of(sym, fork->pid, fork->tid, false);
	struct task *parent = task_of(sym, fork->ppid, fork->ptid, true);

	// Another process had the parent's number and its end was lost.
	if (parent->pid != fork->ppid) {
		task_remove(sym, parent);
		if (task == parent)
			task = NULL;
		parent = task_of(sym, fork->ppid, fork->ptid, true);
	}
	if (task && is_newer(sym, task->start_time, time)) {
		task->ppid = parent->tid; // it has run another program since
		return;
	}
	const struct task before = task ? *task : (struct task){0};
	if (task)
		task_remove(sym, task);
	task = task_add(sym, fork->pid, fork->tid);
	// A name by its number would be kept for ever, for each of millions.
	if (!parent->comm_set) {
		name_by_tid(sym, task);
	} else {
		task->comm = parent->comm;
		task->comm_set = true;
		task->comm_time = time;
	}
	if (before.comm_set && is_newer(sym, before.comm_time, time))
		task_set_comm(sym, task, task_comm(sym, &before), before.comm_time);
	task->ppid = parent->tid;
	task->start_time = time;
	// A synthesized fork has its maps told by MMAP records (PERF_RECORD_MISC_FORK_EXEC).
	if (task->pid != parent->pid && task->space != parent->space &&
	    !(fork->header.misc & (1 << 13)))
		space_clone(sym, task->space, parent->space);
}

void task_exit(struct sym *sym, const struct record_task *exit)
{
	struct task *task = task_of(sym, exit->pid, exit->tid, false);

	if (task)
		task_died(sym, task);
}
