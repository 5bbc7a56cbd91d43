// SPDX-License-Identifier: GPL-2.0-or-later
// Text from strangers for the cells of a screen: whatever the bytes are, what is shown has a known width and moves no cursor.
#pragma once
#include "base/out.h"

// Appends at most `columns` columns of the text as UTF-8 and returns how many were used. Bytes that are no UTF-8, control
// characters and what has no width of its own are written as \xNN or \u{NNNN}; tabs as a space. Without `utf8` (the
// terminal's character set is another one) what is not ASCII becomes '?'. Widths are those of wcwidth(3), so of LC_CTYPE.
int tui_text(struct out *out, struct str text, int columns, bool utf8);
