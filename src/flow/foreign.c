// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/foreign.h"
#include <stdio.h>

enum { MOST_NAMES = 1 << 16 };

void foreign_done(struct foreign *foreign)
{
	map_done(&foreign->tids);
	vec_done(&foreign->names);
}

void foreign_set_name(struct foreign *foreign, uint32_t tid, const char text[16])
{
	uint64_t *at = map_find(&foreign->tids, tid);

	if (!at) {
		if (foreign->names.n == MOST_NAMES) {
			map_clear(&foreign->tids);
			vec_clear(&foreign->names);
		}
		at = map_at(&foreign->tids, tid, NULL);
		*at = foreign->names.n;
		vec_add(&foreign->names);
	}
	memcpy(foreign->names.v[*at].text, text, sizeof(foreign->names.v[*at].text) - 1);
}

const char *foreign_name(const struct foreign *foreign, uint32_t tid, char ret[16])
{
	const uint64_t *at = map_find(&foreign->tids, tid);

	if (at)
		return foreign->names.v[*at].text;
	snprintf(ret, 16, ":%u", tid);
	return ret;
}
