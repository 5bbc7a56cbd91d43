// SPDX-License-Identifier: GPL-2.0-or-later
// perf's `lock`: records here; what was recorded, and what happens now, tools show (src/tool).
#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include "cmd/core/command.h"
#include "cmd/core/record/record.h"
#include <string.h>

extern const struct command command_lock;

static const struct command_example examples[] = {
	{"sonde lock record -- COMMAND", "each wait of a command for the kernel's locks",
	 "sonde lock record -q -o lock.data -- true || exit 77"},
	{"sonde lock record -a -- sleep 10", "of all for ten seconds",
	 "sonde lock record -q -a -o lock.data -- sleep 0.1 || exit 77"},
	{0},
};

// As perf lock record does it: each wait, with the callers that name the lock.
static int record(int argc, char **argv)
{
	static const char *const events[] =
		{"lock:contention_begin,lock:contention_end",
		 "lock:lock_acquire,lock:lock_acquired,lock:lock_contended,lock:lock_release"};
	enum { FRAMES = 8 };
	auto_free const char **line = xcalloc((size_t)argc + 2, sizeof(*line));
	struct record_options record;
	int err = -ENOENT;

	line[0] = "lock";
	memcpy(line + 1, argv, (size_t)argc * sizeof(*line));
	for (size_t i = 0; err < 0 && i < ARRAY_SIZE(events); i++) {
		record_options_init(&record);
		err = record_opt_event(&record, NULL, events[i], false);
		if (err < 0)
			event_specs_done(&record.specs);
	}
	if (err < 0)
		return fail_context(err, "this kernel tells nothing of waits for locks");
	record.command_line = line;
	record.raw = true;
	record.mmap_pages = 1024;
	record.count = 1;
	record.call_graph = CALL_GRAPH_FP;
	record.max_stack = FRAMES;
	record.synth.task = true;
	return record_typed(&record, argc, argv);
}

// The tool of two words.
static int run_tool(int argc, char **argv)
{
	auto_free char **words = xcalloc((size_t)argc + 3, sizeof(*words));
	auto_free char *owner_name = xstrdup("tool"), *name = xstrdup("lock");
	struct command sub;
	const struct command *owner;

	words[0] = owner_name;
	words[1] = name;
	memcpy(words + 2, argv, (size_t)argc * sizeof(*words));
	owner = command_of_sub(words + 1, &sub);
	if (owner)
		return owner->run(argc + 2, words);
	return fail(COMMAND_USAGE,
		    "there is no 'lock %s'; there are lock record, lock report and lock contention",
		    argv[0]);
}

// perf takes options of all before the word: they go behind it.
static void move_options(int argc, char **argv)
{
	int n = 0;

	while (n < argc && argv[n][0] == '-')
		n += !strcmp(argv[n], "-i") || !strcmp(argv[n], "--input") ? 2 : 1;
	for (int i = n; i > 0 && n < argc; i--) {
		char *kept = argv[i];

		argv[i] = argv[i - 1];
		argv[i - 1] = kept;
	}
}

static int run(int argc, char **argv)
{
	if (argc < 2 || !strcmp(argv[1], "-h")) {
		int err = command_parse(&command_lock, NULL, argv, 0);

		return err < 0 ? err
			       : fail(COMMAND_USAGE, "lock record, lock report or lock contention?");
	}
	move_options(argc - 1, argv + 1);
	if (text_starts("record", argv[1]) && strlen(argv[1]) >= 3)
		return record(argc - 1, argv + 1);
	return run_tool(argc - 1, argv + 1);
}

const struct command command_lock = {
	.name = "lock",
	.summary = "Records waits for the kernel's locks (lock record), for lock report",
	.usage = "sonde lock record [options of record] [-- COMMAND [ARGS]]\n"
		 "sonde lock report [options]\n"
		 "sonde lock contention [options] [INTERVAL [COUNT]]",
	.description =
		"lock record keeps when a wait for a lock begins and ends (lock:contention_begin and lock:contention_end, since Linux 5.19) with "
		"the callers; it takes the options of record. lock report shows such a recording by locks, lock contention by callers, or what "
		"happens now.",
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};
