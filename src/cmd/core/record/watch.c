// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/record/watch.h"
#include "base/err.h"
#include "base/time.h"
#include "cmd/core/record/drain.h"
#include "cmd/core/record/unwinding.h"
#include "cmd/core/record/readers.h"
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>

static void take_signals(struct recorder *recorder, struct watch *watch)
{
	struct signalfd_siginfo info;

	while (read(watch->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGCHLD:
			if (workload_ended(&recorder->workload))
				watch->stop = true;
			break;
		case SIGUSR2:
			watch->dump = true;
			break;
		default:
			watch->stop = true;
			watch->exit_signal = (int)info.ssi_signo;
		}
	}
}

static void take_commands(struct recorder *recorder, struct watch *watch)
{
	for (;;) {
		enum control_command command = control_read(&watch->control);

		switch (command) {
		case CONTROL_NONE:
			return;
		case CONTROL_ENABLE:
			opened_enable(&recorder->opened);
			break;
		case CONTROL_DISABLE:
			opened_disable(&recorder->opened);
			break;
		case CONTROL_SNAPSHOT:
			watch->dump = true;
			break;
		case CONTROL_STOP:
			watch->stop = true;
			break;
		default:
			break;
		}
		if (command != CONTROL_UNKNOWN)
			control_ack(&watch->control);
	}
}

// How long to sleep at most, in ms: to the next end or begin of a -D range, to a rotation by time.
static int next_timeout(struct recorder *recorder, struct watch *watch)
{
	const struct record_options *options = recorder->options;
	// What a compiler made is gone when its program has ended: it is looked at before.
	uint64_t now = time_now_ns(CLOCK_MONOTONIC), timeout = recorder->live ? 100 : 1000;
	uint64_t ms = (now - watch->started_ns) / 1000000;

	while (watch->delay_at < options->delays.n * 2) {
		const struct delay_range *range = &options->delays.v[watch->delay_at / 2];
		bool begins = watch->delay_at % 2 == 0;
		uint64_t at = begins ? range->from_ms : range->to_ms;

		if (!begins && !at)
			break;
		if (ms < at) {
			timeout = MIN(timeout, at - ms);
			break;
		}
		if (begins)
			opened_enable(&recorder->opened);
		else
			opened_disable(&recorder->opened);
		watch->delay_at++;
	}
	// its bytes are written elsewhere, and wake nobody up here
	if (options->max_size && recorder->readers)
		timeout = MIN(timeout, 20);
	if (options->rotate.ns) {
		uint64_t age = now - recorder->file_started_ns;

		if (age >= options->rotate.ns)
			watch->dump = true;
		else
			timeout = MIN(timeout, (options->rotate.ns - age) / 1000000 + 1);
	}
	return (int)timeout;
}

// Overwrite rings are frozen while they are read.
static int take_overwrite(struct recorder *recorder)
{
	uint64_t bytes;
	int err;

	opened_ioctl(&recorder->opened, PERF_EVENT_IOC_PAUSE_OUTPUT, 1, false);
	err = collect_rings(recorder, &bytes);
	opened_ioctl(&recorder->opened, PERF_EVENT_IOC_PAUSE_OUTPUT, 0, false);
	return err;
}

static int take_rings(struct recorder *recorder, struct watch *watch)
{
	const struct record_options *options = recorder->options;
	uint64_t bytes;
	int err = 0;

	if (!options->overwrite && !recorder->readers)
		err = collect_rings(recorder, &bytes);
	if (err)
		return err;
	uint64_t written = writer_bytes(recorder->writer) + readers_bytes(recorder->readers);
	if (options->max_size && written >= options->max_size) {
		if (!options->quiet)
			fprintf(stderr, "[ sonde record: size limit reached (%llu KB), stopping ]\n",
				(unsigned long long)(written >> 10));
		watch->stop = true;
	}
	if (options->rotate.bytes && writer_bytes(recorder->writer) >= options->rotate.bytes)
		watch->dump = true;
	if (watch->dump && !watch->stop) {
		watch->dump = false;
		if (options->overwrite)
			err = take_overwrite(recorder);
		if (!err && options->rotate.on)
			err = output_rotate(recorder);
	}
	return err;
}

// Sleeps until there is something to do; notes files that are mapped meanwhile, in a storm of them a thousand times a second.
static int wait_for_any(struct recorder *recorder, struct watch *watch, int timeout)
{
	uint64_t until = time_now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout * 1000000;
	size_t others = watch->n - watch->early_n;

	for (;;) {
		uint64_t now;
		int n = poll(watch->fds, watch->n, timeout), early = 0;

		for (size_t i = others; i < watch->n && n > 0; i++) {
			early += watch->fds[i].revents != 0;
			if (watch->fds[i].revents & (POLLHUP | POLLERR))
				watch->fds[i].fd = -1;
		}
		if (early)
			early_take(recorder);
		now = time_now_ns(CLOCK_MONOTONIC);
		if (n <= 0 || n > early || now >= until)
			return n;
		n = poll(watch->fds, others, 1);
		if (n)
			return n;
		timeout = (int)((until - MIN(now, until)) / 1000000) + 1;
	}
}

int watch_run(struct recorder *recorder, struct watch *watch)
{
	struct opened *opened = &recorder->opened;
	int err = 0;

	while (!err) {
		size_t gone = 0;
		int timeout = next_timeout(recorder, watch);

		err = take_rings(recorder, watch);
		live_age(recorder);
		watch->stop |= readers_failed(recorder->readers);
		if (err || watch->stop)
			break;
		if (wait_for_any(recorder, watch, timeout) < 0 && errno != EINTR)
			return fail(errno, "can't wait for events: %s", strerror(errno));
		recorder->wakeups++;
		take_signals(recorder, watch);
		take_commands(recorder, watch);
		watch->dump |= trigger_fired(recorder);
		// A ring hangs up when all that wrote to it have ended.
		for (size_t i = 0; i < watch->rings_n; i++) {
			if (watch->fds[i].revents & (POLLHUP | POLLERR)) {
				watch->fds[i].fd = -1;
			}
			gone += watch->fds[i].fd < 0;
		}
		bool is_over = recorder->drain ? drain_is_over(recorder->drain)
					       : gone == watch->rings_n && !recorder->readers;
		if (is_over && !recorder->workload.pid)
			watch->stop = true;
		if (recorder->target.has_tasks && !recorder->workload.pid &&
		    !target_alive(&recorder->target))
			watch->stop = true;
	}
	if (!err && !recorder->options->overwrite) {
		uint64_t bytes = !recorder->readers;

		opened_disable(opened);
		// What the thread that empties the rings had no room for lies there still.
		while (!err && bytes) {
			err = collect_rings(recorder, &bytes);
			bytes = recorder->drain ? bytes : 0;
		}
	} else if (!err) {
		opened_disable(opened);
		err = take_overwrite(recorder);
	}
	return err;
}

void watch_init(struct recorder *recorder, struct watch *watch)
{
	size_t rings = recorder->opened.rings.n, triggers = recorder->trigger.rings.n;
	size_t early = recorder->early.rings.n;

	watch->fds = xcalloc(rings + triggers + early + 3, sizeof(*watch->fds));
	for (size_t i = 0; i < rings; i++)
		watch->fds[i] = (struct pollfd){// to ask a ring takes the answer from who else asks
						.fd = recorder->readers || recorder->drain
							      ? -1
							      : recorder->opened.rings.v[i].fd,
						.events = POLLIN};
	watch->rings_n = rings;
	watch->fds[rings] = (struct pollfd){.fd = watch->signal_fd, .events = POLLIN};
	watch->fds[rings + 1] = (struct pollfd){.fd = watch->control.fd, .events = POLLIN};
	watch->fds[rings + 2] =
		(struct pollfd){.fd = recorder->drain ? drain_fd(recorder->drain) : -1,
				.events = POLLIN};
	watch->n = rings + 3;
	for (size_t i = 0; i < triggers; i++)
		watch->fds[watch->n++] =
			(struct pollfd){.fd = recorder->trigger.rings.v[i].fd, .events = POLLIN};
	watch->early_n = early;
	for (size_t i = 0; i < early; i++)
		watch->fds[watch->n++] =
			(struct pollfd){.fd = recorder->early.rings.v[i].fd, .events = POLLIN};
	watch->started_ns = time_now_ns(CLOCK_MONOTONIC);
}
