// SPDX-License-Identifier: GPL-2.0-or-later
// perf's layout of annotate --stdio: tools/perf/util/annotate.c, symbol__tty_annotate.
#include "cmd/annotate/annotate.h"
#include "cmd/core/text_color.h"
#include <stdio.h>

static const double least_shown_line = 0.5; // percent

struct printer {
	struct annotate *annotate;
	const struct annotate_view *view;
	struct out *out;
	int column_width, address_width;
	const char *shown_path; // the line that stood behind an instruction last
	struct arena arena;
};

static void color(struct printer *p, const char *color)
{
	if (p->annotate->colors && *color)
		out_text(p->out, color);
}

static void end_color(struct printer *p, const char *color)
{
	if (p->annotate->colors && *color)
		out_text(p->out, TEXT_PLAIN);
}

static double percent_max(const struct printer *p, const struct annotated_line *line)
{
	double max = 0;

	for (uint32_t i = 0; i < p->view->lines->events_n; i++) {
		double percent = annotate_percent(p->annotate, p->view, line->counts, i);

		max = percent > max ? percent : max;
	}
	return max;
}

// The line of an instruction as the summary has it.
static const char *line_path(struct printer *p, const struct annotated_line *line)
{
	if (!line->file || !line->line)
		return "??:0";
	return arena_fmt(&p->arena, "%s:%u",
			 p->annotate->o.full_paths ? line->file : text_base_name(line->file),
			 line->line);
}

struct summary_line {
	const char *path;
	double *percents;
	uint32_t n;
};

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct summary_line *)b)->path, ((const struct summary_line *)a)->path);
}

static int by_percent(const void *a, const void *b)
{
	const struct summary_line *x = a, *y = b;

	for (uint32_t i = 0; i < x->n; i++) {
		if (x->percents[i] != y->percents[i])
			return x->percents[i] > y->percents[i] ? -1 : 1;
	}
	// What is equal stays in the order of by_path.
	return by_path(a, b);
}

static void print_summary_line(struct printer *p, const struct summary_line *line)
{
	const char *shade;
	double max = 0;

	for (uint32_t i = 0; i < line->n; i++) {
		shade = text_color_of(line->percents[i]);
		max = MAX(max, line->percents[i]);
		color(p, shade);
		out_printf(p->out, " %7.2f", line->percents[i]);
		end_color(p, shade);
	}
	shade = text_color_of(max);
	color(p, shade);
	out_char(p->out, ' ');
	out_safe(p->out, line->path);
	out_char(p->out, '\n');
	end_color(p, shade); // in the next line, as perf's
}

static void print_summary(struct printer *p)
{
	const struct annotated *lines = p->view->lines;
	VEC(struct summary_line) found = {0};
	size_t kept = 0;

	vec_each(const struct annotated_line, line, &lines->lines) {
		struct summary_line *to;

		if (!line->counts || percent_max(p, line) <= least_shown_line)
			continue;
		to = vec_add(&found);
		to->path = line_path(p, line);
		to->n = lines->events_n;
		to->percents = arena_alloc(&p->arena, lines->events_n * sizeof(double));
		for (uint32_t i = 0; i < lines->events_n; i++)
			to->percents[i] = annotate_percent(p->annotate, p->view, line->counts, i);
	}
	if (found.n)
		qsort(found.v, found.n, sizeof(*found.v), by_path);
	for (size_t i = 0; i < found.n; i++) {
		if (!kept || strcmp(found.v[kept - 1].path, found.v[i].path) != 0) {
			found.v[kept++] = found.v[i];
			continue;
		}
		for (uint32_t k = 0; k < lines->events_n; k++)
			found.v[kept - 1].percents[k] += found.v[i].percents[k];
	}
	if (kept)
		qsort(found.v, kept, sizeof(*found.v), by_percent);
	out_text(p->out, "\nSorted summary for file ");
	out_safe(p->out, p->view->entry->place.dso->long_name);
	out_text(p->out, "\n----------------------------------------------\n\n");
	if (!kept)
		out_printf(p->out, " Nothing higher than %1.1f%%\n", least_shown_line);
	for (size_t i = 0; i < kept; i++) {
		print_summary_line(p, &found.v[i]);
	}
	vec_done(&found);
}

static void print_title(struct printer *p)
{
	const struct annotate_command_options *o = &p->annotate->o;
	const struct annotated *lines = p->view->lines;
	const char *path = p->view->entry->place.dso->long_name;
	int width = p->column_width * (int)lines->events_n;
	struct out title;
	size_t names; // where those begin that others chose

	out_init_memory(&title);
	out_printf(&title, " %-*.*s|\t", width, width,
		   o->total_period ? "Period"
		   : o->counts	   ? "Samples"
				   : "Percent");
	names = title.n;
	out_printf(&title, "Source code & Disassembly of %s for ",
		   o->full_paths ? path : text_base_name(path));
	report_event_name(&p->annotate->report, p->view->hist->event, &title);
	out_printf(&title, " (%llu samples, percent: %s)",
		   (unsigned long long)lines->totals[0].samples,
		   percent_type_names[p->annotate->percent_type]);
	out_char(&title, 0);
	out_bytes(p->out, title.buf, names);
	out_safe(p->out, title.buf + names);
	out_char(p->out, '\n');
	out_fill(p->out, '-', title.n + 4);
	out_char(p->out, '\n');
	out_done(&title);
}

// -v: which addresses have samples.
static void print_counts(struct printer *p)
{
	const struct annotated *lines = p->view->lines;

	vec_each(const struct annotated_line, line, &lines->lines) {
		if (line->counts && line->counts[0].samples)
			out_printf(p->out, "%*llx: %llu\n", 32, (unsigned long long)line->addr,
				   (unsigned long long)line->counts[0].samples);
	}
	out_printf(p->out, "%*s: %llu\n", 32, "h->nr_samples",
		   (unsigned long long)lines->totals[0].samples);
}

// What follows, to the end of the instruction, is blue.
static void print_address(struct printer *p, uint64_t addr)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llx:", (unsigned long long)addr);

	color(p, TEXT_MAGENTA);
	out_fill(p->out, ' ', 2 + (size_t)MAX(p->address_width + 1 - n, 0));
	out_text(p->out, text);
	end_color(p, TEXT_MAGENTA);
	color(p, TEXT_BLUE);
	// objdump puts a tab there, which perf expands without what stood before.
	out_fill(p->out, ' ', 8 - (size_t)n % 8);
}

// Of branch stacks: how many came by a jump to here, how many left by this branch.
static void print_branches(struct printer *p, const struct annotated_line *line)
{
	const struct place *place = &p->view->entry->place;
	struct range_note note;
	static const double least = 0.1;

	if (!p->annotate->ranges)
		return;
	note = ranges_at(p->annotate->ranges, place->dso, place->sym->start + line->offset);
	if (note.entered > least || note.left > least)
		out_text(p->out, "\t#");
	if (note.entered > least)
		out_printf(p->out, " +%.2f%%", note.entered);
	if (note.left > least)
		out_printf(p->out, " -%.2f%% (p:%.2f%%)", note.left, note.predicted);
}

enum { BYTES_A_LINE = 7, BYTES_WIDTH = 24 };

static uint32_t print_bytes(struct printer *p, const struct annotated_line *line, uint32_t at)
{
	uint32_t n = MIN(line->size - at, BYTES_A_LINE);

	for (uint32_t i = 0; i < n; i++)
		out_printf(p->out, i ? " %02x" : "%02x", line->bytes[at + i]);
	return n * 3 - 1;
}

// Bytes that don't fit stand below, as lines of their own.
static void print_more_bytes(struct printer *p, const struct annotated_line *line)
{
	const struct annotate_command_options *o = &p->annotate->o;
	const char *none = o->total_period || o->counts ? "0" : "0.00";

	for (uint32_t at = BYTES_A_LINE; at < line->size; at += BYTES_A_LINE) {
		for (uint32_t i = 0; i < p->view->lines->events_n; i++)
			out_printf(p->out, " %*s", o->total_period ? 11 : 7, none);
		out_text(p->out, " : ");
		print_address(p, line->addr + at);
		print_bytes(p, line, at);
		end_color(p, TEXT_BLUE);
		out_char(p->out, '\n');
	}
}

static void print_instruction(struct printer *p, const struct annotated_line *line)
{
	const struct annotate_command_options *o = &p->annotate->o;
	double max = percent_max(p, line);
	const char *shade = "";

	for (uint32_t i = 0; i < p->view->lines->events_n; i++) {
		double percent = annotate_percent(p->annotate, p->view, line->counts, i);

		shade = text_color_of(percent);
		color(p, shade);
		if (o->total_period)
			out_printf(p->out, " %11llu", (unsigned long long)line->counts[i].period);
		else if (o->counts)
			out_printf(p->out, " %7llu", (unsigned long long)line->counts[i].samples);
		else
			out_printf(p->out, " %7.2f", percent);
		end_color(p, shade);
	}
	out_text(p->out, " : ");
	print_address(p, line->addr);
	if (o->raw_bytes)
		out_fill(p->out, ' ', BYTES_WIDTH - print_bytes(p, line, 0));
	out_safe(p->out, line->text);
	end_color(p, TEXT_BLUE);
	print_branches(p, line);
	if (o->lines && max > least_shown_line) {
		const char *path = line_path(p, line);

		if (!p->shown_path || strcmp(path, p->shown_path) != 0) {
			color(p, shade);
			out_text(p->out, " // ");
			out_safe(p->out, path);
			end_color(p, shade);
			p->shown_path = path;
		}
	}
	out_char(p->out, '\n');
	if (o->raw_bytes)
		print_more_bytes(p, line);
}

static void print_text(struct printer *p, const struct annotated_line *line)
{
	int width = p->column_width * (int)p->view->lines->events_n;

	if (!*line->text) {
		out_printf(p->out, " %*s:\n", width, " ");
		return;
	}
	out_printf(p->out, " %*s: %-*u ", width, " ", p->address_width, line->number);
	out_safe(p->out, line->text);
	out_char(p->out, '\n');
}

void annotate_print_hottest_lines(struct annotate *annotate, const struct annotate_view *view)
{
	struct printer p = {.annotate = annotate, .view = view, .out = &annotate->out};

	print_summary(&p);
	arena_done(&p.arena);
}

void annotate_print(struct annotate *annotate, const struct annotate_view *view)
{
	struct printer p = {
		.annotate = annotate,
		.view = view,
		.out = &annotate->out,
		.column_width = annotate->o.total_period ? 12 : 8,
	};

	vec_each(const struct annotated_line, line, &view->lines->lines) {
		char text[24];

		if (line->kind == ANNOTATED_INSTRUCTION)
			p.address_width =
				snprintf(text, sizeof(text), "%llx", (unsigned long long)line->addr);
	}
	if (annotate->o.lines)
		print_summary(&p);
	print_title(&p);
	if (annotate->o.verbose > 0)
		print_counts(&p);
	vec_each(const struct annotated_line, line, &view->lines->lines) {
		if (line->kind == ANNOTATED_INSTRUCTION)
			print_instruction(&p, line);
		else
			print_text(&p, line);
	}
	arena_done(&p.arena);
}
