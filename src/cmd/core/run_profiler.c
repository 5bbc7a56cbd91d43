// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/run_profiler.h"
#include "base/err.h"
#include "base/out.h"
#include "cmd/core/output.h"
#include "input/core/input.h"
#include "prof/core/counted.h"
#include "prof/core/run.h"

static int run_feed(struct prof *prof, const struct input *input)
{
	struct feed *feed = prof->feed;
	struct feed_options *options = (struct feed_options *)(uintptr_t)feed->options;
	int err = input->open(feed);

	prof->find = input->find;
	prof->pull = input->pull;
	if (!err)
		err = prof_setup(prof);
	options->everywhere = prof->everywhere;
	options->follows = prof->follows;
	for (size_t i = 0; i < feed->events.n; i++)
		options->needs_maps |= feed->events.v[i]->stack;
	options->needs_maps |= prof->needs_symbols;
	options->needs_tasks |= prof->needs_tasks;
	// A name that changes on one CPU is that of what starts on another.
	options->ordered |= options->needs_tasks;
	if (prof_in_kernel(prof)) // rows of the kernel mostly have their names
		options->needs_tasks = prof->needs_symbols || prof->options->perins;
	options->ordered |= prof->ordered;
	options->ordered |= prof->pushes.n > 0; // who pulls merges them with others
	options->ordered |=
		prof_in_kernel(prof); // there is little, and a name may change on another CPU
	if (!err)
		err = input->run(feed);
	if (err >= 0)
		err = prof_finish(prof);
	return err;
}

int run_profiler(const struct profiler *profiler, struct prof_options *options, char **workload,
		 const char *const *line)
{
	struct feed_options feed_options = prof_feed_options(profiler, options);
	const struct input *input = input_by_name(options->from ? "recording" : "live");
	struct prof prof = {.profiler = profiler, .options = options};
	struct feed feed;
	struct out out;
	int err, closed, code;

	if (options->from && options->output && output_check_input(options->output, options->from))
		return -EINVAL;
	feed_options.command_line = line;
	if (workload) {
		feed_options.workload = (const char *const *)workload;
		// Its events lie in the rings of the CPUs where it ran.
		feed_options.ordered |= !options->target.cpus;
	}
	feed_init(&feed, &feed_options);
	prof.feed = &feed;
	prof.out = &out;
	// A file is opened when all else stands (prof/core/run.c): what is in it stays until then.
	out_init_fd(&out, options->output ? -1 : 1);
	err = run_feed(&prof, input);
	auto_free char *sentence = xstrdup(err_sentence());
	closed = out_close(&out, options->output ? options->output : "standard output");
	if (err < 0 && *sentence)
		fail_again(err, sentence);
	code = feed.exit_code;
	prof_done(&prof);
	input->close(&feed);
	feed_done(&feed);
	err = err < 0 ? err : closed;
	return err < 0 ? err : code;
}
