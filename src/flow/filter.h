// SPDX-License-Identifier: GPL-2.0-or-later
// Which samples count: the -C --pid --tid --comms --dsos --symbols --time options that script, report and the
// pictures share.
#pragma once
#include "base/opt.h"
#include "data/recording.h"
#include "sym/sym.h"

struct filter_options { // borrowed texts as typed; NULL: not given
	const char *cpus, *pids, *tids, *comms, *dsos, *symbols, *times;
	bool times_relative; // times count from the recording's first sample (--reltime)
	uint32_t address_range; // bytes behind each address among `symbols` that count too (--addr-range)
};

struct filter;
// Parses all; -EINVAL with a sentence that names option and text, -EDOM where that is --time. --time takes perf's forms: a,b  a,  ,b  10%/1
// 10%-40%, several separated by spaces or commas as perf; percentages need the recording's first and last sample time.
int filter_new(struct filter **ret, const struct filter_options *options,
	       const struct recording *recording);
void filter_free(struct filter *filter);
bool filter_is_empty(const struct filter *filter);
// Cheap tests on the sample itself: cpu, pid, tid, time.
bool filter_sample(const struct filter *filter, const struct sample *sample);
bool filter_cpu(const struct filter *filter, uint32_t cpu);
bool filter_time(const struct filter *filter, uint64_t time_ns);
bool filter_comm(const struct filter *filter, const char *comm);
bool filter_dso(const struct filter *filter, const struct dso *dso); // dso may be NULL
// Does the event's name answer to what -e says: the name, a glob of it, or what is before a ':' in it ("cycles" of "cycles:u")?
bool filter_event_name(const char *name, const char *wanted);
// Likewise; each event is looked at once, the answer stays in event->user.
bool filter_event(struct event *event, const char *wanted);
// filter_sample, by the process that the task is known to belong to (a sample may tell another one), and, where
// --comm was given, by the task's name. The task may be NULL.
bool filter_sample_of(const struct filter *filter, const struct sample *sample,
		      const struct sym *sym, const struct task *task);
bool filter_symbol(const struct filter *filter, const struct symbol *symbol);
// dsos and symbols at once, and the addresses (0x...) among the symbols: of the sample's own location.
bool filter_location(const struct filter *filter, const struct location *location);
// Does any test need the location's symbol, or its dso?
bool filter_needs_symbol(const struct filter *filter);
bool filter_needs_dso(const struct filter *filter);
