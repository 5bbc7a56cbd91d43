// SPDX-License-Identifier: GPL-2.0-or-later
// The text of /proc/kallsyms: "ffffffff81000000 T _text" and "ffffffffc0000000 t init\t[module]".
#pragma once
#include "base/str.h"
#include <stdint.h>

struct kallsyms_line {
	uint64_t addr;
	char type;
	struct str name; // with "\t[module]" behind it for those of modules
};

// The next line that makes sense; false at the end. About 20 ns.
bool kallsyms_next(struct str *rest, struct kallsyms_line *ret);
// Cuts "\t[module]" off a line's name; the module without brackets, .p NULL: the kernel itself.
struct str kallsyms_cut_module(struct str *name);
// The address of a function (types t, w, a); false when it is not there.
bool kallsyms_find(struct str text, const char *name, uint64_t *ret);
