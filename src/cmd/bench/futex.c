// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's table of futexes, and waking up those who wait for one. futex(2).
#include "base/alloc.h"
#include "base/err.h"
#include "agg/spread.h"
#include "cmd/bench/bench.h"
#include "cmd/core/rows.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

struct futex_options {
	unsigned runtime, threads, futexes, wakes;
	bool silent, shared, lock;
};

static long futex(uint32_t *word, int operation, uint32_t value, bool shared)
{
	return syscall(SYS_futex, word, operation | (shared ? 0 : FUTEX_PRIVATE_FLAG), value, NULL,
		       NULL, 0);
}

static int lock_memory(const struct futex_options *options)
{
	if (options->lock && mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		return fail(errno, "can't lock the memory: %s", strerror(errno));
	return 0;
}

// ---- hash

static void hash_work(struct bench_worker *worker)
{
	enum { OTHER_VALUE = 1234 }; // so that the wait ends at once, behind the look-up
	const struct futex_options *options = worker->crew->shared;
	uint32_t *words = worker->state;

	while (!bench_stopped(worker->crew)) {
		for (unsigned i = 0; i < options->futexes; i++)
			futex(&words[i], FUTEX_WAIT, OTHER_VALUE, options->shared);
		worker->ops += options->futexes;
	}
}

static int run_hash(const struct bench_common *common, void *at)
{
	struct futex_options *options = at;
	struct bench_crew crew = {.work = hash_work, .bind = true, .shared = options};
	struct spread spread = {0};
	int err = lock_memory(options);

	if (err < 0)
		return err;
	crew.threads_n = options->threads ? options->threads : bench_cpus();
	crew.workers = xcalloc(crew.threads_n, sizeof(*crew.workers));
	for (unsigned i = 0; i < crew.threads_n; i++)
		crew.workers[i].state = xcalloc(options->futexes + 1, sizeof(uint32_t));
	out_printf(common->out,
		   "Run summary [PID %d]: %u threads, each operating on %u [%s] futexes for %u secs.\n\n",
		   getpid(), crew.threads_n, options->futexes,
		   options->shared ? "shared" : "private", options->runtime);
	out_flush(common->out);
	err = bench_crew_run(&crew, options->runtime);
	if (err < 0)
		return err;
	for (unsigned i = 0; i < crew.threads_n; i++) {
		uint64_t rate = (uint64_t)((double)crew.workers[i].ops / crew.seconds);
		uint32_t *words = crew.workers[i].state;

		spread_add(&spread, (double)rate);
		if (!options->silent)
			out_printf(common->out, "[thread %2u] futexes: %p ... %p [ %llu ops/sec ]\n",
				   i, (void *)words, (void *)&words[options->futexes - 1],
				   (unsigned long long)rate);
		free(words);
	}
	out_printf(common->out, "%sAveraged %llu operations/sec (+- %.2f%%), total secs = %u\n",
		   options->silent ? "" : "\n", (unsigned long long)spread.mean,
		   spread_percent(&spread), (unsigned)(crew.seconds + 0.5));
	free(crew.workers);
	return 0;
}

// ---- wake

struct sleepers {
	const struct futex_options *options;
	uint32_t word;
	unsigned waiting; // atomic: about to wait
};

static void *sleep_until_woken(void *arg)
{
	struct sleepers *sleepers = arg;

	__atomic_add_fetch(&sleepers->waiting, 1, __ATOMIC_RELAXED);
	while (futex(&sleepers->word, FUTEX_WAIT, 0, sleepers->options->shared) < 0 && errno == EINTR)
		;
	return NULL;
}

static int wake_once(struct sleepers *sleepers, unsigned threads_n, uint64_t *ret_ns,
		     unsigned *ret_woken)
{
	auto_free pthread_t *threads = xcalloc(threads_n, sizeof(*threads));
	unsigned woken = 0;

	sleepers->waiting = 0;
	for (unsigned i = 0; i < threads_n; i++) {
		int error = pthread_create(&threads[i], NULL, sleep_until_woken, sleepers);

		if (error)
			return fail(error, "can't start thread %u of %u: %s", i + 1, threads_n,
				    strerror(error));
	}
	while (__atomic_load_n(&sleepers->waiting, __ATOMIC_RELAXED) < threads_n)
		usleep(1000);
	usleep(100000); // from there into the wait
	uint64_t begin_ns = bench_now_ns();
	while (woken < threads_n) {
		long n = futex(&sleepers->word, FUTEX_WAKE, sleepers->options->wakes,
			       sleepers->options->shared);

		if (n > 0)
			woken += (unsigned)n;
	}
	*ret_ns = bench_now_ns() - begin_ns;
	*ret_woken = woken;
	for (unsigned i = 0; i < threads_n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int run_wake(const struct bench_common *common, void *at)
{
	const struct futex_options *options = at;
	struct sleepers sleepers = {.options = options};
	unsigned threads_n = options->threads ? options->threads : bench_cpus();
	unsigned repeat = common->repeat ? common->repeat : 10;
	struct spread times = {0}, counts = {0};
	int err = lock_memory(options);

	if (err < 0)
		return err;
	out_printf(common->out,
		   "Run summary [PID %d]: blocking on %u threads (at [%s] futex %p), waking up %u at a time.\n\n",
		   getpid(), threads_n, options->shared ? "shared" : "private",
		   (void *)&sleepers.word, options->wakes);
	for (unsigned i = 0; i < repeat; i++) {
		unsigned woken = 0;
		uint64_t ns = 0;

		err = wake_once(&sleepers, threads_n, &ns, &woken);
		if (err < 0)
			return err;
		spread_add(&times, (double)ns / 1e6);
		spread_add(&counts, woken);
		if (!options->silent)
			out_printf(common->out, "[Run %u]: Wokeup %u of %u threads in %.4f ms\n",
				   i + 1, woken, threads_n, (double)ns / 1e6);
		out_flush(common->out);
	}
	out_printf(common->out, "Wokeup %u of %u threads in %.4f ms (+-%.2f%%)\n",
		   (unsigned)counts.mean, threads_n, times.mean, spread_percent(&times));
	return 0;
}

#define COMMON_OPTS                                                                                \
	OPT(OPT_U32, 't', "threads", offsetof(struct futex_options, threads), "N",                 \
	    "How many threads; default: one for each CPU."),                                       \
		OPT(OPT_FLAG, 's', "silent", offsetof(struct futex_options, silent), NULL,         \
		    "Only the sum."),                                                              \
		OPT(OPT_FLAG, 'S', "shared", offsetof(struct futex_options, shared), NULL,         \
		    "Futexes that processes could share."),                                        \
		OPT(OPT_FLAG, 'm', "mlockall", offsetof(struct futex_options, lock), NULL,         \
		    "Lock all memory.")

static const struct opt hash_opts[] = {
	COMMON_OPTS,
	OPT(OPT_U32, 'r', "runtime", offsetof(struct futex_options, runtime), "SECONDS",
	    "How long (10)."),
	OPT(OPT_U32, 'f', "futexes", offsetof(struct futex_options, futexes), "N",
	    "How many futexes each thread has (1024).", .least = OPT_ABOVE_ZERO),
	OPT_END,
};
static const struct opt wake_opts[] = {
	COMMON_OPTS,
	OPT(OPT_U32, 'w', "nwakes", offsetof(struct futex_options, wakes), "N",
	    "How many to wake up at once (1).", .least = OPT_ABOVE_ZERO),
	OPT_END,
};
static const struct futex_options defaults = {.runtime = 10, .futexes = 1024, .wakes = 1};

const struct bench bench_futex_hash = {
	BENCH_NAMES("futex", "hash"),
	.summary = "Benchmark for futex hash table",
	.opts = hash_opts,
	.opts_size = sizeof(struct futex_options),
	.defaults = &defaults,
	.run = run_hash,
};
const struct bench bench_futex_wake = {
	BENCH_NAMES("futex", "wake"),
	.summary = "Benchmark for futex wake calls",
	.opts = wake_opts,
	.opts_size = sizeof(struct futex_options),
	.defaults = &defaults,
	.run = run_wake,
};
