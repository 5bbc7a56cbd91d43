// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/report/browse.h"
#include <limits.h>

enum {
	STEP = 3,
	LEAST_ROWS = 4,
	GAP = 2,
	LEAST_TEXT = 10,
	COMFORTABLE_TEXT = 16,
	LEAST_SYMBOL = 20
};

static bool is_symbol(const struct column *column)
{
	return column->key &&
	       (column->key->width == WIDTH_SYMBOL || column->key->width == WIDTH_SYMBOL_FROM ||
		column->key->width == WIDTH_SYMBOL_TO);
}

// Half a number is another one; half a name is still known.
static bool is_name(const struct column *column)
{
	static const enum width names[] =
		{WIDTH_SYMBOL,	      WIDTH_SYMBOL_FROM, WIDTH_SYMBOL_TO,
		 WIDTH_DSO,	      WIDTH_DSO_FROM,	 WIDTH_DSO_TO,
		 WIDTH_THREAD,	      WIDTH_COMM,	 WIDTH_CGROUP,
		 WIDTH_PARENT,	      WIDTH_SRCLINE,	 WIDTH_SRCFILE,
		 WIDTH_SRCLINE_FROM,  WIDTH_SRCLINE_TO,	 WIDTH_MEM_DADDR_SYMBOL,
		 WIDTH_MEM_DADDR_DSO, WIDTH_TRACE,	 WIDTH_MEM_IADDR_SYMBOL};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (column->key && column->key->width == names[i])
			return true;
	}
	return false;
}

static bool is_percent(const struct column *column)
{
	return !column->key && !column->field && column->number != NUMBER_SAMPLES &&
	       column->number != NUMBER_PERIOD;
}

// The screen of a line that is being drawn; texts go one behind the other.
struct pen {
	struct screen *screen; // NULL: into `out`
	struct screen_at at;
	struct out *out;
	int skip; // columns that are out of sight at the left
};

static void pen_put(struct pen *pen, enum screen_style style, struct str text)
{
	if (!pen->screen) {
		out_str(pen->out, text);
		return;
	}
	pen->at.style = style;
	pen->at.column = screen_put(pen->screen, pen->at, text);
}

static void pen_fill(struct pen *pen, size_t n)
{
	static const char spaces[] = "                                                            ";

	for (; n; n -= MIN(n, sizeof(spaces) - 1))
		pen_put(pen, STYLE_PLAIN, (struct str){spaces, MIN(n, sizeof(spaces) - 1)});
}

static int last_column(const struct browser *browser)
{
	const struct report *report = browser->report;
	int last = -1;

	for (size_t i = 0; i < report->fields.n; i++) {
		if (!column_skipped(report->fields.v[i], browser->hist))
			last = (int)i;
	}
	return last;
}

// Does the table's column stand left of what is seen?
static bool is_shifted(const struct browser *browser, int shown)
{
	return shown < browser->shift;
}

// The widest of the columns that may still give way; -1: none. Symbols, which one looks for, give way down to half of the
// room, then other names, and so on.
static int give_way(const struct browser *browser, int room)
{
	const struct {
		bool symbols;
		int least;
	} turns[] = {{true, MAX(LEAST_SYMBOL, room / 2)},
		     {false, COMFORTABLE_TEXT},
		     {true, MAX(LEAST_SYMBOL, room * 2 / 5)},
		     {false, LEAST_TEXT},
		     {true, LEAST_TEXT}};
	int widest = -1;

	for (size_t turn = 0; turn < ARRAY_SIZE(turns) && widest < 0; turn++) {
		for (size_t i = 0; i < browser->widths.n; i++) {
			const struct column *column = browser->report->fields.v[i];

			if (is_name(column) && is_symbol(column) == turns[turn].symbols &&
			    browser->widths.v[i] > turns[turn].least &&
			    (widest < 0 || browser->widths.v[i] > browser->widths.v[widest]))
				widest = (int)i;
		}
	}
	return widest;
}

static void fit_columns(struct browser *browser, int room)
{
	const struct report *report = browser->report;
	int last = last_column(browser), shown = 0, widest;
	int excess = (report->use_chains ? GAP : 0) - room;

	vec_clear(&browser->widths);
	for (int i = 0; i <= last; i++) {
		const struct column *column = report->fields.v[i];
		bool is_seen = !column_skipped(column, browser->hist) &&
			       (!is_shifted(browser, shown++) || i == last);
		int width = is_seen ? column_width(column, browser->hist) : 0;

		vec_push(&browser->widths, width);
		if (is_seen)
			excess += width + (i != last ? GAP : 0);
	}
	for (; excess > 0 && (widest = give_way(browser, room)) >= 0; excess--)
		browser->widths.v[widest]--;
	// What reaches out of the screen is seen to be cut, too.
	if (excess > 0 && last >= 0 && browser->widths.v[last] > excess)
		browser->widths.v[last] -= excess;
}

// What is in `scratch`, as wide as its column.
static void put_cell(struct browser *browser, struct pen *pen, int i, enum screen_style style)
{
	struct out *out = &browser->scratch;
	size_t width = (size_t)browser->widths.v[i];
	bool is_last = (size_t)i + 1 == browser->widths.n;

	if (pen->screen && out->n > width) {
		while (out->n && out->buf[out->n - 1] == ' ')
			out->n--;
		tui_cut(out, width);
	}
	pen_put(pen, style, (struct str){out->buf, out->n});
	if (!is_last)
		pen_fill(pen, (out->n < width ? width - out->n : 0) + GAP);
}

static void draw_cells(struct browser *browser, struct pen *pen, const struct entry *e)
{
	const struct report *report = browser->report;
	struct hist *hist = browser->hist;
	struct out *out = &browser->scratch;

	for (size_t i = 0; i < browser->widths.n; i++) {
		const struct column *column = report->fields.v[i];
		enum screen_style style = STYLE_PLAIN;

		if (!browser->widths.v[i])
			continue;
		out->n = 0;
		out_room(out, 4096);
		column_print(column, hist, e, out);
		if (is_percent(column) && hist_total(hist))
			style = screen_percent_style(100.0 * (double)entry_number(e, column->number) /
						     (double)hist_total(hist));
		put_cell(browser, pen, (int)i, style);
	}
}

static void put_frame(const struct browser *browser, const struct browse_line *line, struct out *out)
{
	const struct call_tree *tree = browser_entry(browser, line)->more->tree;
	uint32_t id = tree->frames.v[tree->nodes.v[line->node].first_frame + line->frame];
	const struct dso *dso = browser->report->stacks.frames.v[id].dso;

	report_put_frame(browser->report, id, out);
	if (browser->show_dsos)
		out_printf(out, " (%s)", dso ? dso->short_name : "unknown");
}

static void draw_frame(struct browser *browser, struct pen *pen, const struct browse_line *line)
{
	const struct call_node *node = &browser_entry(browser, line)->more->tree->nodes.v[line->node];
	uint64_t weight = node->hit + node->children_hit;
	struct out *out = &browser->scratch;

	pen_fill(pen, (size_t)line->depth * STEP + 1 + (line->frame ? STEP : 0));
	if (!line->frame)
		pen_put(pen, STYLE_PLAIN,
			line->folds ? line->open ? STR("- ") : STR("+ ") : STR("  "));
	out->n = 0;
	if (line->has_percent) {
		double percent = line->total ? 100.0 * (double)weight / (double)line->total : 0;

		switch (browser->report->chain.value) {
		case CHAIN_PERIOD:
			out_u64(out, weight);
			break;
		case CHAIN_COUNT:
			out_u64(out, node->count + node->children_count);
			break;
		default:
			out_printf(out, "%.2f%%", percent);
		}
		out_char(out, ' ');
		pen_put(pen, screen_percent_style(percent), (struct str){out->buf, out->n});
		out->n = 0;
	}
	put_frame(browser, line, out);
	pen_put(pen, STYLE_PLAIN, (struct str){out->buf, out->n});
}

static void draw_line(struct browser *browser, struct pen *pen, const struct browse_line *line)
{
	if (line->node != BROWSE_NONE) {
		draw_frame(browser, pen, line);
		return;
	}
	if (browser->report->use_chains)
		pen_put(pen, STYLE_PLAIN,
			line->folds ? line->open ? STR("- ") : STR("+ ") : STR("  "));
	draw_cells(browser, pen, browser_entry(browser, line));
}

static void draw_headers(struct browser *browser, struct pen *pen)
{
	const struct report *report = browser->report;
	struct out *out = &browser->scratch;

	if (report->use_chains)
		pen_fill(pen, 2);
	for (size_t i = 0; i < browser->widths.n; i++) {
		if (!browser->widths.v[i])
			continue;
		out->n = 0;
		column_header(report->fields.v[i], browser->hist, out);
		if (i + 1 == browser->widths.n) {
			while (out->n && out->buf[out->n - 1] == ' ')
				out->n--;
		}
		put_cell(browser, pen, (int)i, pen->screen ? STYLE_HEADER : STYLE_PLAIN);
	}
}

static void with_unit(struct out *out, uint64_t n)
{
	double value = (double)n;
	char unit = 0;

	for (size_t i = 0; i < 3 && value > 1000.0; i++) {
		value /= 1000.0;
		unit = "KMG"[i];
	}
	out_u64(out, (uint64_t)value);
	if (unit)
		out_char(out, unit);
}

static void put_zoom(const struct browser *browser, struct out *out)
{
	const struct browse_zoom *zoom = &browser->zoom;
	struct sym *sym = browser->report->run->sym;

	if (zoom->by_task) {
		out_printf(out, ", Thread: %s", intern_get(&sym->strings, zoom->comm));
		if (zoom->has_tid)
			out_printf(out, "(%u)", zoom->tid);
	}
	if (zoom->by_dso)
		out_printf(out, ", DSO: %s", zoom->dso ? zoom->dso->short_name : "[unknown]");
	if (zoom->by_symbol)
		out_printf(out, ", Symbol: %s", zoom->symbol ? zoom->symbol->name : "[unknown]");
	if (zoom->by_socket)
		out_printf(out, ", Socket: %d", zoom->socket);
	if (zoom->filter.n)
		out_printf(out, ", Filter: %s", zoom->filter.text);
}

// As much of it as there is room for.
static struct str title_of(const struct browser *browser, struct tui_parts *line, size_t columns)
{
	const struct hist *hist = browser->hist;
	struct out *out = &line->out;
	bool relative = !strcmp(browser->report->o.percentage, "relative");

	if (browser->hooks->title) {
		browser->hooks->title(browser->hooks->arg, hist, line);
	} else {
		tui_parts_begin(line, 0);
		out_text(out, "Samples: ");
		with_unit(out, hist->samples);
		out_printf(out, " of event '%s'", hist->event->name);
		tui_parts_begin(line, 2);
		out_printf(out, ", Event count (approx.): %llu",
			   (unsigned long long)(relative ? hist->total_shown_period
							 : hist->total_period));
	}
	tui_parts_begin(line, 0);
	put_zoom(browser, out);
	return tui_parts_fit(line, columns);
}

int browser_lines_row(const struct browser *browser)
{
	return browser->no_headers ? 1 : 2;
}

static void draw_status(struct browser *browser, int row, int columns)
{
	static const char *const keys[] = {"?: help",	"Enter: expand or menu",
					   "/: filter", "a: annotate",
					   "q: quit",	NULL};
	struct screen_at at = {.row = row, .style = STYLE_STATUS};
	struct out *out = &browser->scratch;
	struct tui_parts line;
	int used;

	screen_fill(browser->screen, at);
	tui_parts_init(&line);
	tui_parts_words(&line, keys);
	used = screen_put(browser->screen, at, tui_parts_fit(&line, (size_t)columns));
	tui_parts_done(&line);
	out->n = 0;
	if (browser->list.n)
		out_printf(out, "%zu of %zu", browser->list.at + 1, browser->list.n);
	else
		out_text(out, "no rows");
	if (columns - used > (int)out->n + 2) {
		at.column = columns - (int)out->n - 1;
		screen_put(browser->screen, at, (struct str){out->buf, out->n});
	}
}

void browser_draw(struct browser *browser)
{
	struct screen *screen = browser->screen;
	struct pen pen = {.screen = screen};
	struct tui_parts title;
	int rows, columns, first = browser_lines_row(browser);

	screen_size(screen, &rows, &columns);
	screen_clear(screen);
	browser->list.page = rows > first + 1 ? (size_t)(rows - first - 1) : 1;
	list_resize(&browser->list, browser->lines.n, browser->list.page);
	fit_columns(browser, columns);
	tui_parts_init(&title);
	pen_put(&pen, STYLE_TITLE, title_of(browser, &title, (size_t)columns));
	tui_parts_done(&title);
	if (!browser->no_headers) {
		pen.at = (struct screen_at){.row = 1};
		draw_headers(browser, &pen);
	}
	for (size_t i = 0; i < browser->list.page; i++) {
		size_t line = browser->list.top + i;

		if (line >= browser->lines.n)
			break;
		pen.at = (struct screen_at){.row = first + (int)i,
					    .chosen = line == browser->list.at};
		if (pen.at.row >= rows - 1)
			break;
		if (pen.at.chosen)
			screen_fill(screen, pen.at);
		draw_line(browser, &pen, &browser->lines.v[line]);
	}
	if (rows >= LEAST_ROWS)
		draw_status(browser, rows - 1, columns);
}

void browser_print(struct browser *browser, struct out *out)
{
	struct out text;
	struct pen pen = {.out = &text};
	struct tui_parts title;

	out_init_memory(&text);
	fit_columns(browser, INT_MAX);
	tui_parts_init(&title);
	out_str(&text, title_of(browser, &title, SIZE_MAX));
	tui_parts_done(&title);
	out_char(&text, '\n');
	draw_headers(browser, &pen);
	out_char(&text, '\n');
	vec_each(const struct browse_line, line, &browser->lines) {
		draw_line(browser, &pen, line);
		while (text.n && text.buf[text.n - 1] == ' ')
			text.n--;
		out_char(&text, '\n');
		out_bytes(out, text.buf, text.n);
		text.n = 0;
	}
	out_bytes(out, text.buf, text.n);
	out_done(&text);
}
