// SPDX-License-Identifier: GPL-2.0-or-later
// The "processed profile" of profiler.firefox.com, version 60 (all threads share their tables), which it upgrades to its own.
// Format: docs-developer/CHANGELOG-formats.md and src/types/profile.ts of firefox-devtools/profiler. Samples of the main event
// make the samples of a thread; those of other events, and tracepoints, are markers with their stack.
#include "base/json.h"
#include "encoder/core/encoder.h"
#include "view/profile.h"

enum {
	FORMAT_VERSION = 60,
	GECKO_VERSION = 31,
	RESOURCE_LIBRARY = 1,
};
enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT, CATEGORY_IDLE };

static const char categories[] =
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\",\"Inlined\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\",\"Inlined\"]},"
	"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\",\"Inlined\"]},"
	"{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}]";

static const char marker_schema[] =
	"[{\"name\":\"event\",\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.text}\","
	"\"chartLabel\":\"{marker.data.text}\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
	"\"fields\":[{\"key\":\"text\",\"label\":\"Event\",\"format\":\"unique-string\"},"
	"{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"},"
	"{\"key\":\"period\",\"label\":\"Period\",\"format\":\"integer\"}]}]";

static void key(struct out *out, const char *name)
{
	out_text(out, ",\"");
	out_text(out, name);
	out_text(out, "\":");
}

static void field_u64(struct out *out, const char *name, uint64_t v)
{
	key(out, name);
	out_u64(out, v);
}

static void field_str(struct out *out, const char *name, struct str text)
{
	key(out, name);
	json_quote(out, text);
}

// Milliseconds with all digits of the ns.
static void put_ms(struct out *out, uint64_t ns)
{
	uint64_t rest = ns % 1000000;

	out_u64(out, ns / 1000000);
	if (rest) {
		out_char(out, '.');
		out_u64_zeros(out, rest, 6);
	}
}

static void field_ms(struct out *out, const char *name, uint64_t ns)
{
	key(out, name);
	put_ms(out, ns);
}

// A column of a table: "name":[expression,...], the expression writing the i-th value.
#define COLUMN(out, name, count, i, write)                                                         \
	do {                                                                                       \
		key(out, name);                                                                    \
		out_char(out, '[');                                                                \
		for (size_t i = 0; i < (count); i++) {                                             \
			if (i)                                                                     \
				out_char(out, ',');                                                \
			write;                                                                     \
		}                                                                                  \
		out_char(out, ']');                                                                \
	} while (0)

// A column that holds the same everywhere.
static void same(struct out *out, const char *name, size_t n, const char *value)
{
	COLUMN(out, name, n, i, out_text(out, value));
}

static void u64_or_null(struct out *out, uint64_t v, bool known)
{
	if (known)
		out_u64(out, v);
	else
		out_text(out, "null");
}

static uint64_t since_start(const struct profile *profile, uint64_t time_ns)
{
	return time_ns == UINT64_MAX || time_ns < profile->first_ns ? 0 : time_ns - profile->first_ns;
}

static void put_info(struct out *out, const char **separator, const char *label, struct str value)
{
	if (!value.n)
		return;
	out_text(out, *separator);
	*separator = ",";
	out_text(out, "{\"format\":\"string\"");
	field_str(out, "label", str_of(label));
	field_str(out, "value", value);
	out_char(out, '}');
}

static void put_extra(struct out *out, const struct profile *profile)
{
	const char *separator = "";

	key(out, "extra");
	out_text(out, "[{\"label\":\"Recording\",\"entries\":[");
	put_info(out, &separator, "Command line", profile_text(profile, profile->command));
	put_info(out, &separator, "Host", profile_text(profile, profile->host));
	put_info(out, &separator, "Kernel", profile_text(profile, profile->system));
	if (profile->events.n)
		put_info(out, &separator, "Event",
			 profile_text(profile, profile->events.v[profile->main_event].name));
	for (size_t i = 0; i < profile->notes.n; i++)
		put_info(out, &separator, "Incomplete", profile_text(profile, profile->notes.v[i]));
	out_text(out, "]}]");
}

static void put_meta(struct out *out, const struct profile *profile)
{
	uint64_t gap = profile_usual_gap_ns(profile, profile->main_event);

	out_text(out, "\"meta\":{\"categories\":");
	out_text(out, categories);
	out_text(out, ",\"markerSchema\":");
	out_text(out, marker_schema);
	field_u64(out, "preprocessedProfileVersion", FORMAT_VERSION);
	field_u64(out, "version", GECKO_VERSION);
	field_ms(out, "interval", gap ? gap : 1000000);
	field_ms(out, "startTime", profile->wall_start_ns);
	field_ms(out, "profilingStartTime", 0);
	field_ms(out, "profilingEndTime", profile->last_ns - profile->first_ns);
	field_str(out, "product", profile_text(profile, profile->title));
	field_str(out, "importedFrom", STR("sonde"));
	field_str(out, "platform", STR("Linux"));
	field_str(out, "oscpu", profile_text(profile, profile->machine));
	field_str(out, "CPUName", profile_text(profile, profile->cpu));
	if (profile->cpus_n)
		field_u64(out, "logicalCPUs", profile->cpus_n);
	if (profile->events.v[profile->main_event].is_time)
		out_text(out, ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
			      "\"threadCPUDelta\":\"ns\"}");
	out_text(out, ",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		      "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
		      "\"keepProfileThreadOrder\":false");
	put_extra(out, profile);
	out_char(out, '}');
}

// The build-id as Breakpad writes it: the first 16 bytes as a GUID of little-endian parts, and an age of 0.
static void put_breakpad_id(struct out *out, struct str build_id)
{
	static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};

	out_char(out, '"');
	for (size_t i = 0; build_id.n && i < 16; i++) {
		for (size_t digit = 0; digit < 2; digit++) {
			size_t at = 2 * (size_t)order[i] + digit;
			char c = at < build_id.n ? build_id.p[at] : '0';

			out_char(out, c >= 'a' ? (char)(c - 'a' + 'A') : c);
		}
	}
	out_text(out, build_id.n ? "0\"" : "\"");
}

static void put_libs(struct out *out, const struct profile *profile)
{
	key(out, "libs");
	out_char(out, '[');
	for (size_t i = 0; i < profile->files.n; i++) {
		const struct profile_file *file = &profile->files.v[i];
		struct str path = profile_text(profile, file->path),
			   name = profile_text(profile, file->name),
			   build_id = profile_text(profile, file->build_id);

		out_text(out, i ? ",{\"arch\":" : "{\"arch\":");
		json_quote(out, profile_text(profile, profile->machine));
		field_str(out, "name", name);
		field_str(out, "path", path);
		field_str(out, "debugName", name);
		field_str(out, "debugPath", path);
		key(out, "breakpadId");
		put_breakpad_id(out, build_id);
		key(out, "codeId");
		if (build_id.n)
			json_quote(out, build_id);
		else
			out_text(out, "null");
		out_char(out, '}');
	}
	out_char(out, ']');
}

static unsigned category_of(const struct profile_function *function)
{
	static const uint8_t by_kind[PROFILE_KINDS] = {
		[PROFILE_USER] = CATEGORY_USER,
		[PROFILE_KERNEL] = CATEGORY_KERNEL,
		[PROFILE_JIT] = CATEGORY_JIT,
	};

	return by_kind[function->kind];
}

#define FUNCTION(i) (&profile->functions.v[profile->frames.v[i].function])

static void put_frame_table(struct out *out, const struct profile *profile)
{
	size_t n = profile->frames.n;

	out_text(out, ",\"frameTable\":{\"length\":");
	out_u64(out, n);
	COLUMN(out, "address", n, i,
	       FUNCTION(i)->file == PROFILE_NONE ? out_text(out, "-1")
						 : out_u64(out, profile->frames.v[i].address));
	COLUMN(out, "inlineDepth", n, i, out_u64(out, profile->frames.v[i].inline_depth));
	COLUMN(out, "category", n, i, out_u64(out, category_of(FUNCTION(i))));
	COLUMN(out, "subcategory", n, i,
	       out_char(out, profile->frames.v[i].inline_depth ? '1' : '0'));
	COLUMN(out, "func", n, i, out_u64(out, profile->frames.v[i].function));
	COLUMN(out, "nativeSymbol", n, i,
	       u64_or_null(out, profile->frames.v[i].function, FUNCTION(i)->file != PROFILE_NONE));
	same(out, "innerWindowID", n, "0");
	COLUMN(out, "line", n, i,
	       u64_or_null(out, profile->frames.v[i].line, profile->frames.v[i].line != 0));
	same(out, "column", n, "null");
	out_char(out, '}');
}

// Paths of sources are a table of their own; index by string.
static uint32_t *number_sources(struct out *out, const struct profile *profile)
{
	uint32_t *index = xcalloc(profile->strings.strings.n, sizeof(*index)), n = 0;
	struct out names;

	out_init_memory(&names);
	vec_each(struct profile_function, function, &profile->functions) {
		if (!function->source || index[function->source])
			continue;
		index[function->source] = ++n;
		out_text(&names, n > 1 ? "," : "");
		out_u64(&names, function->source);
	}
	out_text(out, ",\"sources\":{\"length\":");
	out_u64(out, n);
	same(out, "uuid", n, "null");
	key(out, "filename");
	out_char(out, '[');
	out_bytes(out, names.buf, names.n);
	out_text(out, "]}");
	out_done(&names);
	return index;
}

static void put_func_table(struct out *out, const struct profile *profile, const uint32_t *sources)
{
	size_t n = profile->functions.n;
	const struct profile_function *functions = profile->functions.v;

	out_text(out, ",\"funcTable\":{\"length\":");
	out_u64(out, n);
	COLUMN(out, "name", n, i, out_u64(out, functions[i].name));
	same(out, "isJS", n, "false");
	same(out, "relevantForJS", n, "false");
	COLUMN(out, "resource", n, i,
	       functions[i].file == PROFILE_NONE ? out_text(out, "-1")
						 : out_u64(out, functions[i].file));
	COLUMN(out, "source", n, i,
	       u64_or_null(out, sources[functions[i].source] - 1ull, functions[i].source != 0));
	same(out, "lineNumber", n, "null");
	same(out, "columnNumber", n, "null");
	out_char(out, '}');
}

static void put_shared(struct out *out, const struct profile *profile)
{
	size_t nodes = profile->nodes.n - 1, files = profile->files.n;
	uint32_t *sources;

	out_text(out, ",\"shared\":{\"stackTable\":{\"length\":");
	out_u64(out, nodes);
	// Our node 0 is the empty stack, theirs is the first frame.
	COLUMN(out, "frame", nodes, i, out_u64(out, profile->nodes.v[i + 1].frame));
	COLUMN(out, "prefix", nodes, i,
	       u64_or_null(out, profile->nodes.v[i + 1].parent - 1ull,
			   profile->nodes.v[i + 1].parent != 0));
	out_char(out, '}');
	put_frame_table(out, profile);
	sources = number_sources(out, profile);
	put_func_table(out, profile, sources);
	free(sources);
	out_text(out, ",\"resourceTable\":{\"length\":");
	out_u64(out, files);
	COLUMN(out, "lib", files, i, out_u64(out, i));
	COLUMN(out, "name", files, i, out_u64(out, profile->files.v[i].name));
	same(out, "host", files, "null");
	COLUMN(out, "type", files, i, out_u64(out, RESOURCE_LIBRARY));
	// One symbol a function; those without a file are referred to by no frame.
	out_text(out, "},\"nativeSymbols\":{\"length\":");
	out_u64(out, profile->functions.n);
	COLUMN(out, "libIndex", profile->functions.n, i,
	       out_u64(out, profile->functions.v[i].file == PROFILE_NONE
				    ? 0
				    : profile->functions.v[i].file));
	COLUMN(out, "address", profile->functions.n, i, out_u64(out, profile->functions.v[i].start));
	COLUMN(out, "name", profile->functions.n, i, out_u64(out, profile->functions.v[i].name));
	COLUMN(out, "functionSize", profile->functions.n, i,
	       u64_or_null(out, profile->functions.v[i].size, profile->functions.v[i].size != 0));
	out_char(out, '}');
	COLUMN(out, "stringArray", profile->strings.strings.n, i,
	       json_quote(out, profile->strings.strings.v[i]));
	out_char(out, '}');
}

static const struct profile_sample *sample_of(const struct profile *profile,
					      const struct profile_thread *thread, size_t i)
{
	return &profile->samples.v[profile->by_thread[thread->first + i]];
}

static void put_stack(struct out *out, const struct profile_sample *sample)
{
	u64_or_null(out, sample->node - 1ull, sample->node != 0);
}

static void put_samples(struct out *out, const struct profile *profile,
			const struct profile_thread *thread, uint32_t *index)
{
	uint64_t last_ns = 0;
	size_t n = 0;

	for (size_t i = 0; i < thread->n; i++)
		if (sample_of(profile, thread, i)->event == profile->main_event)
			index[n++] = profile->by_thread[thread->first + i];
	const struct profile_sample *samples = profile->samples.v;
	out_text(out, ",\"samples\":{\"length\":");
	out_u64(out, n);
	out_text(out, ",\"weightType\":\"samples\",\"weight\":null");
	COLUMN(out, "stack", n, i, put_stack(out, &samples[index[i]]));
	COLUMN(out, "timeDeltas", n, i, {
		uint64_t now_ns = since_start(profile, samples[index[i]].time_ns);

		put_ms(out, now_ns > last_ns ? now_ns - last_ns : 0);
		last_ns = MAX(now_ns, last_ns);
	});
	// Of a clock, the period is the time on a CPU since the sample before.
	if (profile->events.v[profile->main_event].is_time)
		COLUMN(out, "threadCPUDelta", n, i, out_u64(out, samples[index[i]].weight));
	out_char(out, '}');
}

static void put_marker_data(struct out *out, const struct profile *profile,
			    const struct profile_sample *sample)
{
	out_text(out, "{\"type\":\"event\",\"text\":");
	out_u64(out, sample->text ? sample->text : profile->events.v[sample->event].name);
	if (sample->cpu != PROFILE_NONE)
		field_u64(out, "cpu", sample->cpu);
	field_u64(out, "period", sample->weight);
	if (sample->node) {
		out_text(out, ",\"cause\":{\"stack\":");
		put_stack(out, sample);
		field_ms(out, "time", since_start(profile, sample->time_ns));
		out_char(out, '}');
	}
	out_char(out, '}');
}

static void put_markers(struct out *out, const struct profile *profile,
			const struct profile_thread *thread, uint32_t *index)
{
	const struct profile_sample *samples = profile->samples.v;
	size_t n = 0;

	for (size_t i = 0; i < thread->n; i++) {
		const struct profile_sample *sample = sample_of(profile, thread, i);

		if (sample->event != profile->main_event ||
		    profile->events.v[sample->event].is_tracepoint)
			index[n++] = profile->by_thread[thread->first + i];
	}
	out_text(out, ",\"markers\":{\"length\":");
	out_u64(out, n);
	COLUMN(out, "name", n, i, out_u64(out, profile->events.v[samples[index[i]].event].name));
	COLUMN(out, "startTime", n, i, put_ms(out, since_start(profile, samples[index[i]].time_ns)));
	same(out, "endTime", n, "null");
	same(out, "phase", n, "0"); // an instant
	same(out, "category", n, "0");
	COLUMN(out, "data", n, i, put_marker_data(out, profile, &samples[index[i]]));
	out_char(out, '}');
}

// Numbers of tasks come again, the profiler wants them to be different.
static void put_id(struct out *out, const char *name, uint32_t id, uint32_t nth)
{
	key(out, name);
	out_char(out, '"');
	out_i64(out, (int32_t)id);
	if (nth) {
		out_char(out, '.');
		out_u64(out, nth);
	}
	out_char(out, '"');
}

static void put_thread(struct out *out, const struct profile *profile, size_t i, uint32_t *index)
{
	const struct profile_thread *thread = &profile->threads.v[i];

	out_text(out, "{\"processType\":\"default\",\"pausedRanges\":[]");
	field_ms(out, "processStartupTime", since_start(profile, thread->first_ns));
	out_text(out, ",\"processShutdownTime\":null");
	field_ms(out, "registerTime", since_start(profile, thread->first_ns));
	field_ms(out, "unregisterTime", since_start(profile, thread->last_ns));
	field_str(out, "name", profile_text(profile, thread->name));
	field_str(out, "processName", profile_text(profile, thread->process_name));
	key(out, "isMainThread");
	out_text(out, thread->pid == thread->tid ? "true" : "false");
	out_text(out, ",\"showMarkersInTimeline\":true");
	put_id(out, "pid", thread->pid, thread->process_nth);
	put_id(out, "tid", thread->tid, thread->nth);
	put_samples(out, profile, thread, index);
	put_markers(out, profile, thread, index);
	out_char(out, '}');
}

static int firefox_profile(struct out *out, const struct profile *profile)
{
	uint32_t *index = xcalloc(profile->samples.n + 1, sizeof(*index));

	out_char(out, '{');
	put_meta(out, profile);
	put_libs(out, profile);
	out_text(out, ",\"pages\":[]");
	put_shared(out, profile);
	key(out, "threads");
	out_char(out, '[');
	for (size_t i = 0; i < profile->threads.n && !out_broken(out); i++) {
		if (i)
			out_char(out, ',');
		put_thread(out, profile, i, index);
	}
	out_text(out, "]}\n");
	free(index);
	return 0;
}

const struct encoder encoder_firefox = {
	.name = "firefox",
	.suffix = ".firefox.json",
	.summary = "a timeline for profiler.firefox.com",
	.profile = firefox_profile,
	.gzip = true,
};
