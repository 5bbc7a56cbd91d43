// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "encoder/core/encoder.h"
#include "encoder/core/xml.h"
#include "encoder/svg/svg.h"
#include <math.h>

static const char script[] =
#include "flame.js.h"
	;

static const char rules[] =
	"#frames g{cursor:pointer}#frames rect{rx:1.5px}#frames text{fill:#101014;pointer-events:none}\n"
	"#frames g:hover rect{stroke:#101014;stroke-width:1}\n"
	"#frames .above rect{opacity:.5}#frames .hit rect{fill:#d534e0}\n"
	".button{cursor:pointer;fill:#5a5a66}.button:hover{text-decoration:underline}.on{font-weight:700}\n"
	"@media(prefers-color-scheme:dark){#frames g:hover rect{stroke:#fff}#frames .above rect{opacity:.7}.button{fill:#b0b0bc}}\n";

enum { SIDE_PAD = 10, TEXT_PAD = 3 };

struct drawing {
	struct out *out;
	const struct flame *flame;
	struct flame_style style; // with defaults filled in
	const struct svg_palette *palette;
	double total[2];
	double inner_width; // px
	double character_width;
	double change_max; // of a frame's own value, as share of 1
	double top;	   // of the frames' box
	unsigned rows;	   // that are drawn
	bool kinds[FLAME_KINDS];
};

static struct flame_style with_defaults(const struct flame_style *given)
{
	struct flame_style style = *given;

	if (!style.title)
		style.title = "Flame Graph";
	if (!style.count_name)
		style.count_name = "samples";
	if (!style.name_type)
		style.name_type = "Function:";
	if (!style.root_name)
		style.root_name = "all";
	if (!style.colors)
		style.colors = "auto";
	if (!style.width)
		style.width = 1200;
	if (!style.frame_height)
		style.frame_height = 16;
	if (!style.font_size)
		style.font_size = 12;
	if (!style.min_width)
		style.min_width = 0.1;
	return style;
}

static double pixels(const struct drawing *drawing, const struct flame_node *node)
{
	return flame_width(node) / drawing->total[FLAME_AFTER] * drawing->inner_width;
}

// Own value's change, with sides of different sums made comparable only by the caller (flame_scale).
static double own_change(const struct flame_node *node)
{
	return node->self[FLAME_AFTER] - node->self[FLAME_BEFORE];
}

static void measure(struct drawing *drawing)
{
	const struct flame *flame = drawing->flame;

	for (size_t i = 0; i < flame->nodes.n;) {
		const struct flame_node *node = &flame->nodes.v[i];

		drawing->change_max = fmax(drawing->change_max, fabs(own_change(node)));
		if (i && pixels(drawing, node) < drawing->style.min_width) {
			i = node->end;
			continue;
		}
		drawing->rows = MAX(drawing->rows, node->depth + 1u);
		drawing->kinds[node->kind] = true;
		i++;
	}
}

static void write_title(const struct drawing *drawing, const struct flame_node *node, struct str name)
{
	struct out *out = drawing->out;

	out_text(out, "<title>");
	xml_str(out, name);
	out_text(out, " (");
	svg_count(out, node->total[FLAME_AFTER]);
	out_char(out, ' ');
	xml_text(out, drawing->style.count_name);
	out_text(out, ", ");
	svg_percent(out, node->total[FLAME_AFTER], drawing->total[FLAME_AFTER]);
	if (drawing->flame->differential) {
		double change = own_change(node);

		out_text(out, "; before ");
		svg_count(out, node->total[FLAME_BEFORE]);
		out_text(out, ", ");
		svg_percent(out, node->total[FLAME_BEFORE], drawing->total[FLAME_BEFORE]);
		out_text(out, "; itself ");
		if (change >= 0)
			out_char(out, '+');
		svg_count(out, change);
	}
	out_text(out, ")</title>");
}

static uint32_t color_of(const struct drawing *drawing, const struct flame_node *node, struct str name)
{
	if (drawing->flame->differential)
		return svg_change_color(
			drawing->change_max > 0 ? own_change(node) / drawing->change_max : 0);
	if (node == drawing->flame->nodes.v)
		return 0xc9c9d1;
	uint64_t salt = drawing->style.random_colors ? (uint64_t)(node - drawing->flame->nodes.v) : 0;
	return svg_frame_color(drawing->palette, (struct flame_frame){name, node->kind}, salt);
}

static void write_label(const struct drawing *drawing, const struct flame_node *node, struct str name)
{
	struct out *out = drawing->out;
	double fit = floor((pixels(drawing, node) - 2 * TEXT_PAD) / drawing->character_width);

	if (fit < 3)
		return;
	size_t length = xml_length(name);
	if (length <= fit) {
		xml_str(out, name);
	} else {
		xml_str_cut(out, name, (size_t)fit - 1);
		out_text(out, "\xe2\x80\xa6");
	}
}

static void write_frame(const struct drawing *drawing, const struct flame_node *node)
{
	struct out *out = drawing->out;
	const struct flame_style *style = &drawing->style;
	double total = drawing->total[FLAME_AFTER];
	struct str name = node->depth ? flame_name(drawing->flame, node) : str_of(style->root_name);
	unsigned row = style->inverted ? node->depth : drawing->rows - 1 - node->depth;
	double y = row * style->frame_height, x = node->start / total * 100;

	out_text(out, "<g data-s=\"");
	svg_number(out, node->start, 3);
	out_text(out, "\" data-n=\"");
	svg_number(out, flame_width(node), 3);
	out_text(out, "\">");
	write_title(drawing, node, name);
	out_text(out, "<rect x=\"");
	svg_number(out, x, 4);
	out_text(out, "%\" y=\"");
	svg_number(out, y, 1);
	out_text(out, "\" width=\"");
	svg_number(out, flame_width(node) / total * 100, 4);
	out_text(out, "%\" height=\"");
	svg_number(out, style->frame_height - 1, 1);
	out_text(out, "\" fill=\"");
	svg_color(out, color_of(drawing, node, name));
	out_text(out, "\"/>");
	if (pixels(drawing, node) >= 2 * TEXT_PAD + 3 * drawing->character_width) {
		out_text(out, "<text x=\"");
		svg_number(out, x, 4);
		out_text(out, "%\" dx=\"3\" y=\"");
		svg_number(out, y + style->frame_height / 2 + style->font_size * 0.32, 1);
		out_text(out, "\">");
		write_label(drawing, node, name);
		out_text(out, "</text>");
	}
	out_text(out, "</g>\n");
}

static void write_legend(const struct drawing *drawing, double y)
{
	static const char *const names[FLAME_KINDS] = {"user", "kernel", "JIT", "inlined", "waker"};
	struct out *out = drawing->out;
	const char *separator = "";
	unsigned kinds = 0;
	uint32_t color;

	for (unsigned kind = 0; kind < FLAME_KINDS; kind++)
		kinds += drawing->kinds[kind] && svg_kind_color(drawing->palette, kind, &color);
	if (kinds < 2 && !drawing->flame->differential)
		return;
	out_printf(out,
		   "<text class=\"faint\" id=\"legend\" text-anchor=\"middle\" x=\"50%%\" y=\"%g\">",
		   y);
	if (drawing->flame->differential) {
		out_text(out, "<tspan style=\"fill:");
		svg_color(out, svg_change_color(0.7));
		out_text(out, "\">&#9632;</tspan> grew  <tspan style=\"fill:");
		svg_color(out, svg_change_color(-0.7));
		out_text(out, "\">&#9632;</tspan> shrank");
	}
	for (unsigned kind = 0; kind < FLAME_KINDS && !drawing->flame->differential; kind++) {
		if (!drawing->kinds[kind] || !svg_kind_color(drawing->palette, kind, &color))
			continue;
		out_text(out, separator);
		out_text(out, "<tspan style=\"fill:");
		svg_color(out, color);
		out_text(out, "\">&#9632;</tspan> ");
		out_text(out, names[kind]);
		separator = "  ";
	}
	out_text(out, "</text>\n");
}

static void write_box(const struct drawing *drawing, double bottom)
{
	struct out *out = drawing->out;
	const struct flame_style *style = &drawing->style;
	double y = drawing->top + drawing->rows * style->frame_height + 20;

	out_printf(out, "<text id=\"details\" x=\"%d\" y=\"%g\"> </text>\n", SIDE_PAD, y);
	out_printf(out,
		   "<text id=\"matched\" x=\"100%%\" dx=\"-%d\" y=\"%g\" text-anchor=\"end\"> </text>\n",
		   SIDE_PAD, y);
	write_legend(drawing, bottom);
	if (style->notes) {
		out_text(out, "<desc>");
		xml_text(out, style->notes);
		out_text(out, "</desc>\n");
	}
	out_printf(out,
		   "<svg id=\"frames\" x=\"%d\" y=\"%g\" width=\"%g\" height=\"%g\" font-size=\"%g\" font-family=\"",
		   SIDE_PAD, drawing->top, drawing->inner_width,
		   drawing->rows * style->frame_height, style->font_size);
	xml_text(out, style->font ? style->font
				  : "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace");
	out_text(out, "\" data-total=\"");
	svg_number(out, drawing->total[FLAME_AFTER], 3);
	out_printf(out, "\" data-row=\"%g\" data-rows=\"%u\" data-inverted=\"%d\" data-type=\"",
		   style->frame_height, drawing->rows, style->inverted);
	xml_text(out, style->name_type);
	out_text(out, "\">\n");
	for (size_t i = 0; i < drawing->flame->nodes.n;) {
		const struct flame_node *node = &drawing->flame->nodes.v[i];

		if (i && pixels(drawing, node) < style->min_width) {
			i = node->end;
			continue;
		}
		write_frame(drawing, node);
		if (out_broken(out))
			return;
		i++;
	}
	out_text(out, "</svg>\n");
}

int svg_flame(struct out *out, const struct flame *flame, const struct flame_style *given)
{
	struct drawing drawing = {
		.out = out,
		.flame = flame,
		.style = with_defaults(given),
		.total = {flame->nodes.v[0].total[0], flame->nodes.v[0].total[1]},
		.rows = 1,
	};
	struct flame_style *style = &drawing.style;
	struct svg_page page = {.title = style->title,
				.subtitle = style->subtitle,
				.styles = rules,
				.width = style->width};
	int err = svg_palette_find(&drawing.palette, style->colors);

	if (err < 0)
		return err;
	err = svg_background_find(&page.background, style->background);
	if (err < 0)
		return err;
	if (!(drawing.total[FLAME_AFTER] > 0))
		return fail(ENODATA, "there is nothing to draw: no stacks");
	if (style->width < 10 * SIDE_PAD || style->width > 100000)
		return fail(EINVAL, "a width of %g pixels can't be drawn; use 100 to 100000",
			    style->width);
	if (style->frame_height < 3 || style->frame_height > 200 || style->font_size < 3 ||
	    style->font_size > 200)
		return fail(EINVAL, "frame height and font size must lie between 3 and 200 pixels");
	drawing.inner_width = style->width - 2 * SIDE_PAD;
	drawing.character_width = style->font_size * 0.602;
	measure(&drawing);
	drawing.top = style->subtitle && style->subtitle[0] ? 56 : 40;
	double bottom = drawing.top + drawing.rows * style->frame_height + 20;
	page.height = bottom + 12;
	svg_begin(out, &page);
	write_box(&drawing, bottom);
	svg_end(out, script);
	return 0;
}
