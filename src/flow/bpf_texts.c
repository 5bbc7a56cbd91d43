// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/bpf_texts.h"
#include "base/err.h"
#include "base/log.h"
#include "base/perf_event.h"
#include "expr/bpf.h"
#include "sys/bpf.h"
#include "sys/perf.h"
#include <sched.h>
#include <unistd.h>

enum {
	R0 = BPF_REG_0,
	R1,
	R2,
	R3,
	R4,
	R5,
	CONTEXT,
	ROOM,	// a row of `rooms`
	PLAN,	// a row of `plans`
	OFFSET, // in the room, where the next piece goes
	FP = BPF_REG_10,
	// the room: arguments, then the record
	ROOM_RECORD = 48,
	ROOM_SIZES = 56,
	ROOM_BYTES = 64,
	OFFSET_MASK = 0x3fff,
	ROOM_SIZE = 24576, // above the mask and a string
	// the stack
	KEY = -8,
	VALUE = -16,
	SIZE = -24,
	POINTER = -24, // of a list
	BEGIN = -32,   // where it lies in the room
	// the entry's record: arch-independent since Linux 2.6.32 on 64-bit kernels
	AT_NUMBER = 8,
	AT_ARGS = 16,
	TASKS_MAX = 1 << 16,
};
_Static_assert(ROOM_BYTES + BPF_TEXTS_PIECES * BPF_TEXTS_STRING <= OFFSET_MASK, "no overlap");
_Static_assert(ROOM_BYTES + BPF_TEXTS_STRING + BPF_TEXTS_LIST_N * (1 + BPF_TEXTS_LIST_STRING) <
		       OFFSET_MASK,
	       "no overlap");
_Static_assert(OFFSET_MASK + 1 + BPF_TEXTS_STRING < ROOM_SIZE, "a string behind the mask");

struct plan {
	struct bpf_texts_piece pieces[BPF_TEXTS_PLACES];
};

struct bpf_texts {
	struct bpf_texts_options options;
	int plans, rooms, outputs, tasks;
	int perf[2], programs[2];
};

struct builder {
	struct expr_bpf b;
	VEC(size_t) ends;
};

static void end_if(struct builder *w, uint8_t op, unsigned reg, int32_t imm)
{
	vec_push(&w->ends, expr_bpf_jump(&w->b, op, reg, imm));
}

static void finish(struct builder *w)
{
	vec_each(size_t, jump, &w->ends)
		expr_bpf_land(&w->b, *jump);
	// 1: other users of the tracepoint get the hit
	expr_bpf_emit(&w->b, bpf_alu_imm(BPF_MOV, R0, 1));
	expr_bpf_emit(&w->b, bpf_exit());
}

static void lookup(struct builder *w, int map)
{
	expr_bpf_emit_lookup(&w->b, map, KEY);
	end_if(w, BPF_JEQ, R0, 0);
}

static void emit_who(struct builder *w, const struct bpf_texts *texts)
{
	struct expr_bpf *b = &w->b;

	expr_bpf_emit_call(b, BPF_FUNC_get_current_pid_tgid);
	expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R0, 32));
	end_if(w, BPF_JEQ, R0, getpid());
	if (texts->tasks < 0)
		return;
	expr_bpf_emit(b, bpf_store(BPF_W, FP, KEY, R0));
	lookup(w, texts->tasks);
}

// R3 = the argument whose number is at `at` in the plan.
static void load_argument(struct builder *w, unsigned to, int at)
{
	struct expr_bpf *b = &w->b;

	expr_bpf_emit(b, bpf_load(BPF_W, R1, PLAN, at));
	expr_bpf_emit(b, bpf_alu_imm(BPF_LSH, R1, 3));
	expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R1, 0x38));
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R1, ROOM));
	expr_bpf_emit(b, bpf_load(BPF_DW, to, R1, 0));
}

// `to` = where the next byte goes.
static void emit_place(struct expr_bpf *b, unsigned to)
{
	expr_bpf_emit(b, bpf_alu(BPF_MOV, to, ROOM));
	expr_bpf_emit(b, bpf_alu(BPF_ADD, to, OFFSET));
}

// Reads the string at R3; R0 = its size with the NUL. Returns the jump of what can't be read.
static size_t emit_string(struct expr_bpf *b, enum bpf_func_id string, int32_t size)
{
	size_t failed;

	emit_place(b, R1);
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R0, 0));
	expr_bpf_emit(b, bpf_store(BPF_B, R1, 0, R0));
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R2, size));
	expr_bpf_emit_call(b, string);
	failed = expr_bpf_jump(b, BPF_JSLT, R0, 0);
	// Older kernels (6.1) say 0 of an empty one. No branch: each doubles the verifier's ways.
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R1, R0));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, -1));
	expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R1, 63));
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R0, R1));
	return failed;
}

static void emit_piece(struct builder *w, unsigned i, enum bpf_func_id string, enum bpf_func_id bytes)
{
	const int at = (int)(i * sizeof(struct bpf_texts_piece));
	struct expr_bpf *b = &w->b;
	size_t null, is_bytes, failed[2], done, whole, less, empty;

	load_argument(w, R3, at + 4);
	null = expr_bpf_jump(b, BPF_JEQ, R3, 0);
	expr_bpf_emit(b, bpf_load(BPF_W, R1, PLAN, at));
	is_bytes = expr_bpf_jump(b, BPF_JNE, R1, BPF_TEXTS_IS_STRING);

	failed[0] = emit_string(b, string, BPF_TEXTS_STRING);
	done = expr_bpf_jump(b, BPF_JA, 0, 0);

	expr_bpf_land(b, is_bytes);
	expr_bpf_emit(b, bpf_load(BPF_W, R2, PLAN, at + 8));
	expr_bpf_emit(b, bpf_load(BPF_W, R1, PLAN, at + 12));
	whole = expr_bpf_jump(b, BPF_JEQ, R1, 0);
	load_argument(w, R4, at + 12);
	expr_bpf_emit(b, (struct bpf_insn){.code = BPF_JMP | BPF_X | BPF_JGE,
					   .dst_reg = R4,
					   .src_reg = R2,
					   .off = 1});
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R2, R4));
	expr_bpf_land(b, whole);
	less = expr_bpf_jump(b, BPF_JGT, R2, BPF_TEXTS_BYTES);
	empty = expr_bpf_jump(b, BPF_JEQ, R2, 0);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, SIZE, R2));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R1, ROOM));
	expr_bpf_emit(b, bpf_alu(BPF_ADD, R1, OFFSET));
	expr_bpf_emit_call(b, bytes);
	failed[1] = expr_bpf_jump(b, BPF_JNE, R0, 0);
	expr_bpf_emit(b, bpf_load(BPF_DW, R0, FP, SIZE));

	expr_bpf_land(b, done);
	expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R0, 0x1fff));
	expr_bpf_emit(b, bpf_store(BPF_H, ROOM, ROOM_SIZES + 2 * (int)i, R0));
	expr_bpf_emit(b, bpf_alu(BPF_ADD, OFFSET, R0));
	expr_bpf_emit(b, bpf_alu_imm(BPF_AND, OFFSET, OFFSET_MASK));
	expr_bpf_land(b, null);
	expr_bpf_land(b, failed[0]);
	expr_bpf_land(b, failed[1]);
	expr_bpf_land(b, less);
	expr_bpf_land(b, empty);
}

static void emit_item(struct expr_bpf *b, enum bpf_texts_item item)
{
	emit_place(b, R1);
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R2, (int32_t)item));
	expr_bpf_emit(b, bpf_store(BPF_B, R1, 0, R2));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, OFFSET, 1));
}

static void emit_masked(struct expr_bpf *b)
{
	expr_bpf_emit(b, bpf_alu_imm(BPF_AND, OFFSET, OFFSET_MASK));
}

// POINTER = the one at PLAN, which has become the address in the array; returns the jump of what can't be read.
static size_t emit_pointer(struct expr_bpf *b, enum bpf_func_id bytes)
{
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R1, FP));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, POINTER));
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R2, 8));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R3, PLAN));
	expr_bpf_emit_call(b, bytes);
	return expr_bpf_jump(b, BPF_JNE, R0, 0);
}

// What usually happens comes without a jump: the verifier looks at that first, and finds the rest to be part of it.
static void emit_list_string(struct expr_bpf *b, enum bpf_func_id string)
{
	size_t failed, done;

	emit_item(b, BPF_TEXTS_ITEM_STRING);
	expr_bpf_emit(b, bpf_load(BPF_DW, R3, FP, POINTER));
	failed = emit_string(b, string, BPF_TEXTS_LIST_STRING);
	expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R0, 2 * BPF_TEXTS_LIST_STRING - 1));
	expr_bpf_emit(b, bpf_alu(BPF_ADD, OFFSET, R0));
	done = expr_bpf_jump(b, BPF_JA, 0, 0);

	expr_bpf_land(b, failed);
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, OFFSET, -1));
	emit_item(b, BPF_TEXTS_ITEM_POINTER);
	emit_place(b, R1);
	expr_bpf_emit(b, bpf_load(BPF_DW, R2, FP, POINTER));
	expr_bpf_emit(b, bpf_store(BPF_DW, R1, 0, R2));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, OFFSET, 8));
	expr_bpf_land(b, done);
	emit_masked(b);
}

static void emit_list(struct builder *w, enum bpf_func_id string, enum bpf_func_id bytes)
{
	const int at = (int)(BPF_TEXTS_LIST * sizeof(struct bpf_texts_piece));
	struct expr_bpf *b = &w->b;
	size_t none, null, ends[2];
	VEC(size_t) unread = {0}, nulls = {0};

	expr_bpf_emit(b, bpf_load(BPF_W, R1, PLAN, at));
	none = expr_bpf_jump(b, BPF_JEQ, R1, BPF_TEXTS_NONE);
	load_argument(w, PLAN, at + 4);
	null = expr_bpf_jump(b, BPF_JEQ, PLAN, 0);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, BEGIN, OFFSET));
	for (unsigned i = 0; i <= BPF_TEXTS_LIST_N; i++) {
		vec_push(&unread, emit_pointer(b, bytes));
		expr_bpf_emit(b, bpf_load(BPF_DW, R3, FP, POINTER));
		vec_push(&nulls, expr_bpf_jump(b, BPF_JEQ, R3, 0));
		if (i < BPF_TEXTS_LIST_N)
			emit_list_string(b, string);
		expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, PLAN, 8));
	}
	emit_item(b, BPF_TEXTS_ITEM_MORE);
	ends[0] = expr_bpf_jump(b, BPF_JA, 0, 0);
	vec_each(size_t, jump, &nulls)
		expr_bpf_land(b, *jump);
	emit_item(b, BPF_TEXTS_ITEM_NULL);
	ends[1] = expr_bpf_jump(b, BPF_JA, 0, 0);
	vec_each(size_t, jump, &unread)
		expr_bpf_land(b, *jump);
	emit_item(b, BPF_TEXTS_ITEM_UNREAD);
	expr_bpf_land(b, ends[0]);
	expr_bpf_land(b, ends[1]);
	expr_bpf_emit(b, bpf_load(BPF_DW, R1, FP, BEGIN));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R2, OFFSET));
	expr_bpf_emit(b, bpf_alu(BPF_SUB, R2, R1));
	expr_bpf_emit(b, bpf_store(BPF_H, ROOM, ROOM_SIZES + 2 * BPF_TEXTS_LIST, R2));
	emit_masked(b);
	expr_bpf_land(b, none);
	expr_bpf_land(b, null);
	vec_done(&unread);
	vec_done(&nulls);
}

static void emit_output(struct builder *w, const struct bpf_texts *texts)
{
	struct expr_bpf *b = &w->b;

	expr_bpf_emit(b, bpf_alu(BPF_MOV, R1, CONTEXT));
	expr_bpf_emit_map(b, R2, texts->outputs);
	expr_bpf_emit_constant(b, R3, BPF_F_CURRENT_CPU);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R4, ROOM));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R4, ROOM_RECORD));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R5, OFFSET));
	expr_bpf_emit(b, bpf_alu_imm(BPF_SUB, R5, ROOM_RECORD));
	// the verifier forgets what it knew of sums
	expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R5, OFFSET_MASK));
	expr_bpf_emit_call(b, BPF_FUNC_perf_event_output);
}

static void emit_enter(struct builder *w, const struct bpf_texts *texts, enum bpf_func_id string,
		       enum bpf_func_id bytes)
{
	struct expr_bpf *b = &w->b;
	VEC(size_t) none = {0};

	expr_bpf_emit(b, bpf_alu(BPF_MOV, CONTEXT, R1));
	expr_bpf_emit(b, bpf_load(BPF_DW, R0, CONTEXT, AT_NUMBER));
	end_if(w, BPF_JGE, R0, (int32_t)texts->options.numbers_n);
	expr_bpf_emit(b, bpf_store(BPF_W, FP, KEY, R0));
	lookup(w, texts->plans);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, PLAN, R0));
	expr_bpf_emit(b, bpf_load(BPF_W, R1, PLAN, 0));
	end_if(w, BPF_JEQ, R1, BPF_TEXTS_NONE);
	emit_who(w, texts);
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R0, 0));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, KEY, R0));
	lookup(w, texts->rooms);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, ROOM, R0));
	for (int i = 0; i < 6; i++) {
		expr_bpf_emit(b, bpf_load(BPF_DW, R1, CONTEXT, AT_ARGS + 8 * i));
		expr_bpf_emit(b, bpf_store(BPF_DW, ROOM, 8 * i, R1));
	}
	expr_bpf_emit(b, bpf_load(BPF_DW, R1, CONTEXT, AT_NUMBER));
	expr_bpf_emit(b, bpf_store(BPF_DW, ROOM, ROOM_RECORD, R1));
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, 0));
	expr_bpf_emit(b, bpf_store(BPF_DW, ROOM, ROOM_SIZES, R1));
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, OFFSET, ROOM_BYTES));
	for (unsigned i = 0; i < BPF_TEXTS_PIECES; i++) {
		if (i) {
			expr_bpf_emit(b, bpf_load(BPF_W, R1, PLAN,
						  (int)(i * sizeof(struct bpf_texts_piece))));
			vec_push(&none, expr_bpf_jump(b, BPF_JEQ, R1, BPF_TEXTS_NONE));
		}
		emit_piece(w, i, string, bytes);
	}
	vec_each(size_t, jump, &none)
		expr_bpf_land(b, *jump);
	vec_done(&none);
	emit_list(w, string, bytes);
	end_if(w, BPF_JLE, OFFSET, ROOM_BYTES); // nothing could be read
	emit_output(w, texts);
	finish(w);
}

// What a watched process starts is watched. Threads are noted by their own number, which does no harm.
static void emit_fork(struct builder *w, const struct bpf_texts *texts)
{
	struct expr_bpf *b = &w->b;

	expr_bpf_emit(b, bpf_alu(BPF_MOV, CONTEXT, R1));
	emit_who(w, texts);
	expr_bpf_emit(b, bpf_load(BPF_W, R1, CONTEXT, (int)texts->options.child));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, KEY, R1));
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, 1));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, VALUE, R1));
	expr_bpf_emit_update(b, texts->tasks, &(struct expr_bpf_row){KEY, VALUE, BPF_ANY});
	finish(w);
}

static int load(struct builder *w)
{
	char *log = NULL;
	int program = w->b.error;

	if (!program)
		program =
			bpf_program_load(BPF_PROG_TYPE_TRACEPOINT, w->b.insns.v, w->b.insns.n, &log);
	if (program < 0)
		debug("%s", log ? log : "no log");
	free(log);
	vec_done(&w->ends);
	expr_bpf_done(&w->b);
	return program;
}

static int load_programs(struct bpf_texts *texts)
{
	// Before Linux 5.5 one function read both kernel and user space.
	static const enum bpf_func_id functions[][2] = {
		{BPF_FUNC_probe_read_user_str, BPF_FUNC_probe_read_user},
		{BPF_FUNC_probe_read_str, BPF_FUNC_probe_read},
	};
	int program = -1;

	for (size_t i = 0; i < ARRAY_SIZE(functions) && program < 0; i++) {
		struct builder w = {0};

		expr_bpf_begin(&w.b);
		emit_enter(&w, texts, functions[i][0], functions[i][1]);
		program = load(&w);
	}
	texts->programs[0] = program;
	if (program >= 0 && texts->options.by_process) {
		struct builder w = {0};

		expr_bpf_begin(&w.b);
		emit_fork(&w, texts);
		texts->programs[1] = program = load(&w);
	}
	return program < 0 ? fail(-program,
				  "the kernel refuses the BPF program that reads arguments: %s",
				  strerror(-program))
			   : 0;
}

static int make_map(int *ret, enum bpf_map_type type, uint32_t value_size, uint32_t n)
{
	int fd = bpf_map_new(type, 4, value_size, n);

	if (fd < 0)
		return fail(-fd, "the kernel gives no BPF map: %s", strerror(-fd));
	*ret = fd;
	return 0;
}

int bpf_texts_open(struct bpf_texts **ret, const struct bpf_texts_options *options)
{
	struct bpf_texts *texts = NEW(struct bpf_texts);
	int cpus = bpf_value_cpus(), err;

	texts->options = *options;
	texts->plans = texts->rooms = texts->outputs = texts->tasks = -1;
	for (size_t i = 0; i < 2; i++)
		texts->perf[i] = texts->programs[i] = -1;
	err = make_map(&texts->plans, BPF_MAP_TYPE_ARRAY, sizeof(struct plan), options->numbers_n);
	if (!err)
		err = make_map(&texts->rooms, BPF_MAP_TYPE_PERCPU_ARRAY, ROOM_SIZE, 1);
	if (!err)
		err = make_map(&texts->outputs, BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4,
			       (uint32_t)MAX(cpus, 1));
	if (!err && options->by_process)
		err = make_map(&texts->tasks, BPF_MAP_TYPE_LRU_HASH, 4, TASKS_MAX);
	if (!err)
		err = load_programs(texts);
	if (err < 0) {
		bpf_texts_close(texts);
		return err;
	}
	*ret = texts;
	return 0;
}

int bpf_texts_plan(struct bpf_texts *texts, uint32_t number, const struct bpf_texts_piece *pieces)
{
	struct plan plan;

	if (pieces[BPF_TEXTS_LIST].kind && (!pieces[0].kind || pieces[1].kind))
		return -EINVAL;
	memcpy(plan.pieces, pieces, sizeof(plan.pieces));
	return bpf_map_set(texts->plans, &number, &plan);
}

int bpf_texts_watch(struct bpf_texts *texts, uint32_t pid)
{
	const uint32_t yes = 1;

	return texts->tasks < 0 ? 0 : bpf_map_set(texts->tasks, &pid, &yes);
}

int bpf_texts_output(struct bpf_texts *texts, uint32_t cpu, int fd)
{
	return bpf_map_set(texts->outputs, &cpu, &fd);
}

static int attach(struct bpf_texts *texts, size_t i, uint32_t id)
{
	texts->perf[i] = bpf_tracepoint_attach(id, texts->programs[i]);
	return MIN(texts->perf[i], 0);
}

int bpf_texts_start(struct bpf_texts *texts)
{
	int err = texts->options.by_process ? attach(texts, 1, texts->options.fork_id) : 0;

	return err ? err : attach(texts, 0, texts->options.enter_id);
}

void bpf_texts_close(struct bpf_texts *texts)
{
	if (!texts)
		return;
	const int fds[] = {texts->perf[0], texts->perf[1], texts->programs[0], texts->programs[1],
			   texts->plans,   texts->rooms,   texts->outputs,     texts->tasks};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	free(texts);
}
