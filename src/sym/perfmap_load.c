// SPDX-License-Identifier: GPL-2.0-or-later
// Names of what a JIT compiler made, from perf-PID.map.
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/search.h"
#include "sym/load.h"
#include "sym/perfmap.h"
#include "sym/seen.h"

enum { MOST_PERFMAP = 1 << 28 };

struct jit_symbol {
	struct perfmap_line line;
	uint32_t order;
};

static int by_place(const void *a, const void *b)
{
	const struct jit_symbol *x = a, *y = b;

	if (x->line.start != y->line.start)
		return x->line.start < y->line.start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

// What was written later lies where it says; older code that it overlaps is gone.
static size_t drop_overwritten(struct jit_symbol *symbols, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_gone = false;

		while (kept && !is_gone &&
		       symbols[i].line.start - symbols[kept - 1].line.start <
			       symbols[kept - 1].line.size) {
			is_gone = symbols[kept - 1].order > symbols[i].order;
			kept -= !is_gone;
		}
		if (!is_gone)
			symbols[kept++] = symbols[i];
	}
	return kept;
}

// Anybody may write to /tmp, so what is another user's says what they like about somebody's code. A running process may say
// what its own code is; of a recorded one, the number may be somebody else's by now.
static bool is_trusted(const struct sym *sym, const struct dso *dso, uid_t owner)
{
	char process[32];
	struct stat st;

	if (!owner || owner == geteuid() || sym->options.foreign_maps)
		return true;
	snprintf(process, sizeof(process), "/proc/%u", dso->pid);
	return sym->options.live && dso->pid && stat(process, &st) == 0 && st.st_uid == owner;
}

// -errno with a sentence.
static int read_perfmap(const struct sym *sym, const struct dso *dso, const char *path,
			struct str *ret)
{
	struct stat st, link;
	char *text;
	size_t n;
	auto_close int fd = file_open_plain(path, &st);
	int err;

	if (fd == -ENOENT)
		return fail(ENOENT, "%s is not here: let the JIT compiler write it", path);
	if (fd < 0)
		return fd;
	// The link that leads to a file has an owner too.
	if (lstat(path, &link) < 0)
		link = st;
	if (!is_trusted(sym, dso, st.st_uid) || !is_trusted(sym, dso, link.st_uid))
		return fail(EPERM,
			    "%s belongs to user %u, neither you nor root, so it is not used (-f "
			    "uses it)",
			    path, is_trusted(sym, dso, st.st_uid) ? link.st_uid : st.st_uid);
	if (st.st_size > MOST_PERFMAP)
		return fail(EFBIG, "%s is larger than %u MiB, so it is not read", path,
			    MOST_PERFMAP >> 20);
	err = file_read_fd(fd, MOST_PERFMAP, &text, &n);
	if (err < 0)
		return fail(-err, "can't read %s: %s", path, strerror(-err));
	*ret = (struct str){text, n};
	return 0;
}

void load_perfmap(struct sym *sym, struct dso *dso)
{
	VEC(struct jit_symbol) symbols = {0};
	const char *path = dso->long_name;
	char seen[PATH_MAX];
	struct str text;
	struct perfmap_line line;

	if (seen_perfmap(sym, dso->pid, seen))
		path = seen;
	if (read_perfmap(sym, dso, path, &text) < 0) {
		load_failed(sym, dso, "%s", err_sentence());
		return;
	}
	for (struct str rest = text; perfmap_next(&rest, &line);)
		vec_push(&symbols, (struct jit_symbol){line, (uint32_t)symbols.n});
	if (symbols.n)
		qsort(symbols.v, symbols.n, sizeof(*symbols.v), by_place);
	symbols.n = drop_overwritten(symbols.v, symbols.n);
	vec_each(const struct jit_symbol, it, &symbols)
		symtab_add(dso->symtab,
			   &(struct symbol){
				   .start = it->line.start,
				   .end = it->line.start + it->line.size,
				   .name = arena_strdup(&dso->symtab->names, it->line.name),
				   .binding = STB_GLOBAL,
				   .type = STT_FUNC,
			   });
	vec_done(&symbols);
	free((char *)text.p);
	symtab_sort(dso->symtab);
	load_done(sym, dso, 'j', path);
}

static bool has_symbol_in(const struct symtab *symtab, uint64_t start, uint64_t end)
{
	size_t at = SEARCH(symtab->symbols.n, i, symtab->symbols.v[i].end <= start);

	return at < symtab->symbols.n && symtab->symbols.v[at].start < end;
}

void perfmap_take_over(struct sym *sym, const struct space *space, struct mapping *map)
{
	char name[40], path[PATH_MAX];
	struct dso *dso;

	map->may_be_jit = false;
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)space->pid);
	dso = dso_find(sym, name);
	if (!dso) {
		// Most programs have none, and that is nothing to tell of.
		if (!seen_perfmap(sym, space->pid, path) && access(name, F_OK) < 0)
			return;
		dso = dso_get(sym, name, NULL);
		dso->kind = DSO_ANON;
		dso->pid = space->pid;
	}
	if (dso->state == DSO_NOT_LOADED)
		dso_load(sym, dso, NULL);
	if (!has_symbol_in(dso->symtab, map->start, map->end))
		return;
	map->dso->note = NULL;
	map->dso = dso;
	map->identity = true;
}
