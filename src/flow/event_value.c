// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/event_value.h"
#include "base/err.h"
#include "flow/event_fields.h"

int event_value_init(struct event_value *ret, struct expr_machine *machine,
		     const struct event *event, const char *text)
{
	const struct expr_fields fields = event_fields(event);
	struct event_value value = {.machine = machine};
	int err;

	if (event->tp)
		value.field = tracepoint_field(event->tp, text);
	if (value.field) {
		const struct tp_field *f = value.field;

		value.is_text = f->is_string;
		value.is_signed = value.field_signed = f->is_signed;
		value.offset = f->offset;
		if (!f->is_string && !f->is_array && !f->is_dynamic && !f->is_swapped &&
		    (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8))
			value.width = (uint8_t)f->size;
		*ret = value;
		return 0;
	}
	for (unsigned i = 0; i < EXPR_CONTEXTS; i++)
		if (!strcmp(text, expr_context_name(i)))
			value.context = (uint8_t)(i + 1);
	if (value.context) { // as their types in expressions
		value.is_signed = value.context <= EXPR_TID + 1;
		*ret = value;
		return 0;
	}
	err = expr_compile(&value.expr, text, &fields);
	if (err)
		return fail_context(err, "%s", event->name);
	value.is_text = expr_is_text(value.expr);
	value.is_signed = expr_is_signed(value.expr);
	value.is_constant = !value.is_text && expr_is_constant(value.expr, &value.constant);
	value.has_step = !value.is_text && expr_is_step(value.expr, &value.step);
	if (value.has_step) {
		value.offset = value.step.offset;
		value.width = value.step.width;
		value.field_signed = value.step.is_signed;
	}
	*ret = value;
	return 0;
}

void event_value_done(struct event_value *value)
{
	expr_free(value->expr);
	value->expr = NULL;
}

uint64_t event_value_slow(const struct event_value *value, const struct sample *sample)
{
	uint64_t context[EXPR_CONTEXTS];
	struct expr_record record;
	struct expr_value result;

	if (value->field)
		return tp_number(value->field, sample->raw, sample->raw_size);
	if (!value->expr)
		return 0;
	record = event_record(sample, context);
	return expr_run(value->machine, value->expr, &record, &result) ? 0 : result.number;
}

struct str event_value_text(const struct event_value *value, const struct sample *sample)
{
	uint64_t context[EXPR_CONTEXTS];
	struct expr_record record;
	struct expr_value result;

	if (value->field)
		return value->is_text ? tp_string(value->field, sample->raw, sample->raw_size)
				      : (struct str){0};
	if (!value->expr || !value->is_text)
		return (struct str){0};
	record = event_record(sample, context);
	return expr_run(value->machine, value->expr, &record, &result) ? (struct str){0}
								       : result.text;
}
