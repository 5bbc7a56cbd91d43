// SPDX-License-Identifier: GPL-2.0-or-later
// --stdio: a page of text at each refresh, as perf top prints it.
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "cmd/core/text_color.h"
#include "cmd/top/top.h"
#include "sys/signals.h"
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>

enum { HEADER_LINES = 5, DEFAULT_ROWS = 25, DEFAULT_COLUMNS = 80, DRAIN_MS = 50 };

struct text {
	struct top *top;
	struct out out, line;
	int signal_fd;
	bool has_keys, stop;
	struct termios before;
	uint64_t shown_ns, delay_ns;
};

// 0: it doesn't say.
static int from_environment(const char *name)
{
	const char *text = getenv(name);
	uint64_t n;

	return text && num_parse_u64(str_of(text), &n) == 0 && n <= INT16_MAX ? (int)n : 0;
}

static void terminal_size(int *ret_rows, int *ret_columns)
{
	struct winsize size = {0};

	*ret_rows = from_environment("LINES");
	*ret_columns = from_environment("COLUMNS");
	if (*ret_rows > 0 && *ret_columns > 0)
		return;
	*ret_rows = DEFAULT_ROWS;
	*ret_columns = DEFAULT_COLUMNS;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col) {
		*ret_rows = size.ws_row;
		*ret_columns = size.ws_col;
	}
}

static void print_header(struct text *text, double seconds, int width)
{
	struct top *top = text->top;
	struct top_counts *counts = &top->counts;
	struct out *out = &text->out;
	double samples = (double)counts->samples;

	out_text(out, "\033[H\033[2J\n");
	out_printf(out,
		   "   PerfTop:%8.0f irqs/sec  kernel:%4.1f%%  exact: %4.1f%% lost: %llu/%llu drop: 0/0 [",
		   seconds > 0 ? samples / seconds : 0,
		   samples > 0 ? 100.0 * (double)counts->kernel / samples : 0,
		   samples > 0 ? 100.0 * (double)counts->exact / samples : 0,
		   (unsigned long long)counts->lost, (unsigned long long)top->lost_n);
	if (top->run->recording->events.n == 1)
		top_put_rate(top, out);
	out_printf(out, "%s], ", top->run->recording->events.v[0]->name);
	top_put_target(top, out);
	out_char(out, '\n');
	out_fill(out, '-', (size_t)width);
	out_char(out, '\n');
	if (counts->lost)
		out_printf(out,
			   "WARNING: LOST %llu events, a larger ring helps (-m 4M), or a lower rate (-F)\n",
			   (unsigned long long)counts->lost);
	out_char(out, '\n');
	*counts = (struct top_counts){0};
}

static void print_rows(struct text *text, const struct hist *hist, int rows, int width)
{
	const struct report *report = hist->report;
	struct out *line = &text->line;

	for (size_t i = 0; i < hist->rows_n && rows > 0; i++) {
		const struct entry *e = hist->rows[i];

		if (e->filtered || entry_percent(e) < report->o.percent_limit)
			continue;
		line->n = 0;
		hist_print_columns(hist, e, line);
		if (!report->use_chains)
			line->n = text_color_cut((struct str){line->buf, line->n}, (size_t)width);
		out_bytes(&text->out, line->buf, line->n);
		out_char(&text->out, '\n');
		if (report->use_chains)
			entry_print_chain(e, &text->out);
		rows--;
	}
}

static int show_page(struct text *text)
{
	struct top *top = text->top;
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);
	double seconds = (double)(now - text->shown_ns) / 1e9;
	int rows, columns, err = top_refresh(top), first = 1;

	if (err < 0)
		return err;
	terminal_size(&rows, &columns);
	rows = top->o.entries > 0 ? top->o.entries : MAX(rows - HEADER_LINES, 1);
	text->shown_ns = now;
	print_header(text, seconds, columns - 1);
	for (size_t i = 0; i < top->run->recording->events.n; i++) {
		const struct hist *hist = top->shown[i];

		if (top->report.grouped && hist->event->leader != hist->event)
			continue;
		if (top->run->recording->events.n > 1 && !(top->report.grouped && first))
			out_printf(&text->out, "%s# %s\n", first ? "" : "\n", hist->event->name);
		first = 0;
		print_rows(text, hist, rows, columns - 1);
	}
	return out_flush(&text->out);
}

// ---- keys

static void set_keys(struct text *text, bool on)
{
	struct termios raw = text->before;

	if (!text->has_keys)
		return;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, on ? &raw : &text->before);
}

static void print_keys(struct text *text)
{
	const struct top_options *o = &text->top->o;
	struct out *out = &text->out;
	int rows, columns;

	terminal_size(&rows, &columns);
	out_text(out, "\n\nMapped keys:\n");
	out_printf(out, "\t[d]     display refresh delay.             \t(%g)\n", o->delay_s);
	out_printf(out, "\t[e]     display entries (lines).           \t(%d)\n",
		   o->entries > 0 ? o->entries : MAX(rows - HEADER_LINES, 1));
	out_printf(out, "\t[f]     profile display filter (count).    \t(%llu)\n",
		   (unsigned long long)o->least_samples);
	out_printf(out, "\t[K]     hide kernel symbols.             \t(%s)\n",
		   o->hide_kernel ? "yes" : "no");
	out_printf(out, "\t[U]     hide user symbols.               \t(%s)\n",
		   o->hide_user ? "yes" : "no");
	out_printf(out, "\t[z]     toggle sample zeroing.             \t(%d)\n", o->zero);
	out_text(out, "\t[qQ]    quit.\n");
	out_text(out, "\nEnter selection, or unmapped key to continue: ");
	out_flush(out);
}

// A line typed with the terminal as it was.
static bool ask(struct text *text, const char *what, double *ret)
{
	char answer[64], *end;

	set_keys(text, false);
	out_printf(&text->out, "\n%s: ", what);
	out_flush(&text->out);
	ssize_t n = read(STDIN_FILENO, answer, sizeof(answer) - 1);

	set_keys(text, true);
	if (n <= 0)
		return false;
	answer[n] = 0;
	*ret = strtod(answer, &end);
	return end != answer && *ret >= 0 && *ret < 1e9;
}

static void on_key(struct text *text, char key)
{
	struct top_options *o = &text->top->o;
	double n;

	switch (key) {
	case 'd':
		if (ask(text, "Enter display delay", &n) && n > 0) {
			o->delay_s = n;
			text->delay_ns = (uint64_t)(n * 1e9);
		}
		break;
	case 'e':
		if (ask(text, "Enter display entries (lines)", &n))
			o->entries = (int)n;
		break;
	case 'f':
		if (ask(text, "Enter display event count filter", &n))
			o->least_samples = (uint64_t)n;
		break;
	case 'K':
		o->hide_kernel = !o->hide_kernel;
		text->top->forget = true;
		break;
	case 'U':
		o->hide_user = !o->hide_user;
		text->top->forget = true;
		break;
	case 'z':
		o->zero = !o->zero;
		break;
	case 'q':
	case 'Q':
		text->stop = true;
		break;
	default:
		print_keys(text);
	}
}

static void take_keys(struct text *text)
{
	char keys[16];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	// The end of the input is no end of top.
	if (n <= 0)
		text->has_keys = false;
	for (ssize_t i = 0; i < n; i++)
		on_key(text, keys[i]);
}

static void take_signals(struct text *text)
{
	struct signalfd_siginfo info;

	while (read(text->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			text->shown_ns = text->shown_ns > text->delay_ns
						 ? text->shown_ns - text->delay_ns
						 : 0;
		else if (info.ssi_signo != SIGCHLD)
			text->stop = true;
	}
}

static int loop(struct text *text)
{
	struct top *top = text->top;
	size_t n = top->opened.rings.n;
	auto_free struct pollfd *fds = xcalloc(n + 2, sizeof(*fds));
	int err = 0;

	while (!err && !text->stop) {
		uint64_t now = time_now_ns(CLOCK_MONOTONIC), due = text->shown_ns + text->delay_ns;
		int ms = due > now ? (int)((due - now + 999999) / 1000000) : 0;

		memcpy(fds, top->fds, n * sizeof(*fds));
		fds[n] = (struct pollfd){.fd = text->signal_fd, .events = POLLIN};
		fds[n + 1] =
			(struct pollfd){.fd = text->has_keys ? STDIN_FILENO : -1, .events = POLLIN};
		if (poll(fds, n + 2, MIN(ms, DRAIN_MS)) < 0 && errno != EINTR)
			return fail(errno, "can't wait for samples: %s", strerror(errno));
		for (size_t i = 0; i < n; i++) {
			if (fds[i].revents & (POLLHUP | POLLERR))
				top->fds[i].fd = -1;
		}
		take_signals(text);
		if (fds[n + 1].revents)
			take_keys(text);
		err = top_drain(top);
		if (!err && top_ended(top)) {
			err = show_page(text);
			warn("what was watched has ended");
			break;
		}
		if (!err && !text->stop &&
		    time_now_ns(CLOCK_MONOTONIC) >= text->shown_ns + text->delay_ns)
			err = show_page(text);
	}
	return err;
}

int top_run_text(struct top *top)
{
	struct text text = {.top = top, .delay_ns = (uint64_t)(top->o.delay_s * 1e9)};
	int err;

	text.signal_fd = signals_open(SIGWINCH);
	if (text.signal_fd < 0)
		return text.signal_fd;
	out_init_fd(&text.out, STDOUT_FILENO);
	out_init_memory(&text.line);
	top->report.escape = text.out.is_terminal;
	err = text_colors(NULL, text.out.is_terminal, &top->report.colors);
	if (err)
		return err;
	text.has_keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &text.before) == 0;
	set_keys(&text, true);
	text.shown_ns = time_now_ns(CLOCK_MONOTONIC);
	err = top_start(top);
	if (!err)
		err = loop(&text);
	set_keys(&text, false);
	close(text.signal_fd);
	out_done(&text.line);
	int closed = out_close(&text.out, "standard output");

	return err ? err : closed;
}
