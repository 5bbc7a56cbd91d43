// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/sql/table.h"
#ifdef HAVE_SQLITE3
#include "base/err.h"
#include <stdio.h>

// Documentation of the interface: sqlite.org/vtab.html

static const char *const own_names[SQL_OWN] = {"_pid", "_tid", "_time", "_cpu", "_period"};
enum { BLOCK_ROWS = 1 << SQL_BLOCK_BITS };

void sql_table_init(struct sql_table *table, struct prof_event *event)
{
	const struct tp_field *fields = NULL;
	size_t n = event->feed->event->tp ? tracepoint_fields(event->feed->event->tp, &fields) : 0;

	table->event = event;
	table->name = event->label;
	table->columns_n = SQL_OWN + n;
	table->columns = xcalloc(table->columns_n, sizeof(*table->columns));
	table->kept = xcalloc(table->columns_n, sizeof(*table->kept));
	table->indexes = xcalloc(table->columns_n, sizeof(*table->indexes));
	for (size_t i = 0; i < SQL_OWN; i++)
		table->columns[i].name = own_names[i];
	for (size_t i = 0; i < table->columns_n; i++)
		table->columns[i].slot = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct tp_field *field = &fields[i];
		struct sql_column *column = &table->columns[SQL_OWN + i];

		column->name = field->name;
		column->field = field;
		column->kind = field->is_string			      ? SQL_TEXT
			       : field->is_array || field->is_dynamic ? SQL_BYTES
								      : SQL_NUMBER;
	}
	intern_init(&table->texts);
}

void sql_table_choose(struct sql_table *table, bool all)
{
	for (size_t i = 0; i < table->columns_n; i++) {
		struct sql_column *column = &table->columns[i];

		column->kept |= all;
		if (!column->kept)
			continue;
		column->slot = (uint32_t)table->kept_n;
		table->kept[table->kept_n++] = (uint32_t)i;
	}
}

static void drop_indexes(struct sql_table *table)
{
	for (size_t i = 0; table->indexes && i < table->columns_n; i++) {
		map_done(&table->indexes[i].first);
		free(table->indexes[i].next);
		table->indexes[i] = (struct sql_index){0};
	}
	sql_orders_drop(table);
}

void sql_table_clear(struct sql_table *table)
{
	drop_indexes(table);
	if (table->texts.strings.n > 1) {
		intern_done(&table->texts);
		intern_init(&table->texts);
	}
	table->n = 0;
	table->bytes = 0;
}

void sql_table_done(struct sql_table *table)
{
	drop_indexes(table);
	vec_done(&table->orders);
	free(table->indexes);
	free(table->columns);
	free(table->kept);
	for (size_t i = 0; i < table->blocks.n; i++)
		free(table->blocks.v[i]);
	vec_done(&table->blocks);
	if (table->name)
		intern_done(&table->texts);
}

static int64_t own_number(const struct sample *sample, uint32_t column)
{
	switch (column) {
	case SQL_PID:
		return sample->pid;
	case SQL_TID:
		return sample->tid;
	case SQL_TIME:
		return (int64_t)sample->time;
	case SQL_CPU:
		return sample->cpu;
	default:
		return (int64_t)sample->period;
	}
}

// NULL: it does not fit into the record.
static struct str bytes_of(const struct tp_field *field, const struct sample *sample)
{
	uint32_t at = field->offset, n = field->size;

	if (field->is_dynamic) {
		uint32_t where = (uint32_t)tp_number(field, sample->raw, sample->raw_size);

		at = (where & 0xffff) + (field->is_relative ? field->offset + 4u : 0);
		n = where >> 16;
	}
	if (at > sample->raw_size || n > sample->raw_size - at)
		return (struct str){0};
	return (struct str){(const char *)sample->raw + at, n};
}

static int64_t text_id(struct sql_table *table, struct str text)
{
	size_t before = table->texts.strings.n;
	uint32_t id = intern_str(&table->texts, text);

	if (table->texts.strings.n != before)
		table->bytes += text.n + sizeof(struct str) + sizeof(uint64_t);
	return id;
}

// Whole numbers of this machine's order, as nearly all fields are, without a call.
static inline int64_t number_of(const struct tp_field *field, const struct sample *sample)
{
	uint64_t wide;
	uint32_t narrow;

	if (field->is_swapped || (uint64_t)field->offset + field->size > sample->raw_size)
		return (int64_t)tp_number(field, sample->raw, sample->raw_size);
	if (field->size == sizeof(wide)) {
		memcpy(&wide, (const char *)sample->raw + field->offset, sizeof(wide));
		return (int64_t)wide;
	}
	if (field->size == sizeof(narrow)) {
		memcpy(&narrow, (const char *)sample->raw + field->offset, sizeof(narrow));
		return field->is_signed ? (int32_t)narrow : (int64_t)narrow;
	}
	return (int64_t)tp_number(field, sample->raw, sample->raw_size);
}

static int64_t value_of(struct sql_table *table, const struct sample *sample, uint32_t i)
{
	const struct tp_field *field = table->columns[i].field;
	struct str text;

	if (!field)
		return own_number(sample, i);
	switch (table->columns[i].kind) {
	case SQL_NUMBER:
		return number_of(field, sample);
	case SQL_TEXT:
		text = tp_string(field, sample->raw, sample->raw_size);
		return text_id(table, text.p ? text : str_of(""));
	default:
		text = bytes_of(field, sample);
		return text.p ? text_id(table, text) : SQL_NULL;
	}
}

void sql_table_add(struct sql_table *table, const struct sample *sample)
{
	size_t block = table->n >> SQL_BLOCK_BITS, at = table->n & (BLOCK_ROWS - 1);

	if (table->kept_n && block == table->blocks.n)
		vec_push(&table->blocks,
			 xreallocarray(NULL, table->kept_n, BLOCK_ROWS * sizeof(int64_t)));
	for (size_t i = 0; i < table->kept_n; i++) {
		int64_t value = value_of(table, sample, table->kept[i]);

		table->blocks.v[block][i * BLOCK_ROWS + at] = value;
	}
	table->n++;
	if (!table->all_n++)
		table->first_ns = sample->time;
	table->last_ns = sample->time;
	table->bytes += table->kept_n * sizeof(int64_t);
}

static bool has(const struct sql_table *table, uint32_t column)
{
	return column < table->columns_n && table->columns[column].slot < table->kept_n;
}

static bool is_number(const struct sql_table *table, int column)
{
	return column >= 0 && table->columns[column].kind == SQL_NUMBER;
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
	size_t at; // row, or place in the order, or (by index) row + 1
	struct sql_index *index;
	const uint32_t *order;
	struct {
		uint32_t column;
		enum sql_test test;
		int64_t value;
	} tests[MOST_TESTS];
	int tests_n;
	bool none; // no number can fulfil a test
};

static void declare(const struct sql_table *table, struct out *sql)
{
	static const char *const types[] =
		{[SQL_NUMBER] = "INTEGER", [SQL_TEXT] = "TEXT", [SQL_BYTES] = "BLOB"};

	out_text(sql, "CREATE TABLE x(");
	for (size_t i = 0; i < table->columns_n; i++)
		out_printf(sql, "%s\"%s\" %s", i ? ", " : "", table->columns[i].name,
			   types[table->columns[i].kind]);
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

// sqlite.org/vtab.html: bit 63 stands for all columns behind.
static void note_used(struct sql_table *table, uint64_t used)
{
	for (size_t i = 0; i < table->columns_n; i++)
		table->columns[i].kept |= (used >> MIN(i, (size_t)63) & 1) != 0;
}

// The order that is asked for, when it is one of columns: appended to the plan, 8 letters a term.
static bool plan_order(const struct sqlite3_index_info *info, char *plan)
{
	char *to = plan + strlen(plan);

	if (!info->nOrderBy || info->nOrderBy > SQL_MOST_TERMS)
		return false;
	for (int i = 0; i < info->nOrderBy; i++) {
		if (info->aOrderBy[i].iColumn < 0)
			return false;
	}
	for (int i = 0; i < info->nOrderBy; i++)
		snprintf(to + i * 8, 9, "%06x%02x", (unsigned)info->aOrderBy[i].iColumn & 0xffffff,
			 (unsigned)info->aOrderBy[i].desc);
	return true;
}

// Comparisons of number columns are made here, an equality by index, as are orders. idxStr: pairs of hex numbers, column and test;
// behind idxNum tests column and direction of the order.
static int best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	struct sql_table *table = ((struct sql_vtab *)vtab)->table;
	double rows = (double)table->n + 1;
	char plan[(MOST_TESTS + SQL_MOST_TERMS) * 8 + 1] = "";
	int n = 0;
	bool equal = false;

	note_used(table, info->colUsed);
	for (int i = 0; i < info->nConstraint && n < MOST_TESTS; i++) {
		int test = test_of(info->aConstraint[i].op), column = info->aConstraint[i].iColumn;

		if (!info->aConstraint[i].usable || test < 0 || !is_number(table, column))
			continue;
		table->columns[column].kept = true;
		snprintf(plan + n * 8, 9, "%06x%02x", (unsigned)column & 0xffffff, (unsigned)test);
		info->aConstraintUsage[i].argvIndex = ++n;
		// SQLite looks again: its own comparison of texts and reals with numbers differs.
		info->aConstraintUsage[i].omit = 0;
		equal |= test == SQL_EQ;
	}
	info->estimatedRows = (sqlite3_int64)(equal ? rows / 100 + 1 : n ? rows / 3 + 1 : rows);
	info->estimatedCost = equal ? rows / 100 + 10 : rows * (n ? 1 : 2);
	info->idxNum = n;
	// Few rows of one value are sorted by SQLite.
	info->orderByConsumed = !equal && plan_order(info, plan);
	for (int i = 0; info->orderByConsumed && i < info->nOrderBy; i++)
		table->columns[info->aOrderBy[i].iColumn].kept = true;
	if (*plan) {
		info->idxStr = sqlite3_mprintf("%s", plan);
		info->needToFreeIdxStr = 1;
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

static struct sql_index *index_of(struct sql_table *table, uint32_t column)
{
	struct sql_index *index = &table->indexes[column];

	if (index->made_n == table->n)
		return index;
	index->next = xreallocarray(index->next, table->n, sizeof(*index->next));
	// From behind, so that a chain is in the rows' order.
	map_clear(&index->first);
	for (size_t i = table->n; i-- > 0;) {
		uint64_t *first =
			map_at(&index->first, (uint64_t)sql_table_cell(table, i, column), NULL);

		index->next[i] = (uint32_t)*first;
		*first = i + 1;
	}
	index->made_n = table->n;
	return index;
}

static bool at_end(const struct sql_table *table, const struct sql_cursor *c)
{
	return c->none || (c->index ? c->at == 0 : c->at >= table->n);
}

static size_t current(const struct sql_cursor *c)
{
	return c->index ? c->at - 1 : c->order ? c->order[c->at] : c->at;
}

static void step(struct sql_cursor *c)
{
	c->at = c->index ? c->index->next[c->at - 1] : c->at + 1;
}

static bool fulfils(const struct sql_table *table, const struct sql_cursor *c, size_t row)
{
	for (int i = 0; i < c->tests_n; i++) {
		int64_t v = sql_table_cell(table, row, c->tests[i].column), w = c->tests[i].value;
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

static void to_next_match(const struct sql_table *table, struct sql_cursor *c)
{
	if (!c->tests_n)
		return;
	while (!at_end(table, c) && !fulfils(table, c, current(c)))
		step(c);
}

static int set_order(struct sql_table *table, struct sql_cursor *c, const char *plan)
{
	struct sql_term terms[SQL_MOST_TERMS];
	size_t n = 0;

	c->order = NULL;
	for (; plan && plan[n * 8] && n < SQL_MOST_TERMS; n++) {
		unsigned column, down;

		if (sscanf(plan + n * 8, "%6x%2x", &column, &down) != 2 || !has(table, column))
			return SQLITE_ERROR;
		terms[n] = (struct sql_term){column, down != 0};
	}
	if (n)
		c->order = sql_order_of(table, terms, n)->rows;
	return SQLITE_OK;
}

static int cursor_filter(sqlite3_vtab_cursor *cursor, int plan_n, const char *plan, int argc,
			 sqlite3_value **argv)
{
	struct sql_cursor *c = (struct sql_cursor *)cursor;
	struct sql_table *table = ((struct sql_vtab *)cursor->pVtab)->table;

	c->at = 0;
	c->index = NULL;
	c->tests_n = 0;
	c->none = false;
	for (int i = 0; plan && i < argc && i < MOST_TESTS; i++) {
		unsigned column, test;

		// Texts and reals are compared by SQLite alone; no number equals NULL.
		if (sscanf(plan + i * 8, "%6x%2x", &column, &test) != 2 || !has(table, column))
			return SQLITE_ERROR;
		c->none |= sqlite3_value_type(argv[i]) == SQLITE_NULL;
		if (sqlite3_value_type(argv[i]) != SQLITE_INTEGER)
			continue;
		c->tests[c->tests_n].column = column;
		c->tests[c->tests_n].test = (enum sql_test)test;
		c->tests[c->tests_n++].value = sqlite3_value_int64(argv[i]);
		if (test == SQL_EQ && !c->index && table->n) {
			uint64_t *first;

			c->index = index_of(table, column);
			first = map_find(&c->index->first, (uint64_t)sqlite3_value_int64(argv[i]));
			c->at = first ? *first : 0;
		}
	}
	if (set_order(table, c, plan ? plan + plan_n * 8 : NULL) != SQLITE_OK)
		return SQLITE_ERROR;
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

static int cursor_column(sqlite3_vtab_cursor *cursor, sqlite3_context *context, int i)
{
	const struct sql_table *table = ((struct sql_vtab *)cursor->pVtab)->table;
	const struct sql_column *column = &table->columns[i];
	int64_t cell;

	if (!has(table, (uint32_t)i)) {
		sqlite3_result_error(context, "this column was not kept", -1);
		return SQLITE_ERROR;
	}
	cell = sql_table_cell(table, current((struct sql_cursor *)cursor), (uint32_t)i);
	if (column->kind == SQL_NUMBER) {
		sqlite3_result_int64(context, cell);
	} else if (cell == SQL_NULL) {
		sqlite3_result_null(context);
	} else {
		struct str text = table->texts.strings.v[cell];

		// The texts stay where they are until the query is done.
		if (column->kind == SQL_TEXT)
			sqlite3_result_text(context, text.p, (int)text.n, SQLITE_STATIC);
		else
			sqlite3_result_blob(context, text.p, (int)text.n, SQLITE_STATIC);
	}
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret)
{
	*ret = (sqlite3_int64)current((struct sql_cursor *)cursor) + 1;
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
