// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/heatmap/pairs.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/nearest.h"

enum pair_kind { BY_KEY, RUN_QUEUE, OFF_CPU };
enum { PENDING_MAX = 1 << 20 };

#define BLOCK "Block I/O latency"
#define CALLS "Duration of system calls"

// Of the rows with a name (with these events) the first counts whose events are there.
static const struct known_pair {
	const char *name; // NULL: only known by the events
	const char *from, *to, *key, *title;
	enum pair_kind kind;
} known_pairs[] = {
	{"block", "block:block_rq_issue", "block:block_rq_complete", "dev,sector", BLOCK},
	{"block", "block:block_io_start", "block:block_io_done", "dev,sector", BLOCK},
	{"block-queue", "block:block_rq_insert", "block:block_rq_issue", "dev,sector",
	 "Block I/O wait for the device"},
	{NULL, "block:*", "block:*", "dev,sector", BLOCK},
	{"irq", "irq:irq_handler_entry", "irq:irq_handler_exit", "cpu,irq",
	 "Duration of interrupt handlers"},
	{"softirq", "irq:softirq_entry", "irq:softirq_exit", "cpu,vec", "Duration of soft interrupts"},
	{"syscall", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "tid,id", CALLS},
	{"syscall", "syscalls:sys_enter_*", "syscalls:sys_exit_*", "tid,__syscall_nr", CALLS},
	{"sched", "sched:sched_wakeup*", "sched:sched_switch", NULL, "Wait for a CPU", RUN_QUEUE},
	{"offcpu", "sched:sched_switch", "sched:sched_switch", NULL, "Time off CPU", OFF_CPU},
};

static uint64_t sample_cpu(const struct sample *sample)
{
	return sample->cpu;
}
static uint64_t sample_pid(const struct sample *sample)
{
	return sample->pid;
}
static uint64_t sample_tid(const struct sample *sample)
{
	return sample->tid;
}

static const struct {
	const char *name;
	uint64_t (*get)(const struct sample *sample);
} sample_keys[] = {{"cpu", sample_cpu}, {"pid", sample_pid}, {"tid", sample_tid}};

static bool is_there(const struct run *run, const char *wanted)
{
	for (size_t i = 0; i < run->recording->events.n; i++) {
		if (filter_event_name(run->recording->events.v[i]->name, wanted))
			return true;
	}
	return false;
}

const char *pairing_hint(const struct run *run)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_pairs); i++) {
		const struct known_pair *known = &known_pairs[i];

		if (known->name && is_there(run, known->from) && is_there(run, known->to))
			return known->name;
	}
	return NULL;
}

static int not_there(const struct run *run, const char *from, const char *to)
{
	const char *path = run->recording->path;
	bool has_from = is_there(run, from), has_to = is_there(run, to);
	bool same = strcmp(from, to) == 0;

	if (has_from && has_to)
		return 0;
	if (same || has_from || has_to)
		return fail(ENODATA,
			    "%s has no event %s, which the latency needs; record with: sonde record -a -e '%s%s%s'",
			    path, has_from ? to : from, from, same ? "" : ",", same ? "" : to);
	return fail(ENODATA,
		    "%s has neither event %s nor %s, which the latency needs; record with: sonde record -a -e '%s,%s'",
		    path, from, to, from, to);
}

static int no_such_latency(const char *name)
{
	const char *names[ARRAY_SIZE(known_pairs) + 1] = {NULL};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(known_pairs); i++) {
		const char *known = known_pairs[i].name;

		if (known && (!n || strcmp(names[n - 1], known) != 0))
			names[n++] = known;
	}
	const char *near = nearest(name, names);
	return near ? fail(EINVAL, "--latency: there is no '%s'; did you mean '%s'?", name, near)
		    : fail(EINVAL,
			   "--latency: there is no '%s'; use block, block-queue, irq, softirq, syscall, sched or offcpu, or "
			   "--from-event and --to-event for any two events",
			   name);
}

static int choose_by_name(struct pairing *pairing, const char *name, const struct run *run)
{
	const struct known_pair *known, *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(known_pairs); i++) {
		known = &known_pairs[i];
		if (!known->name || strcmp(known->name, name) != 0)
			continue;
		if (!first)
			first = known;
		if (is_there(run, known->from) && is_there(run, known->to)) {
			first = known;
			break;
		}
	}
	if (!first)
		return no_such_latency(name);
	pairing->known = first;
	pairing->from = text_dup_fmt("%s", first->from);
	pairing->to = text_dup_fmt("%s", first->to);
	return not_there(run, first->from, first->to);
}

// Have all events of that name the fields of the key?
static bool have_fields(const struct run *run, const char *events, const char *key)
{
	for (size_t i = 0; i < run->recording->events.n; i++) {
		const struct event *event = run->recording->events.v[i];
		struct str rest = str_of(key);

		while (filter_event_name(event->name, events) && rest.p) {
			char *name = str_dup(str_cut(&rest, ','));
			bool has = event->tp && tracepoint_field(event->tp, name);

			for (size_t j = 0; j < ARRAY_SIZE(sample_keys); j++)
				has |= strcmp(name, sample_keys[j].name) == 0;
			free(name);
			if (!has)
				return false;
		}
	}
	return true;
}

// from, to: NULL is any.
static const struct known_pair *find_by_events(const char *from, const char *to)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_pairs); i++) {
		const struct known_pair *known = &known_pairs[i];

		if (!(from && to) && !known->name)
			continue;
		if ((!from || filter_event_name(from, known->from)) &&
		    (!to || filter_event_name(to, known->to)))
			return known;
	}
	return NULL;
}

// The other event of a latency, where one is given alone; heap.
static char *partner_of(const char *event, const char *known, const char *known_other)
{
	size_t n = strcspn(known, "*");

	// sys_enter_NAME and sys_exit_NAME
	if (known[n] && strchr(known_other, '*') && strlen(event) > n)
		return text_dup_fmt("%.*s%s", (int)strcspn(known_other, "*"), known_other, event + n);
	return text_dup_fmt("%s", known_other);
}

static int choose_by_events(struct pairing *pairing, const struct point_options *options,
			    const struct run *run)
{
	const struct known_pair *known = find_by_events(options->from, options->to);

	if (!known && !(options->from && options->to))
		return fail(EINVAL, "which event %s %s? Give %s", options->from ? "ends" : "begins",
			    options->from ? options->from : options->to,
			    options->from ? "--to-event" : "--from-event");
	pairing->from = options->from ? text_dup_fmt("%s", options->from)
				      : partner_of(options->to, known->to, known->from);
	pairing->to = options->to ? text_dup_fmt("%s", options->to)
				  : partner_of(options->from, known->from, known->to);
	// A key that is given says all.
	if (known && !options->key &&
	    (!known->key || (have_fields(run, pairing->from, known->key) &&
			     have_fields(run, pairing->to, known->key))))
		pairing->known = known;
	return not_there(run, pairing->from, pairing->to);
}

int pairing_choose(struct pairing *ret, const struct point_options *options, const struct run *run)
{
	int err = options->latency ? choose_by_name(ret, options->latency, run)
				   : choose_by_events(ret, options, run);
	const char *key = options->key ? options->key : ret->known ? ret->known->key : NULL;

	if (err >= 0 && key)
		ret->key = text_dup_fmt("%s", key);
	return err;
}

void pairing_done(struct pairing *pairing)
{
	free(pairing->from);
	free(pairing->to);
	free(pairing->key);
	map_done(&pairing->pending);
	map_done(&pairing->running);
}

const char *pairing_title(const struct pairing *pairing)
{
	return pairing->known && pairing->known->name ? pairing->known->title : NULL;
}

static int find_key(const struct event *event, struct str text, struct pair_key *ret)
{
	auto_free char *name = str_dup(str_trim(text));

	ret->field = event->tp ? tracepoint_field(event->tp, name) : NULL;
	for (size_t i = 0; !ret->field && i < ARRAY_SIZE(sample_keys); i++) {
		if (strcmp(sample_keys[i].name, name) == 0)
			ret->of_sample = sample_keys[i].get;
	}
	return ret->field || ret->of_sample ? 0 : point_no_such_field(event, name);
}

static int find_keys(const struct pairing *pairing, const struct event *event, struct pair_role *role)
{
	struct str rest = pairing->key ? str_of(pairing->key) : (struct str){NULL, 0};
	int err = 0;

	for (unsigned i = 0; rest.p && !err; i++) {
		struct str of_to = str_cut(&rest, ','), of_from = str_cut(&of_to, '=');

		if (i == PAIR_KEYS_MAX)
			return fail(EINVAL, "--key takes at most %d fields", PAIR_KEYS_MAX);
		role->keys_n = i + 1;
		if (role->from)
			err = find_key(event, of_from, &role->from_keys[i]);
		if (role->to && !err)
			err = find_key(event, of_to.p ? of_to : of_from, &role->to_keys[i]);
	}
	return err;
}

static int find_sched(const struct event *event, struct pair_role *role)
{
	static const struct {
		const char *name;
		size_t at;
	} fields[] = {{"prev_pid", offsetof(struct pair_role, prev_pid)},
		      {"prev_state", offsetof(struct pair_role, prev_state)},
		      {"next_pid", offsetof(struct pair_role, next_pid)}};

	if (!role->to) {
		role->woken_pid = event->tp ? tracepoint_field(event->tp, "pid") : NULL;
		return role->woken_pid ? 0 : point_no_such_field(event, "pid");
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct tp_field *field =
			event->tp ? tracepoint_field(event->tp, fields[i].name) : NULL;

		if (!field)
			return point_no_such_field(event, fields[i].name);
		memcpy((char *)role + fields[i].at, &field, sizeof(field));
	}
	return 0;
}

int pairing_role(const struct pairing *pairing, const struct event *event, struct pair_role *ret)
{
	ret->from = filter_event_name(event->name, pairing->from);
	ret->to = filter_event_name(event->name, pairing->to);
	if (!ret->from && !ret->to)
		return 0;
	return pairing->known && pairing->known->kind != BY_KEY ? find_sched(event, ret)
								: find_keys(pairing, event, ret);
}

static uint64_t key_of(const struct pair_key *keys, unsigned n, const struct sample *sample)
{
	uint64_t key = 1;

	if (!n)
		return sample->tid;
	for (unsigned i = 0; i < n; i++) {
		const struct tp_field *field = keys[i].field;

		if (!field) {
			key = hash_mix(key, keys[i].of_sample(sample));
		} else if (field->is_string) {
			struct str text = tp_string(field, sample->raw, sample->raw_size);
			key = hash_mix(key, hash_bytes(text.p, text.n));
		} else {
			key = hash_mix(key, tp_number(field, sample->raw, sample->raw_size));
		}
	}
	return key;
}

// Takes out what began with this key; samples that came too late are not in order.
static bool ends(struct pairing *pairing, uint64_t key, uint64_t time, uint64_t *ret_ns)
{
	uint64_t *start = map_find(&pairing->pending, key);
	uint64_t began = start ? *start : 0;

	if (!start)
		return false;
	map_remove(&pairing->pending, key);
	if (began > time) {
		pairing->unpaired++;
		return false;
	}
	*ret_ns = time - began;
	return true;
}

static uint64_t *waits(struct pairing *pairing, uint64_t key, bool *ret_new)
{
	if (pairing->pending.n >= PENDING_MAX) {
		pairing->unpaired += pairing->pending.n;
		map_clear(&pairing->pending);
	}
	return map_at(&pairing->pending, key, ret_new);
}

static bool take_switch(struct pairing *pairing, const struct pair_role *role,
			const struct sample *sample, struct pair_result *ret)
{
	uint32_t prev = (uint32_t)tp_number(role->prev_pid, sample->raw, sample->raw_size);
	uint32_t next = (uint32_t)tp_number(role->next_pid, sample->raw, sample->raw_size);
	uint64_t state = tp_number(role->prev_state, sample->raw, sample->raw_size);

	map_remove(&pairing->running, prev);
	// The lower bits say for what it waits; who was preempted has none of them.
	if (prev && (pairing->known->kind == OFF_CPU || !(state & 0xff)))
		*waits(pairing, prev, NULL) = sample->time;
	else
		map_remove(&pairing->pending, prev);
	if (!next)
		return false;
	*map_at(&pairing->running, next, NULL) = 1;
	ret->tid = next;
	return ends(pairing, next, sample->time, &ret->ns);
}

static void take_wakeup(struct pairing *pairing, const struct pair_role *role,
			const struct sample *sample)
{
	uint32_t tid = (uint32_t)tp_number(role->woken_pid, sample->raw, sample->raw_size);
	bool is_new;

	// Who is woken before it has gone to sleep does not wait.
	if (map_find(&pairing->running, tid))
		return;
	uint64_t *start = waits(pairing, tid, &is_new);
	if (is_new)
		*start = sample->time;
}

bool pairing_take(struct pairing *pairing, const struct pair_hit *hit, struct pair_result *ret)
{
	const struct pair_role *role = hit->role;
	const struct sample *sample = hit->sample;
	bool ended = false, is_new;

	if (role->next_pid)
		return take_switch(pairing, role, sample, ret);
	if (role->woken_pid) {
		take_wakeup(pairing, role, sample);
		return false;
	}
	ret->tid = UINT32_MAX;
	if (role->to) {
		ended = ends(pairing, key_of(role->to_keys, role->keys_n, sample), sample->time,
			     &ret->ns);
		pairing->unpaired += !ended && !role->from && hit->begins;
	}
	if (role->from && hit->begins) {
		uint64_t *start =
			waits(pairing, key_of(role->from_keys, role->keys_n, sample), &is_new);

		pairing->unpaired += !is_new;
		*start = sample->time;
	}
	return ended;
}

void pairing_lost(struct pairing *pairing)
{
	// Tasks that sleep or wait have a partner later.
	if (!pairing->known || pairing->known->kind == BY_KEY)
		pairing->unpaired += pairing->pending.n;
	map_clear(&pairing->pending);
	map_clear(&pairing->running);
}
