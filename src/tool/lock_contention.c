// SPDX-License-Identifier: GPL-2.0-or-later
// Who waits for the kernel's locks, as perf lock contention shows it.
#include "base/err.h"
#include "tool/core/callers.h"
#include "tool/core/locks.h"
#include "tool/core/tool.h"

enum { CALLER_FRAMES = 8 };
enum { KEY_CALLERS, KEY_FLAGS, KEY_CGROUP = KEY_CALLERS };
enum { CELL_CONTENDED, CELL_TOTAL, CELL_MAX, CELL_MIN, CELL_AVG };

struct contention {
	struct prof_options common;
	const char *key;
	uint64_t entries, max_stack;
	bool by_cgroup, perfs;
};

static const struct opt options[] = {
	PROF_HEADING("What to show"),
	PROF_TEXT('k', "key", offsetof(struct contention, key), "NAME",
		  "sorted by contended, wait_total (default), wait_max, wait_min or avg_wait"),
	PROF_U64('E', "entries", offsetof(struct contention, entries), "N", "only the first N"),
	PROF_U64(0, "max-stack", offsetof(struct contention, max_stack), "N",
		 "waits are told apart by N frames (default 8, at most 32)"),
	PROF_FLAG('g', "lock-cgroup", offsetof(struct contention, by_cgroup),
		  "a row for each control group, not for each caller"),
	PROF_TEXT('i', "input", PROF_AT(from), "FILE", "a recording, of perf lock record or --to"),
	TOOL_IS_SO('a', "all-cpus", offsetof(struct contention, perfs)),
	TOOL_IS_SO('b', "use-bpf", offsetof(struct contention, perfs)),
	TOOL_OPTIONS,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde lock contention 5 1", "which callers waited for locks in these five seconds",
	 "sonde lock contention 0.1 1 || exit 77"},
	{0},
};

static const char *const sort_keys[] = {[CELL_CONTENDED] = "contended",
					[CELL_TOTAL] = "wait_total",
					[CELL_MAX] = "wait_max",
					[CELL_MIN] = "wait_min",
					[CELL_AVG] = "avg_wait"};

static uint32_t sorted_by(const struct contention *o)
{
	uint32_t i = 0;

	while (i < ARRAY_SIZE(sort_keys) && strcmp(sort_keys[i], o->key ? o->key : "wait_total"))
		i++;
	return i;
}

static int plan(struct tool_run *run)
{
	const struct contention *o = run->options;
	const uint64_t frames = o->max_stack ? o->max_stack : CALLER_FRAMES;

	if (frames > TALLY_STACK_MAX)
		return fail(EINVAL, "--max-stack %llu is more than %d", (unsigned long long)frames,
			    TALLY_STACK_MAX);
	if (sorted_by(o) == ARRAY_SIZE(sort_keys))
		return fail(EINVAL,
			    "-k %s: contended, wait_total, wait_max, wait_min and avg_wait can be sorted by",
			    o->key);
	if (o->by_cgroup) {
		tool_key(run, (struct tally_key){TALLY_CGROUP, .first = true}, "");
	} else {
		tool_key(run, (struct tally_key){TALLY_STACK, (uint32_t)frames, .first = true}, "");
		tool_key(run, (struct tally_key){TALLY_NUMBER, .first = true, .label = true},
			 "flags");
	}
	tool_cell(run, TALLY_HITS, NULL);
	tool_cell(run, TALLY_SUM, TALLY_DELAY);
	tool_cell(run, TALLY_MAX, TALLY_DELAY);
	tool_cell(run, TALLY_MIN, TALLY_DELAY);
	tool_cell(run, TALLY_SUM, NULL);
	tool_callers_of_locks(run);
	return tool_events(run, tool_lock_waits);
}

// include/trace/events/lock.h, LCB_F_...; the names are perf's.
static void type_name(void *run_, size_t row, uint32_t key, struct out *out)
{
	static const char *const names[] = {
		[0] = "semaphore",   [1] = "spinlock",	   [2] = "rwsem:R",
		[3] = "rwlock:R",    [4] = "rwsem:W",	   [5] = "rwlock:W",
		[8] = "rtmutex",     [10] = "rwlock-rt:R", [12] = "rwlock-rt:W",
		[18] = "pcpu-sem:R", [20] = "pcpu-sem:W",  [32] = "mutex",
		[33] = "mutex",
	};
	const struct tool_run *run = run_;
	const uint64_t flags = tally_number(run->prof->tally, row, key);

	out_text(out, flags < ARRAY_SIZE(names) && names[flags] ? names[flags] : "unknown");
}

static int show(struct tool_run *run, uint64_t now_ns)
{
#define WAITS                                                                                      \
	{{"contended", NULL, TABLE_COUNT, 10}, CELL_CONTENDED},                                    \
		{{"total wait", "total_wait_ns", TABLE_TIME, 12}, CELL_TOTAL},                     \
		{{"max wait", "max_wait_ns", TABLE_TIME, 12}, CELL_MAX},                           \
	{                                                                                          \
		{"avg wait", "avg_wait_ns", TABLE_TIME, 12}, CELL_AVG                              \
	}
	static const struct tally_column by_cgroup[] = {
		WAITS,
		{{"cgroup", NULL, TABLE_TEXT, .between = "   ", .left = true},
		 KEY_CGROUP,
		 true,
		 tool_cgroup_name},
	};
	static const struct tally_column columns[] = {
		WAITS,
		{{"type", NULL, TABLE_TEXT, 10, .between = "   "}, KEY_FLAGS, true, type_name},
		{{"caller", NULL, TABLE_TEXT, .between = "   ", .left = true},
		 KEY_CALLERS,
		 true,
		 tool_caller_name},
	};
	const struct contention *o = run->options;
	const struct tally_order order = {sorted_by(o), false};
	struct tally *tally = run->prof->tally;

	for (size_t i = 0; i < tally_rows(tally); i++)
		*tally_cell_at(tally, i, CELL_AVG) = tally_cell(tally, i, CELL_TOTAL) /
						     MAX(tally_cell(tally, i, CELL_CONTENDED), 1u);
	return tool_show_table(run, now_ns,
			       (struct tally_view){.columns = o->by_cgroup ? by_cgroup : columns,
						   .columns_n = o->by_cgroup ? ARRAY_SIZE(by_cgroup)
									     : ARRAY_SIZE(columns),
						   .order = &order,
						   .order_n = 1,
						   .most = o->entries});
}

const struct tool tool_lock_contention = {
	.name = "lock contention",
	.summary = "Who waits for the kernel's locks",
	.usage = "sonde lock contention [-g] [-k KEY] [-E N] [-i FILE] [options] [INTERVAL [COUNT]]",
	.description =
		"How often and how long was waited for locks, by the functions that took them: at Ctrl-C, or every INTERVAL seconds, COUNT times. "
		"The caller is the first function that is none of the kernel's locks'. Since Linux 5.19.",
	.opts = options,
	.opts_size = sizeof(struct contention),
	.examples = examples,
	.symbols = true,
	.gap = true,
	.tells_open = true,
	.pairs = "waits",
	.plan = plan,
	.show = show,
};
