// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/perfmap.h"
#include "base/num.h"

// Longer names are cut: whole signatures with generics are some hundreds.
enum { LONGEST_NAME = 8192 };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

// Takes a number and the one blank behind it.
static bool hex(struct str *rest, uint64_t *ret)
{
	struct str word;
	size_t n = 0;

	while (rest->n && is_blank(*rest->p))
		*rest = (struct str){rest->p + 1, rest->n - 1};
	while (n < rest->n && !is_blank(rest->p[n]))
		n++;
	word = (struct str){rest->p, n};
	n += n < rest->n;
	*rest = (struct str){rest->p + n, rest->n - n};
	return word.n && num_parse_hex(word, ret) == 0;
}

bool perfmap_next(struct str *rest, struct perfmap_line *ret)
{
	while (rest->n) {
		struct str line = str_cut(rest, '\n');
		struct perfmap_line parsed;

		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (!hex(&line, &parsed.start) || !hex(&line, &parsed.size) || !line.n)
			continue;
		parsed.name = line;
		if (parsed.name.n > LONGEST_NAME)
			parsed.name.n = LONGEST_NAME;
		if (memchr(line.p, '\0', parsed.name.n))
			continue;
		*ret = parsed;
		return true;
	}
	return false;
}
