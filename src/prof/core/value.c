// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/value.h"
#include "base/err.h"
#include "flow/event_fields.h"
#include "prof/core/profiler.h"

int prof_compile(struct expr **ret, struct prof *prof, const struct prof_event *event,
		 const char *text)
{
	const struct event *recorded = event->feed->event;
	struct expr_fields fields = event_fields(recorded);
	int err = expr_compile(ret, text, &fields);

	if (err)
		return fail_context(err, "%s", recorded->name);
	prof->needs_symbols |= expr_asks_symbols(*ret);
	prof->needs_tasks |= expr_asks_tasks(*ret);
	return 0;
}

int prof_value_init(struct prof_value *ret, struct prof *prof, const struct prof_event *event,
		    const char *text)
{
	const struct event *recorded = event->feed->event;
	struct prof_value value = {.machine = prof->machine};
	int err;

	if (recorded->tp)
		value.field = tracepoint_field(recorded->tp, text);
	if (value.field) {
		const struct tp_field *f = value.field;

		value.is_text = f->is_string;
		value.is_signed = f->is_signed;
		value.offset = f->offset;
		if (!f->is_string && !f->is_array && !f->is_dynamic && !f->is_swapped &&
		    (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8))
			value.width = (uint8_t)f->size;
		*ret = value;
		return 0;
	}
	err = prof_compile(&value.expr, prof, event, text);
	if (err)
		return err;
	value.is_text = expr_is_text(value.expr);
	value.is_signed = expr_is_signed(value.expr);
	*ret = value;
	return 0;
}

void prof_value_done(struct prof_value *value)
{
	expr_free(value->expr);
	value->expr = NULL;
}

uint64_t prof_value_slow(const struct prof_value *value, const struct sample *sample)
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

struct str prof_value_text(const struct prof_value *value, const struct sample *sample)
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
