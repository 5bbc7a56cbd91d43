// SPDX-License-Identifier: GPL-2.0-or-later
// Instructions per cycle of functions, for the keys that show them.
#include "hist/report.h"
#include "base/err.h"

struct ipcs {
	struct annotator *annotator;
	struct map by_symbol; // -> index + 1
	VEC(struct function_ipc) all;
};

void report_ipc_free(struct report *report)
{
	if (!report->ipcs)
		return;
	annotator_free(report->ipcs->annotator);
	map_done(&report->ipcs->by_symbol);
	vec_done(&report->ipcs->all);
	free(report->ipcs);
	report->ipcs = NULL;
}

static struct function_ipc compute(struct report *report, const struct place *place)
{
	const struct annotate_options options = {.no_source = true};
	const struct annotate_request request = {.dso = place->dso,
						 .symbol = place->sym,
						 .blocks = report->blocks,
						 .n = 1};
	struct function_ipc ipc = {0};
	struct annotated lines;

	// Without cycles nobody needs the code.
	if (!report->blocks || !place->dso || !blocks_find(report->blocks, place->sym))
		return ipc;
	if (!report->ipcs->annotator)
		report->ipcs->annotator = annotator_new(report->run->sym, &options);
	if (annotator_lines(report->ipcs->annotator, &request, &lines) < 0) {
		err_clear();
		return ipc;
	}
	ipc.ipc = annotated_ipc(&lines);
	ipc.coverage = annotated_ipc_coverage(&lines);
	annotated_done(&lines);
	return ipc;
}

struct function_ipc report_ipc(struct report *report, const struct place *place)
{
	struct ipcs *ipcs;
	uint64_t *at;

	if (!report->ipcs)
		report->ipcs = NEW(struct ipcs);
	ipcs = report->ipcs;
	at = map_at(&ipcs->by_symbol, (uintptr_t)place->sym, NULL);
	if (!*at) {
		vec_push(&ipcs->all, compute(report, place));
		*at = ipcs->all.n;
	}
	return ipcs->all.v[*at - 1];
}
