// SPDX-License-Identifier: GPL-2.0-or-later
// Which values of an event's fields come most often, or sum up to most.
#include "base/err.h"
#include "base/log.h"
#include "prof/core/counted.h"
#include "prof/core/print.h"
#include "prof/core/typed.h"
#include "tally/table.h"

struct top_options {
	struct prof_options common;
	bool only_comm;
};

struct top {
	bool any_key, any_comm, all_keys;
	const char *key_title, *name_title;
	struct tally_column columns[TALLY_CELLS + 2]; // the key, numbers, the name
	bool by[TALLY_CELLS];			      // sorted by before others
	enum tally_cell_kind cells[TALLY_CELLS];
	struct tally_key keys[2];
	struct tally_order order[TALLY_CELLS + 1];
	struct tally_options plan;
	struct tally_event *events;
	struct tally_view view;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to add up"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT('k', "key", PROF_AT(key), "EXPR", "the key of events that have none of their own"),
	PROF_FLAG(0, "only-comm", offsetof(struct top_options, only_comm),
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

static int add_column(struct prof *prof, struct prof_event *event, const char *expr, bool by)
{
	struct top *top = prof->state;
	struct tally_event *e = &top->events[event->index];
	struct tally_update *updates = (struct tally_update *)(uintptr_t)e->updates;
	const char *alias = prof_spec_attr(event->spec, "alias");
	const uint32_t at = top->plan.cells_n;

	if (at >= TALLY_CELLS)
		return fail(EINVAL, "more than %d columns", TALLY_CELLS);
	// The alias names the first of an event's columns.
	const char *title = expr && (e->updates_n || !alias || !*alias) ? expr : event->label;
	top->columns[at + 1] =
		(struct tally_column){{arena_upper(&prof->arena, title), NULL, TABLE_COUNT, 12}, at};
	top->by[at] = by;
	top->cells[at] = expr ? TALLY_SUM : TALLY_HITS;
	updates[e->updates_n++] = (struct tally_update){at, expr};
	top->plan.cells_n++;
	return 0;
}

// Takes the text of a key (0) or a name (1).
static int set_key(struct prof *prof, const struct prof_event *event, const char *text, uint32_t k)
{
	struct top *top = prof->state;
	struct event_value value;
	int err = prof_value_init(&value, prof, event, text);

	if (err)
		return err;
	event_value_done(&value);
	if (!k && value.is_text)
		return fail(EINVAL, "key=%s is a text; give it as comm=%s, with --only-comm", text,
			    text);
	if (k && !value.is_text)
		return fail(EINVAL, "comm=%s is no text", text);
	top->events[event->index].keys[k] = text;
	return 0;
}

static int set_keys(struct prof *prof, const struct prof_event *event)
{
	struct top *top = prof->state;
	const char *key = prof_spec_attr(event->spec, "key"),
		   *comm = prof_spec_attr(event->spec, "comm");
	int err = 0;

	key = key && *key ? key : prof->options->key;
	top->any_key |= key != NULL;
	top->all_keys &= key != NULL;
	if (key && !top->key_title)
		top->key_title = arena_upper(&prof->arena, key);
	if (key && !PROF_OPTIONS(struct top_options, prof)->only_comm)
		err = set_key(prof, event, key, 0);
	if (err || !comm || !*comm)
		return err;
	if (!top->name_title)
		top->name_title = arena_upper(&prof->arena, comm);
	top->any_comm = true;
	return set_key(prof, event, comm, 1);
}

static int set_event(struct prof *prof, struct prof_event *event)
{
	struct top *top = prof->state;
	struct tally_event *e = &top->events[event->index];
	int err;

	*e = prof_tally_event(event);
	e->updates = arena_zalloc(&prof->arena, TALLY_CELLS * sizeof(*e->updates));
	err = set_keys(prof, event);
	for (size_t i = 0; !err && event->spec && i < event->spec->attrs.n; i++) {
		const struct prof_attr *attr = &event->spec->attrs.v[i];

		if ((!strcmp(attr->name, "top-by") || !strcmp(attr->name, "top-add")) && attr->value)
			err = add_column(prof, event, attr->value, attr->name[4] == 'b');
	}
	return err || e->updates_n ? err : add_column(prof, event, NULL, false);
}

// The key or, with --only-comm, the name tells rows apart; else the name only labels them. Names are shown unless all keys are given and no
// event says a name. Events without a key are counted for their thread; those of them without a name get the thread's.
static void set_view(struct prof *prof, bool only_comm)
{
	struct top *top = prof->state;
	struct tally_options *plan = &top->plan;
	struct tally_view *view = &top->view;

	for (size_t i = 0; i < prof->events.n; i++) {
		struct tally_event *e = &top->events[i];

		if (!e->keys[1] && !e->keys[0] && !top->all_keys)
			e->keys[1] = TALLY_COMM;
		if (!e->keys[0])
			e->keys[0] = "_tid";
		if (only_comm)
			e->keys[0] = e->keys[1];
	}
	if (!only_comm)
		top->keys[plan->keys_n++].kind = TALLY_NUMBER;
	top->columns[0] =
		(struct tally_column){{top->key_title, NULL, TABLE_COUNT, 8}, .is_key = true};
	if (top->any_comm || !top->all_keys) {
		top->columns[plan->cells_n + 1] =
			(struct tally_column){{top->name_title, NULL, TABLE_TEXT, .left = true},
					      plan->keys_n,
					      true};
		top->keys[plan->keys_n++] = (struct tally_key){TALLY_TEXT, .label = !only_comm};
	}
	for (uint32_t i = 0; i < 2 * plan->cells_n; i++)
		if (top->by[i % plan->cells_n] == (i < plan->cells_n))
			top->order[view->order_n++] = (struct tally_order){i % plan->cells_n, false};
	top->order[view->order_n++] = (struct tally_order){0, true};
	view->columns = top->columns + only_comm;
	view->columns_n = plan->cells_n + plan->keys_n;
	view->order = top->order;
}

static int setup(struct prof *prof)
{
	const bool only_comm = PROF_OPTIONS(struct top_options, prof)->only_comm;
	struct top *top = prof->state;
	int err = 0;

	top->events = arena_zalloc(&prof->arena, (prof->events.n + 1) * sizeof(*top->events));
	top->all_keys = true;
	for (size_t i = 0; i < prof->events.n && !err; i++)
		err = set_event(prof, prof->events.v[i]);
	if (err)
		return err;
	if (top->any_key && !top->all_keys && prof->events.n > 1 && !only_comm)
		inform("events without a key are counted for the thread that they happened in");
	if (only_comm && top->all_keys && !top->any_comm)
		return fail(EINVAL, "--only-comm counts by name: say which with the attribute comm=");
	if (!top->key_title)
		top->key_title = "PID";
	if (!top->name_title)
		top->name_title = "COMM";
	set_view(prof, only_comm);
	top->plan.keys = top->keys;
	top->plan.cells = top->cells;
	top->plan.events = top->events;
	top->plan.events_n = (uint32_t)prof->events.n;
	return prof_tally_open(prof, &top->plan);
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
	const struct top *top = prof->state;

	return prof_put_tally(prof, &top->view, now_ns, put_title);
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
	.size = sizeof(struct top_options),
	.state_size = sizeof(struct top),
	.examples = examples,
	.attributes = attributes,
	.tasks = true,
	.in_context = true,
	.setup = setup,
	.interval = interval,
	.typed = prof_tally_typed,
};
