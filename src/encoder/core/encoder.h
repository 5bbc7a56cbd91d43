// SPDX-License-Identifier: GPL-2.0-or-later
// An output format: one const struct in src/encoder/NAME.c, called encoder_NAME. Each writes those models of
// src/view that make sense in it; a hook that is NULL: this format can't show that.
#pragma once
#include "base/out.h"
#include <stdbool.h>

struct flame;
struct heat;
struct profile;
struct table;
struct table_stamp;

// How a flame graph looks. NULL and 0 take the defaults that stand behind.
struct flame_style {
	const char *title;	// "Flame Graph"
	const char *subtitle;	// none
	const char *count_name; // "samples"
	const char *name_type; // "Function:", before the frame's name in the line below the picture
	const char *root_name; // "all"
	const char *font;      // a CSS font-family for the frames
	const char *colors;    // a palette, see svg_palettes; "auto"
	const char *background; // yellow, blue, green, grey or #rrggbb; follows the browser's light or dark theme
	const char *notes;   // hidden text in the file
	double width;	     // px, 1200
	double frame_height; // px, 16
	double font_size;    // px, 12
	double min_width;    // px, 0.1: narrower frames are left out
	bool inverted;	     // the root on top
	bool random_colors;  // by place, not by name
	bool plain_names;    // no _[k] annotations (folded)
};

struct heat_style {
	const char *title;		      // "Heat Map"
	const char *subtitle;		      // none
	const char *colors;		      // hot, blue, green, grey, viridis
	const char *count_name;		      // "events"
	const char *time_title, *value_title; // under and beside the axes
	const char *time_unit; // of the model's times: "s" (default), "ms", "us", "ns"
	const char *value_unit; // of the values: "ns", "us", "ms", "s" are scaled for reading; others are shown as they are
	double cell_width, cell_height; // px; chosen by the grid's size
	bool log_colors;		// colour by the logarithm of the count
};

struct encoder {
	const char *name;    // as typed after --format
	const char *suffix;  // of a file's name, ".svg"
	const char *summary; // one line for the help, no full stop
	// A model as a whole document. 0, or fail(...) when the style names what doesn't exist; what can't be written
	// sticks to the out.
	int (*flame)(struct out *out, const struct flame *finished, const struct flame_style *style);
	int (*heat)(struct out *out, const struct heat *finished, const struct heat_style *style);
	int (*profile)(struct out *out, const struct profile *finished);
	// Rows as they come: a stamp says whether the titles stand above already (encoder/core/table.h).
	void (*table)(struct out *out, const struct table *table, const struct table_stamp *stamp);
	bool gzip; // a profile is packed where its readers look for it
};

extern const struct encoder *const encoders[]; // by name, ends with NULL; made by src/registry.c

// -EINVAL with a sentence that names the nearest.
int encoder_find(const struct encoder **ret, const char *name);
