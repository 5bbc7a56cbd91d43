// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/core/spec.h"
#include "base/alloc.h"
#include "base/caret.h"
#include "base/err.h"
#include "base/nearest.h"
#include "event/core/internal.h"
#include "sys/pmu.h"
#include "sys/tracefs.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>

// A text longer than this is no one's intent, and positions fit in 32 bits.
#define TEXT_MAX (1u << 20)

void event_specs_init(struct event_specs *specs)
{
	*specs = (struct event_specs){0};
}

void event_specs_done(struct event_specs *specs)
{
	if (!specs)
		return;
	vec_done(&specs->events);
	arena_done(&specs->arena);
	pmus_free(specs->pmus);
	tracefs_leave(specs->tracefs);
	*specs = (struct event_specs){0};
}

const char *event_text(struct event_specs *specs, struct str s)
{
	return arena_strdup(&specs->arena, s);
}

struct pmus *event_pmus(struct event_specs *specs, const struct event_context *ctx)
{
	if (!specs->pmus)
		pmus_load(&specs->pmus, ctx->root);
	return specs->pmus;
}

int event_tracefs(struct event_specs *specs, const struct event_context *ctx, struct tracefs **ret)
{
	int err;

	if (!specs->tracefs) {
		if (ctx->tracefs)
			tracefs_enter_at(&specs->tracefs, ctx->tracefs);
		else if (ctx->no_search)
			return fail(ENOENT, "tracefs was not looked for");
		else if ((err = tracefs_enter(&specs->tracefs, ctx->root)) < 0)
			return err;
	}
	*ret = specs->tracefs;
	return 0;
}

bool event_opens(const struct perf_event_attr *attr)
{
	struct perf_event_attr try = *attr;
	long fd;

	try.size = sizeof(try);
	try.disabled = 1;
	fd = syscall(SYS_perf_event_open, &try, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && (errno == EACCES || errno == EPERM)) {
		try.exclude_kernel = 1;
		try.exclude_hv = 1;
		fd = syscall(SYS_perf_event_open, &try, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0)
		return false;
	close((int)fd);
	return true;
}

struct event_spec *event_add(struct event_parser *p, uint32_t type, uint64_t config)
{
	struct event_spec *spec = vec_add(&p->specs->events);

	spec->attr.type = type;
	spec->attr.size = sizeof(spec->attr);
	spec->attr.config = config;
	spec->attr.exclude_guest = !p->ctx->count_guests;
	spec->kind = p->kind;
	spec->scale = 1.0;
	spec->leader = (uint32_t)(spec - p->specs->events.v);
	spec->group_n = 1;
	spec->at = (uint32_t)p->item_at;
	spec->text = p->specs->texts;
	return spec;
}

void event_add_core(struct event_parser *p, uint32_t type, uint64_t config)
{
	struct pmus *pmus = event_pmus(p->specs, p->ctx);
	struct pmu *performance = pmus_find(pmus, STR("cpu_core"));
	struct pmu *cores[] = {performance, performance ? pmus_find(pmus, STR("cpu_atom")) : NULL};
	bool added = false;

	for (size_t i = 0; i < ARRAY_SIZE(cores); i++) {
		if (!cores[i])
			continue;
		pmu_details(pmus, cores[i]);
		// PERF_PMU_TYPE_SHIFT: which PMU a hardware event of a hybrid machine is for
		struct event_spec *spec = event_add(p, type, config | (uint64_t)cores[i]->type << 32);
		spec->pmu_name = event_text(p->specs, str_of(cores[i]->name));
		spec->cpus = cores[i]->cpus;
		spec->cpus_n = cores[i]->cpus_n;
		added = true;
	}
	if (!added)
		event_add(p, type, config);
}

static int failed(struct event_parser *p, struct str where, const char *fmt, va_list args)
{
	char message[1024];
	struct caret caret;

	vsnprintf(message, sizeof(message), fmt, args);
	for (char *c = message; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	caret_put(&caret, (struct str){p->text, p->n}, where);
	return fail(EINVAL, "event, column %zu: %s\n  %s\n  %s", (size_t)(where.p - p->text) + 1,
		    message, caret.text, caret.mark);
}

int event_fail(struct event_parser *p, struct str where, const char *fmt, ...)
{
	va_list args;
	int err;

	va_start(args, fmt);
	err = failed(p, where, fmt, args);
	va_end(args);
	return err;
}

int event_fail_absent(struct event_parser *p, struct str where, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	failed(p, where, fmt, args);
	va_end(args);
	return -ENOENT;
}

struct str event_until(struct event_parser *p, const char *stop)
{
	size_t from = p->pos;

	while (p->pos < p->n && !strchr(stop, p->text[p->pos]))
		p->pos++;
	return event_where(p, from, p->pos - from);
}

void event_names_add(void *arg, const char *name)
{
	struct event_names *names = arg;

	vec_push(&names->v, arena_strdup(&names->arena, str_of(name)));
}

void event_names_done(struct event_names *names)
{
	vec_done(&names->v);
	arena_done(&names->arena);
}

char *event_names_hint(struct event_names *names, struct str word)
{
	enum { MOST = 3 };
	auto_free char *text = str_dup(word);
	char *hint = xstrdup("");

	for (int i = 0; i < MOST; i++) {
		vec_push(&names->v, NULL);
		names->v.n--;
		const char *near = nearest(text, names->v.v);
		if (!near)
			break;
		char *longer = text_dup_fmt("%s%s'%s'", hint, i ? ", " : "; near: ", near);
		free(hint);
		hint = longer;
		// Not again, nor its doubles.
		size_t kept = 0;
		for (size_t j = 0; j < names->v.n; j++)
			if (strcmp(names->v.v[j], near))
				names->v.v[kept++] = names->v.v[j];
		names->v.n = kept;
	}
	return hint;
}

static void add_entry(void *arg, const struct event_entry *entry)
{
	if (entry->is_form)
		return;
	event_names_add(arg, entry->name);
	if (entry->alias)
		event_names_add(arg, entry->alias);
}

static int no_such_event(struct event_parser *p, struct str head)
{
	if (p->ctx->no_hints)
		return event_fail_absent(p, head, "there is no event '%.*s'", STR_FMT(head));

	struct event_names names = {0};
	struct event_lister lister = {.ctx = p->ctx,
				      .specs = p->specs,
				      .all = true,
				      .add = add_entry,
				      .arg = &names};

	for (const struct event_kind *const *kind = event_kinds; *kind; kind++) {
		int err = (*kind)->missing ? (*kind)->missing(p, head) : 0;
		if (err)
			return err;
	}
	if (event_peek(p) == ':') {
		p->pos++;
		// libpfm4's names have "::" in them.
		head.n += 1 + event_until(p, event_peek(p) == ':' ? ",/{}" : ",/:{}").n;
	}
	for (const struct event_kind *const *kind = event_kinds; *kind; kind++)
		if ((*kind)->list)
			(*kind)->list(&lister); // what can't be listed isn't near
	auto_free char *hint = event_names_hint(&names, head);
	event_names_done(&names);
	return event_fail_absent(p, head, "there is no event '%.*s'%s (all names: sonde list)",
				 STR_FMT(head), hint);
}

static int take_name(struct event_parser *p, struct str head)
{
	size_t behind = p->pos;

	for (unsigned rank = 0; rank < EVENT_RANKS; rank++) {
		for (const struct event_kind *const *kind = event_kinds; *kind; kind++) {
			if ((*kind)->rank != rank || !(*kind)->take)
				continue;
			p->kind = *kind;
			p->pos = behind;
			int taken = (*kind)->take(p, head);
			if (taken)
				return taken;
		}
	}
	p->pos = behind;
	return no_such_event(p, head);
}

static void skip_space(struct event_parser *p)
{
	while (p->pos < p->n && isspace((unsigned char)p->text[p->pos]))
		p->pos++;
}

static int read_item_modifiers(struct event_parser *p, bool after_slash)
{
	struct event_modifiers mods;
	struct str text;
	int err;

	if (event_peek(p) == ':')
		p->pos++;
	else if (!after_slash)
		return 0;
	text = event_until(p, ",/:{} \t\n");
	// perf allows a ':' without modifiers, too.
	if (!text.n && (p->pos == p->n || strchr(",{} \t\n}", p->text[p->pos]) || after_slash))
		return 0;
	err = event_read_modifiers(p, text, &mods);
	if (err < 0)
		return err;
	for (size_t i = p->item; i < p->specs->events.n; i++)
		event_apply_modifiers(&mods, &p->specs->events.v[i], false, true);
	return 0;
}

static int parse_event(struct event_parser *p, struct str head)
{
	bool terms = false;
	int err;

	if (!head.n)
		return event_fail(p, event_where(p, p->pos, 1), "an event should stand here%s",
				  p->pos && p->pos == p->n && p->text[p->pos - 1] == ','
					  ? "; a list of events is one word, without blanks"
					  : "");
	p->item = p->specs->events.n;
	p->item_at = (size_t)(head.p - p->text);
	err = take_name(p, head);
	if (err < 0)
		return err;
	if (event_peek(p) == '/') {
		terms = true;
		err = event_read_terms(p, p->item);
		if (err < 0)
			return err;
	}
	err = read_item_modifiers(p, terms);
	if (err < 0)
		return err;
	struct str text = str_trim(event_where(p, p->item_at, p->pos - p->item_at));
	const char *name = event_text(p->specs, text);
	for (size_t i = p->item; i < p->specs->events.n; i++) {
		struct event_spec *spec = &p->specs->events.v[i];
		if (!spec->name)
			spec->name = name;
		spec->length = (uint32_t)text.n;
	}
	return 0;
}

// One event or group member: up to a comma or what closes.
static int parse_one(struct event_parser *p, struct str *ret_group)
{
	skip_space(p);
	struct str head = event_until(p, ",/:{}");

	// Bracket globs of tracepoints may hold no stop character, so the head is whole.
	head = str_trim(head);
	if (event_peek(p) == '{') {
		if (!ret_group)
			return event_fail(p, event_where(p, p->pos, 1),
					  "a group can't stand inside a group");
		*ret_group = head;
		return 1;
	}
	int err = parse_event(p, head);
	skip_space(p);
	return err;
}

static void join_group(struct event_specs *specs, size_t first, struct str name)
{
	for (size_t i = first; i < specs->events.n; i++) {
		specs->events.v[i].leader = (uint32_t)first;
		specs->events.v[i].group_n = 0;
	}
	if (specs->events.n == first)
		return;
	specs->events.v[first].group_n = (uint32_t)(specs->events.n - first);
	if (name.n)
		specs->events.v[first].group_name = event_text(specs, name);
}

static int parse_group(struct event_parser *p, struct str name)
{
	size_t first = p->specs->events.n, open = p->pos;
	struct event_modifiers mods;
	int err;

	do {
		p->pos++;
		err = parse_one(p, NULL);
		if (err < 0)
			return err;
	} while (event_peek(p) == ',');
	if (event_peek(p) != '}')
		return p->pos < p->n ? event_fail(p, event_where(p, p->pos, 1),
						  "a ',' or '}' should stand here")
				     : event_fail(p, event_where(p, open, 1),
						  "this group is not closed by '}'");
	p->pos++;
	join_group(p->specs, first, name);
	if (event_peek(p) != ':')
		return 0;
	p->pos++;
	err = event_read_modifiers(p, event_until(p, ",/:{} \t\n"), &mods);
	if (err < 0)
		return err;
	for (size_t i = first; i < p->specs->events.n; i++)
		event_apply_modifiers(&mods, &p->specs->events.v[i], true, i == first);
	return 0;
}

static int parse_all(struct event_parser *p)
{
	for (;;) {
		struct str group;
		int err = parse_one(p, &group);

		if (err == 1)
			err = parse_group(p, group);
		if (err < 0)
			return err;
		skip_space(p);
		if (p->pos == p->n)
			return 0;
		if (event_peek(p) != ',')
			return event_fail(p, event_where(p, p->pos, 1),
					  event_peek(p) == '}' ? "no group was opened before this '}'"
							       : "a ',' should stand here");
		p->pos++;
	}
}

static int parse_pfm(struct event_parser *p)
{
	for (const struct event_kind *const *kind = event_kinds; *kind; kind++) {
		p->kind = *kind;
		if ((*kind)->parse_list)
			return (*kind)->parse_list(p);
	}
	return fail(EOPNOTSUPP,
		    "sonde was built without libpfm4, which knows the processors' event names");
}

int event_parse(struct event_specs *into, const char *text, const struct event_context *ctx)
{
	static const struct event_context usual;
	struct event_parser p = {.text = text,
				 .n = strlen(text),
				 .specs = into,
				 .ctx = ctx ? ctx : &usual};
	size_t before = into->events.n;
	int err;

	if (!p.n)
		return fail(EINVAL, "the event text is empty");
	if (p.n > TEXT_MAX)
		return fail(EINVAL, "the event text is longer than %u bytes", TEXT_MAX);
	err = p.ctx->pfm ? parse_pfm(&p) : parse_all(&p);
	if (err < 0) {
		into->events.n = before;
		return err;
	}
	into->last = before;
	into->texts++;
	return 0;
}

static void and_filter(struct event_specs *specs, struct event_spec *spec, const char *filter)
{
	spec->filter = spec->filter ? arena_fmt(&specs->arena, "(%s) && (%s)", spec->filter, filter)
				    : event_text(specs, str_of(filter));
}

static bool has_address_filters(struct event_specs *specs, const struct event_spec *spec)
{
	struct pmu *pmu = specs->pmus ? pmus_find_type(specs->pmus, spec->attr.type) : NULL;

	if (pmu)
		pmu_details(specs->pmus, pmu);
	return pmu && pmu->has_address_filters;
}

int event_filter(struct event_specs *specs, const char *filter)
{
	if (specs->last >= specs->events.n)
		return fail(EINVAL, "--filter belongs behind the -e of the event that it is for");
	for (size_t i = specs->last; i < specs->events.n; i++) {
		struct event_spec *spec = &specs->events.v[i];

		if (spec->attr.type != PERF_TYPE_TRACEPOINT && !has_address_filters(specs, spec))
			return fail(EINVAL,
				    "--filter is for tracepoints, and '%s' is none: the option belongs "
				    "behind the -e of the tracepoint",
				    spec->name);
	}
	for (size_t i = specs->last; i < specs->events.n; i++)
		and_filter(specs, &specs->events.v[i], filter);
	return 0;
}

void event_exclude_pid(struct event_specs *specs, int pid)
{
	char filter[64];

	snprintf(filter, sizeof(filter), "common_pid != %d", pid);
	vec_each(struct event_spec, spec, &specs->events)
		if (spec->attr.type == PERF_TYPE_TRACEPOINT)
			and_filter(specs, spec, filter);
}
