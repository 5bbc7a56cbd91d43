// SPDX-License-Identifier: GPL-2.0-or-later
// The option tables of profilers are made of these rows.
#pragma once
#include "base/opt.h"

#define PROF_AT(field) offsetof(struct prof_options, field)
#define PROF_HEADING(text)                                                                         \
	{                                                                                          \
		.kind = OPT_GROUP, .help = (text)                                                  \
	}
#define PROF_FLAG(c, n, at, text)                                                                  \
	{                                                                                          \
		.kind = OPT_FLAG, .letter = (c), .name = (n), .offset = (at), .help = (text)       \
	}
#define PROF_TEXT(c, n, at, a, text)                                                               \
	{                                                                                          \
		.kind = OPT_TEXT, .letter = (c), .name = (n), .offset = (at), .arg = (a),          \
		.help = (text)                                                                     \
	}
#define PROF_U64(c, n, at, a, text)                                                                \
	{                                                                                          \
		.kind = OPT_U64, .letter = (c), .name = (n), .offset = (at), .arg = (a),           \
		.help = (text)                                                                     \
	}
// A duration, ns when there is no unit; the field is a uint64_t of ns.
#define PROF_DURATION(c, n, at, a, text)                                                           \
	{                                                                                          \
		.kind = OPT_CALL, .letter = (c), .name = (n), .offset = (at), .arg = (a),          \
		.help = (text), .call = prof_opt_duration, .no_negation = true                     \
	}

opt_call prof_opt_duration, prof_opt_signed, prof_opt_mmap, prof_opt_inherit;

extern const struct opt prof_options_attach[], prof_options_rings[], prof_options_no_rings[],
	prof_options_output[], prof_options_stacks[];

// Whom to watch.
#define PROF_OPTIONS_ATTACH OPT_INCLUDE(prof_options_attach)

// How events come.
#define PROF_OPTIONS_RINGS OPT_INCLUDE(prof_options_rings)

// Of profilers that have no rings: taken, as command lines for perf-prof have them.
#define PROF_OPTIONS_NO_RINGS OPT_INCLUDE(prof_options_no_rings)

// What comes out.
#define PROF_OPTIONS_OUTPUT OPT_INCLUDE(prof_options_output)

#define PROF_OPTIONS_EVENTS                                                                                                              \
	{                                                                                                                                \
		.kind = OPT_LIST, .letter = 'e', .name = "event", .offset = PROF_AT(events),                                             \
		.arg = "EVENT,...",                                                                                                      \
		.help = "SYSTEM:NAME[/FILTER/ATTRIBUTE/.../], globs are allowed; 'sonde prof -e EVENT help' shows fields and attributes" \
	}

// Of profilers that may count in the kernel.
#define PROF_OPTION_NO_BPF                                                                         \
	PROF_FLAG(0, "no-bpf", PROF_AT(no_bpf), "count in sonde, not in the kernel")

#define PROF_OPTIONS_STACKS OPT_INCLUDE(prof_options_stacks)
