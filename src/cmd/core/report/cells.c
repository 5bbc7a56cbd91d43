// SPDX-License-Identifier: GPL-2.0-or-later
// What stands in the columns of rows, and how wide they are: in perf's layout to the byte.
#include "cmd/core/text_color.h"
#include "cmd/core/report/report.h"
#include <stdio.h>

enum { UNRESOLVED = 16 };

static void widen(struct hist *hist, enum width width, size_t n)
{
	if (n > hist->widths[width])
		hist->widths[width] = (uint16_t)n;
}

static void widen_dso(struct hist *hist, enum width width)
{
	const struct report_options *o = &hist->report->o;

	if (!o->widths && !o->separator && !o->filter.dsos)
		widen(hist, width, UNRESOLVED);
}

static size_t dso_length(const struct hist *hist, const struct dso *dso)
{
	return dso ? strlen(hist->report->verbose > 0 ? dso->long_name : dso->short_name) : 9;
}

static size_t symbol_length(const struct hist *hist, const struct symbol *sym)
{
	return strlen(sym->name) + sym->hidden_width + 4 +
	       (hist->report->verbose > 0 ? UNRESOLVED + 2 + 3 : 0);
}

// The columns of an end of a branch.
struct end_widths {
	enum width symbol, dso, addr;
};
static const struct end_widths from_widths = {WIDTH_SYMBOL_FROM, WIDTH_DSO_FROM, WIDTH_ADDR_FROM};
static const struct end_widths to_widths = {WIDTH_SYMBOL_TO, WIDTH_DSO_TO, WIDTH_ADDR_TO};

static void widen_end(struct hist *hist, const struct place *place, const struct end_widths *widths)
{
	if (place->sym) {
		widen(hist, widths->symbol, symbol_length(hist, place->sym));
		widen(hist, widths->dso, dso_length(hist, place->dso));
	} else {
		widen(hist, widths->symbol, UNRESOLVED + 4 + 2);
		widen(hist, widths->addr, UNRESOLVED + 4 + 2);
		widen_dso(hist, widths->dso);
	}
}

static void widen_text(struct hist *hist, const char *name, const struct entry *e, size_t least)
{
	const struct key *key = report_key(name);
	struct report *report = hist->report;
	bool wanted = false;

	for (size_t i = 0; i < report->fields.n && !wanted; i++)
		wanted = report->fields.v[i]->key && !strcmp(report->fields.v[i]->key->name, name);
	if (!wanted)
		return;
	report->scratch.n = 0;
	key->print(report, e, &report->scratch, -1);
	widen(hist, key->width, MAX(report->scratch.n, least));
}

static void widen_memory(struct hist *hist, const struct entry *e)
{
	size_t unresolved = UNRESOLVED + 4 + 2, n;

	if (!e->x->mem) {
		widen(hist, WIDTH_MEM_DADDR_SYMBOL, unresolved);
		widen(hist, WIDTH_MEM_IADDR_SYMBOL, unresolved);
		widen_dso(hist, WIDTH_MEM_DADDR_DSO);
		return;
	}
	if (e->x->mem->data.sym) {
		n = strlen(e->x->mem->data.sym->name) + 4 + UNRESOLVED + 2;
		widen(hist, WIDTH_MEM_DADDR_SYMBOL, n);
		widen(hist, WIDTH_MEM_DCACHELINE, n + 1);
	} else {
		widen(hist, WIDTH_MEM_DADDR_SYMBOL, unresolved);
		widen(hist, WIDTH_MEM_DCACHELINE, unresolved);
	}
	n = e->x->mem->code.sym ? strlen(e->x->mem->code.sym->name) + 4 + UNRESOLVED + 2 : unresolved;
	widen(hist, WIDTH_MEM_IADDR_SYMBOL, n);
	if (e->x->mem->data.dso)
		widen(hist, WIDTH_MEM_DADDR_DSO, dso_length(hist, e->x->mem->data.dso));
	else
		widen_dso(hist, WIDTH_MEM_DADDR_DSO);
	widen(hist, WIDTH_MEM_PHYS_DADDR, unresolved);
	widen(hist, WIDTH_MEM_DATA_PAGE_SIZE, unresolved);
}

static const struct {
	enum width width;
	uint16_t n;
} fixed_widths[] = {
	{WIDTH_CGROUP, 6},	    {WIDTH_CGROUP_ID, 20},	   {WIDTH_CPU, 3},
	{WIDTH_SOCKET, 6},	    {WIDTH_MEM_LOCKED, 6},	   {WIDTH_MEM_TLB, 22},
	{WIDTH_MEM_SNOOP, 12},	    {WIDTH_MEM_LVL, 24},	   {WIDTH_LOCAL_WEIGHT, 12},
	{WIDTH_GLOBAL_WEIGHT, 12},  {WIDTH_MEM_BLOCKED, 10},	   {WIDTH_LOCAL_INS_LAT, 13},
	{WIDTH_GLOBAL_INS_LAT, 13}, {WIDTH_LOCAL_P_STAGE_CYC, 13}, {WIDTH_GLOBAL_P_STAGE_CYC, 13},
	{WIDTH_ADDR, 18},	    {WIDTH_CODE_PAGE_SIZE, 6},
};

void hist_widths_of(struct hist *hist, const struct entry *e)
{
	const struct report *report = hist->report;
	size_t n;

	if (e->place.sym) {
		widen(hist, WIDTH_SYMBOL, symbol_length(hist, e->place.sym));
	} else {
		widen(hist, WIDTH_SYMBOL, UNRESOLVED + 4 + 2);
		widen_dso(hist, WIDTH_DSO);
	}
	n = e->task ? strlen(task_comm(report->run->sym, e->task)) : 0;
	if (n > hist->widths[WIDTH_COMM]) {
		widen(hist, WIDTH_COMM, n);
		hist->widths[WIDTH_THREAD] = (uint16_t)(n + 8);
	}
	if (e->place.dso)
		widen(hist, WIDTH_DSO, dso_length(hist, e->place.dso));
	if (e->x->parent)
		widen(hist, WIDTH_PARENT, strlen(e->x->parent->name));
	if (e->x->branch) {
		widen_end(hist, &e->x->branch->from, &from_widths);
		widen_end(hist, &e->x->branch->to, &to_widths);
		widen_text(hist, "srcline_from", e, 0);
		widen_text(hist, "srcline_to", e, 0);
	}
	widen_memory(hist, e);
	for (size_t i = 0; i < ARRAY_SIZE(fixed_widths); i++)
		widen(hist, fixed_widths[i].width, fixed_widths[i].n);
	widen(hist, WIDTH_TIME, report->o.ns ? 16 : 12);
	widen_text(hist, "srcline", e, strlen("Source:Line"));
	if (e->x->srcfile)
		widen(hist, WIDTH_SRCFILE, strlen(e->x->srcfile));
	if (e->x->transaction)
		widen(hist, WIDTH_TRANSACTION, 32);
	if (e->x->trace)
		widen(hist, WIDTH_TRACE, strlen(e->x->trace));
	if (e->x->cgroup)
		widen_text(hist, "cgroup", e, 0);
	for (size_t i = 0; i < report->fields.n; i++) {
		struct column *column = report->fields.v[i];

		if (column->field && !column_skipped(column, hist)) {
			struct report *writable = hist->report;

			writable->scratch.n = 0;
			column_print(column, hist, e, &writable->scratch);
		}
	}
}

static bool is_percent(enum number number)
{
	return number != NUMBER_SAMPLES && number != NUMBER_PERIOD;
}

static int number_length(enum number number)
{
	switch (number) {
	case NUMBER_GUEST_SYS:
	case NUMBER_GUEST_US:
		return 9;
	case NUMBER_SAMPLES:
	case NUMBER_PERIOD:
		return 12;
	default:
		return 8;
	}
}

static int field_width(const struct column *column)
{
	const struct tp_field *field = column->field;
	int n = MAX(column->dynamic_width, (int)strlen(field->name));

	return MAX(n, field->is_string ? field->size : field->size * 2 + 2);
}

int column_width(const struct column *column, const struct hist *hist)
{
	const struct report *report = hist->report;
	int n;

	if (column->key)
		return column->user_width ? column->user_width : hist->widths[column->key->width];
	if (column->field)
		return column->user_width ? column->user_width : field_width(column);
	n = column->user_width ? column->user_width : number_length(column->number);
	if (report->grouped && hist->event->group_members > 1)
		n = MAX(n, (int)hist->event->group_members * number_length(column->number));
	return MAX(n, (int)strlen(column->name));
}

static void print_header(const struct column *column, const struct hist *hist, struct out *out)
{
	int width = column_width(column, hist);

	if (column->key)
		out_printf(out, "%-*.*s", width, width, column->name);
	else if (column->field)
		out_printf(out, "%*.*s", width, width, column->name);
	else
		out_printf(out, "%*s", width, column->name);
}

void column_header(const struct column *column, const struct hist *hist, struct out *out)
{
	struct out text;

	if (!hist->report->escape) {
		print_header(column, hist, out);
		return;
	}
	out_init_memory(&text);
	print_header(column, hist, &text);
	out_char(&text, 0);
	out_escaped(out, text.buf);
	out_done(&text);
}

// "%*.2f%%". Near the middle between two hundredths printf knows better which way to round.
static void print_percent(struct out *out, double percent, int width)
{
	double hundredths = percent * 100.0, rest;
	uint64_t n;
	char text[32];
	unsigned digits;

	if (!(hundredths >= 0 && hundredths < 1e9)) {
		out_printf(out, "%*.2f%%", width, percent);
		return;
	}
	n = (uint64_t)hundredths;
	rest = hundredths - (double)n;
	if (rest > 0.499999 && rest < 0.500001) {
		out_printf(out, "%*.2f%%", width, percent);
		return;
	}
	n += rest > 0.5;
	digits = num_put_u64(text, n / 100);
	if (width > (int)digits + 3)
		out_fill(out, ' ', (size_t)width - digits - 3);
	out_bytes(out, text, digits);
	out_char(out, '.');
	out_char(out, (char)('0' + n / 10 % 10));
	out_char(out, (char)('0' + n % 10));
	out_char(out, '%');
}

static void print_share(const struct report *report, struct out *out, double percent, int width)
{
	const char *color = report->colors && !report->separator ? text_color_of(percent) : "";

	out_text(out, color);
	out_char(out, ' ');
	print_percent(out, percent, width);
	if (*color)
		out_text(out, TEXT_PLAIN);
}

static void print_number(const struct column *column, const struct hist *hist,
			 const struct entry *e, struct out *out)
{
	const struct report *report = hist->report;
	enum number number = column->number;
	int n = column->user_width ? column->user_width : number_length(number);
	uint32_t members = report->grouped ? hist->event->group_members : 1;

	if (number == NUMBER_CHILDREN && !report->children) {
		out_printf(out, " %*s", n - 1, "N/A");
		return;
	}
	n = report->separator ? 1 : is_percent(number) ? n - 2 : n - 1;
	for (uint32_t i = 0; i < MAX(members, 1u); i++) {
		const struct entry *of = i ? e->more->members ? e->more->members[i] : NULL : e;
		uint64_t value = of ? entry_number(of, number) : 0;
		uint64_t total = of ? hist_total(of->hist) : 0;

		if (is_percent(number)) {
			print_share(report, out,
				    total ? 100.0 * (double)value / (double)total : 0.0, n);
		} else {
			out_char(out, ' ');
			out_u64_right(out, value, n);
		}
	}
}

// "name=value" of the printed event; without it the field's raw value. Can the column be made wider for it?
static bool field_text(const struct column *column, const struct entry *e, struct str *ret,
		       struct out *scratch)
{
	const char *at = column->raw_trace ? NULL : e->x->trace;
	size_t name_n = strlen(column->field->name);

	while (at && *at) {
		const char *end = strchrnul(at, ' ');

		if (!strncmp(at, column->field->name, name_n) && (size_t)(end - at) > name_n) {
			*ret = (struct str){at + name_n + 1, (size_t)(end - at) - name_n - 1};
			return true;
		}
		at = *end ? end + 1 : NULL;
	}
	if (column->field->is_string) {
		*ret = tp_string(column->field, e->x->raw, e->x->raw_size);
	} else {
		tp_print_value(scratch, column->field, e->x->raw, e->x->raw_size);
		*ret = (struct str){scratch->buf, scratch->n};
	}
	return column->field->is_string || !column->field->is_array; // bytes of arrays are cut
}

static void print_field(const struct column *column, const struct entry *e, struct out *out)
{
	struct column *writable = (struct column *)column;
	const struct column *of = column_of_entry(column, e);
	struct str value = str_of("N/A");
	struct out scratch;
	int width;

	out_init_memory(&scratch);
	if (!of || field_text(of, e, &value, &scratch))
		writable->dynamic_width = MAX(column->dynamic_width, (int)value.n);
	width = column->user_width ? column->user_width : field_width(column);
	if ((int)value.n > width)
		value.n = (size_t)width;
	out_fill(out, ' ', (size_t)width - value.n);
	out_str(out, value);
	out_done(&scratch);
}

static void print_cell(const struct column *column, const struct hist *hist, const struct entry *e,
		       struct out *out)
{
	const struct report *report = hist->report;
	size_t start = out->n;

	if (column->field) {
		print_field(column, e, out);
	} else if (!column->key) {
		print_number(column, hist, e, out);
	} else {
		if (column->key->width == WIDTH_TRACE && !hist->event->tp)
			out_printf(out, "%-.*s", column_width(column, hist), "N/A");
		else
			column->key->print(report, e, out, column_width(column, hist));
		for (size_t i = start; report->separator && i < out->n; i++) {
			if (out->buf[i] == report->separator)
				out->buf[i] = '.';
		}
	}
}

void column_print(const struct column *column, const struct hist *hist, const struct entry *e,
		  struct out *out)
{
	struct out text;

	// Numbers have nothing to escape but their own colours.
	if (!hist->report->escape || (!column->key && !column->field)) {
		print_cell(column, hist, e, out);
		return;
	}
	out_init_memory(&text);
	print_cell(column, hist, e, &text);
	out_char(&text, 0);
	out_escaped(out, text.buf);
	out_done(&text);
}

void hist_print_columns(const struct hist *hist, const struct entry *e, struct out *out)
{
	const struct report *report = hist->report;
	bool first = true;

	for (size_t i = 0; i < report->fields.n; i++) {
		const struct column *column = report->fields.v[i];
		size_t start, n;
		int width;

		if (column_skipped(column, hist))
			continue;
		if (!report->separator || !first)
			out_text(out, report->separator ? report->separator_text : "  ");
		first = false;
		out_room(out, 4096); // so that what column_print wrote is still in the buffer
		start = out->n;
		column_print(column, hist, e, out);
		width = column_width(column, hist);
		n = out->n - start; // with colours, as perf
		if (i + 1 < report->fields.n && (int)n < width)
			out_fill(out, ' ', (size_t)width - n);
	}
}

void report_event_name(const struct report *report, const struct event *event, struct out *out)
{
	const struct recording *recording = report->run->recording;

	if (!report->grouped || event->group_members < 2) {
		out_safe(out, event->name);
		return;
	}
	if (!report->o.group_given) {
		out_safe(out, event->group_name ? event->group_name : "anon group");
		out_text(out, " { ");
	}
	for (uint32_t i = 0; i < event->group_members; i++) {
		out_text(out, i ? ", " : "");
		out_safe(out, recording->events.v[event->index + i]->name);
	}
	if (!report->o.group_given)
		out_text(out, " }");
}

void hist_widen_to_headers(struct hist *hist)
{
	const struct report *report = hist->report;

	for (size_t i = 0; i < report->fields.n; i++) {
		const struct column *column = report->fields.v[i];

		if (column->key)
			widen(hist, column->key->width, strlen(column->name));
	}
	for (size_t i = 0; i < report->sorts.n; i++) {
		const struct column *column = report->sorts.v[i];

		if (column->key)
			widen(hist, column->key->width, strlen(column->name));
	}
}

// A list of exactly one word.
static const char *single(const char *list)
{
	return list && *list && !strchr(list, ',') && !text_starts(list, "file://") ? list : NULL;
}

void report_setup_elided(struct report *report)
{
	const struct filter_options *filter = &report->o.filter;
	bool any_left = false;

	for (size_t i = 0; i < report->fields.n; i++) {
		struct column *column = report->fields.v[i];
		const char *one = NULL, *name = NULL;

		if (!column->key)
			continue;
		if (column->key->width == WIDTH_SYMBOL)
			one = single(filter->symbols), name = "symbol";
		else if (column->key->width == WIDTH_DSO)
			one = single(filter->dsos), name = "dso";
		else if (column->key->width == WIDTH_COMM)
			one = single(filter->comms), name = "comm";
		if (one) {
			column->elided = !report->o.hierarchy; // there it is a level of its own
			out_printf(&report->out, "# %s: %s\n", name, one);
		} else {
			any_left = true;
		}
	}
	for (size_t i = 0; i < report->fields.n && !any_left; i++)
		report->fields.v[i]->elided = false;
}
