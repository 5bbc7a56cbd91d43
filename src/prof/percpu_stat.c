// SPDX-License-Identifier: GPL-2.0-or-later
// Counts of what a system does, CPU by CPU: events chosen by hand.
#include "base/err.h"
#include "base/search.h"
#include "prof/core/profiler.h"
#include <stdio.h>

struct percpu_row {
	uint32_t cpu;
	uint64_t counts[32];
};

struct percpu_stat_options {
	struct prof_options common;
	bool syscalls;
};

struct percpu_stat {
	const struct percpu_stat_options *options;
	VEC(struct percpu_row) rows; // by cpu
	const char *titles[32];
	uint32_t n;
};

struct chosen {
	const char *event, *title;
	bool syscalls;
};

static const struct chosen chosen[] = {
	{"context-switches", "csw"},
	{"cpu-migrations", "cpu-mig"},
	{"minor-faults", "minflt"},
	{"major-faults", "majflt"},
	{"irq:irq_handler_entry", "hardirq"},
	{"irq:softirq_entry", "softirq"},
	{"timer:hrtimer_expire_entry", "hrtimer"},
	{"workqueue:workqueue_execute_start", "workqueue"},
	{"kvm:kvm_exit", "KVM exit"},
	{"net:netif_receive_skb", "NET recv"},
	{"net:net_dev_xmit", "xmit"},
	{"net:napi_gro_receive_entry", "gro"},
	{"kmem:mm_page_alloc", "MM alloc"},
	{"compaction:mm_compaction_migratepages", "compact"},
	{"vmscan:mm_vmscan_direct_reclaim_begin", "reclaim"},
	{"migrate:mm_migrate_pages", "migrate"},
	{"filemap:mm_filemap_add_to_page_cache", "PAGE cache"},
	{"writeback:wbc_writepage", "WB pages"},
	{"power:cpu_idle", "idle"},
	{"raw_syscalls:sys_enter", "syscalls", .syscalls = true},
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("What to count"),
	PROF_FLAG(0, "syscalls", offsetof(struct percpu_stat_options, syscalls),
		  "system calls as well"),
	PROF_OPTIONS_NO_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof percpu-stat -C 0-1", "what the first two CPUs do, every second",
	 "sonde prof percpu-stat -C 0 -i 100 -- sleep 0.2 >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct percpu_stat *state = PROF_STATE(struct percpu_stat, prof);

	state->options = PROF_OPTIONS(struct percpu_stat_options, prof);
	for (size_t i = 0; i < ARRAY_SIZE(chosen); i++) {
		int err;

		if (chosen[i].syscalls && !state->options->syscalls)
			continue;
		err = prof_add(prof, chosen[i].event, NULL, NULL);
		// A kernel without modules for it doesn't do it.
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		state->titles[state->n++] = chosen[i].title;
	}
	err_clear();
	if (!state->n && !prof->feed->is_live)
		return fail(ENOENT,
			    "%s has none of the events that percpu-stat counts: context-switches, irq:irq_handler_entry, ...; "
			    "sonde evlist -i %s lists what it has",
			    prof->options->from, prof->options->from);
	return state->n ? 0
			: fail(ENOENT,
			       "none of the events of percpu-stat is there; 'sonde doctor' says why");
}

static int count(struct prof *prof, struct prof_event *event, uint32_t cpu, uint64_t delta)
{
	struct percpu_stat *state = PROF_STATE(struct percpu_stat, prof);
	size_t at = SEARCH(state->rows.n, i, state->rows.v[i].cpu < cpu);

	if (at == state->rows.n || state->rows.v[at].cpu != cpu) {
		vec_push(&state->rows, (struct percpu_row){0});
		memmove(&state->rows.v[at + 1], &state->rows.v[at],
			(state->rows.n - 1 - at) * sizeof(struct percpu_row));
		state->rows.v[at] = (struct percpu_row){.cpu = cpu};
	}
	state->rows.v[at].counts[event->index] += delta;
	return 0;
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct percpu_stat *state = PROF_STATE(struct percpu_stat, prof);
	struct table table = {0};
	uint64_t sums[32] = {0};
	char name[16];

	table_column(&table, (struct table_column){feed_has_tasks(prof->feed) ? "[TID]" : "[CPU]",
						   "cpu", TABLE_TEXT, 5, .left = true});
	for (uint32_t i = 0; i < state->n; i++)
		table_column(&table, (struct table_column){state->titles[i], NULL, TABLE_COUNT, 6});
	for (size_t i = 0; i < state->rows.n; i++) {
		struct percpu_row *row = &state->rows.v[i];

		snprintf(name, sizeof(name), "[%03u]", row->cpu);
		table_text(&table, name);
		for (uint32_t k = 0; k < state->n; k++) {
			table_number(&table, row->counts[k]);
			sums[k] += row->counts[k];
			row->counts[k] = 0;
		}
	}
	table_text(&table, "[ALL]");
	for (uint32_t k = 0; k < state->n; k++)
		table_number(&table, sums[k]);
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	return 0;
}

static void done(struct prof *prof)
{
	vec_done(&PROF_STATE(struct percpu_stat, prof)->rows);
}

const struct profiler profiler_percpu_stat = {
	.name = "percpu-stat",
	.summary = "What a system does, CPU by CPU: counts of chosen events",
	.usage = "sonde prof percpu-stat [--syscalls] [options] [-- COMMAND]",
	.description =
		"Context switches, faults, interrupts, timers, packets, pages and the like; what this kernel does not have is left out. The "
		"events are only counted.",
	.opts = options,
	.size = sizeof(struct percpu_stat_options),
	.state_size = sizeof(struct percpu_stat),
	.examples = examples,
	.events = PROF_EVENTS_NONE,
	.counts = true,
	.setup = setup,
	.count = count,
	.interval = interval,
	.done = done,
};
