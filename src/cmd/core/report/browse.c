// SPDX-License-Identifier: GPL-2.0-or-later
// encoder/tui is the terminal: keys, styles, the clean-up however a run ends, and a background that goes on while a key is
// waited for; all text passes tui_text, which escapes what would move the cursor. cmd/core/report/browse shows the rows of a
// histogram: the list of lines is made of rows and of what is unfolded, and only lines that are seen are printed. Folds and the
// cursor are remembered by keys of rows and chains, not by places, so they survive a refresh.
#include "cmd/core/report/browse.h"
#include "base/err.h"
#include "base/num.h"
#include "base/time.h"
#include "cmd/core/annotate_screen.h"
#include "cmd/core/settings.h"
#include <fcntl.h>
#include <stdio.h>

static const char *const help[] = {"Moving",
				   "up, down\tto the next row; the mouse and its wheel as well",
				   "page up/down, space\tby a page",
				   "home, end\tto the first and last row",
				   "< >\tcolumns further left or right",
				   "Call chains",
				   "Enter, +\texpand or collapse one level",
				   "e\texpand or collapse all of the row",
				   "c\tcollapse all of the row",
				   "E, C\texpand, collapse all rows",
				   "V\tfiles of the callers",
				   "What is shown",
				   "/\tonly symbols with this text in their name, as you type",
				   "d\tzoom into the file (DSO) of the row, and out",
				   "t\tlikewise its thread or command",
				   "y\tlikewise its symbol",
				   "k\tlikewise the kernel",
				   "S\tlikewise its processor socket",
				   "L\trows below so many percent are left out",
				   "F\tpercentages of all, or of what is shown",
				   "H\tthe line of headers",
				   "TAB\tthe next event",
				   "More",
				   "a\tannotate the row's symbol",
				   "r\tthe row's samples, as script prints them",
				   "m, right\tmenu of what can be done with the row",
				   "P\tsave what is shown to a file",
				   "i\tfacts about the recording",
				   "?, h, F1\tthis help",
				   "Esc, left\tzoom out; back",
				   "q, Ctrl-C\tleave",
				   NULL};

enum result { GO_ON, LEAVE, BACK, NEXT_EVENT, LAST_EVENT };

bool browser_has_key(const struct browser *browser, enum width width)
{
	const struct report *report = browser->report;

	for (size_t i = 0; i < report->sorts.n; i++) {
		if (report->sorts.v[i]->key && report->sorts.v[i]->key->width == width)
			return true;
	}
	return false;
}

static bool is_shown(const struct hist *hist)
{
	const struct report *report = hist->report;

	return !(report->grouped && hist->event->leader != hist->event);
}

static void choose_event(struct browser *browser, size_t event)
{
	browser->event = event;
	browser->hist = browser->hooks->hists[event];
	browser_apply_zoom(browser);
}

static void show_help(struct browser *browser)
{
	const char *lines[96];
	size_t n = 0;

	for (const char *const *line = browser->hooks->help; line && *line; line++)
		lines[n++] = *line;
	for (size_t i = 0; help[i] && n < ARRAY_SIZE(lines) - 1; i++)
		lines[n++] = help[i];
	lines[n] = NULL;
	tui_help(browser->screen, "Keys", lines);
}

// ---- zooms

static void zoom_task(struct browser *browser, const struct entry *e)
{
	struct browse_zoom *zoom = &browser->zoom;

	zoom->by_task = !zoom->by_task;
	zoom->comm = e->comm;
	zoom->has_tid = browser_has_key(browser, WIDTH_THREAD) && e->task;
	zoom->tid = e->task ? e->task->tid : 0;
}

static const struct dso *kernel_of(const struct browser *browser)
{
	for (size_t i = 0; i < browser->hist->rows_n; i++) {
		const struct dso *dso = browser->hist->rows[i]->place.dso;

		if (dso && dso->kind == DSO_KERNEL)
			return dso;
	}
	return NULL;
}

// Was it a key for a zoom?
static bool zoom_key(struct browser *browser, int key)
{
	const struct browse_line *line = browser_line(browser);
	const struct entry *e = line ? browser_entry(browser, line) : NULL;
	const struct report *report = browser->report;
	struct browse_zoom *zoom = &browser->zoom;

	if (!e && key != 'k')
		e = browser->hist->rows_n ? browser->hist->rows[0] : NULL;
	switch (key) {
	case 't':
		if (e &&
		    (browser_has_key(browser, WIDTH_COMM) || browser_has_key(browser, WIDTH_THREAD)))
			zoom_task(browser, e);
		break;
	case 'd':
		if (e && browser_has_key(browser, WIDTH_DSO)) {
			zoom->by_dso = !zoom->by_dso;
			zoom->dso = e->place.dso;
		}
		break;
	case 'k':
		if (browser_has_key(browser, WIDTH_DSO) && (zoom->by_dso || kernel_of(browser))) {
			zoom->by_dso = !zoom->by_dso;
			zoom->dso = kernel_of(browser);
		}
		break;
	case 'y':
		if (e && report->has_sym && (zoom->by_symbol || e->place.sym)) {
			zoom->by_symbol = !zoom->by_symbol;
			zoom->symbol = e->place.sym;
		}
		break;
	case 'S':
		if (e && browser_has_key(browser, WIDTH_SOCKET)) {
			zoom->by_socket = !zoom->by_socket;
			zoom->socket = entry_socket(browser->report, e);
		}
		break;
	default:
		return false;
	}
	browser_apply_zoom(browser);
	return true;
}

static bool zoom_out(struct browser *browser)
{
	struct browse_zoom *zoom = &browser->zoom;

	if (zoom->filter.n)
		zoom->filter = (struct tui_line){0};
	else if (zoom->by_symbol || zoom->by_socket)
		zoom->by_symbol = zoom->by_socket = false;
	else if (zoom->by_dso)
		zoom->by_dso = false;
	else if (zoom->by_task)
		zoom->by_task = false;
	else
		return false;
	browser_apply_zoom(browser);
	return true;
}

// ---- what takes a line of its own

static void type_filter(struct browser *browser)
{
	struct tui_line before = browser->zoom.filter;

	for (;;) {
		int key;

		browser_draw(browser);
		tui_line_draw(&browser->zoom.filter, browser->screen, "Symbols with: ");
		key = screen_key(browser->screen, -1);
		switch (tui_line_key(&browser->zoom.filter, key)) {
		case TUI_DONE:
			return;
		case TUI_GIVEN_UP:
			browser->zoom.filter = before;
			browser_apply_zoom(browser);
			return;
		case TUI_CHANGED:
			browser_apply_zoom(browser);
			break;
		default:
			list_key(&browser->list, key);
		}
	}
}

static void ask_limit(struct browser *browser)
{
	struct tui_line line = {0};
	double percent;

	if (!tui_ask(browser->screen, "Least percent of a row: ", &line))
		return;
	if (num_parse_double((struct str){line.text, line.n}, &percent) < 0 || percent < 0 ||
	    percent > 100) {
		tui_tell(browser->screen, "That is no number of percent from 0 to 100.");
		return;
	}
	browser->percent_limit = (float)percent;
	browser_make_lines(browser);
}

// perf.hist.N, as perf calls them; a file that is there stays.
static int new_file(char *path, size_t size)
{
	int fd = -1;

	for (int i = 0; i < 10000 && fd < 0; i++) {
		snprintf(path, size, "perf.hist.%d", i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd < 0 && errno != EEXIST)
			return -errno;
	}
	return fd < 0 ? -EEXIST : fd;
}

static void save(struct browser *browser)
{
	char path[32], sentence[128];
	int fd = new_file(path, sizeof(path)), err;
	struct out out;

	if (fd >= 0) {
		out_init_fd(&out, fd);
		browser_print(browser, &out);
		err = out_flush(&out);
		out_done(&out);
		close(fd);
	} else {
		err = fd;
	}
	if (err < 0)
		snprintf(sentence, sizeof(sentence), "Nothing was saved: %s", strerror(-err));
	else
		snprintf(sentence, sizeof(sentence), "What is shown was saved to %s", path);
	tui_tell(browser->screen, sentence);
}

static void show_facts(struct browser *browser)
{
	struct out out;

	out_init_memory(&out);
	recording_print_header(&out, browser->report->run->recording, false);
	tui_view(browser->screen, "About the recording", (struct str){out.buf, out.n});
	out_done(&out);
}

static int show_annotated(struct browser *browser, const struct entry *e)
{
	struct sym *sym = browser->report->run->sym;
	const struct annotate_options wanted = {.own_lines = true, .intel = browser->hooks->intel};

	if (!browser->annotator)
		browser->annotator = annotator_new(sym, &wanted);
	const struct annotate_screen shown = {.screen = browser->screen,
					      .annotator = browser->annotator,
					      .sym = sym,
					      .request = {.dso = e->place.dso,
							  .symbol = e->place.sym,
							  .counts = browser->report->addresses,
							  .blocks = browser->report->blocks,
							  .first = browser->hist->event->index,
							  .n = 1},
					      .event = browser->hist->event->name,
					      .refresh_ms = browser->hooks->refresh_ms};

	return annotate_screen_show(&shown);
}

static void annotate(struct browser *browser)
{
	const struct browse_line *line = browser_line(browser);
	const struct entry *e = line ? browser_entry(browser, line) : NULL;
	char sentence[512];

	if (!e || !browser->report->has_sym || !e->place.sym || !e->place.dso) {
		tui_tell(browser->screen,
			 "There is no symbol in this row to annotate (sort by symbol).");
		return;
	}
	if (e->place.sym->inlined) {
		tui_tell(browser->screen, "This function is inlined: annotate the one around it.");
		return;
	}
	if (show_annotated(browser, e) < 0) {
		snprintf(sentence, sizeof(sentence), "%s", err_sentence());
		tui_tell(browser->screen, sentence);
	}
}

// ---- keys

static bool fold_key(struct browser *browser, int key)
{
	const struct browse_line *line = browser_line(browser);

	if (!browser->report->use_chains || !line)
		return false;
	switch (key) {
	case '+':
		if (line->folds)
			browser_fold(browser, line, !line->open);
		return true;
	case SCREEN_ENTER:
		if (!line->folds)
			return false;
		browser_fold(browser, line, !line->open);
		return true;
	case 'e':
		browser_fold_deep(browser, line, !line->open);
		return true;
	case 'c':
		// From within: its row.
		while (line->node != BROWSE_NONE && line > browser->lines.v)
			line--;
		browser->list.at = (size_t)(line - browser->lines.v);
		browser_fold_deep(browser, line, false);
		return true;
	case 'E':
	case 'C':
		browser_fold_all(browser, key == 'E');
		return true;
	default:
		return false;
	}
}

static int clicked(struct browser *browser, int key)
{
	int row, column;
	size_t at;

	screen_mouse(browser->screen, &row, &column);
	row -= browser_lines_row(browser);
	if (row < 0)
		return SCREEN_NONE;
	at = browser->list.top + (size_t)row;
	if (at >= browser->lines.n)
		return SCREEN_NONE;
	// A second click on the same row is as Enter.
	if (at == browser->list.at || key == SCREEN_DOUBLE_CLICK)
		key = SCREEN_ENTER;
	list_choose(&browser->list, at);
	return key == SCREEN_ENTER ? key : SCREEN_NONE;
}

static void switch_key(struct browser *browser, int key)
{
	struct report *report = browser->report;

	switch (key) {
	case 'H':
		browser->no_headers = !browser->no_headers;
		break;
	case 'V':
		browser->show_dsos = !browser->show_dsos;
		break;
	case 'F':
		report->o.percentage =
			strcmp(report->o.percentage, "relative") ? "relative" : "absolute";
		browser_make_lines(browser);
		break;
	case '<':
		browser->shift -= browser->shift > 0;
		break;
	case '>':
		browser->shift += browser->shift < (int)report->fields.n;
		break;
	case '/':
		type_filter(browser);
		break;
	case 'L':
		ask_limit(browser);
		break;
	case 'P':
		save(browser);
		break;
	case 'i':
		show_facts(browser);
		break;
	case 'a':
		annotate(browser);
		break;
	case 'r':
		browser_script(browser);
		break;
	case '?':
	case 'h':
	case SCREEN_F1:
		show_help(browser);
		break;
	default:
		break;
	}
}

static enum result on_key(struct browser *browser, int key)
{
	if (key == SCREEN_CLICK || key == SCREEN_DOUBLE_CLICK)
		key = clicked(browser, key);
	if (fold_key(browser, key))
		return GO_ON;
	if (key == SCREEN_ENTER || key == SCREEN_RIGHT || key == 'm')
		key = browser_menu(browser);
	switch (key) {
	case 'q':
	case SCREEN_ENDED:
		return LEAVE;
	case SCREEN_ESCAPE:
	case SCREEN_LEFT:
		return zoom_out(browser) ? GO_ON : BACK;
	case SCREEN_TAB:
		return NEXT_EVENT;
	case SCREEN_BACK_TAB:
		return LAST_EVENT;
	default:
		break;
	}
	if (key == 'e')
		fold_key(browser, key);
	else if (!list_key(&browser->list, key) && !zoom_key(browser, key))
		switch_key(browser, key);
	return GO_ON;
}

// New rows; what was chosen, zoomed and unfolded stays so.
static int refresh(struct browser *browser)
{
	int err = browser->hooks->refresh ? browser->hooks->refresh(browser->hooks->arg) : 0;

	if (err < 0)
		return err;
	browser->hist = browser->hooks->hists[browser->event];
	browser_apply_zoom(browser);
	return 0;
}

static int browse_event(struct browser *browser, enum result *ret)
{
	const struct browse_hooks *hooks = browser->hooks;
	uint64_t period_ns = (uint64_t)hooks->refresh_ms * 1000000;
	uint64_t next_ns = time_now_ns(CLOCK_MONOTONIC) + period_ns;

	for (*ret = GO_ON; *ret == GO_ON;) {
		uint64_t now = time_now_ns(CLOCK_MONOTONIC);
		int wait = hooks->refresh_ms
				   ? now < next_ns ? (int)((next_ns - now) / 1000000) + 1 : 1
				   : -1;
		bool again = false;
		int key, err = 0;

		browser_draw(browser);
		key = screen_key(browser->screen, wait);
		if (hooks->key && hooks->key(hooks->arg, browser->screen, key, &again))
			key = SCREEN_NONE;
		*ret = on_key(browser, key);
		now = time_now_ns(CLOCK_MONOTONIC);
		if (again || (hooks->refresh_ms && now >= next_ns)) {
			period_ns = (uint64_t)hooks->refresh_ms * 1000000;
			next_ns = now + period_ns;
			err = refresh(browser);
		}
		if (err < 0)
			return err;
	}
	return screen_error(browser->screen);
}

static int event_menu(struct browser *browser)
{
	const struct browse_hooks *hooks = browser->hooks;
	auto_free const char **items = xcalloc(hooks->n, sizeof(*items));
	auto_free size_t *events = xcalloc(hooks->n, sizeof(*events));
	struct arena texts = {0};
	size_t n = 0;
	int chosen;

	for (size_t i = 0; i < hooks->n; i++) {
		if (!is_shown(hooks->hists[i]))
			continue;
		events[n] = i;
		items[n++] = arena_fmt(&texts, "%8u %s", hooks->hists[i]->samples,
				       hooks->hists[i]->event->name);
	}
	screen_clear(browser->screen);
	chosen = tui_menu(browser->screen, "Samples of which event?", items, n);
	arena_done(&texts);
	return chosen < 0 ? -1 : (int)events[chosen];
}

static size_t next_event(const struct browser *browser, bool forward)
{
	size_t n = browser->hooks->n, at = browser->event;

	do
		at = (at + (forward ? 1 : n - 1)) % n;
	while (!is_shown(browser->hooks->hists[at]) && at != browser->event);
	return at;
}

static size_t shown_events(const struct browse_hooks *hooks, size_t *ret_first)
{
	size_t n = 0;

	for (size_t i = hooks->n; i-- > 0;) {
		if (is_shown(hooks->hists[i])) {
			*ret_first = i;
			n++;
		}
	}
	return n;
}

int report_browse(struct report *report, struct screen *screen, const struct browse_hooks *hooks)
{
	struct browser browser = {.report = report,
				  .screen = screen,
				  .hooks = hooks,
				  .percent_limit = report->o.percent_limit};
	size_t first = 0, n = shown_events(hooks, &first);
	bool has_menu = n > 1 && !hooks->refresh_ms;
	enum result result = has_menu ? BACK : GO_ON;
	bool annotated = false;
	int err = 0;

	browser.no_headers = !settings_bool("ui.show-headers", true);
	out_init_memory(&browser.scratch);
	choose_event(&browser, first);
	while (!err && result != LEAVE) {
		if (result == BACK) {
			int event = has_menu ? event_menu(&browser) : -1;

			if (event < 0)
				break;
			choose_event(&browser, (size_t)event);
		} else if (result == NEXT_EVENT || result == LAST_EVENT) {
			choose_event(&browser, next_event(&browser, result == NEXT_EVENT));
		}
		if (hooks->annotate_first && !annotated) {
			browser_draw(&browser);
			annotate(&browser);
			annotated = true;
		}
		err = browse_event(&browser, &result);
	}
	annotator_free(browser.annotator);
	vec_done(&browser.lines);
	map_done(&browser.folds);
	vec_done(&browser.widths);
	out_done(&browser.scratch);
	return err;
}
