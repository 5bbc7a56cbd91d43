// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "version.h"

struct options {
	bool build_options;
};

static const struct opt opts[] = {
	{OPT_FLAG, 0, "build-options", offsetof(struct options, build_options),
	 .help = "Also list the optional libraries and whether this program was built with them."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde version", "prints the version"},
	{"sonde version --build-options", "says which optional parts are in this program"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_version = {
	.name = "version",
	.summary = "Print the version of this program",
	.usage = "sonde version [--build-options]",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_SELF,
	.run = run,
};

static const struct {
	const char *name, *macro;
	bool on;
} parts[] = {
#ifdef HAVE_CAPSTONE
	{"capstone", "HAVE_CAPSTONE", true},
#else
	{"capstone", "HAVE_CAPSTONE", false},
#endif
#ifdef HAVE_LIBPFM
	{"libpfm", "HAVE_LIBPFM", true},
#else
	{"libpfm", "HAVE_LIBPFM", false},
#endif
#ifdef HAVE_NCURSES
	{"ncurses", "HAVE_NCURSES", true},
#else
	{"ncurses", "HAVE_NCURSES", false},
#endif
#ifdef HAVE_SQLITE3
	{"sqlite3", "HAVE_SQLITE3", true},
#else
	{"sqlite3", "HAVE_SQLITE3", false},
#endif
};

static int run(int argc, char **argv)
{
	struct options o = {0};
	struct out out;
	int n = command_parse(&command_version, &o, argv, 0);

	if (n < 0)
		return n;
	out_init_fd(&out, 1);
	out_text(&out, "sonde version " SONDE_VERSION "\n");
	for (size_t i = 0; o.build_options && i < ARRAY_SIZE(parts); i++) {
		out_text_right(&out, parts[i].name, 22);
		out_printf(&out, ": [ %s ]  # %s\n", parts[i].on ? "on " : "OFF", parts[i].macro);
	}
	return out_close(&out, "standard output");
}
