// SPDX-License-Identifier: GPL-2.0-or-later
// Tools: each is found by its name alone, as a command is.
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "cmd/core/help.h"
#include "cmd/core/run_profiler.h"
#include "tool/core/tool.h"
#include <ctype.h>
#include <string.h>

const struct command command_tool;

static bool sub(size_t i, struct command *ret)
{
	const struct tool *tool = tools[i];

	if (!tool)
		return false;
	*ret = (struct command){
		.name = tool->name,
		.summary = tool->summary,
		.usage = tool->usage,
		.description = tool->description,
		.opts = tool->opts,
		.opts_size = tool->opts_size,
		.examples = tool->examples,
		.family = COMMAND_TOOL,
	};
	return true;
}

// INTERVAL and COUNT, which stand before a command. Returns how many words they take.
static int take_words(struct prof_options *options, char **words, int n)
{
	double seconds;
	int taken = 0;

	if (taken < n && isdigit((unsigned char)words[taken][0])) {
		if (num_parse_double(str_of(words[taken]), &seconds) || seconds < 0.001 ||
		    seconds > 1e6)
			return fail(COMMAND_USAGE, "%s: an interval is a number of seconds",
				    words[taken]);
		options->interval_ms = (uint64_t)(seconds * 1000);
		taken++;
	}
	if (taken && taken < n && isdigit((unsigned char)words[taken][0])) {
		if (num_parse_u64(str_of(words[taken]), &options->results_n) || !options->results_n)
			return fail(COMMAND_USAGE, "%s: how many results is a number from 1",
				    words[taken]);
		taken++;
	}
	return taken;
}

static int run_tool(const struct tool *tool, int argc, char **argv)
{
	auto_free struct prof_options *options = xcalloc(1, tool->opts_size);
	auto_free const char **line = xcalloc((size_t)argc + 1, sizeof(*line));
	const struct profiler profiler = tool_profiler(tool);
	struct command command = {0};
	const int flags = OPT_STOP_AT_WORD | OPT_KEEP_DASHES;
	int words, taken, before_dashes;

	// Options are moved while they are read; a recording names them as they were.
	for (int i = 0; i < argc; i++)
		line[i] = argv[i];
	command_find_sub(&command_tool, tool->name, &command);
	words = command_parse(&command, options, argv, flags);
	if (words < 0)
		return words == -ECANCELED ? 0 : words;
	before_dashes = opt_cut_dashes(&words, argv, flags);
	log_set_level(options->quiet ? LOG_QUIET : options->verbose);
	if (tool->recorded && !options->from)
		options->from = "perf.data";
	taken = take_words(options, argv + 1, before_dashes);
	if (taken < 0)
		return taken;
	// The one that ended the options is gone; behind an interval it ends the words of the tool.
	if (before_dashes == words && words > taken && !strcmp(argv[1 + taken], "--"))
		taken++;
	options->target.all_cpus |= tool->everybody && !options->target.cpus && words > taken;
	return run_profiler(&profiler, options, words > taken ? argv + 1 + taken : NULL, line);
}

static int list(void)
{
	struct out out;

	out_init_fd(&out, 1);
	help_text(&out, &command_tool);
	return out_close(&out, "standard output");
}

static int run(int argc, char **argv)
{
	const struct tool *tool;

	if (argc < 2)
		return list();
	tool = tool_find(argv[1]);
	if (!tool && argc > 2) {
		auto_free char *both = text_dup_fmt("%s %s", argv[1], argv[2]);

		tool = tool_find(both);
		if (tool)
			return run_tool(tool, argc - 2, argv + 2);
	}
	if (!tool)
		return fail(COMMAND_USAGE, "there is no tool '%s'; 'sonde tool' lists them", argv[1]);
	return run_tool(tool, argc - 1, argv + 1);
}

const struct command command_tool = {
	.name = "tool",
	.summary = "Tools that answer one question each",
	.usage = "sonde tool [NAME [options] [INTERVAL [COUNT]] [-- COMMAND [ARGS]]]",
	.description = "Without a word it lists the tools. Each is called by its name alone.",
	.sub = sub,
	.subs = COMMAND_SUBS_ARE_COMMANDS,
	.family = COMMAND_TOOL,
	.hidden = true,
	.run = run,
};
