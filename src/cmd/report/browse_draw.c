// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/report/browse.h"

enum { STEP = 3, LEAST_ROWS = 4 };

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

static void draw_cells(struct browser *browser, struct pen *pen, const struct entry *e)
{
	const struct report *report = browser->report;
	struct hist *hist = browser->hist;
	struct out *out = &browser->scratch;
	int last = last_column(browser), shown = 0;

	for (int i = 0; i <= last; i++) {
		const struct column *column = report->fields.v[i];
		enum screen_style style = STYLE_PLAIN;
		size_t width;

		if (column_skipped(column, hist))
			continue;
		if (is_shifted(browser, shown++) && i != last)
			continue;
		out->n = 0;
		out_room(out, 4096);
		column_print(column, hist, e, out);
		if (is_percent(column) && hist_total(hist))
			style = screen_percent_style(100.0 * (double)entry_number(e, column->number) /
						     (double)hist_total(hist));
		pen_put(pen, style, (struct str){out->buf, out->n});
		width = (size_t)column_width(column, hist);
		if (i != last)
			pen_fill(pen, (out->n < width ? width - out->n : 0) + 2);
	}
}

static void put_frame(const struct browser *browser, const struct browse_line *line, struct out *out)
{
	const struct call_tree *tree = browser_entry(browser, line)->tree;
	uint32_t id = tree->frames.v[tree->nodes.v[line->node].first_frame + line->frame];
	const struct dso *dso = browser->report->stacks.frames.v[id].dso;

	report_put_frame(browser->report, id, out);
	if (browser->show_dsos)
		out_printf(out, " (%s)", dso ? dso->short_name : "unknown");
}

static void draw_frame(struct browser *browser, struct pen *pen, const struct browse_line *line)
{
	const struct call_node *node = &browser_entry(browser, line)->tree->nodes.v[line->node];
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
	int last = last_column(browser), shown = 0;

	if (report->use_chains)
		pen_fill(pen, 2);
	for (int i = 0; i <= last; i++) {
		const struct column *column = report->fields.v[i];

		if (column_skipped(column, browser->hist))
			continue;
		if (is_shifted(browser, shown++) && i != last)
			continue;
		out->n = 0;
		column_header(column, browser->hist, out);
		if (i == last) {
			while (out->n && out->buf[out->n - 1] == ' ')
				out->n--;
		}
		pen_put(pen, pen->screen ? STYLE_HEADER : STYLE_PLAIN,
			(struct str){out->buf, out->n});
		if (i != last)
			pen_fill(pen, 2);
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
	struct sym *sym = browser->report->session->sym;

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

static void put_title(const struct browser *browser, struct out *out)
{
	const struct hist *hist = browser->hist;
	bool relative = !strcmp(browser->report->o.percentage, "relative");

	if (browser->hooks->title) {
		browser->hooks->title(browser->hooks->arg, hist, out);
	} else {
		out_text(out, "Samples: ");
		with_unit(out, hist->samples);
		out_printf(out, " of event '%s', Event count (approx.): %llu", hist->event->name,
			   (unsigned long long)(relative ? hist->total_shown_period
							 : hist->total_period));
	}
	put_zoom(browser, out);
}

int browser_lines_row(const struct browser *browser)
{
	return browser->no_headers ? 1 : 2;
}

static void draw_status(struct browser *browser, int row, int columns)
{
	struct screen_at at = {.row = row, .style = STYLE_STATUS};
	struct out *out = &browser->scratch;
	int used;

	screen_fill(browser->screen, at);
	used = screen_put(browser->screen, at,
			  str_of("?: help  Enter: expand or menu  /: filter  a: annotate  q: quit"));
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
	int rows, columns, first = browser_lines_row(browser);

	screen_size(screen, &rows, &columns);
	screen_clear(screen);
	browser->list.page = rows > first + 1 ? (size_t)(rows - first - 1) : 1;
	list_resize(&browser->list, browser->lines.n, browser->list.page);
	browser->scratch.n = 0;
	put_title(browser, &browser->scratch);
	pen_put(&pen, STYLE_TITLE, (struct str){browser->scratch.buf, browser->scratch.n});
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

	out_init_memory(&text);
	put_title(browser, &text);
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
