// SPDX-License-Identifier: GPL-2.0-or-later
// What the tool measures itself. Where an event must be opened nevertheless it is a dummy, as perf's.
#include "base/alloc.h"
#include "event/core/event_kind.h"

static const struct {
	const char *name;
	enum event_tool tool;
} names[] = {
	{"duration_time", EVENT_TOOL_DURATION},
	{"user_time", EVENT_TOOL_USER},
	{"system_time", EVENT_TOOL_SYSTEM},
};

static int take(struct event_parser *p, struct str head)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_is(head, names[i].name)) {
			struct event_spec *spec =
				event_add(p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
			spec->tool = names[i].tool;
			spec->unit = "ns";
			return 1;
		}
	}
	return 0;
}

static int list(struct event_lister *lister)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		lister->add(lister->arg,
			    &(struct event_entry){.name = names[i].name, .label = "Tool event"});
	return 0;
}

const struct event_kind event_kind_tool = {
	.name = "tool",
	.short_name = "tool",
	.rank = 3,
	.list_rank = 3,
	.take = take,
	.list = list,
};
