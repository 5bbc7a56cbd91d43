// SPDX-License-Identifier: GPL-2.0-or-later
// Counting by hits that come out of the kernel.
#include "base/err.h"
#include "base/log.h"
#include "flow/event_fields.h"
#include "tally/private.h"

enum { FIRST_PLACE = 1u << 31 }; // pair_slot.event: of its keys; else it is the only key itself

// ---- the plan

static int open_value(struct tally *tally, const struct tally_event *event, const char *text,
		      struct tally_value *ret)
{
	int err = 0;

	if (!text)
		return 0;
	ret->has = true;
	ret->kind = !strcmp(text, TALLY_DELAY) ? TALLY_OF_DELAY : TALLY_OF_EVENT;
	ret->is_comm = !strcmp(text, TALLY_COMM) && tally->options.comm;
	tally->asks_tasks |= ret->is_comm;
	if (ret->kind == TALLY_OF_EVENT && !ret->is_comm)
		err = event_value_init(&ret->value, tally->options.machine, event->event, text);
	if (err || !ret->value.expr)
		return err;
	tally->asks_symbols |= expr_asks_symbols(ret->value.expr);
	tally->asks_tasks |= expr_asks_tasks(ret->value.expr);
	return 0;
}

static int open_key(struct tally *tally, const struct tally_event *event, struct tally_here *here,
		    uint32_t k)
{
	const struct tally_key *key = &tally->keys[k];
	struct tally_value *value = &here->keys[k];
	const char *text = event->keys[k];
	bool is_text;
	int err;

	if (key->first != (event->role == TALLY_FIRST))
		return 0;
	if (key->kind == TALLY_STACK || key->kind == TALLY_CGROUP) {
		value->has = true;
		return 0;
	}
	err = open_value(tally, event, text, value);
	if (err || !text)
		return err;
	is_text = value->is_comm || value->value.is_text;
	if (is_text != (key->kind == TALLY_TEXT))
		return fail(EINVAL, "%s of %s is %s", text, event->event->name,
			    is_text ? "a text" : "no text");
	tally->key_signed[k] |= key->kind == TALLY_NUMBER && value->value.is_signed;
	return 0;
}

static void learn_keys(const struct tally *tally, struct tally_here *here)
{
	for (uint32_t k = 0; k < tally->options.keys_n; k++)
		if (tally->keys[k].first == (here->role == TALLY_FIRST) &&
		    (tally->keys[k].first || !tally->keys[k].label))
			here->own[here->own_n++] = (uint8_t)k;
}

// Once it is known of all events which cells are signed.
static void learn_steps(const struct tally *tally, const struct tally_event *event,
			struct tally_here *here)
{
	here->steps_n = event->updates_n;
	here->steps = xcalloc(here->steps_n + 1, sizeof(*here->steps));
	for (uint32_t i = 0; i < here->steps_n; i++) {
		const struct tally_update *update = &event->updates[i], *before = update - 1;

		here->steps[i] = (struct tally_step){
			.kind = tally->cells[update->cell],
			.cell = update->cell,
			.flip = tally->cell_signed[update->cell] ? (uint64_t)1 << 63 : 0,
			.same = i && update->value && before->value &&
				!strcmp(update->value, before->value),
			.value = update->value ? &here->updates[i] : NULL,
		};
	}
}

static int open_update(struct tally *tally, const struct tally_event *event,
		       const struct tally_update *update, struct tally_value *ret)
{
	const enum tally_cell_kind cell = tally->cells[update->cell];
	int err = open_value(tally, event, update->value, ret);

	if (!err && ret->value.is_text)
		err = fail(EINVAL, "%s of %s is a text: texts don't add up", update->value,
			   event->event->name);
	if (!err && cell != TALLY_HITS && cell != TALLY_DIST)
		tally->cell_signed[update->cell] |= ret->value.is_signed;
	return err;
}

static int open_event(struct tally *tally, const struct tally_event *event, struct tally_here *here)
{
	int err = event->role != TALLY_ALONE ? open_value(tally, event, event->pair, &here->pair) : 0;

	here->role = event->role;
	here->keeps = event->keeps;
	here->only_first = event->only_first;
	here->only_first_n = event->only_first_n;
	learn_keys(tally, here);
	here->updates = xcalloc(event->updates_n + 1, sizeof(*here->updates));
	for (uint32_t k = 0; !err && k < tally->options.keys_n; k++)
		err = open_key(tally, event, here, k);
	for (uint32_t i = 0; !err && i < event->updates_n; i++) {
		err = open_update(tally, event, &event->updates[i], &here->updates[i]);
		if (event->updates[i].cell == tally->dist)
			here->dist = &here->updates[i];
	}
	return err;
}

int tally_here_open(struct tally *tally)
{
	const struct tally_options *options = &tally->options;
	int err = 0;

	tally->here = xcalloc(options->events_n + 1, sizeof(*tally->here));
	for (uint32_t i = 0; !err && i < options->events_n; i++)
		err = open_event(tally, &options->events[i], &tally->here[i]);
	for (uint32_t i = 0; !err && i < options->events_n; i++)
		learn_steps(tally, &options->events[i], &tally->here[i]);
	return err;
}

void tally_here_done(struct tally *tally)
{
	for (uint32_t i = 0; tally->here && i < tally->options.events_n; i++) {
		struct tally_here *here = &tally->here[i];

		for (uint32_t k = 0; k < TALLY_KEYS; k++)
			event_value_done(&here->keys[k].value);
		for (uint32_t k = 0; here->updates && k < tally->options.events[i].updates_n; k++)
			event_value_done(&here->updates[k].value);
		event_value_done(&here->pair.value);
		expr_free(here->filter);
		free(here->updates);
		free(here->steps);
	}
	free(tally->here);
	pairs_done(&tally->waiting);
}

int tally_here_filter(struct tally *tally, const char *text)
{
	const uint32_t n = tally->options.events_n;
	auto_free struct expr **exprs = xcalloc(n + 1, sizeof(struct expr *));
	int err = 0;

	for (uint32_t i = 0; i < n && !err && *text; i++) {
		const struct expr_fields fields = event_fields(tally->options.events[i].event);

		err = expr_filter_compile(&exprs[i], text, &fields);
		if (err == -EOPNOTSUPP)
			err = fail(EOPNOTSUPP, "only the kernel can filter so; give it with -e");
	}
	for (uint32_t i = 0; i < n; i++) {
		if (err) {
			expr_free(exprs[i]);
			continue;
		}
		expr_free(tally->here[i].filter);
		tally->here[i].filter = exprs[i];
	}
	return err;
}

// ---- hits

static uint64_t stack_of(struct tally *tally, const struct tally_key *key, const struct sample *sample)
{
	const uint32_t most = key->unit ? key->unit : TALLY_STACK_MAX;
	uint64_t kernel[TALLY_STACK_MAX];
	bool is_kernel = false;
	size_t n = 0;

	for (uint32_t i = 0; i < sample->callchain_n && n < most; i++) {
		if (sample->callchain[i] >= PERF_CONTEXT_MAX)
			is_kernel = sample->callchain[i] == PERF_CONTEXT_KERNEL;
		else if (is_kernel)
			kernel[n++] = sample->callchain[i];
	}
	return tally_stack_key(tally, kernel, n);
}

static uint64_t text_of(struct tally *tally, const struct tally_value *value,
			const struct sample *sample)
{
	if (!value->has)
		return 0;
	if (value->is_comm)
		return tally_text_key(tally, str_of(tally->options.comm(tally->options.arg, sample)));
	return tally_text_key(tally, event_value_text(&value->value, sample));
}

static inline uint64_t number_of(const struct tally_value *value, const struct sample *sample,
				 uint64_t delay_ns)
{
	return value->kind == TALLY_OF_DELAY ? delay_ns : event_value_number(&value->value, sample);
}

struct hit_source {
	const struct sample *sample;
	uint64_t delay_ns;
	const uint64_t *first; // keys of the first event
};

static inline uint64_t key_of(struct tally *tally, uint32_t k, const struct tally_value *value,
			      const struct hit_source *source)
{
	const struct tally_key *key = &tally->keys[k];

	if (key->kind == TALLY_NUMBER)
		return number_of(value, source->sample, source->delay_ns);
	switch (key->kind) {
	case TALLY_TEXT:
		return text_of(tally, value, source->sample);
	case TALLY_STACK:
		return stack_of(tally, key, source->sample);
	case TALLY_CGROUP:
		return source->sample->cgroup;
	default:
		return tally_log2(number_of(value, source->sample, source->delay_ns) /
				  MAX(key->unit, 1u));
	}
}

// ---- what waits

// What gave way to newer ones left its places.
static void find_unused(struct tally *tally)
{
	const uint32_t n = (uint32_t)(tally->first_keys.n / MAX(tally->first_n, 1));
	auto_free bool *used = xcalloc(n + 1, sizeof(*used));
	const struct pair_slot *slot;

	for (size_t i = 0; (slot = pairs_next(&tally->waiting, &i));)
		if (slot->event & FIRST_PLACE)
			used[slot->event & ~FIRST_PLACE] = true;
	vec_clear(&tally->first_unused);
	for (uint32_t i = 0; i < n; i++)
		if (!used[i])
			vec_push(&tally->first_unused, i);
	tally->first_aged_n = tally->waiting.aged_out_n;
}

static uint32_t new_place(struct tally *tally)
{
	const uint32_t n = tally->first_n;
	uint32_t place;

	if (tally->first_unused.n)
		return vec_pop(&tally->first_unused);
	place = (uint32_t)(tally->first_keys.n / n);
	vec_reserve(&tally->first_keys, n);
	tally->first_keys.n += n;
	return place;
}

static void leave_place(struct tally *tally, uint32_t packed)
{
	if (packed & FIRST_PLACE)
		vec_push(&tally->first_unused, packed & ~FIRST_PLACE);
}

static uint64_t *place_keys(const struct tally *tally, uint32_t packed)
{
	return &tally->first_keys.v[(size_t)(packed & ~FIRST_PLACE) * tally->first_n];
}

// The keys of a first event as one number.
static uint32_t pack_first(struct tally *tally, const struct tally_here *here,
			   const struct sample *sample)
{
	const struct hit_source source = {.sample = sample};
	const uint32_t n = here->own_n;
	uint64_t keys[TALLY_KEYS];
	uint32_t packed;

	for (uint32_t i = 0; i < n; i++)
		keys[i] = key_of(tally, here->own[i], &here->keys[here->own[i]], &source);
	if (n <= 1 && (!n || keys[0] < FIRST_PLACE))
		return n ? (uint32_t)keys[0] : 0;
	packed = FIRST_PLACE | new_place(tally);
	memcpy(place_keys(tally, packed), keys, n * sizeof(*keys));
	return packed;
}

static inline void unpack_first(const struct tally *tally, uint32_t packed, uint64_t ret[TALLY_KEYS])
{
	if (packed & FIRST_PLACE)
		memcpy(ret, place_keys(tally, packed), tally->first_n * sizeof(*ret));
	else
		ret[0] = packed;
}

uint64_t tally_waiting_key(const struct tally *tally, const struct pair_slot *slot)
{
	uint64_t keys[TALLY_KEYS];

	unpack_first(tally, slot->event, keys);
	return keys[0];
}

void tally_here_waiting(struct tally *tally, tally_waits *waits, void *arg)
{
	const struct pair_slot *slot;

	for (size_t i = 0; (slot = pairs_next(&tally->waiting, &i));) {
		uint64_t first[TALLY_KEYS], keys[TALLY_KEYS] = {0};

		unpack_first(tally, slot->event, first);
		for (uint32_t k = 0; k < tally->first_n; k++)
			keys[tally->first[k]] = first[k];
		waits(arg, slot->time_ns, keys);
	}
}

void tally_here_renew(struct tally *tally, const struct intern *old)
{
	struct pair_slot *slot;

	for (size_t i = 0; (slot = pairs_next(&tally->waiting, &i));) {
		for (uint32_t k = 0; k < tally->first_n; k++) {
			const enum tally_key_kind kind = tally->keys[tally->first[k]].kind;
			const bool has_place = slot->event & FIRST_PLACE;
			uint64_t *key = has_place ? place_keys(tally, slot->event) + k : NULL;
			const uint64_t id = key ? *key : slot->event;

			if ((kind != TALLY_TEXT && kind != TALLY_STACK) || id == TALLY_NO_TEXT)
				continue;
			const uint64_t renewed = tally_text_key(tally, old->strings.v[id]);

			if (key)
				*key = renewed;
			else
				slot->event = (uint32_t)renewed;
		}
	}
}

// ---- counting

static void set_labels(struct tally *tally, const struct tally_here *here, size_t row,
		       const struct sample *sample)
{
	uint64_t *labels = &tally->row_keys.v[row * tally->options.keys_n];

	for (uint32_t k = 0; k < tally->options.keys_n; k++)
		if (tally->keys[k].label && !tally->keys[k].first && !labels[k])
			labels[k] = text_of(tally, &here->keys[k], sample);
}

// Which row; SIZE_MAX: there is no place.
static inline size_t row_of(struct tally *tally, struct tally_here *here,
			    const struct hit_source *source)
{
	uint64_t keys[TALLY_KEYS] = {0};
	size_t row = here->last_row; // often it is the same again

	for (uint32_t i = 0; i < tally->first_n; i++)
		keys[tally->first[i]] = source->first[i];
	for (uint32_t i = 0; i < here->own_n; i++) {
		const uint32_t k = here->own[i];

		keys[k] = key_of(tally, k, &here->keys[k], source);
	}
	if (row >= tally->rows_n || !tally_is_row(tally, row, keys)) {
		row = tally_row(tally, keys);
		if (row == SIZE_MAX)
			return row;
		here->last_row = row;
	}
	if (tally->labels)
		set_labels(tally, here, row, source->sample);
	return row;
}

static inline void take_steps(struct tally *tally, const struct tally_here *here, size_t row,
			      const struct hit_source *source)
{
	uint64_t *cells = tally_cells_of(tally, row), number = 0;

	for (const struct tally_step *step = here->steps, *end = step + here->steps_n; step < end;
	     step++) {
		uint64_t *cell = &cells[step->cell];

		if (step->value && !step->same)
			number = number_of(step->value, source->sample, source->delay_ns);
		switch (step->kind) {
		case TALLY_HITS:
			++*cell;
			break;
		case TALLY_SUM:
			*cell += number;
			break;
		case TALLY_MIN:
			*cell = (number ^ step->flip) < (*cell ^ step->flip) ? number : *cell;
			break;
		case TALLY_MAX:
			*cell = (number ^ step->flip) > (*cell ^ step->flip) ? number : *cell;
			break;
		case TALLY_DIST:
			dist_add(&tally->row_dists.v[row], number);
			break;
		case TALLY_OUTSTANDING:
		case TALLY_OLDEST:
			break;
		}
	}
}

static inline enum tally_result count(struct tally *tally, struct tally_here *here,
				      struct tally_hit *hit, const struct hit_source *source)
{
	size_t row;

	if (here->dist && here->dist->value.is_signed &&
	    (int64_t)number_of(here->dist, source->sample, source->delay_ns) < 0) {
		tally->stats.negative++;
		return TALLY_LEFT_OUT;
	}
	row = row_of(tally, here, source);
	if (row == SIZE_MAX) {
		tally->stats.overflow++;
		return TALLY_LEFT_OUT;
	}
	take_steps(tally, here, row, source);
	tally->stats.hits++;
	hit->row = (uint32_t)row;
	return TALLY_COUNTED;
}

// Apart, so that each role costs what it needs.
#define ROLE static __attribute__((noinline)) enum tally_result

ROLE wait_for_second(struct tally *tally, const struct tally_here *here, struct tally_hit *hit,
		     const struct sample *sample)
{
	const uint64_t number = event_value_number(&here->pair.value, sample);
	struct pair_slot *slot;
	bool waits;

	slot = pairs_put(&tally->waiting, number, &waits);
	if (waits && here->keeps)
		return TALLY_WAITS;
	if (waits) {
		tally->stats.again++;
		leave_place(tally, slot->event);
	}
	slot->event = 0;
	if (tally->first_aged_n != tally->waiting.aged_out_n)
		find_unused(tally);
	slot->time_ns = sample->time;
	slot->event = pack_first(tally, here, sample);
	slot->data = hit->data;
	return TALLY_WAITS;
}

ROLE end_pair(struct tally *tally, struct tally_here *here, struct tally_hit *hit,
	      const struct sample *sample)
{
	struct pair_slot *slot =
		pairs_find(&tally->waiting, event_value_number(&here->pair.value, sample));
	uint64_t first[TALLY_KEYS];
	bool wanted = !here->only_first_n;

	if (!slot)
		return TALLY_LEFT_OUT;
	if (sample->time < slot->time_ns) {
		tally->backward_n++;
		return TALLY_LEFT_OUT;
	}
	hit->delay_ns = sample->time - slot->time_ns;
	hit->first_ns = slot->time_ns;
	hit->data = slot->data;
	unpack_first(tally, slot->event, first);
	leave_place(tally, slot->event);
	pairs_remove(&tally->waiting, slot);
	for (uint32_t i = 0; i < here->only_first_n; i++)
		wanted |= here->only_first[i] == first[0];
	if (!wanted)
		return TALLY_LEFT_OUT;
	return count(tally, here, hit, &(struct hit_source){sample, hit->delay_ns, first});
}

ROLE count_alone(struct tally *tally, struct tally_here *here, struct tally_hit *hit,
		 const struct sample *sample)
{
	return count(tally, here, hit, &(struct hit_source){.sample = sample});
}

static inline enum tally_result take(struct tally *tally, struct tally_here *here,
				     struct tally_hit *hit, const struct sample *sample)
{
	switch (here->role) {
	case TALLY_FIRST:
		return wait_for_second(tally, here, hit, sample);
	case TALLY_SECOND:
		return end_pair(tally, here, hit, sample);
	default:
		return count_alone(tally, here, hit, sample);
	}
}

ROLE filter(struct tally *tally, struct tally_here *here, struct tally_hit *hit,
	    const struct sample *sample)
{
	uint64_t context[EXPR_CONTEXTS];
	const struct expr_record record = event_record(sample, context);

	if (!expr_true(tally->options.machine, here->filter, &record))
		return TALLY_LEFT_OUT;
	return take(tally, here, hit, sample);
}

enum tally_result tally_hit(struct tally *tally, uint32_t event, const struct sample *sample,
			    struct tally_hit *hit)
{
	struct tally_here *here = &tally->here[event];

	if (here->filter)
		return filter(tally, here, hit, sample);
	return take(tally, here, hit, sample);
}

const struct pairs *tally_waiting(const struct tally *tally)
{
	return &tally->waiting;
}

uint64_t tally_forget_waiting(struct tally *tally)
{
	const uint64_t n = tally->waiting.n;

	pairs_clear(&tally->waiting);
	vec_clear(&tally->first_keys);
	vec_clear(&tally->first_unused);
	return n;
}
