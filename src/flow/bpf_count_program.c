// SPDX-License-Identifier: GPL-2.0-or-later
// The program of an event that is counted in the kernel: conditions, filter, keys, numbers, the row that they are added to.
#include "flow/bpf_count_private.h"
#include "base/err.h"
#include <unistd.h>

enum {
	R0 = BPF_REG_0,
	R1,
	R2,
	R3,
	R4,
	ROW = BPF_REG_8,
	CONTEXT = BPF_REG_9, // of the program, see expr/bpf.h
	FP = BPF_REG_10,
	// the stack below what expressions use
	SMALL_KEY = -192, // of arrays
	KEY = SMALL_KEY - BPF_KEY_BYTES_MAX,
	VALUES = KEY - 8 * BPF_UPDATES_MAX,
	FRESH = VALUES - 8 * BPF_CELLS_MAX, // a row of zeros
	// What waits: its time and its keys, behind that the number of the pair; of a second event the delay stands in place of the time.
	// Done with before a row is made.
	WAITING = FRESH,
	DELAY = WAITING,
	FIRST_KEYS = WAITING + 8,
	PAIR = FIRST_KEYS + BPF_KEY_BYTES_MAX,
};
_Static_assert(SMALL_KEY <= -(int)EXPR_BPF_STACK_USED && FRESH >= -EXPR_BPF_STACK, "the stack");
_Static_assert(PAIR + 8 <= VALUES, "what waits has the place of a fresh row");

struct builder {
	struct expr_bpf *b;
	const struct bpf_count *count;
	const struct bpf_count_event *event;
	VEC(size_t) ends; // jumps to the end
};

static void end_if(struct builder *w, uint8_t op, unsigned reg, int32_t imm)
{
	vec_push(&w->ends, expr_bpf_jump(w->b, op, reg, imm));
}

static void copy(struct builder *w, int to, int from)
{
	expr_bpf_emit(w->b, bpf_load(BPF_DW, R0, FP, from));
	expr_bpf_emit(w->b, bpf_store(BPF_DW, FP, to, R0));
}

static void emit_conditions(struct builder *w)
{
	const struct bpf_count *count = w->count;
	struct expr_bpf *b = w->b;

	if (count->cpus >= 0) {
		expr_bpf_emit_call(b, BPF_FUNC_get_smp_processor_id);
		expr_bpf_emit(b, bpf_store(BPF_W, FP, SMALL_KEY, R0));
		expr_bpf_emit_lookup(w->b, count->cpus, SMALL_KEY);
		end_if(w, BPF_JEQ, R0, 0);
		expr_bpf_emit(b, bpf_load(BPF_B, R0, R0, 0));
		end_if(w, BPF_JEQ, R0, 0);
	}
	if (w->event->not_self) {
		expr_bpf_emit_call(b, BPF_FUNC_get_current_pid_tgid);
		expr_bpf_emit(b, bpf_alu_imm(BPF_RSH, R0, 32));
		end_if(w, BPF_JEQ, R0, getpid());
	}
}

static void emit_stack_id(struct builder *w, int stacks)
{
	struct expr_bpf *b = w->b;

	expr_bpf_emit(b, bpf_alu(BPF_MOV, R1, CONTEXT));
	expr_bpf_emit_map(b, R2, stacks);
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R3, 0));
	expr_bpf_emit_call(b, BPF_FUNC_get_stackid);
}

// The stack's number, above it the generation that it is of; or what is wrong.
static void emit_stack(struct builder *w, int place)
{
	struct expr_bpf *b = w->b;
	size_t odd, taken, failed;

	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, TURN_STACKS));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, SMALL_KEY, R1));
	expr_bpf_emit_lookup(b, w->count->turn, SMALL_KEY);
	end_if(w, BPF_JEQ, R0, 0);
	expr_bpf_emit(b, bpf_load(BPF_W, R1, R0, 0));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R2, R1));
	expr_bpf_emit(b, bpf_alu_imm(BPF_LSH, R2, 32));
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R2));
	expr_bpf_emit(b, bpf_alu_imm(BPF_AND, R1, 1));
	odd = expr_bpf_jump(b, BPF_JNE, R1, 0);
	emit_stack_id(w, w->count->stacks[0]);
	taken = expr_bpf_jump(b, BPF_JA, 0, 0);
	expr_bpf_land(b, odd);
	emit_stack_id(w, w->count->stacks[1]);
	expr_bpf_land(b, taken);
	failed = expr_bpf_jump(b, BPF_JSLT, R0, 0);
	expr_bpf_emit(b, bpf_load(BPF_DW, R1, FP, place));
	expr_bpf_emit(b, bpf_alu(BPF_OR, R0, R1));
	expr_bpf_land(b, failed);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R0));
}

// One key to `place`, as this event says it.
static int emit_key(struct builder *w, uint32_t i, int place)
{
	const struct bpf_key *key = &w->count->keys[i];
	struct expr_bpf *b = w->b;
	int err = 0;

	if (key->kind == BPF_KEY_TEXT)
		return expr_bpf_text(b, w->event->keys[i], place, key->size);
	if (key->kind == BPF_KEY_CGROUP) {
		expr_bpf_emit_call(b, BPF_FUNC_get_current_cgroup_id);
		expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R0));
		return 0;
	}
	if (key->kind == BPF_KEY_STACK) {
		emit_stack(w, place);
		return 0;
	}
	if (key->delay)
		copy(w, place, DELAY);
	else
		err = expr_bpf_number(b, w->event->keys[i], place);
	if (key->unit > 1) {
		expr_bpf_emit(b, bpf_load(BPF_DW, R0, FP, place));
		expr_bpf_emit(b, bpf_alu_imm(BPF_DIV, R0, (int32_t)key->unit));
		expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R0));
	}
	if (!err && key->kind == BPF_KEY_LOG2)
		expr_bpf_log2(b, place);
	if (!err && key->kind == BPF_KEY_BUCKET)
		expr_bpf_bucket(b, place);
	return err;
}

// The key of the row. What the first event said is copied.
static int emit_keys(struct builder *w)
{
	const struct bpf_count *count = w->count;
	int place = KEY, from = FIRST_KEYS, err = 0;

	if (!count->options.keys_n)
		expr_bpf_emit_zero(w->b, KEY, 8);
	for (uint32_t i = 0; !err && i < count->options.keys_n; i++) {
		const int size = (int)bpf_key_bytes(&count->keys[i]);

		if (!count->keys[i].first)
			err = emit_key(w, i, place);
		for (int k = 0; count->keys[i].first && k < size; k += 8, from += 8)
			copy(w, place + k, from);
		place += size;
	}
	return err;
}

// What a first event says of the key.
static int emit_first_keys(struct builder *w)
{
	const struct bpf_count *count = w->count;
	int place = FIRST_KEYS, err = 0;

	for (uint32_t i = 0; !err && i < count->options.keys_n; i++) {
		if (!count->keys[i].first)
			continue;
		err = emit_key(w, i, place);
		place += (int)bpf_key_bytes(&count->keys[i]);
	}
	return err;
}

static int emit_values(struct builder *w)
{
	const struct bpf_count_event *event = w->event;
	int err = 0;

	for (uint32_t i = 0; !err && i < event->updates_n; i++) {
		if (event->updates[i].delay)
			copy(w, VALUES + 8 * (int)i, DELAY);
		else if (event->updates[i].value)
			err = expr_bpf_number(w->b, event->updates[i].value, VALUES + 8 * (int)i);
	}
	return err;
}

// ROW = the row of the key in `rows`; a new one when there is none. *ret_full: the jump for a full map.
static void emit_row(struct builder *w, int rows, size_t *ret_full)
{
	struct expr_bpf *b = w->b;
	size_t found;

	expr_bpf_emit_lookup(w->b, rows, KEY);
	found = expr_bpf_jump(b, BPF_JNE, R0, 0);
	expr_bpf_emit_zero(b, FRESH, 8 * w->count->options.cells_n);
	expr_bpf_emit_update(b, rows, &(struct expr_bpf_row){KEY, FRESH, BPF_NOEXIST});
	expr_bpf_emit_lookup(w->b, rows, KEY);
	*ret_full = expr_bpf_jump(b, BPF_JEQ, R0, 0);
	expr_bpf_land(b, found);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, ROW, R0));
}

static void emit_updates(struct builder *w)
{
	struct expr_bpf *b = w->b;

	for (uint32_t i = 0; i < w->event->updates_n; i++) {
		const struct bpf_update *update = &w->event->updates[i];
		const struct bpf_cell *cell = &w->count->cells[update->cell];
		const int offset = 8 * (int)update->cell;

		expr_bpf_emit(b, bpf_load(BPF_DW, R1, ROW, offset));
		if (cell->kind == BPF_CELL_HITS)
			expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, 1));
		else
			expr_bpf_emit(b, bpf_load(BPF_DW, R2, FP, VALUES + 8 * (int)i));
		if (cell->kind == BPF_CELL_SUM)
			expr_bpf_emit(b, bpf_alu(BPF_ADD, R1, R2));
		if (cell->kind == BPF_CELL_HITS || cell->kind == BPF_CELL_SUM) {
			expr_bpf_emit(b, bpf_store(BPF_DW, ROW, offset, R1));
			continue;
		}
		expr_bpf_emit_constant(b, R3, bpf_cell_flip(cell));
		expr_bpf_emit(b, bpf_alu(BPF_XOR, R2, R3));
		expr_bpf_emit(b, (struct bpf_insn){.code = BPF_JMP | BPF_X | BPF_JGE,
						   .dst_reg = R1,
						   .src_reg = R2,
						   .off = 1});
		expr_bpf_emit(b, bpf_store(BPF_DW, ROW, offset, R2));
	}
}

// Adds one to a number of `stats`, then ends.
static void emit_stat(struct builder *w, enum stat stat)
{
	struct expr_bpf *b = w->b;

	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, stat));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, SMALL_KEY, R1));
	expr_bpf_emit_lookup(w->b, w->count->stats, SMALL_KEY);
	end_if(w, BPF_JEQ, R0, 0);
	expr_bpf_emit(b, bpf_load(BPF_DW, R1, R0, 0));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, 1));
	expr_bpf_emit(b, bpf_store(BPF_DW, R0, 0, R1));
	end_if(w, BPF_JA, 0, 0);
}

static int emit_pair_key(struct builder *w)
{
	return expr_bpf_number(w->b, w->event->pair, PAIR);
}

// The jump for when it was put there. What the call returns has undefined upper bits on older kernels.
static size_t emit_wait(struct builder *w, int flags)
{
	struct expr_bpf *b = w->b;

	expr_bpf_emit_update(b, w->count->waiting, &(struct expr_bpf_row){PAIR, WAITING, flags});
	expr_bpf_emit(b, bpf_alu_imm(BPF_LSH, R0, 32));
	return expr_bpf_jump(b, BPF_JEQ, R0, 0);
}

// Puts the first event where the second will look for it.
static int emit_begin(struct builder *w)
{
	struct expr_bpf *b = w->b;
	size_t kept, again;
	int err = emit_pair_key(w);

	// Looked for: what BPF_NOEXIST returns has undefined upper bits on older kernels.
	if (w->event->keeps) {
		expr_bpf_emit_lookup(b, w->count->waiting, PAIR);
		end_if(w, BPF_JNE, R0, 0);
	}
	if (!err)
		err = emit_first_keys(w);
	expr_bpf_emit_call(b, BPF_FUNC_ktime_get_ns);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, WAITING, R0));
	kept = emit_wait(w, w->event->keeps ? BPF_ANY : BPF_NOEXIST);
	if (!w->event->keeps) {
		again = emit_wait(w, BPF_ANY);
		emit_stat(w, STAT_WAITS_FULL);
		expr_bpf_land(b, again);
		emit_stat(w, STAT_AGAIN);
	} else {
		emit_stat(w, STAT_WAITS_FULL);
	}
	expr_bpf_land(b, kept);
	end_if(w, BPF_JA, 0, 0);
	return err;
}

// Takes the first event of this second one: DELAY and FIRST_KEYS; the end when there is none.
static int emit_end(struct builder *w)
{
	struct expr_bpf *b = w->b;
	size_t wanted[ARRAY_SIZE(w->event->only_first)], forward;
	int err = emit_pair_key(w);

	expr_bpf_emit_call(b, BPF_FUNC_ktime_get_ns);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, WAITING, R0));
	expr_bpf_emit_lookup(w->b, w->count->waiting, PAIR);
	end_if(w, BPF_JEQ, R0, 0);
	expr_bpf_emit(b, bpf_load(BPF_DW, R1, R0, 0));
	expr_bpf_emit(b, bpf_load(BPF_DW, R3, FP, WAITING));
	expr_bpf_emit(b, bpf_alu(BPF_SUB, R3, R1));
	// Another CPU may have put the first one there since this one's time was taken.
	forward = expr_bpf_jump(b, BPF_JSGE, R3, 0);
	emit_stat(w, STAT_BACKWARD);
	expr_bpf_land(b, forward);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, DELAY, R3));
	for (int i = 0; i < (int)w->count->first_bytes; i += 8) {
		expr_bpf_emit(b, bpf_load(BPF_DW, R1, R0, 8 + i));
		expr_bpf_emit(b, bpf_store(BPF_DW, FP, FIRST_KEYS + i, R1));
	}
	expr_bpf_emit_delete(b, w->count->waiting, PAIR);
	// Between looking and taking it another CPU may have taken it.
	end_if(w, BPF_JNE, R0, 0);
	if (!w->event->only_first_n)
		return err;
	expr_bpf_emit(b, bpf_load(BPF_DW, R0, FP, FIRST_KEYS));
	for (uint32_t i = 0; i < w->event->only_first_n; i++)
		wanted[i] = expr_bpf_jump(b, BPF_JEQ, R0, (int32_t)w->event->only_first[i]);
	end_if(w, BPF_JA, 0, 0);
	for (uint32_t i = 0; i < w->event->only_first_n; i++)
		expr_bpf_land(b, wanted[i]);
	return err;
}

// Adds to the row that is counted into now.
static int emit_count(struct builder *w)
{
	struct expr_bpf *b = w->b;
	size_t second, full[2], counted;
	int err = emit_keys(w);

	if (!err)
		err = emit_values(w);
	if (err < 0)
		return err;
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, TURN_ROWS));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, SMALL_KEY, R1));
	expr_bpf_emit_lookup(w->b, w->count->turn, SMALL_KEY);
	end_if(w, BPF_JEQ, R0, 0);
	expr_bpf_emit(b, bpf_load(BPF_W, R0, R0, 0));
	second = expr_bpf_jump(b, BPF_JNE, R0, 0);
	emit_row(w, w->count->rows[0], &full[0]);
	counted = expr_bpf_jump(b, BPF_JA, 0, 0);
	expr_bpf_land(b, second);
	emit_row(w, w->count->rows[1], &full[1]);
	expr_bpf_land(b, counted);
	emit_updates(w);
	end_if(w, BPF_JA, 0, 0);
	expr_bpf_land(b, full[0]);
	expr_bpf_land(b, full[1]);
	emit_stat(w, STAT_FULL);
	return 0;
}

static int emit_program(struct builder *w)
{
	const struct bpf_count_event *event = w->event;
	struct expr_bpf *b = w->b;
	int err = 0;

	expr_bpf_begin(b);
	emit_conditions(w);
	if (event->filter) {
		err = expr_bpf_number(b, event->filter, SMALL_KEY);
		expr_bpf_emit(b, bpf_load(BPF_DW, R0, FP, SMALL_KEY));
		end_if(w, BPF_JEQ, R0, 0);
	}
	if (!err && event->begins)
		err = emit_begin(w);
	if (!err && event->ends)
		err = emit_end(w);
	if (!err && !event->begins)
		err = emit_count(w);
	if (err < 0)
		return err;
	if (b->failed.n) {
		expr_bpf_land_failed(b);
		emit_stat(w, STAT_FAILED);
	}
	vec_each(size_t, jump, &w->ends)
		expr_bpf_land(b, *jump);
	// 1: other users of the tracepoint get the hit
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R0, 1));
	expr_bpf_emit(b, bpf_exit());
	return b->error;
}

int bpf_count_program(const struct bpf_count *count, const struct bpf_count_event *event,
		      struct expr_bpf *ret)
{
	struct builder w = {.b = ret, .count = count, .event = event};
	int err;

	ret->in_context = true;
	ret->common_type = event->id;
	ret->record_bytes = event->record_bytes;
	err = emit_program(&w);
	vec_done(&w.ends);
	return err;
}
