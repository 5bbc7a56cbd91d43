// SPDX-License-Identifier: GPL-2.0-or-later
// script --format json: one object a line. docs/script-json.md describes it.
#pragma once
#include "cmd/core/script/chains.h"
#include "flow/run.h"

struct json_script {
	struct out *out;
	const struct chains *chains;
	struct run *run;
};

void json_sample(const struct json_script *to, const struct event *event,
		 const struct sample *sample, struct task *task);
void json_record(const struct json_script *to, const struct sample *ids,
		 const struct perf_event_header *header);
