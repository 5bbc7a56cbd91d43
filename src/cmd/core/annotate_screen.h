// SPDX-License-Identifier: GPL-2.0-or-later
// The annotated lines of a function as a screen: for annotate, and from the browsers of report and top.
#pragma once
#include "code/annotate.h"
#include "encoder/tui/screen.h"

struct annotate_screen {
	struct screen *screen;
	struct annotator *annotator; // made with own_lines
	struct sym *sym;
	struct annotate_request request;
	const char *event; // its name
	int refresh_ms;	   // counts are looked at again so often; 0: they stay
};

// Until the user goes back. -errno with a sentence when the function can't be annotated.
int annotate_screen_show(const struct annotate_screen *options);
