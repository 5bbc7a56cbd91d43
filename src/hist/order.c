// SPDX-License-Identifier: GPL-2.0-or-later
// How rows compare, by their columns.
#include "hist/report.h"

static const struct column *sibling(const struct column *column, size_t event)
{
	return event < column->siblings_n ? column->siblings[event] : NULL;
}

// The first event of the group that has the field has it for all.
static bool is_for_group(const struct column *column, const struct event *leader)
{
	for (size_t i = leader->index; i < column->event->index; i++) {
		if (sibling(column, i))
			return false;
	}
	return column->event->leader == leader;
}

bool column_skipped(const struct column *column, const struct hist *hist)
{
	if (column->elided || !column->field || column->event == hist->event)
		return column->elided;
	return !hist->report->grouped || !is_for_group(column, hist->event);
}

const struct column *column_of_entry(const struct column *column, const struct entry *e)
{
	return column->event == e->x->event ? column : sibling(column, e->x->event->index);
}

int column_field_part(const struct column *column, const struct entry *e, const uint8_t **ret)
{
	const struct tp_field *field = column->field;
	uint32_t offset = field->offset, size = field->size;

	if (field->is_dynamic) {
		uint64_t where = tp_number(field, e->x->raw, e->x->raw_size);

		offset = where & 0xffff;
		size = where >> 16 & 0xffff;
		if (field->is_relative)
			offset += field->offset + field->size;
	}
	if (!e->x->raw || offset > e->x->raw_size || size > e->x->raw_size - offset)
		return 0;
	*ret = (const uint8_t *)e->x->raw + offset;
	return (int)size;
}

int64_t column_field_compare(const struct column *column, const struct entry *l,
			     const struct entry *r)
{
	const struct column *of_l, *of_r;
	const uint8_t *a = NULL, *b = NULL;
	int a_n, b_n, cmp;

	if (column->event != l->x->event && l->x->event == r->x->event)
		return 0;
	of_l = column_of_entry(column, l);
	of_r = column_of_entry(column, r);
	if (!of_l || !of_r)
		return (of_l != NULL) - (of_r != NULL);
	a_n = column_field_part(of_l, l, &a);
	b_n = column_field_part(of_r, r, &b);
	cmp = a && b ? memcmp(a, b, (size_t)(a_n < b_n ? a_n : b_n)) : 0;
	return cmp ? cmp : a_n - b_n;
}

void column_was_compared(struct column *column, const struct entry *e)
{
	const uint8_t *part;

	if (column->field && column->field->is_dynamic && column->event == e->x->event)
		column->dynamic_width =
			MAX(column->dynamic_width, column_field_part(column, e, &part));
}

int64_t column_compare(const struct column *column, const struct entry *l, const struct entry *r)
{
	if (column->field)
		return column_field_compare(column, l, r);
	return column->key ? column->key->compare(l->hist->report, l, r) : 0;
}

// As rows.
static int64_t column_sort(const struct column *column, const struct entry *l, const struct entry *r)
{
	return column->key && column->key->sort ? column->key->sort(l->hist->report, l, r)
						: column_compare(column, l, r);
}

int64_t entry_compare_from(size_t from, const struct entry *l, const struct entry *r)
{
	const struct report *report = l->hist->report;

	for (size_t i = from; i < report->sorts.n; i++) {
		int64_t cmp = column_compare(report->sorts.v[i], l, r);

		if (cmp)
			return cmp;
	}
	return 0;
}

int64_t entry_compare(const struct report *report, const struct entry *l, const struct entry *r)
{
	return entry_compare_from(0, l, r);
}

uint64_t entry_number(const struct entry *e, enum number number)
{
	switch (number) {
	case NUMBER_SYS:
		return e->more->period_sys;
	case NUMBER_US:
		return e->more->period_us;
	case NUMBER_GUEST_SYS:
		return e->more->period_guest_sys;
	case NUMBER_GUEST_US:
		return e->more->period_guest_us;
	case NUMBER_CHILDREN:
		return e->acc;
	case NUMBER_SAMPLES:
		return e->samples;
	default:
		return e->period;
	}
}

static int64_t compare_u64(uint64_t l, uint64_t r)
{
	return l < r ? -1 : l > r;
}

static uint64_t member_number(const struct entry *e, uint32_t i, enum number number)
{
	const struct entry *member = e->more->members ? e->more->members[i] : NULL;

	return member ? entry_number(member, number) : 0;
}

static int64_t number_sort(const struct report *report, enum number number, const struct entry *l,
			   const struct entry *r)
{
	int64_t cmp = compare_u64(entry_number(l, number), entry_number(r, number));
	uint32_t members = report->grouped ? l->hist->event->group_members : 0;

	if (number == NUMBER_CHILDREN) {
		if (!report->children)
			return 0;
		if (cmp || l->task != r->task || !report->use_chains)
			return cmp;
		cmp = (int64_t)r->max_depth - l->max_depth;
		return report->chain.caller ? -cmp : cmp;
	}
	if (members < 2)
		return cmp;
	if (report->o.group_index > 0 && (uint32_t)report->o.group_index < members) {
		uint32_t index = (uint32_t)report->o.group_index;

		cmp = compare_u64(member_number(l, index, number), member_number(r, index, number));
	}
	for (uint32_t i = 1; i < members && !cmp; i++)
		cmp = compare_u64(member_number(l, i, number), member_number(r, i, number));
	return cmp;
}

int64_t entry_sort(const struct report *report, const struct entry *l, const struct entry *r)
{
	for (size_t i = 0; i < report->sorts.n; i++) {
		const struct column *column = report->sorts.v[i];
		int64_t cmp;

		if (column_skipped(column, l->hist))
			continue;
		if (column->key || column->field)
			cmp = column_sort(column, l, r);
		else
			cmp = number_sort(report, column->number, l, r);
		if (cmp)
			return cmp;
	}
	return 0;
}
