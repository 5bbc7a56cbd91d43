// SPDX-License-Identifier: GPL-2.0-or-later
// The samples behind a row, as `sonde script` prints them. It is run as a program of its own: it reads the recording anew, and
// what it keeps beside events is another thing than what the report keeps there.
#include "base/err.h"
#include "cmd/report/browse.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

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
		add_filter(command, "--comms", intern_get(&report->session->sym->strings, e->comm));
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
	command->words[command->n++] = "sonde";
	command->words[command->n++] = "script";
	add(command, "-i", browser->report->session->recording->path);
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

// The child writes to the pipe; what it says besides is not for the screen.
static pid_t start(const struct command *command, int *ret_fd)
{
	int fds[2], nothing;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(nothing, 0);
		dup2(fds[1], 1);
		dup2(nothing, 2);
		execv("/proc/self/exe", (char *const *)command->words);
		_exit(127);
	}
	close(fds[1]);
	if (pid < 0)
		close(fds[0]);
	*ret_fd = fds[0];
	return pid < 0 ? -errno : pid;
}

// Up to MOST_TEXT bytes; true: there is more.
static bool read_text(int fd, struct out *text)
{
	char buf[65536];
	ssize_t n;

	while (text->n < MOST_TEXT) {
		n = read(fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		out_str(text, (struct str){buf, (size_t)n});
	}
	return true;
}

static void show(struct browser *browser, const struct command *command)
{
	struct out text;
	bool more;
	int fd = -1, status = 0;
	pid_t pid = start(command, &fd);
	char sentence[128];

	if (pid < 0) {
		snprintf(sentence, sizeof(sentence), "The samples can't be shown: %s",
			 strerror((int)-pid));
		tui_tell(browser->screen, sentence);
		return;
	}
	out_init_memory(&text);
	more = read_text(fd, &text);
	close(fd);
	if (more) {
		kill(pid, SIGKILL);
		out_printf(&text, "\n... (only the first %d MB are shown)\n", MOST_TEXT >> 20);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (text.n)
		tui_view(browser->screen, command->title.buf, (struct str){text.buf, text.n});
	else
		tui_tell(browser->screen, "No sample is exactly there: the row is of callers, or "
					  "its samples are left out.");
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
	const struct recording *recording = browser->report->session->recording;

	return !browser->hooks->refresh_ms && !recording->is_pipe && recording->path;
}
