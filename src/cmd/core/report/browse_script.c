// SPDX-License-Identifier: GPL-2.0-or-later
// The samples behind a row, as `sonde script` prints them. It is run as a program of its own: it reads the recording anew, and
// what it keeps beside events is another thing than what the report keeps there.
#include "cmd/core/report/browse.h"
#include "sys/capture.h"
#include <stdio.h>

enum { MOST_WORDS = 32, MOST_TEXT = 16 << 20 };

struct command {
	const char *words[MOST_WORDS];
	size_t n;
	struct arena arena;
	struct out title;
};

static void add(struct command *command, const char *option, const char *value)
{
	if (!value)
		return;
	command->words[command->n++] = option;
	command->words[command->n++] = value;
}

// Lists of the filters are split at commas: a name with one would be two.
static void add_filter(struct command *command, const char *option, const char *name)
{
	if (strchr(name, ','))
		return;
	add(command, option, name);
	out_printf(&command->title, " %s", name);
}

static void add_row(struct command *command, const struct browser *browser, const struct entry *e)
{
	const struct report *report = browser->report;

	if (browser_has_key(browser, WIDTH_THREAD) && e->task)
		add_filter(command, "--tid", arena_fmt(&command->arena, "%u", e->task->tid));
	else if (browser_has_key(browser, WIDTH_COMM))
		add_filter(command, "--comms", intern_get(&report->run->sym->strings, e->comm));
	if (browser_has_key(browser, WIDTH_DSO) && e->place.dso)
		add_filter(command, "--dsos", e->place.dso->short_name);
	if (report->has_sym && e->place.sym)
		add_filter(command, "-S", e->place.sym->name);
}

static void make_command(struct command *command, const struct browser *browser,
			 const struct entry *e)
{
	const struct report_options *o = &browser->report->o;

	out_init_memory(&command->title);
	out_text(&command->title, "Samples of");
	command->words[command->n++] = "/proc/self/exe";
	command->words[command->n++] = "script";
	add(command, "-i", browser->report->run->recording->path);
	add(command, "-k", o->vmlinux);
	add(command, "--kallsyms", o->kallsyms);
	add(command, "--symfs", o->symfs);
	add(command, "--time", o->filter.times);
	add(command, "--cpu", o->filter.cpus);
	if (o->force)
		command->words[command->n++] = "-f";
	if (!o->inlines)
		command->words[command->n++] = "--no-inline";
	if (e)
		add_row(command, browser, e);
	else
		out_text(&command->title, " the recording");
	out_char(&command->title, 0);
	command->words[command->n] = NULL;
}

static void show(struct browser *browser, const struct command *command)
{
	char sentence[128];
	struct out text;
	bool more;
	int status;

	out_init_memory(&text);
	status = capture((char *const *)command->words, MOST_TEXT, &text, &more);
	if (status < 0) {
		snprintf(sentence, sizeof(sentence), "The samples can't be shown: %s",
			 strerror(-status));
		tui_tell(browser->screen, sentence);
	} else if (text.n) {
		if (more)
			out_printf(&text, "\n... (only the first %d MB are shown)\n",
				   MOST_TEXT >> 20);
		tui_view(browser->screen, command->title.buf, (struct str){text.buf, text.n});
	} else {
		tui_tell(browser->screen, "No sample is exactly there: the row is of callers, or "
					  "its samples are left out.");
	}
	out_done(&text);
}

void browser_script(struct browser *browser)
{
	const struct browse_line *line = browser_line(browser);
	struct command command = {0};

	if (!browser_has_samples(browser)) {
		tui_tell(browser->screen,
			 "The samples are gone: only those of a recording in a file can be shown.");
		return;
	}
	make_command(&command, browser, line ? browser_entry(browser, line) : NULL);
	show(browser, &command);
	out_done(&command.title);
	arena_done(&command.arena);
}

bool browser_has_samples(const struct browser *browser)
{
	const struct recording *recording = browser->report->run->recording;

	return !browser->hooks->refresh_ms && !recording->is_pipe && recording->path;
}
