// SPDX-License-Identifier: GPL-2.0-or-later
// Every command's tables are well-formed. A new command is checked by being there.
#include "base/alloc.h"
#include "base/str.h"
#include "base/test.h"
#include "cmd/core/command.h"
#include <stdint.h>
#include <stdio.h>

static size_t size_of_kind(enum opt_kind kind)
{
	switch (kind) {
	case OPT_FLAG:
		return sizeof(bool);
	case OPT_COUNT:
	case OPT_INT:
	case OPT_U32:
		return sizeof(int);
	case OPT_U64:
	case OPT_SIZE:
	case OPT_DOUBLE:
		return sizeof(uint64_t);
	case OPT_TEXT:
		return sizeof(const char *);
	case OPT_LIST:
		return sizeof(struct opt_list);
	default:
		return 0;
	}
}

static void check_option(const struct command *command, const struct opt *opt)
{
	const char *what = opt->name ? opt->name : (char[]){opt->letter, 0};
	bool takes_argument = opt->kind != OPT_FLAG && opt->kind != OPT_COUNT;
	struct opt_walk walk = {command->opts, NULL};

	if (!opt->name && !opt->letter)
		fail_msg("%s: an option without name and letter (%s)", command->name, opt->help);
	if (!opt->hidden && !opt->help)
		fail_msg("%s: option %s has no help", command->name, what);
	if (opt->offset + size_of_kind(opt->kind) > command->opts_size && opt->kind != OPT_CALL)
		fail_msg("%s: option %s lies outside of the option struct; is opts_size right?",
			 command->name, what);
	if (opt->kind == OPT_CALL ? !opt->call : takes_argument != !!opt->arg)
		fail_msg("%s: option %s: its kind does not go with .arg or .call", command->name,
			 what);
	for (const struct opt *other; (other = opt_next(&walk)) && other != opt;) {
		if (other->kind == OPT_GROUP)
			continue;
		if (opt->letter && opt->letter == other->letter)
			fail_msg("%s: two options have the letter %c", command->name, opt->letter);
		if (opt->name && other->name && !strcmp(opt->name, other->name))
			fail_msg("%s: two options are called --%s", command->name, opt->name);
	}
}

static void check_command(const struct command *command, const struct command *parent)
{
	bool is_part = parent && parent->subs != COMMAND_SUBS_ARE_COMMANDS;
	auto_free char *start = text_dup_fmt("sonde %s%s%s", is_part ? parent->name : "",
					     is_part ? " " : "", command->name);
	struct opt_walk walk = {command->opts, NULL};

	if (!command->summary || strchr(command->summary, '\n') || text_ends(command->summary, "."))
		fail_msg("%s: the summary is one line without a full stop", command->name);
	if (!parent && !command->run)
		fail_msg("%s: nothing to run", command->name);
	if (command->usage && !text_starts(command->usage, start))
		fail_msg("%s: the usage begins with '%s'", command->name, start);
	if (!parent && !command->usage)
		fail_msg("%s: no usage", command->name);
	for (const struct opt *opt; (opt = opt_next(&walk));) {
		if (opt->kind != OPT_GROUP)
			check_option(command, opt);
	}
	for (const struct command_example *e = command->examples; e && e->line; e++) {
		if (!e->shows)
			fail_msg("%s: the example '%s' does not say what it shows", command->name,
				 e->line);
		if (!strstr(e->line, "sonde") || strpbrk(e->line, "\n\t") ||
		    (e->test && strpbrk(e->test, "\n\t")))
			fail_msg("%s: the example '%s' is one line that calls sonde", command->name,
				 e->line);
	}
}

static void test_commands(void **state)
{
	size_t n = 0;

	for (const struct command *const *command = commands; *command; command++) {
		struct command sub = {0};

		check_command(*command, NULL);
		for (size_t i = 0; i < n; i++)
			assert_string_not_equal(commands[i]->name, (*command)->name);
		for (size_t i = 0; (*command)->sub && (*command)->sub(i, &sub); i++) {
			check_command(&sub, *command);
			sub = (struct command){0};
		}
		n++;
	}
	assert_true(n >= 2);
}

static void test_find(void **state)
{
	assert_string_equal(command_find("version")->name, "version");
	assert_null(command_find("nosuch"));
	assert_null(command_find(""));
}

RUN_TESTS(TEST(test_commands), TEST(test_find))
