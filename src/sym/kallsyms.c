// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kallsyms.h"

// Longer than KSYM_NAME_LEN of any kernel, the module's name included.
enum { LONGEST_NAME = 1024 };

static int digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse(const char *at, const char *end, struct kallsyms_line *ret)
{
	const char *start = at;
	uint64_t addr = 0;
	int v;

	while (at < end && (v = digit((unsigned char)*at)) >= 0) {
		addr = addr << 4 | (unsigned)v;
		at++;
	}
	if (at == start || at - start > 16 || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return false;
	if (end - at - 3 > LONGEST_NAME)
		return false;
	*ret = (struct kallsyms_line){addr, at[1], {at + 3, (size_t)(end - at - 3)}};
	return !memchr(ret->name.p, '\0', ret->name.n);
}

bool kallsyms_next(struct str *rest, struct kallsyms_line *ret)
{
	while (rest->n) {
		const char *line = rest->p, *end = memchr(line, '\n', rest->n);
		size_t n = end ? (size_t)(end - line) : rest->n;

		rest->p += end ? n + 1 : n;
		rest->n -= end ? n + 1 : n;
		if (parse(line, line + n, ret))
			return true;
	}
	return false;
}

struct str kallsyms_cut_module(struct str *name)
{
	struct str module = *name;

	*name = str_cut(&module, '\t');
	return module.n > 2 ? (struct str){module.p + 1, module.n - 2} : module;
}

bool kallsyms_find(struct str text, const char *name, uint64_t *ret)
{
	struct kallsyms_line line;

	while (kallsyms_next(&text, &line)) {
		if (str_is(line.name, name) && strchr("tTwWA", line.type)) {
			*ret = line.addr;
			return true;
		}
	}
	return false;
}
