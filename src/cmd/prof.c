// SPDX-License-Identifier: GPL-2.0-or-later
// The live profilers: picks one and where its events come from.
#include "base/err.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "cmd/core/elsewhere.h"
#include "cmd/core/help.h"
#include "cmd/core/run_profiler.h"
#include "cmd/prof/complete.h"
#include "input/core/input.h"
#include "prof/core/run.h"
#include "sys/tracefs.h"
#include "version.h"
#include <stdio.h>

static bool sub(size_t i, struct command *ret)
{
	const struct profiler *profiler = profilers[i];

	if (!profiler)
		return false;
	*ret = (struct command){
		.name = profiler->name,
		.summary = profiler->summary,
		.usage = profiler->usage,
		.description = profiler->description,
		.opts = profiler->opts,
		.opts_size = profiler->size,
		.examples = profiler->examples,
		.family = COMMAND_LIVE,
	};
	return true;
}

static int list(void)
{
	struct out out;

	out_init_fd(&out, 1);
	out_text(&out, "Usage: sonde prof PROFILER [options] [help] [-- COMMAND [ARGS]]\n"
		       "       sonde prof -e EVENT help\n\nProfilers:\n");
	for (size_t i = 0; profilers[i]; i++) {
		out_text(&out, "    ");
		out_text_left(&out, profilers[i]->name, 16);
		out_text(&out, profilers[i]->summary);
		out_char(&out, '\n');
	}
	out_text(&out, "\n'sonde prof PROFILER -h' shows what one does and its options.\n");
	return out_close(&out, "standard output");
}

static int unknown(const char *word)
{
	VEC(const char *) names = {0};
	const char *near, *line = elsewhere_line(word);

	for (size_t i = 0; profilers[i]; i++)
		vec_push(&names, profilers[i]->name);
	vec_push(&names, NULL);
	near = nearest(word, names.v);
	vec_done(&names);
	if (line)
		return fail(COMMAND_USAGE,
			    "there is no profiler '%s'; what it answers, this does: %s", word, line);
	if (near)
		return fail(COMMAND_USAGE, "there is no profiler '%s'; did you mean '%s'?", word,
			    near);
	return fail(COMMAND_USAGE, "there is no profiler '%s'; 'sonde prof' lists them", word);
}

// ---- help about events

// "char comm[16]", as C declares it; "__data_loc char[] name", as the kernel does.
static void put_declaration(struct out *out, const struct tp_field *field)
{
	size_t n = strlen(field->type), plain = strcspn(field->type, "[");
	bool is_array = !field->is_dynamic && plain < n;

	out_printf(out, "    field:%.*s %s", (int)(is_array ? plain : n), field->type, field->name);
	if (is_array)
		out_text(out, field->type + plain);
	else if (field->is_array && !field->is_dynamic)
		out_printf(out, "[%u]", field->array_len);
}

static int put_format(void *arg, struct event *event, const char *system, const char *name)
{
	struct out *out = arg;
	const struct tp_field *fields;
	size_t n = event->tp ? tracepoint_fields(event->tp, &fields) : 0;

	out_printf(out, "\n%s\n", event->name);
	if (n)
		out_printf(out, "ID: %u\nformat:\n", tracepoint_id(event->tp));
	for (size_t i = 0; i < n; i++) {
		const struct tp_field *field = &fields[i];

		put_declaration(out, field);
		out_printf(out, ";  offset:%u; size:%u; signed:%d;\n", field->offset, field->size,
			   field->is_signed);
	}
	return 0;
}

static void put_attributes(struct out *out, const char *const *names)
{
	for (; names && *names; names++)
		out_printf(out, "%s%s/", *names, prof_attribute_is_word(*names) ? "" : "=.");
}

static void put_use(struct out *out, const struct profiler *profiler, const char *event)
{
	struct opt_walk walk = {profiler->opts, NULL};

	out_printf(out, "sonde prof %s -e \"%s/./[", profiler->name, event);
	put_attributes(out, prof_common_attributes);
	put_attributes(out, profiler->attributes);
	out_text(out, "]\"");
	for (const struct opt *opt; (opt = opt_next(&walk));) {
		if (opt->kind == OPT_GROUP || opt->hidden ||
		    (opt->name && !strcmp(opt->name, "event")))
			continue;
		if (opt->letter)
			out_printf(out, " [-%c%s]", opt->letter, opt->arg ? " ." : "");
		else
			out_printf(out, " [--%s%s]", opt->name, opt->arg ? " ." : "");
	}
	out_char(out, '\n');
}

static bool takes_events(const struct profiler *profiler)
{
	return profiler->events == PROF_EVENTS_WANTED;
}

static int event_help(const struct opt_list *events, const char *from, const struct profiler *only)
{
	struct feed_options options = {.from = from};
	const struct input *input = input_by_name(from ? "recording" : "live");
	struct prof_specs specs = {0};
	struct feed feed;
	struct out out;
	int err = 0;

	feed_init(&feed, &options);
	out_init_fd(&out, 1);
	for (size_t i = 0; i < events->n && !err; i++)
		err = prof_specs_parse(&specs, events->v[i]);
	if (!err)
		err = input->open(&feed);
	for (size_t i = 0; i < specs.list.n && !err; i++) {
		for (size_t k = 0; profilers[k]; k++) {
			if (takes_events(profilers[k]) && (!only || only == profilers[k]))
				put_use(&out, profilers[k], specs.list.v[i]->name);
		}
		err = input->find(&feed, specs.list.v[i]->name, put_format, &out);
	}
	input->close(&feed);
	feed_done(&feed);
	prof_specs_done(&specs);
	int closed = out_close(&out, "standard output");
	return err ? err : closed;
}

// ---- a run

static int profiler_help(const struct command *command)
{
	struct out out;

	out_init_fd(&out, 1);
	help_text(&out, command);
	return out_close(&out, "standard output");
}

static int put_version(void)
{
	printf("sonde prof %s\n", SONDE_VERSION);
	return 0;
}

static int run_named(const struct profiler *profiler, int argc, char **argv, const char **line)
{
	auto_free struct prof_options *options = xcalloc(1, profiler->size);
	struct command command = {0};
	struct opt_list defaults = {0};
	const int flags = OPT_STOP_AT_WORD | OPT_KEEP_DASHES;
	int words, before_dashes, err;

	for (size_t i = 0; sub(i, &command) && strcmp(command.name, profiler->name); i++)
		;
	words = command_parse(&command, options, argv, flags);
	if (words < 0)
		return words == -ECANCELED ? 0 : words;
	before_dashes = opt_cut_dashes(&words, argv, flags);
	if (options->version)
		return put_version();
	log_set_level(options->quiet ? LOG_QUIET : options->verbose);
	if (words == 1 && !strcmp(argv[1], "help") && before_dashes == 1) {
		for (size_t i = 0;
		     !options->events.n && profiler->default_events && profiler->default_events[i];
		     i++)
			opt_list_add(&defaults, profiler->default_events[i]);
		if (!options->events.n && !defaults.n)
			return profiler_help(&command);
		err = event_help(options->events.n ? &options->events : &defaults, options->from,
				 profiler);
		free(defaults.v);
		free(options->events.v);
		return err;
	}
	if (profiler->takes_word && before_dashes) {
		options->word = *++argv;
		// options may stand behind it, too; argv[0] is the word
		words = command_parse(&command, options, argv, OPT_STOP_AT_WORD);
		if (words < 0)
			return words == -ECANCELED ? 0 : words;
		log_set_level(options->quiet ? LOG_QUIET : options->verbose);
	}
	err = run_profiler(profiler, options, words ? argv + 1 : NULL, line);
	free(options->events.v);
	return err;
}

static int complete(const char *profiler, const char *text)
{
	struct out out;

	out_init_fd(&out, 1);
	prof_complete_event(&out, prof_find(profiler), text);
	return out_close(&out, "standard output");
}

static int run(int argc, char **argv)
{
	const struct profiler *profiler;
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word || !strcmp(word, "-h") || !strcmp(word, "--help") || !strcmp(word, "help"))
		return list();
	if (!strcmp(word, "-V") || !strcmp(word, "--version"))
		return put_version();
	// A command of its own here, one of perf-prof's profilers there.
	if (!strcmp(word, "usdt"))
		return command_find(word)->run(argc - 1, argv + 1);
	if (!strcmp(word, "--complete-event") && argc == 4)
		return complete(argv[2], argv[3]);
	if (!strcmp(word, "-e") && argc == 4 && !strcmp(argv[3], "help")) {
		struct opt_list events = {.v = (const char **)(argv + 2), .n = 1};

		return event_help(&events, NULL, NULL);
	}
	profiler = prof_find(word);
	if (!profiler)
		return unknown(word);
	// Options are moved while they are read; a recording names them as they were.
	auto_free const char **line = xcalloc((size_t)argc + 1, sizeof(*line));
	for (int i = 0; i < argc; i++)
		line[i] = argv[i];
	return run_named(profiler, argc - 1, argv + 1, line);
}

static const struct command_example examples[] = {
	{"sonde prof", "lists the profilers"},
	{"sonde prof trace -h", "shows what one does and its options"},
	{"sonde prof -e sched:sched_wakeup help",
	 "shows an event's fields and which profilers can use it"},
	{0},
};

const struct command command_prof = {
	.name = "prof",
	.summary = "Watch the running system: live profilers",
	.usage = "sonde prof PROFILER [options] [-- COMMAND [ARGS]]\nsonde prof -e EVENT help",
	.description =
		"A profiler takes events from the kernel and shows what they add up to, as long as it runs; nothing is written to disk. "
		"Each works on a recording as well (--from FILE), and can keep what it sees (--to FILE).\n\n"
		"An event is SYSTEM:NAME[/FILTER/ATTRIBUTE/.../] of a tracepoint, or a probe that is made for the run: kprobe:FUNC, "
		"kretprobe:FUNC, uprobe:FUNC@\"FILE\", uretprobe:FUNC@\"FILE\", and usdt:PROVIDER:NAME@\"FILE\" of a static probe that "
		"a program has (its arguments are the fields arg1, arg2, ...).\n\n"
		"With the attribute push=[IP:]PORT, push=DEVICE or push=FILE the events go to whom listens there, with pull= they come from "
		"there instead of from this kernel: from a guest through /dev/virtio-ports/NAME, or from another machine.\n\n"
		"SIGUSR1 shows the result up to now, as at the end of an interval, and opens the file of -o anew (so it may be moved away "
		"before); SIGUSR2 tells what sonde itself used.\n\n"
		"The program called as sonde-prof or perf-prof is the same as 'sonde prof'.",
	.examples = examples,
	.sub = sub,
	.subs = COMMAND_SUBS_FOUND,
	.family = COMMAND_LIVE,
	.run = run,
};
