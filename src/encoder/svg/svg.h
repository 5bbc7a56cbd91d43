// SPDX-License-Identifier: GPL-2.0-or-later
// What the pictures share: colours, numbers and the frame of the document.
#pragma once
#include "base/out.h"
#include "view/flame.h"

struct flame_style;
struct heat;
struct heat_style;

int svg_flame(struct out *out, const struct flame *flame, const struct flame_style *style);
int svg_heat(struct out *out, const struct heat *heat, const struct heat_style *style);

// ---- colours, 0xrrggbb

// h in degrees, s and l in percent
uint32_t svg_hsl(double h, double s, double l);
void svg_color(struct out *out, uint32_t rgb); // "#rrggbb"

struct svg_palette;
// By name; -EINVAL with a sentence that names the nearest or all.
int svg_palette_find(const struct svg_palette **ret, const char *name);
// The colour of a frame: by its kind, the words of its name and `salt`. The same name gets the same colour
// everywhere; names with the same first word get similar ones.
uint32_t svg_frame_color(const struct svg_palette *palette, struct flame_frame frame, uint64_t salt);
// Of a change from -1 (all gone, blue) to 1 (grown most, red).
uint32_t svg_change_color(double change);
// One colour that stands for the kind in a legend; false when the palette does not tell kinds apart.
bool svg_kind_color(const struct svg_palette *palette, enum flame_kind kind, uint32_t *ret);

// The page's background: NULL follows light and dark, else yellow, blue, green, grey, white or #rrggbb. -EINVAL with a
// sentence.
struct svg_background {
	bool themed;
	uint32_t top, bottom; // a gradient when they differ
};
int svg_background_find(struct svg_background *ret, const char *name);

// ---- writing

// With up to `decimals` (at most 6) digits behind the point, no needless zeros.
void svg_number(struct out *out, double v, unsigned decimals);
// "1,234,567" or "12.34"
void svg_count(struct out *out, double v);
// part of whole as "12.34%"
void svg_percent(struct out *out, double part, double whole);

struct svg_page {
	double width, height;
	const char *title, *subtitle;
	struct svg_background background;
	const char *styles; // rules of this picture
};
// From the XML declaration to the title text. Without a subtitle no place is left for it.
void svg_begin(struct out *out, const struct svg_page *page);
// The script and the end.
void svg_end(struct out *out, const char *script);
