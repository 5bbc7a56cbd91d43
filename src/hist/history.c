// SPDX-License-Identifier: GPL-2.0-or-later
// The path and its numbers are perf's: tools/perf/util/machine.c (thread__resolve_callchain_sample) and callchain.c. Of each branch
// first where it went, then where it came from, whichever way the graph is read.
//
// Branch history is a stack like others: hist/history makes a path of where branches went and came from, loops taken out, and
// keeps their numbers by (row, node of the trie); a tree of callees knows the node of each of its frames.
#include "hist/history.h"
#include "base/map.h"

enum {
	MOST_BRANCHES = 127,
	CALL_BYTES = 8,
	TYPES = 16,
	NEW_TYPES = 8,
	TYPE_COND = 1,
	TYPE_EXTENDED = 15
};

const char *const report_branch_names[16] = {
	"N/A",	  "COND",      "UNCOND",   "IND",  "CALL", "IND_CALL", "RET",	"SYSCALL",
	"SYSRET", "COND_CALL", "COND_RET", "ERET", "IRQ",  "SERROR",   "NO_TX", "",
};
const char *const report_new_branch_names[8] = {
	"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
};

struct step {
	uint32_t node;
	bool is_branch, is_target;
	uint32_t loops;
	uint64_t from, ip, flags, loop_cycles;
};

// Of a place in the graph of a row.
struct place_counts {
	uint64_t branches, predicted, aborts, cycles, loops, loop_cycles, origins_again;
	uint32_t types, new_types; // a bit each
	bool is_target, forward, backward, cross_4k, cross_2m;
};

struct loops {
	uint32_t n;
	uint64_t cycles;
};

struct history {
	struct report *report;
	VEC(struct step) steps; // of the last path
	VEC(struct place_counts) counts;
	struct map by_place; // row and node: index in counts + 1
};

struct history *history_new(struct report *report)
{
	struct history *history = NEW(struct history);

	history->report = report;
	return history;
}

void history_free(struct history *history)
{
	if (!history)
		return;
	vec_done(&history->steps);
	vec_done(&history->counts);
	map_done(&history->by_place);
	free(history);
}

// perf's table of where branches were seen has no second try: what falls on the same slot is not looked at.
static unsigned loop_slot(uint64_t from)
{
	return (unsigned)(from * 0x61c8864680b583ebull >> 57) % MOST_BRANCHES;
}

// Takes branches away that repeat those before them; returns how many are left.
static uint32_t remove_loops(struct perf_branch_entry *branches, uint32_t n, struct loops *loops)
{
	uint8_t seen[MOST_BRANCHES];

	memset(seen, 0xff, sizeof(seen));
	for (uint32_t i = 0; i < n; i++) {
		unsigned slot = loop_slot(branches[i].from);
		uint32_t first = seen[slot], size = 0, rest;
		bool is_loop = true;

		if (first == 0xff) {
			seen[slot] = (uint8_t)i;
			continue;
		}
		if (branches[first].from != branches[i].from)
			continue;
		for (uint32_t j = first; j < i && i + size < n; j++, size++) {
			if (branches[j].from != branches[i + size].from) {
				is_loop = false;
				break;
			}
		}
		if (!is_loop)
			continue;
		rest = n - (i + size);
		if (rest) {
			loops[i + size].n++;
			loops[i + size].cycles = 0;
			for (uint32_t j = 0; j < size; j++)
				loops[i + size].cycles += branches[i + j].cycles;
			memmove(loops + i, loops + i + size, rest * sizeof(*loops));
			memmove(branches + i, branches + i + size, rest * sizeof(*branches));
		}
		n -= size;
	}
	return n;
}

// On the way of a sample's path.
struct walk {
	struct history *history;
	struct task *task;
	uint32_t node;
};

static void add_step(struct walk *walk, uint8_t cpumode, struct step step)
{
	struct history *history = walk->history;
	struct task *task = walk->task;
	struct report *report = history->report;
	struct sym *sym = report->run->sym;
	struct location location;

	location = sym_resolve(sym, task, cpumode, step.ip);
	if (!location.map && step.is_branch)
		location = sym_resolve(sym, task, PERF_RECORD_MISC_KERNEL, step.ip);
	if (report->o.hide_unresolved && !location.sym)
		return;
	walk->node = stacks_child(&report->stacks, walk->node,
				  stacks_line_frame(&report->stacks, &location));
	step.node = walk->node;
	vec_push(&history->steps, step);
}

// Returns how many branches are left without loops.
static uint32_t add_branches(struct walk *walk, struct perf_branch_entry *branches, uint32_t n)
{
	struct loops loops[MOST_BRANCHES] = {0};

	n = remove_loops(branches, n, loops);
	for (uint32_t i = 0; i < n; i++) {
		struct step step = {.is_branch = true,
				    .is_target = branches[i].from != 0, // as perf tells them apart
				    .from = branches[i].from,
				    .ip = branches[i].to};

		memcpy(&step.flags, (const char *)&branches[i] + 16, sizeof(step.flags));
		add_step(walk, PERF_RECORD_MISC_USER, step);
		step.ip = step.from;
		step.is_target = false;
		step.loops = loops[i].n;
		step.loop_cycles = loops[i].cycles;
		add_step(walk, PERF_RECORD_MISC_USER, step);
	}
	return n;
}

// The call chain behind the branches, without what those have already.
static void add_calls(struct walk *walk, const struct sample *sample, uint32_t first, int64_t n)
{
	struct history *history = walk->history;
	bool callers_first = history->report->chain.caller;
	uint32_t taken = 0, all = (uint32_t)sample->callchain_n;
	uint8_t cpumode = sample->cpumode;

	for (int64_t i = first; i < n && taken < history->report->o.max_stack; i++) {
		uint64_t ip = sample->callchain[callers_first ? all - i - 1 : i];

		if (ip >= PERF_CONTEXT_MAX) {
			if (!callers_first)
				cpumode = cpumode_of_context(ip);
			continue;
		}
		taken++;
		if (callers_first)
			cpumode = sym_cpumode_of(history->report->run->sym, ip);
		add_step(walk, cpumode, (struct step){.ip = ip});
	}
}

uint32_t history_stack(struct history *history, struct task *task, const struct sample *sample)
{
	bool callers_first = history->report->chain.caller;
	struct perf_branch_entry branches[MOST_BRANCHES];
	uint64_t all = sample->branches ? sample->branch_n : 0, calls = sample->callchain_n;
	uint32_t first = 0, n = 0;
	struct walk walk = {history, task, 0};

	vec_clear(&history->steps);
	if (all <= MOST_BRANCHES)
		n = (uint32_t)MIN(all, (uint64_t)history->report->o.max_stack);
	for (uint32_t i = 0; i < n; i++) {
		branches[i] = sample->branches[callers_first ? all - i - 1 : i];
		if (callers_first || first >= calls)
			continue;
		// Where a call returns to is a few bytes behind the branch.
		if (sample->callchain[first] >= PERF_CONTEXT_MAX ||
		    (branches[i].from < sample->callchain[first] &&
		     branches[i].from >= sample->callchain[first] - CALL_BYTES))
			first++;
	}
	n = add_branches(&walk, branches, n);
	add_calls(&walk, sample, first, (int64_t)calls - (int64_t)n);
	return walk.node;
}

static void count_type(struct place_counts *counts, const struct step *step)
{
	unsigned type = step->flags >> 20 & 15, more = step->flags >> 26 & 15;

	if (!type || !step->from)
		return;
	if (type == TYPE_EXTENDED)
		counts->new_types |= 1u << more;
	else
		counts->types |= 1u << type;
	if (type == TYPE_COND) {
		counts->forward |= step->ip > step->from;
		counts->backward |= step->ip <= step->from;
	}
	if ((step->ip ^ step->from) >> 21)
		counts->cross_2m = true;
	else if ((step->ip ^ step->from) >> 12)
		counts->cross_4k = true;
}

void history_count(struct history *history, const struct entry *e)
{
	vec_each(struct step, step, &history->steps) {
		bool is_new;
		uint64_t *index =
			map_at(&history->by_place, (uint64_t)e->id << 32 | step->node, &is_new);
		struct place_counts *counts;

		if (is_new) {
			vec_push(&history->counts, (struct place_counts){0});
			*index = history->counts.n;
		}
		counts = &history->counts.v[*index - 1];
		if (!step->is_branch)
			continue;
		counts->branches++;
		counts->is_target = step->is_target;
		if (step->is_target) {
			counts->predicted += step->flags >> 1 & 1;
			counts->aborts += step->flags >> 3 & 1;
			count_type(counts, step);
			continue;
		}
		counts->cycles += step->flags >> 4 & 0xffff;
		counts->loops += step->loops;
		counts->loop_cycles += step->loop_cycles;
		counts->origins_again += !is_new; // perf forgets the first one
	}
}

static void put_word(struct out *out, bool *any, const char *word)
{
	out_text(out, *any ? " " : " (");
	out_text(out, word);
	*any = true;
}

static void put_types(const struct place_counts *counts, struct out *out, bool *any)
{
	if (counts->forward)
		put_word(out, any, "COND_FWD");
	if (counts->backward)
		put_word(out, any, "COND_BWD");
	for (unsigned i = 0; i < TYPES; i++) {
		if (i != TYPE_COND && counts->types >> i & 1)
			put_word(out, any, report_branch_names[i]);
	}
	for (unsigned i = 0; i < NEW_TYPES; i++) {
		if (counts->new_types >> i & 1)
			put_word(out, any, report_new_branch_names[i]);
	}
	if (counts->cross_4k)
		put_word(out, any, "CROSS_4K");
	if (counts->cross_2m)
		put_word(out, any, "CROSS_2M");
}

static void put_target(const struct place_counts *counts, struct out *out, bool *any)
{
	put_types(counts, out, any);
	if (counts->predicted < counts->branches) {
		put_word(out, any, "predicted");
		out_printf(out, ":%.1f%%",
			   100.0 * (double)counts->predicted / (double)counts->branches);
	}
	if (counts->aborts) {
		put_word(out, any, "abort");
		out_printf(out, ":%.1f%%", 100.0 * (double)counts->aborts / (double)counts->branches);
	}
}

static void put_number(struct out *out, bool *any, const char *word, uint64_t n)
{
	put_word(out, any, word);
	out_char(out, ':');
	out_u64(out, n);
}

static void put_origin(const struct place_counts *counts, struct out *out, bool *any)
{
	uint64_t loops = counts->origins_again ? counts->loops / counts->origins_again : 0;

	if (counts->cycles / counts->branches)
		put_number(out, any, "cycles", counts->cycles / counts->branches);
	if (loops) {
		put_number(out, any, "iter", loops);
		put_number(out, any, "avg_cycles", counts->loop_cycles / counts->loops);
	}
}

void history_put(const struct history *history, const struct entry *e, uint32_t node, struct out *out)
{
	const uint64_t *index = map_find(&history->by_place, (uint64_t)e->id << 32 | node);
	const struct place_counts *counts = index ? &history->counts.v[*index - 1] : NULL;
	bool any = false;

	if (!counts)
		return;
	if (!counts->branches) {
		out_text(out, " (calltrace)");
		return;
	}
	if (counts->is_target)
		put_target(counts, out, &any);
	else
		put_origin(counts, out, &any);
	if (any)
		out_char(out, ')');
}
