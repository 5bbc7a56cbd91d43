// SPDX-License-Identifier: GPL-2.0-or-later
// perf's layout of diff: tools/perf/builtin-diff.c.
#include "cmd/diff/cycles.h"
#include <stdio.h>

enum what { BASELINE, COMPUTED, SPREAD, FORMULA, PERIOD, BASE_PERIOD };

static const char *const compute_titles[] = {
	[DIFF_DELTA] = "Delta",
	[DIFF_DELTA_ABS] = "Delta Abs",
	[DIFF_RATIO] = "Ratio",
	[DIFF_WDIFF] = "Weighted diff",
	[DIFF_CYCLES] = "[Program Block Range] Cycles Diff",
};

enum { NUMBER_SIZE = 1024 }; // of a number's text; that of a block has names

struct number_column {
	enum what what;
	size_t file;
	int width;
	char title[64];
};

struct printer {
	struct diff *diff;
	struct diff_rows *rows;
	struct out *out;
	VEC(struct number_column) columns;
	struct out scratch;
	struct block_changes *changes; // of -c cycles: of the row, by file
	size_t block;		       // which of them
};

static void add_column(struct printer *p, enum what what, size_t file)
{
	static const struct {
		const char *title;
		int width;
	} kinds[] = {
		[BASELINE] = {"Baseline", 0},	[COMPUTED] = {NULL, 0},
		[SPREAD] = {"stddev/Hist", 17}, [FORMULA] = {"Formula", 70},
		[PERIOD] = {"Period", 14},	[BASE_PERIOD] = {"Base period", 14},
	};
	const struct diff *diff = p->diff;
	struct number_column *column = vec_add(&p->columns);
	const char *title = what == COMPUTED ? compute_titles[diff->compute] : kinds[what].title;
	int width = kinds[what].width;

	if (what == COMPUTED && (diff->compute == DIFF_RATIO || diff->compute == DIFF_WDIFF))
		width = 14;
	else if (what == COMPUTED && diff->compute == DIFF_CYCLES)
		width = 70;
	else if (what == COMPUTED)
		width = 7;
	column->what = what;
	column->file = file;
	if (diff->files_n > 2)
		snprintf(column->title, sizeof(column->title), "%s/%zu", title, file);
	else
		snprintf(column->title, sizeof(column->title), "%s", title);
	column->width = MAX(width, (int)strlen(column->title));
}

static void add_columns(struct printer *p)
{
	const struct diff_options *o = &p->diff->o;

	for (size_t i = 0; i < p->diff->files_n; i++) {
		add_column(p, i ? COMPUTED : BASELINE, i);
		if (o->cycles_hist && i)
			add_column(p, SPREAD, i);
		if (o->formula && i)
			add_column(p, FORMULA, i);
		if (o->period)
			add_column(p, i ? PERIOD : BASE_PERIOD, i);
	}
}

static void put_formula(const struct printer *p, const struct diff_row *row, size_t file,
			char ret[128])
{
	const struct diff *diff = p->diff;
	unsigned long long base = row->values[0].period, now = row->values[file].period;

	switch (diff->compute) {
	case DIFF_CYCLES:
		break;
	case DIFF_RATIO:
		snprintf(ret, 128, "%.0F / %.0F", (double)now, (double)base);
		break;
	case DIFF_WDIFF:
		snprintf(ret, 128, "(%.0F * %lld) - (%.0F * %lld)", (double)now,
			 (long long)diff->new_weight, (double)base, (long long)diff->base_weight);
		break;
	default:
		snprintf(ret, 128, "(%llu * 100 / %llu) - (%llu * 100 / %llu)", now,
			 (unsigned long long)p->rows->totals[file], base,
			 (unsigned long long)p->rows->shown_total);
	}
}

// With a separator perf leaves out what is about nothing. A weighted difference is 14 wide in whichever column.
static void put_computed(const struct printer *p, const struct diff_row *row,
			 const struct number_column *column, char ret[128])
{
	const struct diff *diff = p->diff;
	const struct diff_value *value = &row->values[column->file];
	bool all = !diff->o.separator;
	char number[32];

	snprintf(number, sizeof(number), "%14lld", (long long)value->weighted);
	if (diff->compute == DIFF_RATIO || diff->compute == DIFF_WDIFF) {
		if (row->dummy)
			snprintf(ret, 128, "N/A");
		else if (diff->compute == DIFF_RATIO && (all || value->ratio > 0))
			snprintf(ret, 128, "%14.6F", value->ratio);
		else if (diff->compute == DIFF_WDIFF && (all || value->weighted))
			snprintf(ret, 128, "%-*s", all ? column->width : 0, number);
		return;
	}
	snprintf(ret, 128, "%+4.2F%%", value->delta);
}

static const struct block_change *change_of(const struct printer *p, size_t file)
{
	const struct block_changes *changes = &p->changes[file];

	return p->block < changes->v.n ? &changes->v.v[p->block] : NULL;
}

// In texts a separator is a dot.
static void replace_separator(const struct printer *p, struct out *text)
{
	const char *separator = p->diff->o.separator;

	for (size_t i = 0; separator && i < text->n; i++) {
		if (text->buf[i] == *separator)
			text->buf[i] = '.';
	}
}

static void put_block(struct printer *p, size_t file, char ret[NUMBER_SIZE])
{
	const struct block_change *change = change_of(p, file);

	if (!change)
		return;
	p->scratch.n = 0;
	block_change_put_range(&p->changes[file], change, &p->scratch);
	replace_separator(p, &p->scratch);
	out_char(&p->scratch, 0);
	snprintf(ret, NUMBER_SIZE, "%s %4lld", p->scratch.buf, (long long)change->change);
}

// A bar is one column and three bytes, and counts for perf as that many columns: what misses to eight stands behind.
static void put_spread(const struct printer *p, size_t file, char ret[NUMBER_SIZE])
{
	const struct block_change *change = change_of(p, file);
	size_t n;

	if (!change)
		return;
	block_change_put_sparks(change, ret);
	n = strlen(ret);
	if (n && change->sparks_n < BLOCK_SPARKS)
		snprintf(ret + n, NUMBER_SIZE - n, "%*s", (int)(BLOCK_SPARKS - change->sparks_n),
			 " ");
}

static void put_number(struct printer *p, const struct diff_row *row,
		       const struct number_column *column, char ret[NUMBER_SIZE])
{
	const struct diff_value *value = &row->values[column->file];

	*ret = '\0';
	switch (column->what) {
	case BASELINE:
		if (!row->dummy)
			snprintf(ret, 128, p->diff->o.separator ? "%.2f" : "%.2f%%",
				 p->rows->shown_total ? 100.0 * (double)value->period /
								(double)p->rows->shown_total
						      : 0);
		break;
	case BASE_PERIOD:
		snprintf(ret, 128, "%llu", (unsigned long long)value->period);
		break;
	case PERIOD:
		if (value->there)
			snprintf(ret, 128, "%llu", (unsigned long long)value->period);
		break;
	case FORMULA:
		if (value->there)
			put_formula(p, row, column->file, ret);
		break;
	case COMPUTED:
		if (diff_is_of_blocks(p->diff))
			put_block(p, column->file, ret);
		else if (value->there)
			put_computed(p, row, column, ret);
		break;
	case SPREAD:
		put_spread(p, column->file, ret);
		break;
	}
}

// A tracepoint's field is as wide as its widest value in any file.
static void widen_field(struct printer *p, size_t field)
{
	int width = 0;

	for (size_t i = 0; i < p->diff->files_n; i++)
		width = MAX(width, p->diff->files[i].report.fields.v[field]->dynamic_width);
	for (size_t i = 0; i < p->diff->files_n; i++)
		p->diff->files[i].report.fields.v[field]->dynamic_width = width;
}

// The widths of the key columns: of what is shown, whatever file it is from.
static void set_widths(struct printer *p)
{
	struct diff_rows *rows = p->rows;
	uint16_t widths[WIDTHS] = {0};

	for (size_t i = 0; i < p->diff->files_n; i++) {
		if (rows->hists[i])
			memset(rows->hists[i]->widths, 0, sizeof(rows->hists[i]->widths));
	}
	vec_each(const struct diff_row, row, &rows->v) {
		if (!row->hidden)
			hist_widths_of((struct hist *)row->hist, row->shown);
	}
	if (rows->hists[0])
		hist_widen_to_headers(rows->hists[0]);
	for (size_t i = 0; i < p->diff->files_n; i++) {
		for (size_t k = 0; rows->hists[i] && k < WIDTHS; k++)
			widths[k] = MAX(widths[k], rows->hists[i]->widths[k]);
	}
	for (size_t i = 0; i < p->diff->files_n; i++) {
		if (rows->hists[i])
			memcpy(rows->hists[i]->widths, widths, sizeof(widths));
	}
	for (size_t i = 0; i < p->diff->keys.n; i++)
		widen_field(p, p->diff->keys.v[i]);
}

static void put_between(struct printer *p, bool first)
{
	const char *separator = p->diff->o.separator;

	if (!first)
		out_text(p->out, separator ? separator : "  ");
}

// It is the same in all rows, or is a field of another event.
static bool is_elided(const struct printer *p, size_t key)
{
	return column_skipped(p->diff->files[0].report.fields.v[p->diff->keys.v[key]],
			      p->rows->hists[0]);
}

static void print_headers(struct printer *p)
{
	const struct hist *hist = p->rows->hists[0];
	const struct report *report = &p->diff->files[0].report;

	out_text(p->out, "# ");
	for (size_t i = 0; i < p->columns.n; i++) {
		put_between(p, !i);
		out_text_right(p->out, p->columns.v[i].title, p->columns.v[i].width);
	}
	for (size_t i = 0; hist && i < p->diff->keys.n; i++) {
		if (is_elided(p, i))
			continue;
		put_between(p, false);
		column_header(report->fields.v[p->diff->keys.v[i]], hist, p->out);
	}
	out_char(p->out, '\n');
	if (p->diff->o.separator)
		return;
	out_text(p->out, "# ");
	for (size_t i = 0; i < p->columns.n; i++) {
		put_between(p, !i);
		out_fill(p->out, '.', (size_t)p->columns.v[i].width);
	}
	for (size_t i = 0; hist && i < p->diff->keys.n; i++) {
		if (is_elided(p, i))
			continue;
		put_between(p, false);
		out_fill(p->out, '.',
			 (size_t)column_width(report->fields.v[p->diff->keys.v[i]], hist));
	}
	out_text(p->out, "\n#\n");
}

static void print_key(struct printer *p, const struct diff_row *row, size_t key)
{
	const struct column *column = row->hist->report->fields.v[p->diff->keys.v[key]];
	struct out *scratch = &p->scratch;
	size_t width = (size_t)column_width(column, row->hist);

	scratch->n = 0;
	column_print(column, row->hist, row->shown, scratch);
	if (key + 1 < p->diff->keys.n && scratch->n < width)
		out_fill(scratch, ' ', width - scratch->n);
	replace_separator(p, scratch);
	out_char(scratch, 0);
	out_safe(p->out, scratch->buf);
}

static void print_row(struct printer *p, const struct diff_row *row)
{
	const char *separator = p->diff->o.separator;

	for (size_t i = 0; i < p->columns.n; i++) {
		const struct number_column *column = &p->columns.v[i];
		char text[NUMBER_SIZE];

		put_between(p, separator && !i);
		put_number(p, row, column, text);
		p->scratch.n = 0;
		if (separator) // what ends the line is as wide as it is
			out_text_left(&p->scratch, text,
				      i + 1 < p->columns.n || p->diff->keys.n ? column->width : 0);
		else
			out_text_right(&p->scratch, text, column->width);
		out_char(&p->scratch, 0);
		out_safe(p->out, p->scratch.buf);
	}
	for (size_t i = 0; i < p->diff->keys.n; i++) {
		if (is_elided(p, i))
			continue;
		put_between(p, false);
		print_key(p, row, i);
	}
	out_char(p->out, '\n');
}

// In perf a line tells of one block in each file, as long as all files and the baseline have more; what has no such row in a
// file is one line.
static bool has_line(const struct printer *p, const struct diff_row *row)
{
	bool has = true;

	for (size_t i = 1; i < p->diff->files_n; i++)
		has &= row->values[i].there ? p->block < p->changes[i].v.n : !p->block;
	return has;
}

static void print_blocks(struct printer *p, const struct diff_row *row)
{
	size_t n = block_changes_base_n(row);

	for (size_t i = 1; i < p->diff->files_n; i++)
		block_changes_init(&p->changes[i], p->diff, row, i);
	for (p->block = 0; p->block < n; p->block++) {
		if (has_line(p, row))
			print_row(p, row);
	}
	for (size_t i = 1; i < p->diff->files_n; i++)
		block_changes_done(&p->changes[i]);
}

static void print_files(struct printer *p)
{
	const struct diff *diff = p->diff;

	if (diff->o.verbose <= 0 && diff->files_n <= 2)
		return;
	out_text(p->out, "# Data files:\n");
	for (size_t i = 0; i < diff->files_n; i++)
		out_printf(p->out, "#  [%zu] %s %s\n", i, diff->files[i].path, i ? "" : "(Baseline)");
	out_text(p->out, "#\n");
}

void diff_print(struct diff *diff, const struct event *event, struct diff_rows *rows, bool first)
{
	struct printer p = {.diff = diff, .rows = rows, .out = &diff->out};

	out_init_memory(&p.scratch);
	add_columns(&p);
	set_widths(&p);
	if (!diff->o.quiet) {
		out_text(p.out, first ? "# Event '" : "\n# Event '");
		out_safe(p.out, event->name);
		out_text(p.out, "'\n#\n");
		print_files(&p);
		print_headers(&p);
	}
	p.changes = xcalloc(diff->files_n, sizeof(*p.changes));
	vec_each(const struct diff_row, row, &rows->v) {
		if (row->hidden)
			continue;
		if (diff_is_of_blocks(diff))
			print_blocks(&p, row);
		else
			print_row(&p, row);
	}
	free(p.changes);
	vec_done(&p.columns);
	out_done(&p.scratch);
}
