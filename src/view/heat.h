// SPDX-License-Identifier: GPL-2.0-or-later
// A heat map's model: a grid of counts, time to the right, a value upwards. Points are taken in any order and kept
// until heat_finish knows their range, or fall into a grid whose range is given.
#pragma once
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct heat_point {
	double time, value;
	float weight;
};

enum heat_scale { HEAT_LINEAR, HEAT_LOG };

// 0: chosen from the points
struct heat_options {
	unsigned rows, columns;
	double min_value, max_value; // values above fall into the top row and are counted as beyond
	bool has_min_value, has_max_value;
	double step_time;   // width of a column
	bool align_columns; // columns begin at multiples of the step (whole seconds)
	bool drop_beyond;   // values outside the range are not drawn at all
	enum heat_scale scale;
};

struct heat {
	VEC(struct heat_point) points;
	double first_time, last_time, lowest, highest; // of the points
	// after heat_finish
	unsigned rows, columns;
	double start_time, step_time;
	double min_value, max_value;
	enum heat_scale scale;
	double *cells; // [row * columns + column], row 0 is the lowest values
	double cell_max, sum, above, below;
};

void heat_init(struct heat *heat);
void heat_done(struct heat *heat);
void heat_add(struct heat *heat, double time, double value, double weight);
// Makes the grid; -ENODATA with a sentence when there are no points, -E2BIG when rows * columns are beyond reason.
int heat_finish(struct heat *heat, const struct heat_options *options);
// The lower edge of a row; row == rows gives the top.
double heat_row_edge(const struct heat *heat, unsigned row);
