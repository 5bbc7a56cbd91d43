// SPDX-License-Identifier: GPL-2.0-or-later
// Names of what a JIT compiler made, from perf-PID.map. Anybody can write such a file, and what an earlier process wrote stays: it is
// believed as far as it is the process's own and is about one piece of its code. What a running program adds becomes a table of its own
// that is looked through first, as symbols that somebody points at stay where they are.
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/search.h"
#include "base/time.h"
#include "sym/load.h"
#include "sym/perfmap.h"
#include "sym/seen.h"

enum { MOST_PERFMAP = 1 << 28 };
// Where nothing is known of a process's code.
enum { UNKNOWN_CODE = 1 << 24 };
// A file that grows is looked at again no sooner.
#define FOLLOW_NS (NSEC_PER_SEC / 4)

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

// When the process started, by the wall clock; 0: nobody knows.
static int64_t started_ns(const struct sym *sym, const struct dso *dso)
{
	const struct task *task = sym_find_task((struct sym *)(uintptr_t)sym, dso->pid);
	int64_t now_ns = seen_start_ns(dso->pid), recorded_ns = sym->options.recorded_ns;

	if (sym->options.live)
		return now_ns;
	if (!sym->options.same_host || !sym->options.same_boot || !recorded_ns)
		return 0;
	if (now_ns && now_ns < recorded_ns) // it runs still
		return now_ns;
	// Times of perf's own clock are those since the boot, more or less.
	if (!task || !task->start_time || task->start_time == UINT64_MAX)
		return 0;
	return (int64_t)(task->start_time + time_now_ns(CLOCK_REALTIME) -
			 time_now_ns(CLOCK_MONOTONIC));
}

// Numbers of processes come again, and what an earlier one wrote stays. 0, else -errno with a sentence.
static int check_age(const struct sym *sym, const struct dso *dso, const char *path,
		     const struct stat *st)
{
	const int64_t slack_ns =
		(sym->options.live || sym->clock_is_monotonic ? 2 : 60) * (int64_t)NSEC_PER_SEC;
	int64_t written_ns = st->st_mtim.tv_sec * (int64_t)NSEC_PER_SEC + st->st_mtim.tv_nsec;
	int64_t start_ns = started_ns(sym, dso), recorded_ns = sym->options.recorded_ns;

	if (sym->options.foreign_maps)
		return 0;
	if (start_ns && written_ns < start_ns - slack_ns)
		return fail(ESTALE,
			    "%s is older than process %u: an earlier process of that number wrote it, so it is not used (-f uses it)",
			    path, dso->pid);
	if (!sym->options.live && sym->options.same_host && !sym->options.same_boot &&
	    recorded_ns && written_ns > recorded_ns)
		return fail(ESTALE,
			    "%s is of a later boot than the recording: another process wrote it, so it is not used (-f uses it)",
			    path);
	return 0;
}

static const char *path_of(const struct sym *sym, const struct dso *dso, char room[PATH_MAX])
{
	return seen_perfmap(sym, dso->pid, room) ? room : dso->long_name;
}

struct perfmap_text {
	struct str all;
	size_t known_bytes; // were read before
};

// What is new of it since, or `again` all. 0 or -errno with a sentence.
static int read_perfmap(const struct sym *sym, struct dso *dso, bool again, struct perfmap_text *ret)
{
	char seen[PATH_MAX];
	const char *path = path_of(sym, dso, seen);
	struct perfmap_state *state = &dso_private_of(dso)->perfmap;
	char archived[PATH_MAX];
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
	err = archived_file(sym, dso->name, archived) ? 0 : check_age(sym, dso, path, &st);
	if (err < 0)
		return err;
	if (st.st_size > MOST_PERFMAP)
		return fail(EFBIG, "%s is larger than %u MiB, so it is not read", path,
			    MOST_PERFMAP >> 20);
	if (st.st_ino != state->inode || (uint64_t)st.st_size < state->read_bytes)
		state->read_bytes = 0;
	state->inode = st.st_ino;
	size_t known_bytes = again ? state->read_bytes : 0;
	if (again)
		state->read_bytes = 0;
	if ((state->read_bytes && lseek(fd, (off_t)state->read_bytes, SEEK_SET) < 0) ||
	    (err = file_read_fd(fd, MOST_PERFMAP, &text, &n)) < 0)
		return fail(EIO, "can't read %s: %s", path, strerror(err ? -err : errno));
	// The end of a line may not be written yet.
	if (state->follows)
		while (n && text[n - 1] != '\n')
			n--;
	state->read_bytes += n;
	*ret = (struct perfmap_text){{text, n}, MIN(known_bytes, n)};
	return 0;
}

// The pieces of the process's code that a compiler may have made.
struct piece {
	uint64_t start, end;
};

struct pieces {
	VEC(struct piece) v;
	uint64_t longest;
};

static void find_pieces(const struct sym *sym, const struct dso *dso, struct pieces *ret)
{
	const struct task *task = sym_find_task((struct sym *)(uintptr_t)sym, dso->pid);

	*ret = (struct pieces){0};
	for (size_t i = 0; task && i < task->space->maps.n; i++) {
		const struct mapping *map = task->space->maps.v[i];

		if (!(map->prot & PROT_EXEC) || (map->dso != dso && !map->may_be_jit))
			continue;
		if (ret->v.n && vec_last(&ret->v).end == map->start)
			vec_last(&ret->v).end = map->end;
		else
			vec_push(&ret->v, (struct piece){map->start, map->end});
		ret->longest = MAX(ret->longest, vec_last(&ret->v).end - vec_last(&ret->v).start);
	}
	if (!ret->longest)
		ret->longest = UNKNOWN_CODE;
}

static uint64_t longest_code(const struct sym *sym, const struct dso *dso)
{
	struct pieces pieces;

	find_pieces(sym, dso, &pieces);
	vec_done(&pieces.v);
	return pieces.longest;
}

// Can it be one function: in one piece, or of code that isn't there (any more)?
static bool is_function(const struct pieces *pieces, const struct perfmap_line *line)
{
	uint64_t end = line->start + line->size;
	size_t at = SEARCH(pieces->v.n, i, pieces->v.v[i].end <= line->start);

	if (end < line->start || line->size > pieces->longest)
		return false;
	return at == pieces->v.n || pieces->v.v[at].start >= end ||
	       (pieces->v.v[at].start <= line->start && end <= pieces->v.v[at].end);
}

// Of the first known_bytes only what is of more code than the process had when they were read.
static void add_symbols(struct sym *sym, struct dso *dso, struct symtab *to, struct perfmap_text text)
{
	struct perfmap_state *state = &dso_private_of(dso)->perfmap;
	const struct task *task = sym_find_task(sym, dso->pid);
	VEC(struct jit_symbol) symbols = {0};
	uint64_t known = state->longest;
	struct perfmap_line line;
	struct pieces pieces;

	find_pieces(sym, dso, &pieces);

	state->refused_n = text.known_bytes ? 0 : state->refused_n;
	for (struct str rest = text.all; perfmap_next(&rest, &line);) {
		bool is_known = line.name.p < text.all.p + text.known_bytes && line.size <= known;

		// Names of all there is name nothing.
		if (!is_function(&pieces, &line))
			state->refused_n++;
		else if (!is_known)
			vec_push(&symbols, (struct jit_symbol){line, (uint32_t)symbols.n});
	}
	state->longest = pieces.longest;
	vec_done(&pieces.v);
	state->generation = task ? task->space->generation : 0;
	if (symbols.n)
		qsort(symbols.v, symbols.n, sizeof(*symbols.v), by_place);
	symbols.n = drop_overwritten(symbols.v, symbols.n);
	vec_each(const struct jit_symbol, it, &symbols)
		symtab_add(to, &(struct symbol){
				       .start = it->line.start,
				       .end = it->line.start + it->line.size,
				       .name = arena_strdup(&to->names, it->line.name),
				       .binding = STB_GLOBAL,
				       .type = STT_FUNC,
			       });
	vec_done(&symbols);
	symtab_sort(to);
	dso->refused = NULL;
	if (state->refused_n)
		dso->refused =
			arena_fmt(&sym->private->arena,
				  "%s: %llu of its lines %s not used: more than the process has of code can't be one function",
				  dso->name, (unsigned long long)state->refused_n,
				  state->refused_n == 1 ? "is" : "are");
}

void load_perfmap(struct sym *sym, struct dso *dso)
{
	struct perfmap_state *state = &dso_private_of(dso)->perfmap;
	struct perfmap_text text;
	char seen[PATH_MAX];

	state->follows = sym->options.live && dso->pid;
	if (state->follows)
		state->first_ns = time_now_ns(CLOCK_MONOTONIC);
	state->next_ns = state->first_ns + FOLLOW_NS;
	if (read_perfmap(sym, dso, false, &text) < 0) {
		load_failed(sym, dso, "%s", err_sentence());
		return;
	}
	add_symbols(sym, dso, dso->symtab, text);
	free((char *)text.all.p);
	load_done(sym, dso, 'j', path_of(sym, dso, seen));
}

// Lines that were refused may be of what the process has now.
static bool has_more_code(const struct sym *sym, const struct dso *dso)
{
	const struct perfmap_state *state = &dso_private_of((struct dso *)(uintptr_t)dso)->perfmap;
	const struct task *task = sym_find_task((struct sym *)(uintptr_t)sym, dso->pid);

	return state->refused_n && task && task->space->generation != state->generation &&
	       longest_code(sym, dso) > state->longest + state->longest / 4; // not again and again
}

bool perfmap_follow(struct sym *sym, struct dso *dso)
{
	struct perfmap_state *state = &dso_private_of(dso)->perfmap;
	uint64_t now_ns = state->follows ? time_now_ns(CLOCK_MONOTONIC) : 0;
	bool again = has_more_code(sym, dso);
	const struct task *task;
	struct symtab *newer;
	struct perfmap_text text;
	char seen[PATH_MAX];

	state->misses = true;
	if (!again && (!state->follows || now_ns < state->next_ns))
		return false;
	state->misses = false;
	// Each time what is new is one more table to look through.
	state->next_ns = now_ns + MAX(FOLLOW_NS, (now_ns - state->first_ns) / 16);
	if (read_perfmap(sym, dso, again, &text) < 0) {
		err_clear();
		return false;
	}
	newer = arena_zalloc(&sym->private->arena, sizeof(*newer));
	add_symbols(sym, dso, newer, text);
	free((char *)text.all.p);
	if (!newer->symbols.n) {
		symtab_done(newer);
		return false;
	}
	newer->before = dso->symtab;
	dso->symtab = newer;
	dso->note = NULL;
	dso->names_epoch++;
	load_done(sym, dso, 'j', path_of(sym, dso, seen));
	// Whole chains are known by the address space as it was.
	task = sym_find_task(sym, dso->pid);
	if (task)
		task->space->generation++;
	return true;
}

uint32_t perfmap_epoch(struct sym *sym, struct dso *dso)
{
	if (dso_private_of(dso)->perfmap.misses)
		perfmap_follow(sym, dso);
	return dso->names_epoch;
}

// One that is not of more than the map.
static bool has_symbol_in(const struct symtab *symtab, uint64_t start, uint64_t end)
{
	for (; symtab; symtab = symtab->before) {
		size_t at = SEARCH(symtab->symbols.n, i, symtab->symbols.v[i].start < start);

		if (at < symtab->symbols.n && symtab->symbols.v[at].end <= end)
			return true;
	}
	return false;
}

// With symbols; NULL: most programs have none, and that is nothing to tell of.
static struct dso *perfmap_of(struct sym *sym, uint32_t pid)
{
	char name[40], path[PATH_MAX];
	struct dso *dso;

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)pid);
	dso = dso_find(sym, name);
	if (!dso) {
		if (!seen_perfmap(sym, pid, path) && access(name, F_OK) < 0)
			return NULL;
		dso = dso_get(sym, name, NULL);
		dso->kind = DSO_ANON;
		dso->pid = pid;
	}
	if (dso->state == DSO_NOT_LOADED)
		dso_load(sym, dso, NULL);
	else if (sym->options.live)
		perfmap_follow(sym, dso);
	return dso;
}

const struct mapping *perfmap_take_over(struct sym *sym, struct space *space,
					const struct mapping *map)
{
	// A running process may write what it made later.
	bool follows = sym->options.live && text_starts(map->dso->name, "/memfd:");
	struct perfmap_state *state = &dso_private_of(map->dso)->perfmap;
	uint64_t now_ns = follows ? time_now_ns(CLOCK_MONOTONIC) : 0;
	const struct task *task = sym_find_task(sym, space->pid);
	const uint32_t pids[] = {space->pid, task ? task->ppid : 0};
	struct mapping *own;

	if (follows && now_ns < state->next_ns)
		return map;
	state->next_ns = now_ns + FOLLOW_NS;
	own = space_own(space, map);
	own->may_be_jit = follows;
	for (size_t i = 0; i < ARRAY_SIZE(pids) && pids[i]; i++) {
		struct dso *dso = perfmap_of(sym, pids[i]);

		if (!dso || !has_symbol_in(dso->symtab, own->start, own->end))
			continue;
		own->may_be_jit = false;
		own->follows = sym->options.live;
		own->dso->note = NULL;
		own->dso = dso;
		own->identity = true;
		break;
	}
	return own;
}
