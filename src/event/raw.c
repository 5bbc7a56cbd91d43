// SPDX-License-Identifier: GPL-2.0-or-later
// rNNN: config of the CPU's PMU in hex; TYPE:CONFIG: both as numbers.
#include "base/num.h"
#include "event/core/event_kind.h"

static int take_number(struct event_parser *p, struct str head)
{
	uint64_t type, config;

	if (event_peek(p) != ':' || num_parse_u64(head, &type) < 0)
		return 0;
	p->pos++;
	struct str text = event_until(p, ",/:{} ");
	if (type > UINT32_MAX)
		return event_fail(p, head, "the type of an event has 32 bits");
	if (num_parse_u64(text, &config) < 0)
		return event_fail(p, text.n ? text : head,
				  "behind TYPE: the config should stand, a number");
	event_add(p, (uint32_t)type, config);
	return 1;
}

static int take(struct event_parser *p, struct str head)
{
	struct str digits = {head.p + 1, head.n - 1};
	uint64_t config;

	if (head.p[0] >= '0' && head.p[0] <= '9')
		return take_number(p, head);
	// "r0x..." is none
	if (head.p[0] != 'r' || !digits.n || (digits.n > 1 && (digits.p[1] | ' ') == 'x'))
		return 0;
	int err = num_parse_hex(digits, &config);
	if (err == -ERANGE)
		return event_fail(p, head, "a raw event has at most 64 bits");
	if (err < 0)
		return 0;
	event_add(p, PERF_TYPE_RAW, config);
	return 1;
}

static int list(struct event_lister *lister)
{
	lister->add(lister->arg, &(struct event_entry){
					 .name = "rNNN",
					 .label = "Raw hardware event descriptor",
					 .is_form = true,
				 });
	lister->add(lister->arg, &(struct event_entry){
					 .name = "cpu/t1=v1[,t2=v2,t3 ...]/modifier",
					 .label = "Raw hardware event descriptor",
					 .description = "the terms are the files in "
							"/sys/bus/event_source/devices/cpu/format",
					 .is_form = true,
				 });
	return 0;
}

const struct event_kind event_kind_raw = {
	.name = "raw",
	.short_name = "raw",
	.rank = 5,
	.list_rank = 6,
	.take = take,
	.list = list,
};
