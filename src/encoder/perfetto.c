// SPDX-License-Identifier: GPL-2.0-or-later
// Perfetto's own trace: each sample with its call stack as the samples of a perf data source, tracepoints as instants on the
// tracks of their threads. Format: protos/perfetto/trace of github.com/google/perfetto.
#include "encoder/core/encoder.h"
#include "encoder/core/protobuf.h"
#include "view/profile.h"

enum { // fields
	TRACE_PACKET = 1,
	PACKET_PROCESS_TREE = 2,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_PERF_SAMPLE = 66,
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS = 17,
	INTERNED_SOURCE_PATHS = 18,
	INTERNED_MAPPINGS = 19,
	STRING_IID = 1,
	STRING_TEXT = 2,
	SEQUENCE = 1,
	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,
	CPU_MODE_KERNEL = 1,
	CPU_MODE_USER = 2,
	TRACK_INSTANT = 3,
};

struct writer {
	struct out *out, packet, message, inner, packed;
	const struct profile *profile;
	struct profile_path path;
};

static void end_packet(struct writer *writer)
{
	proto_u64(&writer->packet, PACKET_SEQUENCE_ID, SEQUENCE);
	proto_message(writer->out, TRACE_PACKET, &writer->packet);
}

static void intern_text_as(struct writer *writer, unsigned field, uint64_t iid, struct str text)
{
	proto_u64(&writer->inner, STRING_IID, iid);
	proto_bytes(&writer->inner, STRING_TEXT, text);
	proto_message(&writer->message, field, &writer->inner);
}

static void intern_files(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	for (size_t i = 0; i < profile->files.n; i++) {
		const struct profile_file *file = &profile->files.v[i];
		struct str build_id = profile_text(profile, file->build_id);
		char bytes[20];
		size_t n = MIN(build_id.n / 2, sizeof(bytes));

		intern_text_as(writer, INTERNED_PATHS, i + 1, profile_text(profile, file->path));
		for (size_t k = 0; k < n; k++) {
			uint64_t byte = 0;

			num_parse_hex((struct str){build_id.p + 2 * k, 2}, &byte);
			bytes[k] = (char)byte;
		}
		if (n)
			intern_text_as(writer, INTERNED_BUILD_IDS, i + 1, (struct str){bytes, n});
		proto_u64(&writer->inner, 1, i + 1);
		proto_u64(&writer->inner, 2, n ? i + 1 : 0);
		// Our addresses count from the file's begin, as if it were mapped at 0.
		proto_u64(&writer->inner, 5, file->end);
		proto_u64(&writer->inner, 7, i + 1);
		proto_message(&writer->message, INTERNED_MAPPINGS, &writer->inner);
	}
}

static void intern_frames(struct writer *writer)
{
	static const uint8_t kinds[PROFILE_KINDS] =
		{[PROFILE_USER] = 1, [PROFILE_KERNEL] = 2, [PROFILE_JIT] = 4};
	const struct profile *profile = writer->profile;

	for (size_t i = 0; i < profile->functions.n; i++)
		intern_text_as(writer, INTERNED_FUNCTION_NAMES, i + 1,
			       profile_text(profile, profile->functions.v[i].name));
	uint8_t *known = xcalloc(profile->strings.strings.n, 1);
	for (size_t i = 0; i < profile->frames.n; i++) {
		const struct profile_frame *frame = &profile->frames.v[i];
		const struct profile_function *function = &profile->functions.v[frame->function];

		if (frame->source && !known[frame->source]) {
			known[frame->source] = 1;
			intern_text_as(writer, INTERNED_SOURCE_PATHS, frame->source,
				       profile_text(profile, frame->source));
		}
		proto_u64(&writer->inner, 1, i + 1);
		proto_u64(&writer->inner, 2, frame->function + 1ull);
		if (function->file != PROFILE_NONE) {
			proto_u64(&writer->inner, 3, function->file + 1ull);
			proto_u64_always(&writer->inner, 4, frame->address);
		}
		proto_u64(&writer->inner, 5, frame->source);
		proto_u64(&writer->inner, 6, frame->line);
		proto_u64(&writer->inner, 7, kinds[function->kind]);
		proto_message(&writer->message, INTERNED_FRAMES, &writer->inner);
	}
	free(known);
}

static void intern_stacks(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	uint8_t *used = xcalloc(profile->nodes.n, 1);

	vec_each(struct profile_sample, sample, &profile->samples)
		used[sample->node] = 1;
	for (size_t i = 1; i < profile->nodes.n; i++) {
		if (!used[i])
			continue;
		profile_path(profile, (uint32_t)i, &writer->path);
		proto_u64(&writer->inner, 1, i);
		vec_each(uint32_t, at, &writer->path.nodes)
			proto_u64(&writer->inner, 2, profile->nodes.v[*at].frame + 1ull);
		proto_message(&writer->message, INTERNED_CALLSTACKS, &writer->inner);
	}
	free(used);
}

static void put_state(struct writer *writer)
{
	const struct profile_event *event = &writer->profile->events.v[writer->profile->main_event];

	intern_files(writer);
	intern_frames(writer);
	intern_stacks(writer);
	proto_message(&writer->packet, PACKET_INTERNED, &writer->message);
	// TracePacketDefaults.perf_sample_defaults.timebase: what is counted, and how often a sample is taken.
	if (event->period)
		proto_u64(&writer->inner, 1, event->period);
	proto_text(&writer->inner, 10, profile_text(writer->profile, event->name));
	proto_message(&writer->message, 1, &writer->inner);
	proto_message(&writer->packed, 12, &writer->message);
	proto_message(&writer->packet, PACKET_DEFAULTS, &writer->packed);
	proto_u64(&writer->packet, PACKET_TIMESTAMP, writer->profile->first_ns);
	proto_u64(&writer->packet, PACKET_FLAGS, FLAG_CLEARED);
	end_packet(writer);
}

static void put_tasks(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	vec_each(struct profile_thread, thread, &profile->threads) {
		bool is_main = thread->pid == thread->tid;

		if (thread->tid == UINT32_MAX)
			continue;
		if (is_main) { // ProcessTree.Process: pid, cmdline
			proto_u64_always(&writer->inner, 1, thread->pid);
			proto_text(&writer->inner, 3, profile_text(profile, thread->process_name));
			proto_message(&writer->message, 1, &writer->inner);
		}
		// ProcessTree.Thread: tid, tgid, name
		proto_u64_always(&writer->inner, 1, thread->tid);
		if (thread->pid != UINT32_MAX)
			proto_u64_always(&writer->inner, 3, thread->pid);
		proto_text(&writer->inner, 2, profile_text(profile, thread->name));
		proto_message(&writer->message, 2, &writer->inner);
		proto_message(&writer->packet, PACKET_PROCESS_TREE, &writer->message);
		proto_u64(&writer->packet, PACKET_TIMESTAMP, thread->first_ns);
		end_packet(writer);
	}
}

static uint64_t track_of(const struct profile_thread *thread)
{
	return (uint64_t)thread->pid << 32 | thread->tid;
}

// TrackDescriptor: uuid, ThreadDescriptor (pid, tid, thread_name), or a name where those are not known. For threads that have
// tracepoints.
static void put_tracks(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	vec_each(struct profile_thread, thread, &profile->threads) {
		bool wanted = false;

		for (size_t i = 0; i < thread->n && !wanted; i++)
			wanted = profile->samples.v[profile->by_thread[thread->first + i]].text;
		if (!wanted)
			continue;
		proto_u64_always(&writer->message, 1, track_of(thread));
		if (thread->pid == UINT32_MAX || thread->tid == UINT32_MAX) {
			proto_text(&writer->message, 2, profile_text(profile, thread->name));
		} else {
			proto_u64_always(&writer->inner, 1, thread->pid);
			proto_u64_always(&writer->inner, 2, thread->tid);
			proto_text(&writer->inner, 5, profile_text(profile, thread->name));
			proto_message(&writer->message, 4, &writer->inner);
		}
		proto_message(&writer->packet, PACKET_TRACK_DESCRIPTOR, &writer->message);
		end_packet(writer);
	}
}

static void put_sample(struct writer *writer, const struct profile_sample *sample)
{
	const struct profile *profile = writer->profile;
	const struct profile_thread *thread = &profile->threads.v[sample->thread];
	bool kernel =
		sample->node && profile_function_of(profile, sample->node)->kind == PROFILE_KERNEL;

	if (sample->cpu != PROFILE_NONE)
		proto_u64_always(&writer->message, 1, sample->cpu);
	if (thread->pid != UINT32_MAX)
		proto_u64_always(&writer->message, 2, thread->pid);
	if (thread->tid != UINT32_MAX)
		proto_u64_always(&writer->message, 3, thread->tid);
	proto_u64(&writer->message, 4, sample->node);
	proto_u64(&writer->message, 5, kernel ? CPU_MODE_KERNEL : CPU_MODE_USER);
	proto_u64(&writer->message, 6, sample->weight);
	proto_u64(&writer->packet, PACKET_TIMESTAMP, sample->time_ns);
	proto_u64(&writer->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
	proto_message(&writer->packet, PACKET_PERF_SAMPLE, &writer->message);
	end_packet(writer);
}

// TrackEvent: type, track_uuid, categories, name; DebugAnnotation: name, string_value.
static void put_instant(struct writer *writer, const struct profile_sample *sample)
{
	const struct profile *profile = writer->profile;

	proto_u64(&writer->message, 9, TRACK_INSTANT);
	proto_u64_always(&writer->message, 11, track_of(&profile->threads.v[sample->thread]));
	proto_bytes(&writer->message, 22, STR("tracepoint"));
	proto_text(&writer->message, 23,
		   profile_text(profile, profile->events.v[sample->event].name));
	proto_bytes(&writer->inner, 10, STR("text"));
	proto_text(&writer->inner, 6, profile_text(profile, sample->text));
	proto_message(&writer->message, 4, &writer->inner);
	proto_u64(&writer->packet, PACKET_TIMESTAMP, sample->time_ns);
	proto_message(&writer->packet, PACKET_TRACK_EVENT, &writer->message);
	end_packet(writer);
}

// kernel_records_lost of a sample that is none.
static void put_losses(struct writer *writer)
{
	if (!writer->profile->lost_n)
		return;
	proto_u64_always(&writer->message, 1, 0);
	proto_u64(&writer->message, 17, writer->profile->lost_n);
	proto_u64(&writer->packet, PACKET_TIMESTAMP, writer->profile->last_ns);
	proto_u64(&writer->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
	proto_message(&writer->packet, PACKET_PERF_SAMPLE, &writer->message);
	end_packet(writer);
}

static int perfetto_profile(struct out *out, const struct profile *profile)
{
	struct writer writer = {.out = out, .profile = profile};
	struct out *scratch[] = {&writer.packet, &writer.message, &writer.inner, &writer.packed};

	for (size_t i = 0; i < ARRAY_SIZE(scratch); i++)
		out_init_memory(scratch[i]);
	put_state(&writer);
	put_tasks(&writer);
	put_tracks(&writer);
	vec_each(struct profile_sample, sample, &profile->samples) {
		if (sample->time_ns == UINT64_MAX)
			continue;
		put_sample(&writer, sample);
		if (sample->text)
			put_instant(&writer, sample);
		if (out_broken(out))
			break;
	}
	put_losses(&writer);
	for (size_t i = 0; i < ARRAY_SIZE(scratch); i++)
		out_done(scratch[i]);
	vec_done(&writer.path.nodes);
	return 0;
}

const struct encoder encoder_perfetto = {
	.name = "perfetto",
	.suffix = ".perfetto-trace",
	.summary = "samples and tracepoints for ui.perfetto.dev",
	.profile = perfetto_profile,
};
