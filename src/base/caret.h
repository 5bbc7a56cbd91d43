// SPDX-License-Identifier: GPL-2.0-or-later
// Shows a place in a text that someone typed: the text in one line, carets below the place.
#pragma once
#include "base/str.h"

// "\n  text\n    ^^^" into buf, cut to a line of a terminal; control characters become '?'. `where` lies in `text` or at its end.
void caret_put(char *buf, size_t size, struct str text, struct str where);
