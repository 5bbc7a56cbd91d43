// SPDX-License-Identifier: GPL-2.0-or-later
// Messages between many tasks, a word between two, a system call: what costs the scheduler and the way into the kernel.
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "cmd/bench/bench.h"
#include "cmd/core/rows.h"
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

// ---- messaging

enum { PER_GROUP = 20, MESSAGE_BYTES = 100 };

struct messaging {
	unsigned groups, loops;
	bool pipes, threads;
};

struct group {
	const struct messaging *options;
	int ends[PER_GROUP][2]; // [0] the receiver's
	int ready, start; // pipes: each says that it is there; all begin when the other one closes
};

struct member {
	struct group *group;
	unsigned index;
	bool sends;
};

static bool read_whole(int fd, char *buf, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t more = read(fd, buf + got, n - got);

		if (more <= 0)
			return false;
		got += (size_t)more;
	}
	return true;
}

static bool be_ready(const struct group *group)
{
	char c = '*';

	return write(group->ready, &c, 1) == 1 && read(group->start, &c, 1) == 1;
}

static void run_member(const struct member *member)
{
	const struct group *group = member->group;
	char message[MESSAGE_BYTES] = {0};

	if (!be_ready(group))
		return;
	for (unsigned i = 0; i < group->options->loops; i++) {
		for (unsigned k = 0; k < PER_GROUP; k++) {
			if (member->sends) {
				if (write_all(group->ends[k][1], message, sizeof(message)) < 0)
					return;
			} else if (!read_whole(group->ends[member->index][0], message,
					       sizeof(message))) {
				return;
			}
		}
	}
}

static void *member_thread(void *arg)
{
	run_member(arg);
	return NULL;
}

struct tasks {
	pthread_t *threads;
	pid_t *pids;
	size_t n;
};

static int start_member(const struct messaging *options, struct tasks *tasks, struct member *member)
{
	int error;

	if (options->threads) {
		pthread_attr_t attr;

		pthread_attr_init(&attr);
		pthread_attr_setstacksize(&attr, 128 << 10);
		error = pthread_create(&tasks->threads[tasks->n], &attr, member_thread, member);
		pthread_attr_destroy(&attr);
		if (error)
			return fail(error, "can't start a thread: %s", strerror(error));
		tasks->n++;
		return 0;
	}
	pid_t pid = fork();
	if (pid < 0)
		return fail(errno, "can't start a process: %s", strerror(errno));
	if (pid == 0) {
		run_member(member);
		_exit(0);
	}
	tasks->pids[tasks->n++] = pid;
	return 0;
}

static int start_group(struct group *group, struct tasks *tasks, struct member *members)
{
	for (unsigned i = 0; i < PER_GROUP; i++) {
		int *ends = group->ends[i];

		if ((group->options->pipes ? pipe(ends)
					   : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) < 0)
			return fail(errno, "can't make a pair of descriptors: %s (ulimit -n)",
				    strerror(errno));
	}
	for (unsigned i = 0; i < 2 * PER_GROUP; i++) {
		members[i] = (struct member){group, i % PER_GROUP, i >= PER_GROUP};
		int err = start_member(group->options, tasks, &members[i]);
		if (err < 0)
			return err;
	}
	// Processes have them; threads use ours.
	for (unsigned i = 0; !group->options->threads && i < PER_GROUP; i++) {
		close(group->ends[i][0]);
		close(group->ends[i][1]);
	}
	return 0;
}

static void end_tasks(const struct messaging *options, struct tasks *tasks, bool failed)
{
	for (size_t i = 0; i < tasks->n; i++) {
		if (options->threads) {
			if (failed)
				continue; // they wait for ever, and end with the program
			pthread_join(tasks->threads[i], NULL);
		} else {
			if (failed)
				kill(tasks->pids[i], SIGKILL);
			waitpid(tasks->pids[i], NULL, 0);
		}
	}
}

static int run_groups(const struct messaging *options, uint64_t *ret_ns)
{
	size_t n = (size_t)options->groups * 2 * PER_GROUP;
	struct tasks tasks = {xcalloc(n, sizeof(pthread_t)), xcalloc(n, sizeof(pid_t)), 0};
	struct group *groups = xcalloc(options->groups, sizeof(*groups));
	struct member *members = xcalloc(n, sizeof(*members));
	int ready[2], start[2], err = 0;
	char byte = 0;

	if (pipe(ready) < 0 || pipe(start) < 0)
		err = fail(errno, "can't make a pipe: %s", strerror(errno));
	for (unsigned i = 0; !err && i < options->groups; i++) {
		groups[i].options = options;
		groups[i].ready = ready[1];
		groups[i].start = start[0];
		err = start_group(&groups[i], &tasks, members + (size_t)i * 2 * PER_GROUP);
	}
	for (size_t i = 0; !err && i < n; i++)
		read_whole(ready[0], &byte, 1);
	uint64_t begin_ns = bench_now_ns();
	for (size_t i = 0; !err && i < n; i++)
		write_all(start[1], "*", 1);
	end_tasks(options, &tasks, err < 0);
	*ret_ns = bench_now_ns() - begin_ns;
	for (unsigned i = 0; i < 2; i++) {
		close(ready[i]);
		close(start[i]);
	}
	for (unsigned i = 0; options->threads && !err && i < options->groups; i++)
		for (unsigned k = 0; k < 2 * PER_GROUP; k++)
			close(groups[i].ends[k / 2][k % 2]);
	if (err < 0 && options->threads)
		return err; // they still use these
	free(groups);
	free(members);
	free(tasks.threads);
	free(tasks.pids);
	return err;
}

static int run_messaging(const struct bench_common *common, void *at)
{
	const struct messaging *options = at;
	const char *what = options->threads ? "threads" : "processes";
	uint64_t ns;

	if (!options->groups || options->groups > 10000)
		return fail(EINVAL, "groups are from 1 to 10000");
	int err = run_groups(options, &ns);
	if (err < 0)
		return err;
	if (!common->simple) {
		out_printf(common->out, "# %d sender and receiver %s per group\n", PER_GROUP, what);
		out_printf(common->out, "# %u groups == %u %s run\n\n", options->groups,
			   options->groups * 2 * PER_GROUP, what);
	}
	bench_put_total(common, ns);
	return 0;
}

static const struct opt messaging_opts[] = {
	OPT(OPT_FLAG, 'p', "pipe", offsetof(struct messaging, pipes), NULL,
	    "Pipes in place of pairs of sockets."),
	OPT(OPT_FLAG, 't', "thread", offsetof(struct messaging, threads), NULL,
	    "Threads in place of processes."),
	OPT(OPT_U32, 'g', "group", offsetof(struct messaging, groups), "N",
	    "How many groups of 40 tasks (10)."),
	OPT(OPT_U32, 'l', "nr_loops", offsetof(struct messaging, loops), "N",
	    "How many messages each sends to each (100)."),
	OPT_END,
};

const struct bench bench_messaging = {
	BENCH_NAMES("sched", "messaging"),
	.summary = "Benchmark for scheduling and IPC",
	.opts = messaging_opts,
	.opts_size = sizeof(struct messaging),
	.defaults = &(const struct messaging){.groups = 10, .loops = 100},
	.run = run_messaging,
};

// ---- pipe

struct pipe_options {
	unsigned loops;
	bool threads;
};

struct player {
	int from, to;
	unsigned loops;
	bool first;
};

static void play(const struct player *player)
{
	int word = 0;

	for (unsigned i = 0; i < player->loops; i++) {
		if (player->first && write(player->to, &word, sizeof(word)) != sizeof(word))
			return;
		if (read(player->from, &word, sizeof(word)) != sizeof(word))
			return;
		if (!player->first && write(player->to, &word, sizeof(word)) != sizeof(word))
			return;
	}
}

static void *play_thread(void *arg)
{
	play(arg);
	return NULL;
}

static int run_pipe(const struct bench_common *common, void *at)
{
	const struct pipe_options *options = at;
	pthread_t thread;
	int there[2], back[2], error = 0;
	pid_t pid = 0;

	if (pipe(there) < 0 || pipe(back) < 0)
		return fail(errno, "can't make a pipe: %s", strerror(errno));
	struct player first = {back[0], there[1], options->loops, true};
	struct player second = {there[0], back[1], options->loops, false};
	uint64_t begin_ns = bench_now_ns();
	if (options->threads)
		error = pthread_create(&thread, NULL, play_thread, &second);
	else if ((pid = fork()) < 0)
		error = errno;
	if (error)
		return fail(error, "can't start the second task: %s", strerror(error));
	if (!options->threads && pid == 0) {
		play(&second);
		_exit(0);
	}
	play(&first);
	if (options->threads)
		pthread_join(thread, NULL);
	else
		waitpid(pid, NULL, 0);
	uint64_t ns = bench_now_ns() - begin_ns;
	for (unsigned i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	if (!common->simple)
		out_printf(common->out, "# Executed %u pipe operations between two %s\n\n",
			   options->loops, options->threads ? "threads" : "processes");
	bench_put_total(common, ns);
	bench_put_rate(common, ns, options->loops);
	return 0;
}

static const struct opt pipe_opts[] = {
	OPT(OPT_U32, 'l', "loop", offsetof(struct pipe_options, loops), "N",
	    "How often it goes there and back (1000000)."),
	OPT(OPT_FLAG, 'T', "threaded", offsetof(struct pipe_options, threads), NULL,
	    "Threads in place of processes."),
	OPT_END,
};

const struct bench bench_pipe = {
	BENCH_NAMES("sched", "pipe"),
	.summary = "Benchmark for pipe() between two processes",
	.opts = pipe_opts,
	.opts_size = sizeof(struct pipe_options),
	.defaults = &(const struct pipe_options){.loops = 1000000},
	.run = run_pipe,
};

// ---- a system call

struct syscall_options {
	unsigned loops;
};

static int run_syscall(const struct bench_common *common, void *at)
{
	const struct syscall_options *options = at;
	uint64_t begin_ns = bench_now_ns();

	for (unsigned i = 0; i < options->loops; i++)
		syscall(SYS_getppid);
	uint64_t ns = bench_now_ns() - begin_ns;
	if (!common->simple)
		out_printf(common->out, "# Executed %u getppid() calls\n", options->loops);
	bench_put_total(common, ns);
	bench_put_rate(common, ns, options->loops);
	return 0;
}

static const struct opt syscall_opts[] = {
	OPT(OPT_U32, 'l', "loop", offsetof(struct syscall_options, loops), "N",
	    "How many calls (10000000)."),
	OPT_END,
};

const struct bench bench_syscall = {
	BENCH_NAMES("syscall", "basic"),
	.summary = "Benchmark for basic getppid(2) calls",
	.opts = syscall_opts,
	.opts_size = sizeof(struct syscall_options),
	.defaults = &(const struct syscall_options){.loops = 10000000},
	.run = run_syscall,
};
