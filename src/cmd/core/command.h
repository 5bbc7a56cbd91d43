// SPDX-License-Identifier: GPL-2.0-or-later
// A command: one const struct in src/cmd/NAME.c, called command_NAME. The start, the help, the man page,
// the completion and the tests all read this struct; there is no other list of commands.
#pragma once
#include "base/opt.h"
#include <stdbool.h>
#include <stddef.h>

// The heading under which `sonde help` lists the command.
enum command_family {
	COMMAND_PERF,	 // perf has it too
	COMMAND_LIVE,	 // live profilers
	COMMAND_PICTURE, // draws
	COMMAND_TOOL,	 // answers one question
	COMMAND_SELF,	 // about sonde itself
	COMMAND_FAMILIES
};

// Whether sub-commands are found by their names alone.
enum command_subs {
	COMMAND_SUBS_BEHIND,	   // only behind the command's
	COMMAND_SUBS_FOUND,	   // where no command has that name
	COMMAND_SUBS_ARE_COMMANDS, // likewise, and the lists have them among the commands
};

struct command {
	const char *name;	 // as typed: "buildid-cache"
	const char *summary;	 // one line for the overview, no full stop
	const char *usage;	 // "sonde report [options] [FILE]"; several lines are split by \n
	const char *description; // for the help and the man page; paragraphs are split by \n\n
	const struct opt *opts;	 // ends with OPT_END; NULL: takes no options
	size_t opts_size;	 // sizeof the struct that the options' offsets point into
	const struct command_example *examples;
	// Fills *ret with the i-th sub-command (a profiler for prof), false behind the last; NULL: none.
	// For help, man and completion only; ret->run may stay NULL.
	bool (*sub)(size_t i, struct command *ret);
	enum command_subs subs;
	// The values of an option, or of the parts of its list, for completion; NULL: none are known.
	void (*values)(const char *option, opt_offer *offer, void *arg);
	enum command_family family;
	bool hidden;	     // not in the overview
	bool exits_by_errno; // failures exit with 256 - errno, as perf's command does
	// argv[0] is the command's name. >= 0: the exit status; negative: fail(...) was called, main
	// prints the sentence and exits with 255 (or by exits_by_errno); -COMMAND_USAGE and -COMMAND_INVALID exit with theirs; -EPIPE ends quietly.
	int (*run)(int argc, char **argv);
};

// The nearest name of a command, tool or profiler; NULL: none is near.
const char *command_nearest(const char *word);

extern const struct command *const commands[]; // by name, ends with NULL; made by src/registry.c

// The command of that name or NULL; n commands are compared.
const struct command *command_find(const char *name);
// The sub-command of that name; false when there is none.
bool command_find_sub(const struct command *command, const char *name, struct command *ret);

// The command that has a sub-command which the words name and which is found by that alone, a name of two words included; NULL: there is
// none. *ret: the sub-command. words: NULL-terminated, one at least.
const struct command *command_of_sub(char *const *words, struct command *ret);
// Walks over all that the lists have by name, commands and sub-commands that are some: for (size_t i = 0, k = 0; command_next(&i, &k,
// &command);). Commands as they stand in commands[], each followed by its own.
bool command_next(size_t *i, size_t *k, struct command *ret);

// opt_parse with the command's table: the count of words left in argv[1..], or a negative value that run
// returns as it is. -h printed the help (-ECANCELED); a wrong option left its sentence
// (-COMMAND_USAGE). flags: enum opt_flags.
int command_parse(const struct command *command, void *options, char **argv, int flags);
