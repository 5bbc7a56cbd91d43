// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/perfmap.h"
#include "base/num.h"

// Longer names are cut: whole signatures with generics are some hundreds.
enum { LONGEST_NAME = 8192 };

static bool hex(struct str *rest, uint64_t *ret)
{
	struct str word = str_cut(rest, ' ');

	return word.n && num_parse_hex(word, ret) == 0;
}

bool perfmap_next(struct str *rest, struct perfmap_line *ret)
{
	while (rest->n) {
		struct str line = str_cut(rest, '\n');
		struct perfmap_line parsed;

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
