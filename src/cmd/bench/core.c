// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "base/err.h"
#include "base/time.h"
#include "cmd/bench/bench.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>

uint64_t bench_now_ns(void)
{
	return time_now_ns(CLOCK_MONOTONIC);
}

static void put_seconds(struct out *out, uint64_t ns)
{
	out_printf(out, "%llu.%03llu", (unsigned long long)(ns / NSEC_PER_SEC),
		   (unsigned long long)(ns / 1000000 % 1000));
}

void bench_put_total(const struct bench_common *common, uint64_t ns)
{
	if (!common->simple)
		out_printf(common->out, " %14s: ", "Total time");
	put_seconds(common->out, ns);
	out_text(common->out, common->simple ? "\n" : " [sec]\n");
}

void bench_put_rate(const struct bench_common *common, uint64_t ns, uint64_t n)
{
	double us = (double)ns / 1000;

	if (common->simple)
		return;
	out_printf(common->out, "\n %14lf usecs/op\n", n ? us / (double)n : 0);
	out_printf(common->out, " %14llu ops/sec\n",
		   (unsigned long long)(us > 0 ? (double)n / (us / 1e6) : 0));
}

unsigned bench_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
}

static void bind_to_nth(unsigned nth)
{
	cpu_set_t set, one;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	nth %= (unsigned)CPU_COUNT(&set);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &set) || nth--)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		return;
	}
}

struct start {
	struct bench_worker *worker;
	pthread_barrier_t *barrier;
};

static void *thread_main(void *arg)
{
	struct start *start = arg;

	if (start->worker->crew->bind)
		bind_to_nth(start->worker->index);
	pthread_barrier_wait(start->barrier);
	start->worker->crew->work(start->worker);
	return NULL;
}

int bench_crew_run(struct bench_crew *crew, unsigned seconds)
{
	auto_free pthread_t *threads = xcalloc(crew->threads_n, sizeof(*threads));
	auto_free struct start *starts = xcalloc(crew->threads_n, sizeof(*starts));
	struct timespec wait = {.tv_sec = seconds};
	pthread_barrier_t barrier;
	sigset_t interrupt, old;
	unsigned made = 0;
	int error = 0;

	if (!crew->workers)
		crew->workers = xcalloc(crew->threads_n, sizeof(*crew->workers));
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigaddset(&interrupt, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &interrupt, &old);
	pthread_barrier_init(&barrier, NULL, crew->threads_n + 1);
	for (; made < crew->threads_n; made++) {
		crew->workers[made].index = made;
		crew->workers[made].crew = crew;
		starts[made] = (struct start){&crew->workers[made], &barrier};
		error = pthread_create(&threads[made], NULL, thread_main, &starts[made]);
		if (error)
			break;
	}
	if (error) // those that were made wait at the barrier for ever; the program ends
		return fail(error, "can't start thread %u of %u: %s", made + 1, crew->threads_n,
			    strerror(error));
	pthread_barrier_wait(&barrier);
	uint64_t begin_ns = bench_now_ns();
	sigtimedwait(&interrupt, NULL, &wait);
	__atomic_store_n(&crew->stop, 1, __ATOMIC_RELAXED);
	crew->seconds = (double)(bench_now_ns() - begin_ns) / 1e9;
	for (unsigned i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return 0;
}
