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
		"names in place of both. What is typed wins over settings. NAME alone asks, NAME=VALUE writes; all else in the "
		"file stays as it is, comments too.\n\n"
		"These have an effect in sonde: report.children .group .percent-limit .sort_order .skip-empty; top.children .call-graph; "
		"hist.percentage; ui.show-headers; tui.report .top .annotate; call-graph.print-type .order .sort-key .threshold "
		".print-limit .record-mode and record.call-graph (what record -g means); annotate.disassembler_style .hide_src_code "
		".use_offset .jump_arrows .show_linenr .show_nr_jumps .show_nr_samples .show_total_period .offset_level .demangle "
		".demangle_kernel; diff.compute .order; stat.big-num; trace.no_inherit .add_events .args_alignment .show_arg_names "
		".show_duration .show_prefix .show_timestamp .show_zeros .tracepoint_beautifiers; record.build-id; core.proc-map-timeout; "
		"buildid.dir; colors.top .medium .normal .selected .jump_arrows .addr .root (screens: FOREGROUND, BACKGROUND). "
		"Others are kept and listed. A value that can't be meant is told with its file and line.",
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

// The text of the file that changes go to; *ret_mode: what it has, or would get. What was not read must not be written over.
static int read_text(unsigned files, const char *path, struct out *ret, mode_t *ret_mode)
{
	enum { LONGEST_FILE = 1 << 20 };
	auto_free char *text = NULL;
	struct stat st;
	size_t n;
	int err = config_check(path, &st);

	*ret_mode = files == CONFIG_SYSTEM ? 0644 : 0600;
	if (err < 0)
		return fail_context(err, "nothing is changed");
	if (!err)
		return lstat(path, &st) < 0
			       ? 0
			       : fail(ENOENT, "%s is a link to what is not there", path);
	*ret_mode = st.st_mode & 07777;
	err = file_read(path, LONGEST_FILE, &text, &n);
	if (err < 0)
		return fail(-err, "can't read %s: %s", path, strerror(-err));
	out_bytes(ret, text, n);
	return 0;
}

static int change(struct out *text, const char *word, const char *equals)
{
	auto_free char *key = text_dup_fmt("%.*s", (int)(equals - word), word);
	struct out edited;
	int err;

	if (!equals[1])
		return fail(EINVAL, "The config variable does not contain a value: %s", word);
	out_init_memory(&edited);
	err = config_edit(&edited, (struct str){text->buf, text->n}, key, equals + 1);
	if (!err) {
		text->n = 0;
		out_bytes(text, edited.buf, edited.n);
	}
	out_done(&edited);
	return err;
}

// Links stay what they are.
static int change_file(char **words, unsigned files)
{
	char path[PATH_MAX], real[PATH_MAX];
	struct out text;
	mode_t mode;
	int err = config_path(path, sizeof(path), files);

	if (err < 0)
		return err;
	out_init_memory(&text);
	err = read_text(files, path, &text, &mode);
	for (; err >= 0 && *words; words++) {
		if (strchr(*words, '='))
			err = change(&text, *words, strchr(*words, '='));
	}
	if (err >= 0)
		err = file_write_mode(realpath(path, real) ? real : path, mode, text.buf, text.n);
	out_done(&text);
	return err;
}

static int run_words(struct config *config, char **words, unsigned files, struct out *out)
{
	bool changes = false;
	int err;

	for (char **word = words; *word; word++) {
		const char *equals = strchr(*word, '=');

		const char *dot = strrchr(*word, '.');

		if (!equals && (!dot || dot == *word))
			return fail(EINVAL,
				    "The config variable does not contain a section name: %s", *word);
		if (!equals && !dot[1])
			return fail(EINVAL,
				    "The config variable does not contain a variable name: %s",
				    *word);
		if (equals) {
			// Asked for behind it, it is as it was set.
			auto_free char *key = text_dup_fmt("%.*s", (int)(equals - *word), *word);

			err = config_set(config, key, equals + 1, files == CONFIG_SYSTEM);
			if (err < 0)
				return err;
			changes = true;
		} else {
			put_entry(out, config_find(config, *word));
		}
	}
	return changes ? change_file(words, files) : 0;
}

static int run(int argc, char **argv)
{
	struct options options = {0};
	struct config config = {0};
	struct out out;
	int n = command_parse(&command_config, &options, argv, 0), err, closed;

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
