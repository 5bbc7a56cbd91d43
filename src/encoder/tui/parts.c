// SPDX-License-Identifier: GPL-2.0-or-later
#include "encoder/tui/parts.h"

void tui_parts_init(struct tui_parts *line)
{
	*line = (struct tui_parts){.n = 0};
	out_init_memory(&line->out);
}

void tui_parts_done(struct tui_parts *line)
{
	out_done(&line->out);
}

void tui_parts_begin(struct tui_parts *line, int rank)
{
	if (line->n == TUI_PARTS_MAX)
		return;
	line->parts[line->n].at = line->out.n;
	line->parts[line->n++].rank = rank;
}

void tui_parts_words(struct tui_parts *line, const char *const *words)
{
	for (size_t i = 0; words[i]; i++) {
		tui_parts_begin(line, i > 0);
		out_printf(&line->out, "%s%s", i ? "  " : "", words[i]);
	}
}

static void take_out(struct tui_parts *line, size_t i)
{
	size_t from = line->parts[i].at;
	size_t to = i + 1 < line->n ? line->parts[i + 1].at : line->out.n;

	memmove(line->out.buf + from, line->out.buf + to, line->out.n - to);
	line->out.n -= to - from;
	for (; i + 1 < line->n; i++) {
		line->parts[i].at = line->parts[i + 1].at - (to - from);
		line->parts[i].rank = line->parts[i + 1].rank;
	}
	line->n--;
}

struct str tui_parts_fit(struct tui_parts *line, size_t columns)
{
	while (line->out.n > columns) {
		size_t least = SIZE_MAX;

		for (size_t i = 0; i < line->n; i++) {
			if (line->parts[i].rank &&
			    (least == SIZE_MAX || line->parts[i].rank >= line->parts[least].rank))
				least = i;
		}
		if (least == SIZE_MAX)
			break;
		take_out(line, least);
	}
	if (line->out.n > columns)
		tui_cut(&line->out, columns);
	return (struct str){line->out.buf, line->out.n};
}

void tui_cut(struct out *text, size_t columns)
{
	size_t n = columns > 2 ? columns - 2 : columns;

	if (text->n <= columns)
		return;
	while (n && ((unsigned char)text->buf[n] & 0xc0) == 0x80)
		n--;
	text->n = n;
	if (columns > 2)
		out_text(text, "..");
}
