// SPDX-License-Identifier: GPL-2.0-or-later
// What this kernel and this user may do, and how to get what is missing.
#include "cmd/doctor/doctor.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "cmd/core/command.h"
#include <stdarg.h>
#include <stdio.h>

struct options {
	const char *format;
	bool missing;
};

static const struct opt opts[] = {
	{OPT_TEXT, 0, "format", offsetof(struct options, format), "FORMAT", "text or json."},
	{OPT_FLAG, 'm', "missing", offsetof(struct options, missing),
	 .help = "Only what is missing or limited."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde doctor", "what can be recorded here, and the commands that allow more"},
	{"sonde doctor --format json", "the same for a program to read"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_doctor = {
	.name = "doctor",
	.summary = "Say what this kernel and this user may do, and how to get what is missing",
	.usage = "sonde doctor [--missing] [--format text|json]",
	.description =
		"Tries what the other commands need: opens events, takes samples, looks for tracefs, "
		"probes, BPF, symbols and limits. For each thing that is missing it says what follows "
		"from that and which command grants it. It changes nothing.\n\n"
		"The exit status is 0 when programs can be recorded, else 1.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_SELF,
	.run = run,
};

void doctor_add(struct doctor *doctor, struct check check, const char *value_fmt, ...)
{
	char value[1024];
	va_list args;

	va_start(args, value_fmt);
	vsnprintf(value, sizeof(value), value_fmt, args);
	va_end(args);
	check.value = arena_strdup(&doctor->arena, str_of(value));
	vec_push(&doctor->checks, check);
}

void doctor_why(struct doctor *doctor, const char *fix, const char *fmt, ...)
{
	struct check *check = &vec_last(&doctor->checks);
	char why[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	check->why = arena_strdup(&doctor->arena, str_of(why));
	check->fix = fix;
}

bool doctor_capability(const struct doctor *doctor, unsigned number)
{
	return !doctor->in_user_namespace && (doctor->capabilities >> number & 1);
}

bool doctor_may_perf(const struct doctor *doctor)
{
	return doctor_capability(doctor, 38) || doctor_capability(doctor, 21);
}

int64_t doctor_number(const struct doctor *doctor, const char *path, int64_t absent)
{
	int64_t value;

	return file_read_i64(doctor->root, path, &value) < 0 ? absent : value;
}

static const char *const state_words[] = {
	[CHECK_OK] = "ok",
	[CHECK_LIMITED] = "limited",
	[CHECK_MISSING] = "missing",
	[CHECK_INFO] = "info",
};

static void put_wrapped(struct out *out, const char *text, int margin)
{
	enum { WIDTH = 96 };
	struct str rest = str_of(text);
	int column = margin;

	out_fill(out, ' ', (size_t)margin);
	while (rest.p) {
		struct str word = str_cut(&rest, ' ');
		if (column > margin && column + 1 + (int)word.n > WIDTH) {
			out_char(out, '\n');
			out_fill(out, ' ', (size_t)margin);
			column = margin;
		} else if (column > margin) {
			out_char(out, ' ');
			column++;
		}
		out_str(out, word);
		column += (int)word.n;
	}
	out_char(out, '\n');
}

static void print_text(struct out *out, const struct doctor *doctor, bool missing)
{
	enum { MARGIN = 11 };
	static const char *const marks[] =
		{[CHECK_OK] = "ok", [CHECK_LIMITED] = "limited", [CHECK_MISSING] = "missing", [CHECK_INFO] = "-"};
	const char *section = "";

	vec_each(const struct check, check, &doctor->checks) {
		if (missing && check->state != CHECK_LIMITED && check->state != CHECK_MISSING)
			continue;
		if (strcmp(section, check->section)) {
			out_printf(out, "%s%s\n", *section ? "\n" : "", check->section);
			section = check->section;
		}
		out_printf(out, "  %-8s %-24s ", marks[check->state], check->name);
		out_safe(out, check->value);
		out_char(out, '\n');
		if (check->why)
			put_wrapped(out, check->why, MARGIN);
		if (check->fix)
			out_printf(out, "%*s$ %s\n", MARGIN, "", check->fix);
	}
	out_printf(out, "%s%s\n", *section ? "\n" : "",
		   doctor->can_record ? "Programs can be recorded: sonde record -g -- COMMAND"
				      : "Nothing can be recorded as things are.");
}

static void print_json(struct out *out, const struct doctor *doctor, bool missing)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	json_field_bool(&json, "can_record", doctor->can_record);
	json_key(&json, "checks");
	json_array(&json);
	vec_each(const struct check, check, &doctor->checks) {
		if (missing && check->state != CHECK_LIMITED && check->state != CHECK_MISSING)
			continue;
		json_object(&json);
		json_field_text(&json, "section", check->section);
		json_field_text(&json, "name", check->name);
		json_field_text(&json, "state", state_words[check->state]);
		json_field_text(&json, "value", check->value);
		json_field_text(&json, "why", check->why);
		json_field_text(&json, "fix", check->fix);
		json_end(&json);
	}
	json_end(&json);
	json_end(&json);
	json_line(&json);
}

static int run(int argc, char **argv)
{
	struct options o = {.format = "text"};
	struct doctor doctor = {.root = ""};
	int n = command_parse(&command_doctor, &o, argv, 0);
	struct out out;

	if (n < 0)
		return n;
	bool json = !strcmp(o.format, "json");
	if (!json && strcmp(o.format, "text"))
		return fail(COMMAND_USAGE, "--format takes text or json, not '%s'", o.format);
	if (n > 0)
		return fail(COMMAND_USAGE, "doctor takes no words, but there is '%s'", argv[1]);
	doctor_user(&doctor);
	doctor_recording(&doctor);
	doctor_tracing(&doctor);
	doctor_symbols(&doctor);
	doctor_limits(&doctor);
	err_clear();
	out_init_fd(&out, 1);
	if (json)
		print_json(&out, &doctor, o.missing);
	else
		print_text(&out, &doctor, o.missing);
	int err = out_close(&out, "standard output");
	bool can_record = doctor.can_record;
	vec_done(&doctor.checks);
	arena_done(&doctor.arena);
	return err < 0 ? err : !can_record;
}
