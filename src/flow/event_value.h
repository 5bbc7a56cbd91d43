// SPDX-License-Identifier: GPL-2.0-or-later
// key=, num=, top-by=, ...: a number or a text of each sample. Most are the field's name alone, which is read without the
// expression machine.
#pragma once
#include "abi/sample.h"
#include "abi/tracepoint.h"
#include "data/recording.h"
#include "expr/expr.h"

struct event_value {
	struct expr *expr;	      // NULL: by field, or one of the two below
	const struct tp_field *field; // NULL: by expr
	uint32_t offset;	      // of a plain number
	uint8_t width;		      // 1, 2, 4, 8: plain; 0: not
	bool is_signed, is_text;
	bool field_signed; // of a plain number: as it lies there
	bool has_step;	   // and what is done with it
	uint8_t context;   // 1 + the number of the sample's own that it is; 0: none
	bool is_constant;  // it is always
	uint64_t constant; // this
	struct expr_step step;
	struct expr_machine *machine;
};

// -EINVAL with a sentence that shows the place.
int event_value_init(struct event_value *ret, struct expr_machine *machine,
		     const struct event *event, const char *text);
void event_value_done(struct event_value *value);
uint64_t event_value_slow(const struct event_value *value, const struct sample *sample);
// A text value; "" when there is none. Valid until the next evaluation.
struct str event_value_text(const struct event_value *value, const struct sample *sample);

static inline uint64_t event_context_value(const struct event_value *value,
					   const struct sample *sample)
{
	switch (value->context - 1) {
	case EXPR_CPU:
		return (uint64_t)(int32_t)sample->cpu;
	case EXPR_PID:
		return (uint64_t)(int32_t)sample->pid;
	case EXPR_TID:
		return (uint64_t)(int32_t)sample->tid;
	case EXPR_TIME:
		return sample->time;
	default:
		return sample->period;
	}
}

static inline uint64_t event_plain_value(const struct event_value *value, const struct sample *sample)
{
	const char *p = (const char *)sample->raw + value->offset;

	switch (value->width) {
	case 4: {
		uint32_t v;

		__builtin_memcpy(&v, p, 4);
		return value->field_signed ? (uint64_t)(int64_t)(int32_t)v : v;
	}
	case 8: {
		uint64_t v;

		__builtin_memcpy(&v, p, 8);
		return v;
	}
	case 2: {
		uint16_t v;

		__builtin_memcpy(&v, p, 2);
		return value->field_signed ? (uint64_t)(int64_t)(int16_t)v : v;
	}
	default:
		return value->field_signed ? (uint64_t)(int64_t)(int8_t)*p : (uint8_t)*p;
	}
}

// Some ns for a field, also where something is done with it; 0 where the record is too short or the expression fails.
static inline uint64_t event_value_number(const struct event_value *value, const struct sample *sample)
{
	uint64_t number;

	if (value->context)
		return event_context_value(value, sample);
	if (value->is_constant)
		return value->constant;
	if (!value->width || value->offset + value->width > sample->raw_size)
		return event_value_slow(value, sample);
	number = event_plain_value(value, sample);
	if (value->has_step && !expr_step_run(&value->step, number, &number))
		return 0;
	return number;
}
