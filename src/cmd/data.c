// SPDX-License-Identifier: GPL-2.0-or-later
// `data convert --to-json`: samples as perf's JSON, byte for byte.
#include "base/alloc.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/core/help.h"
#include "cmd/core/output.h"
#include "cmd/core/rows.h"
#include "flow/filter.h"
#include "flow/run.h"
#include "sym/stacks.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

struct options {
	const char *input, *to_json, *to_ctf, *times;
	bool force, all, tod;
	int verbose;
};

#define AT(member) offsetof(struct options, member)

static const struct opt opts[] = {
	OPT(OPT_TEXT, 0, "to-json", AT(to_json), "FILE",
	    "Write JSON to this file, which must not exist yet (see --force)."),
	OPT(OPT_TEXT, 0, "to-ctf", AT(to_ctf), "DIR", "CTF: not supported.", .hidden = true),
	OPT(OPT_TEXT, 'i', "input", AT(input), "FILE", "The recording (perf.data; - is stdin)."),
	OPT(OPT_FLAG, 'f', "force", AT(force), NULL,
	    "Replace the output; read recordings of other owners."),
	OPT(OPT_TEXT, 0, "time", AT(times), "FROM,TO",
	    "Only samples in this time: seconds, or a share such as 10%-20%."),
	OPT(OPT_FLAG, 0, "all", AT(all), NULL, "Other records as well: not supported for JSON.",
	    .hidden = true),
	OPT(OPT_FLAG, 0, "tod", AT(tod), NULL, "Times of day: not supported for JSON.",
	    .hidden = true),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "Tell more."),
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde data convert --to-json samples.json", "the samples of perf.data, for a script"},
	{0},
};

static int run(int argc, char **argv);
static bool sub(size_t i, struct command *ret);

const struct command command_data = {
	.name = "data",
	.summary = "Convert a recording to JSON as perf does",
	.usage = "sonde data convert [options]",
	.description =
		"One JSON object: \"headers\" says where and how it was recorded, \"samples\" has time, task, CPU and call chain of "
		"each sample, with the symbols and files of its addresses. 'sonde script --format json' writes more, one object a "
		"line; 'sonde export' writes what other programs show.",
	.examples = examples,
	.family = COMMAND_PERF,
	.sub = sub,
	.run = run,
};

static const struct command convert = {
	.name = "convert",
	.summary = "Convert a recording to JSON",
	.usage = "sonde data convert --to-json FILE [options]",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.family = COMMAND_PERF,
};

static bool sub(size_t i, struct command *ret)
{
	if (i)
		return false;
	*ret = convert;
	return true;
}

struct writer {
	const struct options *options;
	struct out *out;
	struct filter *filter;
	uint64_t all_sample_types; // of all events
	uint64_t samples_n, skipped_n;
};

// As perf writes it, but that bytes above 0x7f stay what they are.
static void put_text(struct out *out, const char *text)
{
	static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

	out_char(out, '"');
	for (; text && *text; text++) {
		const char *at = strchr(special, *text);

		if (at) {
			out_char(out, '\\');
			out_char(out, letters[at - special]);
		} else if ((unsigned char)*text < ' ') {
			out_text(out, "\\u");
			out_hex_zeros(out, (unsigned char)*text, 4);
		} else if ((unsigned char)*text < 0x80) {
			out_char(out, *text);
		} else {
			size_t n = utf8_length((const unsigned char *)text, strlen(text));

			if (n)
				out_bytes(out, text, n);
			else
				out_text(out, "\\ufffd");
			text += n ? n - 1 : 0;
		}
	}
	out_char(out, '"');
}

static void start_line(struct out *out, bool comma, unsigned depth)
{
	if (comma)
		out_char(out, ',');
	out_char(out, '\n');
	out_fill(out, '\t', depth);
}

static void put_key(struct out *out, bool comma, unsigned depth, const char *key)
{
	start_line(out, comma, depth);
	put_text(out, key);
	out_text(out, ": ");
}

static void put_frame(struct out *out, uint64_t ip, const struct location *location)
{
	start_line(out, false, 4);
	out_char(out, '{');
	put_key(out, false, 5, "ip");
	out_text(out, "\"0x");
	out_hex(out, ip);
	out_char(out, '"');
	if (location->map && location->sym && location->sym->name[0]) {
		put_key(out, true, 5, "symbol");
		put_text(out, location->sym->name);
		if (location->dso && location->dso->short_name[0]) {
			put_key(out, true, 5, "dso");
			put_text(out, location->dso->short_name);
		}
	}
	start_line(out, false, 4);
	out_char(out, '}');
}

static void put_chain(struct writer *writer, struct run *run, const struct sample *sample,
		      struct task *task)
{
	struct chain_walk walk = chain_walk_of(sample);
	struct stack_step step;
	bool first = true;

	for (; chain_next(&walk, &step) > 0; first = false) {
		const struct location location = stack_step_resolve(run->sym, task, &step);

		if (!first)
			out_char(writer->out, ',');
		put_frame(writer->out, step.ip, &location);
	}
}

static int take_sample(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	const struct sample *sample = &hit->sample;
	struct task *task = hit->task;
	struct writer *writer = arg;
	struct out *out = writer->out;
	struct location location;

	if (!task)
		task = sym_task(run->sym, UINT32_MAX, 0);
	if (writer->filter && !filter_sample_of(writer->filter, sample, run->sym, task)) {
		writer->skipped_n++;
		return 0;
	}
	start_line(out, writer->samples_n++ > 0, 2);
	out_char(out, '{');
	put_key(out, false, 3, "timestamp");
	out_i64(out, (int64_t)sample->time);
	put_key(out, true, 3, "pid");
	out_i64(out, (int32_t)task->pid);
	put_key(out, true, 3, "tid");
	out_i64(out, (int32_t)task->tid);
	if (writer->all_sample_types & PERF_SAMPLE_CPU) {
		put_key(out, true, 3, "cpu");
		out_i64(out, (int32_t)sample->cpu);
	}
	put_key(out, true, 3, "comm");
	put_text(out, task_comm(run->sym, task));
	put_key(out, true, 3, "callchain");
	out_char(out, '[');
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		put_chain(writer, run, sample, task);
	} else {
		location = sym_resolve(run->sym, task, sample->cpumode, sample->ip);
		put_frame(out, sample->ip, &location);
	}
	start_line(out, false, 3);
	out_char(out, ']');
	start_line(out, false, 2);
	out_char(out, '}');
	return out_broken(out) ? 1 : 0;
}

static void header_text(struct out *out, const char *key, const char *text)
{
	put_key(out, true, 2, key);
	put_text(out, text);
}

static void header_u64(struct out *out, const char *key, uint64_t v)
{
	put_key(out, true, 2, key);
	out_u64(out, v);
}

static void put_headers(struct out *out, const struct recording *recording)
{
	const struct recording_info *info = &recording->info;
	time_t seconds = recording->modified_ns / 1000000000;
	char text[64] = "";
	struct tm tm;

	put_key(out, false, 2, "header-version");
	out_u64(out, recording->version - 1); // perf counts from 0
	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%FT%TZ", &tm);
	header_text(out, "captured-on", text);
	header_u64(out, "data-offset", recording->data_offset);
	header_u64(out, "data-size", recording->data_size);
	header_u64(out, "feat-offset", recording->features_offset);
	header_text(out, "hostname", info->hostname);
	header_text(out, "os-release", info->os_release);
	header_text(out, "arch", info->arch);
	if (info->cpu_description)
		header_text(out, "cpu-desc", info->cpu_description);
	header_text(out, "cpuid", info->cpu_id);
	header_u64(out, "nrcpus-online", info->cpus_online);
	header_u64(out, "nrcpus-avail", info->cpus_available);
	if (info->has_clock_data) {
		header_u64(out, "clockid", info->clock_id);
		header_u64(out, "clock-time", info->clock_id_time_ns);
		header_u64(out, "real-time", info->wall_clock_ns);
	}
	header_text(out, "perf-version", info->perf_version);
	put_key(out, true, 2, "cmdline");
	out_char(out, '[');
	for (size_t i = 0; i < info->command_line.n; i++) {
		start_line(out, i > 0, 3);
		put_text(out, info->command_line.v[i]);
	}
	start_line(out, false, 2);
	out_char(out, ']');
}

static int put_all(struct writer *writer, struct run *run)
{
	static const struct run_hooks hooks = {.hit = take_sample};
	const struct recording *recording = run->recording;
	struct out *out = writer->out;
	int err;

	for (size_t i = 0; i < recording->events.n; i++)
		writer->all_sample_types |= recording->events.v[i]->attr.sample_type;
	out_char(out, '{');
	put_key(out, false, 1, "linux-perf-json-version");
	out_char(out, '1');
	put_key(out, true, 1, "headers");
	out_char(out, '{');
	put_headers(out, recording);
	start_line(out, false, 1);
	out_char(out, '}');
	put_key(out, true, 1, "samples");
	out_char(out, '[');
	err = run_process(run, &hooks, writer);
	start_line(out, false, 1);
	out_char(out, ']');
	start_line(out, false, 0);
	out_text(out, "}\n");
	return err;
}

static int create(const struct options *options, struct out *out)
{
	struct stat st;

	if (!options->force && lstat(options->to_json, &st) == 0)
		return fail(EEXIST, "%s is there already; --force replaces it", options->to_json);
	return out_open(out, options->to_json);
}

static int process_all(const struct options *options, struct run *run)
{
	struct filter_options times = {.times = options->times};
	struct out out;
	struct writer writer = {.options = options, .out = &out};
	uint64_t written_bytes;
	int err = 0;

	if (options->times)
		err = filter_new(&writer.filter, &times, run->recording);
	if (err >= 0)
		err = create(options, &out);
	if (err < 0) {
		filter_free(writer.filter);
		return err;
	}
	err = put_all(&writer, run);
	out_flush(&out);
	written_bytes = out.written_bytes;
	err = out_end(&out, options->to_json, err);
	filter_free(writer.filter);
	if (err < 0)
		return err;
	say("[ sonde data convert: Converted '%s' into JSON data '%s' ]", options->input,
	    options->to_json);
	say("[ sonde data convert: Converted and wrote %.3f MB (%llu samples) ]",
	    (double)written_bytes / 1024 / 1024, (unsigned long long)writer.samples_n);
	if (writer.skipped_n)
		say("[ sonde data convert: Skipped %llu samples ]",
		    (unsigned long long)writer.skipped_n);
	return 0;
}

static int convert_to_json(const struct options *options)
{
	struct run_options how = {.path = options->input, .force = options->force};
	struct run *run;
	int err = output_check_input(options->to_json, options->input), damaged = 0;

	if (err >= 0)
		err = run_open(&run, &how);
	if (err < 0)
		return err;
	err = process_all(options, run);
	if (err >= 0)
		damaged = run_warn(run);
	run_close(run);
	return err < 0 ? err : damaged;
}

static int run_convert(int argc, char **argv)
{
	struct options options = {.input = default_input(false)};
	int n = command_parse(&convert, &options, argv, 0);

	if (n < 0)
		return n;
	log_set_level(options.verbose);
	if (n)
		return fail(COMMAND_USAGE, "'%s' is too much; the recording goes behind -i", argv[1]);
	if (options.to_ctf)
		return fail(ENOTSUP, "CTF is not supported; --to-json FILE, or 'sonde export'");
	if (!options.to_json)
		return fail(COMMAND_USAGE, "into what? --to-json FILE");
	if (options.all || options.tod)
		return fail(ENOTSUP, "--%s is not supported for JSON", options.all ? "all" : "tod");
	return convert_to_json(&options);
}

static int run(int argc, char **argv)
{
	struct out out;

	if (argc > 1 && !strcmp(argv[1], "convert"))
		return run_convert(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "-h") && strcmp(argv[1], "--help"))
		return fail(COMMAND_USAGE,
			    "there is no '%s'; 'sonde data convert' converts a recording", argv[1]);
	out_init_fd(&out, STDOUT_FILENO);
	help_text(&out, &command_data);
	out_close(&out, "standard output");
	out_done(&out);
	return COMMAND_USAGE;
}
