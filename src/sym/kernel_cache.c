// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kernel_cache.h"
#include "base/cache.h"
#include "base/err.h"
#include "base/hash.h"
#include "sym/kallsyms.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#define MAGIC 0x33736d79736b6e73ull // "snksyms3"
enum { MOST_SYMBOLS = 1 << 24, MOST_MODULES = 1 << 20 };

struct file_head {
	uint64_t magic;
	struct kernel_cache_key key;
	uint64_t references[2];
	uint64_t names_size;
	uint64_t check; // of all that follows the head
	uint32_t n, kernel_n;
};

static uint64_t hash_file(const char *path, uint64_t h)
{
	char *text;
	size_t n;

	if (file_read(path, MOST_MODULES, &text, &n) < 0)
		return h;
	h = hash_mix(h, hash_bytes(text, n));
	free(text);
	return h;
}

// The first symbol tells where the kernel lies in this boot.
static bool first_address(uint64_t *ret)
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	struct kallsyms_line line;
	char text[256];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n <= 0)
		return false;
	struct str rest = {text, (size_t)n};
	if (!kallsyms_next(&rest, &line) || !line.addr)
		return false;
	*ret = line.addr;
	return true;
}

bool kernel_cache_key(struct kernel_cache_key *ret)
{
	struct utsname name;
	uint64_t first, h;

	if (uname(&name) < 0 || !first_address(&first))
		return false;
	h = hash_bytes(name.release, strlen(name.release));
	h = hash_mix(h, hash_bytes(name.version, strlen(name.version)));
	ret->words[0] = hash_file("/proc/sys/kernel/random/boot_id", h);
	if (ret->words[0] == h)
		return false;
	ret->words[1] = hash_file("/proc/modules", first);
	return true;
}

bool kernel_cache_parse(struct str bytes, const struct kernel_cache_key *key, struct kernel_copy *ret)
{
	const struct file_head *head = (const void *)bytes.p;
	const struct symtab_row *rows = (const void *)(head + 1);
	struct str names;

	if (bytes.n < sizeof(*head) || head->magic != MAGIC ||
	    memcmp(&head->key, key, sizeof(*key)) != 0)
		return false;
	if (!head->n || head->n > MOST_SYMBOLS || head->kernel_n > head->n ||
	    head->names_size < 2 || head->names_size > bytes.n ||
	    bytes.n != sizeof(*head) + head->n * sizeof(*rows) + head->names_size)
		return false;
	names = (struct str){(const char *)(rows + head->n), head->names_size};
	// The last name may claim a module behind it.
	if (names.p[names.n - 1] || names.p[names.n - 2])
		return false;
	if (hash_mix(hash_bytes(rows, bytes.n - sizeof(*head)), head->kernel_n) != head->check)
		return false;
	*ret = (struct kernel_copy){
		.rows = {.v = rows, .n = head->n, .names = names},
		.kernel_n = head->kernel_n,
	};
	memcpy(ret->references, head->references, sizeof(head->references));
	return true;
}

bool kernel_cache_load(const struct kernel_cache_key *key, struct kernel_copy *ret,
		       struct mapped *ret_map)
{
	struct mapped map;
	char path[4096];

	if (cache_file("kallsyms3", path, sizeof(path)) < 0 || access(path, R_OK) < 0 ||
	    file_map_plain(&map, path) < 0) {
		err_clear();
		return false;
	}
	if (!kernel_cache_parse((struct str){(const char *)map.p, map.n}, key, ret)) {
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

// Rows can't tell what lies around what.
static bool overlap(const struct symtab *symtab)
{
	const struct symbol *v = symtab->symbols.v;

	for (size_t i = 0; i < symtab->symbols.n; i++) {
		if (v[i].end < v[i].start || (i && v[i].start < v[i - 1].end))
			return true;
	}
	return false;
}

static size_t kernel_part(const struct symtab *symtab)
{
	size_t n = 0;

	while (n < symtab->symbols.n && !symtab->symbols.v[n].hidden_width)
		n++;
	return n;
}

void kernel_cache_save(const struct kernel_cache_key *key, const struct symtab *symtab,
		       const uint64_t references[2])
{
	size_t n = symtab->symbols.n, names_size = 0, size;
	struct symtab_row *rows;
	struct file_head *head;
	char path[4096], *names;

	if (!n || n > MOST_SYMBOLS || overlap(symtab) ||
	    cache_file("kallsyms3", path, sizeof(path)) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		names_size += name_size(&symtab->symbols.v[i]);
	names_size++;
	if (names_size > UINT32_MAX)
		return;
	size = sizeof(*head) + n * sizeof(*rows) + names_size;
	head = xcalloc(1, size);
	rows = (void *)(head + 1);
	names = (char *)(rows + n);
	*head = (struct file_head){.magic = MAGIC,
				   .key = *key,
				   .references = {references[0], references[1]},
				   .names_size = names_size,
				   .n = (uint32_t)n,
				   .kernel_n = (uint32_t)kernel_part(symtab)};
	names_size = 0;
	for (size_t i = 0; i < n; i++) {
		const struct symbol *s = &symtab->symbols.v[i];
		size_t bytes = name_size(s);

		rows[i] = (struct symtab_row){.start = s->start,
					      .end = s->end,
					      .name = (uint32_t)names_size,
					      .type = s->type,
					      .binding = s->binding,
					      .hidden_width = s->hidden_width};
		memcpy(names + names_size, s->name, bytes);
		names_size += bytes;
	}
	head->check = hash_mix(hash_bytes(rows, size - sizeof(*head)), head->kernel_n);
	(void)file_write(path, head, size);
	free(head);
}
