// SPDX-License-Identifier: GPL-2.0-or-later
// The profile of pprof: samples added up by stack, thread and CPU; two values for each event: how many samples, and what they
// stand for. Format: proto/profile.proto of github.com/google/pprof.
#include "base/hash.h"
#include "base/map.h"
#include "encoder/core/encoder.h"
#include "encoder/core/protobuf.h"
#include "view/profile.h"

enum { // fields
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
};

enum label { LABEL_THREAD, LABEL_PROCESS, LABEL_PID, LABEL_TID, LABEL_CPU, LABELS };
static const char *const label_names[LABELS] = {"thread", "process", "pid", "tid", "cpu"};

// Samples that are alike.
struct row {
	uint32_t node, thread, cpu;
	size_t first_value; // 2 for each event
};

struct writer {
	struct out *out, message, inner, packed;
	const struct profile *profile;
	VEC(struct row) rows;
	VEC(uint64_t) values;
	struct map row_ids;
	uint8_t *begins;	      // by frame: 1 when a location begins with it
	VEC(struct str) more_strings; // behind the profile's own
	uint64_t label_keys[LABELS];  // strings; 0: not asked for yet
	struct arena arena;
};

static uint64_t string_id(struct writer *writer, const char *text)
{
	uint32_t known = intern_lookup(&writer->profile->strings, str_of(text));
	size_t own = writer->profile->strings.strings.n;

	if (known != UINT32_MAX)
		return known;
	for (size_t i = 0; i < writer->more_strings.n; i++)
		if (str_is(writer->more_strings.v[i], text))
			return own + i;
	vec_push(&writer->more_strings, str_of(text));
	return own + writer->more_strings.n - 1;
}

static void add_up(struct writer *writer)
{
	size_t width = 2 * writer->profile->events.n;

	vec_each(struct profile_sample, sample, &writer->profile->samples) {
		uint64_t key = hash_mix((uint64_t)sample->node << 32 | sample->thread, sample->cpu);
		bool is_new;
		uint64_t *id = map_at(&writer->row_ids, key, &is_new);

		if (is_new) {
			*id = writer->rows.n;
			vec_push(&writer->rows, (struct row){sample->node, sample->thread,
							     sample->cpu, writer->values.n});
			vec_reserve(&writer->values, width);
			memset(writer->values.v + writer->values.n, 0,
			       width * sizeof(*writer->values.v));
			writer->values.n += width;
		}
		uint64_t *values = writer->values.v + writer->rows.v[*id].first_value;
		values[2 * sample->event]++;
		values[2 * sample->event + 1] += sample->weight;
	}
}

static void put_value_type(struct writer *writer, unsigned field, const char *type, const char *unit)
{
	proto_u64(&writer->message, VALUE_TYPE, string_id(writer, type));
	proto_u64(&writer->message, VALUE_UNIT, string_id(writer, unit));
	proto_message(writer->out, field, &writer->message);
}

static void put_types(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	vec_each(struct profile_event, event, &profile->events) {
		const char *name = profile_text(profile, event->name).p;

		put_value_type(writer, PROFILE_SAMPLE_TYPE,
			       profile->events.n > 1
				       ? arena_fmt(&writer->arena, "samples of %s", name)
				       : "samples",
			       "count");
		put_value_type(writer, PROFILE_SAMPLE_TYPE, name,
			       event->is_time ? "nanoseconds" : "count");
	}
}

static const struct profile_frame *frame_of_node(const struct writer *writer, uint32_t node)
{
	return &writer->profile->frames.v[writer->profile->nodes.v[node].frame];
}

// From the innermost frame at an address to the outermost one: the frames between were inlined.
static uint32_t outermost_at(const struct writer *writer, uint32_t node)
{
	const struct profile_node *nodes = writer->profile->nodes.v;

	while (frame_of_node(writer, node)->inline_depth && nodes[node].parent &&
	       frame_of_node(writer, nodes[node].parent)->inline_depth ==
		       frame_of_node(writer, node)->inline_depth - 1 &&
	       frame_of_node(writer, nodes[node].parent)->address ==
		       frame_of_node(writer, node)->address)
		node = nodes[node].parent;
	return node;
}

static void put_line(struct writer *writer, const struct profile_frame *frame)
{
	if (writer->profile->functions.v[frame->function].unresolved)
		return;
	proto_u64(&writer->inner, LINE_FUNCTION, frame->function + 1ull);
	proto_u64(&writer->inner, LINE_LINE, frame->line);
	proto_message(&writer->message, LOCATION_LINE, &writer->inner);
}

static void put_location(struct writer *writer, uint32_t node)
{
	const struct profile_frame *frame = frame_of_node(writer, node);
	uint32_t file = writer->profile->functions.v[frame->function].file;
	uint32_t outermost = outermost_at(writer, node);

	proto_u64(&writer->message, LOCATION_ID, writer->profile->nodes.v[node].frame + 1ull);
	if (file != PROFILE_NONE)
		proto_u64(&writer->message, LOCATION_MAPPING, file + 1ull);
	proto_u64(&writer->message, LOCATION_ADDRESS, frame->address);
	for (;; node = writer->profile->nodes.v[node].parent) {
		put_line(writer, frame_of_node(writer, node));
		if (node == outermost)
			break;
	}
	proto_message(writer->out, PROFILE_LOCATION, &writer->message);
}

static void put_label(struct writer *writer, enum label label, uint64_t text, uint64_t number)
{
	uint64_t *key = &writer->label_keys[label];

	if (!*key)
		*key = string_id(writer, label_names[label]);
	proto_u64(&writer->inner, LABEL_KEY, *key);
	if (text)
		proto_u64(&writer->inner, LABEL_STR, text);
	else
		proto_u64_always(&writer->inner, LABEL_NUM, number);
	proto_message(&writer->message, SAMPLE_LABEL, &writer->inner);
}

static void put_sample(struct writer *writer, const struct row *row)
{
	const struct profile_thread *thread = &writer->profile->threads.v[row->thread];
	size_t width = 2 * writer->profile->events.n;

	for (uint32_t node = row->node; node;) {
		uint32_t frame = writer->profile->nodes.v[node].frame;

		proto_varint(&writer->packed, frame + 1ull);
		if (!writer->begins[frame]) {
			writer->begins[frame] = 1;
			put_location(writer, node);
		}
		node = writer->profile->nodes.v[outermost_at(writer, node)].parent;
	}
	proto_message(&writer->message, SAMPLE_LOCATION, &writer->packed);
	for (size_t i = 0; i < width; i++)
		proto_varint(&writer->packed, writer->values.v[row->first_value + i]);
	proto_message(&writer->message, SAMPLE_VALUE, &writer->packed);
	put_label(writer, LABEL_THREAD, thread->name, 0);
	put_label(writer, LABEL_PROCESS, thread->process_name, 0);
	if (thread->pid != UINT32_MAX)
		put_label(writer, LABEL_PID, 0, thread->pid);
	if (thread->tid != UINT32_MAX)
		put_label(writer, LABEL_TID, 0, thread->tid);
	if (row->cpu != PROFILE_NONE)
		put_label(writer, LABEL_CPU, 0, row->cpu);
	proto_message(writer->out, PROFILE_SAMPLE, &writer->message);
}

static void put_mappings(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	for (size_t i = 0; i < profile->files.n; i++) {
		const struct profile_file *file = &profile->files.v[i];

		proto_u64(&writer->message, 1, i + 1);
		proto_u64(&writer->message, 2, file->start);
		proto_u64(&writer->message, 3, file->end);
		proto_u64(&writer->message, 4, file->kind == PROFILE_USER ? file->start : 0);
		proto_u64(&writer->message, 5, file->path);
		proto_u64(&writer->message, 6, file->build_id);
		for (unsigned field = 7; field <= 10;
		     field++) // functions, sources, lines, inlined: all are there
			proto_u64(&writer->message, field, 1);
		proto_message(writer->out, PROFILE_MAPPING, &writer->message);
	}
}

static void put_functions(struct writer *writer)
{
	for (size_t i = 0; i < writer->profile->functions.n; i++) {
		const struct profile_function *function = &writer->profile->functions.v[i];

		proto_u64(&writer->message, 1, i + 1);
		proto_u64(&writer->message, 2, function->name);
		proto_u64(&writer->message, 3, function->name);
		proto_u64(&writer->message, 4, function->source);
		proto_message(writer->out, PROFILE_FUNCTION, &writer->message);
	}
}

static void put_rest(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	const struct profile_event *event = &profile->events.v[profile->main_event];

	proto_u64(writer->out, PROFILE_TIME_NANOS, profile->wall_start_ns);
	proto_u64(writer->out, PROFILE_DURATION_NANOS, profile->last_ns - profile->first_ns);
	if (event->period) {
		put_value_type(writer, PROFILE_PERIOD_TYPE, profile_text(profile, event->name).p,
			       event->is_time ? "nanoseconds" : "count");
		proto_u64(writer->out, PROFILE_PERIOD, event->period);
	}
	if (profile->command)
		proto_u64_always(writer->out, PROFILE_COMMENT, profile->command);
	for (size_t i = 0; i < profile->notes.n; i++)
		proto_u64_always(writer->out, PROFILE_COMMENT, profile->notes.v[i]);
	proto_u64(writer->out, PROFILE_DEFAULT_TYPE, event->name);
	for (size_t i = 0; i < profile->strings.strings.n; i++)
		proto_text(writer->out, PROFILE_STRING, profile->strings.strings.v[i]);
	for (size_t i = 0; i < writer->more_strings.n; i++)
		proto_text(writer->out, PROFILE_STRING, writer->more_strings.v[i]);
}

static int pprof_profile(struct out *out, const struct profile *profile)
{
	struct writer writer = {.out = out, .profile = profile};

	out_init_memory(&writer.message);
	out_init_memory(&writer.inner);
	out_init_memory(&writer.packed);
	writer.begins = xcalloc(profile->frames.n + 1, 1);
	add_up(&writer);
	put_types(&writer);
	for (size_t i = 0; i < writer.rows.n && !out_broken(out); i++)
		put_sample(&writer, &writer.rows.v[i]);
	put_mappings(&writer);
	put_functions(&writer);
	put_rest(&writer);
	out_done(&writer.message);
	out_done(&writer.inner);
	out_done(&writer.packed);
	free(writer.begins);
	vec_done(&writer.rows);
	vec_done(&writer.values);
	vec_done(&writer.more_strings);
	map_done(&writer.row_ids);
	arena_done(&writer.arena);
	return 0;
}

const struct encoder encoder_pprof = {
	.name = "pprof",
	.suffix = ".pb.gz",
	.summary = "for pprof (go tool pprof) and what reads its files",
	.profile = pprof_profile,
	.gzip = true,
};
