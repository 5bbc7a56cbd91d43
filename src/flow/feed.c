// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/feed.h"

void feed_init(struct feed *feed, const struct feed_options *options)
{
	*feed = (struct feed){.options = options,
			      .first_ns = UINT64_MAX,
			      .typed_fd = -1,
			      .peers_fd = -1};
}

void feed_done(struct feed *feed)
{
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
