// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kernel_cache.h"
#include "base/cache.h"
#include "base/err.h"
#include "base/hash.h"
#include "sym/kallsyms.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>

#define MAGIC 0x32736d79736b6e73ull // "snksyms2"
enum { MOST_SYMBOLS = 1 << 24, MOST_MODULES = 1 << 20 };

struct file_head {
	uint64_t magic;
	struct kernel_cache_key key;
	uint64_t references[2];
	uint64_t names_size;
	uint64_t check; // of all that follows the head
	uint32_t n, zero;
};

struct file_symbol {
	uint64_t start, end;
	uint32_t name; // offset
	uint8_t type, binding, in_module, zero;
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

bool kernel_cache_parse(struct str copy, const struct kernel_cache_key *key, struct symtab *ret,
			uint64_t ret_references[2])
{
	const struct file_head *head = (const void *)copy.p;
	const struct file_symbol *symbols = (const void *)(copy.p + sizeof(*head));
	const size_t n = copy.n;
	const char *names;

	if (n < sizeof(*head) || head->magic != MAGIC || memcmp(&head->key, key, sizeof(*key)) != 0)
		return false;
	if (head->zero || !head->n || head->n > MOST_SYMBOLS || !head->names_size ||
	    head->names_size > n ||
	    n != sizeof(*head) + head->n * sizeof(*symbols) + head->names_size)
		return false;
	names = (const char *)(symbols + head->n);
	// The last name may claim a module behind it.
	if (names[head->names_size - 1] || (head->names_size > 1 && names[head->names_size - 2]))
		return false;
	if (hash_bytes(symbols, n - sizeof(*head)) != head->check)
		return false;
	vec_reserve(&ret->symbols, head->n);
	for (uint32_t i = 0; i < head->n; i++) {
		const struct file_symbol *s = &symbols[i];

		if ((uint64_t)s->name + !!s->in_module >= head->names_size || s->end < s->start ||
		    (i && s->start < symbols[i - 1].start)) {
			vec_clear(&ret->symbols);
			return false;
		}
		ret->symbols.v[i] = (struct symbol){.start = s->start,
						    .end = s->end,
						    .name = names + s->name,
						    .type = s->type,
						    .binding = s->binding,
						    .hidden_width = s->in_module};
	}
	ret->symbols.n = head->n;
	memcpy(ret_references, head->references, sizeof(head->references));
	return true;
}

bool kernel_cache_load(const struct kernel_cache_key *key, struct symtab *ret,
		       struct mapped *ret_map, uint64_t ret_references[2])
{
	struct mapped map;
	char path[4096];

	if (cache_file("kallsyms", path, sizeof(path)) < 0 || access(path, R_OK) < 0 ||
	    file_map_plain(&map, path) < 0) {
		err_clear();
		return false;
	}
	if (!kernel_cache_parse((struct str){(const char *)map.p, map.n}, key, ret, ret_references)) {
		file_unmap(&map);
		return false;
	}
	*ret_map = map;
	return true;
}

// With the module behind it.
static size_t name_size(const struct symbol *symbol)
{
	size_t n = strlen(symbol->name) + 1;

	return symbol->hidden_width ? n + strlen(symbol->name + n) + 1 : n;
}

void kernel_cache_save(const struct kernel_cache_key *key, const struct symtab *symtab,
		       const uint64_t references[2])
{
	size_t n = symtab->symbols.n, names_size = 0, size;
	struct file_symbol *symbols;
	struct file_head *head;
	char path[4096], *names;

	if (!n || n > MOST_SYMBOLS || cache_file("kallsyms", path, sizeof(path)) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		names_size += name_size(&symtab->symbols.v[i]);
	names_size++;
	if (names_size > UINT32_MAX)
		return;
	size = sizeof(*head) + n * sizeof(*symbols) + names_size;
	head = xcalloc(1, size);
	symbols = (void *)(head + 1);
	names = (char *)(symbols + n);
	*head = (struct file_head){.magic = MAGIC,
				   .key = *key,
				   .references = {references[0], references[1]},
				   .names_size = names_size,
				   .n = (uint32_t)n};
	names_size = 0;
	for (size_t i = 0; i < n; i++) {
		const struct symbol *s = &symtab->symbols.v[i];
		size_t bytes = name_size(s);

		symbols[i] = (struct file_symbol){.start = s->start,
						  .end = s->end,
						  .name = (uint32_t)names_size,
						  .type = s->type,
						  .binding = s->binding,
						  .in_module = s->hidden_width};
		memcpy(names + names_size, s->name, bytes);
		names_size += bytes;
	}
	head->check = hash_bytes(symbols, size - sizeof(*head));
	(void)file_write(path, head, size);
	free(head);
}
