// SPDX-License-Identifier: GPL-2.0-or-later
// mem:ADDR[/LEN][:rwx]: data and instruction breakpoints (perf_event_open(2), bp_type).
#include "base/num.h"
#include "event/core/event_kind.h"
#include <linux/hw_breakpoint.h>

// The letters of an access, or 0 when the text is something else (modifiers).
static int read_access(struct event_parser *p, uint32_t *ret)
{
	size_t from = p->pos;
	uint32_t type = 0;

	p->pos++;
	struct str text = event_until(p, ",/:{} ");
	for (size_t i = 0; i < text.n; i++) {
		uint32_t bit = text.p[i] == 'r'	  ? HW_BREAKPOINT_R
			       : text.p[i] == 'w' ? HW_BREAKPOINT_W
			       : text.p[i] == 'x' ? HW_BREAKPOINT_X
						  : 0;
		if (!bit) {
			p->pos = from;
			return 0;
		}
		if (type & bit)
			return event_fail(p, (struct str){text.p + i, 1},
					  "the access '%c' stands twice", text.p[i]);
		type |= bit;
	}
	if (!type) {
		p->pos = from;
		return 0;
	}
	*ret = type;
	return 1;
}

static int take(struct event_parser *p, struct str head)
{
	uint32_t type = HW_BREAKPOINT_R | HW_BREAKPOINT_W;
	uint64_t address, length = 0;
	int err = 0;

	if (!str_is(head, "mem") || event_peek(p) != ':')
		return 0;
	p->pos++;
	struct str text = event_until(p, ",/:{} ");
	if (num_parse_u64(text, &address) < 0)
		return event_fail(p, text.n ? text : head,
				  "behind mem: an address should stand, as 0x...");
	size_t name_end = p->pos;
	if (event_peek(p) == '/') {
		p->pos++;
		text = event_until(p, ",/:{} ");
		if (num_parse_u64(text, &length) < 0 || !length || length > 8)
			return event_fail(p, text.n ? text : head,
					  "the length of a breakpoint is 1 to 8 bytes");
	}
	if (event_peek(p) == ':') {
		err = read_access(p, &type);
		if (err < 0)
			return err;
	}
	struct event_spec *spec = event_add(p, PERF_TYPE_BREAKPOINT, 0);
	spec->attr.bp_addr = address;
	spec->attr.bp_type = type;
	if (!length)
		length = type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
	spec->attr.bp_len = length;
	spec->attr.sample_period = 1;
	// perf's name of mem:ADDR/LEN:rw ends before the slash.
	if (p->text[name_end] == '/')
		spec->name = event_text(p->specs, event_where(p, p->item_at, name_end - p->item_at));
	return 1;
}

static int list(struct event_lister *lister)
{
	lister->add(lister->arg, &(struct event_entry){
					 .name = "mem:<addr>[/len][:access]",
					 .label = "Hardware breakpoint",
					 .is_form = true,
				 });
	return 0;
}

const struct event_kind event_kind_breakpoint = {
	.name = "breakpoint",
	.short_name = "mem",
	.rank = 0,
	.list_rank = 7,
	.take = take,
	.list = list,
	.no_config_terms = true,
};
