// SPDX-License-Identifier: GPL-2.0-or-later
// eBPF made of expressions: what an expression computes in the machine, the kernel computes where the event happens. No compiler is
// needed at run time. See Documentation/bpf/standardization/instruction-set.rst for the instructions, linux/bpf.h for the helpers.
//
// A program is built piece by piece: expr_bpf_begin, values, then the caller's own instructions, then the end. Register r9 has the record
// all the time; r6 to r8 and the upper part of the stack are used for values in between.
#pragma once
#include "base/vec.h"
#include "expr/expr.h"
#include <linux/bpf.h>

// The stack is 512 bytes below r10. Places below EXPR_BPF_STACK_USED are the caller's.
enum { EXPR_BPF_STACK_USED = 184, EXPR_BPF_STACK = 512, EXPR_BPF_TEXT_MAX = 64 };

struct expr_bpf {
	VEC(struct bpf_insn) insns;
	VEC(size_t) failed; // jumps that the end directs to `failed`
	// The record is the context of a BPF_PROG_TYPE_TRACEPOINT: its first 8 bytes (the common fields) are the kernel's own there;
	// common_pid is the running thread, common_type the number below. Else r9 points to its bytes.
	bool in_context;
	uint32_t common_type;
	uint32_t record_bytes; // of its fixed part: the end of the last field
	int error;	       // first -errno; its sentence stands
};

// All zero but the three values above.
void expr_bpf_begin(struct expr_bpf *b);
void expr_bpf_done(struct expr_bpf *b);

// Code that leaves the number (or TRUE/FALSE of a filter) as 8 bytes at r10 + place (negative, a multiple of 8). What goes wrong at run
// time jumps to the `failed` of the end. -EOPNOTSUPP with a sentence for what only the machine can do: functions with names,
// printf, assignments, globs with stars inside, pointers into dynamic fields.
int expr_bpf_number(struct expr_bpf *b, const struct expr *expr, int place);
// Code that leaves the text, cut to size - 1 bytes and filled up with NUL, at r10 + place. size: a multiple of 8, at most EXPR_BPF_TEXT_MAX.
int expr_bpf_text(struct expr_bpf *b, const struct expr *expr, int place, unsigned size);

// Buckets for distributions: exact below 256, then 128 to each power of 2, as in agg/dist. Values are unsigned.
enum { EXPR_BUCKETS = 7424 };
unsigned expr_bucket(uint64_t value);
uint64_t expr_bucket_low(unsigned bucket); // the smallest value in it
// Code that makes the power of two (0 of 0 and 1), or the bucket, of the number at r10 + place, in place.
void expr_bpf_log2(struct expr_bpf *b, int place);
void expr_bpf_bucket(struct expr_bpf *b, int place);

// ---- instructions of the caller

void expr_bpf_emit(struct expr_bpf *b, struct bpf_insn insn);
void expr_bpf_emit_map(struct expr_bpf *b, unsigned reg, int map); // reg = the map
void expr_bpf_emit_call(struct expr_bpf *b, enum bpf_func_id function);
void expr_bpf_emit_constant(struct expr_bpf *b, unsigned reg, uint64_t value); // two instructions
void expr_bpf_emit_lookup(struct expr_bpf *b, int map,
			  int key); // r0 = the value of the key at fp + `key`, or 0
void expr_bpf_emit_delete(struct expr_bpf *b, int map, int key); // r0 = 0, or why not
struct expr_bpf_row {
	int key, value; // places, likewise
	int flags;	// BPF_ANY, BPF_NOEXIST
};
void expr_bpf_emit_update(struct expr_bpf *b, int map, const struct expr_bpf_row *row); // likewise
void expr_bpf_emit_zero(struct expr_bpf *b, int place, unsigned size); // multiples of 8; uses r0
// A jump whose target expr_bpf_land sets to the next instruction.
size_t expr_bpf_jump(struct expr_bpf *b, uint8_t op, unsigned reg, int32_t imm);
void expr_bpf_land(struct expr_bpf *b, size_t jump);
// The next instruction is where failed evaluations go on. When b->failed is empty nothing leads there: the kernel refuses such code.
void expr_bpf_land_failed(struct expr_bpf *b);

static inline struct bpf_insn bpf_alu(uint8_t op, unsigned dst, unsigned src)
{
	return (struct bpf_insn){.code = BPF_ALU64 | BPF_X | op,
				 .dst_reg = dst & 15,
				 .src_reg = src & 15};
}
static inline struct bpf_insn bpf_alu_imm(uint8_t op, unsigned dst, int32_t imm)
{
	return (struct bpf_insn){.code = BPF_ALU64 | BPF_K | op, .dst_reg = dst & 15, .imm = imm};
}
static inline struct bpf_insn bpf_load(uint8_t size, unsigned dst, unsigned src, int off)
{
	return (struct bpf_insn){.code = BPF_LDX | BPF_MEM | size,
				 .dst_reg = dst & 15,
				 .src_reg = src & 15,
				 .off = (int16_t)off};
}
static inline struct bpf_insn bpf_store(uint8_t size, unsigned dst, int off, unsigned src)
{
	return (struct bpf_insn){.code = BPF_STX | BPF_MEM | size,
				 .dst_reg = dst & 15,
				 .src_reg = src & 15,
				 .off = (int16_t)off};
}
static inline struct bpf_insn bpf_exit(void)
{
	return (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
}
