// SPDX-License-Identifier: GPL-2.0-or-later
// Rows by a power of two, as histograms; one for each value of the key that divides them.
#include "encoder/core/histogram.h"
#include "prof/core/print.h"
#include "tool/core/tool.h"

static char *name_of(struct tool_run *run, size_t row)
{
	const struct tally *tally = run->prof->tally;
	struct out name;
	char *ret;

	if (!run->section)
		return NULL;
	out_init_memory(&name);
	if (run->section_name)
		run->section_name(run, row, run->section_key, &name);
	else if (run->keys[run->section_key].kind == TALLY_TEXT)
		out_text(&name, tally_text(tally, row, run->section_key));
	else
		out_u64(&name, tally_number(tally, row, run->section_key));
	out_char(&name, 0);
	ret = arena_strdup(&run->prof->arena, str_of(name.buf));
	out_done(&name);
	return ret;
}

static void put_text(struct prof *prof, const struct histogram *histogram)
{
	if (histogram->of) {
		out_printf(prof->out, "\n%s = ", histogram->of);
		out_safe(prof->out, histogram->is);
		out_char(prof->out, '\n');
	}
	histogram_text(prof->out, histogram);
}

int tool_show_histograms(struct tool_run *run, uint64_t now_ns)
{
	struct prof *prof = run->prof;
	const struct tally *tally = prof->tally;
	const struct tally_order order[] = {{run->section_key, true}, {0, true}};
	const bool is_text = !prof->print->format;
	auto_free uint32_t *rows = xcalloc(tally_rows(tally) + 1, sizeof(*rows));
	struct histogram histogram = {.unit = run->unit, .of = run->section};
	struct table table = {0};

	tally_sort(tally, order, ARRAY_SIZE(order), rows);
	histogram_columns(&table, &histogram);
	if (is_text)
		out_char(prof->out, '\n');
	for (size_t i = 0; i < tally_rows(tally); i++) {
		const bool is_last = i + 1 == tally_rows(tally);

		histogram.counts[tally_number(tally, rows[i], 0)] += tally_cell(tally, rows[i], 0);
		if (!is_last &&
		    (!run->section || tally_number(tally, rows[i], run->section_key) ==
					      tally_number(tally, rows[i + 1], run->section_key)))
			continue;
		histogram.is = name_of(run, rows[i]);
		if (is_text)
			put_text(prof, &histogram);
		else
			histogram_rows(&table, &histogram);
		memset(histogram.counts, 0, sizeof(histogram.counts));
	}
	if (!is_text)
		prof_put_table(prof, &table, now_ns);
	table_done(&table);
	return 0;
}
