// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/event_switch.h"
#include "base/err.h"

static int find(const struct recording *recording, const char *name, const char *option,
		const struct event **ret)
{
	if (!name)
		return 0;
	for (size_t i = 0; i < recording->events.n; i++) {
		if (!strcmp(recording->events.v[i]->name, name)) {
			*ret = recording->events.v[i];
			return 0;
		}
	}
	return fail(ENOENT, "--%s: %s has no event '%s'; sonde evlist -i %s lists those that it has",
		    option, recording->path, name, recording->path);
}

int event_switch_init(struct event_switch *ret, const struct event_switch_options *options,
		      const struct recording *recording)
{
	struct event_switch made = {.show = options->show};
	int err = find(recording, options->on, "switch-on", &made.on);

	if (!err)
		err = find(recording, options->off, "switch-off", &made.off);
	if (err)
		return err;
	made.is_off = made.on != NULL;
	*ret = made;
	return 0;
}

bool event_switch_passes(struct event_switch *event_switch, const struct event *event)
{
	if (event_switch->on && event_switch->is_off) {
		if (event_switch->on != event)
			return false;
		event_switch->is_off = false;
		return event_switch->show;
	}
	if (event_switch->off && !event_switch->is_off && event_switch->off == event) {
		event_switch->is_off = true;
		return event_switch->show;
	}
	return true;
}
