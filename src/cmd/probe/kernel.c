// SPDX-License-Identifier: GPL-2.0-or-later
// What the running kernel tells of itself: names of functions by /proc/kallsyms, types by its BTF. Each is read once.
#include "base/err.h"
#include "cmd/probe/probe.h"
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

const struct btf *probe_kernel_types(struct probe_target *target)
{
	char *bytes;
	size_t n;

	if (target->btf_bytes)
		return target->has_btf ? &target->btf : NULL;
	if (file_read("/sys/kernel/btf/vmlinux", LARGEST, &bytes, &n) < 0)
		return NULL;
	target->btf_bytes = bytes;
	target->has_btf = btf_init(&target->btf, (struct str){bytes, n}) == 0;
	return target->has_btf ? &target->btf : NULL;
}

void probe_kernel_done(struct probe_target *target)
{
	if (target->has_btf)
		btf_done(&target->btf);
	free(target->btf_bytes);
	free((char *)target->kallsyms.p);
}
