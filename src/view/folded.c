// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/folded.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim_end(struct str *s)
{
	while (s->n && is_space(s->p[s->n - 1]))
		s->n--;
}

// Takes the number at the line's end off it; false when there is none or nothing stands before it.
static bool take_value(struct str *line, double *ret)
{
	static const double tenth[] = {1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9};
	size_t at = line->n, digits = 0;
	const char *p = line->p;

	while (at && (is_digit(p[at - 1]) || p[at - 1] == '.'))
		at--;
	if (at == line->n || at < 2 || !is_space(p[at - 1]) || !is_digit(p[at]))
		return false;
	double value = 0;
	size_t i = at;
	for (; i < line->n && is_digit(p[i]); i++)
		value = value * 10 + (p[i] - '0');
	if (i < line->n) { // the point
		double fraction = 0;

		for (i++; i < line->n && is_digit(p[i]); i++) {
			if (digits + 1 < ARRAY_SIZE(tenth)) {
				fraction = fraction * 10 + (p[i] - '0');
				digits++;
			}
		}
		if (i < line->n)
			return false;
		value += fraction * tenth[digits];
	}
	line->n = at;
	trim_end(line);
	if (!line->n || !(value < 1e300))
		return false;
	*ret = value;
	return true;
}

bool folded_is_line(struct str line)
{
	double value;

	trim_end(&line);
	return take_value(&line, &value);
}

static bool is_comment(struct str line)
{
	return !line.n || line.p[0] == '#';
}

// Two numbers on every one of the first lines.
static bool has_two_columns(struct str text)
{
	unsigned seen = 0;

	while (text.p && seen < 64) {
		struct str line = str_cut(&text, '\n');
		double value;

		trim_end(&line);
		if (is_comment(line) || !take_value(&line, &value))
			continue;
		if (!take_value(&line, &value))
			return false;
		seen++;
	}
	return seen > 0;
}

// The path of the line before, so that what it shares with the next isn't looked up again.
struct path {
	struct str stack;
	size_t n;
	struct {
		size_t end; // in stack: where the frame's ';' stands
		uint32_t node;
	} v[FLAME_DEPTH_MAX];
};

static size_t common_prefix(struct str a, struct str b)
{
	size_t n = MIN(a.n, b.n), i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t x, y;

		memcpy(&x, a.p + i, 8);
		memcpy(&y, b.p + i, 8);
		if (x != y)
			break;
	}
	while (i < n && a.p[i] == b.p[i])
		i++;
	return i;
}

static uint32_t add_forward(struct flame *flame, struct path *path, struct str stack)
{
	size_t common = common_prefix(path->stack, stack);
	size_t at = 0;

	while (path->n && path->v[path->n - 1].end >= common)
		path->n--;
	uint32_t node = 0;
	if (path->n) {
		node = path->v[path->n - 1].node;
		at = path->v[path->n - 1].end + 1;
	}
	path->stack = stack;
	while (at < stack.n) {
		size_t taken, end;
		uint32_t child = flame_guess_child(flame, node,
						   (struct str){stack.p + at, stack.n - at}, &taken);

		if (child) {
			end = at + taken;
			node = child;
		} else {
			const char *semicolon = memchr(stack.p + at, ';', stack.n - at);

			end = semicolon ? (size_t)(semicolon - stack.p) : stack.n;
		}
		if (!child && end > at)
			node = flame_child(flame, node,
					   flame_frame_parse((struct str){stack.p + at, end - at}));
		if (path->n < FLAME_DEPTH_MAX) {
			path->v[path->n].end = end;
			path->v[path->n++].node = node;
		} else {
			flame->stacks_cut++;
			break;
		}
		at = end + 1;
	}
	return node;
}

static uint32_t add_reverse(struct flame *flame, struct str stack)
{
	uint32_t node = 0;
	size_t end = stack.n, depth = 0;

	while (end) {
		const char *semicolon = memrchr(stack.p, ';', end);
		size_t at = semicolon ? (size_t)(semicolon - stack.p) + 1 : 0;

		if (end > at)
			node = flame_child(flame, node,
					   flame_frame_parse((struct str){stack.p + at, end - at}));
		if (++depth > FLAME_DEPTH_MAX) {
			flame->stacks_cut++;
			break;
		}
		end = at ? at - 1 : 0;
	}
	return node;
}

void folded_read(struct flame *flame, struct str text, const struct folded_options *options,
		 struct folded_result *ret)
{
	struct path *path = xmalloc(sizeof(*path));

	path->stack = (struct str){0};
	path->n = 0;
	*ret = (struct folded_result){.two_columns =
					      !options->single_column && has_two_columns(text)};
	if (ret->two_columns)
		flame->differential = true;
	for (uint64_t number = 1; text.p; number++) {
		struct str line = str_cut(&text, '\n');
		double value = 0, before = 0;

		trim_end(&line);
		if (is_comment(line))
			continue;
		if (!take_value(&line, &value) || (ret->two_columns && !take_value(&line, &before))) {
			if (!ret->bad_lines++)
				ret->first_bad_line = number;
			continue;
		}
		uint32_t node = options->reverse ? add_reverse(flame, line)
						 : add_forward(flame, path, line);
		if (!node) { // ";;" has no frame
			if (!ret->bad_lines++)
				ret->first_bad_line = number;
			continue;
		}
		ret->lines++;
		if (ret->two_columns) {
			flame_add(flame, node, FLAME_BEFORE, before);
			flame_add(flame, node, FLAME_AFTER, value);
		} else {
			flame_add(flame, node, options->side, value);
		}
	}
	free(path);
}
