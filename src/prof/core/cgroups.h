// SPDX-License-Identifier: GPL-2.0-or-later
// --cgroups of the scheduler's events: they are about tasks other than the one in whose context they happen, so the kernel can't choose
// them by group. They come from everywhere, and those about a task of the groups are taken. Who is in the groups is known from a look
// at the beginning, from FORK records, from cgroup:cgroup_attach_task, and from
// task:task_newtask where a task is started in another group than its parent's, in the order of time.
#pragma once
#include "prof/core/profiler.h"

// An event is found: notes which of its fields have the tasks that it is about, when --cgroups needs them. `key` is what pairs it, NULL:
// nothing: a field of a task there is the one that counts. May change event->feed->everywhere.
void prof_cgroups_event(struct prof *prof, struct prof_event *event, const char *key);
// In prof_setup, when all events are there: what follows the groups. Nothing when no event needs it.
int prof_cgroups_open(struct prof *prof);
void prof_cgroups_close(struct prof *prof);

// Is a task in one of the groups now? True without --cgroups.
bool prof_cgroups_has(struct prof *prof, uint32_t tid);
// Has the feed to follow the groups ("cgroup:cgroup_attach_task")? Then the sample is no profiler's.
bool prof_cgroups_take(struct prof *prof, const struct prof_event *event,
		       const struct sample *sample);
// Is an event about a task of the groups? True where the kernel chooses.
bool prof_cgroups_wants(struct prof *prof, const struct prof_event *event,
			const struct sample *sample);
void prof_cgroups_record(struct prof *prof, const struct perf_event_header *header);
