// SPDX-License-Identifier: GPL-2.0-or-later
// bcc, src/python/bcc/table.py: _print_log2_hist, _stars.
#include "encoder/core/histogram.h"
#include "base/alloc.h"

enum {
	STARS = 40,
	NARROW_ROWS = 32
}; // numbers above 2^32 have wider columns and half as many stars

static void put_stars(struct out *out, uint64_t count, uint64_t most, unsigned width)
{
	const unsigned n = (unsigned)((unsigned __int128)count * width / most);

	for (unsigned i = 0; i < n; i++)
		out_char(out, '*');
	out_fill(out, ' ', width - n);
}

void histogram_text(struct out *out, const struct histogram *histogram)
{
	const int last = histogram_last(histogram);
	const bool wide = last >= NARROW_ROWS;
	const int digits = wide ? 20 : 10;
	const unsigned width = wide ? STARS / 2 : STARS;
	uint64_t most = 0;

	if (last < 0)
		return;
	for (int i = 0; i <= last; i++)
		most = MAX(most, histogram->counts[i]);
	out_printf(out, "%*s%-*s : count     distribution\n", wide ? 15 : 5, "", wide ? 29 : 19,
		   histogram->unit);
	for (int i = 0; i <= last; i++) {
		out_printf(out, "%*llu -> %-*llu : %-8llu |", digits,
			   (unsigned long long)histogram_from((unsigned)i), digits,
			   (unsigned long long)histogram_to((unsigned)i),
			   (unsigned long long)histogram->counts[i]);
		put_stars(out, histogram->counts[i], most, width);
		out_text(out, "|\n");
	}
}
