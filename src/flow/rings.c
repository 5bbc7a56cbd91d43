// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/rings.h"
#include "base/alloc.h"
#include "base/err.h"
#include "sys/tracefs.h"

enum { MOST_IDS = 1 << 20, PLAIN_HEAD_BYTES = 52 };

// ---- events

int rings_read_format(struct run *run, const struct tracefs *tracefs, const char *system,
		      const char *name)
{
	auto_free char *path = text_dup_fmt("events/%s/%s/format", system, name);
	auto_free char *text = NULL;
	size_t n;
	int err = tracefs_read(tracefs, path, &text, &n);

	if (err)
		return fail(-err, "can't read the format of %s:%s: %s", system, name, strerror(-err));
	return tracepoints_add(run->recording->tracepoints, system, (struct str){text, n});
}

int rings_add_event(struct run *run, const struct event_spec *spec, const struct tracefs *tracefs,
		    struct event **ret)
{
	struct recording *recording = run->recording;
	int err = spec->tp_system ? rings_read_format(run, tracefs, spec->tp_system, spec->tp_name)
				  : 0;

	if (err)
		return err;
	*ret = recording_add_event(recording, &spec->attr, NULL, 0);
	(*ret)->name = arena_strdup(&recording->arena, str_of(spec->name));
	if (spec->tp_system)
		(*ret)->tp =
			tracepoints_by_name(recording->tracepoints, spec->tp_system, spec->tp_name);
	return 0;
}

// ---- whose records are

void rings_init(struct rings *rings, struct run *run)
{
	*rings = (struct rings){.run = run};
	rings->hit.sample = (struct sample){.branch_hw_idx = UINT64_MAX};
}

static void forget_ids(struct rings *rings)
{
	free(rings->sources);
	free(rings->by_id);
	rings->by_id = NULL;
	rings->ids_n = 0;
}

void rings_done(struct rings *rings)
{
	forget_ids(rings);
	map_done(&rings->ids);
	merge_done(&rings->merge);
	moved_texts_done(&rings->moved);
}

void rings_learn(struct rings *rings, const struct opened *opened, struct event *const *events)
{
	size_t n = opened->events.n;
	uint64_t first = UINT64_MAX, last = 0;

	forget_ids(rings);
	map_clear(&rings->ids);
	rings->sources = xcalloc(n + 1, sizeof(*rings->sources));
	for (size_t i = 0; i < n; i++) {
		const struct opened_event *event = &opened->events.v[i];
		struct rings_source *source = &rings->sources[i];

		source->event = events[i];
		source->plain = event->spec->attr.sample_type == RINGS_PLAIN;
		sample_plan_init(&source->plan, &event->spec->attr);
		vec_each(const uint64_t, id, &event->ids) {
			*map_at(&rings->ids, *id, NULL) = i;
			first = MIN(first, *id);
			last = MAX(last, *id);
		}
	}
	// What is only counted has nothing in the rings, and says nothing of them.
	for (rings->first = 0;
	     rings->first + 1 < n && !opened->events.v[rings->first].spec->attr.sample_id_all;)
		rings->first++;
	if (n) {
		const struct perf_event_attr *attr = &opened->events.v[rings->first].spec->attr;

		rings->id_at = sample_id_offset(attr);
		rings->id_before_end = -trailer_id_offset(attr);
	}
	if (first > last || last - first >= MOST_IDS)
		return;
	rings->first_id = first;
	rings->ids_n = last - first + 1;
	rings->by_id = xcalloc(rings->ids_n, sizeof(*rings->by_id));
	for (size_t i = 0; i < n; i++)
		vec_each(const uint64_t, id, &opened->events.v[i].ids)
			rings->by_id[*id - first] = &rings->sources[i];
}

static const struct rings_source *source_of(const struct rings *rings,
					    const struct perf_event_header *header)
{
	int at = header->type == PERF_RECORD_SAMPLE
			 ? rings->id_at
			 : (int)record_end(header, rings->sources[rings->first].plan.trailer_size) -
				   rings->id_before_end;
	const uint64_t *index;
	uint64_t id;

	if (!rings->id_at)
		return &rings->sources[rings->first];
	if (at < (int)sizeof(*header) || at + 8 > header->size)
		return NULL;
	memcpy(&id, (const char *)header + at, 8);
	if (id - rings->first_id < rings->ids_n)
		return rings->by_id[id - rings->first_id];
	index = map_find(&rings->ids, id);
	return index ? &rings->sources[*index] : NULL;
}

static __attribute__((noinline)) uint64_t look_at_other(const struct rings *rings,
							const struct perf_event_header *header,
							void **ret_what)
{
	const struct rings_source *source = source_of(rings, header);

	*ret_what = (void *)(uintptr_t)source;
	return source ? sample_plan_time(&source->plan, header) : 0;
}

uint64_t rings_look(void *arg, const struct perf_event_header *header, void **ret_what)
{
	const struct rings *rings = arg;
	const struct rings_source *source;
	uint64_t id;

	// Nearly all are samples of ids in a row.
	if (header->type == PERF_RECORD_SAMPLE && rings->id_at && rings->id_at + 8 <= header->size) {
		memcpy(&id, (const char *)header + rings->id_at, 8);
		if (id - rings->first_id < rings->ids_n) {
			source = rings->by_id[id - rings->first_id];
			*ret_what = (void *)(uintptr_t)source;
			return source ? sample_plan_time(&source->plan, header) : 0;
		}
	}
	return look_at_other(rings, header, ret_what);
}

// ---- what they are

static int give_side(struct rings *rings, const struct rings_source *source,
		     const struct perf_event_header *header)
{
	const struct record record = {.header = header};
	const struct perf_event_header *moved;
	struct hit hit;
	int err;

	hit_init(&hit, source->event, &record);
	sample_decode_trailer(&source->plan, header, &hit.sample);
	err = run_take_record(rings->run, &hit);
	moved = moved_texts_record(&rings->moved, header, 0);
	if (moved)
		sym_record(rings->run->sym, moved, hit.sample.time);
	return err;
}

static bool decode_plain(const struct perf_event_header *header, struct sample *ret)
{
	const uint32_t *words = (const uint32_t *)header;

	ret->header = header;
	memcpy(&ret->id, &words[2], 8);
	ret->pid = words[4];
	ret->tid = words[5];
	memcpy(&ret->time, &words[6], 8);
	ret->cpu = words[8];
	ret->cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	memcpy(&ret->period, &words[10], 8);
	ret->raw_size = words[12];
	ret->raw = &words[13];
	return ret->raw_size <= header->size - (unsigned)PLAIN_HEAD_BYTES;
}

static inline int give_hit(struct rings *rings, const struct rings_source *source, struct hit *hit)
{
	struct run *run = rings->run;

	if (!source->event)
		return 0;
	run_note_sample(run, &hit->sample);
	hit->event = source->event;
	hit->task = rings->tasks ? sym_task(run->sym, hit->sample.pid, hit->sample.tid) : NULL;
	hit->record.header = hit->sample.header;
	return run->hooks->hits(run->arg, run, hit, 1);
}

static __attribute__((noinline)) int give_other(struct rings *rings,
						const struct rings_source *source,
						const struct perf_event_header *header)
{
	struct hit hit;

	hit.record = (struct record){0};
	if (sample_decode(&source->plan, header, &hit.sample) == 0)
		return give_hit(rings, source, &hit);
	rings->run->stats.bad_samples++;
	return 0;
}

static int give_sample(struct rings *rings, const struct rings_source *source,
		       const struct perf_event_header *header)
{
	if (!source->plain || header->size < PLAIN_HEAD_BYTES + 4)
		return give_other(rings, source, header);
	if (decode_plain(header, &rings->hit.sample))
		return give_hit(rings, source, &rings->hit);
	rings->run->stats.bad_samples++;
	return 0;
}

int rings_give(void *arg, const struct perf_event_header *header, uint64_t time, void *what)
{
	struct rings *rings = arg;
	const struct rings_source *source = what;

	if (!source) {
		rings->run->stats.unknown_ids++;
		return 0;
	}
	return header->type == PERF_RECORD_SAMPLE ? give_sample(rings, source, header)
						  : give_side(rings, source, header);
}

void rings_begin(struct rings *rings, const struct opened *opened)
{
	struct merge *merge = &rings->merge;
	uint64_t late = merge->late_n, bytes = merge->bytes;
	bool ordered = merge->ordered;

	merge_done(merge);
	merge_init(merge, opened->rings.v, opened->rings.n);
	merge->ordered = ordered;
	merge->look = rings_look;
	merge->give = rings_give;
	merge->arg = rings;
	merge->late_n = late;
	merge->bytes = bytes;
}
