// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/probe_line.h"
#include "base/num.h"

// FILE:0xOFFSET(SEMAPHORE)
static bool parse_file(struct str place, struct probe_line *ret)
{
	const char *colon = memrchr(place.p, ':', place.n);
	struct str at;

	if (!colon)
		return false;
	ret->path = (struct str){place.p, (size_t)(colon - place.p)};
	at = (struct str){colon + 1, place.n - ret->path.n - 1};
	return num_parse_hex(str_cut(&at, '('), &ret->at) == 0;
}

// MODULE:SYMBOL+OFFSET
static bool parse_symbol(struct str place, struct probe_line *ret)
{
	ret->path = str_cut(&place, '+');
	return !place.p || num_parse_u64(place, &ret->at) == 0;
}

bool probe_line_parse(struct str line, bool is_uprobe, struct probe_line *ret)
{
	struct probe_line probe = {.is_uprobe = is_uprobe};
	struct str name = str_cut(&line, ' '), place = str_cut(&line, ' ');
	struct str kind = str_cut(&name, ':'); // "r" may have a number behind it

	if (!str_starts(kind, "p") && !str_starts(kind, "r"))
		return false;
	probe.is_return = kind.p[0] == 'r';
	probe.group = str_cut(&name, '/');
	probe.event = name;
	probe.args = line;
	if (!probe.group.n || !probe.event.n || !place.n ||
	    !(is_uprobe ? parse_file(place, &probe) : parse_symbol(place, &probe)))
		return false;
	*ret = probe;
	return true;
}
