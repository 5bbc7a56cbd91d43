// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/given.h"
#include "base/err.h"
#include "base/nearest.h"
#include "prof/core/cgroups.h"
#include "prof/core/files.h"
#include "prof/core/push.h"
#include "prof/core/run.h"
#include "prof/core/sources.h"

struct adding {
	struct prof *prof;
	const struct prof_spec *spec;
	uint32_t stage;
	const char *filter;
	struct prof_event *last;
};

// Does the attribute need a value (true), or take none (false)?
static int check_value(const struct prof_attr *attr)
{
	bool is_word = prof_attribute_is_word(attr->name);

	if (is_word && attr->value)
		return fail(EINVAL, "the attribute %s takes no value: write /%s/, not /%s=%s/",
			    attr->name, attr->name, attr->name, attr->value);
	if (!is_word && (!attr->value || !*attr->value))
		return fail(EINVAL,
			    "the attribute %s needs a value: /%s=.../, or /%s=\"...\"/ where a '/' is in it",
			    attr->name, attr->name, attr->name);
	return 0;
}

static int check_attributes(const struct prof *prof, const struct prof_spec *spec)
{
	for (size_t i = 0; spec && i < spec->attrs.n; i++) {
		const char *name = spec->attrs.v[i].name, *near;
		VEC(const char *) names = {0};
		bool known = false;
		int err = 0;

		for (size_t k = 0; prof_common_attributes[k]; k++)
			vec_push(&names, prof_common_attributes[k]);
		for (size_t k = 0; prof->profiler->attributes && prof->profiler->attributes[k]; k++)
			vec_push(&names, prof->profiler->attributes[k]);
		for (size_t k = 0; k < names.n; k++)
			known |= !strcmp(names.v[k], name);
		vec_push(&names, NULL);
		near = nearest(name, names.v);
		if (!known)
			err = fail(EINVAL, "%s has no attribute '%s' for events%s%s%s",
				   prof->profiler->name, name, near ? "; did you mean '" : "",
				   near ? near : "", near ? "'?" : "");
		vec_done(&names);
		if (!known && i && spec->attrs.v[i - 1].value && !near)
			err = fail(EINVAL,
				   "%s has no attribute '%s' for events; to divide by it, write the expression in quotes: %s=\"%s/%s\"",
				   prof->profiler->name, name, spec->attrs.v[i - 1].name,
				   spec->attrs.v[i - 1].value, name);
		if (!err)
			err = check_value(&spec->attrs.v[i]);
		if (err)
			return err;
	}
	return 0;
}

static int found(void *arg, struct event *event, const char *system, const char *name)
{
	struct adding *adding = arg;
	struct prof *prof = adding->prof;
	const struct prof_spec *spec = adding->spec;
	struct prof_event *added = arena_zalloc(&prof->arena, sizeof(*added));
	struct feed_event *feed = feed_add(prof->feed, event, system, name);
	const char *alias = prof_spec_attr(spec, "alias"), *depth = prof_spec_attr(spec, "max-stack");
	uint64_t frames = 0;

	if (depth && (num_parse_u64(str_of(depth), &frames) || frames > 1024))
		return fail(EINVAL, "max-stack=%s: a number of frames up to 1024", depth);
	feed->filter = adding->filter;
	feed->counts = prof->profiler->counts;
	feed->cpus = prof_spec_attr(spec, "cpus");
	feed->stack = prof->options->call_graph || prof_spec_attr(spec, "stack") || depth;
	feed->max_stack = (uint32_t)frames;
	added->feed = feed;
	added->spec = spec;
	added->index = (uint32_t)prof->events.n;
	added->stage = adding->stage;
	added->label = alias && *alias ? alias : feed->name ? feed->name : event->name;
	sched_event_init(&added->sched, event);
	const char *key = prof_spec_attr(spec, "key");
	prof_cgroups_event(prof, added, key && *key ? key : prof->options->key);
	feed->user = added;
	vec_push(&prof->events, added);
	adding->last = added;
	return 0;
}

// With push= or pull=.
static int add_with_peer(struct prof *prof, struct adding *adding)
{
	const struct prof_spec *spec = adding->spec;
	const char *push = prof_spec_attr(spec, "push"), *where = prof_spec_attr(spec, "pull");
	const struct feed_pull pull = {where, spec->name, found, adding};
	size_t before = prof->events.n;
	int err = 0;

	if (prof->profiler->counts)
		return fail(EINVAL,
			    "%s counts in the kernel and sees no single events to push or pull",
			    prof->profiler->name);
	if (push && where)
		return fail(EINVAL, "%s: push and pull exclude each other", spec->name);
	if (where && (prof_spec_attr(spec, "stack") || prof_spec_attr(spec, "max-stack")))
		return fail(EINVAL, "%s: what comes from another system has no stacks", spec->name);
	if (where && !prof->pull)
		return fail(EINVAL,
			    "%s: pull takes part in the running kernel's events, not in a recording's",
			    spec->name);
	err = where ? prof->pull(prof->feed, &pull)
		    : prof->find(prof->feed, spec->name, found, adding);
	for (; push && !err && before < prof->events.n; before++)
		err = prof_push_add(prof, prof->events.v[before], push);
	return err;
}

int prof_add(struct prof *prof, const char *name, const char *filter, struct prof_event **ret)
{
	struct adding adding = {.prof = prof, .filter = filter};
	int err = prof->find(prof->feed, name, found, &adding);

	if (!err && ret)
		*ret = adding.last;
	return err;
}

int prof_add_sched(struct prof *prof, const char *name, const char *filter, struct prof_event **ret)
{
	struct prof_event *event;
	int err = prof_add(prof, name, filter, &event);

	if (!err && event->sched.kind == SCHED_OTHER)
		err = fail(ENOENT, "event %s has other fields here than those of the scheduler's",
			   event->feed->event->name);
	if (!err)
		*ret = event;
	return err;
}

int prof_add_given(struct prof *prof)
{
	const struct opt_list *list = &prof->options->events;
	const char *const *defaults = prof->profiler->default_events;
	int err = 0;

	for (size_t i = 0; i < list->n && !err; i++)
		err = prof_specs_parse(&prof->specs, list->v[i]);
	for (size_t i = 0; !list->n && defaults && defaults[i] && !err; i++)
		err = prof_specs_parse(&prof->specs, defaults[i]);
	// Who pulls waits for what it pulls from, and profilers open their files.
	if (!err)
		err = prof_files_check(prof);
	for (size_t i = 0; i < prof->specs.list.n && !err; i++) {
		const struct prof_spec *spec = prof->specs.list.v[i];
		struct adding adding = {.prof = prof,
					.spec = spec,
					.stage = spec->stage,
					.filter = spec->filter};

		const bool has_peer = prof_spec_attr(spec, "push") || prof_spec_attr(spec, "pull");

		err = check_attributes(prof, spec);
		// page-faults is an event of the kernel, too.
		if (!err && prof_is_source(spec->name) &&
		    (prof->profiler->takes_profilers || prof_find(spec->name))) {
			err = has_peer ? fail(EINVAL,
					      "%s: only events can be pushed and pulled, no profilers",
					      spec->name)
			      : prof->profiler->takes_profilers
				      ? prof_source_add(prof, spec)
				      : fail(EINVAL, "%s takes no profiler (%s) as an event",
					     prof->profiler->name, spec->name);
			continue;
		}
		if (!err)
			err = has_peer ? add_with_peer(prof, &adding)
				       : prof->find(prof->feed, spec->name, found, &adding);
	}
	prof->stages = prof->specs.stages;
	return err;
}
