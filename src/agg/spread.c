// SPDX-License-Identifier: GPL-2.0-or-later
#include "agg/spread.h"
#include <math.h>

double spread_deviation(const struct spread *spread)
{
	if (spread->n < 2)
		return 0;
	return sqrt(spread->squares / (spread->n - 1) / spread->n);
}

double spread_percent(const struct spread *spread)
{
	return spread->mean != 0 ? 100 * spread_deviation(spread) / spread->mean : 0;
}
