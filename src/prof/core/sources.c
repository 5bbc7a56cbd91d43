// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/sources.h"
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "prof/core/options.h"
#include "prof/core/tasks.h"

struct source {
	const char *name, *shown; // shown: before what it says of a sample
	const char *events[4];
	bool of_scheduler; // events of a task happen in others' context
	bool is_clock, addresses;
};

static const struct source sources[] = {
	{"breakpoint", "breakpoint", .addresses = true}, // mem:ADDRESS
	{"page-faults", "page-fault", {"page-faults"}, .addresses = true},
	{"profile", "profile", {"cpu-clock"}, .is_clock = true},
	{"task-state",
	 "task-state",
	 {"sched:sched_switch", "sched:sched_wakeup", "sched:sched_wakeup_new"},
	 .of_scheduler = true},
};

static const struct source *source_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (!strcmp(sources[i].name, name))
			return &sources[i];
	return NULL;
}

bool prof_is_source(const char *name)
{
	return source_of(name) != NULL;
}

const char *prof_source_name(size_t i)
{
	return i < ARRAY_SIZE(sources) ? sources[i].name : NULL;
}

// ---- the options that may stand in "profile/-F 200 -g/"

struct source_options {
	bool call_graph;
	uint64_t frequency, limit, mmap_pages, watermark;
	const char *filter;
};

#define AT(field) offsetof(struct source_options, field)
static const struct opt options_table[] = {
	PROF_FLAG('g', "call-graph", AT(call_graph), "call chains"),
	PROF_U64('F', "freq", AT(frequency), "N", "samples a second (profile)"),
	PROF_U64('N', "exit-N", AT(limit), "N", "only the first N"),
	PROF_TEXT(0, "filter", AT(filter), "NAMES", "tasks with these names (task-state)"),
	// All events of a run share its rings.
	PROF_U64('m', "mmap-pages", AT(mmap_pages), "PAGES", "has no effect here"),
	PROF_U64(0, "watermark", AT(watermark), "PERCENT", "has no effect here"),
	OPT_END,
};

// Words between blanks; quotes around all are taken off.
static int read_options(struct prof *prof, const struct prof_spec *spec, struct source_options *ret,
			const char **ret_word)
{
	struct str rest = str_of(spec->filter ? spec->filter : "");
	VEC(char *) words = {0};
	int err, left;

	if (rest.n >= 2 && rest.p[0] == '"' && rest.p[rest.n - 1] == '"')
		rest = (struct str){rest.p + 1, rest.n - 2};
	vec_push(&words, arena_strdup(&prof->arena, str_of(spec->name)));
	while (rest.n) {
		struct str word = str_trim(str_cut(&rest, ' '));

		if (word.n)
			vec_push(&words, arena_strdup(&prof->arena, word));
	}
	vec_push(&words, NULL);
	left = opt_parse(options_table, ret, words.v, 0);
	err = left < 0 ? fail_context(left, "%s in -e", spec->name) : 0;
	*ret_word = left > 0 ? words.v[1] : NULL;
	if (!err && left > 1)
		err = fail(EINVAL, "%s in -e: what is '%s'?", spec->name, words.v[2]);
	vec_done(&words);
	return err;
}

// ---- adding

static struct prof_tasks *make_tasks(struct prof *prof, const char *names, int *ret_err)
{
	bool everywhere = prof->everywhere, follows = prof->follows;
	struct prof_tasks *tasks = arena_zalloc(&prof->arena, sizeof(*tasks));

	vec_push(&prof->source_tasks, tasks);
	*ret_err = prof_tasks_init(tasks, prof, names);
	// Only these events come from everywhere, not the others of -e.
	prof->everywhere = everywhere;
	prof->follows = follows;
	return tasks;
}

static const char *task_filter(struct prof *prof, const struct prof_tasks *tasks, size_t i)
{
	const char *prev, *next;

	if (i) // a wake-up
		return prof_tasks_filter(tasks, prof, "pid", "comm");
	prev = prof_tasks_filter(tasks, prof, "prev_pid", "prev_comm");
	next = prof_tasks_filter(tasks, prof, "next_pid", "next_comm");
	return prev && next ? arena_fmt(&prof->arena, "%s || %s", prev, next) : NULL;
}

struct source_use {
	const struct source *source;
	const struct source_options *options;
	const struct prof_spec *spec;
	struct prof_tasks *tasks;
};

static int add_one(struct prof *prof, const struct source_use *use, const char *name,
		   const char *filter)
{
	const struct source_options *options = use->options;
	const struct source *source = use->source;
	struct prof_event *event;
	int err = prof_add(prof, name, filter, &event);

	if (err)
		return err;
	event->source = source->shown;
	event->spec = use->spec;
	event->stage = use->spec->stage;
	event->tasks = use->tasks;
	event->feed->everywhere |= source->of_scheduler && feed_has_tasks(prof->feed);
	event->feed->addresses = source->addresses;
	event->feed->stack |= options->call_graph;
	event->limit = options->limit;
	if (source->is_clock)
		event->feed->period_ns =
			NSEC_PER_SEC / (options->frequency ? options->frequency : 1000);
	if (filter)
		inform("%s: %s filter \"%s\"", source->name, name, filter);
	return 0;
}

int prof_source_add(struct prof *prof, const struct prof_spec *spec)
{
	const struct source *source = source_of(spec->name);
	struct source_options options = {0};
	struct prof_tasks *tasks = NULL;
	const char *word;
	int err = read_options(prof, spec, &options, &word);

	if (!err && options.frequency > NSEC_PER_SEC / 1000)
		err = fail(EINVAL, "%s in -e: -F %llu is more than a million a second", spec->name,
			   (unsigned long long)options.frequency);
	if (!err && word && source->events[0])
		err = fail(EINVAL, "%s in -e takes options, no '%s'", spec->name, word);
	if (!err && !word && !source->events[0])
		err = fail(EINVAL, "%s in -e: which address? %s/\"0xADDRESS/4:rw\"/", spec->name,
			   spec->name);
	if (!err && source->of_scheduler)
		tasks = make_tasks(prof, options.filter, &err);
	const struct source_use use = {source, &options, spec, tasks};

	for (size_t i = 0; !err && source->events[i]; i++)
		err = add_one(prof, &use, source->events[i],
			      tasks ? task_filter(prof, tasks, i) : NULL);
	if (!err && !source->events[0])
		err = add_one(prof, &use, arena_fmt(&prof->arena, "mem:%s", word), NULL);
	return err;
}

// ---- samples

bool prof_source_is_of(const struct prof_event *event, const struct sample *sample, uint32_t tid)
{
	const struct sched_hit hit = sched_hit_of(&event->sched, sample);

	return sched_hit_is_about(&hit, tid);
}

bool prof_source_wants(struct prof *prof, const struct prof_event *event, const struct sample *sample)
{
	struct prof_tasks *tasks = event->tasks;
	struct sched_hit hit;

	if (!tasks || !tasks->by_set)
		return true;
	hit = sched_hit_of(&event->sched, sample);
	return prof_tasks_wanted(tasks, prof, hit.tid) ||
	       (hit.kind == SCHED_SWITCH && prof_tasks_wanted(tasks, prof, hit.next));
}
