// SPDX-License-Identifier: GPL-2.0-or-later
// What a probe's text asks for.
#pragma once
#include "base/arena.h"
#include "base/out.h"
#include "base/vec.h"

enum { PROBE_MOST_ARGS = 128 }; // MAX_TRACE_ARGS of the kernel

struct probe_field {
	struct str name; // of a member; empty: an index
	int64_t index;
	bool is_arrow; // ->
};

struct probe_arg {
	const char *name; // "x" of x=l->y; NULL: none was given
	const char *var;  // of the program, or the kernel's own: %di, $retval, +0(%sp), @symbol
	VEC(struct probe_field) fields;
	const char *type; // "s32", "string"; NULL
	bool is_raw;	  // the kernel's own
	bool is_user;	  // @user: in memory of the user
};

struct probe_point {
	const char *function, *file; // function may be a glob; file NULL: any
	uint32_t line;		     // with a function: from its first line on; 0: none
	uint64_t offset;
	const char *lazy; // lines that look like this
	bool is_return;
	bool is_start;	 // the very start, also of functions that were built without optimization
	bool is_address; // function is "0x..."
	bool is_place;	 // function is "FILE@ADDRESS", as code without symbols is called
	uint64_t address;
};

struct probe_request {
	const char *group, *event; // NULL: not given; of %NAME they are globs
	struct probe_point point;
	VEC(struct probe_arg) args;
	bool is_sdt; // %[GROUP:]NAME: a static probe, or one of the cache
};

// -EINVAL with a sentence. All texts lie in the arena.
int probe_parse(struct arena *arena, const char *text, struct probe_request *ret);
void probe_request_done(struct probe_request *request);

// FUNC[@SRC][:START[-END|+N]] or SRC[:START[-END|+N]]
struct probe_lines {
	const char *function, *file;
	uint32_t start, end; // inclusive; UINT32_MAX: to the end
};
int probe_parse_lines(struct arena *arena, const char *text, struct probe_lines *ret);
// "work:6", "work+4", "@t.c:26"
void probe_put_point(struct out *out, const struct probe_point *point);
// "[GROUP:EVENT=]PLACE ARG...", as the request was typed; `group` where it names an event only.
void probe_put_request(struct out *out, const struct probe_request *request, const char *group);
// "x=l->y:s32"
void probe_put_arg(struct out *out, const struct probe_arg *arg);
bool probe_is_glob(const char *text);
// Does it need the parameters or variables of a function?
bool probe_is_function_arg(const struct probe_arg *arg);
// A text of strangers as the name of an event or argument: what the kernel doesn't take becomes '_'.
const char *probe_clean_name(struct arena *arena, struct str text);
// Can it be a part of a definition? Blanks and control characters end words, '#' begins a comment.
bool probe_is_word(const char *text);
