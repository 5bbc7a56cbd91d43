// SPDX-License-Identifier: GPL-2.0-or-later
// Rows as a table.
#include "prof/core/print.h"
#include "tool/core/tool.h"

int tool_show_table(struct tool_run *run, uint64_t now_ns, struct tally_view view)
{
	struct prof *prof = run->prof;
	struct table table = {.gap = run->tool->gap};

	view.arg = run;
	tally_table(prof->tally, &view, &table);
	if (prof->interval_ns)
		prof_put_table(prof, &table, now_ns);
	else
		table_print(prof->tables, &table, prof->print->format, NULL);
	table_done(&table);
	return 0;
}
