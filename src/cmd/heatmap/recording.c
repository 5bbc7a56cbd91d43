// SPDX-License-Identifier: GPL-2.0-or-later
// Points of a recording's samples.
#include "base/err.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "cmd/heatmap/heatmap.h"
#include "flow/session.h"
#include <math.h>

enum { KEYS_MAX = 4, PENDING_MAX = 1 << 20 };

// What an event of the recording means here.
struct role {
	bool known, wanted, from, to;
	const struct tp_field *value;
	const struct tp_field *keys[KEYS_MAX];
};

struct taker {
	struct heat *heat;
	const struct point_options *options;
	struct point_result *result;
	struct filter *filter;
	VEC(struct role) roles; // by event index
	struct map pending;	// key -> start time
};

static uint64_t value_period(const struct sample *sample)
{
	return sample->period;
}
static uint64_t value_addr(const struct sample *sample)
{
	return sample->addr;
}
static uint64_t value_weight(const struct sample *sample)
{
	return sample->weight;
}
static uint64_t value_cpu(const struct sample *sample)
{
	return sample->cpu;
}
static uint64_t value_pid(const struct sample *sample)
{
	return sample->pid;
}
static uint64_t value_tid(const struct sample *sample)
{
	return sample->tid;
}

static const struct builtin {
	const char *name;
	uint64_t (*get)(const struct sample *sample);
} builtins[] = {
	{"period", value_period}, {"addr", value_addr}, {"weight", value_weight},
	{"cpu", value_cpu},	  {"pid", value_pid},	{"tid", value_tid},
};

static const struct builtin *find_builtin(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (strcmp(builtins[i].name, name) == 0)
			return &builtins[i];
	}
	return NULL;
}

static int no_such_field(const struct event *event, const char *field)
{
	const char *names[128] = {NULL};
	const struct tp_field *fields;
	size_t n = event->tp ? tracepoint_fields(event->tp, &fields) : 0;

	for (size_t i = 0; i < n && i + 1 < ARRAY_SIZE(names); i++)
		names[i] = fields[i].name;
	const char *near = nearest(field, names);
	if (!event->tp)
		return fail(EINVAL,
			    "%s is no tracepoint and has no field '%s'; it has period, addr, weight, cpu, pid and tid",
			    event->name, field);
	return near ? fail(EINVAL, "%s has no field '%s'; did you mean '%s'?", event->name, field,
			   near)
		    : fail(EINVAL, "%s has no field '%s'", event->name, field);
}

static int find_field(const struct event *event, struct str name, const struct tp_field **ret)
{
	char *text = str_dup(name);
	const struct tp_field *field = event->tp ? tracepoint_field(event->tp, text) : NULL;
	int err = field ? 0 : no_such_field(event, text);

	free(text);
	if (field)
		*ret = field;
	return err;
}

static int find_keys(const struct taker *taker, const struct event *event, struct role *role)
{
	struct str rest = str_of(taker->options->key);
	unsigned n = 0;
	int err = 0;

	while (rest.p && !err) {
		struct str of_to = str_cut(&rest, ','), of_from = str_cut(&of_to, '=');

		if (n == KEYS_MAX)
			return fail(EINVAL, "--key takes at most %d fields", KEYS_MAX);
		err = find_field(event, str_trim(of_to.p && !role->from ? of_to : of_from),
				 &role->keys[n++]);
	}
	return err;
}

static int make_role(struct taker *taker, const struct event *event, struct role *role)
{
	const struct point_options *options = taker->options;
	int err = 0;

	role->known = true;
	if (options->from) {
		role->from = filter_event_name(event->name, options->from);
		role->to = filter_event_name(event->name, options->to);
		role->wanted = role->from || role->to;
		return role->wanted && options->key ? find_keys(taker, event, role) : 0;
	}
	role->wanted = !options->event || filter_event_name(event->name, options->event);
	if (role->wanted && options->value && !find_builtin(options->value)) {
		err = find_field(event, str_of(options->value), &role->value);
		// Other events of the recording need not have it.
		if (err && !options->event) {
			role->wanted = false;
			err = 0;
			err_clear();
		}
	}
	return err;
}

static uint64_t key_of(const struct role *role, const struct sample *sample)
{
	uint64_t key = 1;

	if (!role->keys[0])
		return sample->tid;
	for (unsigned i = 0; i < KEYS_MAX && role->keys[i]; i++) {
		const struct tp_field *field = role->keys[i];

		if (field->is_string) {
			struct str text = tp_string(field, sample->raw, sample->raw_size);
			key = hash_mix(key, hash_bytes(text.p, text.n));
		} else {
			key = hash_mix(key, tp_number(field, sample->raw, sample->raw_size));
		}
	}
	return key;
}

static void take_pair(struct taker *taker, const struct role *role, const struct sample *sample)
{
	uint64_t key = key_of(role, sample);

	if (role->to) {
		uint64_t *start = map_find(&taker->pending, key);

		if (start) {
			uint64_t started = *start;

			map_remove(&taker->pending, key);
			heat_add(taker->heat, (double)sample->time / 1e9,
				 (double)sample->time - (double)started, 1);
		} else if (!role->from) {
			taker->result->unpaired++;
		}
	}
	if (role->from) {
		bool is_new;

		if (taker->pending.n >= PENDING_MAX) {
			taker->result->unpaired += taker->pending.n;
			map_clear(&taker->pending);
		}
		uint64_t *start = map_at(&taker->pending, key, &is_new);
		taker->result->unpaired += !is_new;
		*start = sample->time;
	}
}

static double value_of(const struct point_options *options, const struct role *role,
		       const struct sample *sample)
{
	if (!role->value)
		return (double)find_builtin(options->value)->get(sample);
	uint64_t value = tp_number(role->value, sample->raw, sample->raw_size);
	return role->value->is_signed ? (double)(int64_t)value : (double)value;
}

static int take_sample(void *arg, struct session *session, struct event *event,
		       const struct sample *sample, struct task *task, const struct record *record)
{
	struct taker *taker = arg;
	const struct point_options *options = taker->options;

	while (taker->roles.n <= event->index)
		(void)vec_add(&taker->roles);
	struct role *role = &taker->roles.v[event->index];
	if (!role->known) {
		int err = make_role(taker, event, role);
		if (err < 0)
			return err;
	}
	if (!role->wanted || sample->time == UINT64_MAX)
		return 0;
	if (!filter_sample_of(taker->filter, sample, session->sym, task)) {
		taker->result->filtered++;
		return 0;
	}
	if (options->from)
		take_pair(taker, role, sample);
	else if (options->value)
		heat_add(taker->heat, (double)sample->time / 1e9, value_of(options, role, sample), 1);
	else
		heat_add(taker->heat, (double)sample->time / 1e9,
			 (double)(sample->time % 1000000000) / 1e6, 1);
	return 0;
}

static int start(void *arg, struct session *session)
{
	struct taker *taker = arg;

	return taker->filter
		       ? 0
		       : filter_new(&taker->filter, &taker->options->filter, session->recording);
}

int points_from_recording(struct heat *heat, const char *path, const struct point_options *options,
			  struct point_result *ret)
{
	static const struct session_hooks hooks = {.sample = take_sample, .start = start};
	struct session_options session_options = {.path = path, .force = options->force};
	struct taker taker = {.heat = heat, .options = options, .result = ret};
	struct session *session;
	int err = session_open(&session, &session_options);

	if (err < 0)
		return err;
	ret->from_recording = true;
	ret->subsecond = !options->value && !options->from;
	err = session_process(session, &hooks, &taker);
	if (err >= 0) {
		ret->damaged = session_warn(session) > 0;
		ret->unpaired += taker.pending.n;
		err = 0;
	}
	vec_done(&taker.roles);
	map_done(&taker.pending);
	filter_free(taker.filter);
	session_close(session);
	return err;
}
