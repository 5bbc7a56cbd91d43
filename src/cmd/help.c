// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/help.h"
#include "base/err.h"
#include "cmd/core/command.h"
#include "cmd/core/elsewhere.h"
#include "cmd/core/complete.h"
#include "cmd/core/man.h"

struct options {
	bool man, examples;
	const char *completion;
};

static const struct opt opts[] = {
	{OPT_FLAG, 0, "man", offsetof(struct options, man),
	 .help = "Print the man page of the command ('sonde': of the program), in the form that man reads."},
	{OPT_TEXT, 0, "completion", offsetof(struct options, completion), "SHELL",
	 .help = "Print the completion script for bash, zsh or fish."},
	{OPT_FLAG, 0, "examples", offsetof(struct options, examples),
	 .help = "List the examples of all commands: command, TAB, example, TAB, what the test runs."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde help", "lists all commands"},
	{"sonde help version", "shows what one command does and its options"},
	{"sonde help --man help | man -l -", "shows the same as a man page",
	 "sonde help --man help | grep -q '^.SH OPTIONS'"},
	{"source <(sonde help --completion bash)", "lets this bash complete commands and options",
	 "sonde help --completion bash > c && bash -n c"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_help = {
	.name = "help",
	.summary = "Show what sonde and its commands do",
	.usage = "sonde help [COMMAND [SUB-COMMAND]]\n"
		 "sonde help --man COMMAND\n"
		 "sonde help --completion bash|zsh|fish",
	.description =
		"Without a word it lists the commands. Man pages and completion scripts are made from the "
		"same tables as the help.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_SELF,
	.run = run,
};

static int unknown(const char *word)
{
	const char *line = elsewhere_line(word), *near = command_nearest(word);
	int err;

	if (line)
		err = fail(COMMAND_USAGE,
			   "sonde has no command '%s'; what it answers, this does: %s", word, line);
	else if (near)
		err = fail(COMMAND_USAGE, "there is no command '%s'; did you mean '%s'?", word, near);
	else
		err = fail(COMMAND_USAGE,
			   "there is no command '%s'; 'sonde help' lists the commands", word);
	return err;
}

// The command that the words name, or its sub-command, which is then in *storage.
static int find(char **words, const struct command **ret, struct command *storage)
{
	const struct command *command = command_find(words[0]);

	if (!command && command_of_sub(words, storage)) {
		*ret = storage;
		return 0;
	}
	if (!command)
		return unknown(words[0]);
	if (words[1]) {
		if (!command_find_sub(command, words[1], storage))
			return fail(COMMAND_USAGE,
				    "'sonde %s' has no '%s'; 'sonde help %s' shows what it has",
				    words[0], words[1], words[0]);
		command = storage;
	}
	*ret = command;
	return 0;
}

static void put_examples(struct out *out, const struct command *command)
{
	struct command sub = {0};

	for (const struct command_example *e = command->examples; e && e->line; e++)
		out_printf(out, "%s\t%s\t%s\n", command->name, e->line, e->test ? e->test : e->line);
	for (size_t i = 0; command->sub && command->sub(i, &sub); i++) {
		put_examples(out, &sub);
		sub = (struct command){0};
	}
}

static int put_help(struct out *out, const struct options *o, char **words)
{
	const struct command *command = NULL;
	struct command storage = {0};
	int err;

	if (o->completion)
		return complete_script(out, o->completion);
	if (o->examples) {
		for (const struct command *const *it = commands; *it; it++)
			put_examples(out, *it);
		return 0;
	}
	if (!words[0]) {
		help_overview(out);
		return 0;
	}
	if (o->man && !strcmp(words[0], "sonde")) {
		man_overview(out);
		return 0;
	}
	err = find(words, &command, &storage);
	if (err)
		return err;
	if (o->man)
		man_command(out, command);
	else
		help_text(out, command);
	return 0;
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	struct out out;
	int err, n = command_parse(&command_help, &o, argv, 0);

	if (n < 0)
		return n;
	argv[n + 1] = NULL;
	out_init_fd(&out, 1);
	err = put_help(&out, &o, argv + 1);
	if (err) {
		out_done(&out);
		return err;
	}
	return out_close(&out, "standard output");
}
