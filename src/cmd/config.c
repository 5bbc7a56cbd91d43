// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/config.h"
#include "base/err.h"
#include "base/file.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "cmd/core/rows.h"
#include <limits.h>
#include <stdio.h>

struct options {
	bool list, system, user;
};

static const struct opt opts[] = {
	OPT(OPT_FLAG, 'l', "list", offsetof(struct options, list), NULL, "All settings."),
	OPT(OPT_FLAG, 0, "system", offsetof(struct options, system), NULL,
	    "Only the file of the system, /etc/perfconfig."),
	OPT(OPT_FLAG, 0, "user", offsetof(struct options, user), NULL,
	    "Only your file, ~/.perfconfig."),
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde config report.children=false", "report shows what functions take themselves"},
	{"sonde config report.children", "asks for one setting"},
	{"sonde config -l", "shows all"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_config = {
	.name = "config",
	.summary = "Get and set settings in ~/.perfconfig",
	.usage = "sonde config [--user|--system] [SECTION.NAME[=VALUE]...]\n"
		 "sonde config [--user|--system] -l",
	.description =
		"perf and sonde read the same files: /etc/perfconfig, then ~/.perfconfig, whose settings win; the file that PERF_CONFIG "
		"names in place of both. What is typed wins over settings. NAME alone asks, NAME=VALUE writes; the file is then "
		"written anew, without the comments in it, as perf does.\n\n"
		"These have an effect in sonde: report.children, report.group, report.percent-limit, report.sort_order, top.children, "
		"hist.percentage, tui.report, tui.top, tui.annotate, annotate.disassembler_style, annotate.hide_src_code, "
		"call-graph.record-mode and record.call-graph (what record -g means), record.build-id, core.proc-map-timeout, "
		"buildid.dir. Others are kept and listed.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

static void put_entry(struct out *out, const struct config_entry *entry)
{
	if (!entry || !entry->value)
		return;
	out_safe(out, entry->section);
	out_char(out, '.');
	out_safe(out, entry->name);
	out_char(out, '=');
	out_safe(out, entry->value);
	out_char(out, '\n');
}

static void put_all(struct out *out, const struct config *config)
{
	vec_each(struct config_entry, entry, &config->entries)
		put_entry(out, entry);
}

// Links stay what they are. What was not read must not be written over.
static int write_file(const struct config *config, unsigned files)
{
	char path[PATH_MAX], real[PATH_MAX];
	mode_t mode = files == CONFIG_SYSTEM ? 0644 : 0600;
	struct stat st;
	struct out out;
	int err = config_path(path, sizeof(path), files);

	if (err < 0)
		return err;
	err = config_check(path, &st);
	if (err < 0)
		return fail_context(err, "nothing is changed");
	if (err > 0)
		mode = st.st_mode & 07777;
	else if (lstat(path, &st) == 0)
		return fail(ENOENT, "%s is a link to what is not there", path);
	out_init_memory(&out);
	config_print(&out, config, files == CONFIG_SYSTEM);
	err = file_write_mode(realpath(path, real) ? real : path, mode, out.buf, out.n);
	out_done(&out);
	return err;
}

static int change(struct config *config, const char *word, const char *equals, bool system)
{
	auto_free char *key = text_dup_fmt("%.*s", (int)(equals - word), word);

	if (!equals[1])
		return fail(EINVAL, "The config variable does not contain a value: %s", word);
	return config_set(config, key, equals + 1, system);
}

static int run_words(struct config *config, char **words, unsigned files, struct out *out)
{
	bool changed = false;
	int err;

	for (; *words; words++) {
		const char *equals = strchr(*words, '=');

		if (equals) {
			err = change(config, *words, equals, files == CONFIG_SYSTEM);
			if (err < 0)
				return err;
			changed = true;
		} else if (!strchr(*words, '.')) {
			return fail(EINVAL, "The config variable does not contain a section name: %s",
				    *words);
		} else {
			put_entry(out, config_find(config, *words));
		}
	}
	return changed ? write_file(config, files) : 0;
}

static int run(int argc, char **argv)
{
	struct options options = {0};
	struct config config = {0};
	struct out out;
	int n = command_parse(&command_config, &options, argc, argv, 0), err, closed;

	if (n < 0)
		return n;
	if (options.system && options.user)
		return fail(COMMAND_USAGE, "only one config file at a time: --system or --user");
	if (options.list && n)
		return fail(COMMAND_USAGE, "-l takes no further words, '%s' is one", argv[1]);
	unsigned files = options.system ? CONFIG_SYSTEM
			 : options.user ? CONFIG_USER
					: CONFIG_SYSTEM | CONFIG_USER;
	err = config_read(&config, files);
	out_init_fd(&out, STDOUT_FILENO);
	if (err >= 0 && n)
		err = run_words(&config, argv + 1, files, &out);
	else if (err >= 0)
		put_all(&out, &config);
	closed = out_close(&out, "standard output");
	out_done(&out);
	config_done(&config);
	return err < 0 ? err : closed;
}
