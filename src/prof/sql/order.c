// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/sql/table.h"
#ifdef HAVE_SQLITE3
#include "base/alloc.h"

// SQLite sorts records that it makes of all columns, some 300 ns a row. Here numbers of rows are sorted by the digits in which
// the values differ at all.
enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

struct sorting {
	const struct sql_table *table;
	struct sql_term term;
	const uint32_t *rank; // of a text's id; NULL: numbers
};

static uint64_t key_of(const struct sorting *s, uint32_t row)
{
	int64_t cell = sql_table_cell(s->table, row, s->term.column);
	uint64_t key = !s->rank		  ? (uint64_t)cell ^ 1ull << 63
		       : cell == SQL_NULL ? 0
					  : s->rank[cell] + 1ull;

	return s->term.down ? ~key : key;
}

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

static void by_digit(const struct sorting *s, unsigned shift, const uint32_t *from, uint32_t *to)
{
	size_t starts[DIGITS] = {0}, n = s->table->n, sum = 0;

	for (size_t i = 0; i < n; i++)
		starts[key_of(s, (uint32_t)i) >> shift & (DIGITS - 1)]++;
	for (size_t i = 0; i < DIGITS; i++) {
		size_t count = starts[i];

		starts[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[starts[key_of(s, from[i]) >> shift & (DIGITS - 1)]++] = from[i];
}

// Rows that are equal in this term keep their order.
static void by_term(const struct sorting *s, uint32_t **rows, uint32_t **other)
{
	uint64_t first = key_of(s, (*rows)[0]), last = first, differing = 0;
	bool sorted = true;

	for (size_t i = 0; i < s->table->n; i++) {
		uint64_t key = key_of(s, (*rows)[i]);

		differing |= key ^ first;
		sorted &= key >= last;
		last = key;
	}
	for (unsigned shift = 0; !sorted && shift < 64 && differing >> shift; shift += DIGIT_BITS) {
		uint32_t *kept = *rows;

		shift += (unsigned)__builtin_ctzll(differing >> shift);
		by_digit(s, shift, *rows, *other);
		*rows = *other;
		*other = kept;
	}
}

const struct sql_order *sql_order_of(struct sql_table *table, const struct sql_term *terms, size_t n)
{
	struct sql_order order = {.terms_n = n};
	uint32_t *rows, *other, *rank = NULL;

	for (size_t i = 0; i < table->orders.n; i++) {
		const struct sql_order *known = &table->orders.v[i];
		bool same = known->terms_n == n;

		for (size_t k = 0; same && k < n; k++)
			same = known->terms[k].column == terms[k].column &&
			       known->terms[k].down == terms[k].down;
		if (same)
			return known;
	}
	rows = xreallocarray(NULL, table->n + 1, sizeof(*rows));
	other = xreallocarray(NULL, table->n + 1, sizeof(*other));
	for (size_t i = 0; i < table->n; i++)
		rows[i] = (uint32_t)i;
	for (size_t i = n; i-- > 0;) {
		struct sorting s = {.table = table, .term = terms[i]};

		order.terms[i] = terms[i];
		if (!table->n)
			continue;
		if (table->columns[terms[i].column].kind != SQL_NUMBER)
			s.rank = rank ? rank : (rank = ranks(table));
		by_term(&s, &rows, &other);
	}
	free(rank);
	free(other);
	order.rows = rows;
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
