// SPDX-License-Identifier: GPL-2.0-or-later
// The kernel's own events (enum perf_sw_ids).
#include "base/alloc.h"
#include "event/core/event_kind.h"

struct name {
	const char *name, *alias;
	uint8_t config;
};

// include/uapi/linux/perf_event.h of Linux 5.13; older headers lack it
enum { CGROUP_SWITCHES = 11 };

// By name, as `list` shows them.
static const struct name names[] = {
	{"alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"bpf-output", NULL, PERF_COUNT_SW_BPF_OUTPUT},
	{"cgroup-switches", NULL, CGROUP_SWITCHES},
	{"context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-clock", NULL, PERF_COUNT_SW_CPU_CLOCK},
	{"cpu-migrations", "migrations", PERF_COUNT_SW_CPU_MIGRATIONS},
	{"dummy", NULL, PERF_COUNT_SW_DUMMY},
	{"emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS},
	{"major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS},
	{"task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK},
};

static int take(struct event_parser *p, struct str head)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!str_is(head, names[i].name) && !(names[i].alias && str_is(head, names[i].alias)))
			continue;
		struct event_spec *spec = event_add(p, PERF_TYPE_SOFTWARE, names[i].config);
		if (names[i].config == PERF_COUNT_SW_BPF_OUTPUT) {
			// A sample of it is nothing but its raw data.
			spec->attr.sample_period = 1;
			spec->attr.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME |
						 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
		}
		return 1;
	}
	return 0;
}

static int list(struct event_lister *lister)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = names[i].config};

		if (!lister->all && !event_opens(&attr))
			continue;
		lister->add(lister->arg, &(struct event_entry){
						 .name = names[i].name,
						 .alias = names[i].alias,
						 .label = "Software event",
					 });
	}
	return 0;
}

const struct event_kind event_kind_software = {
	.name = "software",
	.short_name = "sw",
	.rank = 2,
	.list_rank = 2,
	.take = take,
	.list = list,
};
