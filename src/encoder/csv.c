// SPDX-License-Identifier: GPL-2.0-or-later
// One row a sample.
#include "encoder/core/encoder.h"
#include "view/profile.h"

struct writer {
	struct out *out, stack;
	const struct profile *profile;
	struct profile_path path;
};

// Folded, from the outermost frame; a ';' in a name would read back as two frames.
static struct str stack_text(struct writer *writer, uint32_t node)
{
	const struct profile *profile = writer->profile;
	const char *separator = "";

	writer->stack.n = 0;
	profile_path(profile, node, &writer->path);
	vec_each(uint32_t, at, &writer->path.nodes) {
		struct str name = profile_text(profile, profile_function_of(profile, *at)->name);

		out_text(&writer->stack, separator);
		separator = ";";
		for (size_t i = 0; i < name.n; i++)
			out_char(&writer->stack, name.p[i] == ';' ? ':' : name.p[i]);
	}
	return (struct str){writer->stack.buf, writer->stack.n};
}

static void put_place(struct writer *writer, uint32_t node)
{
	const struct profile *profile = writer->profile;
	struct out *out = writer->out;

	if (!node) {
		out_text(out, ",,,,,");
		return;
	}
	const struct profile_frame *frame = &profile->frames.v[profile->nodes.v[node].frame];
	const struct profile_function *function = &profile->functions.v[frame->function];

	out_csv(out, profile_text(profile, function->name));
	out_char(out, ',');
	if (function->file != PROFILE_NONE)
		out_csv(out, profile_text(profile, profile->files.v[function->file].path));
	out_char(out, ',');
	if (function->file != PROFILE_NONE)
		out_str(out, profile_text(profile, profile->files.v[function->file].build_id));
	out_char(out, ',');
	out_csv(out, profile_text(profile, frame->source));
	out_char(out, ',');
	if (frame->line)
		out_u64(out, frame->line);
	out_char(out, ',');
}

static void put_id(struct out *out, uint32_t id)
{
	if (id != UINT32_MAX)
		out_u64(out, id);
	out_char(out, ',');
}

static int csv_profile(struct out *out, const struct profile *profile)
{
	struct writer writer = {.out = out, .profile = profile};

	out_init_memory(&writer.stack);
	out_text(out,
		 "time,comm,pid,tid,cpu,event,period,function,file,build_id,source,line,stack,text\n");
	vec_each(struct profile_sample, sample, &profile->samples) {
		const struct profile_thread *thread = &profile->threads.v[sample->thread];

		if (sample->time_ns != UINT64_MAX)
			out_time(out, sample->time_ns, 0, 9);
		out_char(out, ',');
		out_csv(out, profile_text(profile, thread->name));
		out_char(out, ',');
		put_id(out, thread->pid);
		put_id(out, thread->tid);
		put_id(out, sample->cpu);
		out_csv(out, profile_text(profile, profile->events.v[sample->event].name));
		out_char(out, ',');
		out_u64(out, sample->weight);
		out_char(out, ',');
		put_place(&writer, sample->node);
		out_csv(out, stack_text(&writer, sample->node));
		out_char(out, ',');
		out_csv(out, profile_text(profile, sample->text));
		out_char(out, '\n');
		if (out_broken(out))
			break;
	}
	out_done(&writer.stack);
	vec_done(&writer.path.nodes);
	return 0;
}

const struct encoder encoder_csv = {
	.name = "csv",
	.suffix = ".csv",
	.summary = "one row a sample",
	.profile = csv_profile,
};
