// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/complete_value.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/str.h"
#include "cmd/core/command.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

// What is called so with another letter, or without one, is something else (--pid of a recording).
static const struct {
	const char *name;
	char letter;
} valued[] = {
	{"sort", 's'}, {"fields", 'F'}, {"del", 'd'},  {"pid", 'p'},
	{"pids", 'p'}, {"tid", 't'},	{"tids", 't'},
};

bool complete_has_values(const struct opt *opt)
{
	for (size_t i = 0; i < ARRAY_SIZE(valued); i++) {
		if (opt->name && !strcmp(opt->name, valued[i].name) && opt->letter == valued[i].letter)
			return true;
	}
	return false;
}

struct offering {
	struct out *out;
	struct str before;
	const char *begin;
};

static void offer(void *arg, const char *value, const char *what)
{
	const struct offering *o = arg;

	if (!text_starts(value, o->begin))
		return;
	out_str(o->out, o->before);
	out_text(o->out, value);
	out_char(o->out, '\t');
	// Names of tasks are a stranger's text.
	for (const char *c = what; *c; c++)
		out_char(o->out, iscntrl((unsigned char)*c) ? '?' : *c);
	out_char(o->out, '\n');
}

static void offer_tasks(struct offering *o, const char *folder, bool threads)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[64], *comm;
	size_t n;

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (threads) {
			snprintf(path, sizeof(path), "/proc/%.20s/task", entry->d_name);
			offer_tasks(o, path, false);
			continue;
		}
		if (!text_starts(entry->d_name, o->begin))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name);
		if (file_read(path, 64, &comm, &n) < 0) {
			err_clear(); // it has ended
			continue;
		}
		comm[strcspn(comm, "\n")] = '\0';
		offer(o, entry->d_name, comm);
		free(comm);
	}
	if (dir)
		closedir(dir);
}

// Where the last part of a list begins. Braces are of --sort, signs and "KIND:" of -F.
static size_t last_part(const char *text, bool kinds)
{
	size_t at = 0;

	for (size_t i = 0; text[i]; i++) {
		if (strchr(",{} ", text[i]) || (kinds && text[i] == ':'))
			at = i + 1;
	}
	return at + (strchr("+-", text[at]) && text[at]);
}

void complete_value(struct out *out, const char *path, const char *option, const char *text)
{
	struct str rest = str_of(path);
	auto_free char *name = str_dup(str_cut(&rest, ' '));
	const struct command *command = command_find(name);
	size_t at = last_part(text, !strcmp(option, "fields"));
	struct offering o = {out, {text, at}, text + at};

	if (text_starts(option, "pid"))
		offer_tasks(&o, "/proc", false);
	else if (text_starts(option, "tid"))
		offer_tasks(&o, "/proc", true);
	else if (command && command->values)
		command->values(option, offer, &o);
	err_clear();
}
