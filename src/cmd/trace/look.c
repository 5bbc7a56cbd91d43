// SPDX-License-Identifier: GPL-2.0-or-later
// What ~/.perfconfig says about trace: perf-config(1), trace.*.
#include "base/log.h"
#include "cmd/core/settings.h"
#include "cmd/trace/trace.h"

enum { ALIGNMENT = 70, WIDEST = 4096 };

void trace_look(struct trace_look *ret)
{
	bool names = settings_bool("trace.show_arg_names", true);

	*ret = (struct trace_look){
		.no_time = !settings_bool("trace.show_timestamp", true),
		.no_duration = !settings_bool("trace.show_duration", true),
		.no_names = !names,
		// Without names an argument is known by its place, so none may be left out.
		.zeros = settings_bool("trace.show_zeros", !names),
		.prefix = settings_bool("trace.show_prefix", false),
		.alignment = settings_number("trace.args_alignment", ALIGNMENT),
	};
	if (!names && !ret->zeros) {
		warn("trace.show_zeros has to be set when trace.show_arg_names=no");
		ret->zeros = true;
	}
	if (ret->alignment > WIDEST)
		ret->alignment = WIDEST;
}

void trace_add_settings(struct trace_options *options)
{
	const char *events = settings_get("trace.add_events");
	const char *printer = settings_get("trace.tracepoint_beautifiers");

	if (events && !options->input) { // a recording has the events that it has
		options->syscalls |= !options->choices.n && !options->faults;
		vec_push(&options->choices, (struct trace_choice){events, false, .is_setting = true});
	}
	if (printer && !strcasecmp(printer, "libtraceevent"))
		options->print_fmt = true;
}
