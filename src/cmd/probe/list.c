// SPDX-License-Identifier: GPL-2.0-or-later
// -l: the probes that there are.
#include "base/err.h"
#include "base/log.h"
#include "cmd/probe/show.h"
#include <stdio.h>

// Programs that were opened for it: a list has many probes of few.
struct opened {
	char *path; // NULL: the kernel
	struct probe_options options;
	struct probe_target target;
	bool good;
};

struct opened_list {
	const struct probe_options *options;
	VEC(struct opened *) v;
};

static struct probe_target *open_target(struct opened_list *list, struct str path, bool is_kernel)
{
	struct opened *opened;

	for (size_t i = 0; i < list->v.n; i++) {
		opened = list->v.v[i];
		if (is_kernel ? !opened->path : opened->path && str_is(path, opened->path))
			return opened->good ? &opened->target : NULL;
	}
	opened = NEW(struct opened);
	opened->path = is_kernel ? NULL : str_dup(path);
	opened->options = *list->options;
	opened->options.exec = opened->path;
	opened->good = probe_target_open(&opened->target, &opened->options) == 0;
	if (!opened->good)
		err_clear();
	vec_push(&list->v, opened);
	return opened->good ? &opened->target : NULL;
}

static void opened_done(struct opened_list *list)
{
	for (size_t i = 0; i < list->v.n; i++) {
		if (list->v.v[i]->good)
			probe_target_done(&list->v.v[i]->target);
		free(list->v.v[i]->path);
		free(list->v.v[i]);
	}
	vec_done(&list->v);
}

// By symbols: "name+offset", or the address.
static void by_symbol(struct probe_target *target, const struct probe_stored *stored,
		      struct probe_point *point, struct arena *arena)
{
	const struct symbol *symbol =
		target ? dso_find_symbol(target->sym, target->dso, stored->is.at) : NULL;

	if (symbol) {
		point->function = symbol->name;
		point->offset = stored->is.at - symbol->start;
	} else {
		point->function = arena_fmt(arena, "0x%llx", (unsigned long long)stored->is.at);
	}
}

static void show(struct opened_list *list, struct arena *arena, const struct probe_stored *stored,
		 struct out *out)
{
	struct str symbol_name = stored->is.path, module = {0};
	struct probe_target *target;
	struct probe_point point = {0};
	auto_free char *name =
		text_dup_fmt("%.*s:%.*s", STR_FMT(stored->is.group), STR_FMT(stored->is.event));
	struct out line;
	uint64_t addr;

	// "module:function"
	if (!stored->is.is_uprobe && memchr(symbol_name.p, ':', symbol_name.n))
		module = str_cut(&symbol_name, ':');
	target = module.n ? NULL : open_target(list, stored->is.path, !stored->is.is_uprobe);
	if (stored->is.is_uprobe) {
		if (!target || !target->debug || !probe_vaddr(target, stored->is.at, &addr) ||
		    !probe_find_source(target, addr, &point))
			by_symbol(target, stored, &point, arena);
	} else {
		const char *symbol = arena_strdup(arena, symbol_name);

		if (!target || !target->debug || !probe_symbol(target, symbol, &addr) ||
		    !probe_find_source(target, addr + stored->is.at, &point)) {
			point.function = symbol;
			point.offset = stored->is.at;
		}
	}
	point.is_return = stored->is.is_return;
	out_init_memory(&line);
	out_printf(&line, "  %-20s (on ", name);
	probe_put_point(&line, &point);
	if (stored->is.is_uprobe)
		out_printf(&line, " in %.*s", STR_FMT(stored->is.path));
	else if (module.n)
		out_printf(&line, " in %.*s", STR_FMT(module));
	for (size_t i = 0; i < stored->names.n; i++)
		out_printf(&line, "%s%.*s", i ? " " : " with ", STR_FMT(stored->names.v[i]));
	out_char(&line, ')');
	out_safe_line(out, (struct str){line.buf, line.n});
	out_done(&line);
}

int probe_show_list(const struct probe_options *options, const char *filter, struct out *out)
{
	struct probe_filter *wanted = NULL;
	struct opened_list list = {.options = options};
	struct probe_store store;
	int err = probe_filter_new(&wanted, filter ? filter : "");

	if (err == 0)
		err = probe_store_open(&store);
	if (err < 0) {
		probe_filter_free(wanted);
		return err;
	}
	for (size_t i = 0; i < store.v.n; i++) {
		const struct probe_stored *stored = &store.v.v[i];
		auto_free char *name = text_dup_fmt("%.*s:%.*s", STR_FMT(stored->is.group),
						    STR_FMT(stored->is.event));

		if (probe_filter_takes(wanted, name))
			show(&list, &store.arena, stored, out);
	}
	opened_done(&list);
	probe_store_done(&store);
	probe_filter_free(wanted);
	return 0;
}
