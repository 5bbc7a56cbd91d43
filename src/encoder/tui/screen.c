// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/screen.h"
#include "base/err.h"

#ifdef HAVE_NCURSES
#include "base/alloc.h"
#include "base/file.h"
#include "base/time.h"
#include "encoder/tui/text.h"
#include "sys/signals.h"
#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { WAIT_FOR_ESCAPE_MS = 25, KEPT_MESSAGES = 1 << 16 };

struct screen {
	SCREEN *terminal;
	char *locale; // as it was
	bool utf8, colors;
	bool has_color[STYLES]; // its own, by screen_set_color
	int signal_fd, ended_by, error;
	int messages_fd, stderr_fd; // what was written meanwhile; the real one
	int mouse_row, mouse_column;
	int cursor_row, cursor_column;
	struct screen_background background;
	uint64_t background_ns; // ran last
	struct pollfd *fds;
	struct out scratch;
};

static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};

bool screen_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
	       strcmp(term, "dumb") != 0;
}

// The handler was reset to the default by SA_RESETHAND.
static void crashed(int number)
{
	endwin();
	raise(number);
}

// So is the terminal left where memory ends.
__attribute__((destructor)) static void at_exit(void)
{
	if (stdscr && !isendwin())
		endwin();
}

static void watch_crashes(void)
{
	const struct sigaction action = {.sa_handler = crashed,
					 .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
	struct sigaction before;

	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++) {
		if (sigaction(crashes[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL &&
		    !(before.sa_flags & SA_SIGINFO))
			sigaction(crashes[i], &action, NULL);
	}
}

static void unwatch_crashes(void)
{
	struct sigaction now;

	for (size_t i = 0; i < ARRAY_SIZE(crashes); i++) {
		if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == crashed)
			signal(crashes[i], SIG_DFL);
	}
}

// Only colours that both light and dark backgrounds let through; the rest are attributes.
static void choose_colors(struct screen *screen)
{
	static const struct {
		enum screen_style style;
		short color;
	} colors[] = {{STYLE_HOT, COLOR_RED}, {STYLE_WARM, COLOR_GREEN}, {STYLE_MARK, COLOR_MAGENTA}};
	const char *no_color = getenv("NO_COLOR");

	if ((no_color && *no_color) || !has_colors())
		return;
	start_color();
	if (use_default_colors() == ERR)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(colors); i++)
		init_pair((short)colors[i].style, colors[i].color, -1);
	screen->colors = true;
}

// Number 0 is the terminal's own.
static short pair_of(enum screen_style style)
{
	return (short)(style ? style : STYLES);
}

static int color_of(struct str name, short *ret)
{
	static const struct {
		const char *name;
		short color, of_eight;
	} colors[] = {{"default", -1, -1},
		      {"black", COLOR_BLACK, COLOR_BLACK},
		      {"red", COLOR_RED, COLOR_RED},
		      {"green", COLOR_GREEN, COLOR_GREEN},
		      {"yellow", COLOR_YELLOW, COLOR_YELLOW},
		      {"blue", COLOR_BLUE, COLOR_BLUE},
		      {"magenta", COLOR_MAGENTA, COLOR_MAGENTA},
		      {"cyan", COLOR_CYAN, COLOR_CYAN},
		      {"lightgray", COLOR_WHITE, COLOR_WHITE},
		      {"gray", 8, COLOR_BLACK},
		      {"white", 15, COLOR_WHITE}};

	for (size_t i = 0; i < ARRAY_SIZE(colors); i++) {
		if (str_is(name, colors[i].name)) {
			*ret = COLORS < 16 ? colors[i].of_eight : colors[i].color;
			return 0;
		}
	}
	return fail(EINVAL,
		    "'%.*s' is no color: red, yellow, green, cyan, gray, black, blue, white, default, magenta, lightgray",
		    STR_FMT(name));
}

int screen_set_color(struct screen *screen, enum screen_style style, const char *text)
{
	struct str background = str_of(text), foreground = str_trim(str_cut(&background, ','));
	short front, back = -1;
	int err = color_of(foreground, &front);

	background = str_trim(background);
	if (!err && background.n)
		err = color_of(background, &back);
	if (err || !screen->colors)
		return err;
	init_pair(pair_of(style), front, back);
	screen->has_color[style] = true;
	return 0;
}

static attr_t attributes(const struct screen *screen, enum screen_style style, bool chosen)
{
	static const attr_t plain[STYLES] =
		{[STYLE_TITLE] = A_BOLD,     [STYLE_HEADER] = A_UNDERLINE,
		 [STYLE_STATUS] = A_REVERSE, [STYLE_DIM] = A_DIM,
		 [STYLE_HOT] = A_BOLD,	     [STYLE_MARK] = A_BOLD | A_UNDERLINE,
		 [STYLE_ARROW] = A_DIM};
	attr_t attr = plain[style];

	if (chosen && screen->has_color[STYLE_SELECTED])
		return (attr_t)COLOR_PAIR(pair_of(STYLE_SELECTED));
	if (!chosen && screen->has_color[style])
		return (attr_t)COLOR_PAIR(pair_of(style));
	if (chosen)
		return A_REVERSE | (attr & A_BOLD);
	if (screen->colors && (style == STYLE_HOT || style == STYLE_WARM || style == STYLE_MARK))
		attr |= (attr_t)COLOR_PAIR(style);
	return attr;
}

static void keep_messages(struct screen *screen)
{
	screen->messages_fd = memfd_create("messages", MFD_CLOEXEC);
	screen->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (screen->messages_fd >= 0 && screen->stderr_fd >= 0)
		dup2(screen->messages_fd, STDERR_FILENO);
}

static void give_messages(struct screen *screen)
{
	char buffer[4096];
	ssize_t n;
	off_t at = 0;

	if (screen->stderr_fd >= 0)
		dup2(screen->stderr_fd, STDERR_FILENO);
	while (screen->messages_fd >= 0 && at < KEPT_MESSAGES &&
	       (n = pread(screen->messages_fd, buffer, sizeof(buffer), at)) > 0) {
		write_all(STDERR_FILENO, buffer, (size_t)n);
		at += n;
	}
	if (screen->messages_fd >= 0)
		close(screen->messages_fd);
	if (screen->stderr_fd >= 0)
		close(screen->stderr_fd);
}

int screen_open(struct screen **ret)
{
	struct screen *screen = NEW(struct screen);

	screen->messages_fd = screen->stderr_fd = screen->cursor_row = -1;
	screen->locale = xstrdup(setlocale(LC_CTYPE, NULL));
	setlocale(LC_CTYPE, "");
	screen->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	out_init_memory(&screen->scratch);
	screen->signal_fd = signals_open(SIGWINCH);
	if (screen->signal_fd < 0) {
		int err = screen->signal_fd;

		screen_close(screen);
		return err;
	}
	set_escdelay(WAIT_FOR_ESCAPE_MS);
	screen->terminal = newterm(NULL, stdout, stdin);
	if (!screen->terminal) {
		const char *term = getenv("TERM");

		screen_close(screen);
		return fail(ENOTTY,
			    "this terminal (TERM=%s) can't be used for a screen; take --stdio",
			    term ? term : "");
	}
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED |
			  BUTTON5_PRESSED,
		  NULL);
	mouseinterval(0);
	choose_colors(screen);
	watch_crashes();
	keep_messages(screen);
	*ret = screen;
	return 0;
}

void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	if (screen->terminal) {
		unwatch_crashes();
		endwin();
		delscreen(screen->terminal);
		give_messages(screen);
	}
	if (screen->signal_fd >= 0)
		close(screen->signal_fd);
	setlocale(LC_CTYPE, screen->locale);
	free(screen->locale);
	free(screen->fds);
	out_done(&screen->scratch);
	free(screen);
}

void screen_set_background(struct screen *screen, const struct screen_background *background)
{
	screen->background = *background;
	screen->background_ns = 0;
}

void screen_size(const struct screen *screen, int *ret_rows, int *ret_columns)
{
	*ret_rows = getmaxy(stdscr);
	*ret_columns = getmaxx(stdscr);
}

bool screen_is_utf8(const struct screen *screen)
{
	return screen->utf8;
}

void screen_clear(struct screen *screen)
{
	erase();
	screen->cursor_row = -1;
}

// Columns left for a text there; 0: it can't be seen.
static int room(struct screen_at at)
{
	int left = getmaxx(stdscr) - at.column;

	if (at.row < 0 || at.row >= getmaxy(stdscr) || at.column < 0 || left <= 0)
		return 0;
	return at.columns > 0 && at.columns < left ? at.columns : left;
}

int screen_put(struct screen *screen, struct screen_at at, struct str text)
{
	int left = room(at), used;

	if (!left)
		return at.column;
	screen->scratch.n = 0;
	used = tui_text(&screen->scratch, text, left, screen->utf8);
	attrset((int)attributes(screen, at.style, at.chosen));
	mvaddnstr(at.row, at.column, screen->scratch.buf, (int)screen->scratch.n);
	attrset(0);
	return at.column + used;
}

int screen_fill(struct screen *screen, struct screen_at at)
{
	int left = room(at);

	if (!left)
		return at.column;
	attrset((int)attributes(screen, at.style, at.chosen));
	mvhline(at.row, at.column, ' ' | (chtype)attributes(screen, at.style, at.chosen), left);
	attrset(0);
	return at.column + left;
}

void screen_cursor(struct screen *screen, int row, int column)
{
	screen->cursor_row = row;
	screen->cursor_column = column;
}

// ---- keys

static int mouse_key(struct screen *screen)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return SCREEN_NONE;
	screen->mouse_row = event.y;
	screen->mouse_column = event.x;
	if (event.bstate & BUTTON4_PRESSED)
		return SCREEN_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return SCREEN_WHEEL_DOWN;
	if (event.bstate & BUTTON1_DOUBLE_CLICKED)
		return SCREEN_DOUBLE_CLICK;
	return event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED) ? SCREEN_CLICK : SCREEN_NONE;
}

// What was typed already; SCREEN_NONE: nothing.
static int typed_key(struct screen *screen)
{
	static const struct {
		int curses, key;
	} keys[] = {{KEY_UP, SCREEN_UP},	 {KEY_DOWN, SCREEN_DOWN},
		    {KEY_LEFT, SCREEN_LEFT},	 {KEY_RIGHT, SCREEN_RIGHT},
		    {KEY_PPAGE, SCREEN_PAGE_UP}, {KEY_NPAGE, SCREEN_PAGE_DOWN},
		    {KEY_HOME, SCREEN_HOME},	 {KEY_END, SCREEN_END},
		    {KEY_BTAB, SCREEN_BACK_TAB}, {KEY_F(1), SCREEN_F1},
		    {KEY_ENTER, SCREEN_ENTER},	 {KEY_BACKSPACE, SCREEN_BACKSPACE},
		    {KEY_RESIZE, SCREEN_RESIZED}};
	wint_t c;
	int kind = get_wch(&c);

	if (kind == ERR)
		return SCREEN_NONE;
	if (kind == OK) {
		switch (c) {
		case '\n':
			return SCREEN_ENTER;
		case 2: // Ctrl-B and Ctrl-F page, as in less
			return SCREEN_PAGE_UP;
		case 6:
			return SCREEN_PAGE_DOWN;
		case 8:
			return SCREEN_BACKSPACE;
		default:
			return c < SCREEN_UP ? (int)c : SCREEN_NONE;
		}
	}
	if (c == KEY_MOUSE)
		return mouse_key(screen);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i].curses == (int)c)
			return keys[i].key;
	}
	return SCREEN_NONE;
}

static int take_signals(struct screen *screen)
{
	struct signalfd_siginfo info;
	int key = SCREEN_NONE;

	while (read(screen->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		struct winsize size;

		if (info.ssi_signo == SIGWINCH) {
			if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
				resizeterm(size.ws_row, size.ws_col);
			key = SCREEN_RESIZED;
		} else if (info.ssi_signo != SIGCHLD) {
			screen->ended_by = (int)info.ssi_signo;
		}
	}
	return screen->ended_by ? SCREEN_ENDED : key;
}

static void run_background(struct screen *screen, bool now)
{
	const struct screen_background *background = &screen->background;
	uint64_t time;

	if (!background->run || screen->error)
		return;
	time = time_now_ns(CLOCK_MONOTONIC);
	if (!now && time - screen->background_ns < (uint64_t)background->every_ms * 1000000)
		return;
	screen->background_ns = time;
	screen->error = background->run(background->arg);
	if (screen->error > 0)
		screen->error = 0;
}

static int time_left_ms(uint64_t deadline_ns)
{
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);

	return deadline_ns > now ? (int)((deadline_ns - now + 999999) / 1000000) : 0;
}

static void show(struct screen *screen)
{
	if (screen->cursor_row >= 0) {
		move(screen->cursor_row, screen->cursor_column);
		curs_set(1);
	} else {
		move(getmaxy(stdscr) - 1, 0);
		curs_set(0);
	}
	refresh();
}

int screen_key(struct screen *screen, int timeout_ms)
{
	uint64_t deadline = timeout_ms < 0
				    ? UINT64_MAX
				    : time_now_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000;
	size_t n = screen->background.n;

	show(screen);
	screen->fds = xreallocarray(screen->fds, n + 2, sizeof(*screen->fds));
	for (;;) {
		struct pollfd *fds = screen->fds;
		int key = screen->ended_by || screen->error ? SCREEN_ENDED : typed_key(screen), ms;

		if (key != SCREEN_NONE)
			return key;
		ms = timeout_ms < 0 ? -1 : time_left_ms(deadline);
		if (!ms && timeout_ms)
			return SCREEN_NONE;
		if (screen->background.run && (ms < 0 || ms > screen->background.every_ms))
			ms = screen->background_ns ? screen->background.every_ms : 0;
		memcpy(fds + 2, screen->background.fds, n * sizeof(*fds));
		fds[0] = (struct pollfd){.fd = STDIN_FILENO, .events = POLLIN};
		fds[1] = (struct pollfd){.fd = screen->signal_fd, .events = POLLIN};
		int ready = poll(fds, n + 2, ms);
		bool ring = false;

		for (size_t i = 0; i < n && ready > 0; i++) {
			ring |= (fds[i + 2].revents & POLLIN) != 0;
			// The watched task ended: always ready from now on.
			if (fds[i + 2].revents & (POLLHUP | POLLERR | POLLNVAL))
				screen->background.fds[i].fd = -1;
		}
		run_background(screen, ring);
		if (ready > 0 && fds[1].revents & POLLIN) {
			key = take_signals(screen);
			if (key != SCREEN_NONE)
				return key;
		}
		// The terminal is gone.
		if (ready > 0 && fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			screen->ended_by = SIGHUP;
		if (!timeout_ms && !(ready > 0 && fds[0].revents & POLLIN))
			return SCREEN_NONE;
	}
}

void screen_mouse(const struct screen *screen, int *ret_row, int *ret_column)
{
	*ret_row = screen->mouse_row;
	*ret_column = screen->mouse_column;
}

int screen_error(const struct screen *screen)
{
	return screen->error;
}

#else // without ncursesw there is no screen, and nobody gets one

bool screen_possible(void)
{
	return false;
}

int screen_open(struct screen **ret)
{
	return fail(ENOTSUP,
		    "this sonde was built without ncursesw, so it has no screens: take --stdio, or build it with the "
		    "Debian package libncurses-dev");
}

void screen_close(struct screen *screen)
{
}

int screen_set_color(struct screen *screen, enum screen_style style, const char *text)
{
	return 0;
}

void screen_set_background(struct screen *screen, const struct screen_background *background)
{
}

void screen_size(const struct screen *screen, int *ret_rows, int *ret_columns)
{
	*ret_rows = *ret_columns = 0;
}

bool screen_is_utf8(const struct screen *screen)
{
	return false;
}

void screen_clear(struct screen *screen)
{
}

int screen_put(struct screen *screen, struct screen_at at, struct str text)
{
	return at.column;
}

int screen_fill(struct screen *screen, struct screen_at at)
{
	return at.column;
}

void screen_cursor(struct screen *screen, int row, int column)
{
}

int screen_key(struct screen *screen, int timeout_ms)
{
	return SCREEN_ENDED;
}

void screen_mouse(const struct screen *screen, int *ret_row, int *ret_column)
{
	*ret_row = *ret_column = -1;
}

int screen_error(const struct screen *screen)
{
	return 0;
}
#endif
