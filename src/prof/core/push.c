// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/push.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/time.h"
#include "flow/sender.h"
#include "flow/wire.h"
#include <sys/epoll.h>
#include <sys/utsname.h>

enum { BATCH_BYTES = 64 << 10 };

struct prof_push {
	struct prof *prof;
	const char *where;
	VEC(struct prof_event *) events;
	struct sender *sender;
	struct out messages; // of the batch
	struct sender_batch batch;
	uint64_t told_ns; // all before was sent
	uint64_t too_large;
};

int prof_push_add(struct prof *prof, struct prof_event *event, const char *where)
{
	struct prof_push *push = NULL;

	vec_each(struct prof_push *, known, &prof->pushes)
		if (!strcmp((*known)->where, where))
			push = *known;
	if (!push) {
		push = arena_zalloc(&prof->arena, sizeof(*push));
		push->prof = prof;
		push->where = where;
		out_init_memory(&push->messages);
		vec_push(&prof->pushes, push);
	}
	if (push->events.n == WIRE_EVENTS_MAX)
		return fail(EINVAL, "push=%s: more than %d events", where, WIRE_EVENTS_MAX);
	event->push = push;
	event->push_index = (uint32_t)push->events.n;
	vec_push(&push->events, event);
	// Names of tasks go along.
	prof->needs_tasks = true;
	return 0;
}

// ---- the greeting

static void put_event(struct out *out, const struct prof_event *event)
{
	const struct event *recorded = event->feed->event;
	const struct tracepoint *tp = recorded->tp;
	const struct wire_event said = {
		.index = event->push_index,
		.is_probe = recorded->attr.type >= PERF_TYPE_MAX,
		.name = str_of(recorded->name),
		.system = str_of(tp ? tracepoint_system(tp) : ""),
		.tracepoint = str_of(tp ? tracepoint_name(tp) : ""),
		.format = tp ? tracepoint_format(tp) : STR(""),
	};

	wire_put_event(out, &said);
}

static void greet(void *arg, struct out *out)
{
	const struct prof_push *push = arg;
	const struct prof_options *options = push->prof->options;
	const struct feed *feed = push->prof->feed;
	auto_free char *boot = NULL;
	struct utsname machine;
	struct wire_hello hello = {
		.events_n = (uint32_t)push->events.n,
		.page_size = (uint32_t)sysconf(_SC_PAGESIZE),
		.long_size = sizeof(long),
		.clock = options->tsc			      ? WIRE_TSC
			 : feed->has_wall && !feed->own_clock ? WIRE_MONOTONIC
							      : WIRE_KERNEL,
		.aligned = options->has_clock_offset || options->tsc,
		.has_wall = feed->has_wall && !feed->own_clock && !options->tsc,
		.wall_offset_ns = feed->wall_offset_ns - options->clock_offset,
	};

	if (file_read("/proc/sys/kernel/random/boot_id", 256, &boot, NULL) >= 0)
		memcpy(hello.boot, boot, MIN(strcspn(boot, "\n"), sizeof(hello.boot) - 1));
	if (uname(&machine) == 0)
		memcpy(hello.host, machine.nodename,
		       strnlen(machine.nodename, sizeof(hello.host) - 1));
	wire_put_hello(out, &hello);
	vec_each(struct prof_event *, event, &push->events)
		put_event(out, *event);
}

// ---- a run

int prof_push_begin(struct prof *prof)
{
	struct epoll_event event = {.events = EPOLLIN};
	int err = 0;

	if (!prof->pushes.n)
		return 0;
	if (!prof->feed->is_live)
		return fail(EINVAL,
			    "push= sends what this kernel tells; a recording can be copied as it is");
	prof->feed->peers_fd = epoll_create1(EPOLL_CLOEXEC);
	if (prof->feed->peers_fd < 0)
		return fail(errno, "can't wait for clients: %s", strerror(errno));
	for (size_t i = 0; i < prof->pushes.n && !err; i++) {
		struct prof_push *push = prof->pushes.v[i];
		int fd;

		err = sender_new(&push->sender, push->where, greet, push);
		fd = err ? -1 : sender_fd(push->sender);
		if (fd >= 0 && epoll_ctl(prof->feed->peers_fd, EPOLL_CTL_ADD, fd, &event) < 0)
			err = fail(errno, "can't wait for clients: %s", strerror(errno));
	}
	return err;
}

static int send_batch(struct prof_push *push)
{
	int err;

	push->batch.bytes = push->messages.buf;
	push->batch.n = push->messages.n;
	err = sender_send(push->sender, &push->batch);
	push->messages.n = 0;
	push->batch = (struct sender_batch){0};
	return err;
}

int prof_push_sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct prof_push *push = event->push;
	const char *comm = prof_comm(prof, sample->pid, sample->tid);
	struct wire_sample said = {
		.event = event->push_index,
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.cpumode = sample->cpumode,
		.time = prof_event_clock(prof, NULL, sample->time),
		.period = sample->period,
		.ip = sample->ip,
		.addr = sample->addr,
		.raw_size = sample->raw_size,
		.raw = sample->raw,
	};

	if (said.raw_size > WIRE_RAW_MAX) {
		push->too_large++;
		return 0;
	}
	memcpy(said.comm, comm, strnlen(comm, sizeof(said.comm) - 1));
	if (!push->batch.events++)
		push->batch.first_ns = said.time;
	push->batch.last_ns = said.time;
	wire_put_sample(&push->messages, &said);
	return push->messages.n >= BATCH_BYTES ? send_batch(push) : 0;
}

int prof_push_lost(struct prof *prof, const struct run_loss *loss)
{
	struct wire_lost said = {
		.cpu = loss->cpu,
		.lost = loss->lost,
		.from_ns = loss->from_ns ? prof_event_clock(prof, NULL, loss->from_ns) : 0,
		.to_ns = loss->to_ns == UINT64_MAX ? UINT64_MAX
						   : prof_event_clock(prof, NULL, loss->to_ns),
	};

	vec_each(struct prof_push *, push, &prof->pushes)
		wire_put_lost(&(*push)->messages, &said);
	return 0;
}

int prof_push_settled(struct prof *prof, uint64_t time_ns)
{
	int err = 0;

	for (size_t i = 0; i < prof->pushes.n && !err; i++) {
		struct prof_push *push = prof->pushes.v[i];

		if (!push->sender)
			continue;
		err = sender_ready(push->sender);
		if (time_ns > push->told_ns) {
			wire_put_time(&push->messages, prof_event_clock(prof, NULL, time_ns));
			push->told_ns = time_ns;
		}
		if (!err)
			err = send_batch(push);
	}
	return err;
}

int prof_push_finish(struct prof *prof)
{
	int err = 0;

	for (size_t i = 0; i < prof->pushes.n && !err; i++) {
		struct prof_push *push = prof->pushes.v[i];

		if (!push->sender)
			continue;
		err = send_batch(push);
		if (!err)
			err = sender_finish(push->sender, prof->feed->interrupted);
		if (push->too_large)
			warn("%llu events were too large to be pushed",
			     (unsigned long long)push->too_large);
	}
	return err;
}

void prof_push_done(struct prof *prof)
{
	for (size_t i = 0; i < prof->pushes.n; i++) {
		struct prof_push *push = prof->pushes.v[i];

		sender_free(push->sender);
		out_done(&push->messages);
		vec_done(&push->events);
	}
	vec_done(&prof->pushes);
	if (prof->feed->peers_fd >= 0)
		close(prof->feed->peers_fd);
	prof->feed->peers_fd = -1;
}
