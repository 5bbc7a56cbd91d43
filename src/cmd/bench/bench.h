// SPDX-License-Identifier: GPL-2.0-or-later
// What the benchmarks share. The layout of their results is perf bench's.
#pragma once
#include "base/opt.h"
#include "base/out.h"
#include <stdint.h>

struct bench_common {
	struct out *out;
	bool simple;	 // only the number
	unsigned repeat; // 0: not given
};

struct bench {
	const char *collection, *name, *path, *usage, *summary;
	const struct opt *opts;
	size_t opts_size;
	// Has parsed `options`. The exit status, or negative with a sentence.
	int (*run)(const struct bench_common *common, void *options);
	// What options are before they are parsed, copied; NULL: zeros.
	const void *defaults;
};

#define BENCH_NAMES(of, called)                                                                    \
	.collection = of, .name = called, .path = of " " called,                                   \
	.usage = "sonde bench " of " " called " [options]"

extern const struct bench bench_messaging, bench_pipe, bench_syscall, bench_memcpy, bench_memset,
	bench_futex_hash, bench_futex_wake, bench_epoll_wait, bench_epoll_ctl;

uint64_t bench_now_ns(void);
// "     Total time: 1.234 [sec]", or the number alone.
void bench_put_total(const struct bench_common *common, uint64_t ns);
// Time for one and how many a second, as perf bench shows them.
void bench_put_rate(const struct bench_common *common, uint64_t ns, uint64_t n);

// Threads that begin together and count until they are told to stop. Each gets one of these.
struct bench_worker {
	unsigned index;
	uint64_t ops, more_ops[2];
	void *state;
	struct bench_crew *crew;
};
struct bench_crew {
	void (*work)(struct bench_worker *worker); // returns when crew->stop is set
	unsigned threads_n;
	bool bind;	// each to a CPU of its own
	double seconds; // that they really ran
	struct bench_worker *workers;
	int stop; // atomic
	void *shared;
};
static inline bool bench_stopped(const struct bench_crew *crew)
{
	return __atomic_load_n(&crew->stop, __ATOMIC_RELAXED);
}
// Runs them for so many seconds; SIGINT ends it early. -errno with a sentence. The caller frees crew->workers.
int bench_crew_run(struct bench_crew *crew, unsigned seconds);
// CPUs that this process may use.
unsigned bench_cpus(void);
