// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/core/xml.h"
#include "encoder/svg/svg.h"
#include <math.h>

void svg_number(struct out *out, double v, unsigned decimals)
{
	static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};

	if (!(fabs(v) < 1e12)) {
		out_printf(out, "%.15g", isfinite(v) ? v : 0.0);
		return;
	}
	uint64_t scaled = (uint64_t)(fabs(v) * powers[decimals] + 0.5);
	uint64_t whole = scaled / powers[decimals];
	uint32_t part = (uint32_t)(scaled % powers[decimals]);

	if (v < 0 && scaled)
		out_char(out, '-');
	out_u64(out, whole);
	if (!part)
		return;
	while (part % 10 == 0) {
		part /= 10;
		decimals--;
	}
	out_char(out, '.');
	out_u64_zeros(out, part, (int)decimals);
}

void svg_count(struct out *out, double v)
{
	char digits[24];

	if (v < 0) {
		out_char(out, '-');
		v = -v;
	}
	if (!(v < 1e15)) {
		out_printf(out, "%.6g", v);
		return;
	}
	double whole = floor(v);
	unsigned n = num_put_u64(digits, (uint64_t)(v - whole >= 0.995 ? ++whole : whole));
	for (unsigned i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out_char(out, ',');
		out_char(out, digits[i]);
	}
	unsigned hundredths = v > whole ? (unsigned)lround((v - whole) * 100) : 0;
	if (hundredths) {
		out_char(out, '.');
		out_u64_zeros(out, hundredths, 2);
	}
}

void svg_percent(struct out *out, double part, double whole)
{
	uint64_t hundredths = whole > 0 ? (uint64_t)(fabs(part) / whole * 10000 + 0.5) : 0;

	if (part < 0 && hundredths)
		out_char(out, '-');
	out_u64(out, hundredths / 100);
	out_char(out, '.');
	out_u64_zeros(out, hundredths % 100, 2);
	out_char(out, '%');
}

static void write_gradient(struct out *out, const struct svg_background *background)
{
	out_text(out,
		 "<defs><linearGradient id=\"sky\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\"><stop offset=\"5%\" stop-color=\"");
	svg_color(out, background->top);
	out_text(out, "\"/><stop offset=\"95%\" stop-color=\"");
	svg_color(out, background->bottom);
	out_text(out, "\"/></linearGradient></defs>\n");
}

void svg_begin(struct out *out, const struct svg_page *page)
{
	const struct svg_background *background = &page->background;

	out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"");
	svg_number(out, page->width, 1);
	out_text(out, "\" height=\"");
	svg_number(out, page->height, 1);
	out_text(out, "\" viewBox=\"0 0 ");
	svg_number(out, page->width, 1);
	out_char(out, ' ');
	svg_number(out, page->height, 1);
	out_text(out,
		 "\" font-family=\"system-ui,'DejaVu Sans',Verdana,sans-serif\" font-size=\"12\">\n<title>");
	xml_text(out, page->title);
	out_text(out, "</title>\n<style>\n"
		      "text{fill:#24242a}.big{font-size:17px;font-weight:600}.faint{fill:#6a6a74}\n"
		      "svg:root{background:#fff}.page{fill:#fff}\n");
	if (background->themed)
		out_text(out, "@media(prefers-color-scheme:dark){text{fill:#dcdce2}.faint{fill:#9a9aa6}"
			      ".page{fill:#1c1c20}svg:root{background:#1c1c20}}\n");
	out_text(out, page->styles);
	out_text(out, "</style>\n");
	if (!background->themed && background->top != background->bottom)
		write_gradient(out, background);
	out_text(out, "<rect class=\"page\" width=\"100%\" height=\"100%\"");
	if (!background->themed) {
		out_text(out, " style=\"fill:");
		if (background->top != background->bottom)
			out_text(out, "url(#sky)");
		else
			svg_color(out, background->top);
		out_char(out, '"');
	}
	out_text(out, "/>\n<text class=\"big\" x=\"50%\" y=\"26\" text-anchor=\"middle\">");
	xml_text(out, page->title);
	out_text(out, "</text>\n");
	if (page->subtitle && page->subtitle[0]) {
		out_text(out,
			 "<text id=\"subtitle\" class=\"faint\" x=\"50%\" y=\"44\" text-anchor=\"middle\">");
		xml_text(out, page->subtitle);
		out_text(out, "</text>\n");
	}
}

void svg_end(struct out *out, const char *script)
{
	if (script) {
		out_text(out, "<script><![CDATA[\n");
		out_text(out, script);
		out_text(out, "]]></script>\n");
	}
	out_text(out, "</svg>\n");
}
