// SPDX-License-Identifier: GPL-2.0-or-later
// What is needed to read a recording on another machine, in one file.
#include <stddef.h>
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/archiver.h"
#include "cmd/core/command.h"

struct options {
	struct archive_request request;
	bool quiet;
	int verbose;
};

#define AT(member) .offset = offsetof(struct options, member)

static const struct opt opts[] = {
	{OPT_TEXT, 'i', "input", AT(request.input), "FILE",
	 .help = "The recording (default: perf.data)."},
	{OPT_TEXT, 'o', "output", AT(request.output), "FILE",
	 .help = "The archive (default: RECORDING.archive, where it is found when it lies beside the recording)."},
	{OPT_FLAG, 0, "all", AT(request.all),
	 .help = "All files that were mapped, not only those in which samples lie."},
	{OPT_FLAG, 0, "perf", AT(request.perf),
	 .help = "As perf archive makes it, for tar xf RECORDING.tar.bz2 -C ~/.debug: only files with a build-id."},
	{OPT_FLAG, 'f', "force", AT(request.force),
	 .help = "Also when the recording belongs to someone else."},
	{OPT_FLAG, 'q', "quiet", AT(quiet), .help = "Don't say what was done."},
	{OPT_COUNT, 'v', "verbose", AT(verbose), .help = "Name the files."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde archive perf.data",
	 "makes perf.data.archive; copy both to another machine and read them there"},
	{"sonde archive --perf perf.data",
	 "makes perf.data.tar.bz2, which perf on another machine uses"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_archive = {
	.name = "archive",
	.summary = "Put all that a recording needs elsewhere into one file",
	.usage = "sonde archive [options] [RECORDING]",
	.description =
		"Collects the programs and libraries in which samples lie, their separate debug files, the "
		"kernel's symbols, and what JIT compilers wrote, in one file packed by zstd. Where it lies "
		"beside the recording, report and the other commands use it without being told.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_TOOL,
	.run = run,
};

static int run(int argc, char **argv)
{
	struct options o = {.request = {.input = "perf.data"}};
	int n = command_parse(&command_archive, &o, argv, 0);

	if (n < 0)
		return n;
	if (n > 1)
		return fail(COMMAND_USAGE, "one recording at a time; '%s' is too much", argv[2]);
	if (n)
		o.request.input = argv[1];
	if (!o.request.output && strcmp(o.request.input, "-") == 0)
		return fail(COMMAND_USAGE, "say where the archive of standard input goes: -o FILE");
	log_set_level(o.quiet ? LOG_QUIET : o.verbose);
	return archive_recording(&o.request);
}
