// SPDX-License-Identifier: GPL-2.0-or-later
// Where a basic block lies, as text.
#include "base/log.h"
#include "cmd/core/report/report.h"
#include "hist/keys.h"

const char *report_block_line(struct report *report, const struct place *place, uint64_t offset)
{
	struct place at = *place;

	at.addr = place->sym->start + offset;
	return report_known_srcline(report, &at);
}

void report_put_block_range(struct report *report, const struct place *place,
			    const struct block *block, struct out *out)
{
	const char *from = report_block_line(report, place, block->start),
		   *to = report_block_line(report, place, block->end), *name = place->sym->name;

	if (report->blocks->no_starts && to)
		out_printf(out, "[?? -> %s]", to);
	else if (report->blocks->no_starts)
		out_printf(out, "[?? -> %.200s+0x%llx]", name, (unsigned long long)block->end);
	else if (from && to)
		out_printf(out, "[%s -> %s]", from, to);
	else
		out_printf(out, "[%.200s+0x%llx -> %.200s+0x%llx]", name,
			   (unsigned long long)block->start, name, (unsigned long long)block->end);
}

// In texts a separator is a dot.

void report_say_no_cycles(const struct report *report)
{
	if (report->blocks && !report->blocks->total_cycles)
		warn("the branch stacks of %s have no cycles, so it has no blocks: a processor that counts them is needed",
		     report->run->recording->path);
}
