// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/time.h"
#include "base/num.h"
#include <errno.h>

uint64_t time_now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

int time_parse_sec(struct str s, uint64_t *ret_ns)
{
	struct str fraction = s, whole = str_cut(&fraction, '.');
	uint64_t sec, ns = 0;

	// num_parse_u64 would take leading zeros as octal.
	while (whole.n > 1 && whole.p[0] == '0')
		whole = (struct str){whole.p + 1, whole.n - 1};
	int err = num_parse_u64(whole, &sec);
	if (err)
		return err;
	if (fraction.p) {
		if (fraction.n > 9)
			return -EINVAL;
		for (size_t i = 0; i < 9; i++) {
			char c = i < fraction.n ? fraction.p[i] : '0';
			if (c < '0' || c > '9')
				return -EINVAL;
			ns = ns * 10 + (uint64_t)(c - '0');
		}
	}
	if (sec > UINT64_MAX / NSEC_PER_SEC - 1)
		return -ERANGE;
	*ret_ns = sec * NSEC_PER_SEC + ns;
	return 0;
}
