// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/spec.h"
#include "base/err.h"
#include <ctype.h>
#include <limits.h>
#include <sys/stat.h>

enum until_what { FILTER, VALUE };

struct reader {
	const char *text;
	size_t at, n;
	struct arena *arena;
};

const char *const prof_common_attributes[] = {"stack", "max-stack", "alias", "cpus",
					      "push",  "pull",	    NULL};

bool prof_attribute_is_word(const char *name)
{
	static const char *const words[] = {"stack", "untraced", "trigger"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(name, words[i]))
			return true;
	return false;
}

void prof_specs_done(struct prof_specs *specs)
{
	for (size_t i = 0; i < specs->list.n; i++)
		vec_done(&specs->list.v[i]->attrs);
	vec_done(&specs->list);
	arena_done(&specs->arena);
}

const char *prof_spec_attr(const struct prof_spec *spec, const char *name)
{
	for (size_t i = 0; spec && i < spec->attrs.n; i++) {
		if (!strcmp(spec->attrs.v[i].name, name))
			return spec->attrs.v[i].value ? spec->attrs.v[i].value : "";
	}
	return NULL;
}

static int bad(const struct reader *r, size_t at, const char *what)
{
	return fail(EINVAL, "%s\n  %s\n  %*s", what, r->text, (int)at + 1, "^");
}

// Is the / at `at` a division? No attribute begins with a number or a parenthesis.
static bool divides(const struct reader *r, size_t at)
{
	for (at++; at < r->n && r->text[at] == ' '; at++)
		;
	return at < r->n && (isdigit((unsigned char)r->text[at]) || r->text[at] == '(');
}

// Up to a / that is in no quotes and no parentheses.
static struct str until(struct reader *r, enum until_what what)
{
	size_t from = r->at;
	bool quoted = false;
	int depth = 0;

	for (; r->at < r->n; r->at++) {
		char c = r->text[r->at];

		if (c == '"')
			quoted = !quoted;
		else if (quoted)
			continue;
		else if (c == '(')
			depth++;
		else if (c == ')')
			depth--;
		else if (depth <= 0 && c == '/' && !(what == VALUE && divides(r, r->at)))
			break;
	}
	return (struct str){r->text + from, r->at - from};
}

// A value in quotes ends where a / or the end follows, whatever quotes are within.
static bool quoted_value(struct reader *r, struct str *ret)
{
	size_t from = r->at + 1;

	if (r->at >= r->n || r->text[r->at] != '"')
		return false;
	// Forgotten at its end.
	if (!memchr(r->text + from, '"', r->n - from)) {
		r->at = from;
		return false;
	}
	for (size_t i = from; i < r->n; i++) {
		if (r->text[i] != '"' || (i + 1 < r->n && r->text[i + 1] != '/'))
			continue;
		*ret = (struct str){r->text + from, i - from};
		r->at = i + 1;
		return true;
	}
	return false;
}

// uprobe:FUNC@/a/file/FILTER/, pull=/run/a.sock/: the file's name ends where there is such a file. 0: in quotes, or there is none.
static size_t path_length(const struct reader *r, size_t from)
{
	struct stat st;

	for (size_t end = MIN(r->n, from + PATH_MAX); end > from + 1; end--) {
		auto_free char *path = NULL;

		if (end < r->n && r->text[end] != '/' && r->text[end] != ',')
			continue;
		path = str_dup((struct str){r->text + from, end - from});
		if (strchr(path, '"'))
			continue;
		if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
			return end - from;
	}
	return 0;
}

// Of push= and pull=, when there is such a file or device.
static bool path_value(struct reader *r, const char *name, struct str *ret)
{
	size_t n = 0;

	if (!strcmp(name, "push") || !strcmp(name, "pull"))
		n = path_length(r, r->at);
	*ret = (struct str){r->text + r->at, n};
	r->at += n;
	return n > 0;
}

static int read_attrs(struct reader *r, struct prof_spec *spec)
{
	while (r->at < r->n && r->text[r->at] != ',') {
		size_t at = r->at;
		struct prof_attr attr = {0};
		struct str name, value;

		while (r->at < r->n && !strchr("=/,", r->text[r->at]))
			r->at++;
		name = str_trim((struct str){r->text + at, r->at - at});
		if (!name.n)
			return bad(r, at, "here the name of an attribute is missing");
		attr.name = arena_strdup(r->arena, name);
		if (r->at < r->n && r->text[r->at] == '=') {
			r->at++;
			if (!quoted_value(r, &value) && !path_value(r, attr.name, &value))
				value = until(r, VALUE);
			attr.value = arena_strdup(r->arena, value);
		}
		vec_push(&spec->attrs, attr);
		if (r->at < r->n && r->text[r->at] == '/')
			r->at++;
		else if (r->at < r->n)
			return bad(r, r->at, "here a / is missing");
	}
	return 0;
}

static int read_event(struct reader *r, struct prof_specs *specs)
{
	struct prof_spec *spec = arena_zalloc(&specs->arena, sizeof(*spec));
	size_t from = r->at;
	struct str name;

	vec_push(&specs->list, spec);
	spec->stage = specs->stages;
	for (bool quoted = false, has_file = false; r->at < r->n; r->at++) {
		char c = r->text[r->at];

		if (c == '"')
			quoted = !quoted;
		else if (c == '@' && !quoted && !has_file) {
			has_file = true;
			r->at += path_length(r, r->at + 1);
		} else if (!quoted && (c == '/' || c == ','))
			break;
	}
	name = str_trim((struct str){r->text + from, r->at - from});
	if (!name.n)
		return bad(r, from, "here the name of an event is missing");
	spec->name = arena_strdup(r->arena, name);
	if (r->at >= r->n || r->text[r->at] == ',')
		return 0;
	r->at++;
	const char *filter = arena_strdup(r->arena, str_trim(until(r, FILTER)));
	// "sched:sched_switch/stack/": no filter is a word alone.
	if (prof_attribute_is_word(filter))
		vec_push(&spec->attrs, (struct prof_attr){filter, NULL});
	else if (*filter)
		spec->filter = prof_filter_quoted(r->arena, filter);
	if (r->at < r->n)
		r->at++;
	return read_attrs(r, spec);
}

int prof_specs_parse(struct prof_specs *specs, const char *text)
{
	struct reader r = {.text = text, .n = strlen(text), .arena = &specs->arena};
	int err;

	do {
		err = read_event(&r, specs);
		if (err)
			return err;
	} while (r.at < r.n && r.text[r.at++] == ',');
	specs->stages++;
	return 0;
}

// Is what follows a comparison a word, which the kernel wants in quotes?
static bool is_bare_word(const char *p)
{
	return *p && *p != '"' && *p != '\'' && !isdigit((unsigned char)*p) && *p != '-' &&
	       *p != '(' && *p != '!';
}

const char *prof_filter_quoted(struct arena *arena, const char *filter)
{
	char *ret = arena_alloc(arena, strlen(filter) * 3 + 1), *to = ret;
	const char *p = filter;

	while (*p) {
		bool compares = *p == '~' || ((*p == '=' || *p == '!') && p[1] == '=');

		if (*p == '"' || *p == '\'') {
			const char *end = strchr(p + 1, *p);

			end = end ? end + 1 : p + strlen(p);
			memcpy(to, p, (size_t)(end - p));
			to += end - p;
			p = end;
			continue;
		}
		*to++ = *p++;
		if (!compares)
			continue;
		if (to[-1] != '~')
			*to++ = *p++;
		while (*p == ' ')
			*to++ = *p++;
		if (!is_bare_word(p))
			continue;
		*to++ = '"';
		while (*p && !strchr(" &|)", *p))
			*to++ = *p++;
		*to++ = '"';
	}
	*to = 0;
	return ret;
}
