// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/script/chains.h"
#include "base/hash.h"
#include "base/log.h"

enum {
	TAIL_TEXT_LIMIT = 8 << 20,
	RUN_TEXT_LIMIT = 8 << 20,
	STYLES_MAX = 16,
};

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

bool words_set_has(const struct words_set *set, const char *word)
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
	out_init_memory(&chains->tail_text);
	out_init_memory(&chains->run_text);
	out_init_memory(&chains->scratch);
}

void chains_done(struct chains *chains)
{
	debug("%llu runs of call chains, %llu copied; %zu texts of addresses",
	      (unsigned long long)chains->run_lookups, (unsigned long long)chains->run_hits,
	      chains->tails_n);
	vec_done(&chains->styles);
	free(chains->tails);
	free(chains->runs);
	out_done(&chains->tail_text);
	out_done(&chains->run_text);
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

static void put_name(struct out *out, const struct chains *chains, const char *name)
{
	if (!chains->options.escape) {
		out_text(out, name);
		return;
	}
	for (const char *p = name; *p; p++) {
		if ((unsigned char)*p < 32 || *p == 127)
			out_printf(out, "\\x%02x", (unsigned char)*p);
		else
			out_char(out, *p);
	}
}

static uint64_t symbol_offset(const struct location *location)
{
	uint64_t offset = location->addr - location->sym->start;

	// A symbol without a size.
	if (location->addr >= location->sym->end && location->map)
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

void resolve_either(struct sym *sym, struct task *task, uint8_t cpumode, uint64_t addr,
		    struct location *ret)
{
	uint8_t other = sym_cpumode_of(sym, addr);

	sym_resolve(sym, task, cpumode, addr, ret);
	if (!ret->map && other != cpumode &&
	    (cpumode == PERF_RECORD_MISC_USER || cpumode == PERF_RECORD_MISC_KERNEL))
		sym_resolve(sym, task, other, addr, ret);
}

// " symbol+offset (dso)" and the lines below it, for the fields of a style.
static void render_tail(const struct chains *chains, struct out *out, const struct location *location,
			uint64_t fields)
{
	if (fields & FIELD_BIT(SYM)) {
		out_char(out, ' ');
		put_symbol(out, chains, location, fields & FIELD_BIT(SYMOFF));
	}
	if ((fields & FIELD_BIT(DSO)) && !(location->sym && location->sym->inlined)) {
		out_bytes(out, " (", 2);
		put_dso(out, chains, location);
		if ((fields & FIELD_BIT(DSOFF)) && location->dso) {
			out_bytes(out, "+0x", 3);
			out_hex(out, location->addr);
		}
		out_char(out, ')');
	}
	if ((fields & FIELD_BIT(SRCLINE)) && location->dso) {
		out_bytes(out, "\n  ", 3);
		put_name(out, chains, location->dso->short_name);
		out_char(out, '[');
		out_hex(out, location->addr);
		out_char(out, ']');
	}
	if (location->sym && location->sym->inlined)
		out_bytes(out, " (inlined)", 10);
}

static void forget_runs(struct chains *chains)
{
	memset(chains->runs, 0, (chains->runs_mask + 1) * sizeof(*chains->runs));
	chains->runs_n = 0;
	chains->run_text.n = 0;
}

static void grow_tails(struct chains *chains)
{
	struct tail_slot *old = chains->tails;
	size_t old_n = old ? chains->tails_mask + 1 : 0;

	if (chains->tail_text.n > TAIL_TEXT_LIMIT) {
		memset(old, 0, old_n * sizeof(*old));
		chains->tails_n = 0;
		chains->tail_text.n = 0;
		return;
	}
	if (chains->tails_n * 2 < old_n)
		return;
	chains->tails_mask = old_n ? old_n * 2 - 1 : 4095;
	chains->tails = xcalloc(chains->tails_mask + 1, sizeof(*chains->tails));
	for (size_t i = 0; i < old_n; i++) {
		size_t at;

		if (!old[i].dso_style)
			continue;
		at = hash_mix(old[i].addr, old[i].dso_style) & chains->tails_mask;
		while (chains->tails[at].dso_style)
			at = (at + 1) & chains->tails_mask;
		chains->tails[at] = old[i];
	}
	free(old);
}

// The text behind the address, from the cache or rendered; valid until the next call.
static struct str tail(struct chains *chains, struct task *task, struct location *where, uint32_t style)
{
	uint64_t fields = chains->styles.v[style];
	uint32_t key;
	size_t at;

	if (!where->map || !where->dso) {
		chains->scratch.n = 0;
		where->sym = NULL;
		render_tail(chains, &chains->scratch, where, fields);
		return (struct str){chains->scratch.buf, chains->scratch.n};
	}
	key = (where->dso->id << 4 | style) + 1;
	if (chains->tails) {
		for (at = hash_mix(where->addr, key) & chains->tails_mask;
		     chains->tails[at].dso_style; at = (at + 1) & chains->tails_mask) {
			const struct tail_slot *slot = &chains->tails[at];

			if (slot->addr == where->addr && slot->dso_style == key)
				return (struct str){chains->tail_text.buf + slot->at, slot->n};
		}
	}
	sym_resolve(chains->sym, task, where->cpumode, where->ip, where);
	if (style >= STYLES_MAX || !where->dso ||
	    (where->sym && where->addr >= where->sym->end)) {
		chains->scratch.n = 0;
		render_tail(chains, &chains->scratch, where, fields);
		return (struct str){chains->scratch.buf, chains->scratch.n};
	}
	grow_tails(chains);
	// Loading the symbols may have moved the address.
	key = (where->dso->id << 4 | style) + 1;
	at = hash_mix(where->addr, key) & chains->tails_mask;
	while (chains->tails[at].dso_style)
		at = (at + 1) & chains->tails_mask;
	struct tail_slot *slot = &chains->tails[at];
	*slot = (struct tail_slot){where->addr, key, (uint32_t)chains->tail_text.n, 0};
	render_tail(chains, &chains->tail_text, where, fields);
	slot->n = (uint32_t)(chains->tail_text.n - slot->at);
	chains->tails_n++;
	return (struct str){chains->tail_text.buf + slot->at, slot->n};
}

// False: nothing is printed behind this frame.
static bool render_frame(struct chains *chains, struct out *out, struct task *task, uint8_t cpumode,
			 uint64_t ip, uint32_t style)
{
	struct location where;
	struct str text;
	char *p;

	sym_resolve_map(chains->sym, task, cpumode, ip, &where);
	where.ip = ip;
	where.cpumode = cpumode;
	text = tail(chains, task, &where, style);
	p = out_room(out, text.n + 18);
	if (chains->styles.v[style] & FIELD_BIT(IP)) {
		*p++ = '\t';
		hex16(p, where.map && where.dso && !dso_is_kernel(where.dso) ? where.addr : ip);
		p += 16;
	}
	memcpy(p, text.p, text.n);
	p += text.n;
	*p++ = '\n';
	out->n = (size_t)(p - out->buf);
	if (!chains->options.stop)
		return true;
	sym_resolve(chains->sym, task, cpumode, ip, &where);
	return !where.sym || !words_set_has(chains->options.stop, where.sym->name);
}

static void grow_runs(struct chains *chains)
{
	struct run_slot *old = chains->runs;
	size_t old_n = old ? chains->runs_mask + 1 : 0;

	if (old && chains->run_text.n > RUN_TEXT_LIMIT) {
		forget_runs(chains);
		return;
	}
	if (chains->runs_n * 2 < old_n)
		return;
	chains->runs_mask = old_n ? old_n * 2 - 1 : 1023;
	chains->runs = xcalloc(chains->runs_mask + 1, sizeof(*chains->runs));
	for (size_t i = 0; i < old_n; i++) {
		size_t at = old[i].hash & chains->runs_mask;

		if (!old[i].hash)
			continue;
		while (chains->runs[at].hash)
			at = (at + 1) & chains->runs_mask;
		chains->runs[at] = old[i];
	}
	free(old);
}

static const struct run_slot *find_run(const struct chains *chains, const struct run_slot *like,
				       const uint64_t *ips)
{
	if (!chains->runs)
		return NULL;
	for (size_t at = like->hash & chains->runs_mask; chains->runs[at].hash;
	     at = (at + 1) & chains->runs_mask) {
		const struct run_slot *slot = &chains->runs[at];

		if (slot->hash == like->hash && slot->ips_n == like->ips_n &&
		    slot->space == like->space && slot->generation == like->generation &&
		    slot->mode_style == like->mode_style &&
		    !memcmp(chains->run_text.buf + slot->at, ips, like->ips_n * sizeof(*ips)))
			return slot;
	}
	return NULL;
}

// n addresses of one mode.
static void print_run(struct chains *chains, struct out *out, struct task *task, uint8_t cpumode,
		      const uint64_t *ips, uint32_t n, uint32_t style)
{
	const struct space *space =
		cpumode == PERF_RECORD_MISC_USER ? task->space : chains->sym->kernel;
	struct run_slot run = {.mode_style = (uint32_t)cpumode << 8 | style, .ips_n = n};
	const struct run_slot *known;
	size_t at;

	if (space) {
		run.space = space->id;
		run.generation = space->generation;
	}
	run.hash = hash_mix(hash_bytes(ips, n * sizeof(*ips)),
			    ((uint64_t)run.space << 32 | run.generation) ^ run.mode_style) |
		   1ull << 63; // never 0
	chains->run_lookups++;
	known = find_run(chains, &run, ips);
	if (known) {
		chains->run_hits++;
		out_bytes(out, chains->run_text.buf + known->at + n * sizeof(*ips), known->n);
		return;
	}
	grow_runs(chains);
	run.at = (uint32_t)chains->run_text.n;
	out_bytes(&chains->run_text, ips, n * sizeof(*ips));
	for (uint32_t i = 0; i < n; i++)
		render_frame(chains, &chains->run_text, task, cpumode, ips[i], style);
	run.n = (uint32_t)(chains->run_text.n - run.at - n * sizeof(*ips));
	out_bytes(out, chains->run_text.buf + run.at + n * sizeof(*ips), run.n);
	// Symbols that were loaded meanwhile may have changed the maps: then the text stays unknown.
	if (space && space->generation != run.generation) {
		chains->run_text.n = run.at;
		return;
	}
	at = run.hash & chains->runs_mask;
	while (chains->runs[at].hash)
		at = (at + 1) & chains->runs_mask;
	chains->runs[at] = run;
	chains->runs_n++;
}

static uint8_t context_mode(uint64_t context)
{
	switch (context) {
	case PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	default:
		return 0;
	}
}

typedef bool chain_run(void *arg, uint8_t cpumode, const uint64_t *ips, uint32_t n);

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
		else if (!context_mode(chain[i]))
			return;
	}
	n = i;
	for (i = 0; i < n;) {
		uint32_t start = i;

		if (chain[i] >= PERF_CONTEXT_MAX) {
			cpumode = context_mode(chain[i++]);
			continue;
		}
		while (i < n && chain[i] < PERF_CONTEXT_MAX)
			i++;
		if (!call(arg, cpumode, chain + start, i - start))
			return;
	}
}

struct printing {
	struct chains *chains;
	struct out *out;
	struct task *task;
	uint32_t style;
};

static bool print_one_run(void *arg, uint8_t cpumode, const uint64_t *ips, uint32_t n)
{
	struct printing *p = arg;

	// For one frame the text of its address is as near as that of the run.
	if (n == 1 || p->chains->options.stop) {
		for (uint32_t i = 0; i < n; i++) {
			if (!render_frame(p->chains, p->out, p->task, cpumode, ips[i], p->style))
				return false;
		}
		return true;
	}
	print_run(p->chains, p->out, p->task, cpumode, ips, n, p->style);
	return true;
}

void chains_print(struct chains *chains, struct out *out, struct task *task,
		  const struct sample *sample, uint32_t style)
{
	struct printing p = {chains, out, task, style};

	walk(sample, chains->options.max_stack, print_one_run, &p);
}

struct each {
	chain_frame *call;
	void *arg;
};

static bool each_of_run(void *arg, uint8_t cpumode, const uint64_t *ips, uint32_t n)
{
	struct each *each = arg;

	for (uint32_t i = 0; i < n; i++)
		each->call(each->arg, ips[i], cpumode);
	return true;
}

void chains_each(const struct sample *sample, uint32_t max_stack, chain_frame *call, void *arg)
{
	struct each each = {call, arg};

	walk(sample, max_stack, each_of_run, &each);
}

void chains_print_ip(struct chains *chains, struct out *out, struct task *task,
		     const struct sample *sample, uint32_t style)
{
	struct location where;

	sym_resolve_map(chains->sym, task, sample->cpumode, sample->ip, &where);
	where.ip = sample->ip;
	where.cpumode = sample->cpumode;
	if (chains->styles.v[style] & FIELD_BIT(IP))
		put_hex16(out, sample->ip);
	out_str(out, tail(chains, task, &where, style));
}
