// SPDX-License-Identifier: GPL-2.0-or-later
// Another system whose events come to this one (pull=): its tasks have the numbers of other tasks here, so their names are kept apart.
#pragma once
#include "base/map.h"
#include "base/vec.h"

struct foreign {
	const char *where; // as typed
	int64_t shift_ns;  // of its own clock: what was added to make times of this run
	struct map tids;   // -> place in names
	VEC(struct foreign_name { char text[16]; }) names;
};

void foreign_done(struct foreign *foreign);
// A bounded number is remembered. Some 10 ns.
void foreign_set_name(struct foreign *foreign, uint32_t tid, const char text[16]);
// ":1234" of a thread that never had one; valid until the next call of either.
const char *foreign_name(const struct foreign *foreign, uint32_t tid, char ret[16]);
