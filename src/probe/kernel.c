// SPDX-License-Identifier: GPL-2.0-or-later
// What the running kernel tells of itself: names of functions by /proc/kallsyms, types by its BTF. Each is read once.
#include "probe/target.h"
#include "base/err.h"
#include "sym/kallsyms.h"

enum { LARGEST = 256 << 20 };

int probe_kernel_functions(struct probe_target *target, probe_name_call *call, void *arg)
{
	struct str *text = &target->kallsyms, rest;
	struct kallsyms_line line;
	char *bytes;
	size_t n;
	int err = text->p ? 0 : file_read("/proc/kallsyms", LARGEST, &bytes, &n);

	if (err < 0)
		return fail(-err, "/proc/kallsyms can't be read: %s", strerror(-err));
	if (!text->p)
		*text = (struct str){bytes, n};
	for (rest = *text; err == 0 && kallsyms_next(&rest, &line);) {
		struct str module = kallsyms_cut_module(&line.name);

		if (strchr("tTwW", line.type) &&
		    (target->module ? str_is(module, target->module) : !module.p))
			err = call(arg, line.name);
	}
	return err;
}

static bool read_types(const char *name, const struct btf *base, char **ret_bytes, struct btf *ret)
{
	auto_free char *path = text_dup_fmt("/sys/kernel/btf/%s", name);
	size_t n;

	if (file_read(path, LARGEST, ret_bytes, &n) < 0) {
		*ret_bytes = xstrdup(""); // is not looked for again
		return false;
	}
	return btf_init_module(ret, base, (struct str){*ret_bytes, n}) == 0;
}

// A module's types go on where those of the kernel end.
const struct btf *probe_kernel_types(struct probe_target *target)
{
	if (!target->btf_bytes)
		target->has_btf = read_types("vmlinux", NULL, &target->btf_bytes, &target->btf);
	if (!target->has_btf)
		return NULL;
	if (!target->module)
		return &target->btf;
	if (!target->module_btf_bytes)
		target->has_module_btf = read_types(target->module, &target->btf,
						    &target->module_btf_bytes, &target->module_btf);
	return target->has_module_btf ? &target->module_btf : NULL;
}

void probe_kernel_done(struct probe_target *target)
{
	if (target->has_module_btf)
		btf_done(&target->module_btf);
	free(target->module_btf_bytes);
	if (target->has_btf)
		btf_done(&target->btf);
	free(target->btf_bytes);
	free((char *)target->kallsyms.p);
}
