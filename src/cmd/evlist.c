// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/attr.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "data/recording.h"

struct options {
	const char *input, *format;
	bool frequency, group, fields, force;
	int verbose;
};

static const struct opt opts[] = {
	{.kind = OPT_TEXT,
	 .letter = 'i',
	 .name = "input",
	 .offset = offsetof(struct options, input),
	 .arg = "FILE",
	 .help = "The recording (default: perf.data; - is standard input)."},
	{.kind = OPT_FLAG,
	 .letter = 'F',
	 .name = "freq",
	 .offset = offsetof(struct options, frequency),
	 .help = "With the sample frequency or period of each event."},
	{.kind = OPT_COUNT,
	 .letter = 'v',
	 .name = "verbose",
	 .offset = offsetof(struct options, verbose),
	 .help = "With all attributes of each event."},
	{.kind = OPT_FLAG,
	 .letter = 'g',
	 .name = "group",
	 .offset = offsetof(struct options, group),
	 .help = "Events that were counted together in one line, as leader and members in braces."},
	{.kind = OPT_FLAG,
	 .name = "trace-fields",
	 .offset = offsetof(struct options, fields),
	 .help = "With the field names of tracepoints."},
	{.kind = OPT_FLAG,
	 .letter = 'f',
	 .name = "force",
	 .offset = offsetof(struct options, force),
	 .help = "Also when the file belongs to someone else."},
	{.kind = OPT_TEXT,
	 .name = "format",
	 .offset = offsetof(struct options, format),
	 .arg = "text|json",
	 .help = "json: one object for each event and line."},
	OPT_END,
};

static const struct command_example examples[] = {
	{.line = "sonde evlist",
	 .shows = "names the events in perf.data",
	 .test = "sonde evlist -i \"$T/data/sleep.data\""},
	{.line = "sonde evlist -v",
	 .shows = "shows with which attributes each event was opened",
	 .test = "sonde evlist -v -i \"$T/data/sleep.data\""},
	{.line = "sonde evlist --trace-fields -i FILE",
	 .shows = "lists the fields of the recorded tracepoints",
	 .test = "sonde evlist --trace-fields -i \"$T/data/sleep.data\""},
	{0},
};

static int run(int argc, char **argv);

const struct command command_evlist = {
	.name = "evlist",
	.summary = "List the events of a recording",
	.usage = "sonde evlist [options]",
	.description = "Prints the name of each event that a recording holds, in the order in which "
		       "they were given, one a line.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

static void print_group(struct out *out, const struct recording *recording, const struct event *leader)
{
	if (leader->leader != leader)
		return;
	if (leader->group_members > 1) {
		out_safe(out, leader->group_name ? leader->group_name : "");
		out_char(out, '{');
	}
	out_safe(out, leader->name);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = recording->events.v[i];

		if (event->leader != leader || event == leader)
			continue;
		out_char(out, ',');
		out_safe(out, event->name);
	}
	out_text(out, leader->group_members > 1 ? "}\n" : "\n");
}

static void print_fields(struct out *out, const struct event *event, const char *before)
{
	const struct tp_field *fields;
	size_t n = event->tp ? tracepoint_fields(event->tp, &fields) : 0;
	bool any = false;

	out_text(out, before);
	if (event->attr.type != PERF_TYPE_TRACEPOINT) {
		out_text(out, " (not a tracepoint)");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (text_starts(fields[i].name, "common_"))
			continue;
		out_text(out, any ? "," : " trace_fields: ");
		out_safe(out, fields[i].name);
		any = true;
	}
	if (!any)
		out_text(out, " (no trace field)");
}

static void print_event(struct out *out, const struct event *event, const struct options *o)
{
	const char *before = ":";

	out_safe(out, event->name);
	if (o->verbose) {
		out_text(out, ": ");
		attr_print(out, &event->attr);
		before = ",";
	} else if (o->frequency) {
		out_printf(out, ": sample_%s=%llu", event->attr.freq ? "freq" : "period",
			   (unsigned long long)event->attr.sample_freq);
		before = ",";
	}
	if (o->fields)
		print_fields(out, event, before);
	out_char(out, '\n');
}

static void print_text(struct out *out, const struct recording *recording, const struct options *o)
{
	bool has_tracepoints = false;

	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = recording->events.v[i];

		has_tracepoints |= event->attr.type == PERF_TYPE_TRACEPOINT;
		if (o->group)
			print_group(out, recording, event);
		else
			print_event(out, event, o);
	}
	if (has_tracepoints && !o->fields)
		out_text(out, "# Tip: use 'sonde evlist --trace-fields' to show fields for "
			      "tracepoint events\n");
}

static void print_json(struct out *out, const struct recording *recording)
{
	struct json j;

	json_init(&j, out);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = recording->events.v[i];
		const struct tp_field *fields;
		size_t n = event->tp ? tracepoint_fields(event->tp, &fields) : 0;
		struct out attr;

		json_object(&j);
		json_field_text(&j, "name", event->name);
		json_field_u64(&j, "type", event->attr.type);
		json_key(&j, "config");
		json_hex(&j, event->attr.config);
		json_field_u64(&j, event->attr.freq ? "frequency" : "period",
			       event->attr.sample_freq);
		json_key(&j, "sample_type");
		json_hex(&j, event->attr.sample_type);
		json_field_u64(&j, "leader", event->leader->index);
		json_field_text(&j, "group", event->leader->group_name);
		json_field_text(&j, "unit", event->unit);
		out_init_memory(&attr);
		attr_print(&attr, &event->attr);
		json_key(&j, "attr");
		json_str(&j, (struct str){attr.buf, attr.n});
		out_done(&attr);
		json_key(&j, "ids");
		json_array(&j);
		for (size_t k = 0; k < event->ids.n; k++)
			json_u64(&j, event->ids.v[k]);
		json_end(&j);
		json_key(&j, "fields");
		json_array(&j);
		for (size_t k = 0; k < n; k++)
			json_text(&j, fields[k].name);
		json_end(&j);
		json_end(&j);
		json_line(&j);
	}
}

static int run(int argc, char **argv)
{
	struct options o = {.input = default_input(false), .format = "text"};
	struct recording_options how = {0};
	struct recording *recording;
	struct record record;
	struct out out;
	int n = command_parse(&command_evlist, &o, argv, 0), err, status = 0;

	if (n < 0)
		return n;
	if (n)
		return fail(COMMAND_USAGE, "'%s' is no option; the file goes behind -i", argv[1]);
	if (o.group && (o.verbose || o.frequency))
		return fail(COMMAND_USAGE, "--group option is not compatible with other options");
	if (strcmp(o.format, "text") && strcmp(o.format, "json"))
		return fail(COMMAND_USAGE, "there is no format '%s': text and json are known",
			    o.format);
	how.force = o.force;
	err = recording_open(&recording, o.input, &how);
	if (err < 0)
		return err;
	// a pipe may tell of events late
	while (recording->is_pipe && recording_next(recording, &record) > 0)
		;
	out_init_fd(&out, STDOUT_FILENO);
	if (!strcmp(o.format, "json"))
		print_json(&out, recording);
	else
		print_text(&out, recording, &o);
	err = out_close(&out, "standard output");
	if (recording->damage) {
		warn("%s", recording->damage);
		status = 1;
	}
	recording_close(recording);
	return err < 0 ? err : status;
}
