// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include "sym/load.h"
#include "sym/private.h"

static const char *after_slash(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void module_name_parse(struct module_name *ret, const char *path)
{
	// Names of the kernel itself, not of modules, in brackets.
	static const char *const kernel_names[] = {
		"[kernel.kallsyms]", "[guest.kernel.kallsyms", "[vdso]", "[vdso32]", "[vdsox32]",
		"[vsyscall]",
	};
	static const char *const packed[] = {".gz", ".xz", ".zst"};
	const char *name = after_slash(path), *end = NULL;

	memset(ret, 0, sizeof(*ret));
	if (name[0] == '[') {
		ret->is_module = true;
		for (size_t i = 0; i < ARRAY_SIZE(kernel_names); i++) {
			if (text_starts(name, kernel_names[i]))
				ret->is_module = false;
		}
	} else if (strchr(name, '.')) {
		size_t n = strlen(name);

		for (size_t i = 0; i < ARRAY_SIZE(packed); i++) {
			if (text_ends(name, packed[i])) {
				ret->is_compressed = true;
				n -= strlen(packed[i]);
			}
		}
		if (n > 3 && memcmp(name + n - 3, ".ko", 3) == 0) {
			ret->is_module = true;
			end = name + n - 3;
		}
	}
	if (!end) {
		snprintf(ret->name, sizeof(ret->name), "%s", name);
		if (name[0] == '[' || !strchr(name, '.'))
			return;
	} else {
		snprintf(ret->name, sizeof(ret->name), "[%.*s]", (int)MIN(end - name, 250), name);
	}
	for (char *c = ret->name; *c; c++) {
		if (*c == '-')
			*c = '_';
	}
}

static const char *keep(struct sym *sym, const char *text)
{
	return intern_get(&sym->strings, intern_text(&sym->strings, text));
}

static void index_short(struct sym *sym, struct dso *dso)
{
	uint32_t id = intern_text(&sym->strings, dso->short_name);
	bool is_new;
	uint64_t *at = map_at(&sym->private->dsos_by_short, id, &is_new);

	if (is_new)
		*at = (uintptr_t)dso;
}

void dso_set_short_name(struct sym *sym, struct dso *dso, const char *name)
{
	dso->short_name = keep(sym, name);
	if (!dso_private_of(dso)->unlisted)
		index_short(sym, dso);
}

void dso_set_long_name(struct sym *sym, struct dso *dso, const char *name)
{
	dso->long_name = keep(sym, name);
}

void dso_set_build_id(struct dso *dso, const uint8_t *id, size_t size)
{
	dso->build_id.n = (uint8_t)MIN(size, sizeof(dso->build_id.bytes));
	memset(dso->build_id.bytes, 0, sizeof(dso->build_id.bytes));
	if (dso->build_id.n)
		memcpy(dso->build_id.bytes, id, dso->build_id.n);
}

bool perfmap_pid(const char *name, int *ret)
{
	int n = 0;

	return sscanf(name, "/tmp/perf-%d.map%n", ret, &n) == 1 && n && !name[n];
}

// basename(3), or what perf calls code that a JIT made.
static const char *short_name_of(struct sym *sym, const char *name)
{
	size_t n = strlen(name);
	const char *start;
	int tid;

	if (perfmap_pid(name, &tid))
		return arena_fmt(&sym->private->arena, "[JIT] tid %d", tid);
	while (n > 1 && name[n - 1] == '/')
		n--;
	if (n <= 1)
		return n ? name : ".";
	for (start = name + n - 1; start > name && start[-1] != '/'; start--)
		;
	if (start == name && n == strlen(name))
		return name;
	return arena_strdup(&sym->private->arena, (struct str){start, (size_t)(name + n - start)});
}

static struct dso_private *dso_new(struct sym *sym, const char *name)
{
	struct dso_private *private = arena_zalloc(&sym->private->arena, sizeof(*private));
	struct dso *dso = &private->dso;

	dso->id = (uint32_t)sym->dsos.n;
	dso->name = dso->long_name = dso->short_name = keep(sym, name);
	dso->is_64bit = true;
	dso->origin = '!';
	dso->symtab = &private->symtab;
	private->symtab.aliases = sym->options.aliases;
	vec_push(&sym->dsos, dso);
	return private;
}

// The first of that name, whatever file.
struct dso *dso_find(struct sym *sym, const char *name)
{
	uint32_t id = intern_lookup(&sym->strings, str_of(name));

	return id == UINT32_MAX ? NULL : map_find_ptr(&sym->private->dsos_by_name, id);
}

static struct dso *find_short(struct sym *sym, const char *short_name)
{
	uint32_t id = intern_lookup(&sym->strings, str_of(short_name));

	return id == UINT32_MAX ? NULL : map_find_ptr(&sym->private->dsos_by_short, id);
}

// Files of one name that are told apart by inode: a made up recording could have millions.
enum { MOST_SAME_NAME = 256 };

struct dso *dso_get(struct sym *sym, const char *name, const struct file_id *file)
{
	uint32_t id = intern_text(&sym->strings, name);
	uint64_t *first = map_at(&sym->private->dsos_by_name, id, NULL);
	struct dso_private **at = NULL, *head = (struct dso_private *)(uintptr_t)*first, *dso;
	unsigned n = 0;

	for (dso = head; dso; dso = dso->same_name) {
		if (!file_id_known(file) || !file_id_known(&dso->file) ||
		    file_id_same(file, &dso->file)) {
			if (file_id_known(file) && !dso->file.words[2])
				dso->file = *file;
			return &dso->dso;
		}
		at = &dso->same_name;
		if (++n >= MOST_SAME_NAME)
			return &dso->dso;
	}
	dso = dso_new(sym, name);
	if (file)
		dso->file = *file;
	if (at)
		*at = dso;
	else
		*map_at(&sym->private->dsos_by_name, id, NULL) = (uintptr_t)dso;
	dso_set_short_name(sym, &dso->dso, short_name_of(sym, dso->dso.name));
	return &dso->dso;
}

struct dso *dso_add_unlisted(struct sym *sym, const char *name, enum dso_kind kind)
{
	struct dso_private *private = dso_new(sym, name);

	private->unlisted = true;
	private->dso.kind = kind;
	return &private->dso;
}

struct dso *dso_get_module(struct sym *sym, const char *path)
{
	struct module_name module;
	struct dso *dso;

	module_name_parse(&module, path);
	dso = find_short(sym, module.name);
	if (dso)
		return dso;
	dso = dso_get(sym, module.name, NULL);
	dso_set_short_name(sym, dso, module.name);
	dso_private_of(dso)->module = module.is_module;
	dso_set_long_name(sym, dso, path);
	dso->kind = module.is_module ? DSO_MODULE : DSO_KERNEL;
	return dso;
}

struct dso *dso_get_vdso(struct sym *sym)
{
	struct dso *dso = dso_get(sym, "[vdso]", NULL);

	dso->kind = DSO_VDSO;
	dso_private_of(dso)->is_vdso = true;
	return dso;
}

struct dso *sym_file(struct sym *sym, const char *path)
{
	return dso_get(sym, path, NULL);
}

bool dso_is_kernel(const struct dso *dso)
{
	switch (dso->kind) {
	case DSO_KERNEL:
	case DSO_MODULE:
	case DSO_GUEST_KERNEL:
	case DSO_GUEST_MODULE:
	case DSO_BPF:
	case DSO_OOL:
		return true;
	default:
		return false;
	}
}
