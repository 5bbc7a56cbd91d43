// SPDX-License-Identifier: GPL-2.0-or-later
// The generalized hardware events (enum perf_hw_id).
#include "base/alloc.h"
#include "event/core/event_kind.h"

struct name {
	const char *name, *alias;
	uint8_t config;
};

// By name, as `list` shows them.
static const struct name names[] = {
	{"branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES},
	{"cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES},
	{"cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS},
	{"ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"stalled-cycles-backend", "idle-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"stalled-cycles-frontend", "idle-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
};

static int take(struct event_parser *p, struct str head)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_is(head, names[i].name) || (names[i].alias && str_is(head, names[i].alias))) {
			event_add_core(p, PERF_TYPE_HARDWARE, names[i].config);
			return 1;
		}
	}
	return 0;
}

static int list(struct event_lister *lister)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE, .config = names[i].config};

		if (!lister->all && !event_opens(&attr))
			continue;
		lister->add(lister->arg, &(struct event_entry){
						 .name = names[i].name,
						 .alias = names[i].alias,
						 .label = "Hardware event",
					 });
	}
	return 0;
}

const struct event_kind event_kind_hardware = {
	.name = "hardware",
	.short_name = "hw",
	.rank = 1,
	.list_rank = 1,
	.take = take,
	.list = list,
};
