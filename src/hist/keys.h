// SPDX-License-Identifier: GPL-2.0-or-later
// What the files of sort keys share: keys_place.c, keys_sample.c, keys_branch.c, keys_memory.c.
#pragma once
#include "hist/report.h"

typedef const struct report *R;
typedef const struct entry *E;

struct key_list {
	const struct key *keys;
	size_t n;
};
extern const struct key_list key_list_place, key_list_sample, key_list_branch, key_list_memory;

// A key with the functions PREFIX_hash, PREFIX_compare, PREFIX_print; K2: what it prints is another's.
#define K2(n, h, w, p, pr, ...)                                                                    \
	{                                                                                          \
		.name = n, .header = h, .width = w, .hash = p##_hash, .compare = p##_compare,      \
		.print = pr##_print, __VA_ARGS__                                                   \
	}
#define K(n, h, w, p, ...) K2(n, h, w, p, p, __VA_ARGS__)

// Of two, one of which is not there.
static inline int64_t key_null_compare(const void *l, const void *r)
{
	if (!l && !r)
		return 0;
	return l ? 1 : -1;
}

static inline int64_t key_address_compare(uint64_t l, uint64_t r)
{
	return (int64_t)(r - l);
}

void key_put(struct out *out, const char *text, int width);	  // "%-*.*s"
void key_put_least(struct out *out, const char *text, int width); // "%-*s"
void key_put_most(struct out *out, const char *text, int width);  // "%-.*s"
void key_put_number(struct out *out, long long n, int width);
void key_put_number_right(struct out *out, long long n, int width);
void key_put_address(struct out *out, uint64_t addr);

// Of the entry's place, of the ends of a branch, of data.
uint64_t key_place_dso_hash(R report, const struct place *place);
int64_t key_place_dso_compare(R report, const struct place *l, const struct place *r);
void key_place_dso_print(R report, const struct place *place, struct out *out, int width);
uint64_t key_place_symbol_hash(const struct place *place);
int64_t key_symbol_compare(const struct symbol *l, const struct symbol *r);
// What is shown of a place: with which address and level.
struct shown_place {
	const struct place *place;
	uint64_t addr;
	char level;
};
#define PLACE_AS_IS(p) (&(struct shown_place){(p), (p)->addr, (p)->level})
void key_place_symbol_print(R report, const struct shown_place *shown, struct out *out, int width);
uint64_t key_sym_hash(R report, E e);
int64_t key_sym_compare(R report, E l, E r);

// "file.c:12", or NULL when it is not known.
const char *report_known_srcline(struct report *report, const struct place *place);
const char *key_srcline_of(R report, const struct place *place);
uint64_t key_text_hash(const char *text);
void key_page_size_text(char *text, size_t size, uint64_t n);
