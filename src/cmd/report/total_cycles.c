// SPDX-License-Identifier: GPL-2.0-or-later
// report --total-cycles: basic blocks by their cycles, in perf's layout (tools/perf/util/block-info.c of 6.1).
#include "base/log.h"
#include "cmd/report/report.h"
#include "hist/keys.h"
#include "base/hash.h"
#include <stdio.h>

struct block_row {
	const struct place *place; // somewhere in the function
	const struct block *block;
	int64_t share; // of all cycles, in 1/100000: finer is not told apart
};

struct block_rows {
	VEC(struct block_row) rows;
	struct map seen;   // hashes of what makes a row
	uint64_t averages; // of all blocks of all rows of the report, for "Avg Cycles%"
};

static const struct {
	const char *title;
	int width;
} columns[] = {
	{"Sampled Cycles%", 15}, {"Sampled Cycles", 14},	{"Avg Cycles%", 11},
	{"Avg Cycles", 10},	 {"[Program Block Range]", 70}, {"Shared Object", 20},
};

static uint64_t average(const struct block *block)
{
	return block->cycles_all / block->n_all;
}

// perf compares blocks by the function's name, begin and end, so functions of one name in several files may share a row.
static void add_function(struct report *report, struct block_rows *rows, const struct place *place)
{
	const struct function_blocks *function = blocks_find(report->blocks, place->sym);
	uint64_t name = key_text_hash(place->sym->name), total = report->blocks->total_cycles;

	for (size_t i = 0; function && i < function->blocks.n; i++) {
		const struct block *block = &function->blocks.v[i];
		struct block_row row = {place, block, 0};
		bool is_new;

		rows->averages += average(block);
		map_at(&rows->seen, hash_mix(hash_mix(name, block->start), block->end), &is_new);
		if (!is_new)
			continue;
		if (total)
			row.share = (int64_t)((double)block->cycles_all / (double)total * 100000.0);
		vec_push(&rows->rows, row);
	}
}

static int by_cycles(const void *a, const void *b)
{
	const struct block_row *x = a, *y = b;
	int names;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	names = strcmp(y->place->sym->name, x->place->sym->name);
	if (names)
		return names;
	if (x->block->start != y->block->start)
		return x->block->start < y->block->start ? -1 : 1;
	return x->block->end < y->block->end ? -1 : x->block->end > y->block->end;
}

static void make_rows(struct report *report, const struct hist *hist, struct block_rows *ret)
{
	*ret = (struct block_rows){0};
	for (size_t i = 0; i < hist->rows_n; i++) {
		const struct place *place = &hist->rows[i]->place;

		if (place->sym && place->dso)
			add_function(report, ret, place);
	}
	if (ret->rows.n)
		qsort(ret->rows.v, ret->rows.n, sizeof(*ret->rows.v), by_cycles);
}

static void rows_done(struct block_rows *rows)
{
	vec_done(&rows->rows);
	map_done(&rows->seen);
}

static double percent(uint64_t n, uint64_t of)
{
	return of ? 100.0 * (double)n / (double)of : 0;
}

static void put_cycles(struct out *out, uint64_t n, int width)
{
	char text[32];

	if (n >= 1000000)
		snprintf(text, sizeof(text), "%.1fM", (double)n / 1e6);
	else if (n >= 1000)
		snprintf(text, sizeof(text), "%.1fK", (double)n / 1e3);
	else
		snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	out_printf(out, "%*s", width, text);
}

static void replace_separator(const struct report *report, struct out *out, size_t start)
{
	for (size_t i = start; report->separator && i < out->n; i++) {
		if (out->buf[i] == report->separator)
			out->buf[i] = '.';
	}
}

// `out` is in memory.
static void put_range(struct report *report, struct out *out, const struct block_row *row)
{
	size_t start = out->n;
	struct out text;

	out_init_memory(&text);
	report_put_block_range(report, row->place, row->block, &text);
	out_char(&text, 0);
	out_text_right(out, text.buf, columns[4].width);
	out_done(&text);
	replace_separator(report, out, start);
}

static void put_row(struct report *report, struct out *out, const struct block_rows *rows,
		    const struct block_row *row)
{
	const char *between = report->separator ? report->separator_text : "  ";
	const struct block *block = row->block;
	size_t start;

	out_printf(out, "%s%*.2f%%%s", report->separator ? "" : between, columns[0].width - 1,
		   percent(block->cycles_all, report->blocks->total_cycles), between);
	put_cycles(out, block->cycles_all, columns[1].width);
	out_printf(out, "%s%*.2f%%%s", between, columns[2].width - 1,
		   percent(average(block), rows->averages), between);
	put_cycles(out, average(block), columns[3].width);
	out_text(out, between);
	put_range(report, out, row);
	out_text(out, between);
	start = out->n;
	out_text_right(out, row->place->dso->short_name, columns[5].width);
	replace_separator(report, out, start);
}

static void put_headers(const struct report *report, struct out *out)
{
	const char *between = report->separator ? report->separator_text : "  ";

	out_text(out, "# ");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		out_printf(out, "%s%*s", i ? between : "", columns[i].width, columns[i].title);
	out_char(out, '\n');
	if (report->separator)
		return;
	out_text(out, "# ");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		out_text(out, i ? between : "");
		out_fill(out, '.', (size_t)columns[i].width);
	}
	out_text(out, "\n#\n");
}

void report_print_blocks(struct report *report, struct hist *hist)
{
	struct out *out = &report->out, line;
	struct block_rows rows;

	make_rows(report, hist, &rows);
	put_headers(report, out);
	out_init_memory(&line);
	vec_each(const struct block_row, row, &rows.rows) {
		if (percent(row->block->cycles_all, report->blocks->total_cycles) <
		    (double)report->o.percent_limit)
			continue;
		line.n = 0;
		put_row(report, &line, &rows, row);
		out_char(&line, 0);
		out_safe(out, line.buf);
		out_char(out, '\n');
	}
	out_done(&line);
	rows_done(&rows);
}

static void add_rows(struct report *report, struct table *table, const struct hist *hist)
{
	struct block_rows rows;

	make_rows(report, hist, &rows);
	vec_each(const struct block_row, row, &rows.rows) {
		const struct block *block = row->block;

		table_text(table, hist->event->name);
		table_text(table, row->place->sym->name);
		table_text(table, row->place->dso->long_name);
		table_number_if(table, block->has_start, block->start);
		table_number(table, block->end);
		table_text_or_none(table, block->has_start ? report_block_line(report, row->place,
									       block->start)
							   : NULL);
		table_text_or_none(table, report_block_line(report, row->place, block->end));
		table_number(table, block->cycles_all);
		table_number(table, block->n_all);
		table_number(table, block->cycles_least);
		table_number(table, block->cycles_most);
	}
	rows_done(&rows);
}

void report_table_of_blocks(struct report *report, const struct encoder *format)
{
	static const struct table_column of_blocks[] = {
		{.title = "event", .kind = TABLE_TEXT},
		{.title = "function", .kind = TABLE_TEXT},
		{.title = "file", .kind = TABLE_TEXT},
		{.title = "from", .kind = TABLE_COUNT},
		{.title = "to", .kind = TABLE_COUNT},
		{.title = "from_line", .kind = TABLE_TEXT},
		{.title = "to_line", .kind = TABLE_TEXT},
		{.title = "cycles", .kind = TABLE_COUNT},
		{.title = "times", .kind = TABLE_COUNT},
		{.title = "cycles_min", .kind = TABLE_COUNT},
		{.title = "cycles_max", .kind = TABLE_COUNT},
	};
	const struct recording *recording = report->run->recording;
	struct table table = {0};

	for (size_t i = 0; i < ARRAY_SIZE(of_blocks); i++)
		table_column(&table, of_blocks[i]);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct hist *hist = recording->events.v[i]->user;

		if (hist && hist->samples)
			add_rows(report, &table, hist);
	}
	table_print(&report->out, &table, format, NULL);
	table_done(&table);
}
