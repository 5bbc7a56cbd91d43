// SPDX-License-Identifier: GPL-2.0-or-later
// Benchmarks of the kernel and of memory, with perf bench's names, options and layout.
#include "cmd/bench/bench.h"
#include "base/alloc.h"
#include "base/err.h"
#include "cmd/core/command.h"
#include "cmd/core/help.h"
#include "cmd/core/rows.h"
#include <stdio.h>

static const struct bench *const benches[] = {
	&bench_messaging,  &bench_pipe,	      &bench_syscall,	 &bench_memcpy,	   &bench_memset,
	&bench_futex_hash, &bench_futex_wake, &bench_epoll_wait, &bench_epoll_ctl,
};

static const struct {
	const char *name, *summary;
} collections[] = {
	{"sched", "Scheduler and IPC benchmarks"}, {"syscall", "System call benchmarks"},
	{"mem", "Memory access benchmarks"},	   {"futex", "Futex stressing benchmarks"},
	{"epoll", "Epoll stressing benchmarks"},
};

struct options {
	const char *format;
	unsigned repeat;
};

static const struct opt opts[] = {
	OPT(OPT_TEXT, 'f', "format", offsetof(struct options, format), "default|simple",
	    "simple: only the number."),
	OPT(OPT_U32, 'r', "repeat", offsetof(struct options, repeat), "N",
	    "How often those benchmarks run that repeat (10).", .least = OPT_ABOVE_ZERO),
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde bench sched pipe", "how long two processes take to wake each other up",
	 "sonde bench sched pipe -l 1000"},
	{"sonde bench syscall basic -l 100000", "what a system call costs"},
	{"sonde record -a -e 'sched:*' -- sonde bench sched messaging", "a load to look at",
	 "sonde bench -f simple sched messaging -g 1 -l 10"},
	{"sonde bench mem memcpy -s 16MB", "how fast memory is copied"},
	{0},
};

static int run(int argc, char **argv);
static bool sub(size_t i, struct command *ret);

const struct command command_bench = {
	.name = "bench",
	.summary = "Benchmarks of the scheduler, system calls, memory, futexes, epoll",
	.usage = "sonde bench [common options] COLLECTION BENCHMARK [options]",
	.description =
		"The collections: sched (messaging, pipe), syscall (basic), mem (memcpy, memset), futex (hash, wake), epoll (wait, "
		"ctl). COLLECTION alone lists its benchmarks, COLLECTION all runs them, all runs all.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.sub = sub,
	.run = run,
};

// The benchmark as a command, for its help and its options.
static struct command bench_command(const struct bench *bench)
{
	return (struct command){.name = bench->path,
				.summary = bench->summary,
				.usage = bench->usage,
				.opts = bench->opts,
				.opts_size = bench->opts_size,
				.family = COMMAND_PERF};
}

static bool sub(size_t i, struct command *ret)
{
	if (i >= ARRAY_SIZE(benches))
		return false;
	*ret = bench_command(benches[i]);
	return true;
}

static void list_collections(struct out *out)
{
	out_text(out,
		 "Usage: \n\tsonde bench [<common options>] <collection> <benchmark> [<options>]\n\n"
		 "        # List of all available benchmark collections:\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(collections); i++)
		out_printf(out, "%14s: %s\n", collections[i].name, collections[i].summary);
	out_printf(out, "%14s: %s\n\n", "all", "All benchmarks");
}

static void list_benches(struct out *out, const char *collection)
{
	out_printf(out, "\n        # List of available benchmarks for collection '%s':\n\n",
		   collection);
	for (size_t i = 0; i < ARRAY_SIZE(benches); i++)
		if (!strcmp(benches[i]->collection, collection))
			out_printf(out, "%14s: %s\n", benches[i]->name, benches[i]->summary);
	out_printf(out, "%14s: Run all %s benchmarks\n\n", "all", collection);
}

static int run_one(const struct bench_common *common, const struct bench *bench, int argc, char **argv)
{
	auto_free void *options = xcalloc(1, bench->opts_size);
	struct command command = bench_command(bench);
	int n;

	if (bench->defaults)
		memcpy(options, bench->defaults, bench->opts_size);
	n = command_parse(&command, options, argv, 0);
	if (n < 0)
		return n;
	if (n)
		return fail(COMMAND_USAGE, "'%s' is too much", argv[1]);
	return bench->run(common, options);
}

static int run_all(const struct bench_common *common, const char *collection)
{
	int status = 0;

	for (size_t i = 0; i < ARRAY_SIZE(benches) && status >= 0; i++) {
		char name[64];
		char *argv[] = {name, NULL};

		if (collection && strcmp(benches[i]->collection, collection))
			continue;
		snprintf(name, sizeof(name), "%s/%s", benches[i]->collection, benches[i]->name);
		out_printf(common->out, "# Running %s benchmark...\n", name);
		out_flush(common->out);
		status = run_one(common, benches[i], 1, argv);
		out_char(common->out, '\n');
	}
	return status;
}

static int run_named(const struct bench_common *common, int argc, char **argv)
{
	const char *collection = argv[0], *name = argc > 1 ? argv[1] : NULL;
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(benches); i++) {
		const struct bench *bench = benches[i];

		if (strcmp(bench->collection, collection))
			continue;
		known = true;
		if (!name || strcmp(bench->name, name))
			continue;
		if (!common->simple)
			out_printf(common->out, "# Running '%s/%s' benchmark:\n", collection, name);
		out_flush(common->out);
		return run_one(common, bench, argc - 1, argv + 1);
	}
	if (!known) {
		out_printf(common->out, "Unknown collection: '%s'\n", collection);
		return 1;
	}
	if (!name) {
		list_benches(common->out, collection);
		return 0;
	}
	if (!strcmp(name, "all"))
		return run_all(common, collection);
	out_printf(common->out, "Unknown benchmark: '%s' for collection '%s'\n", name, collection);
	return 1;
}

static int run(int argc, char **argv)
{
	struct options options = {.format = "default"};
	struct bench_common common = {0};
	struct out out;
	int n = command_parse(&command_bench, &options, argv, OPT_STOP_AT_WORD), err, closed;

	if (n < 0)
		return n;
	if (strcmp(options.format, "default") && strcmp(options.format, "simple"))
		return fail(COMMAND_USAGE, "there is no format '%s': default and simple are known",
			    options.format);
	out_init_fd(&out, STDOUT_FILENO);
	common.out = &out;
	common.simple = !strcmp(options.format, "simple");
	common.repeat = options.repeat;
	if (!n) {
		list_collections(&out);
		err = 0;
	} else if (!strcmp(argv[1], "all") && n == 1) {
		err = run_all(&common, NULL);
	} else {
		err = run_named(&common, n, argv + 1);
	}
	auto_free char *sentence = xstrdup(err_sentence());
	closed = out_close(&out, "standard output");
	out_done(&out);
	if (err < 0 && *sentence)
		return fail_again(err, sentence);
	return err < 0 ? err : closed < 0 ? closed : err;
}
