// SPDX-License-Identifier: GPL-2.0-or-later
// flow/bpf_count builds a program for each event: conditions, filter, key, numbers, a row of a per-CPU hash to add to. Two sets
// of rows take turns: a read switches, waits for the programs that still run (they are inside of RCU), and empties the other
// one, so no hit is lost or counted twice. What is not counted (no place for a key, a failed expression, a program that was
// running already) is counted and said. First and second events of a delay meet in a hash of what waits, by their key: the
// second takes the first's time and what it left of the row's key (syscalls: which call), so delays need no events either. When
// that hash was full the older half goes. A filter that is typed while top runs is built into new programs. The programs let
// each hit pass, as a tracepoint's programs decide for all users of it; for the same reason there are no filters as eBPF for
// events that go to rings.
#include "flow/bpf_count.h"
#include "base/err.h"
#include "base/log.h"
#include "base/perf_event.h"
#include "base/vec.h"
#include "expr/bpf.h"
#include "sys/bpf.h"
#include "sys/perf.h"
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
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
	ROWS_DEFAULT = 4096,
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
	PAIRS_MAX = 1 << 16,
	STACKS_MAX = 1 << 13,
	MEMBARRIER_GLOBAL = 1,
};
_Static_assert(SMALL_KEY <= -(int)EXPR_BPF_STACK_USED && FRESH >= -EXPR_BPF_STACK, "the stack");
_Static_assert(PAIR + 8 <= VALUES, "what waits has the place of a fresh row");

enum stat { STAT_FAILED, STAT_FULL, STAT_WAITS_FULL, STAT_BACKWARD, STATS };

struct program {
	int perf, program;
};

struct bpf_count {
	struct bpf_count_options options;
	struct bpf_key keys[BPF_KEYS_MAX];
	struct bpf_cell cells[BPF_CELLS_MAX];
	uint32_t key_bytes, first_bytes; // first: of the keys that first events say
	uint32_t frames;		 // of stacks
	int rows[2];			 // one is counted into, the other read
	int turn;			 // one number: which
	int stats, cpus, waiting, stacks;
	uint64_t swept_full; // when those that wait were thinned out last
	uint32_t current;
	int value_cpus;
	VEC(struct program) programs;
};

void bpf_count_close(struct bpf_count *count)
{
	if (!count)
		return;
	vec_each(struct program, program, &count->programs) {
		close_if_open(program->perf);
		close_if_open(program->program);
	}
	vec_done(&count->programs);
	close_if_open(count->rows[0]);
	close_if_open(count->rows[1]);
	close_if_open(count->turn);
	close_if_open(count->stats);
	close_if_open(count->cpus);
	close_if_open(count->waiting);
	close_if_open(count->stacks);
	free(count);
}

static int make_map(int *ret, enum bpf_map_type type, uint32_t key_size, uint32_t value_size,
		    uint32_t n)
{
	const int fd = bpf_map_new(type, key_size, value_size, n);

	if (fd < 0)
		return fail(-fd, "the kernel gives no BPF map for %u rows: %s", n, strerror(-fd));
	*ret = fd;
	return 0;
}

static int make_cpus(struct bpf_count *count)
{
	const struct bpf_count_options *options = &count->options;
	const uint8_t yes = 1;
	int err;

	if (!options->cpus)
		return 0;
	err = make_map(&count->cpus, BPF_MAP_TYPE_ARRAY, 4, 1, (uint32_t)count->value_cpus);
	for (uint32_t i = 0; !err && i < options->cpus_n; i++)
		if (bpf_map_set(count->cpus, &options->cpus[i], &yes) < 0)
			err = fail(EINVAL, "there is no CPU %u", options->cpus[i]);
	return err;
}

static int make_maps(struct bpf_count *count)
{
	const struct bpf_count_options *options = &count->options;
	const uint32_t rows = options->rows_max ? options->rows_max : ROWS_DEFAULT;
	int err = 0;

	for (int i = 0; !err && i < 2; i++)
		err = make_map(&count->rows[i], BPF_MAP_TYPE_PERCPU_HASH, count->key_bytes,
			       8 * options->cells_n, rows);
	if (!err)
		err = make_map(&count->turn, BPF_MAP_TYPE_ARRAY, 4, 4, 1);
	if (!err)
		err = make_map(&count->stats, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, STATS);
	return err ? err : make_cpus(count);
}

static uint32_t size_of(const struct bpf_key *key)
{
	return key->kind == BPF_KEY_TEXT ? key->size : 8;
}

int bpf_count_open(struct bpf_count **ret, const struct bpf_count_options *options)
{
	struct bpf_count *count;
	uint32_t key_bytes = 0, first_bytes = 0;
	uint32_t frames = 0;
	int err;

	for (uint32_t i = 0; i < options->keys_n && i < BPF_KEYS_MAX; i++) {
		const uint32_t size = size_of(&options->keys[i]);

		if (!size || size % 8 || size > EXPR_BPF_TEXT_MAX)
			return fail(EINVAL, "a key of %u bytes can't be counted by", size);
		key_bytes += size;
		first_bytes += options->keys[i].first ? size : 0;
		if (options->keys[i].kind == BPF_KEY_STACK)
			frames = options->keys[i].unit
					 ? MIN(options->keys[i].unit, (uint32_t)BPF_STACK_MAX)
					 : BPF_STACK_MAX;
	}
	if (options->keys_n > BPF_KEYS_MAX || key_bytes > BPF_KEY_BYTES_MAX ||
	    options->cells_n > BPF_CELLS_MAX || !options->cells_n)
		return fail(EOPNOTSUPP, "the kernel counts by at most %d keys into %d numbers",
			    BPF_KEYS_MAX, BPF_CELLS_MAX);
	count = NEW(struct bpf_count);
	count->options = *options;
	count->key_bytes = MAX(key_bytes, 8u); // without keys: a number, 0
	count->first_bytes = first_bytes;
	if (options->keys_n)
		memcpy(count->keys, options->keys, options->keys_n * sizeof(*options->keys));
	memcpy(count->cells, options->cells, options->cells_n * sizeof(*options->cells));
	count->rows[0] = count->rows[1] = count->turn = -1;
	count->stats = count->cpus = count->waiting = count->stacks = -1;
	count->value_cpus = bpf_value_cpus();
	err = count->value_cpus < 0
		      ? fail(-count->value_cpus, "can't find out how many CPUs there may be: %s",
			     strerror(-count->value_cpus))
		      : make_maps(count);
	if (!err && frames)
		err = make_map(&count->stacks, BPF_MAP_TYPE_STACK_TRACE, 4, 8 * frames, STACKS_MAX);
	count->frames = frames;
	if (err < 0) {
		bpf_count_close(count);
		return err;
	}
	*ret = count;
	return 0;
}

// ---- the program

struct builder {
	struct expr_bpf b;
	const struct bpf_count *count;
	const struct bpf_count_event *event;
	VEC(size_t) ends; // jumps to the end
};

static void end_if(struct builder *w, uint8_t op, unsigned reg, int32_t imm)
{
	vec_push(&w->ends, expr_bpf_jump(&w->b, op, reg, imm));
}

static void copy(struct builder *w, int to, int from)
{
	expr_bpf_emit(&w->b, bpf_load(BPF_DW, R0, FP, from));
	expr_bpf_emit(&w->b, bpf_store(BPF_DW, FP, to, R0));
}

static void emit_conditions(struct builder *w)
{
	const struct bpf_count *count = w->count;
	struct expr_bpf *b = &w->b;

	if (count->cpus >= 0) {
		expr_bpf_emit_call(b, BPF_FUNC_get_smp_processor_id);
		expr_bpf_emit(b, bpf_store(BPF_W, FP, SMALL_KEY, R0));
		expr_bpf_emit_lookup(&w->b, count->cpus, SMALL_KEY);
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

// One key to `place`, as this event says it.
static int emit_key(struct builder *w, uint32_t i, int place)
{
	const struct bpf_key *key = &w->count->keys[i];
	struct expr_bpf *b = &w->b;
	int err = 0;

	if (key->kind == BPF_KEY_TEXT)
		return expr_bpf_text(b, w->event->keys[i], place, key->size);
	if (key->kind == BPF_KEY_STACK) {
		expr_bpf_emit(b, bpf_alu(BPF_MOV, R1, CONTEXT));
		expr_bpf_emit_map(b, R2, w->count->stacks);
		expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R3, 0));
		expr_bpf_emit_call(b, BPF_FUNC_get_stackid);
		expr_bpf_emit(b, bpf_store(BPF_DW, FP, place, R0));
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
		expr_bpf_emit_zero(&w->b, KEY, 8);
	for (uint32_t i = 0; !err && i < count->options.keys_n; i++) {
		const int size = (int)size_of(&count->keys[i]);

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
		place += (int)size_of(&count->keys[i]);
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
			err = expr_bpf_number(&w->b, event->updates[i].value, VALUES + 8 * (int)i);
	}
	return err;
}

// ROW = the row of the key in `rows`; a new one when there is none. *ret_full: the jump for a full map.
static void emit_row(struct builder *w, int rows, size_t *ret_full)
{
	struct expr_bpf *b = &w->b;
	size_t found;

	expr_bpf_emit_lookup(&w->b, rows, KEY);
	found = expr_bpf_jump(b, BPF_JNE, R0, 0);
	expr_bpf_emit_zero(b, FRESH, 8 * w->count->options.cells_n);
	expr_bpf_emit_map(b, R1, rows);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R2, FP));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R2, KEY));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R3, FP));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R3, FRESH));
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R4, BPF_NOEXIST));
	expr_bpf_emit_call(b, BPF_FUNC_map_update_elem);
	expr_bpf_emit_lookup(&w->b, rows, KEY);
	*ret_full = expr_bpf_jump(b, BPF_JEQ, R0, 0);
	expr_bpf_land(b, found);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, ROW, R0));
}

// A row of zeros stands for nothing yet: extremes are kept so that the larger number is the newer one, also of the smallest.
static uint64_t flip(const struct bpf_cell *cell)
{
	return (cell->is_signed ? (uint64_t)1 << 63 : 0) ^
	       (cell->kind == BPF_CELL_MIN ? UINT64_MAX : 0);
}

static void emit_updates(struct builder *w)
{
	struct expr_bpf *b = &w->b;

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
		expr_bpf_emit_constant(b, R3, flip(cell));
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
	struct expr_bpf *b = &w->b;

	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, stat));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, SMALL_KEY, R1));
	expr_bpf_emit_lookup(&w->b, w->count->stats, SMALL_KEY);
	end_if(w, BPF_JEQ, R0, 0);
	expr_bpf_emit(b, bpf_load(BPF_DW, R1, R0, 0));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R1, 1));
	expr_bpf_emit(b, bpf_store(BPF_DW, R0, 0, R1));
	end_if(w, BPF_JA, 0, 0);
}

static int emit_pair_key(struct builder *w)
{
	return expr_bpf_number(&w->b, w->event->pair, PAIR);
}

// Puts the first event where the second will look for it.
static int emit_begin(struct builder *w)
{
	struct expr_bpf *b = &w->b;
	size_t kept;
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
	expr_bpf_emit_map(b, R1, w->count->waiting);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R2, FP));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R2, PAIR));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R3, FP));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R3, WAITING));
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R4, BPF_ANY));
	expr_bpf_emit_call(b, BPF_FUNC_map_update_elem);
	kept = expr_bpf_jump(b, BPF_JEQ, R0, 0);
	emit_stat(w, STAT_WAITS_FULL);
	expr_bpf_land(b, kept);
	end_if(w, BPF_JA, 0, 0);
	return err;
}

// Takes the first event of this second one: DELAY and FIRST_KEYS; the end when there is none.
static int emit_end(struct builder *w)
{
	struct expr_bpf *b = &w->b;
	size_t wanted[ARRAY_SIZE(w->event->only_first)], forward;
	int err = emit_pair_key(w);

	expr_bpf_emit_call(b, BPF_FUNC_ktime_get_ns);
	expr_bpf_emit(b, bpf_store(BPF_DW, FP, WAITING, R0));
	expr_bpf_emit_lookup(&w->b, w->count->waiting, PAIR);
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
	expr_bpf_emit_map(b, R1, w->count->waiting);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, R2, FP));
	expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R2, PAIR));
	expr_bpf_emit_call(b, BPF_FUNC_map_delete_elem);
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
	struct expr_bpf *b = &w->b;
	size_t second, full[2], counted;
	int err = emit_keys(w);

	if (!err)
		err = emit_values(w);
	if (err < 0)
		return err;
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, 0));
	expr_bpf_emit(b, bpf_store(BPF_W, FP, SMALL_KEY, R1));
	expr_bpf_emit_lookup(&w->b, w->count->turn, SMALL_KEY);
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
	struct expr_bpf *b = &w->b;
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

static int attach(struct bpf_count *count, uint32_t id, int program)
{
	int perf = bpf_tracepoint_attach(id, program);

	if (perf < 0) {
		close(program);
		return perf;
	}
	vec_push(&count->programs, (struct program){perf, program});
	return 0;
}

int bpf_count_add(struct bpf_count *count, const struct bpf_count_event *event)
{
	struct builder w = {.count = count, .event = event};
	char *log = NULL;
	int err = 0, program;

	if ((event->begins || event->ends) && count->waiting < 0)
		err = make_map(&count->waiting, BPF_MAP_TYPE_HASH, 8, 8 + count->first_bytes,
			       PAIRS_MAX);
	if (err < 0)
		return err;
	w.b.in_context = true;
	w.b.common_type = event->id;
	w.b.record_bytes = event->record_bytes;
	for (uint32_t i = 0; i < event->updates_n; i++)
		if (event->updates_n > BPF_UPDATES_MAX ||
		    event->updates[i].cell >= count->options.cells_n)
			return fail(EINVAL, "there is no number %u to count into",
				    event->updates[i].cell);
	err = emit_program(&w);
	if (!err) {
		program = bpf_program_load(BPF_PROG_TYPE_TRACEPOINT, w.b.insns.v, w.b.insns.n, &log);
		if (program < 0) {
			debug("%s", log ? log : "no log");
			err = fail(-program,
				   "the kernel refuses a BPF program of %zu instructions: %s",
				   (size_t)w.b.insns.n, strerror(-program));
		} else {
			err = attach(count, event->id, program);
		}
	}
	free(log);
	vec_done(&w.ends);
	expr_bpf_done(&w.b);
	return err;
}

// ---- reading

static void merge(const struct bpf_count *count, const uint64_t *values, uint64_t *cells)
{
	const uint32_t n = count->options.cells_n;

	memset(cells, 0, n * sizeof(*cells));
	for (int cpu = 0; cpu < count->value_cpus; cpu++, values += n) {
		for (uint32_t i = 0; i < n; i++) {
			if (count->cells[i].kind == BPF_CELL_HITS ||
			    count->cells[i].kind == BPF_CELL_SUM)
				cells[i] += values[i];
			else
				cells[i] = MAX(cells[i], values[i]);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		if (count->cells[i].kind == BPF_CELL_MIN || count->cells[i].kind == BPF_CELL_MAX)
			cells[i] ^= flip(&count->cells[i]);
}

// Programs that began before the turn changed still count into the old rows; they run inside of RCU, whose grace period this waits for.
static void wait_for_programs(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_GLOBAL, 0) < 0)
		usleep(1000);
}

static int read_stat(const struct bpf_count *count, uint32_t stat, uint64_t *ret)
{
	auto_free uint64_t *values = xcalloc((size_t)count->value_cpus, sizeof(*values));
	int err = bpf_map_get(count->stats, &stat, values);

	*ret = 0;
	for (int cpu = 0; !err && cpu < count->value_cpus; cpu++)
		*ret += values[cpu];
	return err;
}

// First events without a second fill the table up in the end. When that happened the older half of those that wait goes.
static void sweep(struct bpf_count *count)
{
	uint64_t full, key, next, oldest = UINT64_MAX, newest = 0;
	uint64_t waits[1 + BPF_KEY_BYTES_MAX / 8] = {0};

	read_stat(count, STAT_WAITS_FULL, &full);
	if (full == count->swept_full)
		return;
	count->swept_full = full;
	for (int pass = 0; pass < 2; pass++) {
		bool more = bpf_map_next(count->waiting, NULL, &key) == 0;

		for (; more; key = next) {
			more = bpf_map_next(count->waiting, &key, &next) == 0;
			if (bpf_map_get(count->waiting, &key, waits) < 0)
				continue;
			if (pass && waits[0] < oldest + (newest - oldest) / 2)
				bpf_map_remove(count->waiting, &key);
			else if (!pass) {
				oldest = MIN(oldest, waits[0]);
				newest = MAX(newest, waits[0]);
			}
		}
	}
}

int bpf_count_read(struct bpf_count *count,
		   int (*row)(void *arg, const void *key, const uint64_t *cells), void *arg)
{
	const int rows = count->rows[count->current];
	const uint32_t zero = 0, other = !count->current;
	auto_free uint64_t *values =
		xcalloc((size_t)count->value_cpus * count->options.cells_n, sizeof(*values));
	uint8_t key[BPF_KEY_BYTES_MAX], next[BPF_KEY_BYTES_MAX];
	uint64_t cells[BPF_CELLS_MAX];
	int err = bpf_map_set(count->turn, &zero, &other), result = 0;
	bool more;

	if (err < 0)
		return fail(-err, "can't read what the kernel counted: %s", strerror(-err));
	count->current = other;
	wait_for_programs();
	if (count->waiting >= 0)
		sweep(count);
	more = bpf_map_next(rows, NULL, key) == 0;
	while (more) {
		err = bpf_map_get(rows, key, values);
		more = bpf_map_next(rows, key, next) == 0;
		bpf_map_remove(rows, key);
		if (!err && result >= 0) {
			merge(count, values, cells);
			result = row(arg, key, cells);
		}
		memcpy(key, next, sizeof(key));
	}
	return MIN(result, 0);
}

size_t bpf_count_stack(const struct bpf_count *count, uint64_t key, uint64_t ret[BPF_STACK_MAX])
{
	const uint32_t id = (uint32_t)key;
	size_t n = 0;

	if (key > INT32_MAX || bpf_map_get(count->stacks, &id, ret) < 0)
		return 0;
	while (n < count->frames && ret[n])
		n++;
	return n;
}

int bpf_count_stats(const struct bpf_count *count, struct bpf_count_stats *ret)
{
	uint64_t numbers[STATS], missed = 0, n;

	for (uint32_t i = 0; i < STATS; i++) {
		int err = read_stat(count, i, &numbers[i]);

		if (err < 0)
			return fail(-err, "can't read what the kernel did not count: %s",
				    strerror(-err));
	}
	vec_each(const struct program, program, &count->programs) {
		if (bpf_program_misses(program->program, &n) < 0)
			missed = UINT64_MAX;
		else if (missed != UINT64_MAX)
			missed += n;
	}
	*ret = (struct bpf_count_stats){.failed = numbers[STAT_FAILED],
					.full = numbers[STAT_FULL],
					.waits_full = numbers[STAT_WAITS_FULL],
					.backward = numbers[STAT_BACKWARD],
					.missed = missed};
	return 0;
}
