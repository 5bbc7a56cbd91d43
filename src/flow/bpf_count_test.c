// SPDX-License-Identifier: GPL-2.0-or-later
// Counts system calls of this program in the kernel, whose numbers and arguments it knows.
#include "flow/bpf_count.h"
#include "base/err.h"
#include "base/test.h"
#include "expr/bpf.h"
#include "sys/tracefs.h"
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RECORD_BYTES = 64 };

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	if (str_is(name, "id"))
		*ret = (struct expr_field){EXPR_FIELD_NUMBER, 8, 8, .is_signed = true};
	else if (str_is(name, "args"))
		*ret = (struct expr_field){EXPR_FIELD_ARRAY, 16, 48, 8};
	else if (str_is(name, "common_pid"))
		*ret = (struct expr_field){EXPR_FIELD_NUMBER, 4, 4, .is_signed = true};
	else if (str_is(name, "common_type"))
		*ret = (struct expr_field){EXPR_FIELD_NUMBER, 0, 2};
	else
		return false;
	return true;
}

static struct expr *compiled(const char *text)
{
	const struct expr_fields fields = {.find = find};
	struct expr *expr = NULL;

	if (expr_compile(&expr, text, &fields) < 0)
		fail_msg("%s", err_sentence());
	return expr;
}

static uint32_t tracepoint_id(const char *system, const char *name)
{
	struct tracefs *tracefs = NULL;
	uint64_t id = 0;

	if (tracefs_enter(&tracefs, NULL) < 0)
		return 0;
	tracefs_read_id(tracefs, system, name, &id);
	tracefs_leave(tracefs);
	return (uint32_t)id;
}

static uint32_t sys_enter_id(void)
{
	return tracepoint_id("raw_syscalls", "sys_enter");
}

static struct bpf_count *open_or_skip(const struct bpf_count_options *options)
{
	struct bpf_count *count = NULL;

	if (bpf_count_open(&count, options) < 0) {
		print_message("%s\n", err_sentence());
		skip();
	}
	return count;
}

static void add_or_skip(struct bpf_count *count, const struct bpf_count_event *event)
{
	if (bpf_count_add(count, event) < 0) {
		print_message("%s\n", err_sentence());
		bpf_count_close(count);
		skip();
	}
}

struct row {
	uint64_t key, cells[4];
};
struct rows {
	struct row v[600];
	size_t n;
};

static int take(void *arg, const void *key, const uint64_t *cells)
{
	struct rows *rows = arg;

	assert_true(rows->n < sizeof(rows->v) / sizeof(rows->v[0]));
	memcpy(&rows->v[rows->n].key, key, 8);
	memcpy(rows->v[rows->n].cells, cells, sizeof(rows->v[0].cells));
	rows->n++;
	return 0;
}

static const struct row *row_of(const struct rows *rows, uint64_t key)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].key == key)
			return &rows->v[i];
	return NULL;
}

static void test_counts(void **state)
{
	static const struct bpf_key keys[] = {{BPF_KEY_NUMBER, 0}};
	static const struct bpf_cell cells[] = {{BPF_CELL_HITS, false},
						{BPF_CELL_SUM, false},
						{BPF_CELL_MIN, true},
						{BPF_CELL_MAX, true}};
	struct expr *key = compiled("args[5] & 3"), *value = compiled("(long)args[4] - 100"),
		    *filter = compiled(
			    "args[3] == 0xfeedfacecafe && common_pid == _tid && common_type"),
		    *fails = compiled("10 / (args[4] - 7)");
	const struct bpf_count_options options = {.keys = keys,
						  .keys_n = 1,
						  .cells = cells,
						  .cells_n = 4};
	struct bpf_count_event event = {.record_bytes = RECORD_BYTES,
					.filter = filter,
					.keys = {key},
					.updates = {{.cell = 0},
						    {.cell = 1, .value = value},
						    {.cell = 2, .value = value},
						    {.cell = 3, .value = value}},
					.updates_n = 4};
	struct bpf_count *count;
	struct bpf_count_stats stats;
	struct rows *rows = calloc(1, sizeof(*rows));
	int64_t sum[4] = {0};

	event.id = sys_enter_id();
	if (!event.id)
		skip();
	count = open_or_skip(&options);
	add_or_skip(count, &event);
	for (long i = 0; i < 1000; i++) {
		syscall(SYS_getppid, 0, 0, 0, 0xfeedfacecafe, i, i);
		sum[i & 3] += i - 100;
	}
	assert_int_equal(bpf_count_read(count, take, rows), 0);
	if (rows->n == 0) {
		bpf_count_close(count);
		print_message("events of this thread are not seen\n");
		skip();
	}
	assert_int_equal(rows->n, 4);
	for (uint64_t k = 0; k < 4; k++) {
		const struct row *row = row_of(rows, k);

		assert_non_null(row);
		assert_int_equal(row->cells[0], 250);
		assert_int_equal(row->cells[1], sum[k]);
		assert_int_equal((int64_t)row->cells[2], (int64_t)k - 100);
		assert_int_equal(row->cells[3], 996 + k - 100);
	}
	// the rows are forgotten, the next ones count from the start
	syscall(SYS_getppid, 0, 0, 0, 0xfeedfacecafe, 7, 2);
	rows->n = 0;
	assert_int_equal(bpf_count_read(count, take, rows), 0);
	assert_int_equal(rows->n, 1);
	assert_int_equal(rows->v[0].key, 2);
	assert_int_equal(rows->v[0].cells[0], 1);
	assert_int_equal((int64_t)rows->v[0].cells[2], -93);
	rows->n = 0;
	assert_int_equal(bpf_count_read(count, take, rows), 0);
	assert_int_equal(rows->n, 0);
	// what fails is counted as failed
	event.keys[0] = fails;
	assert_int_equal(bpf_count_add(count, &event), 0);
	for (long i = 0; i < 10; i++)
		syscall(SYS_getppid, 0, 0, 0, 0xfeedfacecafe, i, 0);
	assert_int_equal(bpf_count_stats(count, &stats), 0);
	assert_int_equal(stats.failed, 1);
	assert_int_equal(stats.full, 0);
	bpf_count_close(count);
	expr_free(key);
	expr_free(value);
	expr_free(filter);
	expr_free(fails);
	free(rows);
}

static void test_full_map_and_buckets(void **state)
{
	static const struct bpf_key keys[] = {{BPF_KEY_BUCKET, 0}};
	static const struct bpf_cell cells[4] = {{BPF_CELL_HITS, false}};
	struct expr *key = compiled("args[4]"), *filter = compiled("args[3] == 0xfeedfacebeef");
	const struct bpf_count_options options = {.keys = keys,
						  .keys_n = 1,
						  .cells = cells,
						  .cells_n = 4,
						  .rows_max = 500};
	struct bpf_count_event event = {.record_bytes = RECORD_BYTES,
					.filter = filter,
					.keys = {key},
					.updates = {{0, NULL}},
					.updates_n = 1};
	struct bpf_count *count;
	struct bpf_count_stats stats;
	struct rows *rows = calloc(1, sizeof(*rows));
	uint64_t hits = 0;

	event.id = sys_enter_id();
	if (!event.id)
		skip();
	count = open_or_skip(&options);
	add_or_skip(count, &event);
	for (unsigned shift = 0; shift < 64; shift++)
		for (unsigned i = 0; i < 2; i++)
			syscall(SYS_getppid, 0, 0, 0, 0xfeedfacebeef,
				(1ul << shift) + i * (1ul << shift) / 200, 0);
	assert_int_equal(bpf_count_read(count, take, rows), 0);
	if (!rows->n) {
		bpf_count_close(count);
		skip();
	}
	for (unsigned shift = 0; shift < 64; shift++) {
		const uint64_t v = (1ul << shift) + (1ul << shift) / 200;
		const struct row *row = row_of(rows, expr_bucket(1ul << shift));

		assert_non_null(row);
		assert_int_equal(row->cells[0], expr_bucket(v) == expr_bucket(1ul << shift) ? 2 : 1);
		assert_non_null(row_of(rows, expr_bucket(v)));
	}
	// more keys than places: all hits are either counted or said to be not
	rows->n = 0;
	for (uint64_t i = 0; i < 5000; i++)
		syscall(SYS_getppid, 0, 0, 0, 0xfeedfacebeef, i << (i % 40), 0);
	assert_int_equal(bpf_count_read(count, take, rows), 0);
	for (size_t i = 0; i < rows->n; i++)
		hits += rows->v[i].cells[0];
	assert_int_equal(bpf_count_stats(count, &stats), 0);
	assert_true(stats.full > 0);
	assert_true(hits + stats.full + (stats.missed == UINT64_MAX ? 0 : stats.missed) >= 5000);
	assert_true(hits + stats.full <= 5000);
	bpf_count_close(count);
	expr_free(key);
	expr_free(filter);
	free(rows);
}

// A row for each power of two: what is told apart by it fits into few.
static void test_powers_of_two(void **state)
{
	static const struct bpf_key keys[] = {{.kind = BPF_KEY_LOG2, .unit = 4}};
	static const struct bpf_cell cells[] = {{BPF_CELL_HITS, false}};
	struct expr *key = compiled("args[4]"), *filter = compiled("args[3] == 0xfeedfaceabba");
	const struct bpf_count_options options = {.keys = keys,
						  .keys_n = 1,
						  .cells = cells,
						  .cells_n = 1,
						  .rows_max = 64};
	struct bpf_count_event event = {.record_bytes = RECORD_BYTES,
					.filter = filter,
					.keys = {key},
					.updates = {{0, NULL}},
					.updates_n = 1};
	uint64_t expected[64] = {0}, hits = 0;
	struct rows *rows = calloc(1, sizeof(*rows));
	struct bpf_count_stats stats;
	struct bpf_count *count;

	event.id = sys_enter_id();
	if (!event.id)
		skip();
	count = open_or_skip(&options);
	add_or_skip(count, &event);
	for (uint64_t i = 0; i < 5000; i++) {
		const uint64_t v = i << (i % 52);

		expected[v / 4 < 2 ? 0 : 63 - __builtin_clzll(v / 4)]++;
		syscall(SYS_getppid, 0, 0, 0, 0xfeedfaceabba, v, 0);
	}
	assert_int_equal(bpf_count_read(count, take, rows), 0);
	if (!rows->n) {
		bpf_count_close(count);
		skip();
	}
	assert_int_equal(bpf_count_stats(count, &stats), 0);
	assert_int_equal(stats.full, 0);
	for (uint64_t power = 0; power < 64; power++) {
		const struct row *row = row_of(rows, power);

		assert_true((row ? row->cells[0] : 0) <= expected[power]);
		hits += row ? row->cells[0] : 0;
	}
	assert_true(hits + (stats.missed == UINT64_MAX ? 0 : stats.missed) >= 5000);
	bpf_count_close(count);
	expr_free(key);
	expr_free(filter);
	free(rows);
}

// ---- stacks

static void sleeps(void)
{
	usleep(1);
}
static void yields(void)
{
	for (int i = 0; i < 100; i++)
		sched_yield();
}
static void polls(void)
{
	poll(NULL, 0, 1);
}
static void waits(void)
{
	const pid_t child = fork();

	if (!child) {
		usleep(1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}
static void selects(void)
{
	select(0, NULL, NULL, NULL, &(struct timeval){.tv_usec = 1});
}

static const struct {
	void (*call)(void);
} blocks[] = {{sleeps}, {polls}, {selects}, {waits}, {yields}};

struct stacks_seen {
	struct bpf_count *count;
	size_t with, without;
	uint64_t hits;
};

static int see_stack(void *arg, const void *key, const uint64_t *cells)
{
	struct stacks_seen *seen = arg;
	uint64_t stack[BPF_STACK_MAX], id;
	size_t n;

	memcpy(&id, key, sizeof(id));
	n = bpf_count_stack(seen->count, id, stack);
	for (size_t i = 0; i < n; i++)
		assert_true(stack[i] >> 63); // the kernel's addresses
	seen->with += n > 0;
	seen->without += n == 0;
	seen->hits += cells[0];
	return 0;
}

// A table of a few stacks goes on for ever: what it has no place for comes in time.
static void test_stacks_are_forgotten(void **state)
{
	enum { ROUNDS = 12 };
	static const struct bpf_key key = {.kind = BPF_KEY_STACK};
	static const struct bpf_cell cell = {BPF_CELL_HITS};
	const struct bpf_count_options options = {.keys = &key,
						  .keys_n = 1,
						  .cells = &cell,
						  .cells_n = 1,
						  .stacks_max = 4};
	struct bpf_count *count = open_or_skip(&options);
	struct expr *mine;
	uint32_t id = tracepoint_id("sched", "sched_switch");
	bool found[ARRAY_SIZE(blocks)] = {0};
	size_t n = 0;
	char text[64];

	if (!id) {
		bpf_count_close(count);
		skip();
	}
	snprintf(text, sizeof(text), "common_pid == %d", (int)getpid());
	mine = compiled(text);
	assert_int_equal(bpf_count_add(count, &(struct bpf_count_event){.id = id,
									.record_bytes = RECORD_BYTES,
									.filter = mine,
									.updates_n = 1}),
			 0);
	for (size_t i = 0; i < ROUNDS * ARRAY_SIZE(blocks); i++) {
		struct stacks_seen seen = {.count = count};
		const size_t which =
			(i + i / ARRAY_SIZE(blocks)) % ARRAY_SIZE(blocks); // each comes first

		blocks[which].call();
		assert_int_equal(bpf_count_read(count, see_stack, &seen), 0);
		found[which] |= seen.with > 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(blocks); i++)
		n += found[i];
	// One that is full and stays so would have no place for most of them.
	assert_true(n >= ARRAY_SIZE(blocks) - 1);
	expr_free(mine);
	bpf_count_close(count);
}

RUN_TESTS(TEST(test_counts), TEST(test_full_map_and_buckets), TEST(test_powers_of_two),
	  TEST(test_stacks_are_forgotten))
