// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/opt.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/num.h"
#include "base/str.h"
#include "base/vec.h"
#include <limits.h>
#include <stdio.h>
#include <stdint.h>

bool opt_is_end(const struct opt *opt)
{
	return opt->kind == OPT_GROUP && !opt->help;
}

const struct opt *opt_next(struct opt_walk *walk)
{
	while (walk->next) {
		const struct opt *opt = walk->next++;

		if (opt->kind == OPT_ROWS) {
			walk->behind = walk->next;
			walk->next = opt->rows;
		} else if (!opt_is_end(opt)) {
			return opt;
		} else {
			walk->next = walk->behind;
			walk->behind = NULL;
		}
	}
	return NULL;
}

void opt_list_add(struct opt_list *list, const char *text)
{
	list->v = xreallocarray(list->v, list->n + 1, sizeof(*list->v));
	list->v[list->n++] = text;
}

static const char *display_name(const struct opt *opt, char buf[64])
{
	if (opt->name)
		snprintf(buf, 64, "--%s", opt->name);
	else
		snprintf(buf, 64, "-%c", opt->letter);
	return buf;
}

static bool is_big_enough(const struct opt *opt, double v)
{
	return opt->least == OPT_ANY || v > 0 || (v == 0 && opt->least == OPT_FROM_ZERO);
}

static int number_wrong(const struct opt *opt, const char *arg)
{
	static const char *const bounds[] = {"", " from 0 up", " above 0"};
	char name[64];

	return fail(EINVAL, "%s takes a %s%s, not '%s'", display_name(opt, name),
		    opt->kind == OPT_SIZE ? "size such as 64K or 2M" : "number", bounds[opt->least],
		    arg);
}

static int set_number(void *at, const struct opt *opt, const char *arg)
{
	uint64_t u = 0;
	int64_t i = 0;
	double d = 0;
	int err;

	switch (opt->kind) {
	case OPT_INT:
		err = num_parse_i64(str_of(arg), &i);
		if (err || i < INT_MIN || i > INT_MAX || !is_big_enough(opt, (double)i))
			return number_wrong(opt, arg);
		*(int *)at = (int)i;
		return 0;
	case OPT_DOUBLE:
		err = num_parse_double(str_of(arg), &d);
		if (err || !is_big_enough(opt, d))
			return number_wrong(opt, arg);
		*(double *)at = d;
		return 0;
	default:
		break;
	}
	err = opt->kind == OPT_SIZE ? num_parse_size(str_of(arg), &u)
				    : num_parse_u64(str_of(arg), &u);
	if (err || !is_big_enough(opt, (double)u) || (opt->kind == OPT_U32 && u > UINT_MAX))
		return number_wrong(opt, arg);
	if (opt->kind == OPT_U32)
		*(unsigned *)at = (unsigned)u;
	else
		*(uint64_t *)at = u;
	return 0;
}

static int apply(const struct opt *opt, void *options, const char *arg, bool negated)
{
	void *at = (char *)options + opt->offset;

	if (opt->given)
		*(bool *)((char *)options + opt->given) = true;
	if (opt->kind == OPT_CALL)
		return opt->call(options, opt, arg ? arg : (negated ? NULL : opt->absent), negated);
	if (!arg)
		arg = opt->absent;
	switch (opt->kind) {
	case OPT_FLAG:
		*(bool *)at = !negated;
		return 0;
	case OPT_COUNT:
		*(int *)at = negated ? 0 : *(int *)at + 1;
		return 0;
	case OPT_TEXT:
		*(const char **)at = negated ? NULL : arg;
		return 0;
	case OPT_LIST:
		if (negated)
			((struct opt_list *)at)->n = 0;
		else
			opt_list_add(at, arg);
		return 0;
	default:
		if (negated) {
			char name[64];
			return fail(EINVAL, "%s can't be negated", display_name(opt, name));
		}
		return set_number(at, opt, arg);
	}
}

static bool takes_argument(const struct opt *opt)
{
	return opt->arg != NULL;
}

// perf's rule for "-g caller": what begins with a dash is the next option.
static bool takes_next_word(const struct opt *opt, const char *next)
{
	return opt->next_word && next && next[0] != '-';
}

// Which options a word may mean. A table name "no-foo" is matched by --foo negated.
struct match {
	const struct opt *opt;
	bool negated, exact;
	int count;
};

// The word is the name (of the option, or of what negates it) or its beginning.
static void try_match(struct match *m, struct str word, struct str name, struct match found)
{
	found.exact = str_eq(word, name);
	if (!found.exact && !(word.n && name.n > word.n && !memcmp(name.p, word.p, word.n)))
		return;
	if (m->exact && !found.exact)
		return;
	found.count = found.exact && !m->exact ? 1 : m->count + 1;
	if (m->opt == found.opt && found.count > 1 && m->negated == found.negated)
		return;
	*m = found;
}

static struct match find_long(const struct opt *table, struct str word)
{
	struct opt_walk walk = {table, NULL};
	struct match m = {0};

	for (const struct opt *opt; (opt = opt_next(&walk));) {
		if (!opt->name || opt->kind == OPT_GROUP)
			continue;
		const struct match negated = {.opt = opt, .negated = true};
		struct str name = str_of(opt->name);
		try_match(&m, word, name, (struct match){.opt = opt});
		if (opt->no_negation)
			continue;
		if (str_starts(name, "no-")) {
			try_match(&m, word, (struct str){name.p + 3, name.n - 3}, negated);
		} else if (str_starts(word, "no-")) {
			try_match(&m, (struct str){word.p + 3, word.n - 3}, name, negated);
		}
	}
	return m;
}

static int unknown_long(const struct opt *table, struct str word)
{
	VEC(const char *) names = {0};
	auto_free char *text = str_dup(word);
	struct opt_walk walk = {table, NULL};
	const char *near;
	int err;

	for (const struct opt *opt; (opt = opt_next(&walk));) {
		if (opt->name && !opt->hidden && opt->kind != OPT_GROUP)
			vec_push(&names, opt->name);
	}
	vec_push(&names, NULL);
	near = nearest(text, names.v);
	if (near)
		err = fail(EINVAL, "there is no option --%s; did you mean --%s?", text, near);
	else
		err = fail(EINVAL, "there is no option --%s; -h lists the options", text);
	vec_done(&names);
	return err;
}

struct parser {
	const struct opt *table;
	void *options;
	char **at;		// the word that is looked at
	const struct opt *last; // that was found in it
};

static int parse_long(struct parser *p)
{
	struct str rest = str_of(*p->at + 2);
	struct str name = str_cut(&rest, '=');
	const char *arg = rest.p;
	struct match m = find_long(p->table, name);

	if (m.count == 0) {
		if (str_is(name, "help"))
			return -ECANCELED;
		return unknown_long(p->table, name);
	}
	if (m.count > 1 && !m.exact)
		return fail(EINVAL,
			    "--%.*s could mean more than one option (--%s among them); write it out",
			    STR_FMT(name), m.opt->name);
	p->last = m.opt;
	if (m.negated || !takes_argument(m.opt)) {
		if (arg)
			return fail(EINVAL, "--%.*s takes no argument", STR_FMT(name));
		return apply(m.opt, p->options, NULL, m.negated);
	}
	if (!arg && (takes_next_word(m.opt, p->at[1]) || !m.opt->absent)) {
		if (!p->at[1])
			return fail(EINVAL, "--%s needs an argument (%s)", m.opt->name, m.opt->arg);
		arg = *++p->at;
	}
	return apply(m.opt, p->options, arg, false);
}

static int parse_letters(struct parser *p)
{
	for (const char *letter = *p->at + 1; *letter; letter++) {
		struct opt_walk walk = {p->table, NULL};
		const struct opt *opt = opt_next(&walk);
		const char *arg = NULL;
		int err;

		while (opt && (opt->kind == OPT_GROUP || opt->letter != *letter))
			opt = opt_next(&walk);
		if (!opt) {
			if (*letter == 'h')
				return -ECANCELED;
			return fail(EINVAL, "there is no option -%c; -h lists the options", *letter);
		}
		p->last = opt;
		if (!takes_argument(opt)) {
			err = apply(opt, p->options, NULL, false);
			if (err)
				return err;
			continue;
		}
		if (letter[1]) {
			arg = letter + 1;
		} else if (takes_next_word(opt, p->at[1]) || !opt->absent) {
			if (!p->at[1])
				return fail(EINVAL, "-%c needs an argument (%s)", *letter, opt->arg);
			arg = *++p->at;
		}
		return apply(opt, p->options, arg, false);
	}
	return 0;
}

int opt_parse(const struct opt *table, void *options, char **argv, int flags)
{
	struct parser p = {.table = table, .options = options};
	int words = 1;

	for (p.at = argv + 1; *p.at; p.at++) {
		const char *word = *p.at;
		int err;

		if (word[0] != '-' || !word[1]) {
			if (flags & OPT_STOP_AT_WORD)
				break;
			argv[words++] = *p.at;
			continue;
		}
		if (!strcmp(word, "--")) {
			p.at += !(flags & OPT_KEEP_DASHES);
			break;
		}
		err = word[1] == '-' ? parse_long(&p) : parse_letters(&p);
		if (err)
			return err;
		if (p.last && p.last->last) {
			p.at++;
			break;
		}
	}
	while (*p.at)
		argv[words++] = *p.at++;
	argv[words] = NULL;
	return words - 1;
}

int opt_cut_dashes(int *words, char **argv, int flags)
{
	int last = flags & OPT_STOP_AT_WORD ? MIN(*words, 1) : *words, at = 1;

	while (at <= last && strcmp(argv[at], "--"))
		at++;
	if (at > last)
		return *words;
	memmove(&argv[at], &argv[at + 1], (size_t)(*words - at + 1) * sizeof(*argv));
	(*words)--;
	return at - 1;
}
