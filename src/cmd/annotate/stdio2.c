// SPDX-License-Identifier: GPL-2.0-or-later
// perf's layout of annotate --stdio2, which is that of its screen: tools/perf/util/annotate.c, symbol__tty_annotate2.
#include "cmd/annotate/annotate.h"
#include "cmd/annotate/operands.h"
#include <stdio.h>

enum {
	PERCENT_WIDTH = 7,
	PERIOD_WIDTH = 12,
	IPC_WIDTH = 6,
	CYCLES_WIDTH = 6,
	RANGE_WIDTH = 19, // of cycles with their least and most
	SUMMARY_WIDTH = 36,
};

struct printer {
	struct annotate *annotate;
	const struct annotate_view *view;
	struct out *out;
	struct out scratch;
	int share_width, cycles_width, before_width, address_width, target_width, name_width;
	bool first;
};

static int hex_width(uint64_t n)
{
	int width = 1;

	while (n >>= 4)
		width++;
	return width;
}

static int decimal_width(uint32_t n)
{
	return n >= 100 ? 5 : n >= 10 ? 2 : 1;
}

static void find_widths(struct printer *p)
{
	const struct annotate_look *look = &p->annotate->look;
	const struct annotated *lines = p->view->lines;

	p->share_width =
		(int)lines->events_n * (p->annotate->o.total_period ? PERIOD_WIDTH : PERCENT_WIDTH);
	p->cycles_width = !lines->cycles.any ? 0 : look->cycle_range ? RANGE_WIDTH : CYCLES_WIDTH;
	p->before_width = p->share_width + (p->cycles_width ? IPC_WIDTH + p->cycles_width : 0);
	p->target_width = hex_width(look->addresses ? lines->addr + lines->size : lines->size);
	p->address_width = p->target_width;
	if (look->jump_counts)
		p->address_width += decimal_width(lines->max_jumps_here) + 1;
	vec_each(const struct annotated_line, line, &lines->lines) {
		if (line->kind == ANNOTATED_INSTRUCTION)
			p->name_width = MAX(p->name_width, (int)operands_name_size(line->text));
	}
}

static void print_title(struct printer *p)
{
	const struct report *report = &p->annotate->report;
	const struct event *event = p->view->hist->event;
	uint32_t members = report->grouped ? MAX(event->group_members, 1) : 1;
	uint64_t samples = 0, period = 0;
	char unit = ' ';

	for (uint32_t i = 0; i < members; i++) {
		const struct hist *hist = report->run->recording->events.v[event->index + i]->user;

		samples += hist ? hist->samples : 0;
		period += hist ? hist->total_period : 0;
	}
	for (const char *units = "KMG"; samples > 1000 && *units; units++) {
		samples /= 1000;
		unit = *units;
	}
	out_printf(p->out, "Samples: %llu%c of event%s '", (unsigned long long)samples, unit,
		   event->group_members > 1 ? "s" : "");
	report_event_name(report, event, p->out);
	out_printf(p->out, "', %d Hz, Event count (approx.): %llu, [percent: %s]\n",
		   (int)event->attr.sample_freq, (unsigned long long)period,
		   percent_type_names[p->annotate->percent_type]);
	out_safe(p->out, p->view->lines->symbol);
	out_text(p->out, "() ");
	out_safe(p->out, p->view->entry->place.dso->long_name);
	out_char(p->out, '\n');
}

static bool has_shares(const struct printer *p, const struct annotated_line *line)
{
	bool any = false;

	for (uint32_t i = 0; line->counts && i < p->view->lines->events_n; i++)
		any |= annotate_percent(p->annotate, p->view, line->counts, i) != 0;
	return any;
}

static void put_shares(struct printer *p, const struct annotated_line *line, bool titles)
{
	const struct annotate_command_options *o = &p->annotate->o;
	uint32_t n = p->view->lines->events_n;

	if (!has_shares(p, line)) {
		out_text_left(p->out,
			      !titles		? " "
			      : o->total_period ? "Period"
			      : o->counts	? "Samples"
						: "Percent",
			      p->share_width);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct annotated_count *count = &line->counts[i];

		if (o->total_period)
			out_printf(p->out, "%11llu ", (unsigned long long)count->period);
		else if (o->counts)
			out_printf(p->out, "%6llu ", (unsigned long long)count->samples);
		else
			out_printf(p->out, "%6.2f ",
				   annotate_percent(p->annotate, p->view, line->counts, i));
	}
}

static void put_cycles(struct printer *p, const struct annotated_line *line, bool titles)
{
	const struct annotated *lines = p->view->lines;
	bool range = p->cycles_width == RANGE_WIDTH;
	char text[96] = "";

	if (!p->cycles_width)
		return;
	if (line->ipc != 0)
		snprintf(text, sizeof(text), "%.2f", (double)line->ipc);
	out_printf(p->out, "%*s ", IPC_WIDTH - 1, *text || !titles ? text : "IPC");
	annotated_cycles_text(line, range, text);
	if (!*text && titles)
		snprintf(text, sizeof(text), "%s", range ? "Cycle(min/max)" : "Cycle");
	out_printf(p->out, "%*s ", p->cycles_width - 1, text);
	if (!titles || *line->text)
		return;
	snprintf(text, sizeof(text), "(Average IPC: %.2f, IPC Coverage: %.1f%%)",
		 annotated_ipc(lines), annotated_ipc_coverage(lines));
	out_printf(p->out, "%*s", SUMMARY_WIDTH, text);
}

// What is not as wide as the line gets blanks behind it, as in perf, whose line has no width here.
static void put_padded(struct printer *p, const char *text, int width)
{
	size_t n = strlen(text);

	out_safe(p->out, text);
	if (n < (size_t)width)
		out_fill(p->out, ' ', (size_t)width - n);
}

static int put_address(struct printer *p, const struct annotated_line *line)
{
	const struct annotate_look *look = &p->annotate->look;
	char text[32];
	bool shown = line->jumps_here || (line->flow == ANNOTATED_CALL && look->offset_level > 1) ||
		     look->offset_level > 2;
	int n;

	if (look->addresses) {
		n = snprintf(text, sizeof(text), "%llx: ", (unsigned long long)line->addr);
	} else if (shown) {
		if (line->jumps_here && look->jump_counts)
			out_printf(p->out, "%*u ", decimal_width(p->view->lines->max_jumps_here),
				   line->jumps_here);
		n = snprintf(text, sizeof(text), "%*x: ", p->target_width, line->offset);
	} else {
		n = snprintf(text, sizeof(text), "%-*s  ", p->address_width, " ");
	}
	out_text(p->out, text);
	return n;
}

static const struct symbol *symbol_at(const struct printer *p, uint64_t addr)
{
	const struct entry *e = p->view->entry;

	return dso_find_symbol(p->annotate->report.run->sym, e->place.dso,
			       addr - p->view->lines->addr + e->place.sym->start);
}

static const char *arrow(const struct annotated_line *line, enum operand_kind kind,
			 const struct operands_place *place)
{
	switch (kind) {
	case OPERANDS_JUMP:
		if (place->outside)
			return "\xe2\x86\x92 ";
		return place->offset > line->offset ? "\xe2\x86\x93 " : "\xe2\x86\x91 ";
	case OPERANDS_CALL:
		return "\xe2\x86\x92 ";
	case OPERANDS_RETURN:
		return "\xe2\x86\x90 ";
	default:
		return "  ";
	}
}

static void print_instruction(struct printer *p, const struct annotated_line *line)
{
	const struct annotated *lines = p->view->lines;
	struct operands_place place = {.outside = true};
	enum operand_kind kind = operands_kind(line->text);
	const struct symbol *target;
	int width = put_address(p, line);

	if (line->has_target) {
		place.offset = (int64_t)(line->target - lines->addr);
		place.outside =
			line->target < lines->addr || line->target > lines->addr + lines->size;
		target = symbol_at(p, line->target);
		place.target_name = target ? target->name : NULL;
	}
	out_text(p->out, arrow(line, kind, &place));
	p->scratch.n = 0;
	if (p->annotate->look.addresses)
		operands_put_plain(&p->scratch, line->text, p->name_width);
	else
		operands_put(&p->scratch, line->text, p->name_width, &place);
	out_char(&p->scratch, 0);
	put_padded(p, p->scratch.buf, p->before_width + 3 + width);
}

static void print_line(struct printer *p, const struct annotated_line *line)
{
	bool titles = p->first && !has_shares(p, line) && line->ipc == 0 && !line->cycles;
	char text[32];
	int n;

	put_shares(p, line, titles);
	put_cycles(p, line, titles);
	out_char(p->out, ' ');
	if (line->kind == ANNOTATED_INSTRUCTION) {
		print_instruction(p, line);
	} else if (!*line->text) {
		put_padded(p, " ", p->before_width);
	} else {
		if (line->number && p->annotate->look.line_numbers)
			n = snprintf(text, sizeof(text), "%-*u ", p->address_width + 1, line->number);
		else
			n = snprintf(text, sizeof(text), "%-*s  ", p->address_width, " ");
		out_text(p->out, text);
		put_padded(p, line->text, p->before_width + n - 1);
	}
	out_char(p->out, '\n');
	p->first = false;
}

void annotate_print_like_screen(struct annotate *annotate, const struct annotate_view *view)
{
	struct printer p = {.annotate = annotate, .view = view, .out = &annotate->out, .first = true};

	out_init_memory(&p.scratch);
	find_widths(&p);
	if (annotate->o.lines)
		annotate_print_hottest_lines(annotate, view);
	print_title(&p);
	vec_each(const struct annotated_line, line, &view->lines->lines) {
		if (line->kind == ANNOTATED_INSTRUCTION || !annotate->look.no_source)
			print_line(&p, line);
	}
	out_done(&p.scratch);
}
