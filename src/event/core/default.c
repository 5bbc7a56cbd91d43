// SPDX-License-Identifier: GPL-2.0-or-later
// The event of a command that was given none, and what takes the place of cycles.
#include "abi/attr.h"
#include "base/alloc.h"
#include "event/core/event_kind.h"
#include "sys/perf.h"

static int try_open(struct perf_event_attr *attr)
{
	struct perf_event_attr copy = *attr;

	copy.size = sizeof(copy);
	copy.disabled = 1;
	int fd = perf_open(&copy, PERF_OPEN_AT_SELF);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

// 0 with exclude_kernel as this user may have it, or what the kernel says.
static int opens_for_user(struct perf_event_attr *attr)
{
	int err = try_open(attr);

	if (err == -EACCES || err == -EPERM) {
		attr->exclude_kernel = 1;
		err = try_open(attr);
		if (err < 0) {
			attr->exclude_hv = 1;
			err = try_open(attr);
		}
	}
	return err;
}

static const struct event_kind *kind_named(const char *name)
{
	for (const struct event_kind *const *kind = event_kinds; *kind; kind++)
		if (!strcmp((*kind)->name, name))
			return *kind;
	return NULL;
}

int event_default(struct event_specs *into, const struct event_context *ctx, bool precise)
{
	static const struct event_context usual;
	struct event_parser p = {.text = "", .specs = into, .ctx = ctx ? ctx : &usual};
	struct perf_event_attr cycles = {.type = PERF_TYPE_HARDWARE};
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE};
	bool hardware = opens_for_user(&cycles) == 0;
	size_t first = into->events.n;

	if (hardware) {
		p.kind = kind_named("hardware");
		event_add_core(&p, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	} else {
		// A refusal is for the opening of the real thing to report.
		opens_for_user(&clock);
		p.kind = kind_named("software");
		event_add(&p, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	}
	const struct perf_event_attr *tried = hardware ? &cycles : &clock;
	for (size_t i = first; i < into->events.n; i++) {
		struct event_spec *spec = &into->events.v[i];
		const char *pmu = spec->pmu_name;

		spec->attr.exclude_guest = 0;
		spec->attr.exclude_kernel = tried->exclude_kernel;
		spec->attr.exclude_hv = tried->exclude_hv;
		spec->precise_max = precise && hardware;
		spec->name = arena_fmt(&into->arena, "%s%s%s%s%s", pmu ? pmu : "", pmu ? "/" : "",
				       hardware ? "cycles" : "cpu-clock", pmu ? "/" : "",
				       !tried->exclude_kernel ? ""
				       : pmu		      ? "u"
							      : ":u");
	}
	into->last = first;
	into->texts++;
	return 0;
}

bool event_fall_back(struct event_specs *specs, struct event_spec *spec)
{
	// The upper half of a hybrid machine's config names the PMU.
	uint32_t config = (uint32_t)spec->attr.config;
	char name[128];

	if (spec->attr.type != PERF_TYPE_HARDWARE || config != PERF_COUNT_HW_CPU_CYCLES)
		return false;
	spec->attr.type = PERF_TYPE_SOFTWARE;
	spec->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	spec->attr.precise_ip = 0;
	spec->pmu_name = NULL;
	spec->name = event_text(specs, str_of(attr_name(&spec->attr, name, sizeof(name))));
	spec->kind = kind_named("software");
	return true;
}

bool event_user_only(struct event_specs *specs, struct event_spec *spec)
{
	struct perf_event_attr *attr = &spec->attr;

	if (attr->exclude_kernel || attr->exclude_user || attr->type == PERF_TYPE_TRACEPOINT ||
	    spec->given & EVENT_EXCLUDE)
		return false;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	spec->name =
		arena_fmt(&specs->arena, "%s%su", spec->name, strchr(spec->name, ':') ? "" : ":");
	return true;
}
