// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind.h"
#include <sys/mman.h>
#include <sys/utsname.h>
#include "base/hash.h"
#include "obj/cfi_expr.h"
#include "sym/load.h"
#include "sym/unwind_cache.h"

enum {
	KNOWN = 1 << 13,
	PC = CFI_RA_COLUMN, // where the pc stands among the registers
	FAR = 1 << 26,	    // no stack is deeper: what lies further up is no frame
};

struct unwind_dso {
	const struct cfi_table *table; // NULL: none
	struct elf_source source;
	bool has_source;
};

// What to do at an address of an address space; direct mapped.
struct unwind_known {
	uint64_t pc, space;	       // space: id << 32 | generation; 0: empty
	const struct cfi_rule *rule;   // NULL: no frame information
	const struct cfi_table *table; // of the rule
};

struct machine {
	uint16_t code;		// EM_*
	uint8_t sp, fp, pc_reg; // by DWARF numbers; pc_reg 255: none
	uint8_t word;		// bytes
};

struct walk {
	struct unwinder *unwinder;
	struct task *task;
	const uint8_t *stack;
	uint64_t stack_at, readable; // readable: first bytes of what 8 can be read from
	uint64_t stack_size;
	uint64_t regs[CFI_REGS];
	const struct machine *machine;
	enum unwind_end end; // why the last read failed
};

static const struct machine x86_64 = {.code = EM_X86_64, .sp = 7, .fp = 6, .pc_reg = 16, .word = 8};
static const struct machine i386 = {.code = EM_386, .sp = 4, .fp = 5, .pc_reg = 8, .word = 4};
static const struct machine arm64 = {.code = EM_AARCH64, .sp = 31, .fp = 29, .pc_reg = 255, .word = 8};
enum { ARM64_LR = 30 };

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
	if (!ret->has_source)
		return;
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

static struct unwind_dso *dso_of(struct unwinder *unwinder, struct dso *dso)
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
	(void)dso_of(unwinder, dso);
}

static __attribute__((noinline)) void look_up(const struct walk *w, uint64_t pc,
					      struct unwind_known *known)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);
	const struct cfi_table *table;
	const struct cfi_row *row;

	known->rule = NULL;
	known->table = NULL;
	if (!map)
		return;
	table = dso_of(w->unwinder, map->dso)->table;
	row = table && table->machine == w->machine->code ? cfi_find(table, mapping_addr(map, pc))
							  : NULL;
	if (row && row->rule) {
		known->rule = cfi_rule_at(table, row->rule);
		known->table = table;
	}
}

static const struct unwind_known *known_of(const struct walk *w, uint64_t pc)
{
	const struct space *space = w->task->space;
	uint64_t key = (uint64_t)space->id << 32 | space->generation;
	struct unwind_known *known = &w->unwinder->known[hash_mix(pc, key) % KNOWN];

	if (known->pc != pc || known->space != key) {
		look_up(w, pc, known);
		known->pc = pc;
		known->space = key;
	}
	return known;
}

// ---- memory

// What lies in files: constants, code.
static bool read_file(const struct walk *w, uint64_t addr, void *ret, size_t size)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, addr);
	const struct unwind_dso *dso;
	uint64_t at;

	if (!map || addr + size > map->end || addr + size < addr)
		return false;
	dso = dso_of(w->unwinder, map->dso);
	at = mapping_addr(map, addr);
	if (!dso->has_source || at > dso->source.elf.n || dso->source.elf.n - at < size)
		return false;
	memcpy(ret, dso->source.elf.p + at, size);
	return true;
}

static bool read_file_word(const struct walk *w, uint64_t addr, uint64_t *ret)
{
	uint64_t v = 0;

	if (!read_file(w, addr, &v, w->machine->word))
		return false;
	*ret = v;
	return true;
}

static __attribute__((noinline)) bool read_elsewhere(struct walk *w, uint64_t addr, uint64_t *ret)
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
	return w->end == UNWIND_BAD && read_file_word(w, addr, ret);
}

static inline bool read_word(struct walk *w, uint64_t addr, uint64_t *ret)
{
	uint64_t at = addr - w->stack_at;

	if (__builtin_expect(at >= w->readable, 0))
		return read_elsewhere(w, addr, ret);
	memcpy(ret, w->stack + at, 8);
	return true;
}

static bool read_for_expression(void *arg, uint64_t addr, unsigned size, uint64_t *ret)
{
	struct walk *w = arg;
	uint64_t at = addr - w->stack_at;

	*ret = 0;
	size = MIN(size, w->machine->word);
	if (at >= w->stack_size || w->stack_size - at < size) {
		if (size == w->machine->word)
			return read_elsewhere(w, addr, ret);
		return read_file(w, addr, ret, size);
	}
	memcpy(ret, w->stack + at, size);
	return true;
}

// ---- one frame

// Signatures of return addresses (PAC) stand above the bits that an address has.
static uint64_t plain_address(const struct walk *w, uint64_t addr)
{
	return w->machine == &arm64 ? addr & ((1ull << 48) - 1) : addr;
}

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
		return read_word(w, cfa + (uint64_t)(int64_t)saved->value, ret);
	case CFI_CFA_PLUS:
		*ret = cfa + (uint64_t)(int64_t)saved->value;
		return true;
	case CFI_REGISTER:
		*ret = w->regs[saved->value];
		return true;
	case CFI_AT_EXPRESSION:
		return evaluate(w, known->table, saved->value, &cfa, &addr) &&
		       read_word(w, addr, ret);
	case CFI_VAL_EXPRESSION:
		return evaluate(w, known->table, saved->value, &cfa, ret);
	default:
		w->end = UNWIND_ROOT;
		return false;
	}
}

// Any rule. False: w->end says why.
static __attribute__((noinline)) bool step_any(struct walk *w, const struct unwind_known *known)
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

		if (!read_word(w, cfa + (uint64_t)(int64_t)saved->value, &w->regs[saved->reg]) &&
		    i == 0)
			return false;
	} while (++i < rule->saved_n);
	w->regs[w->machine->sp] = cfa;
	return true;
}

static bool is_code(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	// Old records don't tell, and then are of code.
	return map && (!map->is_mmap2 || !map->prot || (map->prot & PROT_EXEC));
}

// Registers as the kernel keeps them while a signal handler runs, for C libraries that describe no frame there: the
// code that is returned to is always "sigreturn". struct rt_sigframe of the kernel's arch/*/kernel/signal.c.
static bool is_sigreturn(const struct walk *w, uint64_t pc)
{
	static const uint8_t on_x86_64[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t on_arm64[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	const struct mapping *map;
	uint8_t code[sizeof(on_x86_64)];

	if (w->machine == &x86_64)
		return read_file(w, pc, code, sizeof(on_x86_64)) &&
		       memcmp(code, on_x86_64, sizeof(on_x86_64)) == 0;
	if (w->machine == &arm64 && read_file(w, pc, code, sizeof(on_arm64)))
		return memcmp(code, on_arm64, sizeof(on_arm64)) == 0;
	// Of another machine's vdso nothing is here; nothing else in it calls.
	map = space_find_near(w->unwinder->sym, w->task->space, pc);
	return map && map->dso->kind == DSO_VDSO;
}

// struct sigframe_ia32 and rt_sigframe_ia32 of arch/x86/include/asm/sigframe.h: the handler's arguments tell which.
static bool step_sigreturn_i386(struct walk *w)
{
	static const uint8_t order[] = {7, 6, 5, 4,
					3, 2, 1, 0}; // edi, esi, ebp, esp, ebx, edx, ecx, eax
	enum { SEGMENTS = 16, EIP = SEGMENTS + 40, RT_CONTEXT = 12 + 128 + 20 };
	uint64_t sp = w->regs[w->machine->sp], at = sp + 4, info, next[CFI_REGS] = {0};

	if (!read_word(w, sp + 4, &info))
		return false;
	if (info == sp + 12)
		at = sp + RT_CONTEXT;
	for (size_t i = 0; i < sizeof(order); i++) {
		if (!read_word(w, at + SEGMENTS + i * 4, &next[order[i]]))
			return false;
	}
	if (!read_word(w, at + EIP, &next[PC]))
		return false;
	memcpy(w->regs, next, sizeof(next));
	return true;
}

static bool step_sigreturn(struct walk *w)
{
	static const uint8_t x86_64_order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5,
					       4, 6, 3,	 1,  0,	 2,  7,	 PC};
	uint64_t at = w->regs[w->machine->sp], next[CFI_REGS] = {0};

	if (w->machine == &i386)
		return step_sigreturn_i386(w);
	if (w->machine == &x86_64) {
		at += 40;
		for (size_t i = 0; i < sizeof(x86_64_order); i++) {
			if (!read_word(w, at + i * 8, &next[x86_64_order[i]]))
				return false;
		}
	} else {
		at += 128 + 176 + 8;
		for (size_t i = 0; i <= PC; i++) {
			if (!read_word(w, at + i * 8, &next[i]))
				return false;
		}
	}
	memcpy(w->regs, next, sizeof(next));
	return true;
}

// Is that where a call returns to? `ret_target`: where it went, 0 when only a register or memory knows.
static bool follows_call(const struct walk *w, uint64_t pc, uint64_t *ret_target)
{
	uint8_t code[7];
	int32_t by;

	*ret_target = 0;
	if (!is_code(w, pc - 1) || !read_file(w, pc - sizeof(code), code, sizeof(code)))
		return false;
	if (code[2] == 0xe8) {
		memcpy(&by, code + 3, 4);
		*ret_target = pc + (uint64_t)(int64_t)by;
		return true;
	}
	// call r/m: of 2, 3, 6 or 7 bytes
	return (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
	       (code[4] == 0xff && (code[5] & 0x38) == 0x10) ||
	       (code[1] == 0xff && (code[2] & 0x38) == 0x10) ||
	       (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

// Assembly in a file, without description and without a frame pointer: mostly it moved the stack pointer not at all, or
// pushed some registers. Only what a call to it must have left there is believed.
static bool step_assembly(struct walk *w)
{
	enum { WORDS = 16, LONGEST = 1 << 14 };
	uint64_t *regs = w->regs, sp = regs[w->machine->sp], here = regs[PC], pc, target;
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, here);

	if (w->machine != &x86_64 || !map || map->dso->kind != DSO_USER)
		return false;
	for (uint64_t i = 0; i < WORDS; i++) {
		if (!read_word(w, sp + i * 8, &pc))
			return false;
		if (!follows_call(w, pc, &target))
			continue;
		if (i && (target > here || here - target > LONGEST))
			continue;
		regs[PC] = pc;
		regs[w->machine->sp] = sp + i * 8 + 8;
		return true;
	}
	return false;
}

// System calls of 32-bit programs go through __kernel_vsyscall in a vdso that only they can read. Since Linux 4.4 it keeps
// ebp, edx and ecx on the stack meanwhile (arch/x86/entry/vdso/vdso32/system_call.S), before that nothing.
static bool step_vsyscall(struct walk *w)
{
	uint64_t *regs = w->regs, sp = regs[w->machine->sp], pc, fp;
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, regs[PC]);

	if (w->machine != &i386 || !map || map->dso->kind != DSO_VDSO)
		return false;
	if (read_word(w, sp + 12, &pc) && is_code(w, pc - 1) && read_word(w, sp, &fp)) {
		regs[w->machine->fp] = fp;
		sp += 12;
	} else if (!read_word(w, sp, &pc) || !is_code(w, pc - 1)) {
		return false;
	}
	regs[PC] = pc;
	regs[w->machine->sp] = sp + 4;
	return true;
}

// A program or library whose file is not here: whether it keeps frame pointers nobody can tell, and mostly it does not.
static bool is_unread_file(const struct walk *w, uint64_t pc)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);

	return map && map->dso->kind == DSO_USER && !dso_of(w->unwinder, map->dso)->has_source;
}

// The frame pointer leads to the caller's and to the return address, on both machines.
static bool step_frame_pointer(struct walk *w, bool is_leaf)
{
	uint64_t *regs = w->regs, sp = regs[w->machine->sp], fp = regs[w->machine->fp];
	const unsigned word = w->machine->word;
	uint64_t next_fp, pc;

	w->end = UNWIND_NO_INFO;
	// Called a pointer that leads nowhere: the call is all that happened.
	if (is_leaf && !space_find_near(w->unwinder->sym, w->task->space, regs[PC])) {
		bool good = true;

		pc = plain_address(w, regs[ARM64_LR]);
		if (w->machine != &arm64)
			good = read_word(w, sp, &pc);
		if (good && is_code(w, pc)) {
			regs[PC] = pc;
			regs[w->machine->sp] += w->machine == &arm64 ? 0 : word;
			return true;
		}
		w->end = UNWIND_NO_INFO;
	}
	if (is_unread_file(w, regs[PC] - !is_leaf))
		return false;
	if (is_leaf && (step_assembly(w) || step_vsyscall(w)))
		return true;
	w->end = UNWIND_NO_INFO;
	if (fp == 0) {
		w->end = UNWIND_ROOT;
		return false;
	}
	if (fp & (word - 1) || fp < sp)
		return false;
	if (!read_word(w, fp + word, &pc) || !read_word(w, fp, &next_fp)) {
		// A register that holds something else leads anywhere.
		if (fp - w->stack_at > w->stack_size + (1 << 20))
			w->end = UNWIND_NO_INFO;
		return false;
	}
	if (pc == 0) {
		w->end = UNWIND_ROOT;
		return false;
	}
	w->end = UNWIND_NO_INFO;
	if (!is_code(w, plain_address(w, pc) - 1))
		return false;
	regs[PC] = pc;
	regs[w->machine->fp] = next_fp;
	regs[w->machine->sp] = fp + 2 * word;
	return true;
}

static bool step(struct walk *w, const struct unwind_known *known, bool is_leaf, bool *ret_signal)
{
	const struct cfi_rule *rule = known->rule;
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
		if (!step_any(w, known))
			return false;
		*ret_signal = rule->flags & CFI_SIGNAL;
	} else if (!is_leaf && is_sigreturn(w, w->regs[PC])) {
		if (!step_sigreturn(w))
			return false;
		*ret_signal = true;
	} else {
		if (!step_frame_pointer(w, is_leaf))
			return false;
		*ret_signal = false;
	}
	w->regs[PC] = plain_address(w, w->regs[PC]);
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

static bool is_root(struct walk *w, uint64_t pc)
{
	const struct cfi_rule *rule = known_of(w, pc - 1)->rule;

	return rule && !(rule->flags & CFI_SWITCH) && rule->saved[0].where == CFI_UNDEFINED;
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

		while (same < i && same < ENOUGH && theirs[i - same] == ips[last - same])
			same++;
		if (same > *ret_same) {
			*ret_same = same;
			found = i;
		}
	}
	return found;
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
		if (!is_code(w, theirs[i] - 1))
			return w->end == UNWIND_SWITCHED ? before : n;
		if (n == max) {
			w->end = UNWIND_LIMIT;
			return n;
		}
		ips[n++] = theirs[i];
		if (is_root(w, theirs[i])) {
			w->end = UNWIND_ROOT;
			return n;
		}
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

uint32_t unwind_stack(struct unwinder *unwinder, const struct unwind_input *input, uint64_t *ips,
		      uint32_t max, enum unwind_end *ret_end)
{
	struct walk w = {.unwinder = unwinder,
			 .task = input->task,
			 .stack = input->stack,
			 .stack_size = input->stack_size,
			 .readable = input->stack_size >= 8 ? input->stack_size - 7 : 0,
			 .machine = machine_of(unwinder, input)};
	bool is_exact = true; // the pc is that of an instruction, not of one after a call
	uint32_t n = 0;

	w.end = UNWIND_NO_INFO;
	if (w.machine == &i386)
		w.readable = 0;
	if (!max || !take_registers(&w, input)) {
		*ret_end = w.end;
		return 0;
	}
	w.stack_at = w.regs[w.machine->sp];
	for (;;) {
		uint64_t pc = w.regs[PC] - !is_exact;
		const struct unwind_known *known = known_of(&w, pc);
		bool is_trampoline = known->rule && (known->rule->flags & CFI_SIGNAL);

		ips[n++] = input->return_addresses || is_trampoline ? w.regs[PC] : pc;
		// Is there more behind the last one?
		if (!step(&w, known, is_exact, &is_exact)) {
			if (is_exact && n > 1 && is_far(&w, w.regs[w.machine->sp]))
				w.end = UNWIND_SWITCHED;
			break;
		}
		if (n == max) {
			w.end = UNWIND_LIMIT;
			break;
		}
	}
	if (input->by_kernel && input->return_addresses)
		n = go_on(&w, input, ips, n, max);
	*ret_end = w.end;
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
	};

	return texts[end];
}
