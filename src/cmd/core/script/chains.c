// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/script/chains.h"
#include "base/hash.h"
#include "base/log.h"

enum {
	LINES = 1 << 14, // 2 MB
	STYLES_MAX = 16,
	SEEN_BITS = 13,
	TEXTS_MAX = 1 << 26, // bytes of lines that are longer than a slot
};

// What a line is of, beside address and style: all frames of an address in a call chain, or the sample's own place.
enum how { HOW_LEAF, HOW_RETURN, HOW_ALONE };

void words_set_init(struct words_set *set, const char *commas)
{
	char *rest, *word;

	*set = (struct words_set){.text = xstrdup(commas)};
	rest = set->text;
	while ((word = strsep(&rest, ","))) {
		if (*word)
			vec_push(&set->words, word);
	}
}

void words_set_done(struct words_set *set)
{
	free(set->text);
	vec_done(&set->words);
}

static bool has_word(const struct words_set *set, const char *word)
{
	for (size_t i = 0; i < set->words.n; i++) {
		if (!strcmp(set->words.v[i], word))
			return true;
	}
	return false;
}

void chains_init(struct chains *chains, struct sym *sym, const struct chains_options *options)
{
	*chains = (struct chains){.sym = sym, .options = *options};
	out_init_memory(&chains->scratch);
	chains->seen = xcalloc(1 << SEEN_BITS, sizeof(*chains->seen));
	chains->sources = sources_new(sym);
	if (options->whole_paths)
		sources_show_paths(chains->sources);
}

void chains_done(struct chains *chains)
{
	debug("%llu frames printed, %llu of them resolved", (unsigned long long)chains->frames_n,
	      (unsigned long long)chains->frames_resolved);
	vec_done(&chains->styles);
	free(chains->lines);
	free(chains->seen);
	sources_free(chains->sources);
	arena_done(&chains->texts);
	out_done(&chains->scratch);
}

uint32_t chains_style(struct chains *chains, uint64_t ip_fields)
{
	for (uint32_t i = 0; i < chains->styles.n; i++) {
		if (chains->styles.v[i] == ip_fields)
			return i;
	}
	vec_push(&chains->styles, ip_fields);
	return (uint32_t)chains->styles.n - 1;
}

const char *dso_print_name(const struct dso *dso, bool full_kernel_path)
{
	if (full_kernel_path)
		return dso->long_name;
	switch (dso->kind) {
	case DSO_MODULE:
	case DSO_GUEST_MODULE:
		// perf knows those of the table of build-ids by their path, others by [name].
		return dso->build_id.n ? dso->long_name : dso->short_name;
	case DSO_KERNEL:
	case DSO_GUEST_KERNEL:
	case DSO_VDSO:
		return dso->short_name;
	default:
		return dso->long_name;
	}
}

void put_name(struct out *out, const struct chains *chains, const char *name)
{
	if (chains->options.escape)
		out_escaped(out, name);
	else
		out_text(out, name);
}

static uint64_t symbol_offset(const struct location *location)
{
	uint64_t offset = location->addr - location->sym->start;

	// A symbol without a size. Behind the last instruction of a function is where its last call returns to.
	if (location->addr >= location->sym->end && location->map &&
	    (location->addr > location->sym->end || location->sym->end == location->sym->start))
		offset -= location->map->start;
	return offset;
}

void put_symbol(struct out *out, const struct chains *chains, const struct location *location,
		bool offset)
{
	if (!location->sym) {
		out_bytes(out, "[unknown]", 9);
		return;
	}
	put_name(out, chains, location->sym->name);
	if (offset) {
		out_bytes(out, "+0x", 3);
		out_hex(out, symbol_offset(location));
	}
}

void put_dso(struct out *out, const struct chains *chains, const struct location *location)
{
	if (location->dso)
		put_name(out, chains,
			 dso_print_name(location->dso, chains->options.full_kernel_path));
	else
		out_bytes(out, "[unknown]", 9);
}

void put_hex16(struct out *out, uint64_t v)
{
	hex16(out_room(out, 16), v);
	out->n += 16;
}

// Where lines go, and the fields of a style.
struct rendering {
	const struct chains *chains;
	struct out *out;
	uint64_t fields;
};

// Lines that are not known: as perf, which tells apart whether the file has any.
static void put_srcline(struct out *out, const struct chains *chains,
			const struct location *location, const struct source_frame *source)
{
	const char *text = source ? source_text(chains->sources, source) : NULL;

	out_bytes(out, "\n  ", 3);
	if (text) {
		put_name(out, chains, text);
	} else if (location->sym && source_exists(chains->sources, location->dso)) {
		out_bytes(out, "??:0", 4);
	} else {
		put_name(out, chains, location->dso->short_name);
		out_char(out, '[');
		out_hex(out, location->addr);
		out_char(out, ']');
	}
}

// " symbol+offset (dso)" and the lines below it, for the fields of a style.
static void render_tail(const struct rendering *r, const struct location *location,
			const struct source_frame *source)
{
	const struct chains *chains = r->chains;
	struct out *out = r->out;
	const uint64_t fields = r->fields;
	bool is_inlined = location->sym && location->sym->inlined;

	if (fields & FIELD_BIT(SYM)) {
		out_char(out, ' ');
		put_symbol(out, chains, location, fields & FIELD_BIT(SYMOFF));
	}
	if ((fields & FIELD_BIT(DSO)) && !is_inlined) {
		out_bytes(out, " (", 2);
		put_dso(out, chains, location);
		if ((fields & FIELD_BIT(DSOFF)) && location->dso) {
			out_bytes(out, "+0x", 3);
			out_hex(out, location->addr);
		}
		out_char(out, ')');
	}
	if ((fields & FIELD_BIT(SRCLINE)) && location->dso)
		put_srcline(out, chains, location, source);
	if (is_inlined)
		out_bytes(out, " (inlined)", 10);
}

// The two places of a line.
static struct line_slot *places_of(const struct chains *chains, uint64_t addr, uint32_t key)
{
	return &chains->lines[hash_mix(addr, key) & (LINES - 2)];
}

static void forget_lines(struct chains *chains)
{
	if (!chains->lines)
		chains->lines = aligned_alloc(sizeof(*chains->lines), LINES * sizeof(*chains->lines));
	if (!chains->lines)
		alloc_failed();
	for (size_t i = 0; i < LINES; i++)
		chains->lines[i].dso_style = 0;
	memset(chains->seen, 0, sizeof(*chains->seen) << SEEN_BITS);
	arena_reset(&chains->texts);
}

// Where a new line goes: not where one is that came again, unless both did.
static struct line_slot *free_slot(struct chains *chains, uint64_t addr, uint32_t key)
{
	struct line_slot *places;

	if (!chains->lines || chains->texts.total_bytes > TEXTS_MAX)
		forget_lines(chains);
	places = places_of(chains, addr, key);
	if (!places[0].dso_style || (!places[0].again && places[1].dso_style))
		return &places[0];
	if (!places[1].dso_style || !places[1].again)
		return &places[1];
	places[0].again = places[1].again = false;
	return &places[0];
}

static const struct line_slot *find_line(const struct chains *chains, uint64_t addr, uint32_t key)
{
	struct line_slot *places;

	if (!chains->lines)
		return NULL;
	places = places_of(chains, addr, key);
	for (unsigned i = 0; i < 2; i++) {
		if (places[i].addr != addr || places[i].dso_style != key)
			continue;
		if (!places[i].again)
			places[i].again = true;
		return &places[i];
	}
	return NULL;
}

static void render_line(const struct rendering *r, const struct location *location,
			const struct source_frame *source)
{
	if (r->fields & FIELD_BIT(IP)) {
		bool own = location->map && location->dso && !dso_is_kernel(location->dso);

		out_char(r->out, '\t');
		put_hex16(r->out, own ? location->addr : location->ip);
	}
	render_tail(r, location, source);
	out_char(r->out, '\n');
}

// Nobody knows what is there: garbage of a stack, mostly.
static void render_unknown(const struct rendering *r, struct location *where)
{
	static const char text[] = "\t                 [unknown] ([unknown])\n";
	const uint64_t usual = FIELD_BIT(IP) | FIELD_BIT(SYM) | FIELD_BIT(DSO);

	where->sym = NULL;
	if ((r->fields & (usual | FIELD_BIT(SRCLINE))) != usual || where->dso) {
		render_line(r, where, NULL);
		return;
	}
	memcpy(out_room(r->out, sizeof(text)), text, sizeof(text));
	hex16(r->out->buf + 1, where->ip);
	r->out->n = sizeof(text) - 1;
}

// All lines of an address: those of functions that were inlined there come first.
static void render_lines(const struct rendering *r, const struct location *location, enum how how)
{
	const struct chains *chains = r->chains;
	struct source_frames found = {NULL, 0};
	const struct source_frame *last = NULL;
	struct source_frame line;
	bool inlines = how != HOW_ALONE && chains->options.inlines && location->sym;
	uint64_t addr = location->addr - (how == HOW_RETURN);

	if (location->dso && inlines)
		found = source_frames(chains->sources, location->dso, addr, location->sym);
	else if (location->dso && (r->fields & FIELD_BIT(SRCLINE)) &&
		 source_line(chains->sources, location->dso, addr, &line))
		last = &line;
	for (size_t i = 0; i + 1 < found.n; i++) {
		struct location inlined = *location;
		// Its offset counts from the function around it.
		struct symbol symbol = *location->sym;

		symbol.name = found.v[i].sym->name;
		symbol.inlined = true;
		inlined.sym = &symbol;
		render_line(r, &inlined, &found.v[i]);
	}
	if (found.n)
		last = &found.v[found.n - 1];
	render_line(r, location, last);
}

static uint32_t key_of(const struct dso *dso, enum how how, uint32_t style)
{
	return (dso->id << 6 | how << 4 | style) + 1;
}

static void keep_text(struct chains *chains, struct line_slot *slot)
{
	struct str text = {chains->scratch.buf, chains->scratch.n};
	char *kept;

	slot->n = (uint16_t)text.n;
	if (text.n <= sizeof(slot->text)) {
		memcpy(slot->text, text.p, text.n);
		return;
	}
	kept = arena_memdup(&chains->texts, text.p, text.n);
	memcpy(slot->text, &kept, sizeof(kept));
}

static void resolve_frame(const struct chains *chains, struct task *task, struct location *where,
			  enum how how)
{
	if (how == HOW_RETURN)
		*where = sym_resolve_return(chains->sym, task, where->cpumode, where->ip);
	else
		*where = sym_resolve(chains->sym, task, where->cpumode, where->ip);
}

// The slot of an address; NULL when its line isn't one to keep: then it lies in scratch.
static const struct line_slot *line(const struct chains_print *p, struct location *where, enum how how)
{
	struct chains *chains = p->chains;
	const struct rendering r = {chains, &chains->scratch, chains->styles.v[p->style]};
	const uint32_t style = p->style;
	const struct line_slot *known;
	struct line_slot *slot;
	uint64_t addr;
	uint32_t key;

	chains->scratch.n = 0;
	if (!where->map || !where->dso) {
		render_unknown(&r, where);
		return NULL;
	}
	// Kernel addresses stand in the line as they are, others as those of the dso.
	key = key_of(where->dso, how, style);
	addr = dso_is_kernel(where->dso) ? where->ip : where->addr;
	known = find_line(chains, addr, key);
	if (known)
		return known;
	chains->frames_resolved++;
	resolve_frame(chains, p->task, where, how);
	render_lines(&r, where, how);
	if (chains->scratch.n > UINT16_MAX || style >= STYLES_MAX || !where->dso ||
	    (where->sym && where->addr >= where->sym->end))
		return NULL;
	// Loading the symbols may have moved the address.
	key = key_of(where->dso, how, style);
	addr = dso_is_kernel(where->dso) ? where->ip : where->addr;
	slot = free_slot(chains, addr, key);
	slot->addr = addr;
	slot->dso_style = key;
	slot->again = false;
	keep_text(chains, slot);
	return slot;
}

static const struct line_slot *line_of(const struct chains_print *p, uint8_t cpumode, uint64_t ip,
				       enum how how)
{
	struct location where = sym_resolve_map(p->chains->sym, p->task, cpumode, ip);

	return line(p, &where, how);
}

static struct str slot_text(const struct line_slot *slot)
{
	struct str text = {slot->text, slot->n};

	if (slot->n > sizeof(slot->text))
		memcpy(&text.p, slot->text, sizeof(text.p));
	return text;
}

// Copied whole, whatever its length: moves instead of a call.
static inline void copy_line(struct out *out, const struct line_slot *slot)
{
	if (__builtin_expect(slot->n > sizeof(slot->text), 0)) {
		out_str(out, slot_text(slot));
		return;
	}
	memcpy(out_room(out, sizeof(slot->text)), slot->text, sizeof(slot->text));
	out->n += slot->n;
}

// Addresses of a chain between two context markers.
struct run {
	const uint64_t *ips;
	uint32_t n;
	uint8_t cpumode;
	enum how callers; // what all but the first are
};

static void print_frame(const struct chains_print *p, uint8_t cpumode, uint64_t ip, enum how how)
{
	const struct line_slot *slot = line_of(p, cpumode, ip, how);

	if (slot)
		copy_line(p->out, slot);
	else
		out_bytes(p->out, p->chains->scratch.buf, p->chains->scratch.n);
}

// The kernel's addresses are few and the same everywhere: they need not even be looked for in maps.
static void print_kernel_run(const struct chains_print *p, const struct run *run)
{
	struct chains *chains = p->chains;
	const struct space *space = chains->sym->kernel;
	struct out *out = p->out;
	uint32_t style = p->style;

	for (uint32_t i = 0; i < run->n; i++) {
		uint64_t ip = run->ips[i];
		uint32_t generation = space->generation;
		struct seen_line *seen =
			&chains->seen[ip * 0xd6e8feb86659fd93ull >> (64 - SEEN_BITS)];
		enum how how = i ? HOW_RETURN : HOW_LEAF;
		const struct line_slot *slot;

		if (seen->ip == ip && seen->dso_style &&
		    (seen->dso_style - 1) % 64 == (how << 4 | style) &&
		    seen->generation == generation) {
			slot = &chains->lines[seen->slot];
			if (slot->addr == ip && slot->dso_style == seen->dso_style) {
				copy_line(out, slot);
				continue;
			}
		}
		slot = line_of(p, PERF_RECORD_MISC_KERNEL, ip, how);
		if (!slot) {
			out_bytes(out, chains->scratch.buf, chains->scratch.n);
			continue;
		}
		copy_line(out, slot);
		*seen = (struct seen_line){ip, space->generation, (uint32_t)(slot - chains->lines),
					   slot->dso_style};
	}
}

static void print_run(const struct chains_print *p, const struct run *run)
{
	p->chains->frames_n += run->n;
	if (run->cpumode == PERF_RECORD_MISC_KERNEL && p->chains->sym->kernel &&
	    p->style < STYLES_MAX) {
		print_kernel_run(p, run);
		return;
	}
	for (uint32_t i = 0; i < run->n; i++)
		print_frame(p, run->cpumode, run->ips[i], i ? run->callers : HOW_LEAF);
}

// False: nothing is printed behind this frame.
static bool print_until(const struct chains_print *p, uint8_t cpumode, uint64_t ip, enum how how)
{
	struct location where = {.cpumode = cpumode, .ip = ip};

	print_frame(p, cpumode, ip, how);
	resolve_frame(p->chains, p->task, &where, how);
	return !where.sym || !has_word(p->chains->options.stop, where.sym->name);
}

typedef bool chain_run(void *arg, const struct run *run);

// Calls with the addresses between context markers; false from it ends the walk.
static void walk(const struct sample *sample, uint32_t max_stack, chain_run *call, void *arg)
{
	const uint64_t *chain = sample->callchain;
	uint32_t n = sample->callchain_n, left = max_stack, i;
	uint8_t cpumode = PERF_RECORD_MISC_USER;

	// perf drops the whole chain when it holds a marker that it doesn't know.
	for (i = 0; i < n && left; i++) {
		if (chain[i] < PERF_CONTEXT_MAX)
			left--;
		else if (!cpumode_of_context(chain[i]))
			return;
	}
	n = i;
	for (i = 0; i < n;) {
		struct run run = {.ips = chain + i, .cpumode = cpumode, .callers = HOW_RETURN};

		if (chain[i] >= PERF_CONTEXT_MAX) {
			cpumode = cpumode_of_context(chain[i++]);
			continue;
		}
		if (cpumode == PERF_RECORD_MISC_USER && sample->at_calls)
			run.callers = HOW_LEAF;
		for (; i < n && chain[i] < PERF_CONTEXT_MAX; i++)
			run.n++;
		if (!call(arg, &run))
			return;
	}
}

static bool print_one_run(void *arg, const struct run *run)
{
	const struct chains_print *p = arg;

	if (p->chains->options.stop) {
		for (uint32_t i = 0; i < run->n; i++) {
			if (!print_until(p, run->cpumode, run->ips[i], i ? run->callers : HOW_LEAF))
				return false;
		}
		return true;
	}
	print_run(p, run);
	return true;
}

void chains_print(const struct chains_print *print, const struct sample *sample)
{
	walk(sample, print->chains->options.max_stack, print_one_run, (void *)(uintptr_t)print);
}

struct each {
	chain_frame *call;
	void *arg;
};

static bool each_of_run(void *arg, const struct run *run)
{
	struct each *each = arg;

	for (uint32_t i = 0; i < run->n; i++)
		each->call(each->arg, run->ips[i], run->cpumode, i > 0 && run->callers == HOW_RETURN);
	return true;
}

void chains_each(const struct sample *sample, uint32_t max_stack, chain_frame *call, void *arg)
{
	struct each each = {call, arg};

	walk(sample, max_stack, each_of_run, &each);
}

void chains_print_ip(const struct chains_print *print, const struct sample *sample)
{
	const struct line_slot *slot = line_of(print, sample->cpumode, sample->ip, HOW_ALONE);
	struct chains *chains = print->chains;
	struct out *out = print->out;
	struct str text =
		slot ? slot_text(slot) : (struct str){chains->scratch.buf, chains->scratch.n};
	char *p;

	text.n--; // its newline
	p = out_room(out, text.n);
	memcpy(p, text.p, text.n);
	if (chains->styles.v[print->style] & FIELD_BIT(IP)) {
		// A line of a chain has a tab and perhaps the dso's own address there.
		hex16(p + 1, sample->ip);
		memmove(p, p + 1, text.n - 1);
		text.n--;
	}
	out->n += text.n;
}
