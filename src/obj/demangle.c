// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/demangle.h"
#include <ctype.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/str.h"
#include "base/vec.h"

// From libiberty/demangle.h, whose other names collide with base/alloc.h.
enum { DMGL_NO_OPTS = 0, DMGL_PARAMS = 1, DMGL_ANSI = 2, DMGL_NO_RECURSE_LIMIT = 1 << 18 };
typedef void demangle_callback(const char *piece, size_t n, void *arg);
int cplus_demangle_v3_callback(const char *mangled, int options, demangle_callback *callback,
			       void *arg);
int rust_demangle_callback(const char *mangled, int options, demangle_callback *callback, void *arg);
char *dlang_demangle(const char *mangled, int options);

enum {
	// Substitutions let a short name stand for an endless text.
	MOST_OUTPUT = 1 << 16,
	MOST_INPUT = 1 << 14,
	// Longer ones libiberty refuses, for fear of its stack, unless it is told that there is enough.
	SHORT_INPUT = 1024,
	STACK_BYTES = 64 << 20,
	// Each back reference of D may double the text, and its demangler can't be stopped.
	MOST_BACK_REFERENCES = 16,
};

struct text {
	VEC(char) bytes;
	jmp_buf too_long;
};

static void take(const char *piece, size_t n, void *arg)
{
	struct text *text = arg;

	if (text->bytes.n + n > MOST_OUTPUT)
		longjmp(text->too_long, 1);
	vec_reserve(&text->bytes, n + 1);
	memcpy(text->bytes.v + text->bytes.n, piece, n);
	text->bytes.n += n;
}

typedef int demangler(const char *mangled, int options, demangle_callback *callback, void *arg);

// libiberty keeps what it needs on the stack, so that jumping out of it leaks nothing.
static char *run(demangler *function, const char *name, int options)
{
	struct text *text = NEW(struct text);
	char *result = NULL;
	int ok;

	if (setjmp(text->too_long))
		ok = 0;
	else
		ok = function(name, options, take, text);
	if (ok && text->bytes.n) {
		vec_push(&text->bytes, '\0');
		result = text->bytes.v;
	} else {
		vec_done(&text->bytes);
	}
	free(text);
	return result;
}

struct long_name {
	const char *name;
	int options;
	char *result;
};

static void *run_long(void *arg)
{
	struct long_name *job = arg;

	job->result = run(cplus_demangle_v3_callback, job->name, job->options);
	return NULL;
}

// Deep templates, in a thread for the sake of its stack, which costs what is used of it.
static char *demangle_long(const char *name, int options)
{
	struct long_name job = {name, options | DMGL_NO_RECURSE_LIMIT, NULL};
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr))
		return NULL;
	if (pthread_attr_setstacksize(&attr, STACK_BYTES) == 0 &&
	    pthread_create(&thread, &attr, run_long, &job) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	return job.result;
}

static char *demangle_d(const char *name)
{
	unsigned references = 0;

	if (name[2] != '_' && !isdigit((unsigned char)name[2]) && strcmp(name, "_Dmain"))
		return NULL;
	for (const char *c = name; *c; c++)
		references += *c == 'Q';
	return references > MOST_BACK_REFERENCES ? NULL : dlang_demangle(name, 0);
}

static unsigned hex_digit(char c)
{
	return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

static char *demangle_ocaml(const char *name)
{
	char *result = xmalloc(strlen(name) + 1), *to = result;
	const char *at = name + 4;

	while (*at) {
		if (at[0] == '_' && at[1] == '_') {
			*to++ = '.';
			at += 2;
		} else if (at[0] == '$' && isxdigit((unsigned char)at[1]) &&
			   isxdigit((unsigned char)at[2])) {
			*to++ = (char)(hex_digit(at[1]) << 4 | hex_digit(at[2]));
			at += 3;
		} else {
			*to++ = *at++;
		}
	}
	*to = '\0';
	return result;
}

static const char *java_type(char c)
{
	switch (c) {
	case 'B':
		return "byte";
	case 'C':
		return "char";
	case 'D':
		return "double";
	case 'F':
		return "float";
	case 'I':
		return "int";
	case 'J':
		return "long";
	case 'S':
		return "short";
	case 'Z':
		return "boolean";
	case 'V':
		return "void";
	default:
		return NULL;
	}
}

static void put(struct text *text, const char *piece, size_t n)
{
	vec_reserve(&text->bytes, n + 1);
	for (size_t i = 0; i < n; i++)
		text->bytes.v[text->bytes.n++] = piece[i] == '/' ? '.' : piece[i];
}

// The types between the parentheses of a method; false when they make no sense.
static bool java_arguments(struct text *text, const char *at, const char *end)
{
	bool first = true;

	while (at < end) {
		unsigned dimensions = 0;
		const char *name = NULL;

		for (; at < end && *at == '['; at++)
			dimensions++;
		if (at == end)
			return false;
		if (!first)
			put(text, ", ", 2);
		first = false;
		if (*at == 'L') {
			const char *semicolon = memchr(at, ';', (size_t)(end - at));

			if (!semicolon)
				return false;
			put(text, at + 1, (size_t)(semicolon - at - 1));
			at = semicolon + 1;
		} else {
			name = java_type(*at++);
			if (!name)
				return false;
			put(text, name, strlen(name));
		}
		while (dimensions--)
			put(text, "[]", 2);
	}
	return true;
}

// "Ljava/lang/String;equals(I[B)Z" as JIT agents name compiled methods.
static char *demangle_java(const char *name)
{
	const char *semicolon = strchr(name, ';');
	const char *open = semicolon ? strchr(semicolon, '(') : NULL;
	const char *close = open ? strrchr(open, ')') : NULL;
	struct text text = {0};

	if (!close || memchr(name, '(', (size_t)(semicolon - name)))
		return NULL;
	put(&text, name + 1, (size_t)(semicolon - name - 1));
	if (open > semicolon + 1) {
		if (isalpha((unsigned char)semicolon[1]))
			put(&text, ".", 1);
		put(&text, semicolon + 1, (size_t)(open - semicolon - 1));
	}
	put(&text, "(", 1);
	if (!java_arguments(&text, open + 1, close)) {
		vec_done(&text.bytes);
		return NULL;
	}
	put(&text, ")", 1);
	vec_push(&text.bytes, '\0');
	return text.bytes.v;
}

static bool is_ocaml(const char *name)
{
	return text_starts(name, "caml") && isupper((unsigned char)name[4]);
}

bool demangle_maybe(const char *name)
{
	if (name[0] == '_')
		return name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' ||
		       text_starts(name, "_GLOBAL_");
	if (name[0] == 'L')
		return memchr(name, ')', strnlen(name, MOST_INPUT));
	return is_ocaml(name);
}

char *demangle(const char *name, bool parameters)
{
	int options = parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	char *result = NULL;

	if (!demangle_maybe(name) || strnlen(name, MOST_INPUT) == MOST_INPUT)
		return NULL;
	if (name[0] == 'L')
		return demangle_java(name);
	if (name[0] == 'c')
		return demangle_ocaml(name);
	if (name[1] == 'D')
		return demangle_d(name);
	result = run(rust_demangle_callback, name, options);
	if (result)
		return result;
	if (strlen(name) > SHORT_INPUT)
		return demangle_long(name, options);
	return run(cplus_demangle_v3_callback, name, options);
}

struct str name_without_version(struct str name)
{
	const char *at = name.n > 2 ? memchr(name.p + 1, '@', name.n - 2) : NULL;

	if (at && (at[1] == '@' || (at[1] >= 'A' && at[1] <= 'Z')))
		name.n = (size_t)(at - name.p);
	return name;
}
