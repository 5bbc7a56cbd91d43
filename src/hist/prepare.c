// SPDX-License-Identifier: GPL-2.0-or-later
// From options and a recording to a report that takes samples, and its end; for report and what shows rows as it does.
#include "hist/counted.h"
#include "hist/history.h"
#include "base/err.h"
#include "sym/options.h"

uint64_t report_sample_types(const struct recording *recording)
{
	uint64_t types = 0;

	for (size_t i = 0; i < recording->events.n; i++)
		types |= recording->events.v[i]->attr.sample_type;
	return types;
}

bool report_has_branches(const struct report *report)
{
	const struct recording *recording = report->run->recording;

	return recording->features[FEATURE_BRANCH_STACK].present || recording->info.has_branch_stack;
}

// Where only some kinds of branches were recorded, nobody knows what ran between two of them.
struct blocks *report_blocks_new(const struct report *report)
{
	const struct recording *recording = report->run->recording;
	struct blocks *blocks = blocks_new();
	uint64_t kinds = 0;

	for (size_t i = 0; i < recording->events.n; i++)
		kinds |= recording->events.v[i]->attr.branch_sample_type;
	blocks->no_starts = !(kinds & PERF_SAMPLE_BRANCH_ANY);
	return blocks;
}

// The order of these decisions is perf's.
static int choose_mode(struct report *report)
{
	struct recording *recording = report->run->recording;
	uint64_t types = report_sample_types(recording);
	bool has_branches, has_chains = types & PERF_SAMPLE_CALLCHAIN;

	report->pipe = recording->is_pipe;
	report->chain = report->o.chain;
	report->children = report->o.children;
	if (report->o.inverted)
		report->chain.caller = true;
	if (report->children && !report->chain.order_given)
		report->chain.caller = true;
	has_branches = !report->pipe && report_has_branches(report);
	if (types & PERF_SAMPLE_STACK_USER)
		has_branches = false;
	if (report->o.branch_history) {
		report->chain.by_address = true;
		report->history = history_new(report);
		if (!report->o.sort)
			report->o.sort = "srcline,symbol,dso";
	} else if (report->o.branch < 0 ? has_branches : report->o.branch) {
		report->mode = MODE_BRANCH;
		report->children = false;
	}
	if (report->mode != MODE_BRANCH)
		report->o.total_cycles = false; // perf says nothing either
	if (report->o.total_cycles)
		report->o.sort = NULL;
	if (report->o.mem_mode) {
		if (report->mode == MODE_BRANCH)
			return fail(COMMAND_USAGE,
				    "branch and mem mode exclude each other: take --no-branch-stack");
		report->mode = MODE_MEMORY;
		report->children = false;
	}
	if (report->o.hierarchy)
		report->children = false;
	report->no_children_column = report->children && (report->pipe || !has_chains) &&
				     report->o.fields && *report->o.fields == '+';
	// A pipe tells its events too late for perf to know that there are call chains.
	if (report->pipe || !has_chains)
		report->children = false;
	report->use_chains =
		report->chain.mode != CHAIN_NONE && (has_chains || report->pipe || report->history);
	if (report->history)
		report->children = false;
	return 0;
}

// All events form one group when --group asks for it and there is none.
static void choose_groups(struct report *report)
{
	struct recording *recording = report->run->recording;
	bool any = false;

	report->grouped = report->o.group;
	for (size_t i = 0; i < recording->events.n; i++)
		any |= recording->events.v[i]->group_members > 1;
	if (any || !recording->events.n)
		report->o.group_given = false; // the groups have their own names
	// Whether they are shown together or not: --no-group names the first as a leader too, as perf does; but neither makes a group of
	// an old pipe, which has no features behind which perf would.
	if (any || !report->o.group_given || (report->pipe && !recording->info.os_release))
		return;
	for (size_t i = 0; i < recording->events.n; i++)
		recording->events.v[i]->leader = recording->events.v[0];
	recording->events.v[0]->group_members = (uint32_t)recording->events.n;
}

static int compile(regex_t *regex, const char *pattern, const char *option, bool *ret_there)
{
	char why[128];
	int err = regcomp(regex, pattern, REG_EXTENDED);

	if (err) {
		regerror(err, regex, why, sizeof(why));
		return fail(COMMAND_USAGE, "--%s %s: %s", option, pattern, why);
	}
	*ret_there = true;
	return 0;
}

// HEADER_CPU_TOPOLOGY: two lists of texts, then core and socket of each CPU.
static void read_sockets(struct report *report)
{
	const struct recording *recording = report->run->recording;
	const struct feature *feature = &recording->features[FEATURE_CPU_TOPOLOGY];
	const uint8_t *p = feature->data, *end = p + feature->size;
	uint32_t word[2];

	if (!feature->present || !p || recording->swap)
		return;
	for (int list = 0; list < 2; list++) {
		uint32_t n, size;

		if (end - p < 4)
			return;
		memcpy(&n, p, 4);
		for (p += 4; n; n--) {
			if (end - p < 4)
				return;
			memcpy(&size, p, 4);
			p += 4;
			if ((size_t)(end - p) < size)
				return;
			p += size;
		}
	}
	for (uint32_t i = 0; i < recording->info.cpus_available && end - p >= 8; i++, p += 8) {
		memcpy(word, p, 8);
		vec_push(&report->sockets, (int32_t)word[1]);
	}
}

static int make_filters(struct report *report)
{
	const struct filter_options *given = &report->o.filter;
	struct recording *recording = report->run->recording;
	struct filter_options skip = {.cpus = given->cpus, .times = given->times};
	struct filter_options hide = {.pids = given->pids,
				      .tids = given->tids,
				      .comms = given->comms,
				      .dsos = given->dsos};
	struct filter_options symbols = {.symbols = given->symbols};
	int err = filter_new(&report->skip, &skip, recording);

	if (err == -EDOM)
		return -COMMAND_INVALID;
	if (!err)
		err = filter_new(&report->hide, &hide, recording);
	if (!err)
		err = filter_new(&report->hide_symbol, &symbols, recording);
	if (!err)
		report->has_hide =
			!filter_is_empty(report->hide) || !filter_is_empty(report->hide_symbol);
	return err;
}

void report_init_stacks(struct report *report)
{
	// Branches that lie on the same line are told apart.
	stacks_init(&report->stacks, report->run->sym,
		    !report->history && (report->chain.by_srcline ||
					 (report->has_srcline && report->children))
			    ? FRAME_BY_SRCLINE
		    : report->chain.by_address ? FRAME_BY_ADDRESS
					       : FRAME_BY_FUNCTION);
	report->stacks.want_srclines = report->chain.by_address || report->has_srcline;
	report->stacks.no_inlines = !report->o.inlines;
	if (report->o.inlines || report->stacks.want_srclines)
		report->stacks.sources = report->sources;
	report->stacks.max_stack = report->o.max_stack;
	report->stacks.keep_outermost = report->chain.caller;
	report->stacks.hide_unresolved = report->o.hide_unresolved;
}

int report_prepare(struct report *report)
{
	struct report_options *o = &report->o;
	int err = choose_mode(report);

	if (err)
		return err;
	choose_groups(report);
	err = report_setup_columns(report);
	if (!err)
		err = make_filters(report);
	if (!err)
		err = event_switch_init(&report->event_switch, &o->event_switch,
					report->run->recording);
	if (!err && report->has_parent)
		err = compile(&report->parent_regex, o->parent ? o->parent : "^sys_|^do_page_fault",
			      "parent", &report->has_parent_regex);
	if (!err && o->ignore_callees)
		err = compile(&report->ignore_regex, o->ignore_callees, "ignore-callees",
			      &report->has_ignore_regex);
	if (err)
		return err;
	report->has_skip = !filter_is_empty(report->skip);
	report->only_counts = report->mode == MODE_NORMAL && !report->needs_extra &&
			      !report->has_hide && !report->has_parent && !o->exclude_other &&
			      !report->children && !report->use_chains;
	report->no_places = report->no_rows && report->only_counts && !report->o.hide_unresolved &&
			    !report->blocks && report_keys_are_of_task(report);
	// Each address for itself can be hidden.
	report->joins_unresolved = report->no_rows && report->has_dso && !report->has_hide &&
				   report_keys_are_of_place(report);
	report->counts_first = report_may_count_first(report);
	report->sources = sources_new(report->run->sym);
	if (o->full_source_path)
		sources_show_paths(report->sources);
	report_init_stacks(report);
	read_sockets(report);
	return 0;
}

int report_record(void *arg, struct run *run, const struct hit *hit)
{
	struct event *event = hit->event;
	const struct record *record = &hit->record;
	struct report *report = arg;
	const struct perf_event_header *header = record->header;

	if (!record_is_whole(header))
		return 0;
	switch (header->type) {
	case PERF_RECORD_LOST_SAMPLES:
		if (event && !record_is_of_filter(header))
			report_hist(report, event)->lost_samples +=
				(uint32_t)((const struct record_lost_samples *)header)->lost;
		break;
	case PERF_RECORD_NAMESPACES: {
		const struct record_namespaces *names = (const void *)header;
		enum { CGROUP_NAMESPACE = 6 };

		if (!report->has_cgroup_id || names->nr <= CGROUP_NAMESPACE)
			break;
		*map_at(&report->cgroup_devs, names->tid, NULL) = names->link[CGROUP_NAMESPACE].dev;
		*map_at(&report->cgroup_inos, names->tid, NULL) = names->link[CGROUP_NAMESPACE].ino;
		break;
	}
	default:
		break;
	}
	return 0;
}

void report_init(struct report *report)
{
	report->o = (struct report_options){
		.children = true,
		.skip_empty = true,
		.demangle = true,
		.group = true,
		.inlines = true,
		.socket = -1,
		.branch = -1,
		.max_stack = 127,
		.percentage = "absolute",
		.chain = {.mode = CHAIN_GRAPH, .least_percent = 0.5},
	};
	report->quantum_ns = 100000000;
	intern_init(&report->texts);
	out_init_memory(&report->scratch);
}

int report_open(struct report *report)
{
	const struct report_options *o = &report->o;
	const struct run_options options = {
		.path = o->input,
		.force = o->force,
		.unordered = o->dump && o->unordered, // so does perf
		.sym = {.symfs = o->symfs,
			.vmlinux = o->vmlinux,
			.kallsyms = o->kallsyms,
			.ignore_vmlinux = o->ignore_vmlinux,
			.no_demangle = !o->demangle,
			.demangle_kernel = o->demangle_kernel,
			.functions = o->functions},
	};

	if (sym_options_check(&options.sym) < 0)
		return -COMMAND_INVALID;
	return run_open(&report->run, &options);
}

void report_done(struct report *report)
{
	history_free(report->history);
	if (report->run) {
		struct recording *recording = report->run->recording;

		for (size_t i = 0; i < recording->events.n; i++)
			hist_free(recording->events.v[i]->user);
		stacks_done(&report->stacks);
		sources_free(report->sources);
		map_done(&report->srclines);
	}
	run_close(report->run);
	filter_free(report->skip);
	filter_free(report->hide);
	filter_free(report->hide_symbol);
	annotate_counts_free(report->addresses);
	blocks_free(report->blocks);
	report_ipc_free(report);
	map_done(&report->cgroup_devs);
	map_done(&report->cgroup_inos);
	for (size_t i = 0; i < report->levels.n; i++)
		vec_done(&report->levels.v[i].columns);
	vec_done(&report->levels);
	vec_done(&report->sorts);
	vec_done(&report->fields);
	vec_done(&report->context_keys);
	vec_done(&report->sockets);
	vec_done(&report->tids);
	vec_done(&report->dso_hashes);
	if (report->has_parent_regex)
		regfree(&report->parent_regex);
	if (report->has_ignore_regex)
		regfree(&report->ignore_regex);
	free(report->frame_parent);
	free(report->frame_ignored);
	intern_done(&report->texts);
	arena_done(&report->arena);
	out_done(&report->scratch);
}
