// SPDX-License-Identifier: GPL-2.0-or-later
// The mean of numbers and how far it may be off, in one pass and without keeping them (Welford).
#pragma once

// Zero is: none yet.
struct spread {
	double n, mean, squares; // squares: sum of squared distances from the mean
};

static inline void spread_add(struct spread *spread, double value)
{
	double delta = value - spread->mean;

	spread->n++;
	spread->mean += delta / spread->n;
	spread->squares += delta * (value - spread->mean);
}

// As if what `from` has seen had been added.
static inline void spread_merge(struct spread *spread, const struct spread *from)
{
	double n = spread->n + from->n, delta = from->mean - spread->mean;

	if (from->n <= 0)
		return;
	spread->squares += from->squares + delta * delta * spread->n * from->n / n;
	spread->mean += delta * from->n / n;
	spread->n = n;
}

// The standard deviation of the mean; 0 below two numbers.
double spread_deviation(const struct spread *spread);
// The same in percent of the mean.
double spread_percent(const struct spread *spread);
