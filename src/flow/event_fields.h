// SPDX-License-Identifier: GPL-2.0-or-later
// The fields of an event's format as expressions see them.
#pragma once
#include "data/recording.h"
#include "expr/expr.h"

// For expr_compile: arg is the event, which must have a format or be none of a tracepoint (then it has no fields).
struct expr_fields event_fields(const struct event *event);

// A sample for expr_run. The record lives as long as the sample's and `context`.
static inline struct expr_record event_record(const struct sample *sample,
					      uint64_t context[EXPR_CONTEXTS])
{
	context[EXPR_CPU] = sample->cpu;
	context[EXPR_PID] = sample->pid;
	context[EXPR_TID] = sample->tid;
	context[EXPR_TIME] = sample->time;
	context[EXPR_PERIOD] = sample->period;
	return (struct expr_record){.data = sample->raw, .size = sample->raw_size, .context = context};
}
