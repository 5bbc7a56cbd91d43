// SPDX-License-Identifier: GPL-2.0-or-later
// key=, num=, top-by=, ...: a number or a text of each sample. Most are the field's name alone, which is read without the
// expression machine.
#pragma once
#include "abi/sample.h"
#include "abi/tracepoint.h"
#include "expr/expr.h"

struct prof;
struct prof_event;

struct prof_value {
	struct expr *expr;	      // NULL: by field
	const struct tp_field *field; // NULL: by expr
	uint16_t offset;	      // of a plain number
	uint8_t width;		      // 1, 2, 4, 8: plain; 0: not
	bool is_signed, is_text;
	struct expr_machine *machine;
};

// -EINVAL with a sentence that shows the place.
int prof_value_init(struct prof_value *ret, struct prof *prof, const struct prof_event *event,
		    const char *text);
// As expr_compile over the event's fields; notes what it asks the run for (names of symbols and tasks). In setup.
int prof_compile(struct expr **ret, struct prof *prof, const struct prof_event *event,
		 const char *text);
void prof_value_done(struct prof_value *value);
uint64_t prof_value_slow(const struct prof_value *value, const struct sample *sample);
// A text value; "" when there is none. Valid until the next evaluation.
struct str prof_value_text(const struct prof_value *value, const struct sample *sample);

// Some ns for a field; 0 where the record is too short or the expression fails.
static inline uint64_t prof_value_number(const struct prof_value *value, const struct sample *sample)
{
	const char *p = (const char *)sample->raw + value->offset;

	if (!value->width || value->offset + value->width > sample->raw_size)
		return prof_value_slow(value, sample);
	switch (value->width) {
	case 4: {
		uint32_t v;

		__builtin_memcpy(&v, p, 4);
		return value->is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
	}
	case 8: {
		uint64_t v;

		__builtin_memcpy(&v, p, 8);
		return v;
	}
	case 2: {
		uint16_t v;

		__builtin_memcpy(&v, p, 2);
		return value->is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
	}
	default:
		return value->is_signed ? (uint64_t)(int64_t)(int8_t)*p : (uint8_t)*p;
	}
}
