// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/typed.h"
#include "base/err.h"
#include <stdio.h>
#include <unistd.h>

struct prof_typed {
	char line[512], note[1024];
	size_t n;
};

void prof_typed_begin(struct prof *prof)
{
	if (!prof->profiler->typed || !prof->feed->is_live || !isatty(STDIN_FILENO) ||
	    !prof->out->is_terminal)
		return;
	prof->typed = NEW(struct prof_typed);
	prof->feed->typed_fd = STDIN_FILENO;
}

static void take_line(struct prof *prof)
{
	struct prof_typed *typed = prof->typed;
	struct str line = str_trim((struct str){typed->line, typed->n});
	auto_free char *text = str_dup(line);

	typed->n = 0;
	if (prof->profiler->typed(prof, text)) {
		snprintf(typed->note, sizeof(typed->note), "  filter unchanged: %s", err_sentence());
		err_clear();
		// One line of the screen.
		typed->note[strcspn(typed->note, "\n")] = 0;
	} else if (*text) {
		snprintf(typed->note, sizeof(typed->note), "  filter: %s", text);
	} else {
		*typed->note = 0;
	}
}

int prof_typed_read(struct prof *prof)
{
	struct prof_typed *typed = prof->typed;
	char bytes[256];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n <= 0) // the terminal is gone, or Ctrl-D
		prof->feed->typed_fd = -1;
	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] == '\n')
			take_line(prof);
		else if (typed->n < sizeof(typed->line))
			typed->line[typed->n++] = bytes[i];
	}
	return 0;
}

const char *prof_typed_note(const struct prof *prof)
{
	return prof->typed ? prof->typed->note : "";
}

void prof_typed_free(struct prof_typed *typed)
{
	free(typed);
}
