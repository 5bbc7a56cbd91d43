// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/command.h"
#include "base/err.h"
#include "base/out.h"
#include "cmd/core/help.h"

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

int command_parse(const struct command *command, void *options, int argc, char **argv, int flags)
{
	static const struct opt none[] = {OPT_END};
	int words = opt_parse(command->opts ? command->opts : none, options, argc, argv, flags);
	struct out out;
	int err;

	if (words >= 0)
		return words;
	if (words != -ECANCELED)
		return -COMMAND_USAGE;
	out_init_fd(&out, 1);
	help_text(&out, command);
	err = out_close(&out, "standard output");
	return err ? err : -ECANCELED;
}
