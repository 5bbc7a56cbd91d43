// SPDX-License-Identifier: GPL-2.0-or-later
// How the rows of a report (hist/) are shown: what the commands that show them share.
#pragma once
#include "base/opt.h"
#include "hist/report.h"

// key_values.c: the keys of -s and -F as command.values.
void report_values(const char *option, opt_offer *offer, void *arg);

// chain_option.c: the argument of -g. -EINVAL with a sentence.
int report_parse_chain(struct chain_options *chain, const char *text);
// chain_settings.c: what ~/.perfconfig says. Before options are read. -EINVAL with a sentence.
int report_chain_settings(struct chain_options *chain);

// graph.c: a frame of report->stacks as one reads it in a call graph.
void report_put_frame(const struct report *report, uint32_t frame, struct out *out);
void entry_print_chain(const struct entry *e, struct out *out);

// cells.c
// "cpu-clock", "anon group { cycles, instructions }": what rows of an event or, where groups are shown as one, of its group are of.
void report_event_name(const struct report *report, const struct event *event, struct out *out);
void hist_widths_of(struct hist *hist, const struct entry *e);
void hist_widen_to_headers(struct hist *hist);
void hist_print_columns(const struct hist *hist, const struct entry *e, struct out *out);
void column_print(const struct column *column, const struct hist *hist, const struct entry *e,
		  struct out *out);
int column_width(const struct column *column, const struct hist *hist);
void column_header(const struct column *column, const struct hist *hist, struct out *out);
// Columns of which the filters leave one value only are not shown: it is told.
void report_setup_elided(struct report *report);

// block_range.c
// "[code.c:12 -> code.c:14]" of a block of the function that the place is in; without line numbers as offsets from the function.
void report_put_block_range(struct report *report, const struct place *place,
			    const struct block *block, struct out *out);
// "code.c:12" of an offset in the function; NULL: not known.
const char *report_block_line(struct report *report, const struct place *place, uint64_t offset);
// On standard error, where the branch stacks that were read had no cycles.
void report_say_no_cycles(const struct report *report);

// dump.c
// -D; < 0 with a sentence.
int report_dump(struct report *report);
void report_stats(struct report *report); // --stats
