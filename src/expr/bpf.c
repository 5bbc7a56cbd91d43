// SPDX-License-Identifier: GPL-2.0-or-later
// Bytecode to eBPF, instruction by instruction. Temporaries t0 to t2 are r6 to r8, the others lie on the stack.
#include "base/err.h"
#include "expr/bpf_build.h"
#include "expr/builtin.h"

enum {
	REGISTERS = 3,
	TEMPS = 16,	// t3 ... t15 at -8 ... -104
	SCRATCH = -112, // 8 bytes
	TEXT = -184,	// EXPR_BPF_TEXT_MAX + 8
};

static int unsupported(struct expr_bpf *b, const struct expr *expr, const char *what)
{
	if (!b->error)
		b->error = fail(EOPNOTSUPP, "'%s' can't run in the kernel: %s", expr->source, what);
	return b->error;
}

// ---- temporaries

static int slot(unsigned t)
{
	return -8 * (int)(t - REGISTERS + 1);
}

// The register that has t; those on the stack come into `scratch`.
static unsigned get(struct expr_bpf *b, unsigned t, unsigned scratch)
{
	if (t < REGISTERS)
		return BPF_REG_6 + t;
	expr_bpf_emit(b, bpf_load(BPF_DW, scratch, FP, slot(t)));
	return scratch;
}

static void put(struct expr_bpf *b, unsigned t, unsigned reg)
{
	if (t < REGISTERS)
		bpf_move(b, BPF_REG_6 + t, reg);
	else
		expr_bpf_emit(b, bpf_store(BPF_DW, FP, slot(t), reg));
}

// ---- loads

static uint8_t width(unsigned size)
{
	return size == 1 ? BPF_B : size == 2 ? BPF_H : size == 4 ? BPF_W : BPF_DW;
}

// Loads are numbered as LD_S8 ... LD_64.
static unsigned load_size(unsigned index)
{
	return index < 6 ? 1u << index / 2 : 8;
}

static void extend_load(struct expr_bpf *b, unsigned index, unsigned reg)
{
	const int32_t shift = 64 - 8 * (int32_t)load_size(index);

	if (index >= 6 || index % 2)
		return;
	expr_bpf_emit(b, bpf_alu_imm(BPF_LSH, reg, shift));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ARSH, reg, shift));
}

// r0 = `size` bytes of the record at the offset in r3, which is within bounds.
static void read_at_r3(struct expr_bpf *b, unsigned size)
{
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R3, RECORD));
	bpf_move(b, R1, FP);
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, SCRATCH));
	bpf_move_imm(b, R2, size);
	expr_bpf_emit_call(b, BPF_FUNC_probe_read);
	bpf_fail_at(b, expr_bpf_jump(b, BPF_JNE, R0, 0));
	expr_bpf_emit(b, bpf_load(width(size), R0, FP, SCRATCH));
}

// The first 8 bytes of a context are no record.
static int load_common(struct expr_bpf *b, const struct expr *expr, uint32_t offset, unsigned size)
{
	if (offset == 0 && size == 2) {
		bpf_move_imm(b, R0, b->common_type);
	} else if (offset == 4 && size == 4) {
		expr_bpf_emit_call(b, BPF_FUNC_get_current_pid_tgid);
		expr_bpf_emit(b, bpf_alu_imm(BPF_LSH, R0, 32));
		expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R0, 32));
	} else {
		return unsupported(b, expr, "eBPF does not see the common fields of an event");
	}
	return 0;
}

// r0 = the number at a constant offset.
static void load_record(struct expr_bpf *b, const struct expr *expr, uint32_t offset, unsigned index)
{
	const unsigned size = load_size(index);

	if (b->in_context && offset < 8) {
		if (load_common(b, expr, offset, size) < 0)
			return;
	} else if (offset % size || offset > INT16_MAX) { // the verifier wants aligned ones
		bpf_move_imm(b, R3, offset);
		read_at_r3(b, size);
	} else {
		expr_bpf_emit(b, bpf_load(width(size), R0, RECORD, (int)offset));
	}
	extend_load(b, index, R0);
}

// r0 = what the pointer in `a` points to. Only the fixed part of the record: how long this one is, eBPF does not know.
static void load_pointer(struct expr_bpf *b, const struct expr_insn *insn, unsigned index)
{
	const unsigned size = load_size(index);
	const uint32_t first = b->in_context ? 8 : 0; // what is before is no record

	bpf_move_imm(b, R3, 0 - EXPR_RECORD - first + (uint64_t)(int64_t)insn->imm);
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R3, get(b, insn->a, R0)));
	if (b->record_bytes < size + first)
		bpf_fail_at(b, expr_bpf_jump(b, BPF_JA, 0, 0));
	else
		bpf_fail_at(b, expr_bpf_jump(b, BPF_JGT, R3,
					     (int32_t)(b->record_bytes - size - first)));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R3, (int32_t)first));
	read_at_r3(b, size);
	extend_load(b, index, R0);
}

static int load_context(struct expr_bpf *b, const struct expr *expr, int32_t which)
{
	switch (which) {
	case EXPR_CPU:
		expr_bpf_emit_call(b, BPF_FUNC_get_smp_processor_id);
		return 0;
	case EXPR_PID:
		expr_bpf_emit_call(b, BPF_FUNC_get_current_pid_tgid);
		expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R0, 32));
		return 0;
	case EXPR_TID:
		return load_common(b, expr, 4, 4);
	case EXPR_TIME: // CLOCK_MONOTONIC, as samples of the running kernel have it
		expr_bpf_emit_call(b, BPF_FUNC_ktime_get_ns);
		return 0;
	default:
		return unsupported(b, expr, "eBPF has no period of a sample");
	}
}

// ---- arithmetic

// r1 / r2 or r1 % r2 of signed numbers into r0; only newer kernels have an instruction.
static void divide_signed(struct expr_bpf *b, bool modulo)
{
	size_t jump;

	bpf_move_imm(b, R3, 0);
	jump = expr_bpf_jump(b, BPF_JSGE, R1, 0);
	expr_bpf_emit(b, bpf_alu_imm(BPF_NEG, R1, 0));
	expr_bpf_emit(b, bpf_alu_imm(BPF_XOR, R3, 1));
	expr_bpf_land(b, jump);
	jump = expr_bpf_jump(b, BPF_JSGE, R2, 0);
	expr_bpf_emit(b, bpf_alu_imm(BPF_NEG, R2, 0));
	if (!modulo)
		expr_bpf_emit(b, bpf_alu_imm(BPF_XOR, R3, 1));
	expr_bpf_land(b, jump);
	expr_bpf_emit(b, bpf_alu(modulo ? BPF_MOD : BPF_DIV, R1, R2));
	bpf_move(b, R0, R1);
	jump = expr_bpf_jump(b, BPF_JEQ, R3, 0);
	expr_bpf_emit(b, bpf_alu_imm(BPF_NEG, R0, 0));
	expr_bpf_land(b, jump);
}

// Operations with an instruction of their own.
static int plain_op(enum expr_op op)
{
	static const struct {
		uint8_t op, code;
	} table[] = {{EXPR_ADD, BPF_ADD}, {EXPR_SUB, BPF_SUB}, {EXPR_MUL, BPF_MUL},
		     {EXPR_AND, BPF_AND}, {EXPR_OR, BPF_OR},   {EXPR_XOR, BPF_XOR},
		     {EXPR_SHL, BPF_LSH}, {EXPR_SHR, BPF_RSH}, {EXPR_SAR, BPF_ARSH}};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].op == op)
			return table[i].code;
	return -1;
}

// Comparisons with what every kernel has: equal, greater, greater or equal; the others are their opposites.
static const struct comparison {
	uint8_t op, jump;
	bool opposite;
} comparisons[] = {
	{EXPR_EQ, BPF_JEQ, false},   {EXPR_NE, BPF_JNE, false},	 {EXPR_GTS, BPF_JSGT, false},
	{EXPR_GES, BPF_JSGE, false}, {EXPR_GTU, BPF_JGT, false}, {EXPR_GEU, BPF_JGE, false},
	{EXPR_LTS, BPF_JSGE, true},  {EXPR_LES, BPF_JSGT, true}, {EXPR_LTU, BPF_JGE, true},
	{EXPR_LEU, BPF_JGT, true},
};

static bool compare(struct expr_bpf *b, enum expr_op op)
{
	for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
		const struct comparison *c = &comparisons[i];
		size_t jump;

		if (c->op != op)
			continue;
		bpf_move_imm(b, R0, !c->opposite);
		jump = bpf_jump_reg(b, c->jump, R1, R2);
		bpf_move_imm(b, R0, c->opposite);
		expr_bpf_land(b, jump);
		return true;
	}
	return false;
}

static void choose(struct expr_bpf *b, enum expr_op op)
{
	const bool is_signed = op == EXPR_MINS || op == EXPR_MAXS;
	const bool max = op == EXPR_MAXS || op == EXPR_MAXU;
	size_t jump;

	bpf_move(b, R0, R1);
	jump = max ? bpf_jump_reg(b, is_signed ? BPF_JSGE : BPF_JGE, R1, R2)
		   : bpf_jump_reg(b, is_signed ? BPF_JSGE : BPF_JGE, R2, R1);
	bpf_move(b, R0, R2);
	expr_bpf_land(b, jump);
}

// r0 = r1 op r2
static void combine(struct expr_bpf *b, enum expr_op op)
{
	const int code = plain_op(op);

	if (code >= 0) {
		if (op == EXPR_SHL || op == EXPR_SHR || op == EXPR_SAR)
			expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R2, 63));
		bpf_move(b, R0, R1);
		expr_bpf_emit(b, bpf_alu((uint8_t)code, R0, R2));
		return;
	}
	if (compare(b, op))
		return;
	if (op >= EXPR_MINS && op <= EXPR_MAXU_I) {
		choose(b, op);
		return;
	}
	bpf_fail_at(b, expr_bpf_jump(b, BPF_JEQ, R2, 0));
	if (op == EXPR_DIVS || op == EXPR_MODS) {
		divide_signed(b, op == EXPR_MODS);
		return;
	}
	bpf_move(b, R0, R1);
	expr_bpf_emit(b, bpf_alu(op == EXPR_DIVU ? BPF_DIV : BPF_MOD, R0, R2));
}

static void translate_alu(struct expr_bpf *b, const struct expr_insn *insn)
{
	const unsigned index = insn->op - EXPR_ADD;
	const enum expr_op op = (enum expr_op)(EXPR_ADD + index / 2 * 2);
	const bool immediate = index % 2;
	const int code = plain_op(op);
	unsigned reg;

	if (code >= 0 && immediate) { // the common case in one or two instructions
		reg = insn->dst < REGISTERS ? BPF_REG_6 + insn->dst : R0;
		bpf_move(b, reg, get(b, insn->a, R0));
		expr_bpf_emit(b, bpf_alu_imm((uint8_t)code, reg, insn->imm));
		put(b, insn->dst, reg);
		return;
	}
	bpf_move(b, R1, get(b, insn->a, R1));
	if (immediate)
		bpf_move_imm(b, R2, (uint64_t)(int64_t)insn->imm);
	else
		bpf_move(b, R2, get(b, insn->b, R2));
	combine(b, op);
	put(b, insn->dst, R0);
}

static void translate_unary(struct expr_bpf *b, const struct expr_insn *insn)
{
	static const struct {
		uint8_t op, bits;
		bool is_signed;
	} extensions[] = {{EXPR_EXT_S8, 8, true},   {EXPR_EXT_U8, 8, false},
			  {EXPR_EXT_S16, 16, true}, {EXPR_EXT_U16, 16, false},
			  {EXPR_EXT_S32, 32, true}, {EXPR_EXT_U32, 32, false}};
	size_t jump;

	bpf_move(b, R0, get(b, insn->a, R0));
	switch (insn->op) {
	case EXPR_NEG:
		expr_bpf_emit(b, bpf_alu_imm(BPF_NEG, R0, 0));
		break;
	case EXPR_NOT:
		expr_bpf_emit(b, bpf_alu_imm(BPF_XOR, R0, -1));
		break;
	case EXPR_TEST:
	case EXPR_ZERO:
		bpf_move(b, R1, R0);
		bpf_move_imm(b, R0, insn->op == EXPR_TEST);
		jump = expr_bpf_jump(b, BPF_JNE, R1, 0);
		bpf_move_imm(b, R0, insn->op != EXPR_TEST);
		expr_bpf_land(b, jump);
		break;
	case EXPR_SWAP16:
	case EXPR_SWAP32:
	case EXPR_SWAP64:
		expr_bpf_emit(b, (struct bpf_insn){.code = BPF_ALU | BPF_END | BPF_TO_BE,
						   .dst_reg = R0,
						   .imm = 16 << (insn->op - EXPR_SWAP16)});
		break;
	default:
		for (size_t i = 0; i < ARRAY_SIZE(extensions); i++) {
			const int32_t shift = 64 - extensions[i].bits;

			if (extensions[i].op != insn->op)
				continue;
			expr_bpf_emit(b, bpf_alu_imm(BPF_LSH, R0, shift));
			expr_bpf_emit(b, bpf_alu_imm(extensions[i].is_signed ? BPF_ARSH : BPF_RSH,
						     R0, shift));
		}
	}
	put(b, insn->dst, R0);
}

// ---- text

// Reads a text of the record to r10 + place: r3 has its offset. Cut to size - 1 bytes.
static void read_text_at_r3(struct expr_bpf *b, int place, unsigned size)
{
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R3, RECORD));
	bpf_move(b, R1, FP);
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, place));
	bpf_move_imm(b, R2, size);
	expr_bpf_emit_call(b, BPF_FUNC_probe_read_str);
	bpf_move_imm(b, R1, 0);
	bpf_fail_at(b, bpf_jump_reg(b, BPF_JSGT, R1, R0));
}

// r0 = the word that locates a dynamic field
static void load_location(struct expr_bpf *b, const struct expr *expr, uint32_t offset)
{
	load_record(b, expr, offset, EXPR_LD_U32 - EXPR_LD_S8);
}

// Where the jumps are of bytes that differ.
struct jumps {
	size_t at[EXPR_BPF_TEXT_MAX + 1], n;
};

// The bytes of `text`, at reg + offset in memory.
struct bytes {
	unsigned reg;
	int offset;
	struct str text;
};

// Goes on when the bytes are there; else jumps.
static void compare_bytes(struct expr_bpf *b, struct bytes bytes, struct jumps *differ)
{
	const struct str text = bytes.text;
	size_t at = 0;

	while (at < text.n) {
		unsigned size = 8;
		uint64_t value = 0;

		while (size > text.n - at || ((size_t)bytes.offset + at) % size)
			size /= 2;
		memcpy(&value, text.p + at, size);
		expr_bpf_emit(b, bpf_load(width(size), R1, bytes.reg, bytes.offset + (int)at));
		bpf_move_imm(b, R2, value);
		differ->at[differ->n++] = bpf_jump_reg(b, BPF_JNE, R1, R2);
		at += size;
	}
}

static void translate_match(struct expr_bpf *b, const struct expr *expr, const struct expr_insn *insn)
{
	const struct expr_match *match = &expr->matches.v[insn->imm];
	const bool whole = match->kind == EXPR_MATCH_EQUAL || match->shape == EXPR_SHAPE_FULL;
	char bytes[EXPR_BPF_TEXT_MAX + 1] = {0};
	struct str text = {bytes, match->fixed.n};
	struct jumps differ = {.n = 0};
	size_t empty, end;

	if (!match->known_field || (!whole && match->shape != EXPR_SHAPE_FRONT)) {
		unsupported(b, expr, "eBPF compares fields with whole texts and their beginnings");
		return;
	}
	if (text.n > EXPR_BPF_TEXT_MAX - 2) {
		unsupported(b, expr, "the text to compare with is too long");
		return;
	}
	memcpy(bytes, match->fixed.p, text.n);
	text.n += whole; // with its NUL
	if (!match->is_dynamic) {
		if (b->in_context && match->offset < 8) {
			unsupported(b, expr, "eBPF does not see the common fields of an event");
			return;
		}
		if (match->kind == EXPR_MATCH_GLOB && match->fixed.n > match->limit) {
			bpf_move_imm(b, R0, match->negated);
			put(b, insn->dst, R0);
			return;
		}
		text.n = MIN(text.n, (size_t)match->limit);
		compare_bytes(b, (struct bytes){RECORD, (int)match->offset, text}, &differ);
	} else {
		load_location(b, expr, match->offset);
		bpf_move(b, R3, R0);
		expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R3, 0xffff));
		if (match->is_relative)
			expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R3, (int32_t)match->offset + 4));
		bpf_move(b, R2, R0);
		expr_bpf_emit_zero(b, TEXT, EXPR_BPF_TEXT_MAX);
		expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R2, 16));
		empty = expr_bpf_jump(b, BPF_JEQ, R2, 0);
		read_text_at_r3(b, TEXT, EXPR_BPF_TEXT_MAX);
		expr_bpf_land(b, empty);
		compare_bytes(b, (struct bytes){FP, TEXT, text}, &differ);
	}
	bpf_move_imm(b, R0, !match->negated);
	end = expr_bpf_jump(b, BPF_JA, 0, 0);
	for (size_t i = 0; i < differ.n; i++)
		expr_bpf_land(b, differ.at[i]);
	bpf_move_imm(b, R0, match->negated);
	expr_bpf_land(b, end);
	put(b, insn->dst, R0);
}

// ---- whole expressions

static void translate_dynamic(struct expr_bpf *b, const struct expr *expr,
			      const struct expr_insn *insn)
{
	load_location(b, expr, (uint32_t)insn->imm);
	if (insn->op == EXPR_DYN_LEN)
		expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R0, 16));
	else
		expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R0, 0xffff));
	if (insn->op == EXPR_DYN || insn->op == EXPR_DYN_REL) {
		bpf_move_imm(b, R1,
			     EXPR_RECORD + (insn->op == EXPR_DYN_REL ? (uint32_t)insn->imm + 4 : 0));
		expr_bpf_emit(b, bpf_alu(BPF_ADD, R0, R1));
	}
	put(b, insn->dst, R0);
}

static void translate(struct expr_bpf *b, const struct expr *expr, const struct expr_insn *insn)
{
	const unsigned op = insn->op;

	if (op >= EXPR_ADD) {
		translate_alu(b, insn);
	} else if (op >= EXPR_NEG && op <= EXPR_SWAP64) {
		translate_unary(b, insn);
	} else if (op >= EXPR_LD_S8 && op <= EXPR_LD_64) {
		load_record(b, expr, (uint32_t)insn->imm, op - EXPR_LD_S8);
		put(b, insn->dst, R0);
	} else if (op >= EXPR_PTR_S8 && op <= EXPR_PTR_64) {
		load_pointer(b, insn, op - EXPR_PTR_S8);
		put(b, insn->dst, R0);
	} else if (op >= EXPR_DYN && op <= EXPR_DYN_AT) {
		translate_dynamic(b, expr, insn);
	} else if (op == EXPR_CONST || op == EXPR_CONST64) {
		bpf_move_imm(b, R0,
			     op == EXPR_CONST ? (uint64_t)(int64_t)insn->imm
					      : expr->constants.v[insn->imm]);
		put(b, insn->dst, R0);
	} else if (op == EXPR_CONTEXT) {
		load_context(b, expr, insn->imm);
		put(b, insn->dst, R0);
	} else if (op == EXPR_MATCH) {
		translate_match(b, expr, insn);
	} else if (op == EXPR_BOUND) {
		bpf_fail_at(b, expr_bpf_jump(b, BPF_JGE, get(b, insn->a, R0), insn->imm));
	} else {
		unsupported(b, expr, "it calls functions");
	}
}

static int check(struct expr_bpf *b, const struct expr *expr)
{
	bool follows = false, dynamic = false;

	if (expr->stores)
		return unsupported(b, expr, "it assigns");
	vec_each(const struct expr_insn, insn, &expr->code) {
		follows |= insn->op >= EXPR_PTR_S8 && insn->op <= EXPR_PTR_64;
		dynamic |= insn->op >= EXPR_DYN && insn->op <= EXPR_DYN_AT;
		if (insn->dst >= TEMPS || insn->a >= TEMPS || insn->b >= TEMPS)
			return unsupported(b, expr, "too much is inside each other");
	}
	if (follows && dynamic)
		return unsupported(b, expr, "it follows a pointer into a field of variable length");
	return b->error;
}

// Leaves the result in r0.
static int translate_all(struct expr_bpf *b, const struct expr *expr)
{
	VEC(size_t) starts = {0}, jumps = {0};
	size_t n = 0;

	if (check(b, expr) < 0)
		return b->error;
	vec_each(const struct expr_insn, insn, &expr->code) {
		vec_push(&starts, b->insns.n);
		if (insn->op == EXPR_JMP)
			vec_push(&jumps, expr_bpf_jump(b, BPF_JA, 0, 0));
		else if (insn->op == EXPR_JZ || insn->op == EXPR_JNZ)
			vec_push(&jumps, expr_bpf_jump(b, insn->op == EXPR_JZ ? BPF_JEQ : BPF_JNE,
						       get(b, insn->a, R0), 0));
		else if (insn->op == EXPR_RET)
			bpf_move(b, R0, get(b, insn->a, R0));
		else
			translate(b, expr, insn);
	}
	vec_each(const struct expr_insn, insn, &expr->code) {
		if (!b->error &&
		    (insn->op == EXPR_JMP || insn->op == EXPR_JZ || insn->op == EXPR_JNZ)) {
			b->insns.v[jumps.v[n]].off = (int16_t)(starts.v[insn->imm] - jumps.v[n] - 1);
			n++;
		}
	}
	vec_done(&starts);
	vec_done(&jumps);
	return b->error;
}

int expr_bpf_number(struct expr_bpf *b, const struct expr *expr, int place)
{
	if (expr_is_text(expr) || expr_is_void(expr))
		return unsupported(b, expr, "it is no number");
	if (translate_all(b, expr) < 0)
		return b->error;
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R0));
	return b->error;
}

// comm(_tid): the kernel knows the running task's name.
static bool is_current_comm(const struct expr *expr)
{
	const struct expr_insn *code = expr->code.v;

	return expr->code.n == 4 && code[0].op == EXPR_CONTEXT && code[0].imm == EXPR_TID &&
	       code[1].op == EXPR_EXT_S32 && code[2].op == EXPR_CALL &&
	       !strcmp(expr->calls.v[code[2].imm].builtin->name, "comm");
}

static void current_comm(struct expr_bpf *b, int place, unsigned size)
{
	expr_bpf_emit_zero(b, place, size);
	bpf_move(b, R1, FP);
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, place));
	bpf_move_imm(b, R2, size);
	expr_bpf_emit_call(b, BPF_FUNC_get_current_comm);
}

int expr_bpf_text(struct expr_bpf *b, const struct expr *expr, int place, unsigned size)
{
	if (!expr_is_text(expr))
		return unsupported(b, expr, "it is no text");
	if (is_current_comm(expr)) {
		current_comm(b, place, size);
		return b->error;
	}
	vec_each(const uint64_t, value, &expr->constants) {
		if (*value >= EXPR_TEXT_AREA)
			return unsupported(b, expr, "its text is not in the event");
	}
	if (translate_all(b, expr) < 0)
		return b->error;
	bpf_move_imm(b, R3, 0 - EXPR_RECORD);
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R3, R0));
	bpf_fail_at(b, expr_bpf_jump(b, BPF_JGT, R3, UINT16_MAX));
	expr_bpf_emit_zero(b, place, size);
	read_text_at_r3(b, place, expr->text_limit ? MIN(size, expr->text_limit + 1) : size);
	return b->error;
}
