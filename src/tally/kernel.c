// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel counts: the plan as programs, its rows as ours.
#include "base/err.h"
#include "base/log.h"
#include "expr/bpf.h"
#include "flow/event_fields.h"
#include "sys/cgroup.h"
#include "tally/private.h"

enum { COMM_BYTES = 24 }; // names of tasks have at most 15 bytes, wherever they lie

struct tally_kernel {
	struct bpf_count *count;
	VEC(struct expr *) exprs;
	struct bpf_key keys[BPF_KEYS_MAX];
	bool symbols[TALLY_KEYS];	     // the kernel has the address, its name is found here
	uint32_t keys_n, places[TALLY_KEYS]; // of our keys in the kernel's
	struct bpf_cell cells[BPF_CELLS_MAX];
	uint32_t cells_n, cell_at[TALLY_CELLS]; // of our cells; of DIST the first of four
	uint32_t hits_at;			// counts all
	bool no_place;				// the row at hand: for its stack
	uint64_t again_n;			// of bpf_count_stats, when it was read last
};

static uint32_t record_bytes(const struct event *event)
{
	const struct tp_field *fields;
	const size_t n = tracepoint_fields(event->tp, &fields);
	uint32_t end = 0;

	for (size_t i = 0; i < n; i++)
		end = MAX(end, (uint32_t)fields[i].offset + fields[i].size);
	return end;
}

// ---- the form of keys and cells

// "ksymbol(X)": X alone; NULL: it is no such text
static const char *symbol_of(struct tally *tally, const char *text)
{
	static const char function[] = "ksymbol(";
	const size_t n = strlen(text), skip = sizeof(function) - 1;

	if (!text_starts(text, function) || text[n - 1] != ')' ||
	    memchr(text + skip, ')', n - skip - 1))
		return NULL;
	return arena_fmt(&tally->arena, "(unsigned long)(%.*s)", (int)(n - skip - 1), text + skip);
}

// A constant size in which the text always has room, 0: there is none up to EXPR_BPF_TEXT_MAX.
static uint32_t text_size(const struct event *event, const char *text)
{
	const struct expr_fields fields = event_fields(event);
	const struct tp_field *field = event->tp ? tracepoint_field(event->tp, text) : NULL;
	struct expr *expr = NULL;
	uint32_t limit, size;

	if (!strcmp(text, TALLY_COMM) ||
	    (field && field->is_dynamic && text_ends(field->name, "comm")))
		return COMM_BYTES;
	if (expr_compile(&expr, text, &fields) < 0) {
		err_clear();
		return 0;
	}
	limit = expr_text_limit(expr);
	expr_free(expr);
	size = (limit + 8) / 8 * 8; // with a NUL
	return limit && size <= EXPR_BPF_TEXT_MAX ? size : 0;
}

// Events say the group of perf's hierarchy, programs that of version 2.
static bool groups_are_unified(void)
{
	struct cgroup_mount mount = {0};
	const int err = cgroup_find_ids(&mount, "");

	if (err < 0)
		err_clear();
	free(mount.path);
	return !err && mount.unified;
}

// The kernel's kind of a key; it must be the same for all events that say it.
static int key_of(struct tally *tally, struct tally_kernel *kernel, uint32_t k)
{
	static const enum bpf_key_kind kinds[] = {[TALLY_NUMBER] = BPF_KEY_NUMBER,
						  [TALLY_TEXT] = BPF_KEY_TEXT,
						  [TALLY_LOG2] = BPF_KEY_LOG2,
						  [TALLY_STACK] = BPF_KEY_STACK,
						  [TALLY_CGROUP] = BPF_KEY_CGROUP};
	const struct tally_key *key = &tally->keys[k];
	struct bpf_key *ret = &kernel->keys[k];
	bool met = false;

	if (key->kind == TALLY_CGROUP && !groups_are_unified())
		return fail(EOPNOTSUPP,
			    "programs in the kernel don't know groups of cgroup version 1");

	*ret = (struct bpf_key){.kind = kinds[key->kind], .unit = key->unit, .first = key->first};
	for (uint32_t i = 0; i < tally->options.events_n; i++) {
		const struct tally_event *event = &tally->options.events[i];
		const char *text = event->keys[k];
		uint32_t size = 0;
		bool symbol;

		if (key->first != (event->role == TALLY_FIRST))
			continue;
		if (!text)
			return fail(EOPNOTSUPP, "not all events have a name for their rows");
		ret->delay |= !strcmp(text, TALLY_DELAY);
		if (key->kind != TALLY_TEXT)
			continue;
		symbol = symbol_of(tally, text);
		size = symbol ? 0 : text_size(event->event, text);
		if (!symbol && !size)
			return fail(EOPNOTSUPP, "the length of the text %s is not known", text);
		if (met && (symbol != kernel->symbols[k] || size != ret->size))
			return fail(EOPNOTSUPP, "the events' keys or names are not of one kind");
		kernel->symbols[k] = symbol;
		ret->size = size;
		met = true;
	}
	if (kernel->symbols[k])
		ret->kind = BPF_KEY_NUMBER;
	return 0;
}

static int form_keys(struct tally *tally, struct tally_kernel *kernel)
{
	const uint32_t keys_n = tally->options.keys_n;
	uint32_t place = 0;
	int err = 0;

	kernel->keys_n = keys_n;
	for (uint32_t k = 0; !err && k < keys_n; k++) {
		err = key_of(tally, kernel, k);
		kernel->places[k] = place;
		place += kernel->keys[k].size ? kernel->keys[k].size : 8;
	}
	for (uint32_t k = 0; !err && k < keys_n; k++)
		if (kernel->symbols[k] && !tally->ksymbol)
			err = expr_compile(&tally->ksymbol, "ksymbol(_time)", NULL);
	if (err || tally->dist == UINT32_MAX)
		return err;
	if (kernel->keys_n >= BPF_KEYS_MAX)
		return fail(EOPNOTSUPP, "the kernel counts by at most %d keys", BPF_KEYS_MAX);
	kernel->keys[kernel->keys_n++].kind = BPF_KEY_BUCKET;
	for (uint32_t i = 0; i < tally->options.events_n; i++) {
		const struct tally_event *event = &tally->options.events[i];

		for (uint32_t u = 0; u < event->updates_n; u++)
			kernel->keys[keys_n].delay |= event->updates[u].cell == tally->dist &&
						      !strcmp(event->updates[u].value, TALLY_DELAY);
	}
	return 0;
}

// Does each event add to just one cell of hits? Then these make up all hits.
static bool each_hits_one(const struct tally *tally)
{
	for (uint32_t i = 0; i < tally->options.events_n; i++) {
		const struct tally_event *event = &tally->options.events[i];
		uint32_t n = 0;

		for (uint32_t u = 0; u < event->updates_n; u++)
			n += tally->cells[event->updates[u].cell] == TALLY_HITS;
		if (n != 1 && event->role != TALLY_FIRST)
			return false;
	}
	return true;
}

static int form_cells(const struct tally *tally, struct tally_kernel *kernel)
{
	static const enum bpf_cell_kind kinds[] =
		{[TALLY_HITS] = BPF_CELL_HITS, [TALLY_SUM] = BPF_CELL_SUM, [TALLY_MIN] = BPF_CELL_MIN, [TALLY_MAX] = BPF_CELL_MAX};
	struct bpf_cell *cells = kernel->cells;
	uint32_t n = 0;

	for (uint32_t i = 0; i < tally->options.cells_n; i++) {
		if (tally->cells[i] == TALLY_OUTSTANDING || tally->cells[i] == TALLY_OLDEST)
			continue;
		if (n + (tally->cells[i] == TALLY_DIST ? 4 : 1) >= BPF_CELLS_MAX)
			return fail(EOPNOTSUPP, "the kernel counts into at most %d numbers",
				    BPF_CELLS_MAX - 1);
		kernel->cell_at[i] = n;
		if (tally->cells[i] == TALLY_DIST) {
			for (int kind = BPF_CELL_HITS; kind <= BPF_CELL_MAX; kind++)
				cells[n++].kind = kind;
			continue;
		}
		cells[n++] = (struct bpf_cell){kinds[tally->cells[i]], tally->cell_signed[i]};
	}
	kernel->hits_at = UINT32_MAX;
	if (tally->dist != UINT32_MAX) {
		kernel->hits_at = kernel->cell_at[tally->dist];
	} else if (!each_hits_one(tally)) {
		kernel->hits_at = n;
		cells[n++].kind = BPF_CELL_HITS;
	}
	kernel->cells_n = n;
	return 0;
}

// ---- programs

struct adding {
	struct tally *tally;
	struct tally_kernel *kernel;
	const struct tally_event *plan;
	struct bpf_count_event event;
	const char *filter; // of tally_filter
};

static int compile(struct adding *adding, const char *text, const struct expr **ret)
{
	const struct expr_fields fields = event_fields(adding->plan->event);
	struct expr *expr = NULL;
	int err = expr_compile(&expr, text, &fields);

	if (err < 0)
		return err;
	vec_push(&adding->kernel->exprs, expr);
	*ret = expr;
	return 0;
}

static int compile_filter(struct adding *adding)
{
	const struct expr_fields fields = event_fields(adding->plan->event);
	const char *a = adding->plan->filter, *b = adding->filter;
	struct expr *expr = NULL;
	const char *text = a && *a && b && *b
				   ? arena_fmt(&adding->tally->arena, "(%s) && (%s)", a, b)
			   : b && *b ? b
				     : a;
	int err;

	if (!text || !*text)
		return 0;
	err = expr_filter_compile(&expr, text, &fields);
	if (err < 0)
		return err;
	vec_push(&adding->kernel->exprs, expr);
	adding->event.filter = expr;
	return 0;
}

static int compile_keys(struct adding *adding)
{
	struct tally *tally = adding->tally;
	const struct tally_event *plan = adding->plan;
	int err = 0;

	for (uint32_t k = 0; !err && k < tally->options.keys_n; k++) {
		const struct tally_key *key = &tally->keys[k];
		const char *text = plan->keys[k];

		if (key->first != (plan->role == TALLY_FIRST) || key->kind == TALLY_STACK ||
		    key->kind == TALLY_CGROUP || adding->kernel->keys[k].delay)
			continue;
		err = compile(adding, adding->kernel->symbols[k] ? symbol_of(tally, text) : text,
			      &adding->event.keys[k]);
	}
	return err;
}

static int add_update(struct adding *adding, uint32_t cell, const char *value)
{
	struct bpf_count_event *event = &adding->event;
	struct bpf_update *update = &event->updates[event->updates_n];

	if (event->updates_n == BPF_UPDATES_MAX)
		return fail(EOPNOTSUPP, "the kernel adds to at most %d numbers at a time",
			    BPF_UPDATES_MAX);
	event->updates_n++;
	update->cell = cell;
	update->delay = value && !strcmp(value, TALLY_DELAY);
	return value && !update->delay ? compile(adding, value, &update->value) : 0;
}

static int add_updates(struct adding *adding)
{
	const struct tally *tally = adding->tally;
	const struct tally_kernel *kernel = adding->kernel;
	int err = 0;

	for (uint32_t i = 0; !err && i < adding->plan->updates_n; i++) {
		const struct tally_update *update = &adding->plan->updates[i];
		const uint32_t at = kernel->cell_at[update->cell];

		if (update->cell != tally->dist) {
			err = add_update(adding, at, update->value);
			continue;
		}
		if (strcmp(update->value, TALLY_DELAY))
			err = compile(adding, update->value, &adding->event.keys[kernel->keys_n - 1]);
		if (!err)
			err = add_update(adding, at, NULL);
		for (uint32_t k = 1; !err && k < 4; k++)
			err = add_update(adding, at + k, update->value);
	}
	if (!err && tally->dist == UINT32_MAX && kernel->hits_at != UINT32_MAX)
		err = add_update(adding, kernel->hits_at, NULL);
	return err;
}

static int add_event(struct adding *adding)
{
	const struct tally_event *plan = adding->plan;
	const struct event *event = plan->event;
	int err;

	if (!event->tp || event->attr.type != PERF_TYPE_TRACEPOINT)
		return fail(EOPNOTSUPP, "not all events are tracepoints");
	adding->event = (struct bpf_count_event){.id = (uint32_t)event->attr.config,
						 .record_bytes = record_bytes(event),
						 .not_self = plan->not_self,
						 .begins = plan->role == TALLY_FIRST,
						 .ends = plan->role == TALLY_SECOND,
						 .keeps = plan->keeps,
						 .only_first_n = plan->only_first_n};
	memcpy(adding->event.only_first, plan->only_first, sizeof(plan->only_first));
	err = compile_filter(adding);
	if (!err && plan->role != TALLY_ALONE)
		err = compile(adding, plan->pair, &adding->event.pair);
	if (!err)
		err = compile_keys(adding);
	if (!err && plan->role != TALLY_FIRST)
		err = add_updates(adding);
	return err < 0 ? err : bpf_count_add(adding->kernel->count, &adding->event);
}

static void discard(struct tally_kernel *kernel)
{
	bpf_count_close(kernel->count);
	vec_each(struct expr *, expr, &kernel->exprs)
		expr_free(*expr);
	vec_done(&kernel->exprs);
	free(kernel);
}

int tally_kernel_open(struct tally *tally, struct tally_kernel **ret, const char *filter)
{
	struct tally_kernel *kernel = NEW(struct tally_kernel);
	const struct tally_options *options = &tally->options;
	int err = form_keys(tally, kernel);

	if (!err)
		err = form_cells(tally, kernel);
	const struct bpf_count_options count = {.keys = kernel->keys,
						.keys_n = kernel->keys_n,
						.cells = kernel->cells,
						.cells_n = kernel->cells_n,
						.rows_max = options->rows_max,
						.cpus = options->cpus,
						.cpus_n = options->cpus_n};
	if (!err)
		err = bpf_count_open(&kernel->count, &count);
	for (uint32_t i = 0; !err && i < options->events_n; i++) {
		struct adding adding = {.tally = tally,
					.kernel = kernel,
					.plan = &options->events[i],
					.filter = filter};

		err = add_event(&adding);
	}
	if (err < 0) {
		discard(kernel);
		return err;
	}
	*ret = kernel;
	return 0;
}

static void tell_stats(const struct tally_kernel *kernel, const char *name)
{
	struct bpf_count_stats stats;

	if (bpf_count_stats(kernel->count, &stats) < 0)
		return;
	if (stats.failed)
		say("%s: for %llu events the expressions failed; they are not counted", name,
		    (unsigned long long)stats.failed);
	if (stats.full)
		say("%s: %llu events are not counted: there were more keys than the kernel's table has places",
		    name, (unsigned long long)stats.full);
	if (stats.waits_full)
		say("%s: %llu first events are not counted: more waited for their second than the kernel's table has places",
		    name, (unsigned long long)stats.waits_full);
	if (stats.backward)
		say("%s: %llu pairs ran backward in time; they are no delays and are left out",
		    name, (unsigned long long)stats.backward);
	if (stats.missed && stats.missed != UINT64_MAX)
		say("%s: the kernel left out %llu events that came while it was counting others",
		    name, (unsigned long long)stats.missed);
}

void tally_kernel_close(struct tally_kernel *kernel, const char *name)
{
	if (!kernel)
		return;
	tell_stats(kernel, name);
	discard(kernel);
}

// ---- rows

static uint64_t name_of(struct tally *tally, uint64_t address)
{
	uint64_t context[EXPR_CONTEXTS] = {[EXPR_TIME] = address};
	const struct expr_record record = {"", 0, context};
	struct expr_value value = {0};

	expr_run(tally->options.machine, tally->ksymbol, &record, &value);
	return tally_text_key(tally, value.text);
}

static uint64_t take_key(struct tally *tally, uint32_t k, const uint8_t *p)
{
	struct tally_kernel *kernel = tally->kernel;
	uint64_t number, stack[BPF_STACK_MAX];
	size_t n;

	if (kernel->keys[k].kind == BPF_KEY_TEXT)
		return tally_text_key(tally, str_of((const char *)p));
	memcpy(&number, p, sizeof(number));
	if (kernel->symbols[k])
		return name_of(tally, number);
	if (tally->keys[k].kind != TALLY_STACK)
		return number;
	n = bpf_count_stack(kernel->count, number, stack);
	kernel->no_place |= !n && ((int64_t)number >= 0 || (int32_t)number == -EEXIST);
	return tally_stack_key(tally, stack, n);
}

// The number of the distribution is signed and below 0.
static bool is_negative(const struct tally *tally, const uint8_t *key)
{
	const struct tally_kernel *kernel = tally->kernel;
	uint64_t bucket;

	if (tally->dist == UINT32_MAX || kernel->keys[kernel->keys_n - 1].delay)
		return false;
	memcpy(&bucket, key, sizeof(bucket));
	if (bucket < expr_bucket((uint64_t)1 << 63))
		return false;
	for (uint32_t i = 0; i < tally->options.events_n; i++)
		for (uint32_t u = 0; u < tally->options.events[i].updates_n; u++)
			if (tally->options.events[i].updates[u].cell == tally->dist &&
			    tally->here[i].updates[u].value.is_signed)
				return true;
	return false;
}

static int take_row(void *arg, const void *key_, const uint64_t *cells)
{
	struct tally *tally = arg;
	struct tally_kernel *kernel = tally->kernel;
	const uint32_t keys_n = tally->options.keys_n, last = keys_n ? keys_n - 1 : 0;
	const uint8_t *key = key_, *behind = key;
	uint64_t keys[TALLY_KEYS] = {0}, hits = 0, *to;
	size_t row;

	if (keys_n)
		behind = key + kernel->places[last] +
			 (kernel->keys[last].size ? kernel->keys[last].size : 8);
	if (kernel->hits_at != UINT32_MAX)
		hits = cells[kernel->hits_at];
	for (uint32_t i = 0; kernel->hits_at == UINT32_MAX && i < tally->options.cells_n; i++)
		hits += tally->cells[i] == TALLY_HITS ? cells[kernel->cell_at[i]] : 0;
	if (is_negative(tally, behind)) {
		tally->stats.negative += hits;
		return 0;
	}
	kernel->no_place = false;
	for (uint32_t k = 0; k < keys_n; k++)
		keys[k] = take_key(tally, k, key + kernel->places[k]);
	tally->stats.no_stack += kernel->no_place ? hits : 0;
	row = tally_row(tally, keys);
	if (row == SIZE_MAX) {
		tally->stats.overflow += hits;
		return 0;
	}
	to = tally_cells_of(tally, row);
	for (uint32_t i = 0; i < tally->options.cells_n; i++) {
		const uint64_t *from = &cells[kernel->cell_at[i]];

		if (tally->cells[i] == TALLY_OUTSTANDING || tally->cells[i] == TALLY_OLDEST)
			continue;
		if (i == tally->dist)
			dist_add_part(&tally->row_dists.v[row],
				      &(struct dist_part){from[0], from[1], from[2], from[3]});
		else
			tally_merge(tally, i, &to[i], *from);
	}
	tally->stats.hits += hits;
	return 0;
}

struct waiting {
	struct tally *tally;
	tally_waits *waits;
	void *arg;
};

static void take_waiting(void *arg, uint64_t since_ns, const void *first)
{
	const struct waiting *waiting = arg;
	struct tally *tally = waiting->tally;
	const uint8_t *p = first;
	uint64_t keys[TALLY_KEYS] = {0};

	for (uint32_t i = 0; i < tally->first_n; i++) {
		const uint32_t k = tally->first[i];

		keys[k] = take_key(tally, k, p);
		p += tally->kernel->keys[k].size ? tally->kernel->keys[k].size : 8;
	}
	waiting->waits(waiting->arg, since_ns, keys);
}

void tally_kernel_waiting(struct tally *tally, tally_waits *waits, void *arg)
{
	bpf_count_waiting(tally->kernel->count, take_waiting, &(struct waiting){tally, waits, arg});
}

int tally_kernel_read(struct tally *tally)
{
	struct bpf_count_stats stats;
	int err = bpf_count_read(tally->kernel->count, take_row, tally);

	if (err < 0 || bpf_count_stats(tally->kernel->count, &stats) < 0)
		return err;
	tally->stats.again += stats.again - tally->kernel->again_n;
	tally->kernel->again_n = stats.again;
	return 0;
}
