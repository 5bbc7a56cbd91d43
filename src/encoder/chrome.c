// SPDX-License-Identifier: GPL-2.0-or-later
// Trace events for chrome://tracing, Perfetto and speedscope: what a thread was seen doing in samples that follow each other
// closely is one slice. A sample stands for the time up to the next one of its thread, at most for twice the usual gap.
// Tracepoints and samples of other events are instants. Each CPU has a row that says which program ran.
// Format: "Trace Event Format" of the Chromium project.
#include "base/json.h"
#include "base/map.h"
#include "encoder/core/encoder.h"
#include "view/profile.h"

struct open_slice {
	uint32_t node;
	uint64_t start_ns;
};

struct writer {
	struct out *out;
	const struct profile *profile;
	const char *separator;
	uint64_t gap_ns;
	uint64_t *ends_ns;	     // by thread: from then on its number belongs to another one
	VEC(struct open_slice) open; // from the outermost frame
	struct profile_path path;
};

static void begin(struct writer *writer, const char *phase, struct str name)
{
	out_text(writer->out, writer->separator);
	writer->separator = ",\n";
	out_text(writer->out, "{\"ph\":\"");
	out_text(writer->out, phase);
	out_text(writer->out, "\",\"name\":");
	json_quote(writer->out, name);
}

static void field(struct writer *writer, const char *name, uint64_t v)
{
	out_text(writer->out, ",\"");
	out_text(writer->out, name);
	out_text(writer->out, "\":");
	out_u64(writer->out, v);
}

static void field_us(struct writer *writer, const char *name, uint64_t ns)
{
	field(writer, name, ns / 1000);
	out_char(writer->out, '.');
	out_u64_zeros(writer->out, ns % 1000, 3);
}

static void field_text(struct writer *writer, const char *name, struct str text)
{
	out_text(writer->out, ",\"");
	out_text(writer->out, name);
	out_text(writer->out, "\":");
	json_quote(writer->out, text);
}

// A task that is not known has no number; 0 is the idle task.
static void field_task(struct writer *writer, const struct profile_thread *thread)
{
	field(writer, "pid", thread->pid == UINT32_MAX ? 0 : thread->pid);
	field(writer, "tid", thread->tid == UINT32_MAX ? 0 : thread->tid);
}

static void name_threads(struct writer *writer)
{
	const struct profile *profile = writer->profile;

	vec_each(struct profile_thread, thread, &profile->threads) {
		begin(writer, "M", STR("thread_name"));
		field_task(writer, thread);
		out_text(writer->out, ",\"args\":{\"name\":");
		json_quote(writer->out, profile_text(profile, thread->name));
		out_text(writer->out, "}}");
		if (thread->pid != thread->tid)
			continue;
		begin(writer, "M", STR("process_name"));
		field_task(writer, thread);
		out_text(writer->out, ",\"args\":{\"name\":");
		json_quote(writer->out, profile_text(profile, thread->process_name));
		out_text(writer->out, "}}");
	}
}

static void close_slice(struct writer *writer, const struct profile_thread *thread, uint64_t end_ns)
{
	static const char *const names[PROFILE_KINDS] =
		{[PROFILE_USER] = "user", [PROFILE_KERNEL] = "kernel", [PROFILE_JIT] = "jit"};
	const struct profile *profile = writer->profile;
	struct open_slice slice = vec_pop(&writer->open);
	const struct profile_frame *frame = &profile->frames.v[profile->nodes.v[slice.node].frame];
	const struct profile_function *function = &profile->functions.v[frame->function];

	begin(writer, "X", profile_text(profile, function->name));
	field_text(writer, "cat",
		   frame->inline_depth ? STR("inlined") : str_of(names[function->kind]));
	field_task(writer, thread);
	field_us(writer, "ts", slice.start_ns);
	field_us(writer, "dur", end_ns - slice.start_ns);
	if (function->file != PROFILE_NONE) {
		out_text(writer->out, ",\"args\":{\"file\":");
		json_quote(writer->out, profile_text(profile, profile->files.v[function->file].path));
		if (frame->source)
			field_text(writer, "source", profile_text(profile, frame->source));
		if (frame->line)
			field(writer, "line", frame->line);
		out_char(writer->out, '}');
	}
	out_char(writer->out, '}');
}

static bool same_function(const struct writer *writer, uint32_t a, uint32_t b)
{
	return profile_function_of(writer->profile, a) == profile_function_of(writer->profile, b);
}

static void take_stack(struct writer *writer, const struct profile_thread *thread,
		       const struct profile_sample *sample, uint64_t now_ns)
{
	size_t same = 0;

	profile_path(writer->profile, sample->node, &writer->path);
	while (same < writer->open.n && same < writer->path.nodes.n &&
	       same_function(writer, writer->open.v[same].node, writer->path.nodes.v[same]))
		same++;
	while (writer->open.n > same)
		close_slice(writer, thread, now_ns);
	for (size_t i = same; i < writer->path.nodes.n; i++)
		vec_push(&writer->open, (struct open_slice){writer->path.nodes.v[i], now_ns});
}

static void put_instant(struct writer *writer, const struct profile_thread *thread,
			const struct profile_sample *sample, uint64_t now_ns)
{
	const struct profile *profile = writer->profile;

	begin(writer, "i", profile_text(profile, profile->events.v[sample->event].name));
	out_text(writer->out, ",\"s\":\"t\"");
	field_task(writer, thread);
	field_us(writer, "ts", now_ns);
	out_text(writer->out, ",\"args\":{\"period\":");
	out_u64(writer->out, sample->weight);
	if (sample->cpu != PROFILE_NONE)
		field(writer, "cpu", sample->cpu);
	if (sample->text)
		field_text(writer, "text", profile_text(profile, sample->text));
	out_text(writer->out, "}}");
}

static void find_ends(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	struct map next_first = {0};

	writer->ends_ns = xcalloc(profile->threads.n + 1, sizeof(*writer->ends_ns));
	for (size_t i = profile->threads.n; i-- > 0;) {
		const struct profile_thread *thread = &profile->threads.v[i];
		bool is_new;
		uint64_t *first = map_at(&next_first, thread->tid, &is_new);

		writer->ends_ns[i] = is_new ? UINT64_MAX : *first;
		*first = thread->first_ns - profile->first_ns;
	}
	map_done(&next_first);
}

static void put_thread(struct writer *writer, const struct profile_thread *thread, uint64_t end_ns)
{
	const struct profile *profile = writer->profile;
	uint64_t until_ns = 0; // what the last sample stands for

	for (size_t i = 0; i < thread->n; i++) {
		const struct profile_sample *sample =
			&profile->samples.v[profile->by_thread[thread->first + i]];
		uint64_t now_ns;

		if (sample->time_ns == UINT64_MAX)
			continue;
		now_ns = sample->time_ns - profile->first_ns;
		if (sample->event != profile->main_event ||
		    profile->events.v[sample->event].is_tracepoint) {
			put_instant(writer, thread, sample, now_ns);
			continue;
		}
		if (now_ns > until_ns)
			while (writer->open.n)
				close_slice(writer, thread, until_ns);
		take_stack(writer, thread, sample, now_ns);
		until_ns = now_ns + 2 * writer->gap_ns;
		if (i + 1 == thread->n)
			until_ns = now_ns + writer->gap_ns;
		if (until_ns > end_ns)
			until_ns = MAX(end_ns, now_ns);
	}
	while (writer->open.n)
		close_slice(writer, thread, until_ns);
}

// One more process, whose threads are the CPUs: which program was seen there.
static void put_cpus(struct writer *writer)
{
	enum { CPUS_PID = 1u << 30 };
	const struct profile *profile = writer->profile;
	struct cpu {
		uint32_t thread, first; // + 1
		uint64_t start_ns, until_ns;
	} * cpus;

	// Tracepoints don't tell who ran between them.
	if (!profile->cpus_n || profile->cpus_n > 1u << 16 ||
	    profile->events.v[profile->main_event].is_tracepoint)
		return;
	cpus = xcalloc(profile->cpus_n, sizeof(*cpus));
	begin(writer, "M", STR("process_name"));
	field(writer, "pid", CPUS_PID);
	out_text(writer->out, ",\"args\":{\"name\":\"CPUs\"}}");
	for (size_t i = 0; i <= profile->samples.n + profile->cpus_n - 1; i++) {
		bool end = i >= profile->samples.n;
		const struct profile_sample *sample = end ? NULL : &profile->samples.v[i];
		uint32_t number = end ? (uint32_t)(i - profile->samples.n) : sample->cpu;

		if (!end && (sample->event != profile->main_event || number == PROFILE_NONE ||
			     sample->time_ns == UINT64_MAX))
			continue;
		struct cpu *cpu = &cpus[number];
		uint64_t now_ns = end ? UINT64_MAX : sample->time_ns - profile->first_ns;

		if (cpu->thread &&
		    (end || cpu->thread != sample->thread + 1 || now_ns > cpu->until_ns)) {
			const struct profile_thread *thread = &profile->threads.v[cpu->thread - 1];

			begin(writer, "X", profile_text(profile, thread->name));
			out_text(writer->out, ",\"cat\":\"cpu\"");
			field(writer, "pid", CPUS_PID);
			field(writer, "tid", number);
			field_us(writer, "ts", cpu->start_ns);
			field_us(writer, "dur", MIN(now_ns, cpu->until_ns) - cpu->start_ns);
			out_text(writer->out, ",\"args\":{\"pid\":");
			out_i64(writer->out, (int32_t)thread->pid);
			out_text(writer->out, ",\"tid\":");
			out_i64(writer->out, (int32_t)thread->tid);
			out_text(writer->out, "}}");
			cpu->thread = 0;
		}
		if (end)
			continue;
		if (!cpu->thread)
			*cpu = (struct cpu){.thread = sample->thread + 1, .start_ns = now_ns};
		cpu->until_ns = now_ns + 2 * writer->gap_ns;
	}
	free(cpus);
}

static void put_info(struct writer *writer)
{
	const struct profile *profile = writer->profile;
	struct out *out = writer->out;

	out_text(out, "\n],\n\"displayTimeUnit\":\"ns\",\"otherData\":{\"recording\":");
	json_quote(out, profile_text(profile, profile->title));
	field_text(writer, "command", profile_text(profile, profile->command));
	field_text(writer, "host", profile_text(profile, profile->host));
	field_text(writer, "kernel", profile_text(profile, profile->system));
	field_text(writer, "exporter", STR("sonde"));
	field(writer, "lost", profile->lost_n);
	out_text(out, "}}\n");
}

static int chrome_profile(struct out *out, const struct profile *profile)
{
	struct writer writer = {.out = out,
				.profile = profile,
				.separator = "\n",
				.gap_ns = profile_usual_gap_ns(profile, profile->main_event)};

	out_text(out, "{\"traceEvents\":[");
	name_threads(&writer);
	find_ends(&writer);
	for (size_t i = 0; i < profile->threads.n && !out_broken(out); i++)
		put_thread(&writer, &profile->threads.v[i], writer.ends_ns[i]);
	put_cpus(&writer);
	put_info(&writer);
	vec_done(&writer.open);
	vec_done(&writer.path.nodes);
	free(writer.ends_ns);
	return 0;
}

const struct encoder encoder_chrome = {
	.name = "chrome",
	.suffix = ".trace.json",
	.summary = "trace events for chrome://tracing and ui.perfetto.dev",
	.profile = chrome_profile,
};
