// SPDX-License-Identifier: GPL-2.0-or-later
// What ~/.perfconfig says about a command becomes options before those that are typed (cmd/core/settings.c, one table), so that
// commands need not know of it; what is no option is asked for where it counts (settings_get, settings_bool). When a run fails
// and its sentence is about a value that a setting has, main says where that stands. config edits the text of the file
// (config_edit), so all else in it stays.
#include "cmd/core/settings.h"
#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include <ctype.h>

struct settings_row {
	const char *key, *command, *option;
	bool is_bool;	  // --option or --no-option; else --option=VALUE
	const char *when; // the option alone, for this value (a bool as "true" or "false")
};

static const struct settings_row rows[] = {
	{"report.children", "report", "children", .is_bool = true},
	{"report.group", "report", "group", .is_bool = true},
	{"report.percent-limit", "report", "percent-limit"},
	{"report.skip-empty", "report", "skip-empty", .is_bool = true},
	{"report.sort_order", "report", "sort"},
	{"hist.percentage", "report", "percentage"},
	{"tui.report", "report", "stdio", .when = "false"},
	{"top.children", "top", "children", .is_bool = true},
	{"hist.percentage", "top", "percentage"},
	{"tui.top", "top", "stdio", .when = "false"},
	{"tui.annotate", "annotate", "stdio", .when = "false"},
	{"annotate.disassembler_style", "annotate", "disassembler-style"},
	{"annotate.show_nr_samples", "annotate", "show-nr-samples", .when = "true"},
	{"annotate.show_total_period", "annotate", "show-total-period", .when = "true"},
	{"annotate.demangle", "annotate", "demangle", .is_bool = true},
	{"annotate.demangle_kernel", "annotate", "demangle-kernel", .is_bool = true},
	{"diff.compute", "diff", "compute"},
	{"diff.order", "diff", "order"},
	{"stat.big-num", "stat", "big-num", .is_bool = true},
	{"trace.no_inherit", "trace", "no-inherit", .when = "true"},
	{"record.build-id", "record", "no-buildid-cache", .when = "no-cache"},
	{"record.build-id", "record", "no-buildid", .when = "skip"},
	{"record.build-id", "record", "buildid-mmap", .when = "mmap"},
	{"core.proc-map-timeout", "record", "proc-map-timeout"},
};

// Those of the user who runs this, read at the first question.
static struct {
	bool read;
	struct config config;
	VEC(const struct config_entry *) used; // by the command that runs
} settings;

static const struct config *all_settings(void)
{
	if (!settings.read) {
		settings.read = true;
		if (config_read(&settings.config, CONFIG_SYSTEM | CONFIG_USER) < 0) {
			warn("%s; the settings behind it are ignored", err_sentence());
			err_clear();
		}
	}
	return &settings.config;
}

const char *settings_get(const char *key)
{
	const struct config_entry *entry = config_find(all_settings(), key);
	bool known = false;

	if (!entry)
		return NULL;
	vec_each(const struct config_entry *, it, &settings.used)
		known |= *it == entry;
	if (!known && !entry->value && entry->file)
		warn("%s:%u: %s has no value, so it is taken as true", entry->file, entry->line, key);
	vec_push(&settings.used, entry);
	return entry->value ? entry->value : "true";
}

static void say_place(const char *key, const char *value, const char *what)
{
	const struct config_entry *entry = config_find(all_settings(), key);

	warn("%s:%u: %s is %s but '%s'; it is ignored", entry->file, entry->line, key, what, value);
}

bool settings_bool(const char *key, bool otherwise)
{
	const char *value = settings_get(key);
	int on = value ? config_bool(value) : otherwise;

	if (on >= 0)
		return on;
	say_place(key, value, "neither true nor false");
	return otherwise;
}

// As perf has it: 10k is 10240.
static int parse_units(struct str text, uint64_t *ret)
{
	static const char units[] = "kmg";
	const char *unit = text.n ? strchr(units, tolower((unsigned char)text.p[text.n - 1])) : NULL;
	unsigned shift = unit && *unit ? 10 * (unsigned)(unit - units + 1) : 0;
	uint64_t n;

	if (shift)
		text.n--;
	if (num_parse_u64(text, &n) || n > UINT64_MAX >> shift)
		return -EINVAL;
	*ret = n << shift;
	return 0;
}

unsigned settings_number(const char *key, unsigned otherwise)
{
	const char *value = settings_get(key);
	uint64_t n;

	if (!value)
		return otherwise;
	if (parse_units(str_of(value), &n) == 0 && n <= UINT32_MAX)
		return (unsigned)n;
	say_place(key, value, "no number");
	return otherwise;
}

int settings_blame(const char *key, int err)
{
	const struct config_entry *entry = config_find(all_settings(), key);
	const char *sentence = err_sentence();
	auto_free char *alone = xstrdup(text_starts(sentence, "-e: ") ? sentence + 4 : sentence);

	return fail(-err, "%s:%u: %s: %s", entry->file, entry->line, key, alone);
}

int settings_explain(int err)
{
	vec_each(const struct config_entry *, it, &settings.used) {
		const struct config_entry *entry = *it;
		auto_free char *quoted = text_dup_fmt("'%s'", entry->value ? entry->value : "true");
		auto_free char *also = text_dup_fmt("`%s", quoted + 1);
		auto_free char *place = text_dup_fmt("%s:%u: ", entry->file, entry->line);

		if (text_starts(err_sentence(), place))
			return err;
		if (strstr(err_sentence(), quoted) || strstr(err_sentence(), also))
			return fail_context(err, "%s:%u: %s.%s", entry->file, entry->line,
					    entry->section, entry->name);
	}
	return err;
}

static bool has_option(const struct command *command, const char *name)
{
	struct opt_walk walk = {command->opts, NULL};

	for (const struct opt *opt; (opt = opt_next(&walk));) {
		if (!opt->name)
			continue;
		if (!strcmp(opt->name, name) ||
		    (text_starts(name, "no-") && !strcmp(opt->name, name + 3)))
			return true;
	}
	return false;
}

// NULL: the setting changes nothing.
static char *option_of(const struct settings_row *row, const char *value)
{
	int on = config_bool(value);

	if (row->when) {
		const char *is = on < 0 ? value : on ? "true" : "false";

		if (on < 0 && config_bool(row->when) >= 0)
			say_place(row->key, value, "neither true nor false");
		return strcmp(is, row->when) ? NULL : text_dup_fmt("--%s", row->option);
	}
	if (!row->is_bool)
		return text_dup_fmt("--%s=%s", row->option, value);
	if (on < 0) {
		say_place(row->key, value, "neither true nor false");
		return NULL;
	}
	return text_dup_fmt("--%s%s", on ? "" : "no-", row->option);
}

static void set_buildid_dir(void)
{
	const char *value = settings_get("buildid.dir"), *home = getenv("HOME");

	if (!value)
		return;
	auto_free char *path = text_starts(value, "~/") && home
				       ? text_dup_fmt("%s%s", home, value + 1)
				       : xstrdup(value);
	setenv("PERF_BUILDID_DIR", path, 0);
}

char **settings_as_options(const struct command *command, char **argv)
{
	VEC(char *) words = {0};

	if (!all_settings()->entries.n)
		return NULL;
	set_buildid_dir();
	vec_push(&words, argv[0]);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct settings_row *row = &rows[i];
		const char *value;
		char *word;

		if (strcmp(row->command, command->name) || !has_option(command, row->option))
			continue;
		value = settings_get(row->key);
		word = value ? option_of(row, value) : NULL;
		if (word) {
			// Options keep pointers into their words.
			vec_push(&words, arena_strdup(&settings.config.arena, str_of(word)));
			free(word);
		}
	}
	if (words.n == 1) {
		vec_done(&words);
		return NULL;
	}
	for (int i = 1; argv[i]; i++)
		vec_push(&words, argv[i]);
	vec_push(&words, NULL);
	return words.v;
}
