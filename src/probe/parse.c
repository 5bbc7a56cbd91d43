// SPDX-License-Identifier: GPL-2.0-or-later
// The text of a probe: [[GROUP:]EVENT=]PLACE ARG..., and of -L's ranges of lines.
#include "probe/parse.h"
#include "base/err.h"

bool probe_is_glob(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_event_name(struct str s)
{
	if (!s.n || !is_letter(*s.p))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!is_letter(s.p[i]) && !is_digit(s.p[i]))
			return false;
	return s.n < 64;
}

const char *probe_clean_name(struct arena *arena, struct str text)
{
	char *name =
		arena_fmt(arena, "%s%.*s", text.n && !is_digit(*text.p) ? "" : "_", STR_FMT(text));

	for (char *c = name; *c; c++)
		if (!is_letter(*c) && !is_digit(*c))
			*c = '_';
	return name;
}

bool probe_is_word(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 127 || *c == '#')
			return false;
	return *text;
}

// The next of `stops` in s, not behind a backslash.
static size_t stop_at(struct str s, const char *stops)
{
	for (size_t i = 0; i < s.n; i++) {
		// "::" is a part of names of C++ and Rust.
		if (s.p[i] == '\\' || (s.p[i] == ':' && i + 1 < s.n && s.p[i + 1] == ':'))
			i++;
		else if (strchr(stops, s.p[i]))
			return i;
	}
	return s.n;
}

static struct str rest_of(struct str s, size_t at)
{
	return (struct str){s.p + at, s.n - at};
}

static const char *unescaped(struct arena *arena, struct str s)
{
	char *text = arena_alloc(arena, s.n + 1), *to = text;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n)
			i++;
		*to++ = s.p[i];
	}
	*to = '\0';
	return text;
}

static int take_name(struct arena *arena, struct str name, struct probe_request *ret)
{
	struct str event = name, group = str_cut(&event, ':');

	if (event.p) {
		if (!is_event_name(group))
			return fail(EINVAL,
				    "'%.*s' can't be the name of a group: letters, digits and "
				    "underscores, and no digit first",
				    STR_FMT(group));
		ret->group = arena_strdup(arena, group);
	} else {
		event = name;
	}
	if (!is_event_name(event))
		return fail(EINVAL,
			    "'%.*s' can't be the name of an event: letters, digits and "
			    "underscores, and no digit first",
			    STR_FMT(event));
	ret->event = arena_strdup(arena, event);
	return 0;
}

// One of :LINE +OFFSET @FILE %return
static int take_part(struct arena *arena, char kind, struct str part, struct probe_point *ret)
{
	uint64_t n;

	switch (kind) {
	case ':':
		if (num_parse_u64(part, &n) < 0 || n > INT32_MAX)
			return fail(EINVAL, "'%.*s' is no line number", STR_FMT(part));
		ret->line = (uint32_t)n;
		return 0;
	case '+':
		if (num_parse_u64(part, &n) < 0)
			return fail(EINVAL, "'%.*s' is no offset: a number of bytes", STR_FMT(part));
		ret->offset = n;
		return 0;
	case '@':
		if (ret->file)
			return fail(EINVAL, "two source files (%s and %.*s) for one place",
				    ret->file, STR_FMT(part));
		ret->file = unescaped(arena, part);
		return 0;
	default:
		if (!str_is(part, "return"))
			return fail(EINVAL, "%%%.*s is not known; %%return is", STR_FMT(part));
		ret->is_return = true;
		return 0;
	}
}

static int check_point(const struct probe_point *point)
{
	if (point->lazy && (point->line || point->offset || point->is_return))
		return fail(EINVAL, "a pattern (;...) can't be with a line, an offset or %%return");
	if (point->line && point->offset)
		return fail(EINVAL, "a line and an offset can't be given together");
	if (point->file && !point->function && !point->line && !point->lazy)
		return fail(EINVAL, "which line of %s? Write %s:LINE", point->file, point->file);
	if (!point->function && (point->offset || point->is_return))
		return fail(EINVAL, "%s needs a function", point->offset ? "an offset" : "%return");
	if (point->is_return && (point->offset || point->line))
		return fail(EINVAL, "%%return can't be with a line or an offset");
	return 0;
}

static int take_point(struct arena *arena, struct str text, struct probe_point *ret)
{
	struct probe_point point = {0};
	size_t at = stop_at(text, ";:"), end;
	// A file has a dot in its name and a line or pattern behind it.
	bool is_file = stop_at(text, "+@%") == text.n && at < text.n && memchr(text.p, '.', at);
	const char *first;
	int err;

	at = stop_at(text, ";:+@%");
	if (!at)
		return fail(EINVAL, "where? '%.*s' names no function and no line", STR_FMT(text));
	first = unescaped(arena, (struct str){text.p, at});
	if (is_file)
		point.file = first;
	else
		point.function = first;
	if (!is_file && text_starts(first, "0x")) {
		point.is_address = true;
		if (num_parse_hex(str_of(first), &point.address) < 0)
			return fail(EINVAL, "'%s' is no address", first);
	}
	while (at < text.n) {
		char kind = text.p[at];
		struct str rest = rest_of(text, at + 1);

		if (kind == ';') {
			point.lazy = arena_strdup(arena, rest);
			if (!rest.n)
				return fail(EINVAL, "the pattern behind ';' is empty");
			break;
		}
		end = stop_at(rest, ";:+@%");
		err = take_part(arena, kind, (struct str){rest.p, end}, &point);
		if (err < 0)
			return err;
		at += 1 + end;
	}
	err = check_point(&point);
	if (err == 0)
		*ret = point;
	return err;
}

// "->b", ".b", "[1]" behind the name of a variable.
static int take_fields(struct str rest, struct probe_arg *arg, struct str whole)
{
	while (rest.n) {
		struct probe_field field = {0};
		size_t n;

		if (*rest.p == '[') {
			const char *end = memchr(rest.p, ']', rest.n);

			if (!end ||
			    num_parse_i64((struct str){rest.p + 1, (size_t)(end - rest.p - 1)},
					  &field.index) < 0)
				return fail(EINVAL, "'%.*s': an index is a number in brackets",
					    STR_FMT(whole));
			rest = rest_of(rest, (size_t)(end - rest.p) + 1);
			vec_push(&arg->fields, field);
			continue;
		}
		if (*rest.p == '.') {
			rest = rest_of(rest, 1);
		} else if (str_starts(rest, "->")) {
			field.is_arrow = true;
			rest = rest_of(rest, 2);
		} else {
			return fail(EINVAL, "'%.*s' is no variable of a program", STR_FMT(whole));
		}
		for (n = 0; n < rest.n && !strchr(".[-", rest.p[n]); n++)
			;
		field.name = (struct str){rest.p, n};
		if (!n)
			return fail(EINVAL, "'%.*s': a member's name is missing", STR_FMT(whole));
		rest = rest_of(rest, n);
		vec_push(&arg->fields, field);
	}
	return 0;
}

static int take_arg(struct arena *arena, struct str text, struct probe_request *request)
{
	struct probe_arg *arg = vec_add(&request->args);
	struct str whole = text, var;
	const char *sign = memchr(text.p, '=', text.n);
	size_t n;

	if (sign) {
		arg->name = arena_strdup(arena, (struct str){text.p, (size_t)(sign - text.p)});
		if (!is_event_name(str_of(arg->name)))
			return fail(EINVAL, "'%s' can't be the name of an argument", arg->name);
		text = rest_of(text, (size_t)(sign - text.p) + 1);
	}
	if (!text.n)
		return fail(EINVAL, "'%.*s': what is to be fetched is missing", STR_FMT(whole));
	// Types begin at the last colon: C++ has two in names.
	for (n = text.n; n > 0; n--) {
		if (text.p[n - 1] != ':')
			continue;
		if (n > 1 && text.p[n - 2] == ':') {
			n--;
			continue;
		}
		arg->type = arena_strdup(arena, rest_of(text, n));
		text.n = n - 1;
		break;
	}
	if (text.n > 5 && memcmp(text.p + text.n - 5, "@user", 5) == 0) {
		arg->is_user = true;
		text.n -= 5;
	}
	if (!text.n)
		return fail(EINVAL, "'%.*s': what is to be fetched is missing", STR_FMT(whole));
	arg->is_raw = !is_letter(*text.p);
	for (n = 0; !arg->is_raw && n < text.n && !strchr(".[-", text.p[n]); n++)
		;
	var = arg->is_raw ? text : (struct str){text.p, n};
	arg->var = arena_strdup(arena, var);
	if (arg->is_raw)
		return 0;
	return take_fields(str_of(arena_strdup(arena, rest_of(text, n))), arg, whole);
}

static struct str next_word(struct str *rest)
{
	struct str word;
	size_t n;

	*rest = str_trim(*rest);
	for (n = 0; n < rest->n && !strchr(" \t\n", rest->p[n]); n++)
		if (rest->p[n] == '\\' && n + 1 < rest->n)
			n++;
	word = (struct str){rest->p, n};
	*rest = rest_of(*rest, n);
	return word;
}

bool probe_is_function_arg(const struct probe_arg *arg)
{
	return !arg->is_raw || !strcmp(arg->var, "$params") || !strcmp(arg->var, "$vars");
}

static int parse(struct arena *arena, struct str rest, struct probe_request *request)
{
	struct str place = next_word(&rest), word;
	size_t at;
	int err;

	// "%sdt_libc:setjmp", "sdt_libc:setjmp"
	if (place.n && *place.p == '%') {
		request->is_sdt = true;
		place = rest_of(place, 1);
	} else if (str_starts(place, "sdt_") && memchr(place.p, ':', place.n) &&
		   !memchr(place.p, '=', place.n)) {
		request->is_sdt = true;
	}
	if (request->is_sdt) {
		struct str event = place, group = str_cut(&event, ':');

		// Without a group what was defined before, in any.
		if (!event.p)
			event = group;
		else if (!group.n)
			event.n = 0;
		else
			request->group = arena_strdup(arena, group);
		if (!event.n)
			return fail(EINVAL, "a static probe is written %%PROVIDER:NAME");
		request->event = arena_strdup(arena, event);
	} else {
		at = stop_at(place, ";=@+%");
		if (at < place.n && place.p[at] == '=') {
			err = take_name(arena, (struct str){place.p, at}, request);
			if (err < 0)
				return err;
			place = rest_of(place, at + 1);
		}
		// A pattern goes on to the end, blanks and all.
		at = stop_at(place, ";");
		if (at < place.n) {
			place.n += rest.n;
			rest.n = 0;
		}
		err = take_point(arena, place, &request->point);
		if (err < 0)
			return err;
	}
	while ((word = next_word(&rest)).n) {
		if (request->args.n == PROBE_MOST_ARGS)
			return fail(EINVAL, "more than %d arguments", PROBE_MOST_ARGS);
		err = take_arg(arena, word, request);
		if (err < 0)
			return err;
	}
	for (size_t i = 0; request->point.is_return && i < request->args.n; i++)
		if (probe_is_function_arg(&request->args.v[i]))
			return fail(EINVAL,
				    "'%s' isn't there any more when the function returns; "
				    "$retval and registers are",
				    request->args.v[i].var);
	return 0;
}

int probe_parse(struct arena *arena, const char *text, struct probe_request *ret)
{
	struct probe_request request = {0};
	int err = parse(arena, str_of(arena_strdup(arena, str_of(text))), &request);

	if (err < 0) {
		probe_request_done(&request);
		return fail_context(err, "probe '%s'", text);
	}
	*ret = request;
	return 0;
}

void probe_request_done(struct probe_request *request)
{
	for (size_t i = 0; i < request->args.n; i++)
		vec_done(&request->args.v[i].fields);
	vec_done(&request->args);
}

int probe_parse_lines(struct arena *arena, const char *text, struct probe_lines *ret)
{
	struct probe_lines lines = {.end = UINT32_MAX};
	struct str range = str_of(text), name = str_cut(&range, ':'), file;
	uint64_t n;

	if (range.p) {
		size_t at = stop_at(range, "+-");
		struct str start = {range.p, at};

		if (num_parse_u64(start, &n) < 0 || n > INT32_MAX)
			return fail(EINVAL, "'%s': '%.*s' is no line number", text, STR_FMT(start));
		lines.start = (uint32_t)n;
		if (at < range.n) {
			struct str end = rest_of(range, at + 1);

			if (num_parse_u64(end, &n) < 0 || n > INT32_MAX)
				return fail(EINVAL, "'%s': '%.*s' is no line number", text,
					    STR_FMT(end));
			// "+N" means N lines.
			lines.end = range.p[at] == '+' ? lines.start + (uint32_t)n - 1 : (uint32_t)n;
			if (lines.end < lines.start)
				return fail(EINVAL, "'%s': it ends before it starts", text);
		}
	}
	file = name;
	name = str_cut(&file, '@');
	if (file.p) {
		lines.function = arena_strdup(arena, name);
		lines.file = arena_strdup(arena, file);
	} else if (memchr(name.p, '/', name.n) || memchr(name.p, '.', name.n)) {
		lines.file = arena_strdup(arena, name);
	} else {
		lines.function = arena_strdup(arena, name);
	}
	if (!name.n || (lines.function && !is_letter(*lines.function)))
		return fail(EINVAL, "'%s' is no function and no file", text);
	*ret = lines;
	return 0;
}

// perf shows only the end of long paths.
static const char *short_file(const char *file)
{
	enum { LONGEST = 30 };
	size_t n = strlen(file);
	const char *slash;

	if (n <= LONGEST)
		return file;
	slash = strchr(file + n - LONGEST, '/');
	return slash ? slash + 1 : file + n - LONGEST;
}

void probe_put_point(struct out *out, const struct probe_point *point)
{
	if (point->function) {
		out_text(out, point->function);
		if (point->offset)
			out_printf(out, "+%llu", (unsigned long long)point->offset);
		if (point->line)
			out_printf(out, ":%u", point->line);
		if (point->is_return)
			out_text(out, "%return");
	}
	if (point->file) {
		out_char(out, '@');
		out_text(out, short_file(point->file));
		if (!point->function && point->line)
			out_printf(out, ":%u", point->line);
	}
	if (point->lazy)
		out_printf(out, ";%s", point->lazy);
}

void probe_put_arg(struct out *out, const struct probe_arg *arg)
{
	if (arg->name)
		out_printf(out, "%s=", arg->name);
	out_text(out, arg->var);
	for (size_t i = 0; i < arg->fields.n; i++) {
		const struct probe_field *field = &arg->fields.v[i];

		if (field->name.n)
			out_printf(out, "%s%.*s", field->is_arrow ? "->" : ".", STR_FMT(field->name));
		else
			out_printf(out, "[%lld]", (long long)field->index);
	}
	if (arg->is_user)
		out_text(out, "@user");
	if (arg->type)
		out_printf(out, ":%s", arg->type);
}

void probe_put_request(struct out *out, const struct probe_request *request, const char *group)
{
	if (request->event)
		out_printf(out, "%s:%s=", request->group ? request->group : group, request->event);
	probe_put_point(out, &request->point);
	for (size_t i = 0; i < request->args.n; i++) {
		out_char(out, ' ');
		probe_put_arg(out, &request->args.v[i]);
	}
}
