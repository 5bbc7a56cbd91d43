// SPDX-License-Identifier: GPL-2.0-or-later
// -D --bootconfig: definitions as the kernel reads them when it boots. Format: Documentation/trace/boottime-trace.rst.
#include "base/err.h"
#include "base/log.h"
#include "cmd/probe/show.h"

// Without name: it stands in the key.
static void put_value(struct out *out, const struct probe_event *event)
{
	out_printf(out, "'%s+%llu%s", event->symbol, (unsigned long long)event->at,
		   event->is_return ? "%return" : "");
	vec_each(struct probe_value, value, &event->values) {
		out_char(out, ' ');
		probe_put_value(out, value);
	}
	out_char(out, '\'');
}

int probe_put_bootconfig(struct out *out, const struct probe_request *request,
			 const struct probe_events *events)
{
	if (request->group)
		warn("the group %s is left out: the kernel has its own for what is defined at boot",
		     request->group);
	for (size_t i = 0; i < events->v.n; i++) {
		const char *name = events->v.v[i].event;
		size_t before = 0;

		if (events->v.v[i].path)
			return fail(ENOTSUP, "--bootconfig is for probes of the kernel: there are no "
					     "programs yet when it boots");
		while (strcmp(events->v.v[before].event, name) != 0)
			before++;
		// A key may stand there once: all of one name are values of it.
		if (before < i)
			continue;
		out_printf(out, "ftrace.event.kprobes.%s.probe = ", name);
		for (size_t k = i; k < events->v.n; k++) {
			if (strcmp(events->v.v[k].event, name) != 0)
				continue;
			out_text(out, k > i ? ", " : "");
			put_value(out, &events->v.v[k]);
		}
		out_char(out, '\n');
	}
	return 0;
}
