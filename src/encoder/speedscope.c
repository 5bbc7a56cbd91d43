// SPDX-License-Identifier: GPL-2.0-or-later
// speedscope's own format: a profile for each thread and event, its samples in the order of time, each as heavy as its period.
// Schema: https://www.speedscope.app/file-format-schema.json
#include "base/json.h"
#include "encoder/core/encoder.h"
#include "view/profile.h"

struct writer {
	struct out *out;
	const struct profile *profile;
	struct profile_path path;
	uint32_t *index; // samples of one thread and event
	size_t index_n;
};

// Frames that look the same are one: speedscope adds up by frame.
static void put_frames(struct out *out, const struct profile *profile)
{
	for (size_t i = 0; i < profile->frames.n; i++) {
		const struct profile_frame *frame = &profile->frames.v[i];
		const struct profile_function *function = &profile->functions.v[frame->function];

		out_text(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_quote(out, profile_text(profile, function->name));
		if (frame->source) {
			out_text(out, ",\"file\":");
			json_quote(out, profile_text(profile, frame->source));
			if (frame->line) {
				out_text(out, ",\"line\":");
				out_u64(out, frame->line);
			}
		} else if (function->file != PROFILE_NONE) {
			out_text(out, ",\"file\":");
			json_quote(out, profile_text(profile, profile->files.v[function->file].path));
		}
		out_char(out, '}');
	}
}

static void put_stack(struct writer *writer, uint32_t node)
{
	const struct profile_node *nodes = writer->profile->nodes.v;
	const char *separator = "";

	profile_path(writer->profile, node, &writer->path);
	out_char(writer->out, '[');
	vec_each(uint32_t, at, &writer->path.nodes) {
		out_text(writer->out, separator);
		separator = ",";
		out_u64(writer->out, nodes[*at].frame);
	}
	out_char(writer->out, ']');
}

// Neighbours with the same stack are written once.
static size_t same_stack(const struct writer *writer, size_t i, uint64_t *ret_weight)
{
	const struct profile_sample *samples = writer->profile->samples.v;
	uint32_t node = samples[writer->index[i]].node;

	*ret_weight = 0;
	for (; i < writer->index_n && samples[writer->index[i]].node == node; i++)
		*ret_weight += samples[writer->index[i]].weight;
	return i;
}

static uint64_t put_weights(struct writer *writer)
{
	uint64_t weight, sum = 0;

	out_text(writer->out, "],\n\"weights\":[");
	for (size_t i = 0; i < writer->index_n;) {
		out_text(writer->out, i ? "," : "");
		i = same_stack(writer, i, &weight);
		out_u64(writer->out, weight);
		sum += weight;
	}
	return sum;
}

static void put_profile(struct writer *writer, const struct profile_thread *thread,
			const struct profile_event *event)
{
	struct out *out = writer->out, name;
	uint64_t weight;

	out_init_memory(&name);
	out_str(&name, profile_text(writer->profile, thread->name));
	out_printf(&name, " %d/%d", (int)thread->pid, (int)thread->tid);
	if (writer->profile->events.n > 1) {
		out_text(&name, " ");
		out_str(&name, profile_text(writer->profile, event->name));
	}
	out_text(out, "{\"type\":\"sampled\",\"name\":");
	json_quote(out, (struct str){name.buf, name.n});
	out_done(&name);
	out_text(out, event->is_time ? ",\"unit\":\"nanoseconds\",\"startValue\":0,\"samples\":["
				     : ",\"unit\":\"none\",\"startValue\":0,\"samples\":[");
	for (size_t i = 0; i < writer->index_n; i = same_stack(writer, i, &weight)) {
		out_text(out, i ? "," : "");
		put_stack(writer, writer->profile->samples.v[writer->index[i]].node);
	}
	uint64_t sum = put_weights(writer);
	out_text(out, "],\"endValue\":");
	out_u64(out, sum);
	out_char(out, '}');
}

static size_t heaviest_thread(const struct profile *profile)
{
	size_t heaviest = 0;

	for (size_t i = 1; i < profile->threads.n; i++)
		if (profile->threads.v[i].n > profile->threads.v[heaviest].n)
			heaviest = i;
	return heaviest;
}

static int speedscope_profile(struct out *out, const struct profile *profile)
{
	struct writer writer = {.out = out, .profile = profile};
	size_t profiles_n = 0, active = 0, heaviest = heaviest_thread(profile);

	writer.index = xcalloc(profile->samples.n + 1, sizeof(*writer.index));
	out_text(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		      "\"exporter\":\"sonde\",\"name\":");
	json_quote(out, profile_text(profile, profile->title));
	out_text(out, ",\"shared\":{\"frames\":[");
	put_frames(out, profile);
	out_text(out, "]},\n\"profiles\":[");
	for (size_t i = 0; i < profile->threads.n && !out_broken(out); i++) {
		const struct profile_thread *thread = &profile->threads.v[i];

		for (size_t event = 0; event < profile->events.n; event++) {
			writer.index_n = 0;
			for (size_t k = 0; k < thread->n; k++) {
				uint32_t sample = profile->by_thread[thread->first + k];

				if (profile->samples.v[sample].event == event)
					writer.index[writer.index_n++] = sample;
			}
			if (!writer.index_n)
				continue;
			if (i == heaviest && event == profile->main_event)
				active = profiles_n;
			out_text(out, profiles_n++ ? ",\n" : "\n");
			put_profile(&writer, thread, &profile->events.v[event]);
		}
	}
	out_text(out, "],\n\"activeProfileIndex\":");
	out_u64(out, active);
	out_text(out, "}\n");
	free(writer.index);
	vec_done(&writer.path.nodes);
	return 0;
}

const struct encoder encoder_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.summary = "for speedscope.app",
	.profile = speedscope_profile,
};
