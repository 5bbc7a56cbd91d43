// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind.h"
#include "base/hash.h"
#include "obj/cfi_expr.h"
#include "sym/jit.h"
#include "sym/load.h"
#include "sym/unwind_cache.h"
#include "sym/unwind_join.h"
#include "sym/unwind_walk.h"
#include <sys/utsname.h>

enum {
	KNOWN = 1 << 13,
	FAR = 1 << 26, // no stack is deeper: what lies further up is no frame
};

// What to do at an address of an address space; direct mapped.
struct unwind_known {
	uint64_t pc, space;	       // space: id << 32 | generation; 0: empty
	const struct cfi_rule *rule;   // NULL: no frame information
	const struct cfi_table *table; // of the rule
	bool is_base;		       // a stack's first function, as its frame pointer said
	uint8_t call;		       // may a call return behind it? 0: not asked yet
};

static const struct machine x86_64 = {.code = EM_X86_64, .sp = 7, .fp = 6, .pc_reg = 16, .word = 8};
static const struct machine i386 = {.code = EM_386, .sp = 4, .fp = 5, .pc_reg = 8, .word = 4};
static const struct machine arm64 = {.code = EM_AARCH64, .sp = 31, .fp = 29, .pc_reg = 255, .word = 8};

uint16_t unwind_machine(const char *arch)
{
	if (arch && !strcmp(arch, "x86_64"))
		return EM_X86_64;
	if (arch && (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64")))
		return EM_AARCH64;
	// uname of 32-bit kernels: i386 to i686.
	if (arch && arch[0] == 'i' && arch[1] && strcmp(arch + 2, "86") == 0)
		return EM_386;
	return 0;
}

uint16_t unwind_machine_here(void)
{
	struct utsname here;

	return uname(&here) < 0 ? 0 : unwind_machine(here.machine);
}

uint64_t unwind_regs_here(void)
{
#if defined(__aarch64__)
	return 0x1ffffffff; // x0-x28, fp, lr, sp, pc: arch/arm64/include/uapi/asm/perf_regs.h
#else
	return 0xff0fff; // all but ds es fs gs: arch/x86/include/uapi/asm/perf_regs.h
#endif
}

struct unwinder *unwinder_new(struct sym *sym, uint16_t machine)
{
	struct unwinder *unwinder;

	if (machine != EM_X86_64 && machine != EM_AARCH64 && machine != EM_386)
		return NULL;
	unwinder = NEW(struct unwinder);
	unwinder->sym = sym;
	unwinder->machine = machine;
	unwinder->tables = unwind_tables_new(sym->options.no_cache_dir);
	unwinder->known = xcalloc(KNOWN, sizeof(*unwinder->known));
	unwinder->joins = unwind_joins_new();
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	vec_each(struct unwind_dso *, it, &unwinder->dsos) {
		if (*it && (*it)->has_source)
			source_done(&(*it)->source);
		free(*it);
	}
	vec_done(&unwinder->dsos);
	unwind_tables_free(unwinder->tables);
	free(unwinder->known);
	unwind_made_free(unwinder->made);
	free(unwinder->pages);
	unwind_joins_free(unwinder->joins);
	vec_done(&unwinder->frames);
	free(unwinder);
}

// ---- tables

static bool has_debug_frame(const struct elf_source *source)
{
	struct elf_section section;

	return elf_find_section(&source->elf, ".debug_frame", &section);
}

static void make_table(struct unwinder *unwinder, struct dso *dso, struct unwind_dso *ret)
{
	struct elf_source debug;
	struct elf_section section;
	struct cfi_table table;
	bool has_debug = false;
	int err;

	ret->has_source = source_open_mapped(unwinder->sym, dso, &ret->source);
	// A 32-bit program's vdso is not this one's.
	if (ret->has_source && ret->source.elf.machine != unwinder->machine &&
	    (unwinder->machine != EM_X86_64 || ret->source.elf.machine != EM_386)) {
		source_done(&ret->source);
		ret->has_source = false;
	}
	if (!ret->has_source) {
		if (jit_frames(unwinder->sym, dso, &table))
			ret->table =
				unwind_tables_add(unwinder->tables, &(struct build_id){0}, &table);
		return;
	}
	ret->table = unwind_tables_find(unwinder->tables, &dso->build_id);
	if (ret->table)
		return;
	if (!elf_find_section(&ret->source.elf, ".debug_frame", &section))
		has_debug = dso_find_file(unwinder->sym, dso, has_debug_frame, &debug);
	err = cfi_build(&table, &ret->source.elf, has_debug ? &debug.elf : NULL);
	if (has_debug)
		source_done(&debug);
	if (err >= 0)
		ret->table = unwind_tables_add(unwinder->tables, &dso->build_id, &table);
}

struct unwind_dso *unwind_dso_of(struct unwinder *unwinder, struct dso *dso)
{
	while (unwinder->dsos.n <= dso->id)
		vec_push(&unwinder->dsos, NULL);
	if (!unwinder->dsos.v[dso->id]) {
		unwinder->dsos.v[dso->id] = NEW(struct unwind_dso);
		if (dso->kind == DSO_USER || dso->kind == DSO_VDSO)
			make_table(unwinder, dso, unwinder->dsos.v[dso->id]);
	}
	return unwinder->dsos.v[dso->id];
}

void unwind_prepare(struct unwinder *unwinder, struct dso *dso)
{
	(void)unwind_dso_of(unwinder, dso);
}

static __attribute__((noinline)) void look_up(const struct walk *w, uint64_t pc, bool is_exact,
					      struct unwind_known *known)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);
	const struct cfi_table *table;
	const struct cfi_row *row;

	known->rule = NULL;
	known->table = NULL;
	known->is_base = false;
	known->call = 0;
	if (!map)
		return;
	table = unwind_dso_of(w->unwinder, map->dso)->table;
	row = table && table->machine == w->machine->code ? cfi_find(table, mapping_addr(map, pc))
							  : NULL;
	if (row && row->rule) {
		known->rule = cfi_rule_at(table, row->rule);
		known->table = table;
	} else if (map->dso->kind != DSO_VDSO) {
		known->rule = walk_rule_of_code(w, pc + !is_exact, is_exact);
	}
}

// `is_exact`: of an instruction; else of the call in front of where it returns to.
static struct unwind_known *known_of(const struct walk *w, uint64_t pc, bool is_exact)
{
	const struct space *space = w->task->space;
	uint64_t key = (uint64_t)space->id << 32 | space->generation;
	struct unwind_known *known = &w->unwinder->known[hash_mix(pc, key) % KNOWN];

	if (known->pc != pc || known->space != key) {
		look_up(w, pc, is_exact, known);
		known->pc = pc;
		known->space = key;
	}
	return known;
}

// ---- memory

// What lies in files: constants, code.
bool walk_read_file(const struct walk *w, uint64_t addr, void *ret, size_t size)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, addr);
	const struct unwind_dso *dso;
	uint64_t at;

	if (!map || addr + size > map->end || addr + size < addr)
		return false;
	dso = unwind_dso_of(w->unwinder, map->dso);
	at = mapping_addr(map, addr);
	if (!dso->has_source || at > dso->source.elf.n || dso->source.elf.n - at < size)
		return false;
	memcpy(ret, dso->source.elf.p + at, size);
	return true;
}

static bool read_file_word(const struct walk *w, uint64_t addr, uint64_t *ret)
{
	uint64_t v = 0;

	if (!walk_read_file(w, addr, &v, w->machine->word))
		return false;
	*ret = v;
	return true;
}

bool walk_read_elsewhere(struct walk *w, uint64_t addr, uint64_t *ret)
{
	// Words of 32-bit programs come here all: `readable` is 0.
	if (w->machine->word == 4) {
		uint64_t at = (uint32_t)addr - w->stack_at;
		uint32_t v;

		addr = (uint32_t)addr;
		if (at < w->stack_size && w->stack_size - at >= 4) {
			memcpy(&v, w->stack + at, 4);
			*ret = v;
			return true;
		}
	}
	// The bytes between the end of the copy and the stack's end are all that is missing.
	w->end = addr - w->stack_at < w->stack_size + FAR ? UNWIND_SHORT : UNWIND_BAD;
	if (w->end == UNWIND_SHORT && w->reads_later) {
		w->has_read_later = true;
		return unwind_read_later(w->unwinder->joins, w->task, addr, ret);
	}
	return w->end == UNWIND_BAD && read_file_word(w, addr, ret);
}

static bool read_for_expression(void *arg, uint64_t addr, unsigned size, uint64_t *ret)
{
	struct walk *w = arg;
	uint64_t at = addr - w->stack_at;

	*ret = 0;
	size = MIN(size, w->machine->word);
	if (at >= w->stack_size || w->stack_size - at < size) {
		if (size == w->machine->word)
			return walk_read_elsewhere(w, addr, ret);
		return walk_read_file(w, addr, ret, size);
	}
	memcpy(ret, w->stack + at, size);
	return true;
}

// ---- one frame

static bool evaluate(struct walk *w, const struct cfi_table *table, int32_t at, const uint64_t *cfa,
		     uint64_t *ret)
{
	const struct cfi_expr expr = {.regs = w->regs,
				      .regs_n = PC,
				      .pc_reg = w->machine->pc_reg,
				      .pc = w->regs[PC],
				      .read = read_for_expression,
				      .arg = w};

	w->end = UNWIND_BAD;
	return cfi_expr_run(&expr, cfi_expression(table, at), cfa, ret) == 0;
}

static bool find_cfa(struct walk *w, const struct unwind_known *known, uint64_t *ret)
{
	const struct cfi_rule *rule = known->rule;

	switch (rule->cfa) {
	case CFI_CFA_REGISTER:
		*ret = w->regs[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset;
		return true;
	case CFI_CFA_PLT:
		*ret = w->regs[rule->cfa_reg] + 8 +
		       ((w->regs[PC] & 15) >= (uint64_t)rule->cfa_offset ? 8 : 0);
		return true;
	case CFI_CFA_EXPRESSION:
		return evaluate(w, known->table, rule->cfa_offset, NULL, ret);
	default:
		w->end = UNWIND_NO_INFO;
		return false;
	}
}

static bool value_of(struct walk *w, const struct unwind_known *known,
		     const struct cfi_saved *saved, uint64_t cfa, uint64_t *ret)
{
	uint64_t addr;

	switch (saved->where) {
	case CFI_SAME:
		*ret = w->regs[saved->reg == PC ? ARM64_LR : saved->reg];
		return true;
	case CFI_AT_CFA:
		return walk_read_word(w, cfa + (uint64_t)(int64_t)saved->value, ret);
	case CFI_CFA_PLUS:
		*ret = cfa + (uint64_t)(int64_t)saved->value;
		return true;
	case CFI_REGISTER:
		*ret = w->regs[saved->value];
		return true;
	case CFI_AT_EXPRESSION:
		return evaluate(w, known->table, saved->value, &cfa, &addr) &&
		       walk_read_word(w, addr, ret);
	case CFI_VAL_EXPRESSION:
		return evaluate(w, known->table, saved->value, &cfa, ret);
	default:
		w->end = UNWIND_ROOT;
		return false;
	}
}

// Compilers that realign a stack say where registers lie by the frame pointer, and say no more when it is the caller's again, just
// before the return: then all of them are. What it points at is the function's own while it lies in its frame.
static bool is_restored(const struct walk *w, const struct unwind_known *known,
			const struct cfi_saved *saved, uint64_t cfa)
{
	enum { BREG0 = 0x70 }; // DW_OP_breg0
	const uint64_t sp = w->regs[w->machine->sp], fp = w->regs[w->machine->fp];
	struct str code;

	if (saved->where != CFI_AT_EXPRESSION || fp - sp < cfa - sp)
		return false;
	code = cfi_expression(known->table, saved->value);
	return code.n && (uint8_t)code.p[0] == BREG0 + w->machine->fp;
}

// Any rule. False: w->end says why.
static __attribute__((noinline)) bool step_any(struct walk *w, const struct unwind_known *known,
					       bool is_leaf)
{
	const struct cfi_rule *rule = known->rule;
	uint64_t next[CFI_REGS], cfa;

	if (rule->saved[0].where == CFI_UNDEFINED) {
		w->end = UNWIND_ROOT;
		return false;
	}
	if (!find_cfa(w, known, &cfa))
		return false;
	memcpy(next, w->regs, sizeof(next));
	next[w->machine->sp] = cfa;
	for (uint32_t i = 0; i < rule->saved_n; i++) {
		const struct cfi_saved *saved = &rule->saved[i];

		if (is_leaf && is_restored(w, known, saved, cfa))
			continue;
		if (!value_of(w, known, saved, cfa, &next[saved->reg]) && saved->reg == PC)
			return false;
	}
	memcpy(w->regs, next, sizeof(next));
	return true;
}

static inline bool step_simple(struct walk *w, const struct cfi_rule *rule)
{
	uint64_t cfa = w->regs[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_offset;
	uint32_t i = 0;

	// The return address first: without it the rest is of no use.
	do {
		const struct cfi_saved *saved = &rule->saved[i];

		if (!walk_read_word(w, cfa + (uint64_t)(int64_t)saved->value, &w->regs[saved->reg]) &&
		    i == 0)
			return false;
	} while (++i < rule->saved_n);
	w->regs[w->machine->sp] = cfa;
	return true;
}

static bool is_behind_call(const struct walk *w)
{
	enum { CAN = 1, CANNOT };
	struct unwind_known *known = known_of(w, w->regs[PC] - 1, false);

	if (!known->call)
		known->call = walk_is_no_return(w, w->regs[PC]) ? CANNOT : CAN;
	return known->call == CAN;
}

// What a frame pointer led to is believed where a call may have come from. Stacks of compilers' own may begin with a return
// that was put there, as their first frame pointer tells.
static bool is_return(const struct walk *w)
{
	return is_behind_call(w) || w->regs[w->machine->fp] == 0;
}

// Its kind of code keeps frame pointers, as one that was there has shown.
static void note_frames(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	if (map)
		unwind_dso_of(w->unwinder, map->dso)->keeps_frames = true;
}

// By what its instructions say. False: as if nothing had happened.
static bool step_code(struct walk *w, const struct cfi_rule *rule)
{
	uint64_t before[CFI_REGS], sp = w->regs[w->machine->sp];

	memcpy(before, w->regs, sizeof(before));
	if (step_simple(w, rule) && w->regs[w->machine->sp] > sp &&
	    walk_is_code(w, w->regs[PC] - 1) && is_return(w))
		return true;
	memcpy(w->regs, before, sizeof(before));
	return false;
}

static bool step_without(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	uint64_t pc = w->regs[PC] - !is_leaf, fp = w->regs[w->machine->fp];

	*ret_signal = !is_leaf && walk_is_sigreturn(w, w->regs[PC]);
	if (*ret_signal)
		return walk_step_sigreturn(w);
	if (known->rule && !known->table && step_code(w, known->rule))
		return true;
	if (!walk_step_guessed(w, is_leaf)) {
		// Asking for other places may have taken its slot.
		known_of(w, pc, is_leaf)->is_base = w->end == UNWIND_ROOT;
		return false;
	}
	if (!is_return(w)) {
		w->end = UNWIND_NO_INFO;
		return false;
	}
	if (w->regs[w->machine->sp] == fp + 2 * w->machine->word)
		note_frames(w, pc);
	return true;
}

static bool step_once(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	const struct cfi_rule *rule = known->table ? known->rule : NULL;
	uint64_t sp = w->regs[w->machine->sp];

	// What has just been called may still be on its caller's stack, or again.
	if (rule && (rule->flags & CFI_SWITCH)) {
		w->end = UNWIND_SWITCHED;
		if (!is_leaf)
			return false;
		rule = NULL;
	}
	if (rule && (rule->flags & CFI_SIMPLE)) {
		if (!step_simple(w, rule))
			return false;
		*ret_signal = rule->flags & CFI_SIGNAL;
	} else if (rule) {
		if (!step_any(w, known, is_leaf))
			return false;
		*ret_signal = rule->flags & CFI_SIGNAL;
	} else if (!step_without(w, known, is_leaf, ret_signal)) {
		return false;
	}
	w->regs[PC] = walk_plain_address(w, w->regs[PC]);
	if (w->machine == &arm64)
		w->regs[ARM64_LR] = *ret_signal ? w->regs[ARM64_LR] : w->regs[PC];
	w->end = UNWIND_BAD;
	// Callers' frames lie above; only a signal may have come on another stack.
	if (!*ret_signal && w->regs[w->machine->sp] < sp + (is_leaf ? 0 : 1))
		return false;
	if (w->regs[PC] == 0) {
		w->end = UNWIND_ROOT;
		return false;
	}
	return true;
}

// Frame information of hand-written code is wrong here and there between two instructions, mostly where exceptions are thrown:
// when it leads nowhere from the innermost frame, the instructions may know better.
static bool step(struct walk *w, struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	uint64_t before[CFI_REGS], after[CFI_REGS];
	const struct cfi_rule *rule;
	bool good;

	if (!is_leaf || !known->table)
		return step_once(w, known, is_leaf, ret_signal);
	memcpy(before, w->regs, sizeof(before));
	good = step_once(w, known, is_leaf, ret_signal);
	if (w->end != UNWIND_BAD || (good && (*ret_signal || walk_is_code(w, w->regs[PC] - 1))))
		return good;
	memcpy(after, w->regs, sizeof(after));
	memcpy(w->regs, before, sizeof(before));
	rule = walk_rule_of_code(w, before[PC], true);
	if (rule && step_code(w, rule)) {
		*ret_signal = false;
		w->end = UNWIND_BAD;
		return true;
	}
	memcpy(w->regs, after, sizeof(after));
	w->end = UNWIND_BAD;
	return good;
}

// ---- a stack

// Registers by DWARF number from those of perf's (arch/*/include/uapi/asm/perf_regs.h).
static bool take_registers(struct walk *w, const struct unwind_input *input)
{
	static const int8_t from_x86_64[24] = {0,  3,  2,  1,  4, 5, 6,	 7,  PC, -1, -1, -1,
					       -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};
	// eax, ebx, ecx, edx, esi, edi, ebp, esp, eip
	static const int8_t from_i386[24] = {0,	 3,  1,	 2,  6,	 7,  5,	 4,  PC, -1, -1, -1,
					     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
	const int8_t *from = w->machine == &i386 ? from_i386 : from_x86_64;
	const uint64_t *at = input->regs;
	uint64_t needed;

	if (!at || (w->machine != &i386 && input->regs_abi != PERF_SAMPLE_REGS_ABI_64))
		return false;
	needed = w->machine != &arm64 ? 1ull << 7 | 1ull << 8 : 1ull << 31 | 1ull << 32;
	if ((input->regs_mask & needed) != needed)
		return false;
	for (uint64_t mask = input->regs_mask; mask; mask &= mask - 1, at++) {
		int bit = __builtin_ctzll(mask), to;

		if (w->machine != &arm64)
			to = bit < 24 ? from[bit] : -1;
		else
			to = bit <= PC ? bit : -1;
		if (to >= 0)
			w->regs[to] = w->machine == &i386 ? (uint32_t)*at : *at;
	}
	return true;
}

// On none that the copy is of: a signal came on a stack of its own.
static bool is_far(const struct walk *w, uint64_t sp)
{
	return sp < w->stack_at || sp - w->stack_at > w->stack_size + FAR;
}

static bool is_root_rule(const struct unwind_known *known)
{
	const struct cfi_rule *rule = known->rule;

	return rule && !(rule->flags & CFI_SWITCH) && rule->saved[0].where == CFI_UNDEFINED;
}

static bool is_root(struct walk *w, uint64_t pc)
{
	return is_root_rule(known_of(w, pc - 1, false));
}

// Where in the kernel's chain our frame `last` is: addresses come again in recursions, so it is where most of the frames
// before it are the same. 0: nowhere. `ret_same`: how many are the same, this one included.
static uint32_t find_in_chain(const struct unwind_input *input, const uint64_t *ips, uint32_t last,
			      uint32_t *ret_same)
{
	enum { ENOUGH = 64 };
	const uint64_t *theirs = input->by_kernel;
	uint32_t found = 0;

	*ret_same = 0;
	for (uint32_t i = MIN(last, input->by_kernel_n - 1); i > 0 && *ret_same < ENOUGH; i--) {
		uint32_t same = 0;

		// Theirs are where calls return to, ours where they stand.
		while (same < i && same < ENOUGH &&
		       (theirs[i - same] == ips[last - same] + 1 ||
			theirs[i - same] == ips[last - same]))
			same++;
		if (same > *ret_same) {
			*ret_same = same;
			found = i;
		}
	}
	return found;
}

// A function that keeps a frame pointer, as its frame information says.
static bool keeps_frame_pointer(const struct walk *w, const struct cfi_rule *rule)
{
	if (rule->cfa != CFI_CFA_REGISTER || rule->cfa_reg != w->machine->fp ||
	    rule->cfa_offset != 2 * w->machine->word)
		return false;
	for (uint32_t i = 0; i < rule->saved_n; i++) {
		if (rule->saved[i].reg == w->machine->fp)
			return rule->saved[i].where == CFI_AT_CFA &&
			       rule->saved[i].value == -2 * w->machine->word;
	}
	return false;
}

// Where code keeps frame pointers, the kernel came further: over to the stack that a thread was on before (Go), or deeper
// than what was copied. The last frame that both found is where to go on from. Returns how many frames there are then.
static uint32_t go_on(struct walk *w, const struct unwind_input *input, uint64_t *ips, uint32_t n,
		      uint32_t max)
{
	enum { BACK = 3, LEAVES = 3 }; // BACK: frames of a signal, that frame pointers don't know
	const uint64_t *theirs = input->by_kernel;
	uint32_t i = 0, same = 0, before = n;

	if ((w->end != UNWIND_SWITCHED && w->end != UNWIND_SHORT) || input->by_kernel_n < 2)
		return n;
	for (uint32_t last = n - 1; !i && last && last + BACK >= n; last--)
		i = find_in_chain(input, ips, last, &same);
	// Functions without frames of their own, called just after the change, left the frame pointer as it was before it.
	if (!i && (w->end != UNWIND_SWITCHED || n > LEAVES || theirs[0] != ips[0]))
		return n;
	// On the same stack only frame pointers that were right so far are believed.
	if (w->end == UNWIND_SHORT && same < 2)
		return n;
	while (++i < input->by_kernel_n && theirs[i] < PERF_CONTEXT_MAX) {
		const struct cfi_rule *rule = known_of(w, theirs[i] - 1, false)->rule;

		if (!walk_is_code(w, theirs[i] - 1))
			return w->end == UNWIND_SWITCHED ? before : n;
		if (n == max) {
			w->end = UNWIND_LIMIT;
			return n;
		}
		ips[n++] = theirs[i] - !walk_is_sigreturn(w, theirs[i]);
		if (is_root(w, theirs[i])) {
			w->end = UNWIND_ROOT;
			return n;
		}
		w->is_guessed |= w->end == UNWIND_SHORT && !(rule && keeps_frame_pointer(w, rule));
	}
	return n;
}

static bool keeps_frames_here(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	return map && unwind_dso_of(w->unwinder, map->dso)->keeps_frames;
}

// Code of a JIT compiler ran on a stack of its own and called what runs on the thread's (or the other way round): its frame
// lies where nothing was copied. The kernel followed the same frame pointer at the same time.
static uint32_t go_on_elsewhere(struct walk *w, const struct unwind_input *input, uint64_t *ips,
				uint32_t n, uint32_t max)
{
	const uint64_t *theirs = input->by_kernel;
	uint32_t same, i = 0;

	if (theirs[0] != ips[0])
		return n;
	// What called what it was called by left the frame pointer as it is: then it is the kernel's first one.
	if (w->regs[w->machine->fp] != w->first_fp)
		i = find_in_chain(input, ips, n - 1, &same);
	if (!i && w->regs[w->machine->fp] != w->first_fp) {
		// Others kept something else there meanwhile, and misled the kernel.
		w->end = keeps_frames_here(w, ips[n - 1]) ? UNWIND_SWITCHED : w->end;
		return n;
	}
	while (++i < input->by_kernel_n && theirs[i] < PERF_CONTEXT_MAX) {
		const struct unwind_known *known = known_of(w, theirs[i] - 1, false);

		if (!walk_is_code(w, theirs[i] - 1) ||
		    (!known->is_base && walk_is_no_return(w, theirs[i])))
			return n;
		if (n == max) {
			w->end = UNWIND_LIMIT;
			return n;
		}
		ips[n++] = theirs[i] - 1;
		if (known->is_base || is_root(w, theirs[i])) {
			w->end = UNWIND_ROOT;
			return n;
		}
		if (known->rule && known->table && !keeps_frame_pointer(w, known->rule))
			return n;
		w->is_guessed |= !(known->rule && keeps_frame_pointer(w, known->rule));
	}
	return n;
}

static const struct machine *machine_of(const struct unwinder *unwinder,
					const struct unwind_input *input)
{
	if (unwinder->machine == EM_AARCH64)
		return &arm64;
	return unwinder->machine == EM_386 || input->regs_abi == PERF_SAMPLE_REGS_ABI_32 ? &i386
											 : &x86_64;
}

// A frame, as far as the instructions that lie ahead of it need to know.
struct before {
	uint64_t pc, sp, fp;
	bool is_exact, has_rule;
};

// A frame's information led nowhere: assembly that moved the stack pointer without saying so. What its instructions do is asked then.
static bool step_again(struct walk *w, struct before *before)
{
	const struct cfi_rule *rule;

	if (!before->has_rule)
		return false;
	before->has_rule = false;
	rule = walk_rule_of_code(w, before->pc, before->is_exact);
	w->regs[PC] = before->pc;
	w->regs[w->machine->sp] = before->sp;
	w->regs[w->machine->fp] = before->fp;
	return rule && step_code(w, rule);
}

// Nothing called it: where it begins was put on a stack that somebody made (makecontext) as if it were where to return to.
static bool is_made_start(const struct walk *w)
{
	return known_of(w, w->regs[PC], true)->table && walk_is_no_return(w, w->regs[PC]);
}

// Up to where it can't go on: w->end says why. Returns how many frames there are.
static uint32_t walk_up(struct walk *w, uint64_t *ips, uint32_t max)
{
	struct before before = {0};
	struct unwind_frame *frames = w->unwinder->frames.v;
	bool is_exact = true; // the pc is that of an instruction, not of one after a call
	uint32_t n = 0;

	for (;;) {
		uint64_t pc = w->regs[PC] - !is_exact;
		struct unwind_known *known = known_of(w, pc, is_exact);
		bool is_trampoline = known->rule ? known->rule->flags & CFI_SIGNAL
						 : !is_exact && walk_is_sigreturn(w, w->regs[PC]);

		if (!is_exact && !known->table && is_made_start(w)) {
			frames[n] = (struct unwind_frame){w->regs[PC], w->regs[w->machine->sp]};
			ips[n++] = w->regs[PC];
			w->end = UNWIND_SWITCHED;
			return n;
		}
		if (!known->table)
			known = known_of(w, pc, is_exact); // its slot may have been taken
		if (!is_exact && !known->rule && !walk_is_code(w, pc)) {
			if (step_again(w, &before))
				continue;
			// Nothing returns to where no code is.
			w->end = UNWIND_BAD;
			return n;
		}
		w->is_guessed |= !is_exact && !is_trampoline && known->table &&
				 !is_root_rule(known) && !is_behind_call(w);
		frames[n] = (struct unwind_frame){is_trampoline ? w->regs[PC] : pc,
						  w->regs[w->machine->sp]};
		ips[n] = frames[n].ip;
		n++;
		before = (struct before){w->regs[PC], w->regs[w->machine->sp],
					 w->regs[w->machine->fp], is_exact, known->table != NULL};
		// Is there more behind the last one?
		if (!step(w, known, is_exact, &is_exact)) {
			if (is_exact && n > 1 && is_far(w, w->regs[w->machine->sp]))
				w->end = UNWIND_SWITCHED;
			if (w->end != UNWIND_ROOT || w->regs[PC] || !step_again(w, &before))
				return n;
			is_exact = false;
		}
		// Of a function that has returned meanwhile anything may be there.
		if (w->has_read_later && !is_exact &&
		    !(walk_is_code(w, w->regs[PC] - 1) && is_return(w))) {
			w->end = UNWIND_SHORT;
			return n;
		}
		if (n == max) {
			w->end = UNWIND_LIMIT;
			return n;
		}
	}
}

// Live only: what was recorded is shown as it is. What lies less far up changes from one moment to the next.
static bool may_join(const struct walk *w)
{
	enum { LEAST = 32 << 10 };

	return w->unwinder->is_live && w->machine->word == 8 && !w->is_guessed &&
	       w->stack_size >= LEAST;
}

static uint32_t join(struct walk *w, uint64_t *ips, uint32_t n, uint32_t max)
{
	struct unwinder *unwinder = w->unwinder;
	struct unwind_frame *frames = unwinder->frames.v;
	const struct unwind_frame *further;
	uint32_t more;

	if (!may_join(w))
		return n;
	if (w->end == UNWIND_SHORT) {
		more = unwind_further(unwinder->joins, w->task, frames, n, &further);
		if (!more || more > max - n)
			return n;
		memcpy(frames + n, further, more * sizeof(*frames));
		for (uint32_t i = 0; i < more; i++)
			ips[n + i] = further[i].ip;
		n += more;
		w->end = UNWIND_JOINED;
	}
	if (w->end == UNWIND_ROOT || w->end == UNWIND_JOINED)
		unwind_remember(unwinder->joins, w->task, frames, n);
	return n;
}

// The functions further up mostly still run when the sample is looked at: their frames are as they were.
static uint32_t walk_later(struct walk *w, const struct unwind_input *input, uint64_t *ips,
			   uint32_t n, uint32_t max)
{
	struct walk later = *w;
	uint32_t all;

	if (!may_join(w) || w->end != UNWIND_SHORT)
		return n;
	later.reads_later = true;
	unwind_forget_later(w->unwinder->joins);
	take_registers(&later, input);
	// The first n are the same again.
	all = walk_up(&later, ips, max);
	if (later.end != UNWIND_ROOT || later.is_guessed)
		return n;
	w->end = UNWIND_JOINED;
	unwind_remember(w->unwinder->joins, w->task, w->unwinder->frames.v, all);
	return all;
}

uint32_t unwind_stack(struct unwinder *unwinder, const struct unwind_input *input, uint64_t *ips,
		      uint32_t max, enum unwind_end *ret_end)
{
	struct walk w = {.unwinder = unwinder,
			 .task = input->task,
			 .stack = input->stack,
			 .stack_size = input->stack_size,
			 .readable = input->stack_size >= 8 ? input->stack_size - 7 : 0,
			 .machine = machine_of(unwinder, input)};
	uint32_t n;

	w.end = UNWIND_NO_INFO;
	if (w.machine == &i386)
		w.readable = 0;
	if (!max || !take_registers(&w, input)) {
		*ret_end = w.end;
		return 0;
	}
	w.stack_at = w.regs[w.machine->sp];
	w.first_fp = w.regs[w.machine->fp];
	vec_reserve(&unwinder->frames, max);
	n = walk_up(&w, ips, max);
	n = join(&w, ips, n, max);
	n = walk_later(&w, input, ips, n, max);
	if (input->by_kernel_n && w.end == UNWIND_NO_INFO && w.is_elsewhere)
		n = go_on_elsewhere(&w, input, ips, n, max);
	else if (input->by_kernel)
		n = go_on(&w, input, ips, n, max);
	*ret_end = w.end == UNWIND_ROOT && w.is_guessed ? UNWIND_GUESSED : w.end;
	return n;
}

uint32_t unwind_sample(struct unwinder *unwinder, struct task *task, const struct sample *sample,
		       const struct sample_plan *plan, uint64_t *chain, uint32_t max)
{
	const struct unwind_input input = {.task = task,
					   .regs = sample->user_regs,
					   .regs_mask = plan->user_mask,
					   .regs_abi = sample->user_abi,
					   .stack = sample->user_stack,
					   .stack_size = sample->user_stack_size};
	enum unwind_end end;
	uint32_t kernel = 0, n;

	for (uint32_t i = 0, left = max; i < sample->callchain_n; i++) {
		uint64_t ip = sample->callchain[i];

		if (ip == PERF_CONTEXT_USER || (ip < PERF_CONTEXT_MAX && !left--))
			break;
		chain[kernel++] = ip;
	}
	n = input.regs && input.stack_size
		    ? unwind_stack(unwinder, &input, chain + kernel + 1, max, &end)
		    : 0;
	if (!n) {
		if (sample->cpumode == PERF_RECORD_MISC_USER)
			unwinder->counts.without++;
		return kernel;
	}
	chain[kernel] = PERF_CONTEXT_USER;
	unwinder->counts.ends[end]++;
	unwinder->counts.frames += n;
	return kernel + 1 + n;
}

const char *unwind_end_text(enum unwind_end end)
{
	static const char *const texts[UNWIND_ENDS] = {
		[UNWIND_ROOT] = "root reached",
		[UNWIND_SHORT] = "stack copy too short",
		[UNWIND_NO_INFO] = "no unwind information",
		[UNWIND_BAD] = "bad read",
		[UNWIND_SWITCHED] = "the stack was changed",
		[UNWIND_LIMIT] = "limit of frames",
		[UNWIND_JOINED] =
			"joined to what the thread's stack held further up shortly before or after, as no more can be copied",
		[UNWIND_GUESSED] = "guessed by frame pointers, as code has no unwind information",
	};

	return texts[end];
}
