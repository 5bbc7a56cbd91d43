// SPDX-License-Identifier: GPL-2.0-or-later
// -F: the names of what can be probed.
#include "base/err.h"
#include "cmd/probe/show.h"

struct listed {
	VEC(const char *) v;
	struct probe_target *target;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void gather_program(struct probe_target *target, struct listed *names)
{
	const struct symbol *v;
	size_t n = dso_symbols(target->sym, target->dso, &v);

	for (size_t i = 0; i < n; i++)
		vec_push(&names->v, probe_plain_name(target, v[i].name));
}

static int add_name(void *arg, struct str name)
{
	struct listed *names = arg;
	const char *text = arena_strdup(&names->target->arena, name);

	vec_push(&names->v, probe_plain_name(names->target, text));
	return 0;
}

int probe_show_functions(struct probe_target *target, const char *filter, struct out *out)
{
	struct probe_filter *wanted = NULL;
	struct listed names = {.target = target};
	int err = probe_filter_new(&wanted, filter ? filter : "!_* & !*@*");

	if (err == 0 && target->is_kernel)
		err = probe_kernel_functions(target, add_name, &names);
	if (err == 0 && target->is_kernel && target->file.n && !names.v.n)
		err = probe_module_functions(target, add_name, &names);
	if (err == 0 && !target->is_kernel)
		gather_program(target, &names);
	if (err == 0 && target->module && !names.v.n)
		err = fail(ENOENT, "the module %s is not loaded, so its file is needed: -m PATH",
			   target->module);
	if (names.v.n)
		qsort(names.v.v, names.v.n, sizeof(*names.v.v), by_text);
	for (size_t i = 0; i < names.v.n; i++) {
		if (!probe_filter_takes(wanted, names.v.v[i]))
			continue;
		out_safe(out, names.v.v[i]);
		out_char(out, '\n');
	}
	vec_done(&names.v);
	probe_filter_free(wanted);
	return err;
}
