// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/top/top.h"

void top_put_rate(const struct top *top, struct out *out)
{
	const struct perf_event_attr *attr = &top->run->recording->events.v[0]->attr;

	if (attr->freq)
		out_printf(out, "%lluHz ", (unsigned long long)attr->sample_freq);
	else
		out_printf(out, "%llu ", (unsigned long long)attr->sample_period);
}

// As perf's header says it.
void top_put_target(const struct top *top, struct out *out)
{
	const struct target_options *target = &top->o.record.target;
	size_t cpus = top->target.cpus.n;

	if (target->pids)
		out_printf(out, " (target_pid: %s", target->pids);
	else if (target->tids)
		out_printf(out, " (target_tid: %s", target->tids);
	else if (target->users)
		out_printf(out, " (uid: %s", target->users);
	else
		out_text(out, " (all");
	if (target->cpus)
		out_printf(out, ", CPU%s: %s)", cpus > 1 ? "s" : "", target->cpus);
	else if (target->tids)
		out_char(out, ')');
	else
		out_printf(out, ", %zu CPU%s)", cpus, cpus > 1 ? "s" : "");
}
