// SPDX-License-Identifier: GPL-2.0-or-later
// From a recording to what other programs show.
#include "cmd/export/export.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/core/output.h"
#include "cmd/core/rows.h"
#include "encoder/core/encoder.h"
#include <libdeflate.h>
#include <stdio.h>

struct options {
	struct export_options collect;
	const char *to, *input, *output;
	bool gzip, no_gzip, quiet;
	int verbose;
};

#define AT(member) offsetof(struct options, member)

static const struct opt opts[] = {
	HEADING("What is written"),
	OPT(OPT_TEXT, 0, "to", AT(to), "FORMAT",
	    "pprof, firefox, speedscope, perfetto, chrome, folded, csv or sqlite."),
	OPT(OPT_TEXT, 'o', "output", AT(output), "FILE",
	    "Default: stdout; on a terminal the recording's name with the format's ending."),
	OPT(OPT_FLAG, 'z', "gzip", AT(gzip), NULL,
	    "Pack the result, which is the default for pprof and firefox and where FILE ends in .gz.",
	    .no_negation = true),
	OPT(OPT_FLAG, 0, "no-gzip", AT(no_gzip), NULL, "Don't pack it.", .no_negation = true),

	HEADING("Which samples"),
	OPT(OPT_TEXT, 'i', "input", AT(input), "FILE", "The recording (perf.data; - is stdin)."),
	OPT(OPT_TEXT, 'e', "event", AT(collect.event), "EVENT",
	    "Only samples of this event (a name or a glob). Default: all."),
	OPT(OPT_TEXT, 0, "comm", AT(collect.filter.comms), "NAME,...", "Only tasks with these names."),
	OPT(OPT_TEXT, 0, "pid", AT(collect.filter.pids), "PID,...", "Only these processes."),
	OPT(OPT_TEXT, 0, "tid", AT(collect.filter.tids), "TID,...", "Only these threads."),
	OPT(OPT_TEXT, 'C', "cpu", AT(collect.filter.cpus), "CPUS",
	    "Only samples on these CPUs: 0-3,8."),
	OPT(OPT_TEXT, 0, "time", AT(collect.filter.times), "FROM,TO",
	    "Only samples in this time: seconds, or a share such as 10%-20%."),
	OPT(OPT_FLAG, 'f', "force", AT(collect.force), NULL, "Read recordings of other owners."),
	OPT(OPT_U32, 'j', "jobs", AT(collect.jobs), "N",
	    "Unwind copies of stacks in N processes; without it in as many as there are CPUs, 16 at most, where the recording is large enough. The result is the same.",
	    .least = OPT_ABOVE_ZERO),

	HEADING("Symbols"),
	OPT(OPT_FLAG, 0, "no-inline", AT(collect.no_inline), NULL,
	    "Functions that the compiler put into their callers are no frames."),
	OPT(OPT_FLAG, 0, "functions", AT(collect.sym.functions), NULL,
	    "Code without a symbol has the name of its file and the address where its function begins, gzip@4300 (the default; --no-functions leaves it unnamed)."),
	OPT(OPT_TEXT, 'k', "vmlinux", AT(collect.sym.vmlinux), "FILE", "Kernel image with symbols."),
	OPT(OPT_TEXT, 0, "kallsyms", AT(collect.sym.kallsyms), "FILE",
	    "Kernel symbols as /proc/kallsyms has them."),
	OPT(OPT_TEXT, 0, "symfs", AT(collect.sym.symfs), "DIR",
	    "Look for programs and libraries below this folder."),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "Tell more."),
	OPT(OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "Tell only what went wrong."),
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde export --to firefox -o profile.json.gz",
	 "a timeline to load into profiler.firefox.com"},
	{"sonde export --to pprof -o profile.pb.gz", "for: go tool pprof -http=: profile.pb.gz"},
	{"sonde export --to speedscope -o profile.speedscope.json", "for speedscope.app"},
	{"sonde export --to perfetto -o trace.perfetto-trace perf.data", "for ui.perfetto.dev"},
	{"sonde export --to sqlite -o samples.db",
	 "for: sqlite3 samples.db 'SELECT function, sum(period) "
	 "FROM sample_places GROUP BY function ORDER BY 2 DESC'"},
	{"sonde export --to csv --comm sh | head", "one row a sample", "sonde export --to csv | head"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_export = {
	.name = "export",
	.summary = "Turn a recording into a file for other programs",
	.usage = "sonde export --to FORMAT [options] [FILE]",
	.description =
		"Reads any recording and writes what another program shows: each sample with its time, thread, CPU and event, "
		"its stack with inlined functions, source lines where there is debug information, files with their build-ids.\n\n"
		"pprof adds samples up by stack, thread and CPU; two values for each event. firefox and perfetto keep each sample "
		"where it was in time; tracepoints, and samples of other events than the first, are markers with their stacks. "
		"chrome has slices: a sample stands for the time up to the next one of its thread, at most for twice the "
		"usual gap. speedscope has a profile for each thread and event. folded has the first event alone.\n\n"
		"sqlite makes a database with the tables samples, threads, events, files, functions, frames and stacks, and the views "
		"sample_places (a sample with its function, file and line) and stack_frames (all frames of a stack, 0 being the "
		"innermost). csv has one row a sample.\n\n"
		"What was lost while recording is told on stderr and, where the format has a place for it, in the file.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PICTURE,
	.run = run,
};

static int find_format(const struct encoder **ret, const char *name)
{
	struct out names;
	int err;

	if (name && encoder_find(ret, name) >= 0 && (*ret)->profile)
		return 0;
	err_clear();
	out_init_memory(&names);
	for (size_t i = 0; encoders[i]; i++)
		if (encoders[i]->profile)
			out_printf(&names, "%s%s", names.n ? ", " : "", encoders[i]->name);
	out_char(&names, 0);
	if (!name)
		err = fail(COMMAND_USAGE, "into what? --to FORMAT, one of %s", names.buf);
	else
		err = fail(COMMAND_USAGE, "a recording can't be turned into '%s', only into %s",
			   name, names.buf);
	out_done(&names);
	return err;
}

static int pack(struct out *out)
{
	enum { LEVEL = 1 }; // two fifths of the time of 3 for a twentieth more of size
	struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(LEVEL);
	size_t most, n;
	char *packed;

	if (!compressor)
		return fail(ENOMEM, "memory is out");
	most = libdeflate_gzip_compress_bound(compressor, out->n);
	packed = xmalloc(most);
	n = libdeflate_gzip_compress(compressor, out->buf, out->n, packed, most);
	libdeflate_free_compressor(compressor);
	free(out->buf);
	out->buf = packed;
	out->n = n;
	out->capacity = most;
	return 0;
}

static char *default_output(const char *input, const struct encoder *encoder, bool packed)
{
	const char *name = strcmp(input, "-") ? input : "perf.data";
	bool ends_so = text_ends(encoder->suffix, ".gz");

	return text_dup_fmt("%s%s%s", name, encoder->suffix, packed && !ends_so ? ".gz" : "");
}

// The document is made in memory, then gets a place to go to: it is written only when it is whole.
static int write_document(struct out *text, const char *path)
{
	struct out to;
	int err;

	if (!path)
		out_init_fd(&to, STDOUT_FILENO);
	else if ((err = out_open(&to, path)) < 0)
		return err;
	text->fd = to.fd;
	text->replacing = to.replacing;
	return out_close(text, path ? path : "standard output");
}

static int write_result(const struct profile *profile, const struct encoder *encoder,
			const struct options *options, const char *input)
{
	bool packed = options->gzip || (options->output && text_ends(options->output, ".gz")) ||
		      (encoder->gzip && !options->no_gzip &&
		       !(options->output && text_ends(options->output, ".json")));
	auto_free char *chosen = NULL;
	const char *path = options->output;
	struct out text;
	int err;

	if (path && !strcmp(path, "-"))
		path = NULL;
	else if (!path && isatty(STDOUT_FILENO))
		path = chosen = default_output(input, encoder, packed);
	out_init_memory(&text);
	err = encoder->profile(&text, profile);
	if (err >= 0 && packed)
		err = pack(&text);
	if (err >= 0)
		err = write_document(&text, path);
	out_done(&text);
	if (err >= 0 && chosen && !options->quiet)
		say("%s: %zu samples of %zu threads", path, profile->samples.n, profile->threads.n);
	return err;
}

static int run(int argc, char **argv)
{
	struct options options = {.collect = {.sym = {.functions = true}}};
	const struct encoder *encoder;
	struct profile profile;
	int err, damaged, n = command_parse(&command_export, &options, argv, 0);

	if (n < 0)
		return n;
	if (options.verbose || options.quiet)
		log_set_level(options.quiet ? LOG_QUIET : options.verbose);
	if (n > 1 || (n == 1 && options.input))
		return fail(COMMAND_USAGE, "one recording at a time; '%s' is too much", argv[n]);
	if (options.gzip && options.no_gzip)
		return fail(COMMAND_USAGE, "--gzip and --no-gzip contradict each other");
	err = find_format(&encoder, options.to);
	if (err < 0)
		return err;
	const char *input = n ? argv[1] : options.input ? options.input : default_input(false);
	err = options.output ? output_check_input(options.output, input) : 0;
	if (err < 0)
		return err;
	alloc_expect_much();
	profile_init(&profile);
	err = damaged = export_collect(&profile, input, &options.collect);
	if (err >= 0)
		err = write_result(&profile, encoder, &options, input);
	profile_done(&profile);
	return err < 0 ? err : damaged;
}
