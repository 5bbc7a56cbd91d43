// SPDX-License-Identifier: GPL-2.0-or-later
// The event specs of profilers: "sys:name[/filter/ATTR/ATTR=value/.../],sys:name...".
// A value may stand in double quotes; it ends at the quote that a / or the end follows, so quotes may stand in it. A comma in
// quotes or parentheses separates nothing. A / before a number or a parenthesis divides; before a name it needs quotes. The
// file of a uprobe, of push= and pull= needs quotes only when it does not exist.
#pragma once
#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include <stdint.h>

struct prof_attr {
	const char *name, *value; // value NULL: none
};

struct prof_spec {
	const char *name;   // "sched:sched_switch", or "task-state" of a profiler
	const char *filter; // NULL: none
	VEC(struct prof_attr) attrs;
	uint32_t stage; // the -e it stands in
};

// Zero-initialised is empty.
struct prof_specs {
	VEC(struct prof_spec *) list;
	struct arena arena;
	uint32_t stages;
};

// One -e. -EINVAL with a sentence that shows the place.
int prof_specs_parse(struct prof_specs *specs, const char *text);
void prof_specs_done(struct prof_specs *specs);
// The value of an attribute; "" when it stands there without one, NULL when it is not there. spec may be NULL.
const char *prof_spec_attr(const struct prof_spec *spec, const char *name);
// Does it take no value ("stack")?
bool prof_attribute_is_word(const char *name);
// Attributes that all profilers understand, NULL-terminated.
extern const char *const prof_common_attributes[];
// A filter as the kernel wants it: words that are compared are put in quotes (the shell has taken them away).
const char *prof_filter_quoted(struct arena *arena, const char *filter);
