// SPDX-License-Identifier: GPL-2.0-or-later
// Which values of an event's fields come most often, or sum up to most.
#include "base/err.h"
#include "base/log.h"
#include "prof/core/counted.h"
#include "prof/core/print.h"
#include "prof/core/typed.h"
#include <ctype.h>
#include <stdio.h>

struct top {
	struct prof_options common;
	bool only_comm;
	bool any_key, any_comm, all_keys;
	const char *key_title, *name_title;
	uint32_t columns_n, key_n; // key_n: keys of the tally before the name, 0 or 1
	const char *titles[TALLY_CELLS];
	bool by[TALLY_CELLS]; // sorted by before others
	enum tally_cell_kind cells[TALLY_CELLS];
	struct tally_key keys[2];
	struct tally_event *events;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to add up"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT('k', "key", PROF_AT(key), "EXPR", "the key of events that have none of their own"),
	PROF_FLAG(0, "only-comm", offsetof(struct top, only_comm),
		  "by name (attribute comm), whatever the key"),
	PROF_OPTION_NO_BPF,
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof top -e sched:sched_wakeup//key=pid/comm=comm/",
	 "which tasks are woken up most often",
	 "sonde prof top -e sched:sched_wakeup//key=pid/comm=comm/ --from \"$T/data/prof.data.gz\" >out.txt"},
	{"sonde prof top -e 'sched:sched_stat_runtime//key=pid/comm=comm/top-by=\"runtime/1000\"/alias=run(us)/'",
	 "which tasks run longest",
	 "sonde prof top -e 'sched:sched_stat_runtime//key=pid/comm=comm/top-by=\"runtime/1000\"/alias=run(us)/' -i 100 -- sleep 0.2 >out.txt"},
	{"sonde prof top -e raw_syscalls:sys_enter//key=id/", "which system calls",
	 "sonde prof top -e raw_syscalls:sys_enter//key=id/ --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

static const char *upper(struct prof *prof, const char *text)
{
	char *ret = arena_strdup(&prof->arena, str_of(text));

	for (char *p = ret; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return ret;
}

static int add_column(struct prof *prof, struct prof_event *event, const char *expr, bool by)
{
	struct top *top = PROF_STATE(struct top, prof);
	struct tally_event *e = &top->events[event->index];
	struct tally_update *updates = (struct tally_update *)(uintptr_t)e->updates;
	const char *alias = prof_spec_attr(event->spec, "alias");
	const uint32_t at = top->columns_n;

	if (at >= TALLY_CELLS)
		return fail(EINVAL, "more than %d columns", TALLY_CELLS);
	// The alias names the first of an event's columns.
	top->titles[at] =
		upper(prof, expr && (e->updates_n || !alias || !*alias) ? expr : event->label);
	top->by[at] = by;
	top->cells[at] = expr ? TALLY_SUM : TALLY_HITS;
	updates[e->updates_n++] = (struct tally_update){at, expr};
	top->columns_n++;
	return 0;
}

static int check_kind(struct prof *prof, const struct prof_event *event, const char *text,
		      bool *ret_text)
{
	struct event_value value;
	int err = prof_value_init(&value, prof, event, text);

	if (err)
		return err;
	*ret_text = value.is_text;
	event_value_done(&value);
	return 0;
}

static int set_event(struct prof *prof, struct prof_event *event)
{
	struct top *top = PROF_STATE(struct top, prof);
	struct tally_event *e = &top->events[event->index];
	const char *key = prof_spec_attr(event->spec, "key"),
		   *comm = prof_spec_attr(event->spec, "comm");
	bool is_text;
	int err = 0;

	*e = prof_tally_event(event);
	e->updates = arena_zalloc(&prof->arena, TALLY_CELLS * sizeof(*e->updates));
	if (!key || !*key)
		key = prof->options->key;
	if (key && !top->only_comm) {
		err = check_kind(prof, event, key, &is_text);
		if (!err && is_text)
			return fail(EINVAL, "key=%s is a text; give it as comm=%s, with --only-comm",
				    key, key);
	}
	e->keys[0] = top->only_comm ? NULL : key;
	if (key && !top->key_title)
		top->key_title = upper(prof, key);
	if (!err && comm && *comm) {
		err = check_kind(prof, event, comm, &is_text);
		if (!err && !is_text)
			return fail(EINVAL, "comm=%s is no text", comm);
		e->keys[1] = comm;
		top->any_comm = true;
		if (!top->name_title)
			top->name_title = upper(prof, comm);
	}
	for (size_t i = 0; !err && event->spec && i < event->spec->attrs.n; i++) {
		const struct prof_attr *attr = &event->spec->attrs.v[i];

		if ((!strcmp(attr->name, "top-by") || !strcmp(attr->name, "top-add")) && attr->value)
			err = add_column(prof, event, attr->value, attr->name[4] == 'b');
	}
	if (!err && !e->updates_n)
		err = add_column(prof, event, NULL, false);
	top->any_key |= key != NULL;
	top->all_keys &= key != NULL;
	return err;
}

// Names are shown unless all keys are given and no event says a name.
static bool has_names(const struct top *top)
{
	return top->any_comm || !top->all_keys;
}

// Events without a key are counted for their thread; those of them without a name get the thread's.
static int count(struct prof *prof)
{
	struct top *top = PROF_STATE(struct top, prof);
	struct tally_options plan = {.cells = top->cells,
				     .cells_n = top->columns_n,
				     .events = top->events,
				     .events_n = (uint32_t)prof->events.n};

	top->key_n = !top->only_comm;
	for (size_t i = 0; i < prof->events.n; i++) {
		struct tally_event *e = &top->events[i];

		if (!e->keys[1] && !e->keys[0] && !top->all_keys)
			e->keys[1] = TALLY_COMM;
		if (!e->keys[0])
			e->keys[0] = "_tid";
		if (top->only_comm)
			e->keys[0] = e->keys[1];
	}
	if (top->key_n)
		top->keys[plan.keys_n++].kind = TALLY_NUMBER;
	if (has_names(top))
		top->keys[plan.keys_n++] = (struct tally_key){TALLY_TEXT, .label = !top->only_comm};
	plan.keys = top->keys;
	return prof_tally_open(prof, &plan);
}

// A filter that is typed while it runs.
static int typed(struct prof *prof, const char *line)
{
	return tally_filter(prof->tally, *line ? prof_filter_quoted(&prof->arena, line) : "");
}

static int setup(struct prof *prof)
{
	struct top *top = PROF_STATE(struct top, prof);
	int err = 0;

	top->events = arena_zalloc(&prof->arena, (prof->events.n + 1) * sizeof(*top->events));
	top->all_keys = true;
	for (size_t i = 0; i < prof->events.n && !err; i++)
		err = set_event(prof, prof->events.v[i]);
	if (err)
		return err;
	if (top->any_key && !top->all_keys && prof->events.n > 1 && !top->only_comm)
		inform("events without a key are counted for the thread that they happened in");
	if (top->only_comm && top->all_keys && !top->any_comm)
		return fail(EINVAL, "--only-comm counts by name: say which with the attribute comm=");
	if (!top->key_title)
		top->key_title = "PID";
	if (!top->name_title)
		top->name_title = "COMM";
	return count(prof);
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	tally_hit(prof->tally, event->index, sample, NULL);
	return 0;
}

static uint32_t *sorted_rows(struct prof *prof)
{
	const struct top *top = PROF_STATE(struct top, prof);
	uint32_t *ret = xcalloc(tally_rows(prof->tally) + 1, sizeof(*ret)), n = 0;
	struct tally_order order[TALLY_CELLS + 1];

	for (uint32_t i = 0; i < 2 * top->columns_n; i++)
		if (top->by[i % top->columns_n] == (i < top->columns_n))
			order[n++] = (struct tally_order){i % top->columns_n, false};
	order[n++] = (struct tally_order){0, true};
	tally_sort(prof->tally, order, n, ret);
	return ret;
}

static enum table_kind kind_of(bool is_signed)
{
	return is_signed ? TABLE_SIGNED : TABLE_COUNT;
}

static void put_title(struct prof *prof, uint64_t now_ns)
{
	const struct tally_stats stats = tally_stats(prof->tally);
	char time[40], clock[9] = "";

	prof_time_text(prof, now_ns, time);
	if (prof->feed->has_wall)
		memcpy(clock, time + 11, 8);
	if (prof->out->is_terminal)
		out_text(prof->out, "\033[H\033[2J");
	out_printf(prof->out, "%s sonde prof - %s  sample %llu events", time, *clock ? clock : time,
		   (unsigned long long)stats.hits);
	if (prof->lost_interval)
		out_printf(prof->out, ", lost %llu", (unsigned long long)prof->lost_interval);
	if (stats.overflow)
		out_printf(prof->out, ", %llu of further keys left out",
			   (unsigned long long)stats.overflow);
	out_safe(prof->out, prof_typed_note(prof));
	out_char(prof->out, '\n');
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct top *top = PROF_STATE(struct top, prof);
	const struct tally *tally = prof->tally;
	int err = tally_read(prof->tally);
	auto_free uint32_t *sorted = sorted_rows(prof);
	struct table table = {0};
	char time[40];
	struct table_stamp stamp = {.time = time, .no_titles = prof->print->titles_shown};

	if (err < 0)
		return err;
	if (top->key_n)
		table_column(&table,
			     (struct table_column){top->key_title, NULL,
						   kind_of(tally_key_is_signed(tally, 0)), 8});
	for (uint32_t i = 0; i < top->columns_n; i++)
		table_column(&table,
			     (struct table_column){top->titles[i], NULL,
						   kind_of(tally_cell_is_signed(tally, i)), 12});
	if (has_names(top))
		table_column(&table,
			     (struct table_column){top->name_title, NULL, TABLE_TEXT, .left = true});
	for (size_t i = 0; i < tally_rows(tally); i++) {
		if (top->key_n)
			table_number(&table, tally_number(tally, sorted[i], 0));
		for (uint32_t k = 0; k < top->columns_n; k++)
			table_number(&table, tally_cell(tally, sorted[i], k));
		if (has_names(top))
			table_text(&table, tally_text(tally, sorted[i], top->key_n));
	}
	prof_time_text(prof, now_ns, time);
	if (prof->print->format == TABLE_FORMAT_TEXT)
		put_title(prof, now_ns);
	table_print(prof->tables, &table, prof->print->format, &stamp);
	prof->print->titles_shown = true;
	table_done(&table);
	tally_clear(prof->tally);
	return 0;
}

static const char *const attributes[] = {"key", "comm", "top-by", "top-add", NULL};

const struct profiler profiler_top = {
	.name = "top",
	.summary = "Which values of an event's fields come most",
	.usage = "sonde prof top -e EVENT//key=EXPR/comm=EXPR/top-by=EXPR/ [-k KEY] [--only-comm] [options] [-- COMMAND]",
	.description =
		"A row for each value of the key (without one: for each thread). A column counts the event, or adds up a number of it: "
		"top-by=EXPR, by which rows are sorted, and top-add=EXPR. comm=EXPR is the row's name. Several events share the rows, "
		"so their keys must mean the same.\n\n"
		"On a terminal a filter may be typed while it runs, such as pid>100 and Enter; Enter alone ends it.",
	.opts = options,
	.size = sizeof(struct top),
	.examples = examples,
	.attributes = attributes,
	.tasks = true,
	.in_context = true,
	.setup = setup,
	.sample = sample,
	.interval = interval,
	.typed = typed,
};
