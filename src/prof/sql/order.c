// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/sql/table.h"
#ifdef HAVE_SQLITE3
#include "base/alloc.h"

// SQLite sorts records that it makes of all columns, some 300 ns a row. Here numbers of rows are sorted by the digits in which
// the values differ at all.
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct sorting {
	const struct sql_table *table;
	uint64_t *keys;		// by row
	uint32_t *rows, *other; // in the order so far, and room for the next
};

// As SQLite's collation BINARY.
static int by_bytes(const void *a, const void *b, void *arg)
{
	const struct intern *texts = arg;
	struct str x = texts->strings.v[*(const uint32_t *)a],
		   y = texts->strings.v[*(const uint32_t *)b];
	size_t n = MIN(x.n, y.n);
	int order = n ? memcmp(x.p, y.p, n) : 0;

	return order ? order : x.n < y.n ? -1 : x.n > y.n;
}

static uint32_t *ranks(struct sql_table *table)
{
	size_t n = table->texts.strings.n;
	uint32_t *ids = xreallocarray(NULL, n + 1, sizeof(*ids)),
		 *rank = xreallocarray(NULL, n + 1, sizeof(*rank));

	for (size_t i = 0; i < n; i++)
		ids[i] = (uint32_t)i;
	qsort_r(ids, n, sizeof(*ids), by_bytes, &table->texts);
	for (size_t i = 0; i < n; i++)
		rank[ids[i]] = (uint32_t)i;
	free(ids);
	return rank;
}

static void by_digit(struct sorting *s, unsigned shift)
{
	size_t starts[DIGITS] = {0}, n = s->table->n, sum = 0;
	const uint64_t *keys = s->keys;
	uint32_t *from = s->rows, *to = s->other;

	for (size_t i = 0; i < n; i++)
		starts[keys[i] >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[starts[keys[from[i]] >> shift & (DIGITS - 1)]++] = from[i];
	s->rows = to;
	s->other = from;
}

// Unsigned numbers that are in the order of the cells. Returns the bits in which they differ.
static uint64_t make_keys(struct sorting *s, struct sql_term term, const uint32_t *rank)
{
	const struct sql_table *table = s->table;
	const size_t block = (size_t)1 << SQL_BLOCK_BITS;
	uint64_t turn = term.down ? UINT64_MAX : 0, differing = 0;

	for (size_t start = 0; start < table->n; start += block) {
		const int64_t *cells = table->blocks.v[start >> SQL_BLOCK_BITS] +
				       table->columns[term.column].slot * block;
		uint64_t *keys = s->keys + start;

		for (size_t i = 0, n = MIN(block, table->n - start); i < n; i++) {
			uint64_t key = !rank		      ? (uint64_t)cells[i] ^ 1ull << 63
				       : cells[i] == SQL_NULL ? 0
							      : rank[cells[i]] + 1ull;

			keys[i] = key ^ turn;
			differing |= keys[i] ^ s->keys[0];
		}
	}
	return differing;
}

// Rows that are equal in this term keep their order.
static void by_term(struct sorting *s, struct sql_term term, const uint32_t *rank)
{
	uint64_t differing = make_keys(s, term, rank);
	size_t i = 1;

	while (i < s->table->n && s->keys[s->rows[i - 1]] <= s->keys[s->rows[i]])
		i++;
	if (i >= s->table->n)
		return;
	for (unsigned shift = 0; shift < 64 && differing >> shift; shift += DIGIT_BITS) {
		shift += (unsigned)__builtin_ctzll(differing >> shift);
		by_digit(s, shift);
	}
}

const struct sql_order *sql_order_of(struct sql_table *table, const struct sql_term *terms, size_t n)
{
	struct sql_order order = {.terms_n = n};
	struct sorting s = {.table = table};
	uint32_t *rank = NULL;

	for (size_t i = 0; i < table->orders.n; i++) {
		const struct sql_order *known = &table->orders.v[i];
		bool same = known->terms_n == n;

		for (size_t k = 0; same && k < n; k++)
			same = known->terms[k].column == terms[k].column &&
			       known->terms[k].down == terms[k].down;
		if (same)
			return known;
	}
	s.rows = xreallocarray(NULL, table->n + 1, sizeof(*s.rows));
	s.other = xreallocarray(NULL, table->n + 1, sizeof(*s.other));
	s.keys = xreallocarray(NULL, table->n + 1, sizeof(*s.keys));
	for (size_t i = 0; i < table->n; i++)
		s.rows[i] = (uint32_t)i;
	for (size_t i = n; i-- > 0;) {
		bool number = table->columns[terms[i].column].kind == SQL_NUMBER;

		order.terms[i] = terms[i];
		if (!number && !rank)
			rank = ranks(table);
		by_term(&s, terms[i], number ? NULL : rank);
	}
	free(rank);
	free(s.other);
	free(s.keys);
	order.rows = s.rows;
	vec_push(&table->orders, order);
	return &table->orders.v[table->orders.n - 1];
}

void sql_orders_drop(struct sql_table *table)
{
	for (size_t i = 0; i < table->orders.n; i++)
		free(table->orders.v[i].rows);
	vec_clear(&table->orders);
}
#endif
