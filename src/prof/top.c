// SPDX-License-Identifier: GPL-2.0-or-later
// Which values of an event's fields come most often, or sum up to most.
#include "base/err.h"
#include "base/log.h"
#include "flow/event_fields.h"
#include "prof/core/kernel.h"
#include "prof/core/print.h"
#include "prof/core/typed.h"
#include <ctype.h>
#include <stdio.h>

enum { MOST_COLUMNS = 32, MOST_ROWS = 1 << 20 };

struct top_column {
	struct event_value value; // of a sum
	bool counts, by;	  // by: sorted by before others
	char *title;
	uint32_t event;
};

struct top_event {
	struct event_value key, comm;
	bool has_key, has_comm;
	uint32_t first, n;  // its columns
	struct expr *typed; // filter; NULL: none
};

struct top {
	struct prof_options common;
	bool only_comm;
	struct top_event *events;
	VEC(struct top_column) columns;
	uint32_t order[MOST_COLUMNS]; // of sorting
	bool any_key, any_comm, all_keys, signed_keys;
	char *key_title, *name_title;

	struct map rows; // key -> row number
	VEC(uint64_t) keys;
	VEC(uint32_t) names;  // interned; 0: none
	VEC(uint64_t) values; // [row * columns + column]
	struct intern texts;
	uint64_t sampled_n, overflow_n;
	struct prof_kernel_event *kernel_events; // [events.n], in the arena; NULL: counted here
	struct prof_kernel_rows kernel_rows;
	struct bpf_key kernel_keys[2];
	struct bpf_cell kernel_cells[MOST_COLUMNS + 1];
	const char **filters;	  // as given with -e, [events.n]
	struct expr *kernel_name; // of names that are made of a number from the kernel
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

static char *upper(const char *text)
{
	char *ret = xstrdup(text);

	for (char *p = ret; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	return ret;
}

static int add_column(struct prof *prof, struct prof_event *event, const char *expr, bool by)
{
	struct top *top = PROF_STATE(struct top, prof);
	struct top_event *e = &top->events[event->index];
	struct top_column column = {.counts = !expr, .by = by, .event = event->index};
	const char *alias = prof_spec_attr(event->spec, "alias");
	int err = 0;

	if (top->columns.n >= MOST_COLUMNS)
		return fail(EINVAL, "more than %d columns", MOST_COLUMNS);
	if (expr)
		err = prof_value_init(&column.value, prof, event, expr);
	if (!err && expr && column.value.is_text)
		err = fail(EINVAL, "%s of %s is a text: texts don't add up", expr,
			   event->feed->event->name);
	if (err)
		return err;
	// The alias names the first of an event's columns.
	column.title = upper(expr && (e->n || !alias || !*alias) ? expr : event->label);
	if (!e->n)
		e->first = (uint32_t)top->columns.n;
	e->n++;
	vec_push(&top->columns, column);
	return 0;
}

static int set_event(struct prof *prof, struct prof_event *event)
{
	struct top *top = PROF_STATE(struct top, prof);
	struct top_event *e = &top->events[event->index];
	const char *key = prof_spec_attr(event->spec, "key"),
		   *comm = prof_spec_attr(event->spec, "comm");
	int err = 0;

	if (!key || !*key)
		key = prof->options->key;
	if (key && !top->only_comm) {
		err = prof_value_init(&e->key, prof, event, key);
		e->has_key = !err;
		if (!err && e->key.is_text && key)
			return fail(EINVAL, "key=%s is a text; give it as comm=%s, with --only-comm",
				    key, key);
	}
	if (key && !top->key_title)
		top->key_title = upper(key);
	if (!err && comm && *comm) {
		err = prof_value_init(&e->comm, prof, event, comm);
		e->has_comm = !err;
		if (!err && !e->comm.is_text)
			return fail(EINVAL, "comm=%s is no text", comm);
		if (!err && !top->name_title)
			top->name_title = upper(comm);
	}
	for (size_t i = 0; !err && event->spec && i < event->spec->attrs.n; i++) {
		const struct prof_attr *attr = &event->spec->attrs.v[i];

		if ((!strcmp(attr->name, "top-by") || !strcmp(attr->name, "top-add")) && attr->value)
			err = add_column(prof, event, attr->value, attr->name[4] == 'b');
	}
	if (!err && !e->n)
		err = add_column(prof, event, NULL, false);
	top->signed_keys |= e->has_key && e->key.is_signed;
	top->any_key |= key != NULL;
	top->all_keys &= key != NULL;
	top->any_comm |= e->has_comm;
	return err;
}

// Names are shown unless all keys are given and no event says a name.
static bool has_names(const struct top *top)
{
	return top->any_comm || !top->all_keys;
}

// ---- counted in the kernel

// "ksymbol(X)": X alone; NULL: it is no such text
static const char *symbol_of(struct prof *prof, const char *text)
{
	static const char function[] = "ksymbol(";
	const size_t n = strlen(text), skip = sizeof(function) - 1;

	if (!text_starts(text, function) || text[n - 1] != ')' ||
	    memchr(text + skip, ')', n - skip - 1))
		return NULL;
	return arena_fmt(&prof->arena, "(unsigned long)(%.*s)", (int)(n - skip - 1), text + skip);
}

// Which numbers an event adds to: its columns, and the last cell for all events.
static void set_updates(const struct top *top, const struct top_event *e,
			struct prof_kernel_event *kernel)
{
	const struct prof_spec *spec = kernel->event->spec;
	uint32_t n = 0;

	for (size_t i = 0; spec && i < spec->attrs.n; i++) {
		const struct prof_attr *attr = &spec->attrs.v[i];

		if ((!strcmp(attr->name, "top-by") || !strcmp(attr->name, "top-add")) && attr->value) {
			kernel->updates[n].cell = e->first + n;
			kernel->updates[n++].value = attr->value;
		}
	}
	if (!n)
		kernel->updates[n++].cell = e->first;
	kernel->updates[n++].cell = (uint32_t)top->columns.n;
	kernel->updates_n = n;
}

// The keys of an event's rows: number, name or both. Which kinds they are must be the same for all events.
static bool set_keys(struct prof *prof, const struct top_event *e, struct prof_kernel_event *kernel,
		     struct bpf_key keys[2], uint32_t *keys_n)
{
	struct top *top = PROF_STATE(struct top, prof);
	const char *key = prof_spec_attr(kernel->event->spec, "key"),
		   *comm = prof_spec_attr(kernel->event->spec, "comm"), *symbol;
	uint32_t n = 0, before = *keys_n;
	struct bpf_key kinds[2] = {0};

	if (!key || !*key)
		key = prof->options->key;
	if (!top->only_comm) {
		kinds[n].kind = BPF_KEY_NUMBER;
		kernel->keys[n++] = e->has_key ? key : "_tid";
	}
	if (!e->has_comm && has_names(top)) {
		if (e->has_key) // its rows get their names from other events
			return false;
		comm = "comm(_tid)";
	}
	if (has_names(top)) {
		symbol = symbol_of(prof, comm);
		kinds[n].kind = symbol ? BPF_KEY_NUMBER : BPF_KEY_TEXT;
		kinds[n].size = symbol ? 0 : prof_kernel_text_size(prof, kernel->event, comm);
		if (!symbol && !kinds[n].size)
			return false;
		if (symbol && !top->kernel_name &&
		    expr_compile(&top->kernel_name, "ksymbol(_time)", NULL) < 0)
			return false;
		kernel->keys[n++] = symbol ? symbol : comm;
	}
	for (uint32_t i = 0; before && i < n && i < before; i++)
		if (keys[i].kind != kinds[i].kind || keys[i].size != kinds[i].size)
			return false;
	if (!n || (before && n != before))
		return false;
	memcpy(keys, kinds, sizeof(kinds));
	*keys_n = n;
	return true;
}

static void count_in_kernel(struct prof *prof)
{
	struct top *top = PROF_STATE(struct top, prof);
	const size_t n = prof->events.n;
	struct bpf_cell *cells = top->kernel_cells;
	struct bpf_key *keys = top->kernel_keys;
	uint32_t keys_n = 0;
	struct prof_kernel_event *events;
	bool same = true;

	if (!prof_kernel_may(prof))
		return;
	events = arena_zalloc(&prof->arena, n * sizeof(*events));
	for (size_t i = 0; i < n && same; i++) {
		events[i].event = prof->events.v[i];
		same = top->events[i].n < BPF_UPDATES_MAX &&
		       set_keys(prof, &top->events[i], &events[i], keys, &keys_n);
		if (same)
			set_updates(top, &top->events[i], &events[i]);
	}
	if (!same) {
		inform("top counts in sonde, not in the kernel: the events' keys or names are not of one kind, or not of known length");
		return;
	}
	for (uint32_t i = 0; i < top->columns.n; i++)
		cells[i].kind = top->columns.v[i].counts ? BPF_CELL_HITS : BPF_CELL_SUM;
	cells[top->columns.n].kind = BPF_CELL_HITS;
	top->kernel_rows = (struct prof_kernel_rows){.keys = keys,
						     .keys_n = keys_n,
						     .cells = cells,
						     .cells_n = (uint32_t)top->columns.n + 1};
	if (prof_kernel_open(prof, &top->kernel_rows, events, n))
		top->kernel_events = events;
}

// ---- filters that are typed while it runs

static int filter_here(struct prof *prof, const char *line)
{
	struct top *top = PROF_STATE(struct top, prof);
	auto_free struct expr **exprs = xcalloc(prof->events.n + 1, sizeof(struct expr *));
	int err = 0;

	for (size_t i = 0; i < prof->events.n && !err && *line; i++) {
		struct expr_fields fields = event_fields(prof->events.v[i]->feed->event);

		err = expr_filter_compile(&exprs[i], prof_filter_quoted(&prof->arena, line), &fields);
		if (err == -EOPNOTSUPP)
			err = fail(EOPNOTSUPP, "only the kernel can filter so; give it with -e");
	}
	for (size_t i = 0; i < prof->events.n; i++) {
		if (err) {
			expr_free(exprs[i]);
			continue;
		}
		expr_free(top->events[i].typed);
		top->events[i].typed = exprs[i];
	}
	return err;
}

static int typed(struct prof *prof, const char *line)
{
	struct top *top = PROF_STATE(struct top, prof);
	const size_t n = prof->events.n;
	struct prof_kernel *before = prof->kernel;
	int err = filter_here(prof, line);

	if (err || !before)
		return err;
	// Counted in the kernel: its programs are made anew, with the filter inside.
	for (size_t i = 0; i < n; i++)
		prof->events.v[i]->feed->filter =
			feed_and(prof->feed, top->filters[i],
				 *line ? prof_filter_quoted(&prof->arena, line) : NULL);
	if (!prof_kernel_open(prof, &top->kernel_rows, top->kernel_events, n))
		return fail(EOPNOTSUPP, "the kernel can't filter so; start with --no-bpf");
	prof_kernel_close(before);
	return 0;
}

static int setup(struct prof *prof)
{
	struct top *top = PROF_STATE(struct top, prof);
	uint32_t n = 0;
	int err = 0;

	intern_init(&top->texts);
	top->events = xcalloc(prof->events.n + 1, sizeof(*top->events));
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
		top->key_title = xstrdup("PID");
	if (!top->name_title)
		top->name_title = xstrdup("COMM");
	for (uint32_t i = 0; i < top->columns.n; i++) {
		if (top->columns.v[i].by)
			top->order[n++] = i;
	}
	for (uint32_t i = 0; i < top->columns.n; i++) {
		if (!top->columns.v[i].by)
			top->order[n++] = i;
	}
	top->filters = arena_zalloc(&prof->arena, (prof->events.n + 1) * sizeof(*top->filters));
	for (size_t i = 0; i < prof->events.n; i++)
		top->filters[i] = prof->events.v[i]->feed->filter;
	count_in_kernel(prof);
	return 0;
}

static uint32_t name_of(struct prof *prof, const struct top_event *e, const struct sample *sample)
{
	struct top *top = PROF_STATE(struct top, prof);

	if (e->has_comm)
		return intern_str(&top->texts, event_value_text(&e->comm, sample));
	if (top->all_keys)
		return 0;
	return intern_text(&top->texts, prof_comm(prof, sample->pid, sample->tid));
}

static size_t new_row(struct top *top, uint64_t key, uint32_t name)
{
	vec_push(&top->keys, key);
	vec_push(&top->names, name);
	vec_reserve(&top->values, top->columns.n);
	memset(top->values.v + top->values.n, 0, top->columns.n * sizeof(uint64_t));
	top->values.n += top->columns.n;
	return top->keys.n - 1;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct top *top = PROF_STATE(struct top, prof);
	const struct top_event *e = &top->events[event->index];
	uint32_t name = top->only_comm ? name_of(prof, e, sample) : 0;
	uint64_t key = top->only_comm ? name
		       : e->has_key   ? event_value_number(&e->key, sample)
				      : sample->tid;
	uint64_t *row, *values;
	bool is_new;

	if (e->typed) {
		uint64_t context[EXPR_CONTEXTS];
		struct expr_record record = event_record(sample, context);

		if (!expr_true(prof->machine, e->typed, &record))
			return 0;
	}
	top->sampled_n++;
	row = map_at(&top->rows, key, &is_new);
	if (is_new) {
		if (top->keys.n >= MOST_ROWS) {
			map_remove(&top->rows, key);
			top->overflow_n++;
			return 0;
		}
		*row = new_row(top, key, name);
	}
	if (!top->names.v[*row] && (e->has_comm || !e->has_key))
		top->names.v[*row] = name_of(prof, e, sample);
	values = top->values.v + *row * top->columns.n + e->first;
	for (uint32_t i = 0; i < e->n; i++) {
		const struct top_column *column = &top->columns.v[e->first + i];

		values[i] += column->counts ? 1 : event_value_number(&column->value, sample);
	}
	return 0;
}

// A row of the kernel: keys as set_keys has them.
static int take_row(void *arg, const void *key_, const uint64_t *cells)
{
	struct prof *prof = arg;
	struct top *top = PROF_STATE(struct top, prof);
	const char *name_key = (const char *)key_ + (top->only_comm ? 0 : 8);
	const size_t columns = top->columns.n;
	uint64_t key, address, context[EXPR_CONTEXTS] = {0}, *row;
	struct expr_record record = {"", 0, context};
	struct expr_value value = {0};
	uint32_t name = 0;
	bool is_new;

	memcpy(&key, key_, 8);
	if (top->kernel_name) {
		memcpy(&address, name_key, 8);
		context[EXPR_TIME] = address;
		expr_run(prof->machine, top->kernel_name, &record, &value);
		name = intern_str(&top->texts, value.text);
	} else if (has_names(top)) {
		name = intern_text(&top->texts, name_key);
	}
	if (top->only_comm)
		key = name;
	row = map_at(&top->rows, key, &is_new);
	if (is_new)
		*row = new_row(top, key, name);
	for (size_t i = 0; i < columns; i++)
		top->values.v[*row * columns + i] += cells[i];
	top->sampled_n += cells[columns];
	return 0;
}

static bool above(uint64_t a, uint64_t b, bool is_signed)
{
	return is_signed ? (int64_t)a > (int64_t)b : a > b;
}

static int by_values(const void *a, const void *b, void *arg)
{
	const struct top *top = arg;
	size_t n = top->columns.n;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	for (size_t i = 0; i < n; i++) {
		uint32_t column = top->order[i];
		uint64_t v = top->values.v[x * n + column], w = top->values.v[y * n + column];

		if (v != w)
			return above(v, w, top->columns.v[column].value.is_signed) ? -1 : 1;
	}
	if (top->only_comm) // the keys are in the order in which names came
		return strcmp(intern_get(&top->texts, top->names.v[x]),
			      intern_get(&top->texts, top->names.v[y]));
	if (top->keys.v[x] == top->keys.v[y])
		return 0;
	return above(top->keys.v[y], top->keys.v[x], top->signed_keys) ? -1 : 1;
}

static enum table_kind kind_of(bool is_signed)
{
	return is_signed ? TABLE_SIGNED : TABLE_COUNT;
}

static void put_title(struct prof *prof, uint64_t now_ns)
{
	struct top *top = PROF_STATE(struct top, prof);
	char time[40], clock[9] = "";

	prof_time_text(prof, now_ns, time);
	if (prof->feed->has_wall)
		memcpy(clock, time + 11, 8);
	if (prof->out->is_terminal)
		out_text(prof->out, "\033[H\033[2J");
	out_printf(prof->out, "%s sonde prof - %s  sample %llu events", time, *clock ? clock : time,
		   (unsigned long long)top->sampled_n);
	if (prof->lost_interval)
		out_printf(prof->out, ", lost %llu", (unsigned long long)prof->lost_interval);
	if (top->overflow_n)
		out_printf(prof->out, ", %llu of further keys left out",
			   (unsigned long long)top->overflow_n);
	out_safe(prof->out, prof_typed_note(prof));
	out_char(prof->out, '\n');
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct top *top = PROF_STATE(struct top, prof);
	int err = prof->kernel ? prof_kernel_read(prof, take_row, prof) : 0;
	size_t rows = top->keys.n;
	auto_free uint32_t *sorted = xcalloc(rows + 1, sizeof(*sorted));
	struct table table = {0};
	char time[40];
	struct table_stamp stamp = {.time = time, .no_titles = prof->print->titles_shown};

	if (err < 0)
		return err;
	for (uint32_t i = 0; i < rows; i++)
		sorted[i] = i;
	qsort_r(sorted, rows, sizeof(*sorted), by_values, top);
	if (!top->only_comm)
		table_column(&table, (struct table_column){top->key_title, NULL,
							   kind_of(top->signed_keys), 8});
	for (size_t i = 0; i < top->columns.n; i++) {
		const struct top_column *column = &top->columns.v[i];

		table_column(&table, (struct table_column){column->title, NULL,
							   kind_of(column->value.is_signed), 12});
	}
	if (has_names(top))
		table_column(&table,
			     (struct table_column){top->name_title, NULL, TABLE_TEXT, .left = true});
	for (size_t i = 0; i < rows; i++) {
		uint32_t row = sorted[i];

		if (!top->only_comm)
			table_number(&table, top->keys.v[row]);
		for (size_t k = 0; k < top->columns.n; k++)
			table_number(&table, top->values.v[row * top->columns.n + k]);
		if (has_names(top))
			table_text(&table, intern_get(&top->texts, top->names.v[row]));
	}
	prof_time_text(prof, now_ns, time);
	if (prof->print->format == TABLE_FORMAT_TEXT)
		put_title(prof, now_ns);
	table_print(prof->out, &table, prof->print->format, &stamp);
	prof->print->titles_shown = true;
	table_done(&table);
	map_clear(&top->rows);
	vec_clear(&top->keys);
	vec_clear(&top->names);
	vec_clear(&top->values);
	top->sampled_n = top->overflow_n = 0;
	// Names of tasks that are gone are not kept for ever.
	if (top->texts.strings.n > MOST_ROWS) {
		intern_done(&top->texts);
		intern_init(&top->texts);
	}
	return 0;
}

static void done(struct prof *prof)
{
	struct top *top = PROF_STATE(struct top, prof);

	for (size_t i = 0; top->events && i < prof->events.n; i++) {
		event_value_done(&top->events[i].key);
		event_value_done(&top->events[i].comm);
		expr_free(top->events[i].typed);
	}
	for (size_t i = 0; i < top->columns.n; i++) {
		event_value_done(&top->columns.v[i].value);
		free(top->columns.v[i].title);
	}
	expr_free(top->kernel_name);
	free(top->events);
	free(top->key_title);
	free(top->name_title);
	vec_done(&top->columns);
	map_done(&top->rows);
	vec_done(&top->keys);
	vec_done(&top->names);
	vec_done(&top->values);
	intern_done(&top->texts);
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
	.done = done,
};
