// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/script/fields.h"
#include "base/err.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cmd/core/command.h"

const char *const field_names[] = {
	[FIELD_COMM] = "comm",
	[FIELD_TID] = "tid",
	[FIELD_PID] = "pid",
	[FIELD_TIME] = "time",
	[FIELD_CPU] = "cpu",
	[FIELD_EVENT] = "event",
	[FIELD_TRACE] = "trace",
	[FIELD_IP] = "ip",
	[FIELD_SYM] = "sym",
	[FIELD_DSO] = "dso",
	[FIELD_ADDR] = "addr",
	[FIELD_SYMOFF] = "symoff",
	[FIELD_SRCLINE] = "srcline",
	[FIELD_PERIOD] = "period",
	[FIELD_IREGS] = "iregs",
	[FIELD_UREGS] = "uregs",
	[FIELD_BRSTACK] = "brstack",
	[FIELD_BRSTACKSYM] = "brstacksym",
	[FIELD_BRSTACKOFF] = "brstackoff",
	[FIELD_DATA_SRC] = "data_src",
	[FIELD_WEIGHT] = "weight",
	[FIELD_BPF_OUTPUT] = "bpf-output",
	[FIELD_CALLINDENT] = "callindent",
	[FIELD_SYNTH] = "synth",
	[FIELD_PHYS_ADDR] = "phys_addr",
	[FIELD_MISC] = "misc",
	[FIELD_IPC] = "ipc",
	[FIELD_TOD] = "tod",
	[FIELD_DATA_PAGE_SIZE] = "data_page_size",
	[FIELD_CODE_PAGE_SIZE] = "code_page_size",
	[FIELD_INS_LAT] = "ins_lat",
	[FIELD_RETIRE_LAT] = "retire_lat",
	[FIELD_CGROUP] = "cgroup",
	[FIELD_DSOFF] = "dsoff",
	[FIELD_MACHINE_PID] = "machine_pid",
	[FIELD_VCPU] = "vcpu",
	[FIELD_SRCCODE] = "srccode",
	[FIELD_INSN] = "insn",
	[FIELD_INSNLEN] = "insnlen",
	[FIELD_DISASM] = "disasm",
	[FIELD_BRSTACKINSN] = "brstackinsn",
	[FIELD_BRSTACKINSNLEN] = "brstackinsnlen",
	[FIELD_BRSTACKDISASM] = "brstackdisasm",
	"flags",
	NULL,
};

enum { FIELD_FLAGS = FIELD_BRSTACKDISASM + 1 };

// Fields of perf that need what sonde can't do yet.
static const struct {
	const char *name, *needs;
} missing_fields[] = {
	{"metric", "metrics"},
	{"brcntr", "counters in branch stacks"},
};

static const struct {
	const char *prefix, *name;
} kinds[OUTPUT_KINDS] = {
	[PERF_TYPE_HARDWARE] = {"hw", "hardware"},
	[PERF_TYPE_SOFTWARE] = {"sw", "software"},
	[PERF_TYPE_TRACEPOINT] = {"trace", "tracepoint"},
	[PERF_TYPE_HW_CACHE] = {NULL, "hardware-cache"},
	[PERF_TYPE_RAW] = {"raw", "raw"},
	[PERF_TYPE_BREAKPOINT] = {"break", "breakpoint"},
	[OUTPUT_SYNTH] = {"synth", "synthesized"},
	[OUTPUT_OTHER] = {NULL, "other"},
};

enum output_kind output_kind(const struct perf_event_attr *attr)
{
	// perf's number for events that it decodes from traces: INT_MAX + 1.
	if (attr->type == 0x80000000u)
		return OUTPUT_SYNTH;
	return attr->type < PERF_TYPE_MAX ? (enum output_kind)attr->type : OUTPUT_OTHER;
}

void fields_init(struct fields *fields)
{
	const uint64_t who = FIELD_BIT(COMM) | FIELD_BIT(TID) | FIELD_BIT(CPU) | FIELD_BIT(TIME) |
			     FIELD_BIT(EVENT);
	const uint64_t where = FIELD_BIT(IP) | FIELD_BIT(SYM) | FIELD_BIT(SYMOFF) | FIELD_BIT(DSO);

	*fields = (struct fields){0};
	for (int kind = 0; kind < OUTPUT_KINDS; kind++) {
		struct output *output = &fields->of[kind];

		output->fields = who | where | FIELD_BIT(PERIOD);
		output->invalid = FIELD_BIT(TRACE) | FIELD_BIT(BPF_OUTPUT);
	}
	fields->of[PERF_TYPE_SOFTWARE].fields |= FIELD_BIT(BPF_OUTPUT);
	fields->of[PERF_TYPE_SOFTWARE].invalid = FIELD_BIT(TRACE);
	fields->of[PERF_TYPE_TRACEPOINT].fields = who | FIELD_BIT(TRACE);
	fields->of[PERF_TYPE_TRACEPOINT].invalid = 0;
	fields->of[PERF_TYPE_RAW].fields |=
		FIELD_BIT(ADDR) | FIELD_BIT(DATA_SRC) | FIELD_BIT(WEIGHT) | FIELD_BIT(PHYS_ADDR) |
		FIELD_BIT(DATA_PAGE_SIZE) | FIELD_BIT(CODE_PAGE_SIZE) | FIELD_BIT(INS_LAT);
	fields->of[OUTPUT_SYNTH].fields = who | where | FIELD_BIT(SYNTH);
}

static int unknown_field(const char *word)
{
	const char *near;

	for (size_t i = 0; i < ARRAY_SIZE(missing_fields); i++) {
		if (!strcmp(word, missing_fields[i].name))
			return fail(COMMAND_USAGE,
				    "-F: the field '%s' needs %s, which sonde doesn't have yet",
				    word, missing_fields[i].needs);
	}
	near = nearest(word, field_names);
	if (near)
		return fail(COMMAND_USAGE, "-F: there is no field '%s'; did you mean '%s'?", word,
			    near);
	return fail(COMMAND_USAGE, "-F: there is no field '%s'; sonde help script lists them", word);
}

static int find_field(const char *word)
{
	for (int i = 0; field_names[i]; i++) {
		if (!strcmp(word, field_names[i]))
			return i;
	}
	return -1;
}

static void change(struct output *output, uint64_t bit, bool remove)
{
	if (remove) {
		output->fields &= ~bit;
		output->user_set &= ~bit;
		output->user_unset |= bit;
	} else {
		output->fields |= bit;
		output->user_set |= bit;
		output->user_unset &= ~bit;
	}
	output->by_user = output->by_wildcard = true;
}

static int change_all(struct fields *fields, int kind, int field, bool remove)
{
	uint64_t bit = 1ull << field;

	if (kind >= 0) {
		struct output *output = &fields->of[kind];

		if (output->invalid & bit)
			return fail(COMMAND_USAGE, "-F: %s events have no field '%s'",
				    kinds[kind].name, field_names[field]);
		// perf doesn't note such a field as asked for, so that it is dropped when samples lack it.
		output->fields = remove ? output->fields & ~bit : output->fields | bit;
		output->by_user = output->by_wildcard = true;
		return 0;
	}
	for (kind = 0; kind < OUTPUT_KINDS; kind++) {
		if (fields->of[kind].invalid & bit)
			inform("-F: %s events have no field '%s'", kinds[kind].name,
			       field_names[field]);
		else
			change(&fields->of[kind], bit, remove);
	}
	return 0;
}

static int find_kind(const char *prefix)
{
	const char *names[OUTPUT_KINDS + 1];
	const char *near;
	size_t n = 0;

	for (int kind = 0; kind < OUTPUT_KINDS; kind++) {
		if (!kinds[kind].prefix)
			continue;
		if (!strcmp(kinds[kind].prefix, prefix))
			return kind;
		names[n++] = kinds[kind].prefix;
	}
	names[n] = NULL;
	near = nearest(prefix, names);
	return fail(COMMAND_USAGE,
		    "-F: there is no kind of event '%s'%s%s%s (hw, sw, trace, raw, break, synth)",
		    prefix, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

int fields_parse(struct fields *fields, const char *text)
{
	auto_free char *copy = xstrdup(text);
	enum { UNDECIDED, SET, ADD, REMOVE } how = UNDECIDED;
	char *words = copy, *word, *colon = strchr(copy, ':');
	int kind = -1;

	fields->version++;
	if (colon) {
		*colon = 0;
		kind = find_kind(copy);
		if (kind < 0)
			return kind;
		words = colon + 1;
	} else if (!*text) {
		return fail(COMMAND_USAGE, "-F: without a kind of event there must be a field");
	}
	// Like perf, any + or - in the text (that of bpf-output too) leaves the defaults in place.
	if (!strpbrk(words, "+-")) {
		for (int i = 0; i < OUTPUT_KINDS; i++) {
			struct output *output = &fields->of[i];

			if (kind >= 0 && i != kind)
				continue;
			output->fields = 0;
			output->by_user = true;
			output->by_wildcard = kind < 0;
		}
	}
	if (*words && !words[strspn(words, ",")])
		return fail(COMMAND_USAGE, "-F: '%s' names no field", text);
	while ((word = strsep(&words, ","))) {
		int field, err;

		if (!*word)
			continue;
		if (*word == '+' || *word == '-') {
			if (how == SET)
				return fail(COMMAND_USAGE,
					    "-F: '%s' mixes +field or -field with plain fields",
					    text);
			how = *word++ == '+' ? ADD : REMOVE;
		} else if (how == ADD || how == REMOVE) {
			return fail(COMMAND_USAGE,
				    "-F: '%s' mixes +field or -field with plain fields", text);
		} else {
			how = SET;
		}
		field = find_field(word);
		if (field < 0)
			return unknown_field(word);
		if (field == FIELD_FLAGS) {
			fields->flags = how != REMOVE;
			continue;
		}
		err = change_all(fields, kind, field, how == REMOVE);
		if (err)
			return err;
		if (field == FIELD_DSOFF && how != REMOVE)
			change_all(fields, kind, FIELD_DSO, false);
	}
	return 0;
}

// What a field needs of the samples.
static const struct {
	uint64_t sample_type, fields;
	const char *name;
	bool trace_may_make; // decoded traces can make up for it
} needs[] = {
	{PERF_SAMPLE_IP, FIELD_BIT(IP), "IP", false},
	{PERF_SAMPLE_ADDR, FIELD_BIT(ADDR), "ADDR", true},
	{PERF_SAMPLE_DATA_SRC, FIELD_BIT(DATA_SRC), "DATA_SRC", true},
	{PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, FIELD_BIT(WEIGHT), "WEIGHT", true},
	{PERF_SAMPLE_TID, FIELD_BIT(PID) | FIELD_BIT(TID), "TID", false},
	{PERF_SAMPLE_TIME, FIELD_BIT(TIME), "TIME", false},
	{PERF_SAMPLE_CPU, FIELD_BIT(CPU), "CPU", true},
	{PERF_SAMPLE_REGS_INTR, FIELD_BIT(IREGS), "IREGS", true},
	{PERF_SAMPLE_REGS_USER, FIELD_BIT(UREGS), "UREGS", false},
	{PERF_SAMPLE_PHYS_ADDR, FIELD_BIT(PHYS_ADDR), "PHYS_ADDR", true},
	{PERF_SAMPLE_DATA_PAGE_SIZE, FIELD_BIT(DATA_PAGE_SIZE), "DATA_PAGE_SIZE", false},
	{PERF_SAMPLE_CODE_PAGE_SIZE, FIELD_BIT(CODE_PAGE_SIZE), "CODE_PAGE_SIZE", false},
	{PERF_SAMPLE_WEIGHT_STRUCT, FIELD_BIT(INS_LAT), "WEIGHT_STRUCT", false},
	{PERF_SAMPLE_WEIGHT_STRUCT, FIELD_BIT(RETIRE_LAT), "WEIGHT_STRUCT", false},
	{PERF_SAMPLE_CGROUP, FIELD_BIT(CGROUP), "CGROUP", false},
};

static bool is_dummy(const struct event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_DUMMY;
}

// perf asks this of all events, whichever the field was asked for.
static bool has_all_branches(const struct recording *recording)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct perf_event_attr *attr = &recording->events.v[i]->attr;

		if ((attr->sample_type & PERF_SAMPLE_BRANCH_STACK) &&
		    (attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY))
			return true;
	}
	return false;
}

static int check_event(struct output *output, const struct recording *recording,
		       const struct event *event)
{
	uint64_t type = event->attr.sample_type;
	bool has_trace = recording->features[FEATURE_AUXTRACE].present;

	// What has no samples lacks nothing.
	if (is_dummy(event) || recording->features[FEATURE_STAT].present || !type)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		uint64_t fields = needs[i].fields;

		if (!(output->fields & fields) || (type & needs[i].sample_type))
			continue;
		if (output->user_set & fields) {
			if (has_trace && needs[i].trace_may_make)
				continue;
			return fail(EINVAL,
				    "Samples for '%s' event do not have %s attribute set. Cannot print '%s' field.",
				    event->name, needs[i].name,
				    field_names[__builtin_ctzll(output->user_set & fields)]);
		}
		output->fields &= ~fields;
		debug("samples of '%s' have no %s; its field is left out", event->name,
		      needs[i].name);
	}
	if ((output->fields & FIELD_BIT(SYM)) && !(type & (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR)))
		return fail(EINVAL,
			    "samples of '%s' have neither an IP nor an address that the field 'sym' could be of",
			    event->name);
	if ((output->fields & FIELD_BIT(SYMOFF)) && !(output->fields & FIELD_BIT(SYM)))
		return fail(EINVAL, "the field 'symoff' needs the field 'sym' beside it");
	if ((output->fields & FIELD_BIT(DSO)) && !(type & (PERF_SAMPLE_IP | PERF_SAMPLE_ADDR)))
		return fail(EINVAL,
			    "samples of '%s' have neither an IP nor an address that the field 'dso' could be of",
			    event->name);
	if ((output->fields & (FIELD_BIT(SRCLINE) | FIELD_BIT(SRCCODE))) &&
	    !(output->fields & FIELD_BIT(IP)))
		return fail(EINVAL, "the field '%s' needs the field 'ip' beside it",
			    output->fields & FIELD_BIT(SRCLINE) ? "srcline" : "srccode");
	if ((output->fields & FIELDS_OF_BRANCH_CODE) && !has_trace && !has_all_branches(recording))
		return fail(EINVAL, "the field '%s' needs stacks of all branches: record with -b",
			    field_names[__builtin_ctzll(output->fields & FIELDS_OF_BRANCH_CODE)]);
	return 0;
}

static void set_ip_fields(struct output *output)
{
	output->ip_fields =
		output->fields & (FIELD_BIT(IP) | FIELD_BIT(SYM) | FIELD_BIT(DSO) |
				  FIELD_BIT(SYMOFF) | FIELD_BIT(SRCLINE) | FIELD_BIT(DSOFF));
}

static const struct event *first_of(const struct recording *recording, int kind)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = recording->events.v[i];

		if (!is_dummy(event) && (int)output_kind(&event->attr) == kind)
			return event;
	}
	return NULL;
}

int fields_check(struct fields *fields, const struct recording *recording)
{
	struct output *trace = &fields->of[PERF_TYPE_TRACEPOINT];
	bool tod = false;

	fields->version++;
	fields->callchain = !fields->no_callchain;
	for (int kind = 0; kind < OUTPUT_KINDS; kind++) {
		struct output *output = &fields->of[kind];
		const struct event *event = first_of(recording, kind);
		int err;

		if (!event && output->by_user && !output->by_wildcard && kind != OUTPUT_SYNTH)
			return fail(EINVAL, "%s has no %s events, for which -F names fields",
				    recording->path, kinds[kind].name);
		if (!event)
			continue;
		if (output->fields) {
			err = check_event(output, recording, event);
			if (err)
				return err;
		}
		set_ip_fields(output);
		tod |= output->fields & FIELD_BIT(TOD);
	}
	if (fields->callchain && recording->events.n) {
		fields->callchain = false;
		for (size_t i = 0; i < recording->events.n; i++) {
			if (recording->events.v[i]->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
				fields->callchain = true;
		}
	}
	for (size_t i = 0; fields->callchain && !trace->by_user && i < recording->events.n; i++) {
		const struct perf_event_attr *attr = &recording->events.v[i]->attr;

		if (attr->type != PERF_TYPE_TRACEPOINT ||
		    !(attr->sample_type & PERF_SAMPLE_CALLCHAIN))
			continue;
		trace->fields |= FIELD_BIT(IP) | FIELD_BIT(SYM) | FIELD_BIT(SYMOFF) | FIELD_BIT(DSO);
		set_ip_fields(trace);
		break;
	}
	if (tod && !recording->is_pipe && !recording->info.has_clock_data)
		return fail(EINVAL,
			    "the field 'tod' needs the clock's relation to the time of day: record with -k CLOCK");
	return 0;
}

int fields_check_announced(struct fields *fields, const struct recording *recording,
			   const struct event *event)
{
	struct output *output = &fields->of[output_kind(&event->attr)];
	uint64_t type = 0;
	int err;

	fields->version++;
	// perf leaves those without the fields of addresses.
	if (output_kind(&event->attr) == OUTPUT_OTHER)
		return 0;
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *other = recording->events.v[i];

		if (other->index < event->index && other->attr.type == event->attr.type)
			return 0;
	}
	if (event->attr.sample_type) {
		err = check_event(output, recording, event);
		if (err)
			return err;
	}
	for (size_t i = 0; i < recording->events.n && i <= event->index; i++)
		type |= recording->events.v[i]->attr.sample_type;
	if (!fields->no_callchain &&
	    ((type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK)) ||
	     ((type & PERF_SAMPLE_REGS_USER) && (type & PERF_SAMPLE_STACK_USER))))
		output->fields |= (FIELD_BIT(IP) | FIELD_BIT(SYM)) & ~output->user_unset;
	set_ip_fields(output);
	return 0;
}
