// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that wait for many descriptors, and that add, change and take them away. epoll(7).
#include "base/alloc.h"
#include "base/err.h"
#include "agg/spread.h"
#include "cmd/bench/bench.h"
#include "cmd/core/rows.h"
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

struct epoll_options {
	unsigned runtime, threads, fds;
	bool not_bound, random, multi, once, edge, no_wait;
	int verbose;
};

struct shared {
	const struct epoll_options *options;
	int epfd; // -1: each thread has its own
	bool ctl;
};

struct worker_state {
	int epfd;
	int *fds;
};

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void wait_work(struct bench_worker *worker)
{
	const struct shared *shared = worker->crew->shared;
	const struct worker_state *state = worker->state;
	struct epoll_event event = {0};
	uint64_t word;

	while (!bench_stopped(worker->crew)) {
		// With a limit, so that the end is seen.
		if (epoll_wait(state->epfd, &event, 1, shared->options->no_wait ? 0 : 100) <= 0)
			continue;
		if (read(event.data.fd, &word, sizeof(word)) != sizeof(word))
			continue; // another thread has been there
		worker->ops++;
		if (shared->options->once) {
			event.events = EPOLLIN | EPOLLONESHOT;
			epoll_ctl(state->epfd, EPOLL_CTL_MOD, event.data.fd, &event);
		}
	}
}

static void ctl_work(struct bench_worker *worker)
{
	static const int operations[] = {EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
	const struct shared *shared = worker->crew->shared;
	const struct worker_state *state = worker->state;
	uint64_t *counts[] = {&worker->ops, &worker->more_ops[0], &worker->more_ops[1]};
	uint32_t seed = worker->index;

	while (!bench_stopped(worker->crew)) {
		for (unsigned operation = 0; operation < 3; operation++) {
			for (unsigned i = 0; i < shared->options->fds; i++) {
				unsigned which = shared->options->random
							 ? next_random(&seed) % shared->options->fds
							 : i;
				struct epoll_event event = {.events = operation == 1 ? EPOLLOUT
										     : EPOLLIN,
							    .data.fd = state->fds[which]};

				if (epoll_ctl(state->epfd, operations[operation], state->fds[which],
					      &event) == 0)
					++*counts[operation];
			}
		}
	}
}

// Keeps all descriptors readable, one after the other.
static void *write_to_all(void *arg)
{
	struct bench_crew *crew = arg;
	const struct shared *shared = crew->shared;
	unsigned n = crew->threads_n * shared->options->fds;
	uint32_t seed = 1;
	uint64_t one = 1;

	for (unsigned i = 0; !bench_stopped(crew); i = (i + 1) % n) {
		unsigned which = shared->options->random ? next_random(&seed) % n : i;
		const struct worker_state *state = crew->workers[which / shared->options->fds].state;

		if (write(state->fds[which % shared->options->fds], &one, sizeof(one)) < 0 &&
		    errno != EAGAIN)
			break;
	}
	return NULL;
}

static int open_fds(struct bench_crew *crew)
{
	const struct shared *shared = crew->shared;
	const struct epoll_options *options = shared->options;

	for (unsigned i = 0; i < crew->threads_n; i++) {
		struct worker_state *state = NEW(struct worker_state);

		crew->workers[i].state = state;
		state->fds = xcalloc(options->fds, sizeof(int));
		state->epfd = shared->epfd >= 0 ? shared->epfd : epoll_create1(EPOLL_CLOEXEC);
		if (state->epfd < 0)
			return fail(errno, "can't make an epoll descriptor: %s", strerror(errno));
		for (unsigned k = 0; k < options->fds; k++) {
			struct epoll_event event = {
				.events = EPOLLIN | (options->once ? EPOLLONESHOT : 0) |
					  (options->edge ? (uint32_t)EPOLLET : 0)};

			state->fds[k] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
			if (state->fds[k] < 0)
				return fail(errno, "can't open %u descriptors: %s (ulimit -n)",
					    crew->threads_n * options->fds, strerror(errno));
			event.data.fd = state->fds[k];
			if (!shared->ctl &&
			    epoll_ctl(state->epfd, EPOLL_CTL_ADD, state->fds[k], &event) < 0)
				return fail(errno, "can't watch a descriptor: %s", strerror(errno));
		}
	}
	return 0;
}

static void close_fds(struct bench_crew *crew)
{
	const struct shared *shared = crew->shared;

	for (unsigned i = 0; i < crew->threads_n; i++) {
		struct worker_state *state = crew->workers[i].state;

		for (unsigned k = 0; state && k < shared->options->fds; k++)
			close(state->fds[k]);
		if (state && shared->epfd < 0)
			close(state->epfd);
		if (state)
			free(state->fds);
		free(state);
	}
	if (shared->epfd >= 0)
		close(shared->epfd);
	free(crew->workers);
}

static void raise_limit(unsigned fds)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < fds + 50) {
		limit.rlim_cur = MIN((rlim_t)fds + 50, limit.rlim_max);
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void put_results(struct out *out, const struct bench_crew *crew)
{
	static const char *const names[] = {"ADD", "MOD", "DEL"};
	const struct shared *shared = crew->shared;
	struct spread spread[3] = {0};

	for (unsigned i = 0; i < crew->threads_n; i++) {
		const struct bench_worker *worker = &crew->workers[i];
		const struct worker_state *state = worker->state;
		unsigned long long rates[3] =
			{(unsigned long long)((double)worker->ops / crew->seconds),
			 (unsigned long long)((double)worker->more_ops[0] / crew->seconds),
			 (unsigned long long)((double)worker->more_ops[1] / crew->seconds)};

		for (unsigned k = 0; k < 3; k++)
			spread_add(&spread[k], (double)rates[k]);
		out_printf(out, "[thread %2u] fdmap: %p ... %p [ ", i, (void *)state->fds,
			   (void *)&state->fds[shared->options->fds - 1]);
		if (shared->ctl)
			out_printf(out, "add: %04llu ops; mod: %04llu ops; del: %04llu ops ]\n",
				   rates[0], rates[1], rates[2]);
		else
			out_printf(out, "%04llu ops/sec ]\n", rates[0]);
	}
	out_char(out, '\n');
	for (unsigned k = 0; shared->ctl && k < 3; k++)
		out_printf(out, "Averaged %llu %s operations (+- %.2f%%)\n",
			   (unsigned long long)spread[k].mean, names[k], spread_percent(&spread[k]));
	if (!shared->ctl)
		out_printf(out, "Averaged %llu operations/sec (+- %.2f%%), total secs = %u\n",
			   (unsigned long long)spread[0].mean, spread_percent(&spread[0]),
			   (unsigned)(crew->seconds + 0.5));
}

static int run_epoll(const struct bench_common *common, const struct epoll_options *options, bool ctl)
{
	struct shared shared = {.options = options, .ctl = ctl, .epfd = -1};
	struct bench_crew crew = {.work = ctl ? ctl_work : wait_work,
				  .bind = !options->not_bound,
				  .shared = &shared};
	unsigned cpus = bench_cpus();
	pthread_t writer;
	int err, error = 0;

	// One CPU is left for who writes.
	crew.threads_n = options->threads ? options->threads : ctl || cpus < 2 ? cpus : cpus - 1;
	crew.workers = xcalloc(crew.threads_n, sizeof(*crew.workers));
	raise_limit(crew.threads_n * options->fds);
	if (!options->multi && (shared.epfd = epoll_create1(EPOLL_CLOEXEC)) < 0)
		return fail(errno, "can't make an epoll descriptor: %s", strerror(errno));
	err = open_fds(&crew);
	if (err < 0)
		return err;
	out_printf(common->out,
		   ctl ? "Run summary [PID %d]: %u threads doing epoll_ctl ops %u "
			 "file-descriptors for %u secs.\n\n"
		       : "Run summary [PID %d]: %u threads monitoring on %u "
			 "file-descriptors for %u secs.\n\n",
		   getpid(), crew.threads_n, options->fds, options->runtime);
	out_flush(common->out);
	if (!ctl)
		error = pthread_create(&writer, NULL, write_to_all, &crew);
	if (error)
		return fail(error, "can't start a thread: %s", strerror(error));
	err = bench_crew_run(&crew, options->runtime);
	if (err < 0)
		return err;
	if (!ctl)
		pthread_join(writer, NULL);
	put_results(common->out, &crew);
	close_fds(&crew);
	return 0;
}

static int run_wait(const struct bench_common *common, void *options)
{
	return run_epoll(common, options, false);
}

static int run_ctl(const struct bench_common *common, void *options)
{
	return run_epoll(common, options, true);
}

#define AT(member) offsetof(struct epoll_options, member)
#define COMMON_OPTS                                                                                \
	OPT(OPT_U32, 't', "threads", AT(threads), "N",                                             \
	    "How many threads; default: one for each CPU, but for wait one less."),                \
		OPT(OPT_U32, 'r', "runtime", AT(runtime), "SECONDS", "How long (8)."),             \
		OPT(OPT_U32, 'f', "nfds", AT(fds), "N",                                            \
		    "How many descriptors for each thread (64).", .least = OPT_ABOVE_ZERO),        \
		OPT(OPT_FLAG, 'n', "noaffinity", AT(not_bound), NULL,                              \
		    "Threads are not bound to CPUs."),                                             \
		OPT(OPT_FLAG, 'R', "randomize", AT(random), NULL, "Descriptors in no order."),     \
		OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "Tell more.")

static const struct opt wait_opts[] = {
	COMMON_OPTS,
	OPT(OPT_FLAG, 'm', "multiq", AT(multi), NULL, "An epoll descriptor for each thread."),
	OPT(OPT_FLAG, 'S', "oneshot", AT(once), NULL, "With EPOLLONESHOT."),
	OPT(OPT_FLAG, 'E', "edge", AT(edge), NULL, "With EPOLLET."),
	OPT(OPT_FLAG, 'B', "nonblocking", AT(no_wait), NULL, "Don't block in epoll_wait."),
	OPT_END,
};
static const struct opt ctl_opts[] = {COMMON_OPTS, OPT_END};
static const struct epoll_options defaults = {.runtime = 8, .fds = 64};

const struct bench bench_epoll_wait = {
	BENCH_NAMES("epoll", "wait"),
	.summary = "Benchmark epoll concurrent epoll_waits",
	.opts = wait_opts,
	.opts_size = sizeof(struct epoll_options),
	.defaults = &defaults,
	.run = run_wait,
};
const struct bench bench_epoll_ctl = {
	BENCH_NAMES("epoll", "ctl"),
	.summary = "Benchmark epoll concurrent epoll_ctls",
	.opts = ctl_opts,
	.opts_size = sizeof(struct epoll_options),
	.defaults = &defaults,
	.run = run_ctl,
};
