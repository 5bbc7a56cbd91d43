// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/dialog.h"
#include "base/alloc.h"
#include "base/out.h"
#include "base/vec.h"
#include "encoder/tui/list.h"
#include <stdio.h>
#include <wchar.h>

// The lines of a window and how wide they are.
struct window {
	const char *title;
	const char *const *lines;
	size_t n;
	int key_width; // of what stands before the tab; -1: no line has one
	bool chooses;
	struct list list;
	int row, column, height, width; // of the frame
};

static bool ends(int key)
{
	return key == SCREEN_ESCAPE || key == 'q' || key == 'Q' || key == SCREEN_ENDED;
}

static int text_columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void place(struct window *window, struct screen *screen)
{
	int rows, columns, width = text_columns(window->title) + 2;

	screen_size(screen, &rows, &columns);
	for (size_t i = 0; i < window->n; i++) {
		const char *tab = strchr(window->lines[i], '\t');
		int n = tab ? window->key_width + 2 + text_columns(tab + 1)
			    : text_columns(window->lines[i]);

		width = n > width ? n : width;
	}
	window->width = width + 4 < columns ? width + 4 : columns;
	window->height = (int)window->n + 2 < rows ? (int)window->n + 2 : rows;
	window->row = (rows - window->height) / 2;
	window->column = (columns - window->width) / 2;
	list_resize(&window->list, window->n, window->height > 2 ? (size_t)window->height - 2 : 1);
}

static void draw_edge(const struct window *window, struct screen *screen, int row, const char *text)
{
	struct screen_at at = {.row = row,
			       .column = window->column,
			       .style = STYLE_STATUS,
			       .columns = window->width};

	screen_fill(screen, at);
	at.column++;
	at.columns -= 2;
	screen_put(screen, at, str_of(text));
}

static void draw_line(const struct window *window, struct screen *screen, size_t i, int row)
{
	const char *line = window->lines[i], *tab = strchr(line, '\t');
	struct screen_at at = {.row = row,
			       .column = window->column,
			       .columns = window->width,
			       .chosen = window->chooses && i == window->list.at};

	screen_fill(screen, at);
	screen_put(screen, (struct screen_at){.row = row, .column = at.column, .style = STYLE_STATUS},
		   STR(" "));
	screen_put(screen,
		   (struct screen_at){.row = row,
				      .column = at.column + at.columns - 1,
				      .style = STYLE_STATUS},
		   STR(" "));
	at.column += 2;
	at.columns -= 4;
	at.style = tab || window->key_width < 0 ? STYLE_PLAIN : STYLE_TITLE;
	if (!tab) {
		screen_put(screen, at, str_of(line));
		return;
	}
	at.style = STYLE_TITLE;
	screen_put(screen, at, (struct str){line, (size_t)(tab - line)});
	at.style = STYLE_PLAIN;
	at.column += window->key_width + 2;
	at.columns -= window->key_width + 2;
	if (at.columns > 0)
		screen_put(screen, at, str_of(tab + 1));
}

static void draw(const struct window *window, struct screen *screen, const char *foot)
{
	draw_edge(window, screen, window->row, window->title);
	for (int i = 0; i < window->height - 2; i++)
		draw_line(window, screen, window->list.top + (size_t)i, window->row + 1 + i);
	draw_edge(window, screen, window->row + window->height - 1, foot);
}

void tui_help(struct screen *screen, const char *title, const char *const *lines)
{
	struct window window = {.title = title, .lines = lines};
	int key;

	for (; lines[window.n]; window.n++) {
		const char *tab = strchr(lines[window.n], '\t');

		if (tab && (int)(tab - lines[window.n]) > window.key_width)
			window.key_width = (int)(tab - lines[window.n]);
	}
	do {
		place(&window, screen);
		// Scrolls as a whole.
		draw(&window, screen,
		     window.list.page < window.n ? "arrows: more   any other key: close"
						 : "any key: close");
		key = screen_key(screen, -1);
		if (key == SCREEN_RESIZED)
			screen_clear(screen);
		if (key == SCREEN_DOWN)
			list_choose(&window.list, window.list.top + window.list.page);
		else if (key == SCREEN_UP)
			list_choose(&window.list, window.list.top ? window.list.top - 1 : 0);
		else if (key != SCREEN_RESIZED && !list_key(&window.list, key))
			return;
	} while (!ends(key));
}

int tui_menu(struct screen *screen, const char *title, const char *const *items, size_t n)
{
	struct window window = {.title = title, .lines = items, .n = n, .key_width = -1, .chooses = true};

	while (n) {
		int key, row, column;

		place(&window, screen);
		draw(&window, screen, "Enter: choose   Esc: back");
		key = screen_key(screen, -1);
		if (key == SCREEN_CLICK || key == SCREEN_DOUBLE_CLICK) {
			screen_mouse(screen, &row, &column);
			row -= window.row + 1;
			if (row < 0 || row >= window.height - 2 || column < window.column ||
			    column >= window.column + window.width)
				return -1;
			return (int)(window.list.top + (size_t)row);
		}
		if (key == SCREEN_ENTER || key == SCREEN_RIGHT)
			return (int)window.list.at;
		if (ends(key) || key == SCREEN_LEFT)
			return -1;
		if (key == SCREEN_RESIZED)
			screen_clear(screen);
		list_key(&window.list, key);
	}
	return -1;
}

void tui_tell(struct screen *screen, const char *sentence)
{
	int rows, columns;

	screen_size(screen, &rows, &columns);
	struct screen_at at = {.row = rows - 1, .style = STYLE_STATUS};
	screen_fill(screen, at);
	screen_put(screen, at, str_of(sentence));
	screen_key(screen, -1);
}

void tui_line_draw(const struct tui_line *line, struct screen *screen, const char *prompt)
{
	int rows, columns;

	screen_size(screen, &rows, &columns);
	struct screen_at at = {.row = rows - 1};
	screen_fill(screen, at);
	at.style = STYLE_TITLE;
	at.column = screen_put(screen, at, str_of(prompt));
	at.style = STYLE_PLAIN;
	at.column = screen_put(screen, at, (struct str){line->text, line->n});
	screen_cursor(screen, at.row, at.column < columns ? at.column : columns - 1);
}

enum tui_typed tui_line_key(struct tui_line *line, int key)
{
	char bytes[4];
	size_t n;

	switch (key) {
	case SCREEN_ENTER:
		return TUI_DONE;
	case SCREEN_ESCAPE:
	case SCREEN_ENDED:
		return TUI_GIVEN_UP;
	case SCREEN_BACKSPACE:
		while (line->n && ((unsigned char)line->text[line->n - 1] & 0xc0) == 0x80)
			line->n--;
		line->n -= line->n > 0;
		line->text[line->n] = 0;
		return TUI_CHANGED;
	case 21: // Ctrl-U
		line->n = 0;
		line->text[0] = 0;
		return TUI_CHANGED;
	default:
		break;
	}
	if (key < 32 || key >= SCREEN_UP)
		return TUI_OTHER;
	n = key < 0x80 ? 1 : key < 0x800 ? 2 : key < 0x10000 ? 3 : 4;
	if (line->n + n >= sizeof(line->text))
		return TUI_CHANGED;
	bytes[0] = (char)(n == 1 ? key : (int)(0xf00 >> n & 0xff) | key >> (6 * (n - 1)));
	for (size_t i = 1; i < n; i++)
		bytes[i] = (char)(0x80 | (key >> (6 * (n - 1 - i)) & 0x3f));
	memcpy(line->text + line->n, bytes, n);
	line->n += n;
	line->text[line->n] = 0;
	return TUI_CHANGED;
}

bool tui_ask(struct screen *screen, const char *prompt, struct tui_line *line)
{
	struct tui_line typed = *line;

	for (;;) {
		tui_line_draw(&typed, screen, prompt);
		switch (tui_line_key(&typed, screen_key(screen, -1))) {
		case TUI_DONE:
			*line = typed;
			screen_cursor(screen, -1, 0);
			return true;
		case TUI_GIVEN_UP:
			screen_cursor(screen, -1, 0);
			return false;
		default:
			break;
		}
	}
}

// ---- a long text

struct view {
	const char *title;
	VEC(struct str) lines;
	struct list list;
	int shift; // columns that are out of sight at the left
	struct tui_line wanted;
};

static bool has(const struct view *view, size_t i)
{
	return view->wanted.n &&
	       memmem(view->lines.v[i].p, view->lines.v[i].n, view->wanted.text, view->wanted.n);
}

static void find(struct view *view, bool forward)
{
	size_t n = view->lines.n;

	for (size_t step = 1; step <= n; step++) {
		size_t i = (view->list.at + (forward ? step : n - step)) % n;

		if (has(view, i)) {
			list_choose(&view->list, i);
			return;
		}
	}
}

static void draw_view(struct view *view, struct screen *screen)
{
	int rows, columns;

	screen_clear(screen);
	screen_size(screen, &rows, &columns);
	list_resize(&view->list, view->lines.n, rows > 2 ? (size_t)rows - 2 : 1);
	screen_put(screen, (struct screen_at){.style = STYLE_TITLE}, str_of(view->title));
	for (size_t i = 0; i < view->list.page && view->list.top + i < view->lines.n; i++) {
		struct str line = view->lines.v[view->list.top + i];
		size_t skip = (size_t)view->shift < line.n ? (size_t)view->shift : line.n;
		struct screen_at at = {.row = 1 + (int)i,
				       .style = has(view, view->list.top + i) ? STYLE_MARK
									      : STYLE_PLAIN,
				       .chosen = view->list.top + i == view->list.at};

		if (at.chosen)
			screen_fill(screen, at);
		screen_put(screen, at, (struct str){line.p + skip, line.n - skip});
	}
	struct screen_at foot = {.row = rows - 1, .style = STYLE_STATUS};
	screen_fill(screen, foot);
	screen_put(screen, foot, STR("arrows: move   /: search   n N: next, last   q: back"));
}

void tui_view(struct screen *screen, const char *title, struct str text)
{
	struct view view = {.title = title};

	if (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	while (text.p)
		vec_push(&view.lines, str_cut(&text, '\n'));
	for (;;) {
		int key;

		draw_view(&view, screen);
		key = screen_key(screen, -1);
		if (ends(key))
			break;
		if (key == SCREEN_RIGHT)
			view.shift += 8;
		else if (key == SCREEN_LEFT)
			view.shift -= view.shift ? 8 : 0;
		else if (key == '/' && tui_ask(screen, "/", &view.wanted))
			find(&view, true);
		else if (key == 'n' || key == 'N')
			find(&view, key == 'n');
		else
			list_key(&view.list, key);
	}
	vec_done(&view.lines);
}
