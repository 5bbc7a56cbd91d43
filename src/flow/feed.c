// SPDX-License-Identifier: GPL-2.0-or-later
// A profiler is a struct of hooks (prof/core/profiler.h). sonde prof picks an input; both see only a struct feed (flow/feed.h):
// which events are wanted of whom, and hooks for samples, other records, losses, counts and ticks. Live, flow/merge gives the
// records of all rings where they lie. In order of time a round gives all that is older than what any ring held when the round
// before began: nothing older can come any more, so no clock is read and no record copied. Rings are as large as 1.3 million
// events a second need; a wake-up comes when half a megabyte is there, or twenty times a second.
//
// Events are dated by CLOCK_MONOTONIC where the machine reads it quickly, so that each has an exact time of day. Elsewhere a
// record that the kernel writes of sonde itself says what its clock is (sys/perf_clock), once a second. Filters run in the
// kernel where it gives the answer that they mean; else, and of a recording, expr runs them (-v says which). What is about the
// scheduler (rundelay, task-state) is watched on all CPUs, as others wake a task up and switch to it; filters of ids are made
// for -p, and tasks that a command starts later are told apart by their FORK records. With --cgroups it is the same: the kernel
// chooses by the context of an event, so the scheduler's come from everywhere, and those about a task of the groups are taken
// (prof/core/cgroups: members at the beginning, FORK records, cgroup_attach_task, task_newtask where clone3 starts a task
// elsewhere). A gap (LOST) is placed in time and ends what waits: pairs and stays in a state that span it are counted as
// unknown. What was lost behind the last record is taken from the counters (PERF_FORMAT_LOST), so that results and losses make
// up all. Whose events belong together when nobody says it, and that none runs backward, is prof/core/pairing's; pairs by
// anything but the CPU are taken in the order of time.
#include "flow/feed.h"
#include "base/err.h"
#include "flow/event_fields.h"

void feed_init(struct feed *feed, const struct feed_options *options)
{
	*feed = (struct feed){.options = options,
			      .first_ns = UINT64_MAX,
			      .typed_fd = -1,
			      .peers_fd = -1};
}

void feed_done(struct feed *feed)
{
	for (size_t i = 0; i < feed->events.n; i++) {
		expr_free(feed->events.v[i]->test);
		map_done(&feed->events.v[i]->advanced);
	}
	expr_machine_free(feed->machine);
	vec_done(&feed->events);
	arena_done(&feed->arena);
}

struct feed_event *feed_add(struct feed *feed, struct event *event, const char *system,
			    const char *name)
{
	struct feed_event *wanted = arena_zalloc(&feed->arena, sizeof(*wanted));

	wanted->index = (uint32_t)feed->events.n;
	wanted->event = event;
	wanted->system = system ? arena_strdup(&feed->arena, str_of(system)) : NULL;
	wanted->name = name ? arena_strdup(&feed->arena, str_of(name)) : NULL;
	vec_push(&feed->events, wanted);
	return wanted;
}

const char *feed_and(struct feed *feed, const char *a, const char *b)
{
	if (!a || !*a || !b || !*b)
		return a && *a ? a : b && *b ? b : NULL;
	return arena_fmt(&feed->arena, "(%s) && (%s)", a, b);
}

bool feed_has_tasks(const struct feed *feed)
{
	const struct feed_options *options = feed->options;

	return options->target.pids || options->target.tids || feed->recorded_tasks_n ||
	       (options->workload && !options->target.cpus);
}

bool feed_is_of_system(const char *system)
{
	static const char *const systems[] = {"irq",	 "irq_vectors", "irq_matrix", "timer",
					      "sched",	 "workqueue",	"power",      "napi",
					      "net",	 "rcu",		"ipi",	      "cgroup",
					      "thermal", "msr",		"nmi",	      "kvm"};

	for (size_t i = 0; system && i < ARRAY_SIZE(systems); i++)
		if (!strcmp(system, systems[i]))
			return true;
	return false;
}

int feed_make_test(struct feed *feed, struct feed_event *wanted)
{
	struct expr_fields fields = event_fields(wanted->event);
	int err = wanted->filter ? expr_filter_compile(&wanted->test, wanted->filter, &fields) : 0;

	if (err < 0)
		return fail_context(err, "filter of %s", wanted->event->name);
	if (wanted->test && !feed->machine)
		feed->machine = expr_machine_new(NULL);
	return 0;
}

bool feed_test(const struct feed *feed, const struct feed_event *wanted, const struct sample *sample)
{
	uint64_t context[EXPR_CONTEXTS];
	const struct expr_record record = event_record(sample, context);

	return expr_true(feed->machine, wanted->test, &record);
}

int feed_lost(struct feed *feed, const struct run_loss *loss)
{
	feed->stats.lost += loss->lost;
	return feed->hooks->lost ? feed->hooks->lost(feed->arg, loss) : 0;
}

static __attribute__((noinline)) int take_for_all(struct feed *feed, const struct hit *hit)
{
	int err = 0;

	for (struct feed_event *wanted = hit->event->user; wanted && !err; wanted = wanted->next_same)
		err = feed_hit(feed, wanted, hit);
	return err;
}

static inline int take_sample(struct feed *feed, const struct hit *hit)
{
	struct feed_event *wanted = hit->event->user;

	feed->last_ns = hit->sample.time;
	if (feed->first_ns == UINT64_MAX)
		feed->first_ns = hit->sample.time;
	// Mostly one wants it, whatever it is.
	if (!wanted || wanted->next_same || wanted->test)
		return take_for_all(feed, hit);
	return feed_hit(feed, wanted, hit);
}

static __attribute__((noinline)) int take_each(struct feed *feed, const struct hit *samples, size_t n)
{
	int err = 0;

	for (const struct hit *it = samples; it < samples + n && !err; it++)
		err = take_sample(feed, it);
	return err;
}

int feed_take_samples(void *arg, struct run *run, const struct hit *samples, size_t n)
{
	return n == 1 ? take_sample(arg, samples) : take_each(arg, samples, n);
}

int feed_take_record(void *arg, struct run *run, const struct hit *hit)
{
	const struct sample *ids = &hit->sample;
	const struct record *record = &hit->record;
	struct feed *feed = arg;
	uint32_t type = record->header->type;

	if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES || type >= RECORD_HEADER_ATTR)
		return 0;
	return feed->hooks->record ? feed->hooks->record(feed->arg, record->header, ids) : 0;
}

int feed_take_loss(void *arg, struct run *run, const struct run_loss *loss)
{
	return feed_lost(arg, loss);
}
