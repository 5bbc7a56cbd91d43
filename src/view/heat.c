// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/heat.h"
#include "base/err.h"
#include <math.h>

enum { CELLS_MAX = 4000000, COLUMNS_DEFAULT = 100, ROWS_DEFAULT = 50 };

void heat_init(struct heat *heat)
{
	*heat = (struct heat){.first_time = INFINITY,
			      .last_time = -INFINITY,
			      .lowest = INFINITY,
			      .highest = -INFINITY};
}

void heat_done(struct heat *heat)
{
	vec_done(&heat->points);
	free(heat->cells);
	heat->cells = NULL;
}

void heat_add(struct heat *heat, double time, double value, double weight)
{
	if (!isfinite(time) || !isfinite(value))
		return;
	vec_push(&heat->points, (struct heat_point){time, value, (float)weight});
	heat->first_time = fmin(heat->first_time, time);
	heat->last_time = fmax(heat->last_time, time);
	heat->lowest = fmin(heat->lowest, value);
	heat->highest = fmax(heat->highest, value);
}

// The next of 1, 2, 5 times a power of ten that is not below v.
static double round_up(double v)
{
	static const double steps[] = {1, 2, 2.5, 5, 10};
	double power = pow(10, floor(log10(v)));

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i] * power >= v * (1 - 1e-12))
			return steps[i] * power;
	}
	return v;
}

static void choose_values(struct heat *heat, const struct heat_options *options)
{
	heat->scale = options->scale;
	heat->rows = options->rows ? options->rows : ROWS_DEFAULT;
	heat->min_value = options->has_min_value ? options->min_value
			  : heat->lowest < 0	 ? heat->lowest
						 : 0;
	if (options->has_max_value) {
		heat->max_value = options->max_value;
	} else {
		double range = heat->highest - heat->min_value;

		// A little above the highest value, so that it lies inside its row.
		heat->max_value =
			range > 0 ? heat->min_value +
					    round_up(range * 1.000001 / heat->rows) * heat->rows
				  : heat->min_value + 1;
	}
	if (heat->scale == HEAT_LOG && heat->min_value <= 0) {
		double least = heat->max_value;

		vec_each(const struct heat_point, point, &heat->points) {
			if (point->value > 0 && point->value < least)
				least = point->value;
		}
		heat->min_value = least < heat->max_value ? least : heat->max_value / 10;
	}
}

static void choose_times(struct heat *heat, const struct heat_options *options)
{
	double range = heat->last_time - heat->first_time;

	heat->step_time = options->step_time;
	if (!heat->step_time) {
		unsigned columns = options->columns ? options->columns : COLUMNS_DEFAULT;

		heat->step_time = range > 0 ? range / columns : 1;
	}
	heat->start_time = heat->first_time;
	if (options->align_columns)
		heat->start_time = floor(heat->first_time / heat->step_time) * heat->step_time;
	double columns = floor((heat->last_time - heat->start_time) / heat->step_time) + 1;
	heat->columns = columns < CELLS_MAX ? (unsigned)columns : CELLS_MAX;
	// The last point lies on the edge of the last column.
	if (!options->step_time && heat->columns > 1)
		heat->columns = options->columns ? options->columns : COLUMNS_DEFAULT;
	else if (!options->step_time && options->columns)
		heat->columns = options->columns;
}

static double row_of(const struct heat *heat, double value)
{
	double low = heat->min_value, high = heat->max_value;

	if (heat->scale == HEAT_LOG) {
		if (value <= 0)
			return -1;
		return floor(log(value / low) / log(high / low) * heat->rows * (1 + 1e-12));
	}
	return floor((value - low) / (high - low) * heat->rows * (1 + 1e-12));
}

double heat_row_edge(const struct heat *heat, unsigned row)
{
	double part = (double)row / heat->rows;

	if (heat->scale == HEAT_LOG)
		return heat->min_value * pow(heat->max_value / heat->min_value, part);
	return heat->min_value + (heat->max_value - heat->min_value) * part;
}

int heat_finish(struct heat *heat, const struct heat_options *options)
{
	if (!heat->points.n)
		return fail(ENODATA, "there is nothing to draw: no points");
	choose_values(heat, options);
	if (!(heat->max_value > heat->min_value))
		return fail(EINVAL, "the highest value (%g) must be above the lowest (%g)",
			    heat->max_value, heat->min_value);
	choose_times(heat, options);
	if ((uint64_t)heat->rows * heat->columns > CELLS_MAX)
		return fail(E2BIG, "a heat map of %u columns and %u rows is too large to look at",
			    heat->columns, heat->rows);
	heat->cells = xcalloc((size_t)heat->rows * heat->columns, sizeof(*heat->cells));
	vec_each(const struct heat_point, point, &heat->points) {
		double row = row_of(heat, point->value);
		double column = floor((point->time - heat->start_time) / heat->step_time);

		if (row < 0) {
			heat->below += point->weight;
			if (options->drop_beyond)
				continue;
			row = 0;
		}
		if (row >= heat->rows) {
			// What lies on the upper edge belongs to the top row.
			if (point->value > heat->max_value)
				heat->above += point->weight;
			if (options->drop_beyond && point->value > heat->max_value)
				continue;
			row = heat->rows - 1;
		}
		if (column < 0)
			column = 0;
		if (column >= heat->columns)
			column = heat->columns - 1;
		double *cell = &heat->cells[(size_t)row * heat->columns + (size_t)column];
		*cell += point->weight;
		heat->sum += point->weight;
		heat->cell_max = fmax(heat->cell_max, *cell);
	}
	return 0;
}
