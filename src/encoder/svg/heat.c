// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/heat.h"
#include "base/err.h"
#include "base/nearest.h"
#include "encoder/core/encoder.h"
#include "encoder/core/xml.h"
#include "encoder/svg/svg.h"
#include <math.h>

static const char script[] =
#include "heat.js.h"
	;

static const char rules[] =
	".cell:hover{stroke:#101014;stroke-width:1.5}.grid{stroke:#8888a0;stroke-opacity:.25}"
	".axis{stroke:#8888a0;fill:none}\n"
	"@media(prefers-color-scheme:dark){.cell:hover{stroke:#fff}}\n";

// TEXT_WIDTH: of what is told below the grid.
enum {
	LEVELS = 24,
	LEFT = 84,
	RIGHT = 30,
	TOP = 64,
	BELOW = 100,
	TEXT_WIDTH = 540,
	LABEL_WIDTH = 50,
	LABEL_HEIGHT = 12
};

struct heat_hues {
	const char *name;
	short few, many; // hue, degrees
	uint8_t saturation;
};

static const struct heat_hues palettes[] = {
	{"hot", 52, -20, 92},	{"red", 8, -4, 80},    {"blue", 200, 232, 80},
	{"green", 90, 150, 60}, {"grey", 220, 220, 6}, {"viridis", 60, 280, 62},
};

// A time unit as nanoseconds; 0: not a time.
static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};

	for (size_t i = 0; unit && i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	}
	return 0;
}

// With a unit that suits its size.
static void write_duration(struct out *out, double ns)
{
	double size = fabs(ns);

	if (size < 1e3)
		out_printf(out, "%.4g ns", ns);
	else if (size < 1e6)
		out_printf(out, "%.4g us", ns / 1e3);
	else if (size < 1e9)
		out_printf(out, "%.4g ms", ns / 1e6);
	else
		out_printf(out, "%.6g s", ns / 1e9);
}

static void write_value(struct out *out, double value, const char *unit)
{
	double ns = unit_ns(unit);

	if (ns) {
		write_duration(out, value * ns);
		return;
	}
	if (fabs(value) >= 1e4 && fabs(value) < 1e15 && value == floor(value))
		svg_count(out, value);
	else
		out_printf(out, "%.6g", value);
	if (unit && unit[0]) {
		out_char(out, ' ');
		xml_text(out, unit);
	}
}

struct heat_drawing {
	struct out *out;
	const struct heat *heat;
	const struct heat_style *style;
	const struct heat_hues *hues;
	double cell_width, cell_height;
	double width, height; // of the grid
	double page_width;
	double label_y; // of the last one of the values
	const char *time_unit, *count_name;
};

static double level_part(const struct heat_drawing *drawing, double count)
{
	double max = drawing->heat->cell_max;

	if (max <= 0)
		return 0;
	return drawing->style->log_colors ? log1p(count) / log1p(max) : count / max;
}

static unsigned level_of(const struct heat_drawing *drawing, double count)
{
	double level = floor(level_part(drawing, count) * LEVELS);

	return level >= LEVELS ? LEVELS - 1 : (unsigned)level;
}

static void write_level_colors(struct out *out, const struct heat_hues *hues, bool dark)
{
	for (int i = 0; i < LEVELS; i++) {
		double part = (double)i / (LEVELS - 1);
		// In the dark, few is dark and many is bright.
		double hue = dark ? hues->many + (hues->few - hues->many) * part
				  : hues->few + (hues->many - hues->few) * part;
		double lightness = dark ? 24 + 58 * part : 88 - 62 * pow(part, 0.85);

		out_printf(out, ".l%d{fill:", i);
		svg_color(out, svg_hsl(hue, hues->saturation, lightness));
		out_char(out, '}');
	}
	out_char(out, '\n');
}

static double nice_step(double range, double wanted)
{
	static const double steps[] = {1, 2, 5, 10};
	double raw = range / wanted, power = pow(10, floor(log10(raw)));

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i] * power >= raw * (1 - 1e-9))
			return steps[i] * power;
	}
	return raw;
}

static void write_time_axis(const struct heat_drawing *drawing)
{
	struct out *out = drawing->out;
	const struct heat *heat = drawing->heat;
	double ns = unit_ns(drawing->time_unit);
	double range = heat->columns * heat->step_time;
	double step = nice_step(range * ns, fmax(2, drawing->width / 110)) / ns;

	double last = 0;
	for (double t = 0; t <= range * (1 + 1e-9); t += step) {
		double x = LEFT + t / heat->step_time * drawing->cell_width;

		if (x < last + LABEL_WIDTH)
			continue;
		last = x;
		out_printf(out, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\"/>",
			   x, x, TOP + drawing->height, TOP + drawing->height + 5);
		out_printf(out, "<text class=\"faint\" x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">",
			   x, TOP + drawing->height + 18);
		if (t == 0)
			out_char(out, '0');
		else
			write_duration(out, t * ns);
		out_text(out, "</text>\n");
	}
	if (drawing->style->time_title) {
		out_printf(out, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">",
			   LEFT + drawing->width / 2, TOP + drawing->height + 36);
		xml_text(out, drawing->style->time_title);
		out_text(out, "</text>\n");
	}
}

static void write_value_label(struct heat_drawing *drawing, double y, double value)
{
	struct out *out = drawing->out;

	if (drawing->label_y && y > drawing->label_y - LABEL_HEIGHT)
		return;
	drawing->label_y = y;
	out_printf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\"/>",
		   LEFT - 5, LEFT + drawing->width, y, y);
	out_printf(out, "<text class=\"faint\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 9,
		   y + 4);
	if (value == 0)
		out_char(out, '0');
	else
		write_value(out, value, drawing->style->value_unit);
	out_text(out, "</text>\n");
}

static void write_value_axis(struct heat_drawing *drawing)
{
	struct out *out = drawing->out;
	const struct heat *heat = drawing->heat;
	double bottom = TOP + drawing->height, range = heat->max_value - heat->min_value;

	if (heat->scale == HEAT_LOG) {
		double rows = log(heat->max_value / heat->min_value);

		for (double value = pow(10, ceil(log10(heat->min_value) - 1e-9));
		     value <= heat->max_value * 1.000001; value *= 10)
			write_value_label(drawing,
					  bottom - log(value / heat->min_value) / rows *
							   drawing->height,
					  value);
	} else {
		double step = nice_step(range, fmax(2, drawing->height / 50));

		for (double value = ceil(heat->min_value / step - 1e-9) * step;
		     value <= heat->max_value + step * 1e-6; value += step)
			write_value_label(drawing,
					  bottom - (value - heat->min_value) / range * drawing->height,
					  fabs(value) < step * 1e-6 ? 0 : value);
	}
	if (drawing->style->value_title) {
		double y = TOP + drawing->height / 2;

		out_printf(out,
			   "<text x=\"16\" y=\"%g\" text-anchor=\"middle\" transform=\"rotate(-90 16 %g)\">",
			   y, y);
		xml_text(out, drawing->style->value_title);
		out_text(out, "</text>\n");
	}
	out_printf(out, "<path class=\"axis\" d=\"M%d %dV%gH%g\"/>\n", LEFT, TOP, bottom,
		   LEFT + drawing->width);
}

static void write_cell(const struct heat_drawing *drawing, unsigned column, unsigned row, double count)
{
	struct out *out = drawing->out;
	const struct heat *heat = drawing->heat;
	double gap = drawing->cell_width >= 4 && drawing->cell_height >= 4 ? 0.5 : 0;
	double time = heat->start_time + column * heat->step_time;

	out_printf(out, "<rect class=\"cell l%u\" x=\"", level_of(drawing, count));
	svg_number(out, LEFT + column * drawing->cell_width, 2);
	out_text(out, "\" y=\"");
	svg_number(out, TOP + drawing->height - (row + 1) * drawing->cell_height, 2);
	out_text(out, "\" width=\"");
	svg_number(out, drawing->cell_width - gap, 2);
	out_text(out, "\" height=\"");
	svg_number(out, drawing->cell_height - gap, 2);
	out_text(out, "\"><title>time ");
	svg_number(out, time, 6);
	out_text(out, " \xe2\x80\x93 ");
	svg_number(out, time + heat->step_time, 6);
	out_char(out, ' ');
	xml_text(out, drawing->time_unit);
	out_text(out, ", ");
	write_value(out, heat_row_edge(heat, row), drawing->style->value_unit);
	out_text(out, " \xe2\x80\x93 ");
	write_value(out, heat_row_edge(heat, row + 1), drawing->style->value_unit);
	if (row + 1 == heat->rows && heat->above > 0)
		out_text(out, " and above");
	out_text(out, ": ");
	svg_count(out, count);
	out_char(out, ' ');
	xml_text(out, drawing->count_name);
	out_text(out, " (");
	svg_percent(out, count, heat->sum);
	out_text(out, ")</title></rect>\n");
}

static void write_legend(const struct heat_drawing *drawing)
{
	struct out *out = drawing->out;
	double step = 6, right = drawing->page_width - RIGHT, left = right - LEVELS * step,
	       y = TOP + drawing->height + 54;
	double max = drawing->heat->cell_max;

	for (int i = 0; i < LEVELS; i++)
		out_printf(out, "<rect class=\"l%d\" x=\"%g\" y=\"%g\" width=\"%g\" height=\"10\"/>",
			   i, left + i * step, y, step);
	out_printf(out, "\n<text class=\"faint\" x=\"%g\" y=\"%g\" text-anchor=\"end\">%s0</text>\n",
		   left - 5, y + 9, drawing->style->log_colors ? "log  " : "");
	out_printf(out, "<text class=\"faint\" x=\"%g\" y=\"%g\" text-anchor=\"end\">", right, y - 5);
	svg_count(out, max);
	out_char(out, ' ');
	xml_text(out, drawing->count_name);
	out_text(out, "</text>\n");
	out_printf(out, "<text id=\"details\" x=\"%d\" y=\"%g\">", LEFT, y + 30);
	svg_count(out, drawing->heat->sum);
	out_char(out, ' ');
	xml_text(out, drawing->count_name);
	if (drawing->heat->above > 0) {
		out_text(out, "; ");
		svg_count(out, drawing->heat->above);
		out_text(out, " above the scale");
	}
	if (drawing->heat->below > 0) {
		out_text(out, "; ");
		svg_count(out, drawing->heat->below);
		out_text(out, " below it");
	}
	out_text(out, "</text>\n");
}

static int choose_look(struct heat_drawing *drawing)
{
	const struct heat_style *style = drawing->style;
	const char *wanted = style->colors ? style->colors : "hot";
	const char *names[ARRAY_SIZE(palettes) + 1] = {NULL};

	for (size_t i = 0; i < ARRAY_SIZE(palettes); i++) {
		names[i] = palettes[i].name;
		if (strcmp(palettes[i].name, wanted) == 0)
			drawing->hues = &palettes[i];
	}
	if (!drawing->hues) {
		const char *near = nearest(wanted, names);

		return fail(EINVAL, "there are no heat map colors '%s'; %s%s%s", wanted,
			    near ? "did you mean '" : "",
			    near ? near : "use hot, red, blue, green, grey or viridis",
			    near ? "'?" : "");
	}
	drawing->time_unit = style->time_unit ? style->time_unit : "s";
	if (!unit_ns(drawing->time_unit))
		return fail(EINVAL, "'%s' is no unit of time: use s, ms, us or ns",
			    drawing->time_unit);
	drawing->count_name = style->count_name ? style->count_name : "events";
	drawing->cell_width = style->cell_width;
	drawing->cell_height = style->cell_height;
	// Few columns are wide, so that there is room for the texts below.
	if (!drawing->cell_width)
		drawing->cell_width =
			fmin(fmax(30, fmin(120, floor(TEXT_WIDTH / drawing->heat->columns))),
			     fmax(1, floor(1080 / drawing->heat->columns)));
	if (!drawing->cell_height)
		drawing->cell_height = fmin(20, fmax(1, floor(500 / drawing->heat->rows)));
	if (drawing->cell_width < 0.1 || drawing->cell_height < 0.1 || drawing->cell_width > 1000 ||
	    drawing->cell_height > 1000)
		return fail(EINVAL, "a cell's width and height must lie between 0.1 and 1000 pixels");
	drawing->width = drawing->cell_width * drawing->heat->columns;
	drawing->height = drawing->cell_height * drawing->heat->rows;
	double subtitle = style->subtitle ? fmin(1194, strlen(style->subtitle) * 6.8) : 0;
	drawing->page_width = fmax(LEFT + fmax(drawing->width, TEXT_WIDTH) + RIGHT, subtitle + RIGHT);
	return 0;
}

int svg_heat(struct out *out, const struct heat *heat, const struct heat_style *style)
{
	struct heat_drawing drawing = {.out = out, .heat = heat, .style = style};
	struct out styles;
	int err = choose_look(&drawing);

	if (err < 0)
		return err;
	out_init_memory(&styles);
	out_text(&styles, rules);
	write_level_colors(&styles, drawing.hues, false);
	out_text(&styles, "@media(prefers-color-scheme:dark){");
	write_level_colors(&styles, drawing.hues, true);
	out_text(&styles, "}\n");
	out_char(&styles, '\0');
	svg_begin(out, &(struct svg_page){
			       .width = drawing.page_width,
			       .height = TOP + drawing.height + BELOW,
			       .title = style->title ? style->title : "Heat Map",
			       .subtitle = style->subtitle,
			       .background = {.themed = true},
			       .styles = styles.buf,
		       });
	out_done(&styles);
	write_value_axis(&drawing);
	write_time_axis(&drawing);
	out_text(out, "<g id=\"cells\">\n");
	for (unsigned column = 0; column < heat->columns && !out_broken(out); column++) {
		for (unsigned row = 0; row < heat->rows; row++) {
			double count = heat->cells[(size_t)row * heat->columns + column];

			if (count > 0)
				write_cell(&drawing, column, row, count);
		}
	}
	out_text(out, "</g>\n");
	write_legend(&drawing);
	svg_end(out, script);
	return 0;
}
