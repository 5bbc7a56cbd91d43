// SPDX-License-Identifier: GPL-2.0-or-later
// Functions of the running kernel without its debug information: by /proc/kallsyms.
#include "base/err.h"
#include <ctype.h>
#include "cmd/probe/probe.h"
#include "sym/kallsyms.h"

enum { LARGEST = 256 << 20 };

struct making {
	struct probe_target *target;
	const struct probe_request *request;
	struct probe_events *events;
};

static int add(const struct making *making, struct str name)
{
	struct probe_target *target = making->target;
	const struct probe_request *request = making->request;
	struct probe_event event = {.is_return = request->point.is_return,
				    .at = request->point.offset};
	char *text;
	int err;

	event.real_name = event.symbol = arena_strdup(&target->arena, name);
	if (target->module)
		event.symbol = arena_fmt(&target->arena, "%s:%s", target->module, event.symbol);
	err = probe_kernel_values(target, request, &event);
	if (err < 0) {
		vec_done(&event.values);
		return err;
	}
	event.group = request->group ? request->group : "probe";
	text = arena_fmt(&target->arena, "%.*s%s", (int)MIN(strcspn(event.real_name, "."), 50),
			 event.real_name, event.is_return ? "__return" : "");
	event.event = request->event ? request->event : text;
	vec_push(&making->events->v, event);
	return 0;
}

// The module of a line, or nothing for the kernel itself.
static struct str module_of(struct str *name)
{
	const char *tab = memchr(name->p, '\t', name->n);
	struct str module = {0};

	if (!tab)
		return module;
	module = (struct str){tab + 1, (size_t)(name->p + name->n - tab - 1)};
	name->n = (size_t)(tab - name->p);
	if (module.n > 2)
		module = (struct str){module.p + 1, module.n - 2};
	return module;
}

static bool is_wanted(const struct making *making, const struct kallsyms_line *line)
{
	const char *function = making->request->point.function, *module = making->target->module;
	struct str name = line->name, in = module_of(&name);
	bool is_same;

	if (!strchr("tTwW", line->type) || (module ? !str_is(in, module) : in.n != 0))
		return false;
	if (!probe_is_glob(function))
		return str_is(name, function);
	auto_free char *text = str_dup(name);
	is_same = text_glob(text, function);
	return is_same;
}

int probe_kernel_events(struct probe_target *target, const struct probe_request *request,
			struct probe_events *ret)
{
	const struct probe_point *point = &request->point;
	struct making making = {target, request, ret};
	auto_free char *text = NULL;
	struct kallsyms_line line;
	struct str rest;
	size_t n, found = 0;
	int err;

	if (point->file || point->line || point->lazy || !point->function)
		return probe_no_debug(target);
	if (point->is_address)
		return fail(ENOTSUP, "the kernel is probed by names, not by addresses");
	err = file_read("/proc/kallsyms", LARGEST, &text, &n);
	if (err < 0)
		return fail(-err, "/proc/kallsyms can't be read: %s", strerror(-err));
	for (rest = (struct str){text, n}; err == 0 && kallsyms_next(&rest, &line);) {
		if (!is_wanted(&making, &line))
			continue;
		(void)module_of(&line.name);
		// Static functions of the same name are one symbol to the kernel.
		if (found++ && !probe_is_glob(point->function))
			continue;
		if (ret->v.n >= target->options->max_probes)
			return fail(ERANGE,
				    "more than %u functions are called '%s'; --max-probes allows more",
				    target->options->max_probes, point->function);
		err = add(&making, line.name);
	}
	if (err == 0 && !ret->v.n)
		return fail(ENOENT, "the kernel has no function '%s'%s%s", point->function,
			    target->module ? " in module " : "",
			    target->module ? target->module : "");
	return err;
}
