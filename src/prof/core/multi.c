// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/multi.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "prof/core/delays.h"
#include "prof/core/heat.h"
#include "prof/core/pairing.h"
#include <stdio.h>

const struct opt multi_options[] = {
	PROF_TEXT('k', "key", PROF_AT(key), "EXPR", "the key of events that have none of their own"),
	PROF_DURATION(0, "than", offsetof(struct multi_options, than_ns), "TIME",
		      "show the two events of each delay above this; with each result also those still open (`Open)"),
	PROF_DURATION(0, "only-than", offsetof(struct multi_options, only_than_ns), "TIME",
		      "as --than, and a result only when there was one"),
	PROF_DURATION(0, "lower", offsetof(struct multi_options, lower_ns), "TIME",
		      "show the two events of each delay below this"),
	{.kind = OPT_CALL,
	 .name = "detail",
	 .arg = "WHAT",
	 .absent = "",
	 .call = multi_opt_detail,
	 .no_negation = true,
	 .help = "with --than: what happened between, too; -TIME and +TIME before and after, samecpu, samepid, sametid, samekey (of 1, 2 or both), hide<TIME: what no such gap is beside, but the first one and the largest gap"},
	PROF_FLAG(0, "perins", PROF_AT(perins), "each key by itself"),
	PROF_TEXT(0, "heatmap", PROF_AT(heatmap), "FILE",
		  "the delays over time go to FILE.lat and, as a picture, FILE.svg"),
	OPT_END,
};

enum { HISTORY_BYTES = 64 << 20, SMALL_HISTORY_BYTES = 4 << 20, MOST_ROWS = 1 << 18 };

// ---- options

static int detail_word(struct multi_detail *detail, struct str word)
{
	static const struct {
		const char *name;
		size_t flag;
	} flags[] = {
		{"samecpu", offsetof(struct multi_detail, same_cpu)},
		{"samepid", offsetof(struct multi_detail, same_pid)},
		{"sametid", offsetof(struct multi_detail, same_tid)},
		{"samekey", offsetof(struct multi_detail, same_key)},
		{"1", offsetof(struct multi_detail, only_first)},
		{"2", offsetof(struct multi_detail, only_second)},
	};
	struct str number = word;

	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		if (str_is(word, flags[i].name)) {
			*(bool *)((char *)detail + flags[i].flag) = true;
			return 0;
		}
	}
	if (str_starts(word, "hide<")) {
		number.p += 5;
		number.n -= 5;
		return num_parse_duration(number, 1, &detail->hide_ns);
	}
	if (word.n < 2 || (word.p[0] != '-' && word.p[0] != '+'))
		return -EINVAL;
	number.p++;
	number.n--;
	return num_parse_duration(number, 1,
				  word.p[0] == '-' ? &detail->before_ns : &detail->after_ns);
}

int multi_opt_detail(void *options, const struct opt *opt, const char *arg, bool negated)
{
	struct multi_detail *detail = &((struct multi_options *)options)->detail;
	struct str rest = str_of(arg);

	detail->on = true;
	while (rest.n) {
		struct str word = str_cut(&rest, ',');

		if (detail_word(detail, word))
			return fail(EINVAL,
				    "--detail: '%.*s' is none of -TIME, +TIME, hide<TIME, samecpu, samepid, sametid, samekey, 1, 2",
				    STR_FMT(word));
	}
	return 0;
}

// ---- setup

static int choose_impl(struct multi *multi)
{
	if (!multi->options->impl || !strcmp(multi->options->impl, "delay"))
		multi->impl = MULTI_DELAY;
	else if (!strcmp(multi->options->impl, "pair"))
		multi->impl = MULTI_PAIR;
	else
		return fail(EINVAL, "--impl %s: delay or pair", multi->options->impl);
	return 0;
}

// Events of tasks belong together by their thread, whatever else is asked for: it goes on on another CPU.
static bool is_by_thread(const struct prof *prof, const struct multi *multi)
{
	if (feed_has_tasks(prof->feed))
		return true;
	for (size_t i = 0; i < prof->events.n; i++) {
		const struct prof_event *event = prof->events.v[i];
		const char *key = prof_spec_attr(event->spec, "key");

		if (!multi->events[i].untraced && !(key && *key) && !prof_is_of_cpu(event))
			return true;
	}
	return false;
}

// Only what a CPU alone does comes in the order of time by itself.
static bool crosses_cpus(const struct prof *prof, const struct multi *multi)
{
	for (size_t i = 0; i < prof->events.n; i++) {
		const struct multi_event *m = &multi->events[i];

		if (!m->by_cpu && (!m->untraced || multi->options->detail.on))
			return true;
	}
	return multi->options->detail.on;
}

static int set_key(struct prof *prof, struct multi *multi, struct prof_event *event)
{
	struct multi_event *m = &multi->events[event->index];
	const char *text = prof_spec_attr(event->spec, "key"),
		   *role = prof_spec_attr(event->spec, "role");
	int err = 0;

	if (!text || !*text)
		text = prof->options->key;
	if (text) {
		err = prof_value_init(&m->key, prof, event, text);
		if (err && m->untraced && !prof_spec_attr(event->spec, "key"))
			err = 0; // -k is for those that take part
		else
			m->has_key = !err;
		if (!err && m->has_key && m->key.is_text)
			return fail(EINVAL, "key=%s of %s is a text; a key is a number", text,
				    event->feed->event->name);
		if (!multi->key_title)
			multi->key_title = text;
	}
	m->by_thread = !m->has_key && multi->default_thread;
	m->by_cpu = !m->has_key && !m->by_thread;
	if (!err && role && *role) {
		err = prof_value_init(&m->role, prof, event, role);
		m->has_role = !err;
	}
	return err;
}

static int check_stages(const struct prof *prof, const struct multi *multi)
{
	for (uint32_t stage = 0; stage < prof->stages; stage++) {
		bool takes_part = false;

		for (size_t i = 0; i < prof->events.n; i++)
			takes_part |= prof->events.v[i]->stage == stage && !multi->events[i].untraced;
		if (!takes_part)
			return fail(EINVAL,
				    "each -e needs an event that is not untraced; number %u has none",
				    stage + 1);
	}
	if (prof->stages < 2 && !multi->options->cycle)
		return fail(EINVAL, "a delay lies between two events: give -e twice, or --cycle");
	return 0;
}

int multi_setup(struct prof *prof, struct multi *multi)
{
	size_t n = prof->events.n;
	int err;

	multi->options = PROF_OPTIONS(struct multi_options, prof);
	multi->than_ns = multi->options->only_than_ns ? multi->options->only_than_ns
						      : multi->options->than_ns;
	err = choose_impl(multi);
	multi->events = xcalloc(n + 1, sizeof(*multi->events));
	multi->dists = xcalloc(n * n + 1, sizeof(*multi->dists));
	multi->over_n = xcalloc(n * n + 1, sizeof(*multi->over_n));
	multi->paired_n = xcalloc(n * n + 1, sizeof(*multi->paired_n));
	if (!err && multi->options->detail.on && !multi->than_ns && !multi->options->lower_ns)
		err = fail(EINVAL,
			   "--detail says what to show beside --than or --lower: give one of them");
	for (size_t i = 0; i < n; i++)
		multi->events[i].untraced = prof_spec_attr(prof->events.v[i]->spec, "untraced") ||
					    prof->events.v[i]->source;
	multi->default_thread = is_by_thread(prof, multi);
	for (size_t i = 0; i < n && !err; i++) {
		struct prof_event *event = prof->events.v[i];
		struct multi_event *m = &multi->events[i];

		m->trigger = prof_spec_attr(event->spec, "trigger") != NULL;
		m->begins =
			!m->untraced && (multi->options->cycle || event->stage + 1 < prof->stages);
		m->ends = !m->untraced && (multi->options->cycle || event->stage > 0);
		err = set_key(prof, multi, event);
	}
	if (!err)
		err = check_stages(prof, multi);
	if (err)
		return err;
	err = prof_heat_new(prof, "ns");
	if (err)
		return err;
	prof->ordered |= crosses_cpus(prof, multi);
	multi->keeps = multi->than_ns || multi->options->lower_ns;
	if (multi->keeps) {
		size_t size = multi->options->detail.on ? HISTORY_BYTES : SMALL_HISTORY_BYTES;

		while (prof->options->order_mem && size > prof->options->order_mem && size > 1 << 20)
			size /= 2;
		history_init(&multi->history, size);
	}
	multi->key_is_task = !multi->key_title ? multi->default_thread
					       : !strcmp(multi->key_title, "pid") ||
							 !strcmp(multi->key_title, "common_pid");
	if (!multi->key_title)
		multi->key_title = multi->default_thread ? "THREAD" : "CPU";
	return 0;
}

// ---- samples

static uint64_t key_of(const struct multi_event *m, const struct sample *sample)
{
	if (m->by_cpu)
		return sample->cpu;
	if (m->by_thread)
		return prof_thread_key(sample);
	return event_value_number(&m->key, sample);
}

struct multi_row *multi_row_of(struct multi *multi, uint64_t key, uint32_t pair)
{
	uint64_t hash = hash_mix(key, pair + 1);
	struct multi_row *row;

	// Another key with the same hash takes the next one.
	for (;; hash++) {
		row = map_find_ptr(&multi->by_key, hash);
		if (!row || (row->key == key && row->pair == pair))
			break;
	}
	if (row)
		return row;
	if (multi->rows.n >= MOST_ROWS)
		return NULL;
	row = arena_zalloc(&multi->arena, sizeof(*row));
	row->key = key;
	row->pair = pair;
	map_set_ptr(&multi->by_key, hash, row);
	vec_push(&multi->rows, row);
	return row;
}

// The event that ends a pair: which one, where it lies in the history.
struct second {
	uint32_t event;
	uint64_t at;
	const struct sample *sample;
};

// False: they are no pair.
static bool take_pair(struct prof *prof, const struct pair_slot *first, const struct second *second)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	const struct sample *sample = second->sample;
	uint32_t pair = (uint32_t)(first->event * prof->events.n + second->event);
	uint64_t delay;
	bool over;

	if (!prof_delay(prof, first->time_ns, sample->time, &delay))
		return false;
	over = multi->than_ns && delay > multi->than_ns;
	multi->paired_n[pair]++;
	prof_heat_add(prof, sample->time, delay);
	if (multi->impl == MULTI_PAIR)
		return true;
	if (prof->options->perins) {
		struct multi_row *row = multi_row_of(multi, first->key, pair);

		prof->no_place_n += !row;
		if (row) {
			dist_add(&row->dist, delay);
			row->over_n += over;
		}
	} else {
		dist_add(&multi->dists[pair], delay);
		multi->over_n[pair] += over;
	}
	if (over || (multi->options->lower_ns && delay < multi->options->lower_ns))
		multi_show(prof, multi, first, second->at);
	return true;
}

int multi_sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	struct multi_event *m = &multi->events[event->index];
	bool ends = m->ends, begins = m->begins, replaced;
	uint64_t key, at = 0;
	int err = 0;

	if (m->untraced && !multi->options->detail.on && !m->trigger)
		return 0;
	key = key_of(m, sample);
	if (m->has_role) {
		uint64_t role = event_value_number(&m->role, sample);

		begins &= (role & 1) != 0;
		ends &= (role & 2) != 0;
	}
	if (multi->keeps && (multi->options->detail.on || begins || ends))
		at = history_add(&multi->history, event->index, key, sample);
	if (multi->history.to - multi->kept_to > multi->history.size / 4)
		multi_keep_firsts(multi);
	if (ends) {
		struct pair_slot *first = pairs_find(&multi->waiting, key);

		// An event of the same place is no first to this one, but in a circle.
		if (first &&
		    (multi->options->cycle ||
		     prof->events.v[first->event]->stage + 1 == event->stage) &&
		    take_pair(prof, first, &(struct second){event->index, at, sample}))
			pairs_remove(&multi->waiting, first);
		else
			m->unpaired_n++;
	}
	if (begins) {
		struct pair_slot *slot = pairs_put(&multi->waiting, key, &replaced);

		if (replaced)
			multi->events[slot->event].unpaired_n++;
		slot->time_ns = sample->time;
		slot->event = event->index;
		slot->data = at;
	}
	if (multi->shown.n)
		multi_show_due(prof, multi, sample->time);
	if (m->trigger) {
		prof_put_time(prof, sample->time);
		out_char(prof->out, ' ');
		prof_put_event(prof, event, sample);
		err = multi_interval(prof, sample->time);
	}
	return err;
}

// What was lost may have been the second event of what waits, or a newer first.
void multi_lost(struct prof *prof, const struct run_loss *loss)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	bool by_cpu = loss->cpu != UINT32_MAX;
	struct pair_slot *slot;
	uint64_t dropped;

	for (size_t i = 0; i < prof->events.n; i++)
		by_cpu &= multi->events[i].by_cpu || multi->events[i].untraced;
	if (by_cpu) {
		slot = pairs_find(&multi->waiting, loss->cpu);
		dropped = slot != NULL;
		if (slot)
			pairs_remove(&multi->waiting, slot);
	} else {
		dropped = multi->waiting.n;
		pairs_clear(&multi->waiting);
	}
	multi->unknown_n += dropped;
	multi->unknown_all += dropped;
}

// ---- results

static void put_row(struct prof *prof, struct multi *multi, struct table *table,
		    const struct multi_row *row)
{
	size_t n = prof->events.n;
	uint64_t over = row->over_n;

	if (prof->options->perins) {
		char key[32];

		bool idle = multi->key_is_task && row->key >= PROF_IDLE_KEY;

		snprintf(key, sizeof(key), "%lld", idle ? 0 : (long long)row->key);
		table_text(table, key);
		if (idle)
			snprintf(key, sizeof(key), "swapper/%llu",
				 (unsigned long long)(row->key - PROF_IDLE_KEY));
		if (multi->key_is_task)
			table_text(table,
				   idle ? key : prof_comm(prof, UINT32_MAX, (uint32_t)row->key));
	}
	table_text(table, prof->events.v[row->pair / n]->label);
	table_text(table, prof->events.v[row->pair % n]->label);
	delays_cells(table, &row->dist);
	if (multi->than_ns)
		table_share(table, over, over * 100 / row->dist.n);
}

static void set_columns(struct prof *prof, struct multi *multi, struct table *table)
{
	table->rule = true;
	if (prof->options->perins) {
		table_column(table, (struct table_column){multi->key_title, "key", TABLE_TEXT, 3,
							  .left = true});
		if (multi->key_is_task)
			table_column(table, (struct table_column){"comm", "comm", TABLE_TEXT, 15,
								  .left = true});
	}
	table_column(table, (struct table_column){"start", "start", TABLE_TEXT});
	table_column(table, (struct table_column){"end", "end", TABLE_TEXT, .left = true,
						  .between = " => "});
	delays_columns(table);
	if (multi->than_ns)
		table_column(table, (struct table_column){"than(reqs)", "than", TABLE_SHARE, 15});
}

static int by_key_and_pair(const void *a, const void *b)
{
	const struct multi_row *x = *(struct multi_row *const *)a, *y = *(struct multi_row *const *)b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

static void show_delays(struct prof *prof, struct multi *multi, uint64_t now_ns)
{
	size_t n = prof->events.n;
	struct table table = {0};

	set_columns(prof, multi, &table);
	if (multi->rows.n)
		qsort(multi->rows.v, multi->rows.n, sizeof(*multi->rows.v), by_key_and_pair);
	for (size_t i = 0; i < multi->rows.n; i++) {
		if (multi->rows.v[i]->dist.n)
			put_row(prof, multi, &table, multi->rows.v[i]);
	}
	for (size_t i = 0; !prof->options->perins && i < n * n; i++) {
		struct multi_row row = {.pair = (uint32_t)i,
					.dist = multi->dists[i],
					.over_n = multi->over_n[i]};

		if (row.dist.n)
			put_row(prof, multi, &table, &row);
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
}

static void show_pairs(struct prof *prof, struct multi *multi, uint64_t now_ns)
{
	size_t n = prof->events.n;

	for (size_t i = 0; i < n; i++) {
		if (multi->events[i].untraced)
			continue;
		prof_put_time(prof, now_ns);
		out_printf(prof->out, " %s unpaired %llu\n", prof->events.v[i]->feed->event->name,
			   (unsigned long long)multi->events[i].unpaired_n);
	}
	for (size_t i = 0; i < n * n; i++) {
		if (!multi->paired_n[i])
			continue;
		prof_put_time(prof, now_ns);
		out_printf(prof->out, " %s %s paired %llu\n",
			   prof->events.v[i / n]->feed->event->name,
			   prof->events.v[i % n]->feed->event->name,
			   (unsigned long long)multi->paired_n[i]);
	}
}

static bool any_over(const struct prof *prof, const struct multi *multi)
{
	for (size_t i = 0; i < prof->events.n * prof->events.n; i++) {
		if (multi->over_n[i])
			return true;
	}
	for (size_t i = 0; i < multi->rows.n; i++) {
		if (multi->rows.v[i]->over_n)
			return true;
	}
	return false;
}

static void forget(struct prof *prof, struct multi *multi)
{
	size_t n = prof->events.n;

	for (size_t i = 0; i < n * n; i++) {
		dist_clear(&multi->dists[i]);
		multi->over_n[i] = multi->paired_n[i] = 0;
	}
	for (size_t i = 0; i < n; i++)
		multi->events[i].unpaired_n = 0;
	// Keys come and go: their rows are made anew.
	for (size_t i = 0; i < multi->rows.n; i++)
		dist_done(&multi->rows.v[i]->dist);
	vec_clear(&multi->rows);
	map_clear(&multi->by_key);
	arena_reset(&multi->arena);
	multi->unknown_n = 0;
}

static int put_result(struct prof *prof, uint64_t now_ns)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	int err = prof->tally ? multi_read_kernel(prof) : 0;

	if (err < 0)
		return err;
	prof_put_unknown(prof, now_ns, multi->unknown_n, "waits " PROF_LOST_WITHIN);
	if (multi->impl == MULTI_PAIR)
		show_pairs(prof, multi, now_ns);
	else if (!multi->options->only_than_ns || any_over(prof, multi))
		show_delays(prof, multi, now_ns);
	forget(prof, multi);
	return 0;
}

int multi_interval(struct prof *prof, uint64_t now_ns)
{
	multi_show_waiting(prof, PROF_STATE(struct multi, prof), now_ns);
	return put_result(prof, now_ns);
}

int multi_finish(struct prof *prof, uint64_t now_ns)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	struct pair_slot *slot;

	multi_show_due(prof, multi, UINT64_MAX);
	multi_show_waiting(prof, multi, now_ns);
	for (size_t i = 0; (slot = pairs_next(&multi->waiting, &i));)
		multi->events[slot->event].unpaired_n++;
	if (multi->waiting.aged_out_n)
		warn("%llu events waited too long for their second and were given up",
		     (unsigned long long)multi->waiting.aged_out_n);
	return put_result(prof, now_ns);
}

void multi_done(struct prof *prof)
{
	struct multi *multi = PROF_STATE(struct multi, prof);
	size_t n = prof->events.n;

	for (size_t i = 0; multi->events && i < n; i++) {
		event_value_done(&multi->events[i].key);
		event_value_done(&multi->events[i].role);
	}
	for (size_t i = 0; multi->dists && i < n * n; i++)
		dist_done(&multi->dists[i]);
	for (size_t i = 0; i < multi->rows.n; i++)
		dist_done(&multi->rows.v[i]->dist);
	vec_done(&multi->rows);
	map_done(&multi->by_key);
	pairs_done(&multi->waiting);
	history_done(&multi->history);
	multi_show_done(multi);
	multi_open_done(multi);
	arena_done(&multi->arena);
	free(multi->events);
	free(multi->dists);
	free(multi->over_n);
	free(multi->paired_n);
}
