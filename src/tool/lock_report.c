// SPDX-License-Identifier: GPL-2.0-or-later
// Which of the kernel's locks were waited for, of a recording, as perf lock report shows it.
#include "base/err.h"
#include "tool/core/callers.h"
#include "tool/core/locks.h"
#include "tool/core/tool.h"

enum { KEY_WHO, KEY_CALLERS };
enum { CELL_ACQUIRED, CELL_CONTENDED, CELL_AVG, CELL_TOTAL, CELL_MAX, CELL_MIN, CELL_OPEN, CELLS };
enum { CALLER_FRAMES = 8, NAME_SHOWN = 19, NAME_CUT = 16 };

struct report {
	struct prof_options common;
	const char *key, *fields;
	uint64_t entries;
	bool by_thread;
};

static const struct opt options[] = {
	PROF_HEADING("What to show"),
	PROF_TEXT('k', "key", offsetof(struct report, key), "NAME",
		  "sorted by acquired (default), contended, avg_wait, wait_total, wait_max or wait_min"),
	PROF_TEXT('F', "field", offsetof(struct report, fields), "NAMES",
		  "only these columns, by the same names, and what is sorted by"),
	PROF_U64('E', "entries", offsetof(struct report, entries), "N", "only the first N"),
	PROF_FLAG('t', "threads", offsetof(struct report, by_thread), "a row for each thread"),
	PROF_TEXT('i', "input", PROF_AT(from), "FILE", "a recording (default: perf.data)"),
	TOOL_OPTIONS,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde lock record -- COMMAND && sonde lock report", "which locks a command waited for",
	 "sonde lock record -q -o lock.data -- true && sonde lock report -i lock.data || exit 77"},
	{0},
};

static const struct tally_column columns[] = {
	{{"acquired", "acquired", TABLE_COUNT, 10}, CELL_ACQUIRED},
	{{"contended", "contended", TABLE_COUNT, 10}, CELL_CONTENDED},
	{{"avg wait", "avg_wait_ns", TABLE_TIME, 12}, CELL_AVG},
	{{"total wait", "total_wait_ns", TABLE_TIME, 12}, CELL_TOTAL},
	{{"max wait", "max_wait_ns", TABLE_TIME, 12}, CELL_MAX},
	{{"min wait", "min_wait_ns", TABLE_TIME, 12}, CELL_MIN},
};
static const char *const names[] = {"acquired",	  "contended", "avg_wait",
				    "wait_total", "wait_max",  "wait_min"};

// The column of that name; ARRAY_SIZE(names): none is.
static uint32_t column_of(struct str name)
{
	uint32_t i = 0;

	while (i < ARRAY_SIZE(names) && !str_is(name, names[i]))
		i++;
	return i;
}

static int check_names(const struct report *o)
{
	struct str left = str_of(o->fields ? o->fields : ""), name;

	if (o->key && column_of(str_of(o->key)) == ARRAY_SIZE(names))
		return fail(EINVAL,
			    "-k %s: acquired, contended, avg_wait, wait_total, wait_max and wait_min can be sorted by",
			    o->key);
	while (left.n) {
		name = str_cut(&left, ',');
		if (column_of(name) == ARRAY_SIZE(names))
			return fail(EINVAL,
				    "-F %.*s: the columns are acquired, contended, avg_wait, wait_total, wait_max and wait_min",
				    (int)name.n, name.p);
	}
	return 0;
}

static int plan(struct tool_run *run)
{
	const struct report *o = run->options;
	int err = check_names(o);

	if (err < 0)
		return err;
	tool_key(run, (struct tally_key){TALLY_NUMBER, .first = true},
		 o->by_thread ? "_tid" : "(unsigned long)lock_addr");
	tool_key(run, (struct tally_key){TALLY_STACK, CALLER_FRAMES, .first = true, .label = true},
		 "");
	tool_cell(run, TALLY_HITS, NULL);
	tool_cell(run, TALLY_SUM, NULL); // contended and the mean: see show
	tool_cell(run, TALLY_SUM, NULL);
	tool_cell(run, TALLY_SUM, TALLY_DELAY);
	tool_cell(run, TALLY_MAX, TALLY_DELAY);
	tool_cell(run, TALLY_MIN, TALLY_DELAY);
	tool_cell(run, TALLY_OUTSTANDING, NULL);
	tool_callers_of_locks(run);
	return tool_events(run, tool_lock_waits);
}

// A lock goes by who waited for it first: most have no name in the kernel.
static void put_name(void *run_, size_t row, uint32_t key, struct out *out)
{
	struct tool_run *run = run_;
	const uint64_t who = tally_number(run->prof->tally, row, KEY_WHO);
	const bool is_text = !run->prof->options->format;
	struct out name;

	out_init_memory(&name);
	if (!((const struct report *)run->options)->by_thread)
		tool_caller_name(run, row, KEY_CALLERS, &name);
	else
		out_text(&name, prof_comm(run->prof, UINT32_MAX, (uint32_t)who));
	if (is_text && name.n > NAME_SHOWN) {
		name.n = NAME_CUT;
		out_text(&name, "...");
	}
	out_bytes(out, name.buf, name.n);
	out_done(&name);
}

// Those that are wanted, in their order; then what is sorted by.
static uint32_t choose(const struct report *o, uint32_t sorted_by, struct tally_column *ret)
{
	struct str left = str_of(o->fields ? o->fields : "");
	bool has[ARRAY_SIZE(names)] = {0};
	uint32_t n = 0, i;

	ret[n++] = (struct tally_column){{"Name", "name", TABLE_TEXT, 20}, KEY_WHO, true, put_name};
	if (!o->fields) {
		memcpy(&ret[n], columns, sizeof(columns));
		return n + (uint32_t)ARRAY_SIZE(columns);
	}
	while (left.n) {
		i = column_of(str_cut(&left, ','));
		if (!has[i])
			ret[n++] = columns[i];
		has[i] = true;
	}
	if (!has[sorted_by])
		ret[n++] = columns[sorted_by];
	return n;
}

static int show(struct tool_run *run, uint64_t now_ns)
{
	const struct report *o = run->options;
	const uint32_t sorted_by = o->key ? column_of(str_of(o->key)) : CELL_ACQUIRED;
	const struct tally_order order = {sorted_by, false};
	struct tally_column chosen[1 + ARRAY_SIZE(columns)];
	struct tally *tally = run->prof->tally;
	uint32_t n;

	for (size_t i = 0; i < tally_rows(tally); i++) {
		const uint64_t acquired = tally_cell(tally, i, CELL_ACQUIRED);

		*tally_cell_at(tally, i, CELL_CONTENDED) = acquired + tally_cell(tally, i, CELL_OPEN);
		*tally_cell_at(tally, i, CELL_AVG) =
			tally_cell(tally, i, CELL_TOTAL) / MAX(acquired, 1u);
		if (!acquired)
			*tally_cell_at(tally, i, CELL_MIN) = 0;
	}
	n = choose(o, sorted_by, chosen);
	return tool_show_table(run, now_ns,
			       (struct tally_view){.columns = chosen,
						   .columns_n = n,
						   .order = &order,
						   .order_n = 1,
						   .most = o->entries});
}

const struct tool tool_lock_report = {
	.name = "lock report",
	.summary = "Which of the kernel's locks were waited for",
	.usage = "sonde lock report [-k KEY] [-F NAMES] [-E N] [-t] [-i FILE] [options]",
	.description =
		"What sonde lock record kept: a row for each lock, named by the function that first waited for it (the first that is none of the "
		"kernel's locks'). contended: how often a wait began; acquired: how often it ended.",
	.opts = options,
	.opts_size = sizeof(struct report),
	.examples = examples,
	.recorded = true,
	.symbols = true,
	.gap = true,
	.tells_open = true,
	.pairs = "waits",
	.plan = plan,
	.show = show,
};
