// SPDX-License-Identifier: GPL-2.0-or-later
// -F: the names of what can be probed.
#include "base/err.h"
#include "cmd/probe/probe.h"
#include "sym/kallsyms.h"

struct listed {
	VEC(const char *) v;
	struct arena arena;
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
		vec_push(&names->v, v[i].name);
}

static bool in_module(struct str name, const char *module)
{
	const char *tab = memchr(name.p, '\t', name.n);

	if (!module || !tab)
		return !module && !tab;
	return (size_t)(name.p + name.n - tab) == strlen(module) + 3 &&
	       !memcmp(tab + 2, module, strlen(module));
}

static int gather_kernel(const struct probe_target *target, struct listed *names)
{
	enum { LARGEST = 256 << 20 };
	auto_free char *text = NULL;
	struct kallsyms_line line;
	struct str rest;
	size_t n;
	int err = file_read("/proc/kallsyms", LARGEST, &text, &n);

	if (err < 0)
		return fail(-err, "/proc/kallsyms can't be read: %s", strerror(-err));
	for (rest = (struct str){text, n}; kallsyms_next(&rest, &line);) {
		struct str name = line.name;
		const char *tab;

		if (!strchr("tTwW", line.type) || !in_module(name, target->module))
			continue;
		tab = memchr(name.p, '\t', name.n);
		if (tab)
			name.n = (size_t)(tab - name.p);
		vec_push(&names->v, arena_strdup(&names->arena, name));
	}
	return 0;
}

int probe_show_functions(struct probe_target *target, const char *filter, struct out *out)
{
	struct probe_filter *wanted = NULL;
	struct listed names = {0};
	int err = probe_filter_new(&wanted, filter ? filter : "!_* & !*@plt");

	if (err == 0 && target->is_kernel)
		err = gather_kernel(target, &names);
	else if (err == 0)
		gather_program(target, &names);
	if (names.v.n)
		qsort(names.v.v, names.v.n, sizeof(*names.v.v), by_text);
	for (size_t i = 0; i < names.v.n; i++)
		if (probe_filter_takes(wanted, names.v.v[i]))
			out_printf(out, "%s\n", names.v.v[i]);
	vec_done(&names.v);
	arena_done(&names.arena);
	probe_filter_free(wanted);
	return err;
}
