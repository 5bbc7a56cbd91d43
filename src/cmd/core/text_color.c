// SPDX-License-Identifier: GPL-2.0-or-later
// Colours of text are perf's escape codes (cmd/core/text_color), put around shares and addresses behind the escaping of names,
// so nothing that a stranger chose can end or begin one; widths are counted without them.
#include "cmd/core/text_color.h"
#include "base/err.h"
#include "cmd/core/command.h"
#include <stdlib.h>

static const double much = 5.0, some = 0.5; // percent

int text_colors(const char *mode, bool is_terminal, bool *ret)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (mode && !strcmp(mode, "always")) {
		*ret = true;
	} else if (mode && !strcmp(mode, "never")) {
		*ret = false;
	} else if (!mode || !strcmp(mode, "auto")) {
		*ret = is_terminal && term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
	} else {
		return fail(COMMAND_USAGE, "--stdio-color takes always, never or auto, not '%s'",
			    mode);
	}
	return 0;
}

const char *text_color_of(double percent)
{
	if (percent < 0)
		percent = -percent;
	return percent >= much ? TEXT_RED : percent > some ? TEXT_GREEN : "";
}

size_t text_color_cut(struct str text, size_t width)
{
	size_t at = 0;

	while (at < text.n) {
		if (text.p[at] == '\033') {
			while (at < text.n && text.p[at] != 'm')
				at++;
			at += at < text.n;
		} else if (!width--) {
			break;
		} else {
			at++;
		}
	}
	return at;
}
