// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/pairing.h"
#include "base/log.h"
#include "prof/core/print.h"

bool prof_is_of_cpu(const struct prof_event *event)
{
	static const char *const systems[] = {"irq",   "irq_vectors", "irq_matrix", "ipi", "nmi",
					      "timer", "power",	      "sched",	    "msr", "napi",
					      "rcu",   "hyperv",      "xdp"};
	const char *system = event->feed->system;

	for (size_t i = 0; system && i < ARRAY_SIZE(systems); i++)
		if (!strcmp(system, systems[i]))
			return true;
	return false;
}

bool prof_delay(struct prof *prof, uint64_t first_ns, uint64_t second_ns, uint64_t *ret_ns)
{
	if (second_ns < first_ns) {
		prof->backward_n++;
		return false;
	}
	*ret_ns = second_ns - first_ns;
	return true;
}

void prof_put_backward(struct prof *prof, uint64_t now_ns)
{
	uint64_t n = prof->backward_n;
	struct out line;

	prof->backward_n = 0;
	if (!n || prof->options->quiet)
		return;
	out_init_memory(&line);
	out_printf(&line, "%s: %llu pairs ran backward in time; they are no delays and are left out",
		   prof->profiler->name, (unsigned long long)n);
	out_char(&line, 0);
	if (prof->print->format == TABLE_FORMAT_TEXT) {
		prof_put_time(prof, now_ns);
		out_printf(prof->out, " %s\n", line.buf);
	} else {
		warn("%s", line.buf);
	}
	out_done(&line);
}
