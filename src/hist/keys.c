// SPDX-License-Identifier: GPL-2.0-or-later
// The sort keys: how entries compare and how their columns look. Both are perf's (tools/perf/util/sort.c of 6.1).
#include "hist/keys.h"
#include <stdio.h>

// "%-*.*s"
void key_put(struct out *out, const char *text, int width)
{
	int n = (int)strlen(text);

	if (width >= 0 && n > width)
		n = width;
	out_bytes(out, text, (size_t)n);
	if (width > n)
		out_fill(out, ' ', (size_t)(width - n));
}

// "%-*s"
void key_put_least(struct out *out, const char *text, int width)
{
	int n = (int)strlen(text);

	out_text(out, text);
	if (width > n)
		out_fill(out, ' ', (size_t)(width - n));
}

// "%-.*s"
void key_put_most(struct out *out, const char *text, int width)
{
	size_t n = strlen(text);

	out_bytes(out, text, width >= 0 && n > (size_t)width ? (size_t)width : n);
}

void key_put_number(struct out *out, long long n, int width)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", n);
	key_put_least(out, text, width);
}

void key_put_number_right(struct out *out, long long n, int width)
{
	out_printf(out, "%*lld", width > 0 ? width : 0, n);
}

// In perf's order: an abbreviation means the first key that it begins.
static const struct key_list *const lists[] = {&key_list_place, &key_list_sample, &key_list_branch,
					       &key_list_memory};

const struct key *report_key_at(size_t i)
{
	for (size_t k = 0; k < ARRAY_SIZE(lists); i -= lists[k++]->n) {
		if (i < lists[k]->n)
			return &lists[k]->keys[i];
	}
	return NULL;
}

const struct key *report_key(const char *name)
{
	const struct key *key;

	for (size_t i = 0; (key = report_key_at(i)) && strcmp(key->name, name); i++)
		;
	return key;
}
