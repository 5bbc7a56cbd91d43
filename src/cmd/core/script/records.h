// SPDX-License-Identifier: GPL-2.0-or-later
// Records other than samples as text: "PERF_RECORD_MMAP2 1/1: [0x...".
#pragma once
#include "cmd/core/script/chains.h"

// Name and body with a newline at the end. False (nothing is written) when the record is too short.
bool put_record(struct out *out, const struct chains *chains, const struct perf_event_header *header);
// The body alone, as it follows the name.
bool put_record_body(struct out *out, const struct chains *chains,
		     const struct perf_event_header *header);
