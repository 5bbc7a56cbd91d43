// SPDX-License-Identifier: GPL-2.0-or-later
// -V: which variables can be fetched at a place.
#include "base/err.h"
#include <dwarf.h>
#include "cmd/probe/show.h"
#include "obj/type.h"

struct shown {
	struct probe_target *target;
	const struct probe_show *show;
	const struct probe_site *site;
	struct probe_filter *filter;
	struct out *out;
	VEC(char *)
	names; // "int\tx", with "[VAL]\t" before and the ranges behind when they are wanted
	unsigned sites;
};

struct ranges {
	struct out *out;
	uint64_t entry;
	const char *name;
	bool any, single;
};

static void put_range(void *arg, uint64_t low, uint64_t high)
{
	struct ranges *ranges = arg;

	if (ranges->any)
		out_char(ranges->out, ',');
	else
		out_printf(ranges->out, "@<%s+[", ranges->name);
	ranges->any = true;
	out_printf(ranges->out, "%llu-%llu", (unsigned long long)(low - ranges->entry),
		   (unsigned long long)(high - ranges->entry));
}

static void put_entry(void *arg, uint64_t low, uint64_t high, struct str expression)
{
	struct ranges *ranges = arg;

	if (!low && high == UINT64_MAX)
		ranges->single = true;
	else
		put_range(ranges, low, high);
}

static void put_ranges(const struct shown *s, const struct die *variable, const struct die *scope,
		       struct out *out)
{
	const char *name = die_name(&s->site->function);
	struct ranges ranges = {.out = out, .entry = s->site->entry, .name = name ? name : ""};

	variable_locations(variable, DW_AT_location, put_entry, &ranges);
	// One place for as long as its scope lasts.
	if (ranges.single)
		die_each_range(scope, put_range, &ranges);
	if (ranges.any)
		out_text(out, "]>");
}

// Can the kernel fetch it, as far as its place goes? What is only a constant for a while isn't worth being shown.
static bool is_fetchable(const struct die *variable, const struct places *places)
{
	struct dwarf_value value;

	if (places->v[0].base == PLACE_CONSTANT && !places->v[0].steps_n)
		return die_attr(variable, DW_AT_const_value, &value);
	for (unsigned i = 0; i < places->n; i++) {
		const struct place *place = &places->v[i];

		if (place->base != PLACE_NOWHERE && (place->in_memory || !place->add))
			return true;
	}
	return false;
}

static void add(struct shown *s, const struct die *variable, const struct die *scope, const char *mark)
{
	const char *name = die_name(variable);
	struct out text;

	if (!name)
		return;
	out_init_memory(&text);
	if (s->show->range)
		out_printf(&text, "%s\t", mark);
	if (!type_name(variable, &text))
		out_text(&text, "(unknown_type)");
	out_printf(&text, "\t%s", name);
	if (s->show->range && scope) {
		out_char(&text, '\t');
		put_ranges(s, variable, scope, &text);
	}
	vec_push(&s->names, str_dup((struct str){text.buf, text.n}));
	out_done(&text);
}

static bool visit(void *arg, const struct die *variable, const struct die *scope, bool inlined)
{
	struct shown *s = arg;
	struct place_context context = probe_context(s->target, s->site);
	struct places places;

	if (die_flag(variable, DW_AT_external))
		add(s, variable, scope, "[VAL]");
	else if (variable_places(variable, &context, &places) == 0 && is_fetchable(variable, &places))
		add(s, variable, scope, "[VAL]");
	else if (s->show->range && die_tag(variable) == DW_TAG_variable &&
		 variable_later_places(variable, &context, &places) == 0 &&
		 is_fetchable(variable, &places))
		add(s, variable, scope, "[INV]");
	return true;
}

static enum die_walk visit_extern(void *arg, const struct die *die)
{
	struct shown *s = arg;
	struct place_context context = probe_context(s->target, s->site);
	struct places places;

	if (die_tag(die) == DW_TAG_variable &&
	    (die_flag(die, DW_AT_external) || variable_places(die, &context, &places) == 0))
		add(s, die, NULL, "[EXT]");
	return DIE_NEXT;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int show_site(void *arg, const struct probe_site *site)
{
	struct shown *s = arg;
	const char *name = die_name(&site->function);
	unsigned n = 0;
	struct die root;

	s->site = site;
	s->sites++;
	out_printf(s->out, "\t@<%s+%llu>%c", name ? name : "??",
		   (unsigned long long)(site->addr - site->entry), '\0');
	variables_at(&site->scope, site->addr, visit, s);
	if (s->show->externs && die_root(site->scope.unit, &root))
		die_walk(&root, visit_extern, s);
	if (s->names.n)
		qsort(s->names.v, s->names.n, sizeof(*s->names.v), by_text);
	for (size_t i = 0; i < s->names.n; i++) {
		const char *text = s->names.v[i], *tab = strchr(text, '\t');

		if (i && !strcmp(text, s->names.v[i - 1]))
			continue;
		if (!probe_filter_takes(s->filter, tab + 1))
			continue;
		n++;
		out_printf(s->out, "\t\t%s%c", text, '\0');
	}
	if (!n)
		out_printf(s->out, "\t\t(No matched variables)%c", '\0');
	for (size_t i = 0; i < s->names.n; i++)
		free(s->names.v[i]);
	vec_clear(&s->names);
	return 0;
}

int probe_show_variables(struct probe_target *target, const char *text,
			 const struct probe_show *show, struct out *out)
{
	struct shown s = {.target = target, .show = show};
	struct probe_request request;
	struct out body; // lines that end with NUL
	int err = probe_parse(&target->arena, text, &request);

	if (err < 0)
		return err;
	request.point.is_start = true;
	out_init_memory(&body);
	s.out = &body;
	if (!target->debug)
		err = probe_no_debug(target);
	if (err == 0)
		err = probe_filter_new(&s.filter,
				       show->filter ? show->filter : "!__k???tab_* & !__crc_*");
	if (err == 0)
		err = probe_find(target, &request.point, show_site, &s);
	if (err == 0)
		err = fail(ENOENT, "there is no '%s' in %s", text, target->path);
	if (err > 0) {
		struct out head;

		out_init_memory(&head);
		out_text(&head, "Available variables at ");
		probe_put_point(&head, &request.point);
		out_char(&head, '\0');
		out_safe_lines(out, &head);
		out_safe_lines(out, &body);
		out_done(&head);
		err = 0;
	}
	out_done(&body);
	vec_done(&s.names);
	probe_filter_free(s.filter);
	probe_request_done(&request);
	return err;
}
