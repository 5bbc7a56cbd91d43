// SPDX-License-Identifier: GPL-2.0-or-later
// The processor's own names by libpfm4: "INST_RETIRED:ANY_P", "skl::MEM_LOAD_RETIRED:L3_MISS".
#include "base/alloc.h"
#include "base/err.h"
#include "base/library.h"
#include "event/core/event_kind.h"
#ifdef HAVE_LIBPFM
// Its perf_event.h is a copy of the kernel's and must not meet it.
#define __PERFMON_PERF_EVENT_H__ 1
#include <perfmon/pfmlib.h>

// PFM_OS_PERF_EVENT's argument, see libpfm's pfmlib_perf_event.h
struct encode_arg {
	struct perf_event_attr *attr;
	char **fstr;
	size_t size;
	int idx;
	int cpu;
	int flags;
	int pad0;
};

struct pfm {
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_get_pmu_info) *pmu_info;
	__typeof__(pfm_get_event_next) *event_next;
	__typeof__(pfm_get_event_info) *event_info;
	__typeof__(pfm_strerror) *error_text;
};

static bool ready(struct pfm *ret, const struct event_context *ctx)
{
	static const char *const names[] = {"pfm_initialize",	  "pfm_get_os_event_encoding",
					    "pfm_get_pmu_info",	  "pfm_get_event_next",
					    "pfm_get_event_info", "pfm_strerror"};

	_Static_assert(sizeof(*ret) == sizeof(names), "one pointer a name");
	_Static_assert(PFM_MAJ_VERSION(LIBPFM_VERSION) == 4, "the file's name below");
	// It looks at the real machine only.
	return !(ctx->root && *ctx->root) && !ctx->no_search &&
	       library_load("libpfm.so.4", names, ARRAY_SIZE(names), ret) &&
	       ret->initialize() == PFM_SUCCESS;
}

static int encode(const struct pfm *pfm, struct event_parser *p, struct str name)
{
	struct perf_event_attr attr = {.size = sizeof(attr)};
	auto_free char *text = str_dup(name);
	struct encode_arg arg = {.attr = &attr, .size = sizeof(arg)};
	int err = pfm->encode(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg);

	if (err != PFM_SUCCESS)
		return err;
	struct event_spec *spec = event_add(p, attr.type, attr.config);
	spec->attr.config1 = attr.config1;
	spec->attr.config2 = attr.config2;
	spec->attr.exclude_user = attr.exclude_user;
	spec->attr.exclude_kernel = attr.exclude_kernel;
	spec->attr.exclude_hv = attr.exclude_hv;
	spec->name = event_text(p->specs, name);
	return PFM_SUCCESS;
}

static int take(struct event_parser *p, struct str head)
{
	// Its names are words with ':' in them: all up to what else could follow an event.
	event_until(p, ",/{} \t\n");
	struct str name = {head.p, (size_t)(p->text + p->pos - head.p)};

	struct pfm pfm;

	return ready(&pfm, p->ctx) && encode(&pfm, p, name) == PFM_SUCCESS;
}

static int parse_list(struct event_parser *p)
{
	size_t group = SIZE_MAX;
	struct pfm pfm;

	if (!ready(&pfm, p->ctx))
		return fail(EOPNOTSUPP, "libpfm4 can't be used here");
	for (;;) {
		if (event_peek(p) == '{') {
			group = p->specs->events.n;
			p->pos++;
		}
		struct str name = event_until(p, ",{}");
		p->item = p->specs->events.n;
		p->item_at = (size_t)(name.p - p->text);
		int err = encode(&pfm, p, name);
		if (err != PFM_SUCCESS)
			return event_fail_absent(p, name, "libpfm4 does not know '%.*s': %s",
						 STR_FMT(name), pfm.error_text(err));
		if (group != SIZE_MAX) {
			p->specs->events.v[p->item].leader = (uint32_t)group;
			p->specs->events.v[p->item].group_n = 0;
			p->specs->events.v[group].group_n = (uint32_t)(p->item + 1 - group);
		}
		if (event_peek(p) == '}') {
			group = SIZE_MAX;
			p->pos++;
		}
		if (event_peek(p) != ',')
			break;
		p->pos++;
	}
	if (p->pos < p->n)
		return event_fail(p, event_where(p, p->pos, 1), "a ',' should stand here");
	return 0;
}

static int list(struct event_lister *lister)
{
	pfm_event_info_t event;
	pfm_pmu_info_t pmu;
	struct pfm pfm;
	int unit;

	if (!ready(&pfm, lister->ctx))
		return 0;
	pfm_for_all_pmus(unit)
	{
		memset(&pmu, 0, sizeof(pmu));
		pmu.size = sizeof(pmu);
		if (pfm.pmu_info(unit, &pmu) != PFM_SUCCESS || !pmu.is_present ||
		    !strcmp(pmu.name, "perf") || !strcmp(pmu.name, "perf_raw"))
			continue;
		for (int i = pmu.first_event; i >= 0; i = pfm.event_next(i)) {
			memset(&event, 0, sizeof(event));
			event.size = sizeof(event);
			if (pfm.event_info(i, PFM_OS_PERF_EVENT, &event) != PFM_SUCCESS)
				continue;
			lister->add(lister->arg, &(struct event_entry){
							 .name = event.name,
							 .label = "Processor event",
							 .description = event.desc,
							 .pmu = pmu.name,
						 });
		}
	}
	return 0;
}
#endif

const struct event_kind event_kind_pfm = {
	.name = "pfm",
	.short_name = "pfm",
	.rank = EVENT_RANKS - 1,
	.list_rank = 10,
#ifdef HAVE_LIBPFM
	.take = take,
	.parse_list = parse_list,
	.list = list,
#endif
};
