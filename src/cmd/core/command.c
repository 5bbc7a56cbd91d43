// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/command.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/nearest.h"
#include "base/out.h"
#include "base/str.h"
#include "base/vec.h"
#include "cmd/core/help.h"
#include "cmd/core/settings.h"

const struct command *command_find(const char *name)
{
	for (const struct command *const *command = commands; *command; command++) {
		if (!strcmp((*command)->name, name))
			return *command;
	}
	return NULL;
}

bool command_find_sub(const struct command *command, const char *name, struct command *ret)
{
	struct command sub = {0};

	for (size_t i = 0; command->sub && command->sub(i, &sub); i++) {
		if (!strcmp(sub.name, name)) {
			*ret = sub;
			return true;
		}
		sub = (struct command){0};
	}
	return false;
}

const struct command *command_of_sub(char *const *words, struct command *ret)
{
	auto_free char *both = words[1] ? text_dup_fmt("%s %s", words[0], words[1]) : NULL;

	for (const struct command *const *command = commands; *command; command++)
		if ((*command)->subs != COMMAND_SUBS_BEHIND &&
		    (command_find_sub(*command, words[0], ret) ||
		     (both && command_find_sub(*command, both, ret))))
			return *command;
	return NULL;
}

const char *command_nearest(const char *word)
{
	VEC(const char *) names = {0};
	const char *near;

	for (const struct command *const *command = commands; *command; command++) {
		struct command sub = {0};

		vec_push(&names, (*command)->name);
		if ((*command)->subs == COMMAND_SUBS_BEHIND)
			continue;
		for (size_t i = 0; (*command)->sub(i, &sub); i++)
			vec_push(&names, sub.name);
	}
	vec_push(&names, NULL);
	near = nearest(word, names.v);
	vec_done(&names);
	return near;
}

bool command_next(size_t *i, size_t *k, struct command *ret)
{
	for (; commands[*i]; ++*i, *k = 0) {
		const struct command *command = commands[*i];

		if (!*k && !command->hidden) {
			++*k;
			*ret = *command;
			return true;
		}
		*k += !*k;
		if (command->subs == COMMAND_SUBS_ARE_COMMANDS && command->sub(*k - 1, ret)) {
			++*k;
			return true;
		}
	}
	return false;
}

int command_parse(const struct command *command, void *options, char **argv, int flags)
{
	static const struct opt none[] = {OPT_END};
	int words, err;
	auto_free char **with_settings = settings_as_options(command, argv);
	struct out out;

	words = opt_parse(command->opts ? command->opts : none, options,
			  with_settings ? with_settings : argv, flags);
	for (int i = 1; with_settings && i <= words; i++)
		argv[i] = with_settings[i];
	if (with_settings && words >= 0)
		argv[words + 1] = NULL;

	if (words >= 0)
		return words;
	if (words != -ECANCELED)
		return -COMMAND_USAGE;
	out_init_fd(&out, 1);
	help_text(&out, command);
	err = out_close(&out, "standard output");
	return err ? err : -ECANCELED;
}
