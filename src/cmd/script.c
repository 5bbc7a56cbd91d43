// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/script/counts.h"
#include "cmd/core/script/dump.h"
#include "cmd/script/json.h"
#include "cmd/script/print.h"
#include "cmd/core/script/records.h"
#include "flow/chain.h"
#include "flow/event_switch.h"
#include "flow/filter.h"
#include "flow/findings.h"
#include "flow/workers.h"
#include <stdio.h>

// perf's PERF_MAX_STACK_DEPTH
enum { DEFAULT_MAX_STACK = 127 };

struct options {
	const char *input, *format;
	struct opt_list fields;
	bool force, header, header_only, full_header, dump, dump_unsorted, debug_order;
	bool latency, hide_call_graph, ns, relative, delta, per_event;
	bool show_task, show_mmap, show_switch, show_namespace, show_lost, show_round, show_bpf,
		show_cgroup, show_text_poke;
	bool show_kernel_path, inline_frames, full_source_path, all_cpus, no_demangle,
		demangle_kernel, stitch_lbr;
	int verbose;
	unsigned max_stack, max_blocks, jobs;
	const char *stop_at;
	struct filter_options filter;
	struct sym_options sym;
	struct event_switch_options event_switch;
};

struct script {
	const struct options *options;
	struct run *run;
	struct fields fields;
	struct filter *filter;
	bool filtered, filter_place;
	struct chains chains;
	struct words_set stop;
	struct print print;
	struct dump dump;
	struct counts counts;
	struct out out;
	bool json, dumping;
	struct event_switch event_switch;
	size_t events_checked;
	uint64_t last_ns, misordered;
	uint8_t show[64]; // by record type
};

static int not_supported(void *options, const struct opt *opt, const char *arg, bool negated)
{
	if (negated)
		return 0;
	return fail(COMMAND_USAGE, "--%s isn't supported: %s", opt->name, opt->help);
}

static int demangle(void *arg, const struct opt *opt, const char *text, bool negated)
{
	((struct options *)arg)->no_demangle = negated;
	return 0;
}

#define AT(member) .offset = offsetof(struct options, member)
#define SHOW(what, member, text)                                                                   \
	{                                                                                          \
		OPT_FLAG, 0, "show-" what "-events", AT(member), .help = text                      \
	}
#define MISSING(long_name, arg_name, text)                                                         \
	{                                                                                          \
		.kind = OPT_CALL, .name = long_name, .arg = arg_name, .help = text,                \
		.call = not_supported, .hidden = true                                              \
	}

static const struct opt opts[] = {
	{OPT_TEXT, 'i', "input", AT(input), "FILE", "the recording (default perf.data, - for a pipe)"},
	{OPT_FLAG, 'f', "force", AT(force), .help = "read the recording whoever owns it"},
	{OPT_COUNT, 'v', "verbose", AT(verbose), .help = "tell more on stderr; twice for still more"},

	{OPT_GROUP, .help = "What is printed"},
	{OPT_LIST, 'F', "fields", AT(fields), "LIST",
	 "The fields, split by commas; KIND: in front (hw, sw, trace, raw, break, synth) for one kind "
	 "of event; +FIELD adds to the default, -FIELD removes. comm tid pid time cpu event trace ip "
	 "sym dso addr symoff dsoff srcline srccode period iregs uregs brstack brstacksym brstackoff "
	 "insn insnlen disasm brstackinsn brstackinsnlen brstackdisasm flags "
	 "data_src weight ins_lat retire_lat phys_addr data_page_size code_page_size cgroup bpf-output "
	 "misc tod callindent ipc synth machine_pid vcpu."},
	{OPT_TEXT, 0, "format", AT(format), "text|json",
	 "json: one object a line with all that the samples hold (docs/script-json.md)"},
	{OPT_FLAG, 'G', "hide-call-graph", AT(hide_call_graph), .help = "no call chains"},
	{OPT_U32, 0, "max-stack", AT(max_stack), "N",
	 "at most N frames of a call chain (default 127)"},
	{OPT_U32, 0, "max-blocks", AT(max_blocks), "N",
	 "at most N blocks of a branch stack's instructions"},
	{OPT_TEXT, 0, "stop-bt", AT(stop_at), "SYMBOLS", "no frames behind these functions"},
	{OPT_FLAG, 'L', "Latency", AT(latency), .help = "narrow columns, as latency tracers print"},
	{OPT_FLAG, 0, "ns", AT(ns), .help = "times with nanoseconds"},
	{OPT_FLAG, 0, "reltime", AT(relative), .help = "times since the first sample"},
	{OPT_FLAG, 0, "deltatime", AT(delta), .help = "times since the line before"},
	{OPT_FLAG, 0, "header", AT(header), .help = "what the recording says about its machine first"},
	{OPT_FLAG, 0, "header-only", AT(header_only), .help = "that alone"},
	{OPT_FLAG, 'I', "show-info", AT(full_header), .help = "with the topology of the machine"},
	{OPT_FLAG, 'D', "dump-raw-trace", AT(dump), .help = "the bytes of each record as well"},
	{OPT_FLAG, 0, "dump-unsorted-raw-trace", AT(dump_unsorted),
	 .help = "the same in the order of the file"},
	{OPT_FLAG, 'd', "debug-mode", AT(debug_order), .help = "only look for samples out of order"},
	{OPT_U32, 'j', "jobs", AT(jobs), "N", .least = OPT_ABOVE_ZERO,
	 .help = "work in N processes; without it in as many as there are CPUs, 16 at most, where the "
		 "recording is large enough. The result is the same"},
	{OPT_FLAG, 0, "per-event-dump", AT(per_event),
	 .help = "a file FILE.EVENT.dump for each event"},
	{OPT_FLAG, 0, "show-kernel-path", AT(show_kernel_path),
	 .help = "the path of the kernel's image"},

	{OPT_GROUP, .help = "Records other than samples"},
	SHOW("task", show_task, "tasks that start, end or change their name"),
	SHOW("mmap", show_mmap, "files that are mapped"),
	SHOW("switch", show_switch, "context switches"),
	SHOW("namespace", show_namespace, "namespaces"),
	SHOW("lost", show_lost, "losses"),
	SHOW("round", show_round, "ends of rounds; records stand in the order of the file then"),
	SHOW("bpf", show_bpf, "BPF programs that come and go"),
	SHOW("cgroup", show_cgroup, "cgroups"),
	SHOW("text-poke", show_text_poke, "changes of the kernel's code"),

	{OPT_GROUP, .help = "Which samples"},
	{OPT_TEXT, 0, "time", AT(filter.times), "FROM,TO",
	 "between these times in seconds; 10%/2, 0%-10% are parts of the recording"},
	{OPT_TEXT, 'C', "cpu", AT(filter.cpus), "LIST", "of these CPUs"},
	{OPT_TEXT, 'c', "comms", AT(filter.comms), "LIST", "of tasks of these names"},
	{OPT_TEXT, 0, "pid", AT(filter.pids), "LIST", "of these processes"},
	{OPT_TEXT, 0, "tid", AT(filter.tids), "LIST", "of these threads"},
	{OPT_TEXT, 'S', "symbols", AT(filter.symbols), "LIST",
	 "in these functions or at these addresses"},
	{OPT_U32, 0, "addr-range", AT(filter.address_range), "BYTES",
	 "addresses of -S stand for so many bytes"},
	{OPT_TEXT, 0, "dsos", AT(filter.dsos), "LIST", "in these programs and libraries"},
	{OPT_TEXT, 0, "switch-on", AT(event_switch.on), "EVENT", "from this event on"},
	{OPT_TEXT, 0, "switch-off", AT(event_switch.off), "EVENT", "up to this event"},
	{OPT_FLAG, 0, "show-on-off-events", AT(event_switch.show), .help = "those two events as well"},

	{OPT_GROUP, .help = "Symbols"},
	{OPT_TEXT, 'k', "vmlinux", AT(sym.vmlinux), "FILE", "the kernel's image"},
	{OPT_TEXT, 0, "kallsyms", AT(sym.kallsyms), "FILE", "a copy of /proc/kallsyms"},
	{OPT_FLAG, 0, "functions", AT(sym.functions),
	 .help = "code without a symbol has the name of its file and the address where its function begins, gzip@4300"},
	{OPT_TEXT, 0, "symfs", AT(sym.symfs), "FOLDER", "programs and libraries lie below it"},
	{OPT_CALL, 0, "demangle", .help = "names of C++ and Rust in readable form", .call = demangle},
	{OPT_FLAG, 0, "demangle-kernel", AT(demangle_kernel), .help = "those of the kernel as well"},
	{OPT_FLAG, 0, "inline", AT(inline_frames),
	 .help = "inlined functions are frames of their own (the default; --no-inline leaves them out)"},
	{OPT_FLAG, 0, "full-source-path", AT(full_source_path),
	 .help = "source files with their folders"},
	{OPT_FLAG, 'a', "all-cpus", AT(all_cpus), .help = "taken for perf's sake", .hidden = true},
	{OPT_FLAG, 0, "stitch-lbr", AT(stitch_lbr), .help = "taken for perf's sake", .hidden = true},

	{.kind = OPT_CALL,
	 .letter = 's',
	 .name = "script",
	 .arg = "NAME",
	 .call = not_supported,
	 .hidden = true,
	 .help = "there is no Perl or Python inside sonde; read --format json instead"},
	{.kind = OPT_CALL,
	 .letter = 'g',
	 .name = "gen-script",
	 .arg = "LANG",
	 .call = not_supported,
	 .hidden = true,
	 .help = "there is no Perl or Python inside sonde; read --format json instead"},
	{.kind = OPT_CALL,
	 .letter = 'l',
	 .name = "list",
	 .call = not_supported,
	 .hidden = true,
	 .help = "there are no scripts to list"},
	MISSING("dlfilter", "FILE", "filters of perf are bound to its inner structures"),
	MISSING("dlarg", "ARG", "filters of perf are bound to its inner structures"),
	MISSING("list-dlfilters", NULL, "filters of perf are bound to its inner structures"),
	MISSING("itrace", "WHAT", "processor traces aren't decoded yet"),
	MISSING("insn-trace", "HOW", "processor traces aren't decoded yet"),
	MISSING("xed", NULL, "processor traces aren't decoded yet"),
	MISSING("call-trace", NULL, "processor traces aren't decoded yet"),
	MISSING("call-ret-trace", NULL, "processor traces aren't decoded yet"),
	MISSING("graph-function", "SYMBOLS", "processor traces aren't decoded yet"),
	MISSING("guestmount", "FOLDER", "samples of guests aren't resolved yet"),
	MISSING("guestvmlinux", "FILE", "samples of guests aren't resolved yet"),
	MISSING("guestkallsyms", "FILE", "samples of guests aren't resolved yet"),
	MISSING("guestmodules", "FILE", "samples of guests aren't resolved yet"),
	MISSING("guest-code", NULL, "samples of guests aren't resolved yet"),
	OPT_END,
};

// With -D the thread and dso stand before the sample's own line, as soon as time and CPU pass.
static bool wanted(struct script *script, const struct sample *sample, struct task *task)
{
	struct location where;

	// perf has no machine for guests unless it is told of one.
	if (sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    sample->cpumode == PERF_RECORD_MISC_GUEST_USER)
		return false;
	if (!script->filtered)
		return true;
	if (!filter_sample_of(script->filter, sample, script->run->sym, task) ||
	    (!task && !filter_comm(script->filter, "")))
		return false;
	if (!script->filter_place)
		return true;
	if (!task)
		return false;
	where = sym_resolve(script->run->sym, task, sample->cpumode, sample->ip);
	return filter_location(script->filter, &where);
}

static int on_sample(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	const struct sample *sample = &hit->sample;
	struct task *task = hit->task;
	const struct record *record = &hit->record;
	struct script *script = arg;
	const struct json_script json = {&script->out, &script->chains, run};
	const struct sample *unwound;
	struct sample whole;
	int err = 0;

	if (script->dumping) {
		dump_sample(&script->dump, event, sample, record);
		if (filter_time(script->filter, sample->time) &&
		    filter_cpu(script->filter, sample->cpu))
			dump_place(&script->dump, sample, task);
	}
	if (script->options->debug_order) {
		if (sample->time < script->last_ns) {
			warn("samples out of order: one at %llu ns comes after one at %llu ns",
			     (unsigned long long)sample->time, (unsigned long long)script->last_ns);
			script->misordered++;
		}
		script->last_ns = sample->time;
		return 0;
	}
	if (!wanted(script, sample, task))
		return 0;
	if (!event_switch_passes(&script->event_switch, event))
		return 0;
	if (script->fields.callchain) {
		const struct chain_of of = {event, task, script->options->max_stack};

		unwound = run_chain(run, &of, sample, &whole);
		// Each part of it has its limit already.
		script->chains.options.max_stack =
			unwound == sample ? script->options->max_stack : UINT32_MAX;
		sample = unwound;
	}
	if (script->json)
		json_sample(&json, event, sample, task);
	else
		err = print_sample(&script->print, event, sample, task);
	return err ? err : out_broken(&script->out);
}

static int check_announced(struct script *script)
{
	const struct recording *recording = script->run->recording;

	while (script->events_checked < recording->events.n) {
		const struct event *event = recording->events.v[script->events_checked++];
		int err = fields_check_announced(&script->fields, recording, event);

		if (err)
			return err;
	}
	return 0;
}

// The event whose fields a record is printed with, by perf's rules.
static struct event *event_of(struct run *run, const struct sample *ids)
{
	struct recording *recording = run->recording;
	struct event *event;

	if (!recording->events.n)
		return NULL;
	if (recording->events.n == 1 || !ids->id)
		return recording->events.v[0];
	event = recording_event_by_id(recording, ids->id);
	if (!event && !recording->events.v[0]->attr.sample_id_all)
		return recording->events.v[0];
	return event;
}

static int show_record(struct script *script, const struct sample *ids,
		       const struct perf_event_header *header)
{
	struct run *run = script->run;
	const struct json_script json = {&script->out, &script->chains, run};
	struct event *event = event_of(run, ids);
	struct sample shown = *ids;
	struct task *task = NULL;
	const struct record_mmap *with_pid = (const void *)header;
	const struct record_task *fork = (const void *)header;
	uint32_t pid = ids->pid, tid = ids->tid;
	int err = 0;

	switch (header->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_NAMESPACES:
		pid = with_pid->pid;
		tid = with_pid->tid;
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		pid = fork->pid;
		tid = fork->tid;
		break;
	default:
		break;
	}
	if (event && !event->attr.sample_id_all) {
		shown.cpu = 0;
		shown.time = header->type == PERF_RECORD_FORK || header->type == PERF_RECORD_EXIT
				     ? fork->time
				     : 0;
		shown.pid = pid;
		shown.tid = tid;
	}
	if (script->json) {
		json_record(&json, &shown, header);
		return 0;
	}
	if (tid != UINT32_MAX)
		task = sym_task(run->sym, pid, tid);
	shown.header = header;
	if (event)
		err = print_start(&script->print, event, &shown, task);
	if (!err)
		put_record(&script->out, &script->chains, header);
	return err;
}

static int on_record(void *arg, struct run *run, const struct hit *hit)
{
	const struct sample *ids = &hit->sample;
	const struct perf_event_header *header = hit->record.header;
	struct script *script = arg;
	bool show;
	int err = 0;

	if (header->type >= RECORD_HEADER_ATTR) {
		if (header->type == RECORD_HEADER_ATTR)
			err = check_announced(script);
		else if (header->type == RECORD_FINISHED_ROUND && script->options->show_round &&
			 !script->json)
			out_text(&script->out, "PERF_RECORD_FINISHED_ROUND\n");
		if (!script->json)
			counts_take(&script->counts, &script->out, run->recording, header);
		return err ? err : out_broken(&script->out);
	}
	show = header->type < sizeof(script->show) && script->show[header->type] &&
	       record_is_whole(header);
	if (script->dumping)
		dump_record(&script->dump, hit, show);
	if (show && (!script->filtered || filter_cpu(script->filter, ids->cpu)))
		err = show_record(script, ids, header);
	// What ends is shown while it is there, then dumped.
	if (show && script->dumping && header->type == PERF_RECORD_EXIT)
		put_record_body(&script->out, &script->chains, header);
	return err ? err : out_broken(&script->out);
}

static int on_raw(void *arg, struct run *run, const struct record *record)
{
	struct script *script = arg;

	if (record->header->type >= RECORD_HEADER_ATTR)
		dump_tool_record(&script->dump, record);
	return 0;
}

static int on_start(void *arg, struct run *run)
{
	return check_announced(arg);
}

static void choose_records(struct script *script)
{
	const struct options *o = script->options;
	const struct {
		bool on;
		uint8_t types[4];
	} groups[] = {
		{o->show_task, {PERF_RECORD_COMM, PERF_RECORD_FORK, PERF_RECORD_EXIT}},
		{o->show_mmap, {PERF_RECORD_MMAP, PERF_RECORD_MMAP2}},
		{o->show_switch, {PERF_RECORD_SWITCH, PERF_RECORD_SWITCH_CPU_WIDE}},
		{o->show_namespace, {PERF_RECORD_NAMESPACES}},
		{o->show_lost, {PERF_RECORD_LOST}},
		{o->show_bpf, {PERF_RECORD_KSYMBOL, PERF_RECORD_BPF_EVENT}},
		{o->show_cgroup, {PERF_RECORD_CGROUP}},
		{o->show_text_poke, {PERF_RECORD_KSYMBOL, PERF_RECORD_TEXT_POKE}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		for (size_t k = 0; groups[i].on && k < 4 && groups[i].types[k]; k++)
			script->show[groups[i].types[k]] = 1;
	}
}

static int prepare(struct script *script)
{
	const struct options *o = script->options;
	struct recording *recording = script->run->recording;
	struct chains_options chains = {
		.max_stack = o->max_stack,
		.full_kernel_path = o->show_kernel_path,
		.escape = script->out.is_terminal,
		.stop = o->stop_at ? &script->stop : NULL,
		.inlines = o->inline_frames,
		.whole_paths = o->full_source_path,
	};
	int err;

	script->fields.no_callchain = o->hide_call_graph;
	err = fields_check(&script->fields, recording);
	if (!err)
		err = filter_new(&script->filter, &o->filter, recording);
	if (err == -EDOM)
		err = -COMMAND_INVALID;
	if (!err)
		err = event_switch_init(&script->event_switch, &o->event_switch, recording);
	if (err)
		return err;
	// Those of a pipe are checked one by one as they come.
	script->events_checked = recording->is_pipe ? 0 : recording->events.n;
	script->filtered = !filter_is_empty(script->filter);
	script->filter_place =
		filter_needs_dso(script->filter) || filter_needs_symbol(script->filter);
	if (o->stop_at)
		words_set_init(&script->stop, o->stop_at);
	if (o->hide_call_graph)
		chains.max_stack = 0;
	chains_init(&script->chains, script->run->sym, &chains);
	print_init(&script->print, script->run, &script->fields, &script->chains);
	script->print.out = &script->out;
	script->print.options = (struct print_options){.latency = o->latency,
						       .ns = o->ns,
						       .relative = o->relative,
						       .delta = o->delta,
						       .max_blocks = o->max_blocks,
						       .per_event = o->per_event};
	script->dumping = o->dump || o->dump_unsorted;
	script->dump = (struct dump){.out = &script->out,
				     .run = script->run,
				     .chains = &script->chains,
				     .unordered = o->dump_unsorted || o->show_round,
				     .rounds_shown = o->show_round};
	choose_records(script);
	return 0;
}

// What a line says may not depend on lines before it, and all go to one file.
static bool may_share(const struct script *script)
{
	const struct options *o = script->options;
	const struct recording *recording = script->run->recording;

	if (recording->is_pipe || script->dumping || o->debug_order || o->per_event ||
	    o->show_round || o->relative || o->delta || o->event_switch.on || o->event_switch.off)
		return false;
	for (size_t i = 0; i < recording->events.n && !script->json; i++) {
		const struct output *output =
			fields_of(&script->fields, &recording->events.v[i]->attr);

		if (output->fields & (FIELD_BIT(SRCCODE) | FIELD_BIT(DATA_SRC)))
			return false;
	}
	return true;
}

static int process(struct script *script)
{
	const struct workers_options sharing = {.jobs = script->options->jobs,
						.out = &script->out,
						.put_findings = findings_put,
						.take_findings = findings_take,
						.arg = script->run};
	const struct run_hooks hooks = {
		.hit = on_sample,
		.record = on_record,
		.raw = script->dumping ? on_raw : NULL,
		.begin = on_start,
	};
	int err;

	if (may_share(script))
		script->run->workers = workers_new(&sharing);
	err = run_process(script->run, &hooks, script);
	if (err < 0)
		return err;
	if (script->options->debug_order)
		warn("%llu samples out of order", (unsigned long long)script->misordered);
	print_dump_summary(&script->print);
	return 0;
}

static int process_all(struct script *script)
{
	const struct options *o = script->options;
	const struct run_options options = {
		.path = o->input ? o->input : default_input(false),
		.force = o->force,
		.unordered = o->dump_unsorted || o->show_round,
		.sym = o->sym,
	};
	int err = run_open(&script->run, &options), closed;

	if (err < 0)
		return err;
	if (o->dump && !o->dump_unsorted)
		dump_order(&script->out, script->run->recording);
	if (o->header || o->header_only)
		recording_print_header(&script->out, script->run->recording, o->full_header);
	if (!o->header_only) {
		err = prepare(script);
		if (!err)
			err = process(script);
		err = print_done(&script->print, err);
	}
	// What could be read comes before the word about the rest.
	closed = out_flush(&script->out);
	if (!err && closed)
		err = closed;
	if (err >= 0 && !o->header_only)
		err = run_warn(script->run);
	return err;
}

static int check_options(struct options *o)
{
	if (o->relative && o->delta)
		return fail(EINVAL, "--reltime and --deltatime exclude each other");
	if (o->format && strcmp(o->format, "text") && strcmp(o->format, "json"))
		return fail(COMMAND_USAGE, "--format takes text or json, not '%s'", o->format);
	if (o->stop_at && !o->stop_at[strspn(o->stop_at, ",")])
		return fail(COMMAND_USAGE,
			    "--stop-bt takes names of functions split by commas; there is none in '%s'",
			    o->stop_at);
	if (o->format && !strcmp(o->format, "json") &&
	    (o->fields.n || o->dump || o->per_event || o->header || o->header_only))
		return fail(COMMAND_USAGE,
			    "--format json prints all fields: -F, -D, --header and --per-event-dump don't go with it");
	o->filter.times_relative = o->relative;
	o->sym.no_demangle = o->no_demangle;
	o->sym.demangle_kernel = o->demangle_kernel;
	return 0;
}

static int run(int argc, char **argv);

static const struct command_example examples[] = {
	{.line = "sonde script -i perf.data | head",
	 .shows = "the first samples with their call chains"},
	{.line = "sonde script -F comm,pid,time,event,trace", .shows = "tracepoints on one line each"},
	{.line = "sonde script --time 10%/2 -C 0",
	 .shows = "what CPU 0 did in the second tenth of the recording"},
	{.line = "sonde script --format json", .shows = "the same for programs to read"},
	{0},
};

static void values(const char *option, opt_offer *offer, void *arg)
{
	for (size_t i = 0; field_names[i]; i++)
		offer(arg, field_names[i], "");
}

const struct command command_script = {
	.name = "script",
	.summary = "Print every sample of a recording",
	.usage = "sonde script [options] [-i FILE]",
	.description =
		"Prints the samples of a recording one after another in time order: who, where, "
		"when, which event, and its call chain or tracepoint. Text is laid out as perf "
		"script lays it out; --format json is for programs.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.values = values,
	.family = COMMAND_PERF,
	.run = run,
};

static bool ends_with_comma(const char *text)
{
	size_t n = strlen(text);

	return n && text[n - 1] == ',';
}

static int run(int argc, char **argv)
{
	struct options options = {.max_stack = DEFAULT_MAX_STACK, .inline_frames = true};
	struct script script = {.options = &options};
	int words = command_parse(&command_script, &options, argv, 0), err, closed;

	if (words < 0)
		return words;
	log_set_level(options.verbose);
	if (words > 0 && options.fields.n && ends_with_comma(options.fields.v[options.fields.n - 1]))
		return fail(COMMAND_USAGE,
			    "-F '%s': a list of fields is one word, without blanks; '%s' stands alone",
			    options.fields.v[options.fields.n - 1], argv[1]);
	if (words > 0 && strcmp(argv[1], "flamegraph") == 0)
		return fail(COMMAND_USAGE,
			    "sonde runs no scripts; a flame graph is drawn by: sonde flamegraph -i FILE, or sonde flamegraph -- COMMAND");
	if (words > 0)
		return fail(COMMAND_USAGE,
			    "there is no script '%s': sonde runs none, it prints; the recording is given with -i",
			    argv[1]);
	err = check_options(&options);
	fields_init(&script.fields);
	for (size_t i = 0; !err && i < options.fields.n; i++)
		err = fields_parse(&script.fields, options.fields.v[i]);
	free(options.fields.v);
	if (err < 0)
		return err;
	script.json = options.format && !strcmp(options.format, "json");
	out_init_fd(&script.out, STDOUT_FILENO);
	err = process_all(&script);
	closed = out_close(&script.out, "standard output");
	counts_done(&script.counts);
	chains_done(&script.chains);
	words_set_done(&script.stop);
	filter_free(script.filter);
	run_close(script.run);
	return err ? err : closed;
}
