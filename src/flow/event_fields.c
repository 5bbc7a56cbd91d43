// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/event_fields.h"

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	const struct event *event = arg;
	const struct tp_field *fields;
	size_t n = event->tp ? tracepoint_fields(event->tp, &fields) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct tp_field *field = &fields[i];

		if (!str_is(name, field->name))
			continue;
		*ret = (struct expr_field){
			.kind = field->is_dynamic ? field->is_relative ? EXPR_FIELD_RELATIVE
								       : EXPR_FIELD_DYNAMIC
				: field->is_array ? EXPR_FIELD_ARRAY
						  : EXPR_FIELD_NUMBER,
			.offset = field->offset,
			.size = field->size,
			.element_size = field->element_size ? field->element_size : 1,
			.is_signed = field->is_signed,
			.is_text = field->is_string,
			.is_pointer = field->is_pointer,
		};
		return true;
	}
	return false;
}

static const char *name(void *arg, size_t i)
{
	const struct event *event = arg;
	const struct tp_field *fields;
	size_t n = event->tp ? tracepoint_fields(event->tp, &fields) : 0;

	return i < n ? fields[i].name : NULL;
}

struct expr_fields event_fields(const struct event *event)
{
	const struct tp_field *fields;
	bool swapped = event->tp && tracepoint_fields(event->tp, &fields) && fields[0].is_swapped;

	return (struct expr_fields){.find = find,
				    .name = name,
				    .arg = (void *)(uintptr_t)event,
				    .swapped = swapped};
}
