// SPDX-License-Identifier: GPL-2.0-or-later
// The terminal as a screen of cells, by ncursesw (optional at build time). However the program ends, the terminal is as it was: on
// close, on the signals that end a run, on Ctrl-Z, on a crash. While it is open what goes to standard error is kept
// and written when it is closed.
#pragma once
#include "base/str.h"
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

struct screen;

// Keys are the characters themselves (Unicode), and these.
enum screen_key {
	SCREEN_NONE = 0, // time is over
	SCREEN_TAB = 9,
	SCREEN_ENTER = 13,
	SCREEN_ESCAPE = 27,
	SCREEN_BACKSPACE = 127,
	SCREEN_UP = 0x200000,
	SCREEN_DOWN,
	SCREEN_LEFT,
	SCREEN_RIGHT,
	SCREEN_PAGE_UP,
	SCREEN_PAGE_DOWN,
	SCREEN_HOME,
	SCREEN_END,
	SCREEN_BACK_TAB,
	SCREEN_F1,
	SCREEN_WHEEL_UP,
	SCREEN_WHEEL_DOWN,
	SCREEN_CLICK,	     // screen_mouse tells where
	SCREEN_DOUBLE_CLICK, // likewise
	SCREEN_RESIZED,	     // draw all anew
	SCREEN_ENDED, // a signal ends the run: close all windows; every further key is this one
};

// What a text means; how it looks depends on the terminal. Readable on light and dark backgrounds, in one colour too.
enum screen_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_HEADER,
	STYLE_STATUS,
	STYLE_HOT,
	STYLE_WARM,
	STYLE_DIM,
	STYLE_MARK,	// what was searched for
	STYLE_SELECTED, // the row of the cursor
	STYLE_ARROW,	// the way of a jump
	STYLE_ADDRESS,
	STYLES
};

// perf's: from 5% on red, from 0.5% on green.
static inline enum screen_style screen_percent_style(double percent)
{
	return percent >= 5 ? STYLE_HOT : percent >= 0.5 ? STYLE_WARM : STYLE_PLAIN;
}

struct screen_at {
	int row, column;
	enum screen_style style;
	bool chosen; // the row of the cursor
	int columns; // at most; 0: up to the edge
};

// What goes on while a key is waited for.
struct screen_background {
	struct pollfd *fds; // it runs when one of them is ready,
	size_t n;
	int every_ms;	       // and at least this often
	int (*run)(void *arg); // negative (fail): the run ends with it
	void *arg;
};

// Are standard input and output a terminal that can show a screen, and was the program built with ncursesw?
bool screen_possible(void);
// -errno with a sentence. NO_COLOR in the environment: no colours.
int screen_open(struct screen **ret);
void screen_close(struct screen *screen);
// "FOREGROUND[, BACKGROUND]" as perf-config(1) names colours; nothing changes on a terminal without colours. -EINVAL with a sentence.
int screen_set_color(struct screen *screen, enum screen_style style, const char *text);
void screen_set_background(struct screen *screen, const struct screen_background *background);

void screen_size(const struct screen *screen, int *ret_rows, int *ret_columns);
// Does the terminal show more than ASCII?
bool screen_is_utf8(const struct screen *screen);
void screen_clear(struct screen *screen);
// Hostile bytes are escaped. Returns the column behind it.
int screen_put(struct screen *screen, struct screen_at at, struct str text);
// Spaces up to `columns` or the edge.
int screen_fill(struct screen *screen, struct screen_at at);
// Where the cursor stands, for typing; row -1: nowhere.
void screen_cursor(struct screen *screen, int row, int column);

// Shows what was put, then waits for a key at most so long (-1: for ever). When the background failed: SCREEN_ENDED.
int screen_key(struct screen *screen, int timeout_ms);
void screen_mouse(const struct screen *screen, int *ret_row, int *ret_column);
// 0, or what the background failed with.
int screen_error(const struct screen *screen);
