// SPDX-License-Identifier: GPL-2.0-or-later
// From -s, -F and the mode to the columns and their order, by perf's rules.
#include "base/err.h"
#include "base/nearest.h"
#include "hist/report.h"
#include <strings.h>

static const char *const default_orders[] = {
	[MODE_NORMAL] = "comm,dso,symbol",
	[MODE_BRANCH] = "comm,dso_from,symbol_from,symbol_to,cycles",
	[MODE_MEMORY] = ("local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,"
			 "local_ins_lat,local_p_stage_cyc"),
	[MODE_TRACEPOINT] = "trace",
};

const char *const report_number_names[NUMBERS] = {
	[NUMBER_OVERHEAD] = "overhead",
	[NUMBER_SYS] = "overhead_sys",
	[NUMBER_US] = "overhead_us",
	[NUMBER_GUEST_SYS] = "overhead_guest_sys",
	[NUMBER_GUEST_US] = "overhead_guest_us",
	[NUMBER_CHILDREN] = "overhead_children",
	[NUMBER_SAMPLES] = "sample",
	[NUMBER_PERIOD] = "period",
};

const char *const report_number_headers[NUMBERS] = {
	[NUMBER_OVERHEAD] = "Overhead",
	[NUMBER_SYS] = "sys",
	[NUMBER_US] = "usr",
	[NUMBER_GUEST_SYS] = "guest sys",
	[NUMBER_GUEST_US] = "guest usr",
	[NUMBER_CHILDREN] = "Children",
	[NUMBER_SAMPLES] = "Samples",
	[NUMBER_PERIOD] = "Period",
};

static struct column *column_new(struct report *report, int level)
{
	struct column *column = arena_zalloc(&report->arena, sizeof(*column));

	column->level = level;
	return column;
}

static bool same_column(const struct column *a, const struct column *b)
{
	if (a->key || b->key)
		return a->key == b->key;
	if (a->field || b->field)
		return a->field == b->field;
	return a->number == b->number;
}

// Words begin names: "sym" is symbol, without regard to case.
static bool begins(const char *word, const char *name)
{
	return !strncasecmp(word, name, strlen(word));
}

static int bad_key(const char *option, const char *word, bool unknown)
{
	const char *names[96], *near;
	size_t n = 0;

	for (const struct key *key; (key = report_key_at(n)); n++)
		names[n] = key->name;
	for (size_t i = 0; i < NUMBERS; i++)
		names[n++] = report_number_names[i];
	names[n] = NULL;
	near = unknown ? nearest(word, names) : NULL;
	if (near)
		return fail(COMMAND_USAGE, "Unknown --%s key: `%s' (did you mean %s?)", option,
			    word, near);
	return fail(COMMAND_USAGE, "%s --%s key: `%s'", unknown ? "Unknown" : "Invalid", option,
		    word);
}

// A word that names fields of an event.
struct field_word {
	struct event *event;
	bool raw;
	int level;
};

static void add_field_column(struct report *report, const struct field_word *word,
			     const struct tp_field *field)
{
	struct column *column = column_new(report, word->level);

	column->event = word->event;
	column->field = field;
	column->name = field->name;
	column->raw_trace = word->raw;
	report->has_dynamic = report->needs_extra = true;
	report->has_trace |= !word->raw;
	vec_push(&report->sorts, column);
}

static void add_event_fields(struct report *report, const struct field_word *word)
{
	const struct tp_field *fields;
	size_t n = word->event->tp ? tracepoint_fields(word->event->tp, &fields) : 0;

	for (size_t i = 0; i < n; i++) {
		if (!text_starts(fields[i].name, "common_"))
			add_field_column(report, word, &fields[i]);
	}
}

static struct event *find_event(struct report *report, const char *name)
{
	struct recording *recording = report->run->recording;
	struct event *found = NULL;

	if (name[0] == '%') {
		size_t n = strtoul(name + 1, NULL, 0);

		return n && n <= recording->events.n ? recording->events.v[n - 1] : NULL;
	}
	for (size_t i = 0; i < recording->events.n; i++) {
		struct event *event = recording->events.v[i];

		if (strchr(name, ':') ? !strcmp(event->name, name)
				      : strstr(event->name, name) != NULL) {
			if (found)
				return NULL;
			found = event;
			if (strchr(name, ':'))
				break;
		}
	}
	return found;
}

// [event.]field[/raw], event.*, trace_fields
static bool add_dynamic(struct report *report, const char *word, int level)
{
	struct recording *recording = report->run->recording;
	char *copy = arena_strdup(&report->arena, str_of(word)), *field = strchr(copy, '.'), *option;
	struct field_word of = {.raw = report->o.raw_trace, .level = level};
	bool found = false;

	if (field)
		*field++ = 0;
	else
		field = copy;
	option = strchr(field, '/');
	if (option) {
		*option++ = 0;
		if (strcmp(option, "raw"))
			return false;
		of.raw = true;
	}
	if (field != copy) {
		of.event = find_event(report, copy);
		if (!of.event || !of.event->tp)
			return false;
		if (!strcmp(field, "*")) {
			add_event_fields(report, &of);
			return true;
		}
		const struct tp_field *one = tracepoint_field(of.event->tp, field);

		if (one)
			add_field_column(report, &of, one);
		return one != NULL;
	}
	for (size_t i = 0; i < recording->events.n; i++) {
		of.event = recording->events.v[i];
		if (!of.event->tp)
			continue;
		if (!strcmp(field, "trace_fields")) {
			add_event_fields(report, &of);
			found = true;
			continue;
		}
		const struct tp_field *one = tracepoint_field(of.event->tp, field);

		if (one)
			add_field_column(report, &of, one);
		found |= one != NULL;
	}
	return found || !strcmp(field, "trace_fields");
}

static bool key_allowed(const struct report *report, const struct key *key)
{
	return key->family == KEY_COMMON ||
	       (key->family == KEY_BRANCH && report->mode == MODE_BRANCH) ||
	       (key->family == KEY_MEMORY && report->mode == MODE_MEMORY);
}

static const char *const extra_keys[] = {"srcline",	   "srcfile",
					 "local_weight",   "weight",
					 "transaction",	   "trace",
					 "dso_size",	   "cgroup",
					 "cgroup_id",	   "time",
					 "code_page_size", "local_ins_lat",
					 "ins_lat",	   "local_p_stage_cyc",
					 "p_stage_cyc"};

static void take_key(struct report *report, const struct key *key, bool sorting)
{
	const char *name = key->name;

	report->has_trace |= !strcmp(name, "trace");
	report->has_srcline |= !strcmp(name, "srcline") || !strcmp(name, "srcfile");
	report->has_mem_size |= !strcmp(name, "dso_size");
	report->needs_extra |= key->family != KEY_COMMON;
	for (size_t i = 0; i < ARRAY_SIZE(extra_keys); i++)
		report->needs_extra |= !strcmp(name, extra_keys[i]);
	report->has_cgroup_id |= !strcmp(name, "cgroup_id");
	report->no_order |= (key->flags & KEY_NO_ORDER) != 0;
	report->has_sym |= !strcmp(name, "symbol") || !strcmp(name, "symbol_from") ||
			   !strcmp(name, "symbol_to") || !strcmp(name, "symbol_daddr");
	if (!sorting)
		return;
	report->needs_collapse |= (key->flags & KEY_COLLAPSES) != 0;
	report->has_parent |= !strcmp(name, "parent");
	report->has_dso |= !strcmp(name, "dso");
}

// One word of -s (sorting) or -F.
static int add_word(struct report *report, const char *word, bool sorting, int level)
{
	struct column column = {.level = level};
	const struct key *key = NULL, *it;
	bool is_number = false;

	if (sorting && (!strcmp(word, "local_p_stage_cyc") || !strcmp(word, "p_stage_cyc")))
		return 0; // not for this architecture
	for (int pass = 0; pass < 4 && !key && !is_number; pass++) {
		// common keys, numbers, branch keys, memory keys
		if (pass == 1) {
			for (int i = 0; i < NUMBERS && !is_number; i++) {
				is_number = begins(word, report_number_names[i]);
				if (is_number)
					column.number = (enum number)i;
			}
			continue;
		}
		for (size_t i = 0; !key && (it = report_key_at(i)); i++) {
			if ((int)it->family == (pass ? pass - 1 : 0) && begins(word, it->name))
				key = it;
		}
	}
	if (!key && !is_number) {
		if (sorting && add_dynamic(report, word, level))
			return 0;
		return bad_key(sorting ? "sort" : "fields", word, true);
	}
	if (is_number && column.number == NUMBER_CHILDREN && report->no_children_column)
		return 0;
	if (key && !key_allowed(report, key))
		return bad_key(sorting ? "sort" : "fields", word, false);
	column.key = key;
	column.name = key ? key->header : report_number_headers[column.number];
	for (size_t i = 0; i < (sorting ? report->sorts.n : report->fields.n); i++) {
		if (same_column(sorting ? report->sorts.v[i] : report->fields.v[i], &column))
			return 0; // taken already
	}
	if (key)
		take_key(report, key, sorting);
	struct column *new = column_new(report, level);

	*new = column;
	if (sorting)
		vec_push(&report->sorts, new);
	else
		vec_push(&report->fields, new);
	return 0;
}

// "a,b{c,d}": keys in braces are one level of the hierarchy.
static int add_sorts(struct report *report, const char *text)
{
	char *copy = arena_strdup(&report->arena, str_of(text)), *word = copy;
	int level = 0, next_level = 1, err = 0;
	bool in_group = false;

	for (;;) {
		char *end = strpbrk(word, "{}, "), *next = end;

		if (end) {
			next_level = in_group ? level : level + 1;
			if (*end == '{')
				in_group = true;
			else if (*end == '}')
				in_group = false;
			*end = 0;
			next = end + 1;
		}
		if (*word)
			err = add_word(report, word, true, level);
		if (err || !end)
			return err;
		word = next;
		level = next_level;
	}
}

static int add_fields(struct report *report, const char *text)
{
	char *copy = arena_strdup(&report->arena, str_of(text)), *rest = copy, *word;
	bool any = false;
	int err = 0;

	while (!err && (word = strsep(&rest, ", "))) {
		if (*word) {
			err = add_word(report, word, false, 0);
			any = true;
		}
	}
	return err || any ? err : fail(COMMAND_USAGE, "--fields '%s' names no column", text);
}

static bool is_strict(const char *order)
{
	return order && *order != '+';
}

static const char *default_order(struct report *report)
{
	struct recording *recording = report->run->recording;
	bool all = recording->events.n > 0 && !report->pipe;

	if (report->own_order)
		return report->own_order;
	for (size_t i = 0; i < recording->events.n && all; i++)
		all = recording->events.v[i]->attr.type == PERF_TYPE_TRACEPOINT;
	if (all) {
		report->mode = MODE_TRACEPOINT;
		if (report->o.raw_trace)
			return "trace_fields";
	}
	return default_orders[report->mode];
}

static void prefix_unless_in(struct report *report, const char **text, const char *word)
{
	if (!strstr(*text, word))
		*text = arena_fmt(&report->arena, "%s,%s", word, *text);
}

static void add_number_field(struct report *report, enum number number, const char *name)
{
	struct column *column = column_new(report, 0);

	column->number = number;
	column->name = name ? name : report_number_headers[number];
	vec_push(&report->fields, column);
}

static void add_default_fields(struct report *report)
{
	if (report->children)
		add_number_field(report, NUMBER_CHILDREN, NULL);
	add_number_field(report, NUMBER_OVERHEAD, report->children ? "Self" : NULL);
	if (report->o.cpu_utilization) {
		add_number_field(report, NUMBER_SYS, NULL);
		add_number_field(report, NUMBER_US, NULL);
	}
	if (report->o.counts)
		add_number_field(report, NUMBER_SAMPLES, NULL);
	if (report->o.total_period)
		add_number_field(report, NUMBER_PERIOD, NULL);
}

static void append_unless_there(struct report *report, bool to_fields)
{
	size_t n = to_fields ? report->sorts.n : report->fields.n;

	for (size_t i = 0; i < n; i++) {
		struct column *column = to_fields ? report->sorts.v[i] : report->fields.v[i];
		size_t other_n = to_fields ? report->fields.n : report->sorts.n;
		bool there = false;

		for (size_t j = 0; j < other_n && !there; j++)
			there = same_column(column,
					    to_fields ? report->fields.v[j] : report->sorts.v[j]);
		if (there)
			continue;
		if (to_fields)
			vec_push(&report->fields, column);
		else
			vec_push(&report->sorts, column);
	}
}

static void make_levels(struct report *report)
{
	for (size_t i = 0; i < report->sorts.n; i++) {
		struct column *column = report->sorts.v[i];
		struct level *level = NULL;

		vec_each(struct level, it, &report->levels) {
			if (it->level == column->level)
				level = it;
		}
		if (!level) {
			level = vec_add(&report->levels);
			level->level = column->level;
		}
		vec_push(&level->columns, column);
	}
}

// Columns of fields of the same name share one list.
static void find_siblings(struct report *report)
{
	size_t events_n = report->run->recording->events.n;

	for (size_t i = 0; i < report->fields.n; i++) {
		struct column *column = report->fields.v[i], *like = NULL;

		if (!column->field)
			continue;
		for (size_t k = 0; k < i && !like; k++) {
			if (report->fields.v[k]->field &&
			    !strcmp(report->fields.v[k]->name, column->name))
				like = report->fields.v[k];
		}
		column->siblings_n = events_n;
		column->siblings =
			like ? like->siblings
			     : arena_zalloc(&report->arena, events_n * sizeof(struct column *));
		if (!column->siblings[column->event->index])
			column->siblings[column->event->index] = column;
	}
}

enum { COLUMN_WIDTH_MAX = 10000 };

static int set_user_widths(struct report *report)
{
	struct str rest = str_of(report->o.widths);

	for (size_t i = 0; rest.p; i++) {
		struct str word = str_trim(str_cut(&rest, ','));
		uint64_t width = 0; // an empty one is the column's own

		if (word.n && (num_parse_u64(word, &width) < 0 || width > COLUMN_WIDTH_MAX))
			return fail(COMMAND_USAGE,
				    "--column-widths takes numbers from 0 to %d split by commas, not '%s'",
				    COLUMN_WIDTH_MAX, report->o.widths);
		// Levels of a hierarchy are as wide as they are.
		if (i < report->fields.n && !(report->o.hierarchy && (report->fields.v[i]->key ||
								      report->fields.v[i]->field)))
			report->fields.v[i]->user_width = (int)width;
	}
	return 0;
}

int report_setup_columns(struct report *report)
{
	const char *order = report->o.sort, *fields = report->o.fields, *keys;
	int err = 0;

	// Without any text perf sums up all in one row.
	if (order && *order && !order[strspn(order, "{}, ")])
		return fail(COMMAND_USAGE, "--sort '%s' names no key", order);
	if (order && !is_strict(order)) {
		if (!order[1])
			return fail(COMMAND_USAGE, "Invalid --sort key: `+'");
		order = arena_fmt(&report->arena, "%s,%s", default_order(report), order + 1);
	}
	if (report->o.sort && strstr(report->o.sort, "ipc"))
		return fail(COMMAND_USAGE,
			    "ipc columns come with the symbol key, they can't be asked for by name");
	// What a + adds to has its symbol, but only the text as it was typed counts for perf.
	if (report->o.sort && !report->own_order && strstr(report->o.sort, "symbol"))
		order = arena_fmt(&report->arena, "%s,%s", order,
				  report->mode == MODE_BRANCH ? "ipc_lbr" : "ipc_null");
	report->sort_order = report->o.sort ? order : NULL;
	if (order || !is_strict(fields)) {
		keys = order ? order : default_order(report);
		if (!is_strict(fields)) {
			prefix_unless_in(report, &keys, "overhead");
			if (report->children)
				prefix_unless_in(report, &keys, "overhead_children");
		}
		err = add_sorts(report, keys);
		if (err)
			return err;
	}
	if (report->o.parent) {
		err = add_word(report, "parent", true, -1);
		if (err)
			return err;
	}
	if (!is_strict(fields))
		add_default_fields(report);
	if (fields) {
		const char *list = is_strict(fields) ? fields : fields + 1;

		if (!*list)
			return fail(COMMAND_USAGE, "Invalid --fields key: `+'");
		err = add_fields(report, list);
		if (err)
			return err;
	}
	append_unless_there(report, true);
	append_unless_there(report, false);
	find_siblings(report);
	make_levels(report);
	for (size_t i = 0; i < report->sorts.n; i++) {
		struct column *column = report->sorts.v[i];

		if (column->key)
			take_key(report, column->key, false);
		else if (!column->field)
			report->has_modes |=
				column->number >= NUMBER_SYS && column->number <= NUMBER_GUEST_US;
		if (column->field || (column->key && !(column->key->flags & KEY_OF_FRAME)))
			vec_push(&report->context_keys, column);
	}
	report->no_order |= report->has_sym && !report->has_dso;
	report->needs_extra |=
		report->mode == MODE_BRANCH || report->mode == MODE_MEMORY || report->has_parent;
	return set_user_widths(report);
}
