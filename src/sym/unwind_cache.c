// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind_cache.h"
#include "base/cache.h"
#include "base/num.h"
#include "base/hash.h"
#include "base/map.h"
#include <stdio.h>

#define MAGIC 0x34646e776e757373ull // "ssunwnd4": the number moves with obj/cfi's rules and rows
enum {
	WORTH_A_FILE = 4096, // rows; fewer are made in less than a millisecond
	MOST_ROWS = 1 << 27,
};

struct file_head {
	uint64_t magic, check; // check: of all that follows it
	uint32_t rows_n, rules_n, expressions_n;
	uint16_t machine;
	uint8_t id_n, zero;
	uint8_t id[24];
};

struct kept {
	struct cfi_table table;
	struct build_id id;
	struct mapped file;
	struct kept *next;
};

struct unwind_tables {
	struct map by_id; // hash -> first of a list
	VEC(struct kept *) all;
	bool no_files;
};

struct unwind_tables *unwind_tables_new(bool no_files)
{
	struct unwind_tables *tables = NEW(struct unwind_tables);

	tables->no_files = no_files;
	return tables;
}

void unwind_tables_free(struct unwind_tables *tables)
{
	if (!tables)
		return;
	vec_each(struct kept *, it, &tables->all) {
		cfi_table_done(&(*it)->table);
		if ((*it)->file.p)
			file_unmap(&(*it)->file);
		free(*it);
	}
	vec_done(&tables->all);
	map_done(&tables->by_id);
	free(tables);
}

static bool same_id(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

static const struct cfi_table *keep(struct unwind_tables *tables, const struct build_id *id,
				    const struct cfi_table *table, const struct mapped *file)
{
	struct kept *kept = NEW(struct kept);

	kept->table = *table;
	cfi_table_index(&kept->table);
	kept->id = *id;
	if (file)
		kept->file = *file;
	vec_push(&tables->all, kept);
	if (id->n) {
		uint64_t hash = hash_bytes(id->bytes, id->n);

		kept->next = map_find_ptr(&tables->by_id, hash);
		map_set_ptr(&tables->by_id, hash, kept);
	}
	return &kept->table;
}

bool unwind_cache_parse(const uint8_t *p, size_t n, const struct build_id *id, struct cfi_table *ret)
{
	const struct file_head *head = (const void *)p;
	const size_t from = offsetof(struct file_head, rows_n);
	struct cfi_table table;

	if (n < sizeof(*head) || head->magic != MAGIC || head->rows_n > MOST_ROWS ||
	    head->rules_n > MOST_ROWS || head->id_n != id->n || id->n > sizeof(id->bytes) ||
	    memcmp(head->id, id->bytes, id->n) != 0)
		return false;
	if (n != sizeof(*head) + head->rows_n * sizeof(struct cfi_row) + head->rules_n * 8ull +
			 head->expressions_n)
		return false;
	if (hash_bytes(p + from, n - from) != head->check)
		return false;
	table = (struct cfi_table){.rows = (const void *)(head + 1),
				   .rows_n = head->rows_n,
				   .rules_n = head->rules_n,
				   .expressions_n = head->expressions_n,
				   .machine = head->machine};
	table.rules = (const void *)(table.rows + table.rows_n);
	table.expressions = (const uint8_t *)(table.rules + table.rules_n);
	// The check tells of accidents, this of intent.
	if (!cfi_table_valid(&table))
		return false;
	*ret = table;
	return true;
}

static bool path_of(const struct build_id *id, char *ret, size_t ret_size)
{
	char name[64] = "unwind-";

	num_put_bytes(name + strlen(name), id->bytes, id->n);
	return id->n && cache_file(name, ret, ret_size) == 0;
}

const struct cfi_table *unwind_tables_find(struct unwind_tables *tables, const struct build_id *id)
{
	struct cfi_table table;
	struct mapped file;
	struct kept *kept;
	char path[4096];

	if (!id->n)
		return NULL;
	kept = map_find_ptr(&tables->by_id, hash_bytes(id->bytes, id->n));
	for (; kept; kept = kept->next) {
		if (same_id(&kept->id, id))
			return &kept->table;
	}
	if (tables->no_files || !path_of(id, path, sizeof(path)) || !cache_map(path, &file))
		return NULL;
	if (!unwind_cache_parse(file.p, file.n, id, &table)) {
		file_unmap(&file);
		return NULL;
	}
	return keep(tables, id, &table, &file);
}

static void save(const struct build_id *id, const struct cfi_table *table)
{
	size_t rows = table->rows_n * sizeof(struct cfi_row), rules = table->rules_n * 8ull, n;
	const size_t from = offsetof(struct file_head, rows_n);
	struct file_head *head;
	char path[4096], *p;

	if (!path_of(id, path, sizeof(path)))
		return;
	n = sizeof(*head) + rows + rules + table->expressions_n;
	head = xcalloc(1, n);
	*head = (struct file_head){.magic = MAGIC,
				   .rows_n = table->rows_n,
				   .rules_n = table->rules_n,
				   .expressions_n = table->expressions_n,
				   .machine = table->machine,
				   .id_n = id->n};
	memcpy(head->id, id->bytes, id->n);
	p = (char *)(head + 1);
	memcpy(p, table->rows, rows);
	memcpy(p + rows, table->rules, rules);
	memcpy(p + rows + rules, table->expressions, table->expressions_n);
	head->check = hash_bytes((char *)head + from, n - from);
	if (cache_put(path, head, n))
		cache_trim();
	free(head);
}

const struct cfi_table *unwind_tables_add(struct unwind_tables *tables, const struct build_id *id,
					  const struct cfi_table *table)
{
	if (!tables->no_files && id->n && table->rows_n >= WORTH_A_FILE)
		save(id, table);
	return keep(tables, id, table, NULL);
}
