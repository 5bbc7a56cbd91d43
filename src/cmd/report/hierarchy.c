// SPDX-License-Identifier: GPL-2.0-or-later
// --hierarchy as text: rows of one level stand below the row that they are part of.
#include "cmd/report/report.h"

enum { INDENT = 3 };

static const struct level *numbers(const struct report *report)
{
	return &report->levels.v[0];
}

// A level of fields that neither the event nor one of its group has is none of this table's.
static bool level_exists(const struct level *level, const struct hist *hist)
{
	for (size_t i = 0; i < level->columns.n; i++) {
		const struct column *column = level->columns.v[i];

		if (!column->field || !column_skipped(column, hist))
			return true;
	}
	return false;
}

// With that of the numbers.
static size_t levels_n(const struct hist *hist)
{
	const struct report *report = hist->report;
	size_t n = 0;

	for (size_t i = 0; i < report->levels.n; i++)
		n += level_exists(&report->levels.v[i], hist);
	return n;
}

static size_t numbers_indent(const struct hist *hist)
{
	size_t n = levels_n(hist);

	return !hist->report->separator_text && n > 2 ? (n - 2) * INDENT : 0;
}

static void print_trimmed(struct out *out, struct str text)
{
	while (text.n && *text.p == ' ') {
		text.p++;
		text.n--;
	}
	out_str(out, text);
}

static void print_row(const struct entry *e, struct out *out, struct out *line)
{
	const struct hist *hist = e->hist;
	const struct report *report = hist->report;
	const char *separator = report->separator_text;
	const struct level *level = numbers(report);

	if (report->o.exclude_other && !e->x->parent)
		return;
	out_fill(out, ' ', (size_t)e->more->depth * INDENT);
	for (size_t i = 0; i < level->columns.n; i++) {
		int width = column_width(level->columns.v[i], hist);

		if (!separator || i)
			out_text(out, separator ? separator : "  ");
		line->n = 0;
		column_print(level->columns.v[i], hist, e, line);
		out_bytes(out, line->buf, line->n);
		if ((int)line->n < width)
			out_fill(out, ' ', (size_t)width - line->n);
	}
	out_fill(out, ' ', numbers_indent(hist));
	level = &report->levels.v[e->level];
	for (size_t i = 0; i < level->columns.n; i++) {
		const struct column *column = level->columns.v[i];

		if (column->field && column->event != e->x->event)
			continue;
		line->n = 0;
		column_print(column, hist, e, line);
		out_text(out, separator ? separator : "  ");
		print_trimmed(out, (struct str){line->buf, line->n});
	}
	out_char(out, '\n');
	if (e->leaf && report->use_chains)
		entry_print_chain(e, out);
}

static bool shows_children(const struct entry *e)
{
	for (size_t i = 0; i < e->more->below->entries.n; i++) {
		if (!e->more->below->entries.v[i]->filtered)
			return entry_percent(e->more->below->entries.v[i]) >=
			       e->hist->report->o.percent_limit;
	}
	return false;
}

static int numbers_width(const struct hist *hist)
{
	const struct report *report = hist->report;
	int width = 0;

	for (size_t i = 0; i < report->fields.n; i++) {
		if (report->fields.v[i]->key || report->fields.v[i]->field)
			break;
		width += column_width(report->fields.v[i], hist) + (i ? 2 : 0);
	}
	return width;
}

static void print_level(const struct hist *hist, const struct level_set *set, struct out *out,
			struct out *line)
{
	const struct report *report = hist->report;

	for (size_t i = 0; i < set->entries.n; i++) {
		const struct entry *e = set->entries.v[i];

		if (!e->filtered && entry_percent(e) >= report->o.percent_limit) {
			print_row(e, out, line);
			if (e->more->below->entries.n && !shows_children(e)) {
				if (!report->separator)
					out_fill(out, ' ',
						 (levels_n(hist) + e->more->depth - 1) * INDENT);
				out_fill(out, ' ', (size_t)numbers_width(hist) + 4);
				out_printf(out, "no entry >= %.2f%%\n",
					   (double)report->o.percent_limit);
			}
		}
		print_level(hist, e->more->below, out, line);
	}
}

static void print_headers(const struct hist *hist, struct out *out, struct out *line)
{
	const struct report *report = hist->report;
	const char *separator = report->separator_text;
	size_t indent = numbers_indent(hist), width = 0, depth = 0;
	bool first_level = true;

	out_text(out, "# ");
	out_fill(out, ' ', indent);
	for (size_t i = 0; i < numbers(report)->columns.n; i++) {
		column_header(numbers(report)->columns.v[i], hist, out);
		out_text(out, separator ? separator : "  ");
	}
	for (size_t i = 1; i < report->levels.n; i++) {
		const struct level *level = &report->levels.v[i];
		bool first = true;

		if (!level_exists(level, hist))
			continue;
		width += first_level ? 0 : 3;
		out_text(out, first_level ? "" : " / ");
		first_level = false;
		for (size_t j = 0; j < level->columns.n; j++) {
			struct str text;

			if (column_skipped(level->columns.v[j], hist))
				continue;
			out_text(out, first ? "" : "+");
			width += first ? 0 : 1;
			first = false;
			line->n = 0;
			column_header(level->columns.v[j], hist, line);
			text = str_trim((struct str){line->buf, line->n});
			out_str(out, text);
			width += text.n;
		}
	}
	out_text(out, "\n# ");
	out_fill(out, '.', indent);
	for (size_t i = 0; i < numbers(report)->columns.n; i++) {
		out_text(out, !i ? "" : separator ? separator : "..");
		out_fill(out, '.', (size_t)column_width(numbers(report)->columns.v[i], hist));
	}
	for (size_t i = 1; i < report->levels.n; i++) {
		const struct level *level = &report->levels.v[i];
		bool first = true;
		size_t below = depth * INDENT;

		if (!level_exists(level, hist))
			continue;
		depth++;
		for (size_t j = 0; j < level->columns.n; j++) {
			if (column_skipped(level->columns.v[j], hist))
				continue;
			below += (first ? 0 : 1) + (size_t)column_width(level->columns.v[j], hist);
			first = false;
		}
		width = MAX(width, below);
	}
	out_text(out, separator ? separator : "  ");
	out_fill(out, '.', width);
	out_text(out, "\n#\n");
}

void hierarchy_print(struct hist *hist, struct out *out)
{
	struct out line;

	out_init_memory(&line);
	if (!hist->report->quiet)
		print_headers(hist, out, &line);
	print_level(hist, &hist->top, out, &line);
	out_done(&line);
}
