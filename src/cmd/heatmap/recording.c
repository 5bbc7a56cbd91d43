// SPDX-License-Identifier: GPL-2.0-or-later
// Points of a recording's samples.
#include "base/err.h"
#include "base/nearest.h"
#include "cmd/heatmap/heatmap.h"
#include "cmd/heatmap/pairs.h"
#include "flow/run.h"

// What an event of the recording means here.
struct role {
	bool known, wanted;
	bool drawn; // samples of it are in the picture
	const struct tp_field *value;
	struct pair_role pair;
};

struct taker {
	struct heat *heat;
	const struct point_options *options;
	struct point_result *result;
	struct filter *filter;
	VEC(struct role) roles; // by event index
	bool pairs;
	struct pairing pairing;
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

int point_no_such_field(const struct event *event, const char *field)
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
	int err = field ? 0 : point_no_such_field(event, text);

	free(text);
	if (field)
		*ret = field;
	return err;
}

static int make_role(struct taker *taker, const struct event *event, struct role *role)
{
	const struct point_options *options = taker->options;
	int err = 0;

	role->known = true;
	if (taker->pairs) {
		err = pairing_role(&taker->pairing, event, &role->pair);
		role->wanted = role->pair.from || role->pair.to;
		return err;
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

static void take_pair(struct taker *taker, struct run *run, const struct pair_hit *hit)
{
	const struct task *task;
	struct pair_result result;

	taker->result->filtered += !hit->begins;
	if (!pairing_take(&taker->pairing, hit, &result))
		return;
	// A switch is an event of the task that goes; the latency is that of the one that comes.
	if (result.tid != UINT32_MAX) {
		struct sample of_next = *hit->sample;

		task = sym_find_task(run->sym, result.tid);
		of_next.tid = result.tid;
		of_next.pid = task ? task->pid : UINT32_MAX;
		if (!filter_sample_of(taker->filter, &of_next, run->sym, task)) {
			taker->result->filtered++;
			return;
		}
	}
	heat_add(taker->heat, (double)hit->sample->time / 1e9, (double)result.ns, 1);
}

static double value_of(const struct point_options *options, const struct role *role,
		       const struct sample *sample)
{
	if (!role->value)
		return (double)find_builtin(options->value)->get(sample);
	uint64_t value = tp_number(role->value, sample->raw, sample->raw_size);
	return role->value->is_signed ? (double)(int64_t)value : (double)value;
}

static int take_sample(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	const struct sample *sample = &hit->sample;
	struct task *task = hit->task;
	struct taker *taker = arg;
	const struct point_options *options = taker->options;
	bool passes;

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
	passes = filter_sample_of(taker->filter, sample, run->sym, task);
	if (taker->pairs) {
		take_pair(taker, run,
			  &(struct pair_hit){.role = &role->pair,
					     .sample = sample,
					     .begins = passes || role->pair.next_pid ||
						       role->pair.woken_pid});
		return 0;
	}
	if (!passes) {
		taker->result->filtered++;
		return 0;
	}
	role->drawn = true;
	if (options->value)
		heat_add(taker->heat, (double)sample->time / 1e9, value_of(options, role, sample), 1);
	else
		heat_add(taker->heat, (double)sample->time / 1e9,
			 (double)(sample->time % 1000000000) / 1e6, 1);
	return 0;
}

static int take_record(void *arg, struct run *run, const struct hit *hit)
{
	const struct record *record = &hit->record;
	struct taker *taker = arg;

	if (taker->pairs && record->header->type == PERF_RECORD_LOST)
		pairing_lost(&taker->pairing);
	return 0;
}

static void write_names(struct out *out, const struct run *run, const struct taker *taker)
{
	enum { NAMES_MAX = 3 };
	size_t n = 0;

	for (size_t i = 0; i < run->recording->events.n; i++) {
		if (taker && (i >= taker->roles.n || !taker->roles.v[i].drawn))
			continue;
		if (n++ < NAMES_MAX)
			out_printf(out, "%s%s", n > 1 ? ", " : "", run->recording->events.v[i]->name);
	}
	if (n > NAMES_MAX)
		out_printf(out, " and %zu more", n - NAMES_MAX);
}

static char *text_of(struct out *out)
{
	char *text = str_dup((struct str){out->buf, out->n});

	out_done(out);
	return text;
}

static int check_event(const struct run *run, const char *wanted)
{
	const struct recording *recording = run->recording;
	struct out out;

	for (size_t i = 0; i < recording->events.n; i++) {
		if (filter_event_name(recording->events.v[i]->name, wanted))
			return 0;
	}
	out_init_memory(&out);
	write_names(&out, run, NULL);
	auto_free char *names = text_of(&out);
	return fail(ENODATA, "%s has no event '%s'; it has %s", recording->path, wanted, names);
}

static int start(void *arg, struct run *run)
{
	struct taker *taker = arg;
	const struct point_options *options = taker->options;
	int err = 0;

	if (taker->filter)
		return 0;
	err = filter_new(&taker->filter, &options->filter, run->recording);
	if (err >= 0 && taker->pairs)
		err = pairing_choose(&taker->pairing, options, run);
	else if (err >= 0 && options->event)
		err = check_event(run, options->event);
	return err;
}

// What the picture's lines on top say.
static void describe(const struct taker *taker, const struct run *run, struct point_result *ret)
{
	const struct pairing *pairing = &taker->pairing;
	const char *hint = pairing_hint(run);
	const char *title = taker->pairs ? pairing_title(pairing) : NULL;
	struct out out;

	out_init_memory(&out);
	if (!taker->pairs)
		write_names(&out, run, taker);
	else if (strcmp(pairing->from, pairing->to) == 0)
		out_text(&out, pairing->from);
	else
		out_printf(&out, "%s to %s", pairing->from, pairing->to);
	ret->events = text_of(&out);
	if (run->recording->info.hostname)
		ret->host = text_dup_fmt("%s", run->recording->info.hostname);
	if (title)
		ret->title = text_dup_fmt("%s", title);
	if (hint && ret->subsecond && !taker->options->subsecond && !taker->options->event)
		ret->hint = hint;
}

int points_from_recording(struct heat *heat, const char *path, const struct point_options *options,
			  struct point_result *ret)
{
	static const struct run_hooks hooks = {.hit = take_sample,
					       .record = take_record,
					       .begin = start};
	struct run_options run_options = {.path = path, .force = options->force};
	struct taker taker = {.heat = heat, .options = options, .result = ret};
	struct run *run;
	int err = run_open(&run, &run_options);

	if (err < 0)
		return err;
	taker.pairs = options->latency || options->from || options->to;
	ret->from_recording = true;
	ret->subsecond = !options->value && !taker.pairs;
	err = run_process(run, &hooks, &taker);
	if (err >= 0) {
		ret->damaged = run_warn(run) > 0;
		pairing_lost(&taker.pairing);
		ret->unpaired = taker.pairing.unpaired;
		if (taker.filter)
			describe(&taker, run, ret);
		err = 0;
	}
	vec_done(&taker.roles);
	pairing_done(&taker.pairing);
	filter_free(taker.filter);
	run_close(run);
	return err;
}
