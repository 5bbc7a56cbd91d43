// SPDX-License-Identifier: GPL-2.0-or-later
// How long requests to disks take, as bcc's biolatency shows it.
#include "base/err.h"
#include "tool/core/tool.h"
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct biolatency {
	struct prof_options common;
	bool queued, by_disk, by_flags, milliseconds;
	const char *disk;
};

static const struct opt options[] = {
	PROF_HEADING("What to count"),
	PROF_FLAG('Q', "queued", offsetof(struct biolatency, queued),
		  "with the time in the kernel's queue, before the disk gets the request"),
	PROF_FLAG('m', "milliseconds", offsetof(struct biolatency, milliseconds),
		  "in ms instead of us"),
	PROF_FLAG('D', "disks", offsetof(struct biolatency, by_disk), "each disk by itself"),
	PROF_FLAG('F', "flags", offsetof(struct biolatency, by_flags),
		  "each kind of request by itself"),
	PROF_TEXT('d', "disk", offsetof(struct biolatency, disk), "DISK",
		  "this disk alone, such as sda"),
	TOOL_OPTIONS,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde biolatency 1 10", "how long requests took, each second, ten times",
	 "sonde biolatency 0.1 2 || exit 77"},
	{"sonde biolatency -D -Q", "until Ctrl-C, by disk, with the time in queues",
	 "sonde biolatency -D -Q 0.1 1 || exit 77"},
	{0},
};

// A request has no number; where it begins on which disk tells it.
#define REQUEST "dev * 0x9e3779b97f4a7c15ul ^ sector"

static const struct tool_event issued[] = {
	{"block:block_rq_issue", TALLY_FIRST, REQUEST},
	{"block:block_rq_complete", TALLY_SECOND, REQUEST},
	{0},
};
// Since Linux 6.5: from where the request is made.
static const struct tool_event started[] = {
	{"block:block_io_start", TALLY_FIRST, REQUEST},
	{"block:block_io_done", TALLY_SECOND, REQUEST},
	{0},
};
// What doesn't wait in a queue is issued without being inserted.
static const struct tool_event inserted[] = {
	{"block:block_rq_insert", TALLY_FIRST, REQUEST},
	{"block:block_rq_issue", TALLY_FIRST, REQUEST, .keeps = true},
	{"block:block_rq_complete", TALLY_SECOND, REQUEST},
	{0},
};

// The kernel's number of a disk: include/linux/kdev_t.h.
static int filter_disk(struct tool_run *run, const char *disk)
{
	auto_free char *path = text_dup_fmt("/dev/%s", disk);
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISBLK(st.st_mode))
		return fail(ENOENT, "-d %s: there is no disk %s", disk, path);
	tool_filter(run, arena_fmt(&run->prof->arena, "dev == %u",
				   major(st.st_rdev) << 20 | minor(st.st_rdev)));
	return 0;
}

static void disk_name(void *run_, size_t row, uint32_t key, struct out *out)
{
	const struct tool_run *run = run_;
	const uint64_t dev = tally_number(run->prof->tally, row, key);
	const unsigned of = (unsigned)(dev >> 20), at = dev & 0xfffff;
	auto_free char *path = text_dup_fmt("/sys/dev/block/%u:%u", of, at);
	char target[256];
	const ssize_t n = readlink(path, target, sizeof(target));
	const char *name = n > 0 ? memrchr(target, '/', (size_t)n) : NULL;

	if (name && !run->prof->options->from)
		out_bytes(out, name + 1, (size_t)(target + n - name - 1));
	else
		out_printf(out, "%u:%u", of, at);
}

// The kernel's letters (blk_fill_rwbs) in bcc's words, "Sync-Write".
static void flags_name(void *run_, size_t row, uint32_t key, struct out *out)
{
	const struct tool_run *run = run_;
	static const struct {
		char letter;
		const char *word;
	} words[] = {{'S', "Sync-"}, {'M', "Metadata-"}, {'A', "ReadAhead-"}},
	  kinds[] = {{'R', "Read"},
		     {'W', "Write"},
		     {'D', "Discard"},
		     {'E', "SecureErase"},
		     {'N', "Unknown"}};
	const char *letters = tally_text(run->prof->tally, row, key), *kind = letters;
	const bool flushes = *kind == 'F' && kind[1];

	kind += flushes;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (*kind && strchr(kind + 1, words[i].letter))
			out_text(out, words[i].word);
	if (*kind && strchr(kind + 1, 'F'))
		out_text(out, "ForcedUnitAccess-");
	if (flushes || *kind == 'F')
		out_text(out, flushes ? "Flush-" : "Flush");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (*kind == kinds[i].letter)
			out_text(out, kinds[i].word);
}

static int plan(struct tool_run *run)
{
	const struct biolatency *o = run->options;
	const struct tool_event *const now[] = {issued, NULL}, *const queued[] = {started, inserted,
										  NULL};
	int err = o->disk ? filter_disk(run, o->disk) : 0;

	if (!err && o->by_disk && o->by_flags)
		return fail(EINVAL, "-D and -F exclude each other");
	tool_histogram(run, TALLY_DELAY, o->milliseconds ? 1000000 : 1000,
		       o->milliseconds ? "msecs" : "usecs");
	if (o->by_disk)
		tool_sections(run, &(struct tool_section){"disk", TALLY_NUMBER, "dev", disk_name});
	if (o->by_flags)
		tool_sections(run, &(struct tool_section){"flags", TALLY_TEXT, "rwbs", flags_name});
	return err ? err : tool_events(run, o->queued ? queued : now);
}

const struct tool tool_biolatency = {
	.name = "biolatency",
	.summary = "How long requests to disks take",
	.usage = "sonde biolatency [-Q] [-D | -F] [-m] [-d DISK] [options] [INTERVAL [COUNT]]",
	.description =
		"From when a disk gets a request until it is done, as a histogram: at Ctrl-C, or every INTERVAL seconds, COUNT times. The kernel "
		"counts, no events come out of it. Of a command its run says how long to watch: requests of all are counted, as a disk tells "
		"whoever runs that one is done.",
	.opts = options,
	.opts_size = sizeof(struct biolatency),
	.examples = examples,
	.banner = "Tracing block device I/O... Hit Ctrl-C to end.",
	.everybody = true,
	.tells_open = true,
	.pairs = "requests",
	.plan = plan,
};
