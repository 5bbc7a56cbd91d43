// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kernel_cache.h"
#include "base/hash.h"
#include "sym/kallsyms.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>

// Not "kallsyms", which older programs keep in another form.
#define NAME "kernel-symbols"
enum { MOST_MODULES = 1 << 20 };

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

static struct symtab_file_key file_key(const struct kernel_cache_key *key)
{
	return (struct symtab_file_key){.words = {key->words[0], key->words[1]}};
}

enum { KERNEL_N = 2 }; // of the facts; behind the references

bool kernel_cache_load(const struct kernel_cache_key *key, struct kernel_copy *ret,
		       struct mapped *ret_map)
{
	const struct symtab_file_key named = file_key(key);
	struct symtab_file file;

	if (!symtab_file_load(NAME, &named, &file, ret_map))
		return false;
	*ret = (struct kernel_copy){
		.rows = file.rows,
		.kernel_n = MIN(file.facts[KERNEL_N], file.rows.n),
		.references = {file.facts[0], file.facts[1]},
	};
	ret->rows.apart = true;
	return true;
}

// kallsyms says where symbols begin, so that none does.
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

void kernel_cache_save(const struct kernel_cache_key *key, struct symtab *symtab,
		       const uint64_t references[2])
{
	const struct symtab_file_key named = file_key(key);
	const uint64_t facts[4] = {references[0], references[1], [KERNEL_N] = kernel_part(symtab)};

	if (!overlap(symtab))
		symtab_file_save(NAME, &named, symtab, facts);
}
