// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "event/core/internal.h"

static const char letters[] = "ukhGHpPSDIWebR";

int event_read_modifiers(struct event_parser *p, struct str text, struct event_modifiers *ret)
{
	struct event_modifiers mods = {0};

	if (!text.n)
		return event_fail(p, (struct str){text.p, 1},
				  "a modifier should stand here (u k h G H p P S D W e I)");
	for (size_t i = 0; i < text.n; i++) {
		struct str here = {text.p + i, 1};
		const char *known = strchr(letters, text.p[i]);

		if (!text.p[i] || !known)
			return event_fail(p, here,
					  "there is no modifier '%c' (there are u k h G H p P S D W e I b)",
					  text.p[i]);
		if (text.p[i] != 'p' && memchr(text.p, text.p[i], i))
			return event_fail(p, here, "the modifier '%c' stands twice", text.p[i]);
		switch (text.p[i]) {
		case 'u':
			mods.user = true;
			break;
		case 'k':
			mods.kernel = true;
			break;
		case 'h':
			mods.hypervisor = true;
			break;
		case 'G':
			mods.guest = true;
			break;
		case 'H':
			mods.host = true;
			break;
		case 'I':
			mods.idle = true;
			break;
		case 'D':
			mods.pinned = true;
			break;
		case 'e':
			mods.exclusive = true;
			break;
		case 'W':
			mods.weak = true;
			break;
		case 'S':
			mods.read = true;
			break;
		case 'P':
			mods.precise_max = true;
			break;
		case 'b':
			mods.bpf = true;
			break;
		case 'R':
			mods.retire = true;
			break;
		case 'p':
			if (++mods.precise > 3)
				return event_fail(p, here,
						  "more than three p: ppp is the highest precision");
			break;
		}
	}
	*ret = mods;
	return 0;
}

void event_apply_modifiers(const struct event_modifiers *mods, struct event_spec *spec, bool added,
			   bool is_leader)
{
	struct perf_event_attr *attr = &spec->attr;
	// perf starts an event's own modifiers from nothing: "cpu-clock:k" counts guests, "cpu-clock" and
	// "cpu-clock:u" don't. A group's come on top of the event's.
	bool guest_chosen = added && (spec->given & EVENT_GUEST);
	bool ring = mods->user || mods->kernel || mods->hypervisor;

	if (!added)
		attr->exclude_guest = 0;
	if (ring) {
		if (!added || !(attr->exclude_user | attr->exclude_kernel | attr->exclude_hv))
			attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
		if (mods->user)
			attr->exclude_user = 0;
		if (mods->kernel)
			attr->exclude_kernel = 0;
		if (mods->hypervisor)
			attr->exclude_hv = 0;
	}
	if ((mods->user || mods->precise) && !guest_chosen)
		attr->exclude_guest = 1;
	if (mods->guest || mods->host) {
		if (!guest_chosen)
			attr->exclude_guest = attr->exclude_host = 1;
		if (mods->guest)
			attr->exclude_guest = 0;
		if (mods->host)
			attr->exclude_host = 0;
	}
	if (mods->guest || mods->host)
		spec->given |= EVENT_GUEST;
	if (ring || mods->guest || mods->host)
		spec->given |= EVENT_EXCLUDE;
	if (mods->precise || mods->precise_max) {
		attr->precise_ip = mods->precise & 3;
		spec->precise_max = mods->precise_max;
		spec->given |= EVENT_PRECISE;
	}
	attr->exclude_idle |= mods->idle;
	if (is_leader) {
		attr->pinned |= mods->pinned;
		attr->exclusive |= mods->exclusive;
	}
	spec->weak |= mods->weak;
	spec->group_read |= mods->read;
	spec->bpf_counter |= mods->bpf;
	spec->metric_retire |= mods->retire;
}
