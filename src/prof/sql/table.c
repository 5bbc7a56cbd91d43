// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/sql/table.h"
#ifdef HAVE_SQLITE3
#include "base/err.h"
#include <stdio.h>

// Documentation of the interface: sqlite.org/vtab.html

enum { CHUNK_BYTES = 4 << 20 };

static const char *const own_names[SQL_OWN] = {"_pid", "_tid", "_time", "_cpu", "_period"};

void sql_table_init(struct sql_table *table, struct prof_event *event)
{
	table->event = event;
	table->name = event->label;
	if (event->feed->event->tp)
		table->fields_n = tracepoint_fields(event->feed->event->tp, &table->fields);
	table->indexes = xcalloc(SQL_OWN + table->fields_n, sizeof(*table->indexes));
}

static void drop_indexes(struct sql_table *table)
{
	for (size_t i = 0; table->indexes && i < SQL_OWN + table->fields_n; i++) {
		map_done(&table->indexes[i].first);
		free(table->indexes[i].next);
		table->indexes[i] = (struct sql_index){0};
	}
}

void sql_table_clear(struct sql_table *table)
{
	drop_indexes(table);
	vec_clear(&table->rows);
	table->chunk = table->chunk_n = 0;
	table->bytes = 0;
}

void sql_table_done(struct sql_table *table)
{
	drop_indexes(table);
	free(table->indexes);
	vec_done(&table->rows);
	for (size_t i = 0; i < table->chunks.n; i++)
		free(table->chunks.v[i]);
	vec_done(&table->chunks);
}

static void *room(struct sql_table *table, size_t size)
{
	size = (size + 7) & ~(size_t)7;
	if (table->chunk_n + size > CHUNK_BYTES || !table->chunks.n) {
		table->chunk += table->chunk_n != 0;
		if (table->chunk == table->chunks.n)
			vec_push(&table->chunks, xmalloc(CHUNK_BYTES));
		table->chunk_n = 0;
	}
	table->chunk_n += size;
	return table->chunks.v[table->chunk] + table->chunk_n - size;
}

void sql_table_add(struct sql_table *table, const struct sample *sample)
{
	struct sql_row *row = room(table, sizeof(*row) + sample->raw_size);

	*row = (struct sql_row){.time_ns = sample->time,
				.period = sample->period,
				.pid = sample->pid,
				.tid = sample->tid,
				.cpu = sample->cpu,
				.size = sample->raw_size};
	memcpy(row->raw, sample->raw, sample->raw_size);
	vec_push(&table->rows, row);
	if (!table->all_n++)
		table->first_ns = sample->time;
	table->last_ns = sample->time;
	table->bytes += sizeof(*row) + sample->raw_size;
}

static bool is_number(const struct sql_table *table, int column)
{
	const struct tp_field *field;

	if (column < 0 || column < SQL_OWN)
		return column >= 0;
	field = &table->fields[column - SQL_OWN];
	return !field->is_string && !field->is_array && !field->is_dynamic;
}

static int64_t number_of(const struct sql_table *table, const struct sql_row *row, int column)
{
	switch (column) {
	case SQL_PID:
		return row->pid;
	case SQL_TID:
		return row->tid;
	case SQL_TIME:
		return (int64_t)row->time_ns;
	case SQL_CPU:
		return row->cpu;
	case SQL_PERIOD:
		return (int64_t)row->period;
	default:
		return (int64_t)tp_number(&table->fields[column - SQL_OWN], row->raw, row->size);
	}
}

// ---- the module

struct sql_vtab {
	sqlite3_vtab base;
	struct sql_table *table;
};

enum sql_test { SQL_EQ, SQL_GT, SQL_GE, SQL_LT, SQL_LE };
enum { MOST_TESTS = 8 };

struct sql_cursor {
	sqlite3_vtab_cursor base;
	size_t row; // of the next in order, or (by index) row + 1
	struct sql_index *index;
	struct {
		int column;
		enum sql_test test;
		int64_t value;
	} tests[MOST_TESTS];
	int tests_n;
	bool none; // no number can fulfil a test
};

static void declare(const struct sql_table *table, struct out *sql)
{
	out_text(sql, "CREATE TABLE x(");
	for (int i = 0; i < SQL_OWN; i++)
		out_printf(sql, "%s%s INTEGER", i ? ", " : "", own_names[i]);
	for (size_t i = 0; i < table->fields_n; i++) {
		const struct tp_field *field = &table->fields[i];

		out_printf(sql, ", \"%s\" %s", field->name,
			   field->is_string			  ? "TEXT"
			   : field->is_array || field->is_dynamic ? "BLOB"
								  : "INTEGER");
	}
	out_text(sql, ")");
	out_char(sql, 0);
}

static int vtab_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			sqlite3_vtab **ret, char **error)
{
	struct sql_vtab *vtab = NEW(struct sql_vtab);
	struct out sql;
	int err;

	vtab->table = aux;
	out_init_memory(&sql);
	declare(vtab->table, &sql);
	err = sqlite3_declare_vtab(db, sql.buf);
	out_done(&sql);
	if (err) {
		free(vtab);
		return err;
	}
	*ret = &vtab->base;
	return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *vtab)
{
	free(vtab);
	return SQLITE_OK;
}

static int test_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return SQL_EQ;
	case SQLITE_INDEX_CONSTRAINT_GT:
		return SQL_GT;
	case SQLITE_INDEX_CONSTRAINT_GE:
		return SQL_GE;
	case SQLITE_INDEX_CONSTRAINT_LT:
		return SQL_LT;
	case SQLITE_INDEX_CONSTRAINT_LE:
		return SQL_LE;
	default:
		return -1;
	}
}

// Comparisons of number columns are made here, an equality by index. idxStr: pairs of hex numbers, column and test.
static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct sql_table *table = ((struct sql_vtab *)vtab)->table;
	double rows = (double)table->rows.n + 1;
	char plan[MOST_TESTS * 8 + 1] = "";
	int n = 0;
	bool equal = false;

	for (int i = 0; i < info->nConstraint && n < MOST_TESTS; i++) {
		int test = test_of(info->aConstraint[i].op), column = info->aConstraint[i].iColumn;

		if (!info->aConstraint[i].usable || test < 0 || !is_number(table, column))
			continue;
		snprintf(plan + n * 8, 9, "%06x%02x", (unsigned)column, (unsigned)test);
		info->aConstraintUsage[i].argvIndex = ++n;
		// SQLite looks again: its own comparison of texts and reals with numbers differs.
		info->aConstraintUsage[i].omit = 0;
		equal |= test == SQL_EQ;
	}
	info->estimatedRows = (sqlite3_int64)(equal ? rows / 100 + 1 : n ? rows / 3 + 1 : rows);
	info->estimatedCost = equal ? rows / 100 + 10 : rows * (n ? 1 : 2);
	if (n) {
		info->idxStr = sqlite3_mprintf("%s", plan);
		info->needToFreeIdxStr = 1;
		info->idxNum = n;
		if (!info->idxStr)
			return SQLITE_NOMEM;
	}
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret)
{
	*ret = &NEW(struct sql_cursor)->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static struct sql_index *index_of(struct sql_table *table, int column)
{
	struct sql_index *index = &table->indexes[column];

	if (index->made_n == table->rows.n)
		return index;
	index->next = xreallocarray(index->next, table->rows.n, sizeof(*index->next));
	// From behind, so that a chain is in the rows' order.
	map_clear(&index->first);
	for (size_t i = table->rows.n; i-- > 0;) {
		uint64_t *first = map_at(&index->first,
					 (uint64_t)number_of(table, table->rows.v[i], column), NULL);

		index->next[i] = (uint32_t)*first;
		*first = i + 1;
	}
	index->made_n = table->rows.n;
	return index;
}

static bool fulfils(const struct sql_table *table, const struct sql_cursor *c,
		    const struct sql_row *row)
{
	for (int i = 0; i < c->tests_n; i++) {
		int64_t v = number_of(table, row, c->tests[i].column), w = c->tests[i].value;
		bool ok = c->tests[i].test == SQL_EQ   ? v == w
			  : c->tests[i].test == SQL_GT ? v > w
			  : c->tests[i].test == SQL_GE ? v >= w
			  : c->tests[i].test == SQL_LT ? v < w
						       : v <= w;
		if (!ok)
			return false;
	}
	return true;
}

static bool at_end(const struct sql_table *table, const struct sql_cursor *c)
{
	return c->none || (c->index ? c->row == 0 : c->row >= table->rows.n);
}

static const struct sql_row *current(const struct sql_table *table, const struct sql_cursor *c)
{
	return table->rows.v[c->index ? c->row - 1 : c->row];
}

static void step(struct sql_cursor *c)
{
	c->row = c->index ? c->index->next[c->row - 1] : c->row + 1;
}

static void to_next_match(const struct sql_table *table, struct sql_cursor *c)
{
	while (!at_end(table, c) && !fulfils(table, c, current(table, c)))
		step(c);
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int plan_n, const char *plan, int argc,
			 sqlite3_value **argv)
{
	struct sql_cursor *c = (struct sql_cursor *)cursor;
	struct sql_table *table = ((struct sql_vtab *)cursor->pVtab)->table;

	c->row = 0;
	c->index = NULL;
	c->tests_n = 0;
	c->none = false;
	for (int i = 0; plan && i < argc && i < MOST_TESTS; i++) {
		unsigned column, test;

		// Texts and reals are compared by SQLite alone; no number equals NULL.
		if (sscanf(plan + i * 8, "%6x%2x", &column, &test) != 2)
			return SQLITE_ERROR;
		c->none |= sqlite3_value_type(argv[i]) == SQLITE_NULL;
		if (sqlite3_value_type(argv[i]) != SQLITE_INTEGER)
			continue;
		c->tests[c->tests_n].column = (int)column;
		c->tests[c->tests_n].test = (enum sql_test)test;
		c->tests[c->tests_n++].value = sqlite3_value_int64(argv[i]);
		if (test == SQL_EQ && !c->index && table->rows.n) {
			uint64_t *first;

			c->index = index_of(table, (int)column);
			first = map_find(&c->index->first, (uint64_t)sqlite3_value_int64(argv[i]));
			c->row = first ? *first : 0;
		}
	}
	to_next_match(table, c);
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *cursor)
{
	struct sql_cursor *c = (struct sql_cursor *)cursor;

	step(c);
	to_next_match(((struct sql_vtab *)cursor->pVtab)->table, c);
	return SQLITE_OK;
}

static int cursor_eof(sqlite3_vtab_cursor *cursor)
{
	return at_end(((struct sql_vtab *)cursor->pVtab)->table, (struct sql_cursor *)cursor);
}

static void array_result(sqlite3_context *context, const struct tp_field *field,
			 const struct sql_row *row)
{
	uint32_t at = field->offset, n = field->size;

	if (field->is_dynamic) {
		uint32_t where = (uint32_t)tp_number(field, row->raw, row->size);

		at = (where & 0xffff) + (field->is_relative ? field->offset + 4u : 0);
		n = where >> 16;
	}
	if (at > row->size || n > row->size - at)
		sqlite3_result_null(context);
	else
		sqlite3_result_blob(context, row->raw + at, (int)n, SQLITE_STATIC);
}

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int column)
{
	const struct sql_table *table = ((struct sql_vtab *)cursor->pVtab)->table;
	const struct sql_row *row = current(table, (struct sql_cursor *)cursor);
	const struct tp_field *field = column >= SQL_OWN ? &table->fields[column - SQL_OWN] : NULL;

	if (is_number(table, column)) {
		sqlite3_result_int64(context, number_of(table, row, column));
	} else if (field && field->is_string) {
		struct str text = tp_string(field, row->raw, row->size);

		sqlite3_result_text(context, text.p ? text.p : "", (int)text.n, SQLITE_STATIC);
	} else if (field) {
		array_result(context, field, row);
	}
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
	const struct sql_cursor *c = (struct sql_cursor *)cursor;

	*ret = (sqlite3_int64)(c->index ? c->row : c->row + 1);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.iVersion = 1,
	.xCreate = NULL, // there is one of each, by its name alone
	.xConnect = vtab_connect,
	.xBestIndex = best_index,
	.xDisconnect = vtab_disconnect,
	.xDestroy = vtab_disconnect,
	.xOpen = cursor_open,
	.xClose = cursor_close,
	.xFilter = cursor_filter,
	.xNext = cursor_next,
	.xEof = cursor_eof,
	.xColumn = cursor_column,
	.xRowid = cursor_rowid,
};

int sql_table_attach(struct sql_table *table, sqlite3 *db)
{
	// Without xCreate the module's name is the table's.
	if (sqlite3_create_module_v2(db, table->name, &module, table, NULL) != SQLITE_OK)
		return fail(EINVAL, "SQLite: %s", sqlite3_errmsg(db));
	return 0;
}
#endif
