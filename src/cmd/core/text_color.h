// SPDX-License-Identifier: GPL-2.0-or-later
// Colours of text that is no screen, as perf's: tools/perf/util/color.h.
#pragma once
#include "base/str.h"
#include <stdbool.h>

#define TEXT_GREEN "\033[32m"
#define TEXT_RED "\033[31m"
#define TEXT_BLUE "\033[34m"
#define TEXT_MAGENTA "\033[35m"
#define TEXT_PLAIN "\033[m"

// Of --stdio-color: always, never, auto, which is what NULL means: on a terminal that knows colours, unless NO_COLOR is set.
// -COMMAND_USAGE with a sentence.
int text_colors(const char *mode, bool is_terminal, bool *ret);
// What much, some and little are shown in; "": in no colour.
const char *text_color_of(double percent);
// How many bytes of a text, colours among them, take `width` columns; the colour that is on there is not ended.
size_t text_color_cut(struct str text, size_t width);
