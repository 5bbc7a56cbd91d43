// SPDX-License-Identifier: GPL-2.0-or-later
// The start: which command is meant, what its result says about the exit status.
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "cmd/core/elsewhere.h"
#include "cmd/core/help.h"
#include "cmd/core/settings.h"
#include "sys/files_limit.h"
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>

enum {
	EXIT_CLOSED_PIPE = 128 + SIGPIPE, // as a shell reports a program that SIGPIPE ended
	EXIT_FAILED = 255,		  // perf's
	EXIT_NO_COMMAND = 1,		  // perf's
};

// Files that we open must not become descriptor 0, 1 or 2, where messages would go into them. Opened the wrong
// way round, so that use of a closed descriptor stays an error.
static void occupy_standard_descriptors(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0)
			_exit(EXIT_FAILED);
	}
}

static int say_failure(const char *command, int err)
{
	const char *sentence;

	settings_explain(err);
	// Whatever it was: what to do about it is the same.
	if (err == -EMFILE)
		files_limit_explain();
	sentence = err_sentence();
	if (!*sentence && err != -COMMAND_USAGE)
		sentence = strerror(-err);
	if (*sentence)
		fprintf(stderr, "sonde%s%s: %s\n", command ? " " : "", command ? command : "",
			sentence);
	return err == -COMMAND_USAGE || err == -COMMAND_INVALID ? -err : EXIT_FAILED;
}

// stdio is only for messages, but they may fail to get out as well.
static int flush_stdio(const char *command, int status)
{
	if (!ferror(stdout) && fflush(stdout) == 0)
		return status;
	if (errno == EPIPE)
		return EXIT_CLOSED_PIPE;
	return say_failure(command, fail(errno, "can't write standard output: %s", strerror(errno)));
}

static int exit_status(const char *command, int result)
{
	if (result >= 0)
		return flush_stdio(command, result & 0xff);
	if (result == -EPIPE)
		return EXIT_CLOSED_PIPE;
	fflush(stdout);
	if (result == -ECANCELED) // the help was asked for
		return COMMAND_USAGE;
	return say_failure(command, result);
}

// `name`: as its user called it.
static int run(const struct command *command, const char *name, int argc, char **argv)
{
	int result = command->run(argc, argv);
	int status = exit_status(name, result);

	return status == EXIT_FAILED && command->exits_by_errno && result < 0 && result > -COMMAND_USAGE
		       ? result & 0xff
		       : status;
}

static int print_overview(int status)
{
	struct out out;
	int err;

	out_init_fd(&out, 1);
	help_overview(&out);
	err = out_close(&out, "standard output");
	return exit_status(NULL, err ? err : status);
}

static int print_command_names(void)
{
	struct command command = {0};

	for (size_t i = 0, k = 0; command_next(&i, &k, &command);)
		printf("%.*s ", (int)strcspn(command.name, " "), command.name);
	printf("\n");
	return 0;
}

static int print_option_names(const struct command *command)
{
	struct opt_walk walk = {command->opts, NULL};

	for (const struct opt *opt; (opt = opt_next(&walk));) {
		if (help_shows(opt) && opt->name)
			printf("--%s ", opt->name);
	}
	printf("\n");
	return 0;
}

// Commands that people know from perf and that are not here.
static bool is_perfs(const char *word)
{
	// Of the others another line here says what answers the same (cmd/core/elsewhere).
	static const char *const names[] = {"c2c", "daemon", "iostat", "kmem", "mem", "test"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(word, names[i]))
			return true;
	}
	return false;
}

static int unknown_command(const char *word)
{
	const char *line = elsewhere_line(word), *near = command_nearest(word);

	if (line)
		fail(ENOENT, "sonde has no command '%s'; what it answers, this does: %s", word, line);
	else if (is_perfs(word))
		fail(ENOENT,
		     "perf has the command '%s', sonde does not have it yet; 'sonde help' lists what there is",
		     word);
	else if (near)
		fail(ENOENT, "there is no command '%s'; did you mean '%s'?", word, near);
	else
		fail(ENOENT, "there is no command '%s'; 'sonde help' lists the commands", word);
	say_failure(NULL, -ENOENT);
	return EXIT_NO_COMMAND;
}

// A profiler or tool by its name alone.
static int run_sub(const struct command *owner, const char *called, int argc, char **argv)
{
	auto_free char **words = xcalloc((size_t)argc + 2, sizeof(*words));
	auto_free char *first = xstrdup(owner->name);

	words[0] = first;
	memcpy(words + 1, argv, (size_t)argc * sizeof(*words));
	return run(owner, called, argc + 1, words);
}

static int run_by_name(const char *name, int argc, char **argv)
{
	const struct command *command = command_find(name), *owner;
	struct command sub = {0};

	// A tool of two words ("lock report") comes before the command of the first.
	owner = command_of_sub(argv, &sub);
	if (command && !(owner && strchr(sub.name, ' ')))
		return run(command, command->name, argc, argv);
	return owner ? run_sub(owner, sub.name, argc, argv) : unknown_command(name);
}

// Options before the command, perf's. Returns how many words they take, or a negative value with *ret_status
// set when the program is done.
static int leading_options(char **argv, int *ret_status)
{
	char *version[] = {"version", NULL}, *build[] = {"version", "--build-options", NULL};
	int i;

	for (i = 1; argv[i] && argv[i][0] == '-'; i++) {
		const char *option = argv[i];

		if (!strcmp(option, "-h") || !strcmp(option, "--help"))
			return *ret_status = print_overview(0), -1;
		if (!strcmp(option, "-v") || !strcmp(option, "--version"))
			return *ret_status = run_by_name("version", 1, version), -1;
		if (!strcmp(option, "-vv"))
			return *ret_status = run_by_name("version", 2, build), -1;
		if (!strcmp(option, "--list-cmds"))
			return *ret_status = exit_status(NULL, print_command_names()), -1;
		if (!strcmp(option, "--no-pager"))
			continue; // there is none
		if (!strcmp(option, "--buildid-dir") && argv[i + 1]) {
			setenv("PERF_BUILDID_DIR", argv[++i], 1);
			continue;
		}
		if (text_starts(option, "--buildid-dir=")) {
			setenv("PERF_BUILDID_DIR", option + strlen("--buildid-dir="), 1);
			continue;
		}
		fail(COMMAND_USAGE, "there is no option %s before a command; see 'sonde --help'",
		     option);
		return *ret_status = say_failure(NULL, -COMMAND_USAGE), -1;
	}
	return i - 1;
}

static int start(int argc, char **argv)
{
	int status, taken = leading_options(argv, &status);

	if (taken < 0)
		return status;
	argc -= taken + 1;
	argv += taken + 1;
	if (argc < 1)
		return print_overview(EXIT_NO_COMMAND);
	if (argc > 1 && command_find(argv[0])) {
		if (!strcmp(argv[1], "--list-opts"))
			return exit_status(argv[0], print_option_names(command_find(argv[0])));
		if (!strcmp(argv[1], "--help")) {
			char *help[] = {"help", argv[0], NULL};

			return run_by_name("help", 2, help);
		}
	}
	return run_by_name(argv[0], argc, argv);
}

int main(int argc, char **argv)
{
	char *no_words[] = {"sonde", NULL};
	const char *name;

	occupy_standard_descriptors();
	if (argc < 1) {
		argc = 1;
		argv = no_words;
	}
	signal(SIGPIPE, SIG_IGN); // write returns EPIPE; who starts other programs sets it back
	signal(SIGXFSZ, SIG_IGN); // likewise EFBIG
	setlocale(LC_CTYPE, "");  // not LC_NUMERIC: numbers are written and read with a point
	name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
	if (!strcmp(name, "sonde-prof") || !strcmp(name, "perf-prof")) {
		char prof[] = "prof";

		argv[0] = prof;
		return run_by_name(prof, argc, argv);
	}
	return start(argc, argv);
}
