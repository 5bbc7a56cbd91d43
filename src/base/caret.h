// SPDX-License-Identifier: GPL-2.0-or-later
// Shows a place in a text that someone typed: the text in one line, carets below the place.
#pragma once
#include "base/str.h"

struct caret {
	char text[128], mark[128];
};

// For "...\n  %s\n  %s" of a message: both lines, cut to one of a terminal; control characters become '?'. `where` lies in `text` or at its
// end.
void caret_put(struct caret *ret, struct str text, struct str where);
