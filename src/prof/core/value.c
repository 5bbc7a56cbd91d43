// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/value.h"
#include "base/err.h"
#include "flow/event_fields.h"
#include "prof/core/profiler.h"

static void note_asks(struct prof *prof, const struct expr *expr)
{
	prof->needs_symbols |= expr_asks_symbols(expr);
	prof->needs_tasks |= expr_asks_tasks(expr);
}

int prof_compile(struct expr **ret, struct prof *prof, const struct prof_event *event,
		 const char *text)
{
	const struct event *recorded = event->feed->event;
	struct expr_fields fields = event_fields(recorded);
	int err = expr_compile(ret, text, &fields);

	if (err)
		return fail_context(err, "%s", recorded->name);
	note_asks(prof, *ret);
	return 0;
}

int prof_value_init(struct event_value *ret, struct prof *prof, const struct prof_event *event,
		    const char *text)
{
	int err = event_value_init(ret, prof->machine, event->feed->event, text);

	if (!err && ret->expr)
		note_asks(prof, ret->expr);
	return err;
}
