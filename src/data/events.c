// SPDX-License-Identifier: GPL-2.0-or-later
// The events of a recording: their names, and which one a record belongs to.
#include "abi/attr.h"
#include "data/private.h"

static void name_event(struct recording *recording, struct event *event)
{
	const struct recording_private *p = recording->private;
	bool found = false;
	char buf[256];

	if (event->attr.type == PERF_TYPE_TRACEPOINT && recording->tracepoints && !event->tp) {
		event->tp = tracepoints_by_id(recording->tracepoints, (uint32_t)event->attr.config);
		found = event->tp;
	}
	if (event->name_stored)
		return;
	if (found)
		event->name = arena_fmt(&recording->arena, "%s:%s", tracepoint_system(event->tp),
					tracepoint_name(event->tp));
	if (event->attr.type == PERF_TYPE_TRACEPOINT && !event->tp)
		for (size_t i = 0; i < p->type_names.n; i++)
			if (p->type_names.v[i].id == event->attr.config)
				event->name = p->type_names.v[i].name;
	if (!event->name)
		event->name = arena_strdup(&recording->arena,
					   str_of(attr_name(&event->attr, buf, sizeof(buf))));
}

void recording_name_events(struct recording *recording)
{
	for (size_t i = 0; i < recording->events.n; i++)
		name_event(recording, recording->events.v[i]);
}

static void add_id(struct recording_private *p, struct event *event, uint64_t id)
{
	bool is_new;
	uint64_t *value = map_at(&p->by_id, id, &is_new);

	vec_push(&event->ids, id);
	if (is_new) // as perf: the first one that has the id
		*value = (uintptr_t)event;
}

struct event *recording_add_event(struct recording *recording, const struct perf_event_attr *attr,
				  const uint8_t *ids, size_t ids_n)
{
	struct recording_private *p = recording->private;
	struct event *event = NEW(struct event);

	event->index = (uint32_t)recording->events.n;
	event->attr = *attr;
	event->leader = event;
	event->group_members = 1;
	event->scale = 1.0;
	sample_plan_init(&event->plan, attr);
	vec_push(&recording->events, event);
	for (size_t i = 0; i < ids_n; i++)
		add_id(p, event, load_u64(ids + i * 8, recording->swap));
	if (!event->index) {
		p->id_offset = sample_id_offset(attr);
		p->trailer_id_offset = trailer_id_offset(attr);
	}
	name_event(recording, event);
	return event;
}

static struct event *find_event(struct recording *recording, uint64_t id)
{
	struct recording_private *p = recording->private;
	struct event *event;

	if (id == p->last_id && p->last_event)
		return p->last_event;
	event = map_find_ptr(&p->by_id, id);
	if (event) {
		p->last_id = id;
		p->last_event = event;
	}
	return event;
}

struct event *recording_event_by_id(struct recording *recording, uint64_t id)
{
	struct event *event;

	if (!recording->events.n)
		return NULL;
	if (recording->events.n == 1 || !id)
		return recording->events.v[0];
	event = find_event(recording, id);
	if (!event && !recording->events.v[0]->attr.sample_id_all)
		return recording->events.v[0];
	return event;
}

// The place of a record's id, or NULL: then the first event is meant, or (*ret_none) no event at all.
int64_t recording_id_offset(const struct recording *recording, const uint8_t *h, uint32_t type,
			    uint32_t size)
{
	const struct recording_private *p = recording->private;
	const struct perf_event_attr *first = &recording->events.v[0]->attr;

	if (type == PERF_RECORD_SAMPLE) {
		if (!p->id_offset)
			return ID_OF_FIRST;
		return (uint32_t)p->id_offset + 8 > size ? ID_MISSING : p->id_offset;
	}
	if (!first->sample_id_all || !p->trailer_id_offset)
		return ID_OF_FIRST;
	if (type >= PERF_RECORD_KSYMBOL)
		size = record_end_of((const void *)h, recording->events.v[0]->plan.trailer_size,
				     recording->swap);
	const int64_t at = (int64_t)size + p->trailer_id_offset;
	return at < 8 ? ID_MISSING : at;
}

struct event *recording_event(struct recording *recording, const struct perf_event_header *header)
{
	int64_t at;
	uint64_t id;

	if (!recording->events.n || header->type >= RECORD_HEADER_ATTR)
		return NULL;
	if (recording->events.n == 1)
		return recording->events.v[0];
	at = recording_id_offset(recording, (const uint8_t *)header, header->type, header->size);
	if (at < 0)
		return at == ID_OF_FIRST ? recording->events.v[0] : NULL;
	memcpy(&id, (const uint8_t *)header + at, 8);
	return recording_event_by_id(recording, id);
}
