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

// A value that a reader would cut or take apart stands in quotes.
static void put_value(struct out *out, const char *value)
{
	bool quote = strpbrk(value, "#;\"\\\n\t") || value[0] == ' ' ||
		     (value[0] && value[strlen(value) - 1] == ' ');

	if (quote)
		out_char(out, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			out_char(out, '\\');
		if (*value == '\n')
			out_text(out, "\\n");
		else
			out_char(out, *value);
	}
	if (quote)
		out_char(out, '"');
}

static int write_file(const struct config *config, const char *path, bool system)
{
	const char *section = NULL;
	struct out out;

	out_init_memory(&out);
	out_text(&out, "# this file is auto-generated.\n");
	vec_each(struct config_entry, entry, &config->entries) {
		if (entry->is_system != system)
			continue;
		if (!section || strcmp(section, entry->section)) {
			out_printf(&out, "[%s]\n", entry->section);
			section = entry->section;
		}
		out_printf(&out, "\t%s", entry->name);
		if (entry->value) {
			out_text(&out, " = ");
			put_value(&out, entry->value);
		}
		out_char(&out, '\n');
	}
	int err = file_write(path, out.buf, out.n);
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

static int run_words(struct config *config, char **words, bool system, struct out *out)
{
	const char *only = getenv("PERF_CONFIG");
	bool changed = false;
	char path[PATH_MAX] = CONFIG_SYSTEM_PATH;
	int err;

	for (; *words; words++) {
		const char *equals = strchr(*words, '=');

		if (equals) {
			err = change(config, *words, equals, system);
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
	if (!changed)
		return 0;
	if (!system && only)
		snprintf(path, sizeof(path), "%s", only);
	else if (!system && !config_user_path(path, sizeof(path)))
		return fail(ENOENT, "there is no HOME to write .perfconfig to");
	return write_file(config, path, system);
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
	err = config_read(&config, options.system ? CONFIG_SYSTEM
				   : options.user ? CONFIG_USER
						  : CONFIG_SYSTEM | CONFIG_USER);
	out_init_fd(&out, STDOUT_FILENO);
	if (err >= 0 && n)
		err = run_words(&config, argv + 1, options.system, &out);
	else if (err >= 0)
		put_all(&out, &config);
	closed = out_close(&out, "standard output");
	out_done(&out);
	config_done(&config);
	return err < 0 ? err : closed;
}
