// SPDX-License-Identifier: GPL-2.0-or-later
// The terms between the slashes that every kind of event takes.
#include "base/alloc.h"
#include "base/num.h"
#include "event/core/internal.h"

enum value {
	V_U64,
	V_U32,
	V_BOOL,
	V_SWITCH, // any number: not 0
	V_UNLESS, // any number: 0
	V_TEXT,
	V_CALL_GRAPH,
	V_BRANCH,
};

struct term_row {
	const char *name;
	enum value value;
	uint32_t given;
	size_t at; // of the number, in struct event_spec
	int (*apply)(struct event_spec *spec, uint64_t number);
};

static int set_period(struct event_spec *spec, uint64_t v)
{
	spec->attr.sample_period = v;
	spec->attr.freq = 0;
	spec->given &= ~(uint32_t)EVENT_FREQ;
	return 0;
}

static int set_freq(struct event_spec *spec, uint64_t v)
{
	spec->attr.sample_freq = v;
	spec->attr.freq = 1;
	spec->given &= ~(uint32_t)EVENT_PERIOD;
	return 0;
}

static int set_stack_size(struct event_spec *spec, uint64_t v)
{
	// perf_copy_attr wants a multiple of 8 below 64 KiB
	if (v > 65528)
		return -ERANGE;
	spec->stack_size_bytes = ((uint32_t)v + 7) & ~7u;
	return 0;
}

#define AT(field) offsetof(struct event_spec, field)

static const struct term_row rows[] = {
	{"config", V_U64, EVENT_CONFIG, AT(attr.config)},
	{"config1", V_U64, EVENT_CONFIG, AT(attr.config1)},
	{"config2", V_U64, EVENT_CONFIG, AT(attr.config2)},
	{"config3", V_U64, EVENT_CONFIG, AT(attr.config3)},
	{"name", V_TEXT, EVENT_NAME},
	{"period", V_U64, EVENT_PERIOD, .apply = set_period},
	{"freq", V_U64, EVENT_FREQ, .apply = set_freq},
	{"branch_type", V_BRANCH, EVENT_BRANCH},
	{"time", V_BOOL, EVENT_TIME, AT(time)},
	{"call-graph", V_CALL_GRAPH, EVENT_CALL_GRAPH},
	{"stack-size", V_U32, EVENT_STACK_SIZE, .apply = set_stack_size},
	{"max-stack", V_U32, EVENT_MAX_STACK, AT(max_stack)},
	{"nr", V_U32, EVENT_MAX_EVENTS, AT(max_events)},
	{"inherit", V_SWITCH, EVENT_INHERIT, AT(inherit)},
	{"no-inherit", V_UNLESS, EVENT_INHERIT, AT(inherit)},
	{"overwrite", V_SWITCH, EVENT_OVERWRITE, AT(overwrite)},
	{"no-overwrite", V_UNLESS, EVENT_OVERWRITE, AT(overwrite)},
	{"percore", V_BOOL, EVENT_PERCORE, AT(percore)},
	{"aux-output", V_BOOL, EVENT_AUX_OUTPUT, AT(aux_output)},
	{"aux-sample-size", V_U32, EVENT_AUX_SAMPLE, AT(aux_sample_size_bytes)},
	{"metric-id", V_TEXT, 0},
};

const char *event_common_term(size_t i, bool *ret_needs_value)
{
	if (i >= ARRAY_SIZE(rows) || !rows[i].given) // the last one is not for users
		return NULL;
	*ret_needs_value =
		rows[i].value != V_BOOL && rows[i].value != V_SWITCH && rows[i].value != V_UNLESS;
	return rows[i].name;
}

static const char *const call_graphs[] = {
	[EVENT_CALL_GRAPH_NONE] = "no",
	[EVENT_CALL_GRAPH_FP] = "fp",
	[EVENT_CALL_GRAPH_DWARF] = "dwarf",
	[EVENT_CALL_GRAPH_LBR] = "lbr",
};

static const struct {
	const char *name;
	uint64_t bit;
} branch_types[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
};

uint64_t event_branch_bit(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(branch_types); i++) {
		if (str_is(name, branch_types[i].name))
			return branch_types[i].bit;
	}
	return 0;
}

static int bad_value(struct event_parser *p, const struct event_term *term, const char *wanted)
{
	struct str where = {p->text + term->value_at, MAX(term->value.n, (size_t)1)};

	if (!term->has_value)
		where = (struct str){p->text + term->at, term->name.n};
	return event_fail(p, where, "%.*s= takes %s", STR_FMT(term->name), wanted);
}

// The terms' value as a number; default 1 when there is none.
static int term_u64(struct event_parser *p, const struct event_term *term, uint64_t max, uint64_t *ret)
{
	struct str text = term->value;

	if (!term->has_value) {
		*ret = 1;
		return 0;
	}
	// A leading zero is no octal here (perf reads decimal and 0x).
	if (!str_starts(text, "0x"))
		while (text.n > 1 && text.p[0] == '0') {
			text.p++;
			text.n--;
		}
	if (num_parse_u64(text, ret) < 0)
		return bad_value(p, term, "a number");
	if (*ret > max)
		return event_fail(p, (struct str){p->text + term->value_at, term->value.n},
				  "%.*s= is at most %llu", STR_FMT(term->name),
				  (unsigned long long)max);
	return 0;
}

static int apply_call_graph(struct event_parser *p, struct event_spec *spec,
			    const struct event_term *term)
{
	for (size_t i = 0; term->has_value && i < ARRAY_SIZE(call_graphs); i++) {
		if (str_is(term->value, call_graphs[i])) {
			spec->call_graph = (enum event_call_graph)i;
			return 0;
		}
	}
	return bad_value(p, term, "fp, dwarf, lbr or no");
}

static int apply_branch(struct event_parser *p, struct event_spec *spec, const struct event_term *term)
{
	struct str rest = term->value;

	if (!term->has_value || !rest.n)
		return bad_value(p, term, "branch filters (any, any_call, ind_call, u, k, ...)");
	spec->branch_type = 0;
	while (rest.p) {
		struct str one = str_cut(&rest, '+');
		uint64_t bit = event_branch_bit(one);

		if (!bit)
			return bad_value(p, term,
					 "branch filters (any, any_call, any_ret, ind_call, u, k, ...)");
		spec->branch_type |= bit;
	}
	return 0;
}

static int apply_row(struct event_parser *p, struct event_spec *spec, const struct term_row *row,
		     const struct event_term *term)
{
	void *at = (char *)spec + row->at;
	uint64_t number = 0;
	int err = 0;

	if ((row->given & EVENT_CONFIG) && spec->kind->no_config_terms)
		return event_fail(p, (struct str){p->text + term->at, term->name.n},
				  "%s= is not for %s events", row->name, spec->kind->name);
	switch (row->value) {
	case V_U64:
	case V_SWITCH:
	case V_UNLESS:
		err = term_u64(p, term, UINT64_MAX, &number);
		break;
	case V_U32:
		err = term_u64(p, term, UINT32_MAX, &number);
		break;
	case V_BOOL:
		err = term_u64(p, term, 1, &number);
		break;
	case V_TEXT:
		if (!term->has_value || !term->value.n)
			return bad_value(p, term, "a name");
		if (row->given == EVENT_NAME)
			spec->name = event_text(p->specs, term->value);
		break;
	case V_CALL_GRAPH:
		err = apply_call_graph(p, spec, term);
		break;
	case V_BRANCH:
		err = apply_branch(p, spec, term);
		break;
	}
	if (err < 0)
		return err;
	if (row->apply) {
		if (row->apply(spec, number) < 0)
			return bad_value(p, term, "a smaller number");
	} else if (row->value == V_U64) {
		memcpy(at, &number, sizeof(uint64_t));
	} else if (row->value == V_U32) {
		*(uint32_t *)at = (uint32_t)number;
	} else if (row->value == V_BOOL || row->value == V_SWITCH || row->value == V_UNLESS) {
		*(bool *)at = (number != 0) == (row->value != V_UNLESS);
	}
	spec->given |= row->given;
	return 0;
}

static int unknown_term(struct event_parser *p, const struct event_spec *spec,
			const struct event_term *term)
{
	struct event_names names = {0};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		event_names_add(&names, rows[i].name);
	if (spec->kind->term_names)
		spec->kind->term_names(p, spec, event_names_add, &names);
	auto_free char *hint = event_names_hint(&names, term->name);
	event_names_done(&names);
	return event_fail(p, (struct str){p->text + term->at, MAX(term->name.n, (size_t)1)},
			  "%s%s%s has no term '%.*s'%s", spec->pmu_name ? "the PMU " : "a ",
			  spec->pmu_name ? spec->pmu_name : spec->kind->name,
			  spec->pmu_name ? "" : " event", STR_FMT(term->name), hint);
}

static int apply_term(struct event_parser *p, struct event_spec *spec, const struct event_term *term)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_is(term->name, rows[i].name))
			return apply_row(p, spec, &rows[i], term);
	int done = spec->kind->term ? spec->kind->term(p, spec, term) : 0;
	return done ? done : unknown_term(p, spec, term);
}

static int read_value(struct event_parser *p, struct event_term *term)
{
	term->has_value = true;
	p->pos++;
	term->value_at = (uint32_t)p->pos;
	if (event_peek(p) != '\'') {
		term->value = event_until(p, ",/");
		return 0;
	}
	p->pos++;
	term->value = event_until(p, "'");
	if (event_peek(p) != '\'')
		return event_fail(p, event_where(p, term->value_at, 1), "this quote is not closed");
	p->pos++;
	return 0;
}

int event_read_terms(struct event_parser *p, size_t first)
{
	size_t open = p->pos++;
	int err;

	if (event_peek(p) == '/') {
		p->pos++;
		return 0;
	}
	for (;;) {
		struct event_term term = {.at = (uint32_t)p->pos};

		term.name = event_until(p, "=,/");
		if (!term.name.n)
			return event_fail(p, event_where(p, MIN(p->pos, p->n), 1),
					  "a term should stand here");
		if (event_peek(p) == '=' && (err = read_value(p, &term)) < 0)
			return err;
		if (p->pos >= p->n)
			return event_fail(p, event_where(p, open, 1),
					  "the terms that begin here are not closed by '/'");
		for (size_t i = first; i < p->specs->events.n; i++) {
			err = apply_term(p, &p->specs->events.v[i], &term);
			if (err < 0)
				return err;
		}
		if (p->text[p->pos] != ',' && p->text[p->pos] != '/')
			return event_fail(p, event_where(p, p->pos, 1),
					  "a ',' or '/' should stand here");
		if (p->text[p->pos++] == '/')
			return 0;
	}
}

int event_next_term(struct str text, size_t *at, struct event_term *ret)
{
	if (*at >= text.n)
		return 0;
	struct str rest = {text.p + *at, text.n - *at};
	struct str one = str_cut(&rest, ',');

	*at += one.n + 1;
	*ret = (struct event_term){.value = one};
	ret->name = str_cut(&ret->value, '=');
	ret->has_value = ret->value.p != NULL;
	return 1;
}
