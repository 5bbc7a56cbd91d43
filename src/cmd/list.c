// SPDX-License-Identifier: GPL-2.0-or-later
// perf list: the names that -e takes, in perf 6.1's layout.
#include "abi/attr.h"
#include "base/err.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/complete_event.h"
#include "cmd/core/complete_value.h"
#include "event/core/event_kind.h"
#include "event/core/metric.h"
#include "sys/tracefs.h"

struct options {
	bool no_description, long_description, details, raw_dump, json, deprecated, debug;
	const char *format, *cpu_type, *unit, *parse, *complete, *complete_value;
};

static const struct opt opts[] = {
	{OPT_GROUP, .help = "What is shown"},
	{OPT_FLAG, 'd', "desc", offsetof(struct options, no_description), .hidden = true,
	 .no_negation = true, .help = "Descriptions are shown anyway."},
	{OPT_FLAG, 0, "no-desc", offsetof(struct options, no_description), .no_negation = true,
	 .help = "Leave descriptions out."},
	{OPT_FLAG, 'v', "long-desc", offsetof(struct options, long_description),
	 .help = "Longer descriptions, where there are any."},
	{OPT_FLAG, 0, "details", offsetof(struct options, details),
	 .help = "The terms that stand behind a PMU's named event, the fields of tracepoints."},
	{OPT_FLAG, 0, "deprecated", offsetof(struct options, deprecated),
	 .help = "Deprecated events, too (the kernel names none)."},
	{OPT_TEXT, 0, "unit", offsetof(struct options, unit), "PMU",
	 "Only events of this PMU (a glob)."},
	{OPT_TEXT, 0, "cputype", offsetof(struct options, cpu_type), "TYPE",
	 "Of hybrid machines: only events of core or atom CPUs."},
	{OPT_GROUP, .help = "How it is shown"},
	{OPT_FLAG, 'j', "json", offsetof(struct options, json),
	 .help = "As JSON, one array of objects."},
	{OPT_TEXT, 0, "format", offsetof(struct options, format), "FORMAT", "text or json."},
	{OPT_FLAG, 0, "raw-dump", offsetof(struct options, raw_dump), .hidden = true,
	 .help = "Names only, with blanks between them, for completion."},
	{OPT_FLAG, 0, "debug", offsetof(struct options, debug), .hidden = true,
	 .help = "Accepted for perf's sake."},
	{OPT_TEXT, 0, "parse", offsetof(struct options, parse), "EVENT", .hidden = true,
	 .help = "Read a text as -e does and show the attrs, for tests."},
	{OPT_TEXT, 0, "complete-event", offsetof(struct options, complete), "TEXT", .hidden = true,
	 .help = "How a half typed -e of the command behind it may go on, for completion."},
	{OPT_TEXT, 0, "complete-value", offsetof(struct options, complete_value), "TEXT",
	 .hidden = true,
	 .help = "How a half typed value of an option may go on; the words are the command and the option."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde list", "all events that this machine and user can record"},
	{"sonde list sw", "the kernel's software events"},
	{"sonde list 'sched:*'", "the tracepoints of the scheduler"},
	{"sonde list --details sched:sched_switch", "its fields, as --filter takes them"},
	{"sonde list metric", "what stat -M can compute on this machine"},
	{"sonde list --json page", "every event with page in its name, for a program to read"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_list = {
	.name = "list",
	.summary = "List the events that can be recorded",
	.usage = "sonde list [options] [hw|sw|cache|tracepoint|pmu|sdt|metric|metricgroup|pfm|GLOB ...]",
	.description =
		"Prints the names that -e takes: hardware, software and cache events that this machine "
		"counts, the events that PMUs name, tracepoints (kprobes and uprobes that were defined "
		"are among them), static probes in the build-id cache, how probes that are made for the run are written, and the metrics that "
		"stat -M takes.\n\n"
		"A word is searched in all names; SYSTEM:GLOB selects tracepoints.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

struct listing {
	const struct options *options;
	struct event_specs *specs;
	struct out *out;
	struct json json;
	const char *glob;	    // of whole names; NULL: all
	const char *system, *event; // globs of SYSTEM:NAME; NULL: not asked
	bool with_forms;
	size_t shown;
	int denied; // the last kind that could not be listed
};

static bool name_matches(const struct listing *l, const struct event_entry *entry)
{
	const char *colon;

	if (l->options->unit && (!entry->pmu || !text_glob(entry->pmu, l->options->unit)))
		return false;
	if (l->options->cpu_type && !(entry->pmu && text_starts(entry->pmu, "cpu_") &&
				      !strcmp(entry->pmu + strlen("cpu_"), l->options->cpu_type)))
		return false;
	if (l->system) {
		colon = strchr(entry->name, ':');
		if (!colon)
			return false;
		auto_free char *system =
			str_dup((struct str){entry->name, (size_t)(colon - entry->name)});
		return text_glob(system, l->system) && text_glob(colon + 1, l->event);
	}
	if (!l->glob)
		return true;
	if (entry->is_form && !l->with_forms)
		return false;
	return text_glob(entry->name, l->glob) || (entry->alias && text_glob(entry->alias, l->glob));
}

// Words wrapped behind a margin, as perf shows descriptions.
static void put_description(struct out *out, size_t margin, const char *text)
{
	enum { WIDTH = 79 };
	struct str rest = str_of(text);
	size_t column = margin;

	out_fill(out, ' ', margin);
	out_char(out, '[');
	while (rest.p) {
		struct str word = str_cut(&rest, ' ');
		if (column + word.n > WIDTH && column > margin) {
			out_char(out, '\n');
			out_fill(out, ' ', margin + 1);
			column = margin;
		} else if (column > margin) {
			out_char(out, ' ');
		}
		out_str(out, word);
		column += word.n + 1;
	}
	out_text(out, "]\n");
}

// "char prev_comm[16]", one a line; those that all tracepoints have are left out.
static void put_fields(struct listing *l, const char *name)
{
	static const struct event_context usual;
	const char *colon = strchr(name, ':');
	struct tracefs *tracefs;
	auto_free char *text = NULL, *path = NULL;
	size_t n;

	if (!colon)
		return;
	path = text_dup_fmt("events/%.*s/%s/format", (int)(colon - name), name, colon + 1);
	if (event_tracefs(l->specs, &usual, &tracefs) < 0 ||
	    tracefs_read(tracefs, path, &text, &n) < 0) {
		err_clear();
		return;
	}
	struct str rest = {text, n};
	while (rest.p) {
		struct str line = str_trim(str_cut(&rest, '\n'));

		if (!str_starts(line, "field:"))
			continue;
		line = str_cut(&line, ';');
		line.p += strlen("field:");
		line.n -= strlen("field:");
		if (!memmem(line.p, line.n, " common_", strlen(" common_")))
			out_printf(l->out, "        %.*s\n", STR_FMT(line));
	}
}

static void show_text(struct listing *l, const struct event_entry *entry)
{
	struct out *out = l->out;

	if (l->options->raw_dump) {
		bool sdt = !strcmp(entry->label, "SDT event");
		if (entry->is_form && !sdt)
			return;
		out_str(out, (struct str){entry->name,
					  sdt ? strcspn(entry->name, "@") : strlen(entry->name)});
		out_char(out, ' ');
		return;
	}
	out_text(out, "  ");
	if (entry->alias) {
		auto_free char *both = text_dup_fmt("%s OR %s", entry->name, entry->alias);
		out_text_left(out, both, 50);
	} else {
		out_text_left(out, entry->name, 50);
	}
	out_printf(out, " [%s]\n", entry->label);
	if (entry->description && !l->options->no_description &&
	    (!entry->is_form || l->options->long_description))
		put_description(out, 8, entry->description);
	if (entry->encoding && l->options->details)
		out_printf(out, "        %s\n", entry->encoding);
	if (l->options->details && !strcmp(entry->label, "Tracepoint event"))
		put_fields(l, entry->name);
}

static void text_if(struct json *json, const char *key, const char *text)
{
	if (text)
		json_field_text(json, key, text);
}

// The keys are those of newer perfs' --json.
static void show_json(struct listing *l, const struct event_entry *entry)
{
	struct json *json = &l->json;

	json_object(json);
	text_if(json, "Unit", entry->pmu);
	json_field_text(json, "EventName", entry->name);
	text_if(json, "EventAlias", entry->alias);
	json_field_text(json, "EventType", entry->label);
	if (!l->options->no_description)
		text_if(json, "BriefDescription", entry->description);
	text_if(json, "ScaleUnit", entry->unit);
	text_if(json, "Encoding", entry->encoding);
	json_end(json);
}

static void add(void *arg, const struct event_entry *entry)
{
	struct listing *l = arg;

	if (!name_matches(l, entry))
		return;
	l->shown++;
	if (l->options->json)
		show_json(l, entry);
	else
		show_text(l, entry);
}

// `only`: a kind's short name; NULL: all but the processor's own names.
static void list_kinds(struct listing *l, struct event_specs *specs, const char *only, bool pfm)
{
	static const struct event_context ctx;
	struct event_lister lister = {.ctx = &ctx, .specs = specs, .add = add, .arg = l};

	l->specs = specs;

	for (unsigned rank = 0; rank < EVENT_RANKS; rank++) {
		for (const struct event_kind *const *kind = event_kinds; *kind; kind++) {
			bool wanted = only ? !strcmp((*kind)->short_name, only)
					   : pfm || strcmp((*kind)->short_name, "pfm");
			if ((*kind)->list_rank != rank || !(*kind)->list || !wanted)
				continue;
			int err = (*kind)->list(&lister);
			if (err < 0)
				l->denied = err;
		}
	}
}

// What the metrics of the table are in a listing: `group` n 0: all of them.
static void list_metrics(struct listing *l, struct event_specs *specs, struct str group)
{
	static const struct event_context usual;
	const struct options *options = l->options;

	for (const struct metric *metric = metric_table; metric->name; metric++) {
		const char *formula;
		bool opens;

		if (group.n && !metric_matches(metric, group))
			continue;
		if (l->glob && !text_glob(metric->name, l->glob) &&
		    !(metric->alias && text_glob(metric->alias, l->glob)))
			continue;
		formula = metric_form(metric, specs, &usual, &opens);
		if (!opens)
			continue;
		l->shown++;
		if (options->json) {
			json_object(&l->json);
			json_field_text(&l->json, "MetricGroup", metric->groups);
			json_field_text(&l->json, "MetricName", metric->name);
			json_field_text(&l->json, "MetricExpr", formula);
			text_if(&l->json, "ScaleUnit", metric->unit);
			if (!options->no_description)
				json_field_text(&l->json, "BriefDescription", metric->description);
			json_end(&l->json);
		} else if (options->raw_dump) {
			out_printf(l->out, "%s ", metric->name);
		} else {
			out_printf(l->out, "  %s%s%s\n", metric->name, metric->alias ? " OR " : "",
				   metric->alias ? metric->alias : "");
			if (!options->no_description)
				put_description(l->out, 7, metric->description);
			if (options->details)
				out_printf(l->out, "        %s\n", formula);
		}
	}
}

static bool counts_some(struct event_specs *specs, struct str group)
{
	static const struct event_context usual;
	bool opens = false;

	for (const struct metric *metric = metric_table; metric->name && !opens; metric++) {
		if (metric_matches(metric, group))
			metric_form(metric, specs, &usual, &opens);
	}
	return opens;
}

// Names of groups, with their metrics where all events are listed.
static void list_metric_groups(struct listing *l, struct event_specs *specs, bool with_metrics)
{
	VEC(struct str) seen = {0};

	for (const struct metric *metric = metric_table; metric->name; metric++) {
		struct str groups = str_of(metric->groups);

		while (groups.p) {
			struct str group = str_cut(&groups, ';');
			bool is_new = true;

			vec_each(const struct str, it, &seen)
				is_new = is_new && !str_eq(*it, group);
			if (!is_new)
				continue;
			vec_push(&seen, group);
			if (!counts_some(specs, group))
				continue;
			l->shown++;
			if (l->options->raw_dump) {
				out_printf(l->out, "%.*s ", STR_FMT(group));
			} else if (!l->options->json) {
				out_printf(l->out, "%.*s%s\n", STR_FMT(group),
					   with_metrics ? ":" : "");
				if (with_metrics)
					list_metrics(l, specs, group);
			} else if (!with_metrics) {
				json_object(&l->json);
				json_key(&l->json, "MetricGroup");
				json_str(&l->json, group);
				json_end(&l->json);
			}
		}
	}
	vec_done(&seen);
}

static void heading(struct listing *l, const char *text)
{
	if (!l->options->json && !l->options->raw_dump)
		out_printf(l->out, "\n%s:\n\n", text);
}

static const struct {
	const char *word, *kinds[3];
} words[] = {
	{"hw", {"hw"}},		{"hardware", {"hw"}},
	{"sw", {"sw", "tool"}}, {"software", {"sw", "tool"}},
	{"cache", {"cache"}},	{"hwcache", {"cache"}},
	{"pmu", {"pmu"}},	{"tracepoint", {"tracepoint"}},
	{"sdt", {"sdt"}},	{"pfm", {"pfm"}},
};

static bool list_word(struct listing *l, struct event_specs *specs, const char *word)
{
	size_t before = l->shown;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(word, words[i].word))
			continue;
		for (size_t j = 0; j < ARRAY_SIZE(words[i].kinds) && words[i].kinds[j]; j++)
			list_kinds(l, specs, words[i].kinds[j], true);
		if (l->shown == before && (!strcmp(word, "hw") || !strcmp(word, "hardware")))
			warn("this machine (or its hypervisor) lends no hardware counters; sonde doctor "
			     "says more");
		if (l->shown == before && !strcmp(word, "pfm"))
			warn("libpfm4 is not built in or knows no PMU of this machine");
		return true;
	}
	if (!strcmp(word, "metric") || !strcmp(word, "metrics")) {
		heading(l, "Metrics");
		list_metrics(l, specs, STR(""));
		return true;
	}
	if (!strcmp(word, "metricgroup") || !strcmp(word, "metricgroups")) {
		heading(l, "Metric Groups");
		list_metric_groups(l, specs, false);
		return true;
	}
	return false;
}

static void list_glob(struct listing *l, struct event_specs *specs, const char *word)
{
	const char *colon = strchr(word, ':');
	auto_free char *system = NULL, *glob = NULL;
	size_t before = l->shown;

	if (colon) {
		system = str_dup((struct str){word, (size_t)(colon - word)});
		l->system = *system ? system : "*";
		l->event = colon[1] ? colon + 1 : "*";
		list_kinds(l, specs, "tracepoint", false);
		list_kinds(l, specs, "sdt", false);
	} else {
		glob = text_dup_fmt("*%s*", word);
		l->glob = glob;
		list_kinds(l, specs, NULL, true);
		list_metrics(l, specs, STR(""));
	}
	l->system = l->event = l->glob = NULL;
	if (l->shown == before && !l->denied)
		warn("no event's name %s '%s'", colon ? "matches" : "contains", word);
}

static int show_parsed(struct out *out, const char *text)
{
	struct event_specs specs;
	int err;

	event_specs_init(&specs);
	err = event_parse(&specs, text, NULL);
	for (size_t i = 0; i < specs.events.n; i++) {
		const struct event_spec *spec = &specs.events.v[i];
		out_printf(out, "%s: ", spec->name);
		attr_print(out, &spec->attr);
		out_printf(out, ", leader: %u, members: %u%s%s%s\n", spec->leader, spec->group_n,
			   spec->group_read ? ", read" : "", spec->weak ? ", weak" : "",
			   spec->precise_max ? ", precise: max" : "");
	}
	event_specs_done(&specs);
	return err;
}

static int list(struct listing *l, int n, char **argv)
{
	struct event_specs specs;

	event_specs_init(&specs);
	if (isatty(1) && !l->options->json && !l->options->raw_dump)
		out_text(l->out, "\nList of pre-defined events (to be used in -e):\n\n");
	if (l->options->json)
		json_array(&l->json);
	if (!n) {
		l->with_forms = true;
		list_kinds(l, &specs, NULL, false);
		heading(l, "Metric Groups");
		if (l->options->json)
			list_metrics(l, &specs, STR(""));
		else if (!l->options->raw_dump) // those are names for -e
			list_metric_groups(l, &specs, true);
	}
	for (int i = 1; i <= n; i++)
		if (!list_word(l, &specs, argv[i]))
			list_glob(l, &specs, argv[i]);
	if (l->options->json) {
		json_end(&l->json);
		out_char(l->out, '\n');
	}
	event_specs_done(&specs);
	if (l->denied && l->shown)
		warn("%s", err_sentence());
	return l->denied && !l->shown ? l->denied : 0;
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	int n = command_parse(&command_list, &o, argv, 0), err = 0;
	struct out out;

	if (n < 0)
		return n;
	if (o.format && !strcmp(o.format, "json"))
		o.json = true;
	else if (o.format && strcmp(o.format, "text"))
		return fail(COMMAND_USAGE, "--format takes text or json, not '%s'", o.format);
	out_init_fd(&out, 1);
	if (o.parse) {
		err = show_parsed(&out, o.parse);
	} else if (o.complete) {
		complete_event(&out, n ? argv[1] : "", o.complete);
	} else if (o.complete_value) {
		complete_value(&out, n ? argv[1] : "", n > 1 ? argv[2] : "", o.complete_value);
	} else {
		struct listing l = {.options = &o, .out = &out};
		json_init(&l.json, &out);
		err = list(&l, n, argv);
	}
	int closed = out_close(&out, "standard output");
	return err < 0 ? err : closed;
}
