// SPDX-License-Identifier: GPL-2.0-or-later
// A file's symbols have an index (sym/symtab.c), so that two or three steps of a search are left. A report whose rows are told
// apart by place and command alone adds most samples to the entry where one was lately (count_again in hist/collect.c); for
// diff, all addresses of a file without symbols are one entry from the start.
#include "sym/symtab.h"
#include "base/search.h"
#include <elf.h>
#include <sys/mman.h>
#include "base/log.h"
#include "obj/demangle.h"

// Symbols around one address that are looked at; real ones nest a few deep.
enum { MOST_NESTED = 256, LONGEST_MANGLED = 1 << 14, LONGEST_COMPARED = 4096 };

// What symtab_ready made no longer holds.
static void forget_order(struct symtab *symtab)
{
	free(symtab->around);
	free(symtab->index);
	free(symtab->starts);
	symtab->around = symtab->index = symtab->starts = NULL;
}

static void free_symbols(struct symtab *symtab)
{
	if (symtab->mapped_bytes) {
		munmap(symtab->symbols.v, symtab->mapped_bytes);
		symtab->symbols.v = NULL;
	}
	symtab->mapped_bytes = 0;
	symtab->rows.n = 0;
	vec_done(&symtab->symbols);
}

void symtab_done(struct symtab *symtab)
{
	for (; symtab; symtab = symtab->before) {
		free_symbols(symtab);
		vec_done(&symtab->late);
		arena_done(&symtab->names);
		forget_order(symtab);
	}
}

void symtab_clear(struct symtab *symtab)
{
	symtab->rows.n = 0;
	vec_clear(&symtab->symbols);
	forget_order(symtab);
}

void symtab_set_rows(struct symtab *symtab, const struct symtab_rows *rows)
{
	// Below it is cheaper to clear them than to have the kernel give them page by page.
	enum { LARGE = 2 << 20 };
	size_t bytes = rows->n * sizeof(struct symbol);

	free_symbols(symtab);
	if (bytes >= LARGE) {
		symtab->symbols.v = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (symtab->symbols.v == MAP_FAILED)
			alloc_failed();
		symtab->mapped_bytes = bytes;
	} else {
		symtab->symbols.v = xcalloc(rows->n, sizeof(struct symbol));
	}
	symtab->symbols.n = symtab->symbols.capacity = rows->n;
	symtab->rows = *rows;
}

void symtab_take(struct symtab *symtab, struct symtab *from)
{
	free_symbols(symtab);
	memcpy(&symtab->symbols, &from->symbols, sizeof(from->symbols));
	symtab->rows = from->rows;
	symtab->mapped_bytes = from->mapped_bytes;
	memset(&from->symbols, 0, sizeof(from->symbols));
	from->rows.n = from->mapped_bytes = 0;
}

struct symbol *symtab_at(struct symtab *symtab, size_t i)
{
	const struct symtab_rows *rows = &symtab->rows;
	struct symbol *symbol = &symtab->symbols.v[i];
	const struct symtab_row *row;

	if (i >= rows->n || symbol->name)
		return symbol;
	row = &rows->v[i];
	*symbol = (struct symbol){
		.start = row->start - rows->delta,
		.end = row->end - rows->delta,
		// What is behind the name may be a module's.
		.name = rows->names.p + MIN(row->name, rows->names.n - 2),
		.type = row->type,
		.binding = row->binding,
		.hidden_width = row->hidden_width,
		.mangled = row->is & SYMTAB_MANGLED,
		.is_place = row->is & SYMTAB_PLACE,
		.guessed_end = row->is & SYMTAB_GUESSED_END,
	};
	return symbol;
}

void symtab_fill(struct symtab *symtab)
{
	for (size_t i = 0; i < symtab->rows.n; i++)
		(void)symtab_at(symtab, i);
	symtab->rows.n = 0;
}

// As heap memory, so that it can grow.
static void own_symbols(struct symtab *symtab)
{
	struct symbol *v;

	symtab_fill(symtab);
	if (!symtab->mapped_bytes)
		return;
	v = xmemdup(symtab->symbols.v, symtab->symbols.n * sizeof(*v));
	munmap(symtab->symbols.v, symtab->mapped_bytes);
	symtab->mapped_bytes = 0;
	symtab->symbols.v = v;
	symtab->symbols.capacity = symtab->symbols.n;
}

void symtab_add(struct symtab *symtab, const struct symbol *symbol)
{
	if (symtab->index)
		forget_order(symtab);
	if (symtab->mapped_bytes || symtab->rows.n)
		own_symbols(symtab);
	vec_push(&symtab->symbols, *symbol);
}

struct sort_key {
	uint64_t start; // less the lowest
	uint32_t index;
};

// By bytes from the lowest up; stable.
static struct sort_key *sort_keys(struct sort_key *keys, struct sort_key *spare, size_t n,
				  uint64_t highest)
{
	enum { BITS = 11, BUCKETS = 1 << BITS };
	uint32_t counts[BUCKETS];

	for (unsigned shift = 0; shift < 64 && highest >> shift; shift += BITS) {
		struct sort_key *from = keys;
		uint32_t at = 0;

		memset(counts, 0, sizeof(counts));
		for (size_t i = 0; i < n; i++)
			counts[from[i].start >> shift & (BUCKETS - 1)]++;
		for (unsigned b = 0; b < BUCKETS; b++) {
			uint32_t here = counts[b];

			counts[b] = at;
			at += here;
		}
		for (size_t i = 0; i < n; i++)
			spare[counts[from[i].start >> shift & (BUCKETS - 1)]++] = from[i];
		keys = spare;
		spare = from;
	}
	return keys;
}

void symtab_sort(struct symtab *symtab)
{
	uint64_t lowest = UINT64_MAX, highest = 0;
	size_t n = symtab->symbols.n, i;
	struct sort_key *keys, *in_order;
	struct symbol *old, *sorted;

	if (symtab->mapped_bytes || symtab->rows.n)
		own_symbols(symtab);
	old = symtab->symbols.v;
	for (i = 1; i < n && old[i - 1].start <= old[i].start; i++)
		;
	if (i >= n || n > UINT32_MAX)
		return;
	for (i = 0; i < n; i++) {
		lowest = MIN(lowest, old[i].start);
		highest = MAX(highest, old[i].start);
	}
	keys = xreallocarray(NULL, n, 2 * sizeof(*keys));
	for (i = 0; i < n; i++)
		keys[i] = (struct sort_key){old[i].start - lowest, (uint32_t)i};
	in_order = sort_keys(keys, keys + n, n, highest - lowest);
	sorted = xreallocarray(NULL, n, sizeof(*sorted));
	for (i = 0; i < n; i++)
		sorted[i] = old[in_order[i].index];
	free(keys);
	free(old);
	symtab->symbols.v = sorted;
	symtab->symbols.capacity = n;
}

static uint64_t page_end(uint64_t addr)
{
	return (addr + 4095) & ~4095ull;
}

static void give_ends(struct symtab *symtab, enum symtab_ends ends)
{
	struct symbol *v = symtab->symbols.v, *last = &v[symtab->symbols.n - 1];

	for (struct symbol *s = v; s < last; s++) {
		const char *module, *next_module;

		if (s->end != s->start)
			continue;
		s->end = s[1].start;
		s->guessed_end = true;
		if (ends == SYMTAB_FILE)
			continue;
		module = strchr(s->name, '[');
		next_module = strchr(s[1].name, '[');
		// The gap behind the kernel's text or a module's is nobody's.
		if (!module != !next_module || (module && strcmp(module, next_module)))
			s->end = page_end(s->start + 4096);
	}
	if (last->end == last->start) {
		last->end = page_end(last->start) + 4096;
		last->guessed_end = true;
	}
}

static unsigned underscores(const char *name)
{
	unsigned n = 0;

	while (name[n] == '_' && n < LONGEST_COMPARED)
		n++;
	return n;
}

// perf's preferences between symbols at one address (choose_best_symbol): true when a stays.
static bool is_better(struct symtab *symtab, struct symbol *a, struct symbol *b)
{
	bool a_sized = a->end > a->start, b_sized = b->end > b->start;
	size_t a_n, b_n;

	if (a_sized != b_sized)
		return a_sized;
	if (a->type != b->type && (a->type == STT_NOTYPE || b->type == STT_NOTYPE))
		return b->type == STT_NOTYPE;
	if ((a->binding == STB_WEAK) != (b->binding == STB_WEAK))
		return b->binding == STB_WEAK;
	if ((a->binding == STB_GLOBAL) != (b->binding == STB_GLOBAL))
		return a->binding == STB_GLOBAL;
	if (a->mangled)
		symtab_name(symtab, a);
	if (b->mangled)
		symtab_name(symtab, b);
	a_n = underscores(a->name);
	b_n = underscores(b->name);
	if (a_n != b_n)
		return a_n < b_n;
	a_n = strnlen(a->name, LONGEST_COMPARED);
	b_n = strnlen(b->name, LONGEST_COMPARED);
	if (a_n != b_n)
		return a_n > b_n;
	// Kernels up to 4.16 had aliases of their system calls in capitals.
	return strncmp(a->name, "SyS", 3) && strncmp(a->name, "compat_SyS", 10);
}

void symtab_fix(struct symtab *symtab, enum symtab_ends ends)
{
	struct symbol *v;
	size_t kept = 0;

	if (!symtab->symbols.n)
		return;
	forget_order(symtab);
	symtab_sort(symtab);
	give_ends(symtab, ends);
	v = symtab->symbols.v;
	for (size_t i = 1; i < symtab->symbols.n; i++) {
		if (symtab->aliases || v[kept].start != v[i].start)
			v[++kept] = v[i];
		else if (!is_better(symtab, &v[kept], &v[i]))
			v[kept] = v[i];
	}
	symtab->symbols.n = kept + 1;
}

static uint64_t start_of(const struct symtab *symtab, size_t i)
{
	const struct symtab_rows *rows = &symtab->rows;

	return i < rows->n ? rows->v[i].start - rows->delta : symtab->symbols.v[i].start;
}

static uint64_t end_of(const struct symtab *symtab, size_t i)
{
	const struct symtab_rows *rows = &symtab->rows;

	return i < rows->n ? rows->v[i].end - rows->delta : symtab->symbols.v[i].end;
}

// A few symbols a slot: of a look-up that finds nothing in the processor's caches all but the last steps are saved.
static void make_index(struct symtab *symtab)
{
	enum { LEAST_SYMBOLS = 64, SYMBOLS_A_SLOT = 4 };
	size_t n = symtab->symbols.n, at = 0, slots;
	uint64_t first, span;

	if (n < LEAST_SYMBOLS || n > UINT32_MAX)
		return;
	first = symtab->lowest = start_of(symtab, 0);
	symtab->highest = start_of(symtab, n - 1);
	span = symtab->highest - first;
	symtab->index_shift = 0;
	while (span >> symtab->index_shift >= n / SYMBOLS_A_SLOT)
		symtab->index_shift++;
	slots = (span >> symtab->index_shift) + 1;
	symtab->index = xreallocarray(NULL, slots + 1, sizeof(*symtab->index));
	for (size_t slot = 0; slot < slots; slot++) {
		while (at < n && (start_of(symtab, at) - first) >> symtab->index_shift < slot)
			at++;
		symtab->index[slot] = (uint32_t)at;
	}
	symtab->index[slots] = (uint32_t)n;
	if (span > UINT32_MAX)
		return;
	symtab->starts = xreallocarray(NULL, n, sizeof(*symtab->starts));
	for (size_t i = 0; i < n; i++)
		symtab->starts[i] = (uint32_t)(start_of(symtab, i) - first);
}

// How many symbols start at or before the address.
static size_t symbols_up_to(const struct symtab *symtab, uint64_t addr)
{
	size_t n = symtab->symbols.n, slot, from;

	if (!symtab->index)
		return SEARCH(n, i, start_of(symtab, i) <= addr);
	if (addr < symtab->lowest)
		return 0;
	if (addr >= symtab->highest)
		return n;
	addr -= symtab->lowest;
	slot = addr >> symtab->index_shift;
	from = symtab->index[slot];
	if (symtab->starts)
		return from +
		       SEARCH(symtab->index[slot + 1] - from, i, symtab->starts[from + i] <= addr);
	addr += symtab->lowest;
	return from + SEARCH(symtab->index[slot + 1] - from, i, start_of(symtab, from + i) <= addr);
}

void symtab_ready(struct symtab *symtab)
{
	size_t n = symtab->symbols.n, i;

	forget_order(symtab);
	if (symtab->rows.n && symtab->rows.apart)
		return;
	make_index(symtab);
	for (i = 1; i < n && end_of(symtab, i - 1) <= start_of(symtab, i); i++)
		;
	if (i >= n)
		return;
	// For each symbol the nearest one before it that ends later, found by following that very chain.
	symtab->around = xreallocarray(NULL, n, sizeof(*symtab->around));
	for (i = 0; i < n; i++) {
		uint32_t before = i ? (uint32_t)i - 1 : UINT32_MAX;

		while (before != UINT32_MAX && end_of(symtab, before) <= end_of(symtab, i))
			before = symtab->around[before];
		symtab->around[i] = before;
	}
}

static struct symbol *find_late(const struct symtab *symtab, uint64_t addr)
{
	for (size_t i = symtab->late.n; i > 0; i--) {
		struct symbol *symbol = symtab->late.v[i - 1];

		if (addr >= symbol->start && addr < symbol->end)
			return symbol;
	}
	return NULL;
}

static struct symbol *find_in(struct symtab *symtab, uint64_t addr)
{
	size_t low;
	unsigned depth = 0;

	if (symtab->late.n) {
		struct symbol *late = find_late(symtab, addr);

		if (late)
			return late;
	}
	low = symbols_up_to(symtab, addr);
	if (!low--)
		return NULL;
	while (addr >= symtab_at(symtab, low)->end) {
		if (!symtab->around || symtab->around[low] == UINT32_MAX || ++depth > MOST_NESTED)
			return NULL;
		low = symtab->around[low];
	}
	return symtab_at(symtab, low);
}

struct symbol *symtab_find(struct symtab *symtab, uint64_t addr)
{
	struct symbol *found = find_in(symtab, addr);

	while (!found && (symtab = symtab->before))
		found = find_in(symtab, addr);
	return found;
}

bool symtab_shows_parameters(const struct symtab *symtab)
{
	return symtab->parameters || log_get_level() > LOG_WARN;
}

void symtab_name(struct symtab *symtab, struct symbol *symbol)
{
	char *mangled, *plain;
	bool is_plt;

	symbol->mangled = false;
	if (strnlen(symbol->name, LONGEST_MANGLED) == LONGEST_MANGLED)
		return;
	is_plt = text_ends(symbol->name, "@plt");
	mangled = xstrdup(symbol->name);
	if (is_plt)
		mangled[strlen(mangled) - strlen("@plt")] = '\0';
	plain = demangle(mangled, symtab_shows_parameters(symtab));
	free(mangled);
	if (!plain)
		return;
	symbol->name = arena_join(&symtab->names, str_of(plain), str_of(is_plt ? "@plt" : ""));
	free(plain);
}

// Few: those of BPF programs whose addresses lie in the kernel's own map.
enum { MOST_LATE = 4096 };

struct str symbol_plain_name(const struct symbol *symbol)
{
	struct str name = str_of(symbol->name);

	return symbol->is_place ? name : name_without_version(name);
}

void symtab_add_late(struct symtab *symtab, struct symbol *symbol)
{
	if (symtab->late.n < MOST_LATE)
		vec_push(&symtab->late, symbol);
}

void symtab_remove_late(struct symtab *symtab, uint64_t addr)
{
	for (size_t i = symtab->late.n; i > 0; i--) {
		if (symtab->late.v[i - 1]->start != addr)
			continue;
		memmove(&symtab->late.v[i - 1], &symtab->late.v[i],
			(symtab->late.n - i) * sizeof(*symtab->late.v));
		symtab->late.n--;
		return;
	}
}
