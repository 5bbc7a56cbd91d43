// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/counted.h"
#include "base/err.h"
#include "base/time.h"
#include "prof/core/print.h"

const char *prof_not_in_kernel(const struct prof *prof)
{
	const struct prof_options *options = prof->options;
	const struct target_options *target = &options->target;

	if (options->no_bpf)
		return "--no-bpf";
	if (options->from || options->to)
		return "events go through a recording";
	if (target->pids || target->tids || target->users || options->cgroups ||
	    (prof->feed->options && prof->feed->options->workload))
		return "it watches tasks";
	if (options->verbose > 1 || options->exit_n || options->call_graph)
		return "single events are wanted (-vv, -N, -g)";
	vec_each(struct prof_event *, event, &prof->events)
		if ((*event)->push || (*event)->feed->foreign)
			return "events are pushed or pulled";
	if (options->exclude_user || options->exclude_kernel || options->exclude_guest ||
	    options->exclude_host)
		return "--exclude-... is given";
	vec_each(struct prof_event *, event, &prof->events)
		if ((*event)->feed->cpus || (*event)->feed->stack)
			return "an event has CPUs of its own, or call chains";
	return NULL;
}

struct tally_event prof_tally_event(const struct prof_event *event)
{
	return (struct tally_event){.event = event->feed->event,
				    .filter = event->feed->filter,
				    .not_self = !feed_is_of_system(event->feed->system)};
}

static int found(void *arg, struct event *event, const char *system, const char *name)
{
	*(struct tally_event *)arg =
		(struct tally_event){.event = event, .not_self = !feed_is_of_system(system)};
	return 0;
}

int prof_tally_event_by_name(struct prof *prof, const char *name, struct tally_event *ret)
{
	return prof->find(prof->feed, name, found, ret);
}

static const char *comm(void *arg, const struct sample *sample)
{
	return prof_comm(arg, sample->pid, sample->tid);
}

int prof_tally_open(struct prof *prof, struct tally_options *plan)
{
	struct target target = {0};
	VEC(uint32_t) cpus = {0};
	int err = 0;

	plan->name = prof->profiler->name;
	plan->machine = prof->machine;
	plan->comm = comm;
	plan->arg = prof;
	if (!plan->not_in_kernel)
		plan->not_in_kernel = prof_not_in_kernel(prof);
	if (!plan->not_in_kernel && prof->options->target.cpus) {
		err = target_init(&target, &prof->options->target);
		vec_each(int, cpu, &target.cpus)
			vec_push(&cpus, (uint32_t)*cpu);
		plan->cpus = cpus.v;
		plan->cpus_n = (uint32_t)cpus.n;
	}
	if (!err)
		err = tally_open(&prof->tally, plan);
	if (plan->cpus)
		target_done(&target);
	vec_done(&cpus);
	if (err == -EOPNOTSUPP && plan->kernel_or_none)
		return 1;
	if (err < 0)
		return err;
	prof->needs_symbols |= tally_asks_symbols(prof->tally);
	prof->needs_tasks |= tally_asks_tasks(prof->tally);
	if (prof_in_kernel(prof))
		vec_each(struct prof_event *, event, &prof->events)
			(*event)->feed->in_kernel = (*event)->feed->counts = true;
	return 0;
}

uint64_t prof_tally_now(const struct prof *prof, uint64_t now_ns)
{
	return prof_in_kernel(prof) ? time_now_ns(CLOCK_MONOTONIC) : now_ns;
}

int prof_tally_typed(struct prof *prof, const char *line)
{
	return tally_filter(prof->tally, *line ? prof_filter_quoted(&prof->arena, line) : "");
}

int prof_put_tally(struct prof *prof, const struct tally_view *view, uint64_t now_ns,
		   void (*title)(struct prof *prof, uint64_t now_ns))
{
	struct table table = {0};
	int err = tally_read(prof->tally);

	if (err < 0)
		return err;
	tally_table(prof->tally, view, &table);
	if (!prof->print->format)
		title(prof, now_ns);
	prof_put_rows(prof, &table, now_ns);
	table_done(&table);
	tally_clear(prof->tally);
	return 0;
}
