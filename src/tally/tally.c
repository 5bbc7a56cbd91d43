// SPDX-License-Identifier: GPL-2.0-or-later
// The rows; who counts.
//
// tally takes keys and cells of rows as texts of expressions, and decides whether the kernel counts (tally/kernel) or sonde
// (tally/here): the profilers that count say what, once, and read rows. A key may be what the first event of a pair said, a
// name that only labels its row, or a call stack; a cell may be a whole distribution, which in the kernel is a bucket beside
// the key.
#include "tally/tally.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "tally/private.h"
#include <stdlib.h>

static bool is_waiting(enum tally_cell_kind cell)
{
	return cell == TALLY_OUTSTANDING || cell == TALLY_OLDEST;
}

static void learn_plan(struct tally *tally)
{
	const struct tally_options *options = &tally->options;

	tally->dist = UINT32_MAX;
	for (uint32_t i = 0; i < options->keys_n; i++) {
		if (tally->keys[i].first)
			tally->first[tally->first_n++] = (uint8_t)i;
		tally->labels |= tally->keys[i].label;
		if (tally->keys[i].label)
			continue;
		tally->told_n++;
		tally->told = i;
	}
	for (uint32_t i = 0; i < options->cells_n; i++) {
		if (tally->cells[i] == TALLY_DIST)
			tally->dist = i;
		tally->tells_waiting |= is_waiting(tally->cells[i]);
	}
}

// What waits has only said its keys.
static int check_waiting(const struct tally *tally)
{
	for (uint32_t k = 0; tally->tells_waiting && k < tally->options.keys_n; k++)
		if (!tally->keys[k].first && !tally->keys[k].label)
			return fail(EINVAL,
				    "%s tells rows apart by what is only known of what waits no more",
				    tally->options.name);
	return 0;
}

static int count_in_kernel(struct tally *tally)
{
	const struct tally_options *options = &tally->options;
	int err = 0;

	if (!options->not_in_kernel)
		err = tally_kernel_open(tally, &tally->kernel, NULL);
	if (options->not_in_kernel || err < 0)
		inform("%s counts in sonde, not in the kernel: %s", options->name,
		       options->not_in_kernel ? options->not_in_kernel : err_sentence());
	else
		inform("%s counts in the kernel", options->name);
	if (err < 0)
		err_clear();
	return !tally->kernel && options->kernel_or_none ? -EOPNOTSUPP : 0;
}

int tally_open(struct tally **ret, const struct tally_options *options)
{
	struct tally *tally;
	int err;

	if (options->keys_n > TALLY_KEYS || options->cells_n > TALLY_CELLS)
		return fail(EINVAL, "more than %d keys or %d numbers", TALLY_KEYS, TALLY_CELLS);
	tally = NEW(struct tally);
	tally->options = *options;
	if (options->keys_n)
		memcpy(tally->keys, options->keys, options->keys_n * sizeof(*options->keys));
	memcpy(tally->cells, options->cells, options->cells_n * sizeof(*options->cells));
	tally->options.keys = tally->keys;
	tally->options.cells = tally->cells;
	intern_init(&tally->texts);
	learn_plan(tally);
	err = check_waiting(tally);
	if (!err)
		err = tally_here_open(tally);
	if (!err)
		err = count_in_kernel(tally);
	if (err < 0) {
		tally_close(tally);
		return err;
	}
	*ret = tally;
	return 0;
}

void tally_close(struct tally *tally)
{
	if (!tally)
		return;
	tally_kernel_close(tally->kernel, tally->options.name);
	if (tally->waiting.aged_out_n)
		warn("%s: %llu first events are not counted: more waited for their second than there are places",
		     tally->options.name, (unsigned long long)tally->waiting.aged_out_n);
	tally_here_done(tally);
	expr_free(tally->ksymbol);
	map_done(&tally->by_keys);
	vec_done(&tally->row_keys);
	vec_done(&tally->row_cells);
	vec_each(struct dist, dist, &tally->row_dists)
		dist_done(dist);
	vec_done(&tally->row_dists);
	intern_done(&tally->texts);
	vec_done(&tally->first_keys);
	vec_done(&tally->first_unused);
	arena_done(&tally->arena);
	free(tally);
}

bool tally_in_kernel(const struct tally *tally)
{
	return tally->kernel;
}

bool tally_asks_symbols(const struct tally *tally)
{
	return tally->asks_symbols;
}

bool tally_asks_tasks(const struct tally *tally)
{
	return tally->asks_tasks;
}

int tally_filter(struct tally *tally, const char *text)
{
	struct tally_kernel *kernel = NULL;
	int err = tally_here_filter(tally, text);

	if (err || !tally->kernel)
		return err;
	// Counted in the kernel: its programs are made anew, with the filter inside. What they have counted stays.
	err = tally_kernel_read(tally);
	if (err < 0)
		return err;
	if (tally_kernel_open(tally, &kernel, text) < 0)
		return fail(EOPNOTSUPP, "the kernel can't filter so; start with --no-bpf");
	tally_kernel_close(tally->kernel, tally->options.name);
	tally->kernel = kernel;
	return 0;
}

// ---- rows

uint64_t tally_text_key(struct tally *tally, struct str text)
{
	uint32_t id;

	if (tally->texts.strings.n < TALLY_ROWS_MAX)
		return intern_str(&tally->texts, text);
	id = intern_lookup(&tally->texts, text);
	return id == UINT32_MAX ? TALLY_NO_TEXT : id;
}

uint64_t tally_stack_key(struct tally *tally, const uint64_t *frames, size_t n)
{
	const struct tally_options *options = &tally->options;
	uint64_t taken[TALLY_STACK_MAX];
	size_t taken_n = 0;

	for (size_t i = 0; i < n; i++)
		if (!options->skips_frame || !options->skips_frame(options->skips_arg, frames[i]))
			taken[taken_n++] = frames[i];
	return tally_text_key(tally, (struct str){(const char *)taken, taken_n * sizeof(*taken)});
}

static size_t new_row(struct tally *tally, const uint64_t *keys)
{
	const struct tally_options *options = &tally->options;
	uint64_t *cells;

	vec_reserve(&tally->row_keys, options->keys_n);
	memcpy(tally->row_keys.v + tally->row_keys.n, keys, options->keys_n * sizeof(*keys));
	tally->row_keys.n += options->keys_n;
	vec_reserve(&tally->row_cells, options->cells_n);
	cells = tally->row_cells.v + tally->row_cells.n;
	tally->row_cells.n += options->cells_n;
	for (uint32_t i = 0; i < options->cells_n; i++) {
		const uint64_t sign = tally->cell_signed[i] ? (uint64_t)1 << 63 : 0;

		cells[i] = tally->cells[i] == TALLY_MIN	     ? ~sign
			   : tally->cells[i] == TALLY_MAX    ? sign
			   : tally->cells[i] == TALLY_OLDEST ? UINT64_MAX
							     : 0;
	}
	if (tally->dist != UINT32_MAX && tally->row_dists.n <= tally->rows_n)
		vec_push(&tally->row_dists, (struct dist){0});
	return tally->rows_n++;
}

static bool has_all_texts(const struct tally *tally, const uint64_t *keys)
{
	for (uint32_t i = 0; i < tally->options.keys_n; i++)
		if (keys[i] == TALLY_NO_TEXT && !tally->keys[i].label &&
		    (tally->keys[i].kind == TALLY_TEXT || tally->keys[i].kind == TALLY_STACK))
			return false;
	return true;
}

static uint64_t hash_of(const struct tally *tally, const uint64_t *keys)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < tally->options.keys_n; i++)
		if (!tally->keys[i].label)
			hash = hash_mix(hash, keys[i]);
	return hash;
}

size_t tally_row(struct tally *tally, const uint64_t keys[TALLY_KEYS])
{
	const bool is_one = tally->told_n == 1;
	uint64_t hash = is_one ? keys[tally->told] : hash_of(tally, keys), *at;
	bool is_new;

	if (!has_all_texts(tally, keys))
		return SIZE_MAX;
	for (;; hash++) { // other keys may have the same hash
		at = map_at(&tally->by_keys, hash, &is_new);
		if (is_new || is_one || tally_is_row(tally, *at, keys))
			break;
	}
	if (is_new) {
		if (tally->rows_n >= TALLY_ROWS_MAX) {
			map_remove(&tally->by_keys, hash);
			return SIZE_MAX;
		}
		*at = new_row(tally, keys);
	}
	return *at;
}

static void forget_outstanding(struct tally *tally)
{
	for (size_t row = 0; row < tally->rows_n; row++)
		for (uint32_t i = 0; i < tally->options.cells_n; i++)
			if (is_waiting(tally->cells[i]))
				tally_cells_of(tally, row)[i] =
					tally->cells[i] == TALLY_OLDEST ? UINT64_MAX : 0;
}

static void add_outstanding(void *arg, uint64_t since_ns, const uint64_t keys[TALLY_KEYS])
{
	struct tally *tally = arg;
	const size_t row = tally_row(tally, keys);
	uint64_t *cells;

	if (row == SIZE_MAX) {
		tally->stats.overflow++;
		return;
	}
	cells = tally_cells_of(tally, row);
	for (uint32_t i = 0; i < tally->options.cells_n; i++) {
		if (tally->cells[i] == TALLY_OUTSTANDING)
			cells[i]++;
		else if (tally->cells[i] == TALLY_OLDEST)
			cells[i] = MIN(cells[i], since_ns);
	}
}

int tally_read(struct tally *tally)
{
	int err = tally->kernel ? tally_kernel_read(tally) : 0;

	if (err < 0 || !tally->tells_waiting)
		return err;
	forget_outstanding(tally);
	tally_each_waiting(tally, add_outstanding, tally);
	return 0;
}

void tally_each_waiting(struct tally *tally, tally_waits *waits, void *arg)
{
	if (tally->kernel)
		tally_kernel_waiting(tally, waits, arg);
	else
		tally_here_waiting(tally, waits, arg);
}

void tally_clear(struct tally *tally)
{
	struct intern old = tally->texts;

	map_clear(&tally->by_keys);
	vec_clear(&tally->row_keys);
	vec_clear(&tally->row_cells);
	for (size_t i = 0; i < tally->row_dists.n; i++)
		dist_clear(&tally->row_dists.v[i]);
	tally->rows_n = 0;
	tally->stats = (struct tally_stats){0};
	// Names of tasks that are gone are not kept for ever.
	if (old.strings.n <= TALLY_ROWS_MAX / 2)
		return;
	intern_init(&tally->texts);
	tally_here_renew(tally, &old);
	intern_done(&old);
}

size_t tally_rows(const struct tally *tally)
{
	return tally->rows_n;
}

uint64_t tally_number(const struct tally *tally, size_t row, uint32_t key)
{
	return tally->row_keys.v[row * tally->options.keys_n + key];
}

const char *tally_text(const struct tally *tally, size_t row, uint32_t key)
{
	return intern_get(&tally->texts, (uint32_t)tally_number(tally, row, key));
}

size_t tally_stack(const struct tally *tally, size_t row, uint32_t key, const uint64_t **ret)
{
	const struct str bytes = tally->texts.strings.v[tally_number(tally, row, key)];

	*ret = (const uint64_t *)(const void *)bytes.p;
	return bytes.n / sizeof(**ret);
}

uint64_t tally_cell(const struct tally *tally, size_t row, uint32_t cell)
{
	return tally_cells_of(tally, row)[cell];
}

uint64_t *tally_cell_at(struct tally *tally, size_t row, uint32_t cell)
{
	return &tally_cells_of(tally, row)[cell];
}

const struct dist *tally_dist(const struct tally *tally, size_t row)
{
	return &tally->row_dists.v[row];
}

bool tally_key_is_signed(const struct tally *tally, uint32_t key)
{
	return tally->key_signed[key];
}

bool tally_cell_is_signed(const struct tally *tally, uint32_t cell)
{
	return tally->cell_signed[cell];
}

struct tally_stats tally_stats(const struct tally *tally)
{
	return tally->stats;
}

uint64_t tally_take_backward(struct tally *tally)
{
	const uint64_t n = tally->backward_n;

	tally->backward_n = 0;
	return n;
}

// ---- order

struct sorting {
	const struct tally *tally;
	const struct tally_order *order;
	size_t n;
};

static int compare(uint64_t a, uint64_t b, bool is_signed)
{
	const uint64_t flip = is_signed ? (uint64_t)1 << 63 : 0;

	a ^= flip;
	b ^= flip;
	return a < b ? -1 : a > b;
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct sorting *sorting = arg;
	const struct tally *tally = sorting->tally;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int result = 0;

	for (size_t i = 0; !result && i < sorting->n; i++) {
		const uint32_t at = sorting->order[i].at;

		if (!sorting->order[i].is_key)
			result = compare(tally_cell(tally, y, at), tally_cell(tally, x, at),
					 tally->cell_signed[at]);
		else if (tally->keys[at].kind == TALLY_TEXT)
			result = strcmp(tally_text(tally, x, at), tally_text(tally, y, at));
		else
			result = compare(tally_number(tally, x, at), tally_number(tally, y, at),
					 tally->key_signed[at]);
	}
	return result ? result : x < y ? -1 : x > y;
}

void tally_sort(const struct tally *tally, const struct tally_order *order, size_t n, uint32_t *ret)
{
	struct sorting sorting = {tally, order, n};

	for (uint32_t i = 0; i < tally->rows_n; i++)
		ret[i] = i;
	if (tally->rows_n)
		qsort_r(ret, tally->rows_n, sizeof(*ret), compare_rows, &sorting);
}
