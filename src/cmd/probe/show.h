// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of `sonde probe` share: what is shown and how.
#pragma once
#include "base/opt.h"
#include "base/out.h"
#include "probe/store.h"

struct probe_show {
	const char *filter; // NULL: none
	bool range, externs, quiet, dry_run;
};

// --filter: "a*|b*&!c", by perf's rules. *ret stays NULL for an empty text.
struct probe_filter;
int probe_filter_new(struct probe_filter **ret, const char *text);
bool probe_filter_takes(const struct probe_filter *filter, const char *name); // NULL takes all
void probe_filter_free(struct probe_filter *filter);

int probe_show_lines(struct probe_target *target, const char *text, struct out *out);
int probe_show_variables(struct probe_target *target, const char *text,
			 const struct probe_show *show, struct out *out);
int probe_show_functions(struct probe_target *target, const char *filter, struct out *out);
int probe_show_list(const struct probe_options *options, const char *filter, struct out *out);
// "ftrace.event.kprobes.event.probe = 'symbol+0'", a line for each name. -ENOTSUP with a sentence: programs.
int probe_put_bootconfig(struct out *out, const struct probe_request *request,
			 const struct probe_events *events);

// --cache -l, --cache -d
int probe_cached_list(const char *filter, struct out *out);
int probe_cached_remove(const struct opt_list *wanted, const struct probe_show *show,
			struct out *out);
// Does a text of -d mean the probe GROUP:EVENT?
bool probe_is_meant(const char *name, const char *wanted);
