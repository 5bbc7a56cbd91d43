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

// Whom to watch.
#define PROF_OPTIONS_ATTACH                                                                               \
	PROF_HEADING("Whom to watch (everything on all CPUs, unless told otherwise)"),                    \
		PROF_TEXT('C', "cpus", PROF_AT(target.cpus), "LIST", "these CPUs, such as 0,2-3"),        \
		PROF_TEXT('p', "pids", PROF_AT(target.pids), "LIST",                                      \
			  "processes, with all their threads"),                                           \
		PROF_TEXT('t', "tids", PROF_AT(target.tids), "LIST", "threads"),                          \
		PROF_TEXT(0, "cgroups", PROF_AT(cgroups), "LIST",                                         \
			  "what runs in these cgroups, or in all whose names a regular expression fits"), \
		{.kind = OPT_CALL,                                                                        \
		 .name = "inherit",                                                                       \
		 .offset = PROF_AT(inherit),                                                              \
		 .call = prof_opt_inherit,                                                                \
		 .help = "also what watched tasks start (default with -p and a command)"},                \
		PROF_TEXT(0, "from", PROF_AT(from), "FILE",                                               \
			  "take the events of a recording instead of the running kernel's")

// How events come.
#define PROF_OPTIONS_RINGS                                                                                                              \
	{.kind = OPT_CALL,                                                                                                              \
	 .letter = 'm',                                                                                                                 \
	 .name = "mmap-pages",                                                                                                          \
	 .offset = PROF_AT(mmap_pages),                                                                                                 \
	 .arg = "PAGES",                                                                                                                \
	 .call = prof_opt_mmap,                                                                                                         \
	 .no_negation = true,                                                                                                           \
	 .help = "ring per CPU: pages, a power of two, or a size such as 4M (default 16M)"},                                            \
		PROF_U64(0, "watermark", PROF_AT(watermark), "PERCENT",                                                                 \
			 "wake up when a ring is so full"),                                                                             \
		PROF_FLAG(0, "order", PROF_AT(order),                                                                                   \
			  "events of all CPUs in the order of time, not CPU by CPU (default where it matters: pairs, names of tasks)"), \
		{.kind = OPT_SIZE,                                                                                                      \
		 .name = "order-mem",                                                                                                   \
		 .offset = PROF_AT(order_mem),                                                                                          \
		 .arg = "BYTES",                                                                                                        \
		 .help = "taken for perf-prof's sake: order needs no memory of its own",                                                \
		 .hidden = true},                                                                                                       \
		PROF_TEXT(0, "to", PROF_AT(to), "FILE",                                                                                 \
			  "keep the events in a recording (perf.data), for --from and other programs"),                                 \
		PROF_FLAG(0, "exclude-user", PROF_AT(exclude_user),                                                                     \
			  "not what happens in user space"),                                                                            \
		PROF_FLAG(0, "exclude-kernel", PROF_AT(exclude_kernel),                                                                 \
			  "not what happens in the kernel"),                                                                            \
		PROF_FLAG(0, "exclude-guest", PROF_AT(exclude_guest), "not what guests do"),                                            \
		PROF_FLAG('G', "exclude-host", PROF_AT(exclude_host), "only what guests do")

// Of profilers that have no rings: taken, as command lines for perf-prof have them.
#define PROF_OPTIONS_NO_RINGS                                                                      \
	{.kind = OPT_CALL,                                                                         \
	 .letter = 'm',                                                                            \
	 .name = "mmap-pages",                                                                     \
	 .offset = PROF_AT(mmap_pages),                                                            \
	 .arg = "PAGES",                                                                           \
	 .call = prof_opt_mmap,                                                                    \
	 .no_negation = true,                                                                      \
	 .hidden = true,                                                                           \
	 .help = "taken for perf-prof's sake: counters need no rings"},                            \
	{                                                                                          \
		.kind = OPT_FLAG, .name = "order", .offset = PROF_AT(order), .hidden = true,       \
		.help = "taken for perf-prof's sake: counters have no order"                       \
	}

// What comes out.
#define PROF_OPTIONS_OUTPUT                                                                                                \
	PROF_HEADING("Output"),                                                                                            \
		PROF_U64('i', "interval", PROF_AT(interval_ms), "MS",                                                      \
			 "a result every MS milliseconds"),                                                                \
		PROF_TEXT('o', "output", PROF_AT(output), "FILE",                                                          \
			  "where to (default: standard output)"),                                                          \
		PROF_U64('N', "exit-N", PROF_AT(exit_n), "N", "end after N events"),                                       \
		PROF_TEXT(0, "format", PROF_AT(format), "FORMAT",                                                          \
			  "of results: text, csv, json or markdown; lines about single events go to standard error then"), \
		{.kind = OPT_CALL,                                                                                         \
		 .name = "clock-offset",                                                                                   \
		 .offset = PROF_AT(clock_offset),                                                                          \
		 .arg = "NS",                                                                                              \
		 .call = prof_opt_signed,                                                                                  \
		 .no_negation = true,                                                                                      \
		 .help = "add this to the times of events"},                                                               \
		{.kind = OPT_FLAG,                                                                                         \
		 .name = "tsc",                                                                                            \
		 .offset = PROF_AT(tsc),                                                                                   \
		 .no_negation = true,                                                                                      \
		 .help = "times of events as the processor's time stamp counter has them"},                                \
		{.kind = OPT_FLAG,                                                                                         \
		 .name = "monotonic",                                                                                      \
		 .offset = PROF_AT(monotonic),                                                                             \
		 .no_negation = true,                                                                                      \
		 .help = "times of events by CLOCK_MONOTONIC (which is so by itself where that is cheap)"},                \
		PROF_U64(0, "usage-self", PROF_AT(usage_self_ms), "MS",                                                    \
			 "every MS milliseconds: what sonde itself used"),                                                 \
		PROF_FLAG('q', "quiet", PROF_AT(quiet), "no messages"),                                                    \
		{.kind = OPT_FLAG,                                                                                         \
		 .letter = 'V',                                                                                            \
		 .name = "version",                                                                                        \
		 .offset = PROF_AT(version),                                                                               \
		 .no_negation = true,                                                                                      \
		 .hidden = true,                                                                                           \
		 .help = "taken for perf-prof's sake: the version of this program"},                                       \
	{                                                                                                                  \
		.kind = OPT_COUNT, .letter = 'v', .name = "verbose", .offset = PROF_AT(verbose),                           \
		.help = "more messages; twice: also each event"                                                            \
	}

#define PROF_OPTIONS_EVENTS                                                                                                              \
	{                                                                                                                                \
		.kind = OPT_LIST, .letter = 'e', .name = "event", .offset = PROF_AT(events),                                             \
		.arg = "EVENT,...",                                                                                                      \
		.help = "SYSTEM:NAME[/FILTER/ATTRIBUTE/.../], globs are allowed; 'sonde prof -e EVENT help' shows fields and attributes" \
	}

// Of profilers that may count in the kernel.
#define PROF_OPTION_NO_BPF                                                                         \
	PROF_FLAG(0, "no-bpf", PROF_AT(no_bpf), "count in sonde, not in the kernel")

#define PROF_OPTIONS_STACKS                                                                        \
	PROF_FLAG('g', "call-graph", PROF_AT(call_graph), "call chains of the events"),            \
		PROF_TEXT(0, "flame-graph", PROF_AT(flame_graph), "FILE",                          \
			  "with -g: the chains go to FILE.folded and, as a picture, FILE.svg"),    \
		{.kind = OPT_FLAG,                                                                 \
		 .name = "user-callchain",                                                         \
		 .offset = PROF_AT(user_chain),                                                    \
		 .given = PROF_AT(user_chain_given),                                               \
		 .help = "chains of user space (default)"},                                        \
	{                                                                                          \
		.kind = OPT_FLAG, .name = "kernel-callchain", .offset = PROF_AT(kernel_chain),     \
		.given = PROF_AT(kernel_chain_given), .help = "chains of the kernel (default)"     \
	}
