// SPDX-License-Identifier: GPL-2.0-or-later
// Archives of recordings, ours and perf's, into the build-id cache.
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "flow/archive.h"
#include "sym/idcache.h"

struct options {
	const char *folder;
	bool quiet;
};

#define AT(member) .offset = offsetof(struct options, member)

static const struct opt opts[] = {
	{OPT_TEXT, 'C', "directory", AT(folder), "FOLDER",
	 .help = "Where it goes (default: ~/.debug, where sonde and perf look)."},
	{OPT_FLAG, 'q', "quiet", AT(quiet), .help = "Don't say what was done."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde unpack perf.data.tar.bz2", "takes in what perf archive made on another machine",
	 .test = "sonde archive -q perf.data && sonde unpack perf.data.archive"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_unpack = {
	.name = "unpack",
	.summary = "Take in an archive of another machine's symbols",
	.usage = "sonde unpack [options] ARCHIVE...",
	.description =
		"Unpacks what sonde archive or perf archive made into ~/.debug, where names are looked for by "
		"build-id. An archive that lies beside its recording (RECORDING.archive) needs no unpacking: it is "
		"found there. Entries that lead out of the folder are refused.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_TOOL,
	.run = run,
};

static int run(int argc, char **argv)
{
	struct options o = {0};
	int n = command_parse(&command_unpack, &o, argv, 0), err = 0;
	auto_free char *folder = idcache_folder_dup();
	struct archive_counts counts = {0};

	if (n < 0)
		return n;
	if (!n)
		return fail(COMMAND_USAGE, "say which archive: sonde unpack ARCHIVE");
	if (!o.folder)
		o.folder = folder;
	if (!o.folder)
		return fail(ENOENT,
			    "where the cache is isn't known: HOME is not set; say where with -C");
	for (int i = 1; i <= n && err >= 0; i++)
		err = archive_unpack(argv[i], o.folder, false, &counts);
	if (err < 0)
		return err;
	if (!o.quiet)
		warn("%u files are in %s now", counts.files, o.folder);
	if (counts.refused)
		warn("%u entries lead elsewhere and were refused", counts.refused);
	return counts.refused ? 1 : 0;
}
