// SPDX-License-Identifier: GPL-2.0-or-later
// flow/bpf_count builds a program for each event: conditions, filter, key, numbers, a row of a per-CPU hash to add to. Two sets
// of rows take turns: a read switches, waits for the programs that still run (they are inside of RCU), and empties the other
// one, so no hit is lost or counted twice. What is not counted (no place for a key, a failed expression, a program that was
// running already) is counted and said. First and second events of a delay meet in a hash of what waits, by their key: the
// second takes the first's time and what it left of the row's key (syscalls: which call), so delays need no events either. When
// that hash was full the older half goes. A filter that is typed while top runs is built into new programs. The programs let
// each hit pass, as a tracepoint's programs decide for all users of it; for the same reason there are no filters as eBPF for
// events that go to rings.
#include "flow/bpf_count_private.h"
#include "base/err.h"
#include "base/log.h"
#include "base/perf_event.h"
#include "sys/bpf.h"
#include "sys/perf.h"
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ROWS_DEFAULT = 4096,
	PAIRS_MAX = 1 << 16,
	STACKS_BYTES = 1 << 22,
	MEMBARRIER_GLOBAL = 1,
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
	close_if_open(count->stacks[0]);
	close_if_open(count->stacks[1]);
	map_done(&count->stacks_seen);
	free(count);
}

// Its descriptor, or a negative errno.
static int make_map(enum bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t n)
{
	const int fd = bpf_map_new(type, key_size, value_size, n);

	return fd < 0 ? fail(-fd, "the kernel gives no BPF map for %u rows: %s", n, strerror(-fd))
		      : fd;
}

static int make_cpus(struct bpf_count *count)
{
	const struct bpf_count_options *options = &count->options;
	const uint8_t yes = 1;
	int err;

	if (!options->cpus)
		return 0;
	count->cpus = make_map(BPF_MAP_TYPE_ARRAY, 4, 1, (uint32_t)count->value_cpus);
	err = MIN(count->cpus, 0);
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

	for (int i = 0; !err && i < 2; i++) {
		count->rows[i] = make_map(BPF_MAP_TYPE_PERCPU_HASH, count->key_bytes,
					  8 * options->cells_n, rows);
		err = MIN(count->rows[i], 0);
	}
	if (err)
		return err;
	count->turn = make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 2);
	if (count->turn < 0)
		return count->turn;
	count->stats = make_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, STATS);
	return count->stats < 0 ? count->stats : make_cpus(count);
}

int bpf_count_open(struct bpf_count **ret, const struct bpf_count_options *options)
{
	struct bpf_count *count;
	uint32_t key_bytes = 0, first_bytes = 0;
	uint32_t frames = 0;
	int err;

	for (uint32_t i = 0; i < options->keys_n && i < BPF_KEYS_MAX; i++) {
		const uint32_t size = bpf_key_bytes(&options->keys[i]);

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
	count->stats = count->cpus = count->waiting = -1;
	count->stacks[0] = count->stacks[1] = -1;
	count->value_cpus = bpf_value_cpus();
	err = count->value_cpus < 0
		      ? fail(-count->value_cpus, "can't find out how many CPUs there may be: %s",
			     strerror(-count->value_cpus))
		      : make_maps(count);
	if (frames)
		count->stacks_max =
			options->stacks_max ? options->stacks_max : STACKS_BYTES / (8 * frames);
	for (int i = 0; !err && frames && i < 2; i++) {
		count->stacks[i] =
			make_map(BPF_MAP_TYPE_STACK_TRACE, 4, 8 * frames, count->stacks_max);
		err = MIN(count->stacks[i], 0);
	}
	count->frames = frames;
	if (err < 0) {
		bpf_count_close(count);
		return err;
	}
	*ret = count;
	return 0;
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
	struct expr_bpf b = {0};
	char *log = NULL;
	int err = 0, program;

	if ((event->begins || event->ends) && count->waiting < 0) {
		count->waiting = make_map(BPF_MAP_TYPE_HASH, 8, 8 + count->first_bytes, PAIRS_MAX);
		if (count->waiting < 0)
			return count->waiting;
	}
	for (uint32_t i = 0; i < event->updates_n; i++)
		if (event->updates_n > BPF_UPDATES_MAX ||
		    event->updates[i].cell >= count->options.cells_n)
			return fail(EINVAL, "there is no number %u to count into",
				    event->updates[i].cell);
	err = bpf_count_program(count, event, &b);
	if (!err) {
		program = bpf_program_load(BPF_PROG_TYPE_TRACEPOINT, b.insns.v, b.insns.n, &log);
		if (program < 0) {
			debug("%s", log ? log : "no log");
			err = fail(-program,
				   "the kernel refuses a BPF program of %zu instructions: %s",
				   (size_t)b.insns.n, strerror(-program));
		} else {
			err = attach(count, event->id, program);
		}
	}
	free(log);
	expr_bpf_done(&b);
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
			cells[i] ^= bpf_cell_flip(&count->cells[i]);
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

// A table that is half full has no place for many that come: the other one goes on, emptied. Stacks of this one are known until then.
static void turn_stacks(struct bpf_count *count)
{
	const uint32_t which = TURN_STACKS, generation = count->generation + 1;
	const int stacks = count->stacks[generation & 1];
	uint32_t id, next;
	bool more;

	if (!count->stacks_max || count->stacks_seen.n < count->stacks_max / 2)
		return;
	for (more = bpf_map_next(stacks, NULL, &id) == 0; more; id = next) {
		more = bpf_map_next(stacks, &id, &next) == 0;
		bpf_map_remove(stacks, &id);
	}
	if (bpf_map_set(count->turn, &which, &generation) < 0)
		return;
	count->generation = generation;
	map_clear(&count->stacks_seen);
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
	turn_stacks(count);
	return MIN(result, 0);
}

size_t bpf_count_stack(struct bpf_count *count, uint64_t key, uint64_t ret[BPF_STACK_MAX])
{
	const uint32_t id = (uint32_t)key, generation = (uint32_t)(key >> 32);
	size_t n = 0;

	if ((int64_t)key < 0 || count->generation - generation > 1 ||
	    bpf_map_get(count->stacks[generation & 1], &id, ret) < 0)
		return 0;
	if (generation == count->generation)
		*map_at(&count->stacks_seen, id, NULL) = 1;
	while (n < count->frames && ret[n])
		n++;
	return n;
}

void bpf_count_waiting(const struct bpf_count *count,
		       void (*waits)(void *arg, uint64_t since_ns, const void *first_keys), void *arg)
{
	uint64_t value[1 + BPF_KEY_BYTES_MAX / 8] = {0}, key, next;
	bool more = count->waiting >= 0 && bpf_map_next(count->waiting, NULL, &key) == 0;

	for (; more; key = next) {
		if (bpf_map_get(count->waiting, &key, value) == 0)
			waits(arg, value[0], &value[1]);
		more = bpf_map_next(count->waiting, &key, &next) == 0;
	}
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
					.again = numbers[STAT_AGAIN],
					.missed = missed};
	return 0;
}
