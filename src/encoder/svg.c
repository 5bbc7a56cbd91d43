// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/encoder.h"
#include "encoder/svg/svg.h"

const struct encoder encoder_svg = {
	.name = "svg",
	.suffix = ".svg",
	.summary = "a picture for the browser that can be zoomed and searched",
	.flame = svg_flame,
	.heat = svg_heat,
};
