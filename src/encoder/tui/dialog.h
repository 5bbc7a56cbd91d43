// SPDX-License-Identifier: GPL-2.0-or-later
// Small windows over a screen, each with a loop of its own that ends at Esc, q or its answer: help, a menu, a line to type, a
// long text. What lies below is drawn again by the caller afterwards.
#pragma once
#include "encoder/tui/screen.h"

// Lines are "KEYS\tWHAT THEY DO", a heading has no tab; NULL ends them.
void tui_help(struct screen *screen, const char *title, const char *const *lines);
// Which of n, -1: none.
int tui_menu(struct screen *screen, const char *title, const char *const *items, size_t n);
// A scrolling text, one row a line; search by /.
void tui_view(struct screen *screen, const char *title, struct str text);
// One sentence in the last line, until a key is typed.
void tui_tell(struct screen *screen, const char *sentence);

// A line being typed at the bottom of the screen.
struct tui_line {
	char text[256];
	size_t n;
};
enum tui_typed { TUI_CHANGED, TUI_DONE, TUI_GIVEN_UP, TUI_OTHER };
void tui_line_draw(const struct tui_line *line, struct screen *screen, const char *prompt);
// Enter: done, Esc: given up; OTHER: no key for a line.
enum tui_typed tui_line_key(struct tui_line *line, int key);
// Asks until done; false: given up, the text is as it was.
bool tui_ask(struct screen *screen, const char *prompt, struct tui_line *line);
