// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/symtab_file.h"
#include <sys/mman.h>
#include "base/cache.h"
#include "base/hash.h"

#define MAGIC                                                                                      \
	0x31736d79736b6e73ull // "snksyms1": the number moves with the rules of sym/elfsyms and sym/symtab
enum { MOST_SYMBOLS = 1 << 24 };

struct file_head {
	uint64_t magic, check; // check: of all that follows it
	struct symtab_file_key key;
	uint64_t facts[4];
	uint64_t names_size;
	uint64_t n;
};

bool symtab_file_parse(struct str bytes, const struct symtab_file_key *key, struct symtab_file *ret)
{
	const struct file_head *head = (const void *)bytes.p;
	const struct symtab_row *rows = (const void *)(head + 1);
	const size_t from = offsetof(struct file_head, key);
	struct str names;

	if (bytes.n < sizeof(*head) || head->magic != MAGIC ||
	    memcmp(&head->key, key, sizeof(*key)) != 0)
		return false;
	if (!head->n || head->n > MOST_SYMBOLS || head->names_size < 2 || head->names_size > bytes.n ||
	    bytes.n != sizeof(*head) + head->n * sizeof(*rows) + head->names_size)
		return false;
	names = (struct str){(const char *)(rows + head->n), head->names_size};
	// The last name may claim a module behind it.
	if (names.p[names.n - 1] || names.p[names.n - 2])
		return false;
	if (hash_bytes(bytes.p + from, bytes.n - from) != head->check)
		return false;
	*ret = (struct symtab_file){.rows = {.v = rows, .n = head->n, .names = names}};
	memcpy(ret->facts, head->facts, sizeof(head->facts));
	return true;
}

bool symtab_file_load(const char *name, const struct symtab_file_key *key, struct symtab_file *ret,
		      struct mapped *ret_map)
{
	struct mapped map;
	char path[4096];

	if (cache_file(name, path, sizeof(path)) < 0 || !cache_map(path, &map))
		return false;
	if (!symtab_file_parse((struct str){(const char *)map.p, map.n}, key, ret)) {
		file_unmap(&map);
		return false;
	}
	// All was read once; few pages of it will be again.
	if (!map.on_heap)
		(void)madvise((void *)map.p, map.n, MADV_DONTNEED);
	*ret_map = map;
	return true;
}

// With the module behind it.
static size_t name_size(const struct symbol *symbol)
{
	size_t n = strlen(symbol->name) + 1;

	return symbol->hidden_width ? n + strlen(symbol->name + n) + 1 : n;
}

static void put_rows(const struct symtab *symtab, struct symtab_row *rows, char *names)
{
	size_t at = 0;

	for (size_t i = 0; i < symtab->symbols.n; i++) {
		const struct symbol *s = &symtab->symbols.v[i];
		size_t bytes = name_size(s);

		rows[i] = (struct symtab_row){
			.start = s->start,
			.end = s->end,
			.name = (uint32_t)at,
			.type = s->type,
			.binding = s->binding,
			.hidden_width = s->hidden_width,
			.is = (uint8_t)(s->mangled * SYMTAB_MANGLED | s->is_place * SYMTAB_PLACE |
					s->guessed_end * SYMTAB_GUESSED_END),
		};
		memcpy(names + at, s->name, bytes);
		at += bytes;
	}
}

void symtab_file_save(const char *name, const struct symtab_file_key *key, struct symtab *symtab,
		      const uint64_t facts[4])
{
	const size_t from = offsetof(struct file_head, key);
	size_t n = symtab->symbols.n, names_size = 1, size;
	struct symtab_row *rows;
	struct file_head *head;
	char path[4096];

	if (!n || n > MOST_SYMBOLS || cache_file(name, path, sizeof(path)) < 0)
		return;
	symtab_fill(symtab);
	for (size_t i = 0; i < n; i++)
		names_size += name_size(&symtab->symbols.v[i]);
	if (names_size > UINT32_MAX)
		return;
	size = sizeof(*head) + n * sizeof(*rows) + names_size;
	head = xcalloc(1, size);
	rows = (void *)(head + 1);
	*head = (struct file_head){.magic = MAGIC, .key = *key, .names_size = names_size, .n = n};
	memcpy(head->facts, facts, sizeof(head->facts));
	put_rows(symtab, rows, (char *)(rows + n));
	head->check = hash_bytes((char *)head + from, size - from);
	if (cache_put(path, head, size))
		cache_trim();
	free(head);
}
