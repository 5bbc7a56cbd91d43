// SPDX-License-Identifier: GPL-2.0-or-later
// Building an eBPF program, instruction by instruction.
#include "expr/bpf_build.h"
#include "base/err.h"

enum { INSNS_MAX = 4000 }; // kernels before 5.2 take 4096

void expr_bpf_emit(struct expr_bpf *b, struct bpf_insn insn)
{
	if (b->insns.n >= INSNS_MAX && !b->error)
		b->error = fail(EOPNOTSUPP,
				"the expressions need more than %d instructions of eBPF", INSNS_MAX);
	if (!b->error)
		vec_push(&b->insns, insn);
}

void expr_bpf_emit_map(struct expr_bpf *b, unsigned reg, int map)
{
	expr_bpf_emit(b, (struct bpf_insn){.code = BPF_LD | BPF_IMM | BPF_DW,
					   .dst_reg = reg & 15,
					   .src_reg = BPF_PSEUDO_MAP_FD,
					   .imm = map});
	expr_bpf_emit(b, (struct bpf_insn){0});
}

void expr_bpf_emit_constant(struct expr_bpf *b, unsigned reg, uint64_t value)
{
	expr_bpf_emit(b, (struct bpf_insn){.code = BPF_LD | BPF_IMM | BPF_DW,
					   .dst_reg = reg & 15,
					   .imm = (int32_t)value});
	expr_bpf_emit(b, (struct bpf_insn){.imm = (int32_t)(value >> 32)});
}

static void emit_place(struct expr_bpf *b, unsigned reg, int place)
{
	expr_bpf_emit(b, bpf_alu(BPF_MOV, reg, FP));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, reg, place));
}

void expr_bpf_emit_lookup(struct expr_bpf *b, int map, int key)
{
	expr_bpf_emit_map(b, R1, map);
	emit_place(b, R2, key);
	expr_bpf_emit_call(b, BPF_FUNC_map_lookup_elem);
}

void expr_bpf_emit_delete(struct expr_bpf *b, int map, int key)
{
	expr_bpf_emit_map(b, R1, map);
	emit_place(b, R2, key);
	expr_bpf_emit_call(b, BPF_FUNC_map_delete_elem);
}

void expr_bpf_emit_update(struct expr_bpf *b, int map, const struct expr_bpf_row *row)
{
	expr_bpf_emit_map(b, R1, map);
	emit_place(b, R2, row->key);
	emit_place(b, R3, row->value);
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R4, row->flags));
	expr_bpf_emit_call(b, BPF_FUNC_map_update_elem);
}

void expr_bpf_emit_call(struct expr_bpf *b, enum bpf_func_id function)
{
	expr_bpf_emit(b, (struct bpf_insn){.code = BPF_JMP | BPF_CALL, .imm = (int32_t)function});
}

void bpf_move(struct expr_bpf *b, unsigned dst, unsigned src)
{
	if (dst != src)
		expr_bpf_emit(b, bpf_alu(BPF_MOV, dst, src));
}

void bpf_move_imm(struct expr_bpf *b, unsigned dst, uint64_t value)
{
	if ((uint64_t)(int64_t)(int32_t)value == value) {
		expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, dst, (int32_t)value));
		return;
	}
	expr_bpf_emit_constant(b, dst, value);
}

void expr_bpf_emit_zero(struct expr_bpf *b, int place, unsigned size)
{
	bpf_move_imm(b, R0, 0);
	for (unsigned i = 0; i < size; i += 8)
		expr_bpf_emit(b, bpf_store(BPF_DW, FP, place + (int)i, R0));
}

size_t expr_bpf_jump(struct expr_bpf *b, uint8_t op, unsigned reg, int32_t imm)
{
	expr_bpf_emit(b, (struct bpf_insn){.code = BPF_JMP | BPF_K | op,
					   .dst_reg = reg & 15,
					   .imm = imm});
	return b->insns.n - 1;
}

size_t bpf_jump_reg(struct expr_bpf *b, uint8_t op, unsigned reg, unsigned other)
{
	expr_bpf_emit(b, (struct bpf_insn){.code = BPF_JMP | BPF_X | op,
					   .dst_reg = reg & 15,
					   .src_reg = other & 15});
	return b->insns.n - 1;
}

void expr_bpf_land(struct expr_bpf *b, size_t jump)
{
	if (!b->error) // INSNS_MAX is less than a jump reaches
		b->insns.v[jump].off = (int16_t)(b->insns.n - 1 - jump);
}

void bpf_fail_at(struct expr_bpf *b, size_t jump)
{
	if (!b->error)
		vec_push(&b->failed, jump);
}

void expr_bpf_land_failed(struct expr_bpf *b)
{
	vec_each(size_t, jump, &b->failed)
		expr_bpf_land(b, *jump);
	vec_clear(&b->failed);
}

void expr_bpf_begin(struct expr_bpf *b)
{
	bpf_move(b, RECORD, R1);
}

void expr_bpf_done(struct expr_bpf *b)
{
	vec_done(&b->insns);
	vec_done(&b->failed);
}

// ---- buckets

enum { BUCKET_BITS = 7 };

unsigned expr_bucket(uint64_t value)
{
	unsigned e;

	if (value < 2 << BUCKET_BITS)
		return (unsigned)value;
	e = 63 - (unsigned)__builtin_clzll(value);
	return ((e - BUCKET_BITS) << BUCKET_BITS) + (unsigned)(value >> (e - BUCKET_BITS));
}

uint64_t expr_bucket_low(unsigned bucket)
{
	const unsigned e = (bucket >> BUCKET_BITS) + BUCKET_BITS - 1;

	if (bucket < 2 << BUCKET_BITS)
		return bucket;
	return (uint64_t)((bucket & 127) | 128) << (e - BUCKET_BITS);
}

// r2 = the logarithm of r0, by halves; 0 of 0
static void emit_log2(struct expr_bpf *b)
{
	size_t jump;

	bpf_move(b, R1, R0);
	bpf_move_imm(b, R2, 0);
	for (int32_t bits = 32; bits; bits /= 2) {
		bpf_move(b, R3, R1);
		expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R3, bits));
		jump = expr_bpf_jump(b, BPF_JEQ, R3, 0);
		expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R2, bits));
		bpf_move(b, R1, R3);
		expr_bpf_land(b, jump);
	}
}

void expr_bpf_log2(struct expr_bpf *b, int place)
{
	expr_bpf_emit(b, bpf_load(BPF_DW, R0, FP, place));
	emit_log2(b);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R2));
}

void expr_bpf_bucket(struct expr_bpf *b, int place)
{
	size_t small;

	expr_bpf_emit(b, bpf_load(BPF_DW, R0, FP, place));
	bpf_move_imm(b, R1, (2 << BUCKET_BITS) - 1);
	small = bpf_jump_reg(b, BPF_JGE, R1, R0);
	emit_log2(b);
	expr_bpf_emit(b, bpf_alu_imm(BPF_SUB, R2, BUCKET_BITS));
	expr_bpf_emit(b, bpf_alu(BPF_RSH, R0, R2));
	expr_bpf_emit(b, bpf_alu_imm(BPF_LSH, R2, BUCKET_BITS));
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R0, R2));
	expr_bpf_land(b, small);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R0));
}
