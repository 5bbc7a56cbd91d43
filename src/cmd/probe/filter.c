// SPDX-License-Identifier: GPL-2.0-or-later
// perf's filters of names: globs with ! & | and parentheses. What stands side by side binds as in C.
#include "base/err.h"
#include "cmd/probe/show.h"

enum { MOST_NODES = 256 };

struct node {
	char kind; // '*' a glob, '!' '&' '|'
	int left, right;
	char *glob; // owned
};

struct probe_filter {
	struct node nodes[MOST_NODES];
	int n, root;
};

struct parser {
	const char *p;
	struct probe_filter *filter;
	int depth;
};

static void skip_blanks(struct parser *parser)
{
	while (*parser->p == ' ' || *parser->p == '\t')
		parser->p++;
}

static int add(struct parser *parser, struct node node)
{
	if (parser->filter->n == MOST_NODES) {
		free(node.glob);
		return fail(E2BIG, "the filter has too many parts");
	}
	parser->filter->nodes[parser->filter->n] = node;
	return parser->filter->n++;
}

static int parse_or(struct parser *parser);

static int parse_one(struct parser *parser)
{
	size_t n = 0;
	int at;

	skip_blanks(parser);
	if (++parser->depth > 64)
		return fail(E2BIG, "the filter is nested too deeply");
	if (*parser->p == '!') {
		parser->p++;
		at = parse_one(parser);
		parser->depth--;
		return at < 0 ? at : add(parser, (struct node){.kind = '!', .left = at});
	}
	if (*parser->p == '(') {
		parser->p++;
		at = parse_or(parser);
		if (at < 0)
			return at;
		skip_blanks(parser);
		if (*parser->p != ')')
			return fail(EINVAL, "a ')' is missing in the filter");
		parser->p++;
		parser->depth--;
		return at;
	}
	parser->depth--;
	while (parser->p[n] && !strchr("&|()! \t", parser->p[n]))
		n += parser->p[n] == '\\' && parser->p[n + 1] ? 2 : 1;
	if (!n)
		return fail(EINVAL, "a name is missing in the filter, before '%s'", parser->p);
	parser->p += n;
	return add(parser,
		   (struct node){.kind = '*', .glob = str_dup((struct str){parser->p - n, n})});
}

static int parse_chain(struct parser *parser, char sign, int (*next)(struct parser *))
{
	int left = next(parser);

	for (skip_blanks(parser); left >= 0 && *parser->p == sign; skip_blanks(parser)) {
		int right;

		parser->p++;
		right = next(parser);
		if (right < 0)
			return right;
		left = add(parser, (struct node){.kind = sign, .left = left, .right = right});
	}
	return left;
}

static int parse_and(struct parser *parser)
{
	return parse_chain(parser, '&', parse_one);
}

static int parse_or(struct parser *parser)
{
	return parse_chain(parser, '|', parse_and);
}

int probe_filter_new(struct probe_filter **ret, const char *text)
{
	struct probe_filter *filter;
	struct parser parser = {.p = text};

	if (!*text)
		return 0;
	filter = parser.filter = NEW(struct probe_filter);
	filter->root = parse_or(&parser);
	if (filter->root >= 0 && *parser.p)
		filter->root = fail(EINVAL, "'%s' is too much in the filter", parser.p);
	if (filter->root < 0) {
		int err = filter->root;

		probe_filter_free(filter);
		return fail_context(err, "filter '%s'", text);
	}
	*ret = filter;
	return 0;
}

static bool takes(const struct probe_filter *filter, int at, const char *name)
{
	const struct node *node = &filter->nodes[at];

	switch (node->kind) {
	case '!':
		return !takes(filter, node->left, name);
	case '&':
		return takes(filter, node->left, name) && takes(filter, node->right, name);
	case '|':
		return takes(filter, node->left, name) || takes(filter, node->right, name);
	default:
		return text_glob(name, node->glob);
	}
}

bool probe_filter_takes(const struct probe_filter *filter, const char *name)
{
	return !filter || takes(filter, filter->root, name);
}

void probe_filter_free(struct probe_filter *filter)
{
	if (!filter)
		return;
	for (int i = 0; i < filter->n; i++)
		free(filter->nodes[i].glob);
	free(filter);
}
