// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/print.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/time.h"
#include "sym/stacks.h"
#include <stdio.h>
#include <time.h>

enum { MOST_ASKED = 1 << 16 };

// localtime looks at /etc/localtime each time, which would be an event for each line of output.
static void work_out_hour(struct prof_print *print, int64_t seconds)
{
	time_t at = (time_t)(seconds - seconds % 3600);
	struct tm tm;

	localtime_r(&at, &tm);
	print->hour = at;
	print->has_hour = true;
	// Zones of half hours begin their hours elsewhere.
	print->hour_offset_s = tm.tm_min * 60 + tm.tm_sec;
	strftime(print->hour_text, sizeof(print->hour_text), "%Y-%m-%d %H:", &tm);
}

static void put2(char *to, unsigned v)
{
	to[0] = (char)('0' + v / 10);
	to[1] = (char)('0' + v % 10);
}

void prof_time_text(struct prof *prof, uint64_t time_ns, char ret[40])
{
	struct prof_print *print = prof->print;
	int64_t wall = (int64_t)time_ns + prof->feed->wall_offset_ns, seconds, in_hour;
	unsigned us;

	if (!prof->feed->has_wall || wall < 0 || !time_ns) {
		snprintf(ret, 40, "%llu.%06llu", (unsigned long long)(time_ns / NSEC_PER_SEC),
			 (unsigned long long)(time_ns % NSEC_PER_SEC / 1000));
		return;
	}
	seconds = wall / (int64_t)NSEC_PER_SEC;
	us = (unsigned)(wall % (int64_t)NSEC_PER_SEC / 1000);
	if (!print->has_hour || seconds - seconds % 3600 != print->hour)
		work_out_hour(print, seconds);
	in_hour = seconds - print->hour + print->hour_offset_s;
	if (print->hour_offset_s && in_hour >= 3600) {
		time_t at = (time_t)seconds;
		struct tm tm;

		localtime_r(&at, &tm);
		strftime(ret, 40, "%Y-%m-%d %H:%M:%S.", &tm);
	} else {
		memcpy(ret, print->hour_text, 14);
		put2(ret + 14, (unsigned)(in_hour / 60));
		ret[16] = ':';
		put2(ret + 17, (unsigned)(in_hour % 60));
		ret[19] = '.';
	}
	for (int i = 5; i >= 0; i--, us /= 10)
		ret[20 + i] = (char)('0' + us % 10);
	ret[26] = 0;
}

void prof_put_time(struct prof *prof, uint64_t time_ns)
{
	char text[40];

	prof_time_text(prof, time_ns, text);
	out_text(prof->out, text);
}

void prof_put_unknown(struct prof *prof, uint64_t now_ns, uint64_t n, const char *what)
{
	if (!n || prof->options->quiet)
		return;
	prof_put_time(prof, now_ns);
	out_printf(prof->out, " %s: %llu %s; they are left out\n", prof->profiler->name,
		   (unsigned long long)n, what);
}

void prof_warn_sched(const struct sched *sched)
{
	// States of tasks don't depend on CPUs.
	if (sched->odd_cpus_n && !sched->left)
		say("%llu switches are left out: of CPUs with numbers from %u on",
		    (unsigned long long)sched->odd_cpus_n, SCHED_MOST_CPUS);
	if (sched->forgotten_n)
		say("%llu tasks were forgotten, as there were too many: what they did last is left out",
		    (unsigned long long)sched->forgotten_n);
}

void prof_put_cgroup(struct prof *prof, uint64_t id, struct out *out)
{
	const char *known = sym_cgroup(prof->feed->sym, id);
	struct cgroup_mount mount = {0};
	char *path = NULL;

	if (!known && prof->feed->is_live && cgroup_find_ids(&mount, "") == 0 &&
	    cgroup_path(&mount, id, &path) == 0)
		known = path;
	if (known)
		out_text(out, known);
	else
		out_printf(out, "unknown (id %llu)", (unsigned long long)id);
	err_clear();
	free(mount.path);
	free(path);
}

// A task whose start lies in a ring that comes later (without --order) has no name yet, but a file in /proc.
static void ask_proc(struct prof *prof, const struct task *task)
{
	enum { NAME = 16 }; // TASK_COMM_LEN
	union {
		struct record_comm record;
		char bytes[sizeof(struct record_comm) + NAME];
	} comm = {.bytes = ""};
	auto_free char *text = NULL;
	char path[64];
	size_t n;
	bool is_new;

	if (prof->print->asked.n > MOST_ASKED)
		map_clear(&prof->print->asked);
	*map_at(&prof->print->asked, task->tid, &is_new) = 1;
	snprintf(path, sizeof(path), "/proc/%u/comm", task->tid);
	if (!is_new || file_read(path, 4096, &text, &n) < 0)
		return;
	comm.record.header.type = PERF_RECORD_COMM;
	comm.record.header.size = sizeof(comm);
	comm.record.pid = task->pid;
	comm.record.tid = task->tid;
	memcpy(comm.record.comm, text, MIN(strcspn(text, "\n"), (size_t)NAME - 1));
	sym_record(prof->feed->sym, &comm.record.header, UINT64_MAX);
}

const char *prof_comm(struct prof *prof, uint32_t pid, uint32_t tid)
{
	const struct task *task;

	if (prof->foreign)
		return foreign_name(prof->foreign, tid, prof->print->number);
	task = sym_task(prof->feed->sym, pid, tid);
	if (task && !task->comm_set && tid && prof->feed->is_live)
		ask_proc(prof, task);
	return task ? task_comm(prof->feed->sym, task) : "";
}

// "d", interrupts are off; "N", a switch is due; "h", "s", "H", in which interrupt; how often preemption is disabled.
// include/linux/trace_events.h, enum trace_flag_type; the letters are libtraceevent's.
static void put_flags(struct out *out, const struct sample *sample)
{
	const uint8_t *raw = sample->raw;
	unsigned flags, depth;
	char *p;

	if (sample->raw_size < 8)
		return;
	flags = raw[2];
	depth = raw[3] & 0xf;
	p = out_room(out, 5);
	p[0] = flags & 0x01 ? 'd' : '.';
	p[1] = flags & 0x04 ? 'N' : '.';
	p[2] = (flags & 0x18) == 0x18 ? 'H' : flags & 0x08 ? 'h' : flags & 0x10 ? 's' : '.';
	p[3] = depth ? "0123456789abcdef"[depth] : '.';
	p[4] = ' ';
	out->n += 5;
}

static void put_task(struct out *out, const struct tp_field *const fields[3],
		     const struct sample *sample)
{
	struct str comm = tp_string(fields[0], sample->raw, sample->raw_size);
	char text[64];

	if (comm.n >= sizeof(text))
		comm.n = sizeof(text) - 1;
	memcpy(text, comm.p ? comm.p : "", comm.n);
	text[comm.n] = 0;
	out_safe(out, text);
	out_char(out, ':');
	out_i64(out, (int64_t)tp_number(fields[1], sample->raw, sample->raw_size));
	out_text(out, " [");
	out_i64(out, (int64_t)tp_number(fields[2], sample->raw, sample->raw_size));
	out_char(out, ']');
}

// The short text of a switch or a wake-up: "bash:12 [120] S ==> swapper/0:0 [120]".
static void put_sched(struct out *out, const struct sched_event *event, const struct sample *sample)
{
	const struct sched_hit hit = sched_hit_of(event, sample);

	put_task(out, (const struct tp_field *const[]){event->comm, event->pid, event->prio}, sample);
	if (hit.kind == SCHED_SWITCH) {
		out_char(out, ' ');
		out_char(out, sched_letter(event, hit.state));
		out_text(out, " ==> ");
		put_task(out,
			 (const struct tp_field *const[]){event->next_comm, event->next_pid,
							  event->next_prio},
			 sample);
		return;
	}
	// Older kernels say whether the wake-up was one; newer ones tell of those only.
	out_text(out, " success=");
	out_u64(out, event->success ? tp_number(event->success, sample->raw, sample->raw_size) : 1);
	out_text(out, " CPU:");
	out_u64_zeros(out, hit.to_cpu, 3);
}

void prof_event_text(const struct prof_event *event, const struct sample *sample, struct out *out)
{
	const struct event *recorded = event->feed->event;

	if (event->sched.kind != SCHED_OTHER && event->sched.kind != SCHED_MIGRATE) {
		put_sched(out, &event->sched, sample);
	} else if (recorded->tp) {
		tracepoint_print(out, recorded->tp, sample->raw, sample->raw_size);
	} else if (event->source && event->feed->addresses) {
		out_printf(out, "addr %016llx ip %016llx", (unsigned long long)sample->addr,
			   (unsigned long long)sample->ip);
	} else if (recorded->attr.type >= PERF_TYPE_MAX) { // a probe
		out_char(out, '(');
		out_hex(out, sample->ip);
		out_char(out, ')');
	} else {
		out_u64(out, sample->period);
		if (event->source)
			out_printf(out, " %s", recorded->name);
	}
}

uint64_t prof_event_clock(const struct prof *prof, const struct prof_event *event, uint64_t time_ns)
{
	const struct feed_tsc *tsc = &prof->feed->tsc;

	if (event && event->feed->foreign && !tsc->mult)
		return time_ns - (uint64_t)event->feed->foreign->shift_ns;
	if (prof->options->tsc && tsc->mult)
		time_ns = (uint64_t)(((unsigned __int128)(time_ns - tsc->zero) << tsc->shift) /
				     tsc->mult);
	return time_ns + (uint64_t)prof->options->clock_offset;
}

void prof_put_comm(struct prof *prof, const struct prof_event *event, const struct sample *sample)
{
	const struct foreign *foreign = event->feed->foreign;
	char number[16];
	const char *comm = foreign ? foreign_name(foreign, sample->tid, number)
				   : prof_comm(prof, sample->pid, sample->tid);
	size_t n = strlen(comm);

	if (foreign)
		out_char(prof->out, 'G');
	if (n < 16)
		out_fill(prof->out, ' ', 16 - n);
	out_safe(prof->out, comm);
}

void prof_put_event(struct prof *prof, const struct prof_event *event, const struct sample *sample)
{
	struct out *out = prof->out;
	const struct event *recorded = event->feed->event;
	uint64_t time = prof_event_clock(prof, event, sample->time);

	prof_put_comm(prof, event, sample);
	out_char(out, ' ');
	out_u64_right(out, sample->tid, 6);
	out_char(out, ' ');
	if (recorded->tp)
		put_flags(out, sample);
	out_char(out, '[');
	out_u64_zeros(out, sample->cpu, 3);
	out_text(out, "] ");
	if (prof->options->tsc)
		out_u64(out, time);
	else
		out_time(out, time, 0, 6);
	out_text(out, ": ");
	out_text(out, event->source && !recorded->tp ? event->source : recorded->name);
	out_text(out, ": ");
	prof_event_text(event, sample, out);
	out_char(out, '\n');
}

static void put_frame(struct out *out, const struct location *location, uint64_t ip)
{
	out_hex_zeros(out, ip, 16);
	out_char(out, ' ');
	if (location->sym) {
		out_safe(out, location->sym->name);
		out_text(out, "+0x");
		out_hex(out, ip - (location->ip - (location->addr - location->sym->start)));
	} else {
		out_text(out, "Unknown");
	}
	if (location->dso) {
		out_text(out, " (");
		out_safe(out, location->dso->name);
		out_char(out, ')');
	}
}

static void put_frames(struct prof *prof, const struct sample *sample, struct out *out,
		       const char *around[2])
{
	struct sym *sym = prof->feed->sym;
	struct task *task = feed_task(prof->feed, sample);
	struct chain_walk walk = chain_walk_of(sample);
	struct stack_step step;

	while (chain_next(&walk, &step) > 0) {
		const struct location location = stack_step_resolve(sym, task, &step);

		out_text(out, around[0]);
		put_frame(out, &location, step.ip);
		out_text(out, around[1]);
	}
}

void prof_put_stack(struct prof *prof, const struct sample *sample, const char *indent)
{
	put_frames(prof, sample, prof->out, (const char *[]){indent, "\n"});
}

void prof_stack_text(struct prof *prof, const struct sample *sample, struct out *out)
{
	put_frames(prof, sample, out, (const char *[]){"", "; "});
	if (out->n >= 2)
		out->n -= 2;
}

void prof_put_rows(struct prof *prof, struct table *table, uint64_t now_ns)
{
	struct prof_print *print = prof->print;
	char time[40];
	struct table_stamp stamp = {.time = time, .no_titles = print->titles_shown};

	prof_time_text(prof, now_ns, time);
	table_print(prof->tables, table, print->format, &stamp);
	print->titles_shown = true;
}

void prof_put_table(struct prof *prof, struct table *table, uint64_t now_ns)
{
	char time[40];

	prof_time_text(prof, now_ns, time);
	if (!prof->print->format)
		out_printf(prof->out, "%s\n", time);
	prof_put_rows(prof, table, now_ns);
}
