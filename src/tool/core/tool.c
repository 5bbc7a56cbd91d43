// SPDX-License-Identifier: GPL-2.0-or-later
// The run of a tool: a profiler whose hooks are these.
#include "tool/core/tool.h"
#include "base/err.h"
#include "base/time.h"
#include "prof/core/counted.h"
#include "prof/core/print.h"

const struct opt tool_options[] = {
	PROF_HEADING("The run"),
	PROF_TEXT(0, "from", PROF_AT(from), "FILE",
		  "take the events of a recording instead of the running kernel's"),
	PROF_TEXT(0, "to", PROF_AT(to), "FILE",
		  "keep the events in a recording (perf.data), for --from"),
	PROF_TEXT(0, "cpus", PROF_AT(target.cpus), "LIST", "these CPUs, such as 0,2-3"),
	PROF_OPTION_NO_BPF,
	PROF_TEXT('o', "output", PROF_AT(output), "FILE", "where to (default: standard output)"),
	PROF_TEXT(0, "format", PROF_AT(format), "FORMAT", TABLE_FORMATS),
	PROF_FLAG('q', "quiet", PROF_AT(quiet), "no messages"),
	{.kind = OPT_COUNT,
	 .letter = 'v',
	 .name = "verbose",
	 .offset = PROF_AT(verbose),
	 .help = "more messages"},
	OPT_END,
};

const struct tool *tool_find(const char *name)
{
	for (size_t i = 0; tools[i]; i++)
		if (!strcmp(tools[i]->name, name))
			return tools[i];
	return NULL;
}

// ---- the plan

static int ignore(void *arg, struct event *event, const char *system, const char *name)
{
	return 0;
}

void tool_cgroup_name(void *run_, size_t row, uint32_t key, struct out *out)
{
	struct tool_run *run = run_;

	prof_put_cgroup(run->prof, tally_number(run->prof->tally, row, key), out);
}

int tool_events(struct tool_run *run, const struct tool_event *const *choices)
{
	int err = 0;

	for (; *choices; choices++) {
		err = 0;
		for (const struct tool_event *event = *choices; !err && event->name; event++)
			err = run->prof->find(run->prof->feed, event->name, ignore, NULL);
		if (!err) {
			run->events = *choices;
			return 0;
		}
		if (choices[1])
			err_clear();
	}
	return err;
}

void tool_filter(struct tool_run *run, const char *filter)
{
	run->filter = filter;
}

uint32_t tool_key(struct tool_run *run, struct tally_key key, const char *text)
{
	run->keys[run->keys_n] = key;
	run->key_texts[run->keys_n] = text;
	return run->keys_n++;
}

uint32_t tool_cell(struct tool_run *run, enum tally_cell_kind kind, const char *text)
{
	run->cells[run->cells_n] = kind;
	if (text || kind == TALLY_HITS)
		run->updates[run->updates_n++] = (struct tally_update){run->cells_n, text};
	return run->cells_n++;
}

void tool_histogram(struct tool_run *run, const char *text, uint32_t unit, const char *unit_name)
{
	tool_key(run, (struct tally_key){TALLY_LOG2, .unit = unit}, text);
	tool_cell(run, TALLY_HITS, NULL);
	run->unit = unit_name;
}

void tool_sections(struct tool_run *run, const struct tool_section *section)
{
	run->section = section->title;
	run->section_key = tool_key(run, (struct tally_key){section->kind}, section->text);
	run->section_name = section->name;
}

// ---- the run

// Do events of the role say a key of the kind?
static bool says(const struct tool_run *run, enum tally_role role, enum tally_key_kind kind)
{
	for (uint32_t k = 0; k < run->keys_n; k++)
		if (run->keys[k].kind == kind && run->keys[k].first == (role == TALLY_FIRST))
			return true;
	return false;
}

// What the key asks of the events that come out of the kernel.
static int want_more(struct tool_run *run, enum tally_role role, struct feed_event *feed)
{
	// In what is kept perf finds the end of a wait by its stack.
	feed->stack = says(run, role, TALLY_STACK) ||
		      (run->prof->options->to && says(run, TALLY_FIRST, TALLY_STACK));
	feed->max_stack = feed->stack ? TALLY_STACK_MAX : 0;
	feed->cgroup = says(run, role, TALLY_CGROUP);
	if (feed->cgroup && run->prof->feed->is_live) {
		struct cgroup_mount mount = {0};
		const int err = cgroup_find_ids(&mount, "");

		free(mount.path);
		return err;
	}
	if (feed->cgroup && !(feed->event->attr.sample_type & PERF_SAMPLE_CGROUP))
		return fail(ENODATA,
			    "the recording doesn't say in which control groups it happened; record with --all-cgroups");
	return 0;
}

static int add_event(struct tool_run *run, const struct tool_event *wanted, struct tally_event *ret)
{
	struct prof *prof = run->prof;
	struct prof_event *event;
	int err = prof_add(prof, wanted->name, feed_and(prof->feed, wanted->filter, run->filter),
			   &event);

	if (err < 0)
		return err;
	*ret = prof_tally_event(event);
	ret->role = wanted->role;
	ret->pair = wanted->pair;
	ret->keeps = wanted->keeps;
	for (uint32_t k = 0; k < run->keys_n; k++)
		if (run->keys[k].first == (wanted->role == TALLY_FIRST))
			ret->keys[k] = run->key_texts[k];
	if (wanted->role == TALLY_FIRST)
		return 0;
	ret->updates = run->updates;
	ret->updates_n = run->updates_n;
	return 0;
}

static int setup(struct prof *prof)
{
	struct tool_run *run = prof->state;
	struct tally_options plan = {.keys = run->keys, .cells = run->cells};
	struct tally_event *events;
	uint32_t n = 0;
	int err;

	run->tool = prof->profiler->tool;
	run->prof = prof;
	run->options = prof->options;
	run->results_left = prof->options->results_n;
	err = run->tool->plan(run);
	if (err < 0)
		return err;
	while (run->events[n].name)
		n++;
	plan.events = events = arena_zalloc(&prof->arena, n * sizeof(*events));
	plan.events_n = n;
	for (uint32_t i = 0; i < n; i++) {
		err = add_event(run, &run->events[i], &events[i]);
		if (err < 0)
			return err;
	}
	plan.keys_n = run->keys_n;
	plan.cells_n = run->cells_n;
	plan.skips_frame = run->skips_frame;
	plan.skips_arg = run;
	err = prof_tally_open(prof, &plan);
	prof->needs_symbols |= run->tool->symbols;
	prof->needs_tasks |= run->tool->symbols; // the kernel's are learnt with them
	for (uint32_t i = 0; !err && !prof_in_kernel(prof) && i < plan.events_n; i++)
		err = want_more(run, events[i].role, prof->events.v[i]->feed);
	return err;
}

static void lost(struct prof *prof, const struct run_loss *loss)
{
	struct tool_run *run = prof->state;

	run->unknown_n += tally_forget_waiting(prof->tally);
}

static int begin(struct prof *prof)
{
	const struct tool *tool = prof->profiler->tool;

	if (tool->banner && prof->feed->is_live && !prof->print->format)
		out_printf(prof->out, "%s\n", tool->banner);
	return out_flush(prof->out);
}

struct open_waits {
	uint64_t n, before_ns, oldest_ns;
};

static void add_wait(void *arg, uint64_t since_ns, const uint64_t keys[TALLY_KEYS])
{
	struct open_waits *waits = arg;

	waits->n += since_ns < waits->before_ns;
	waits->oldest_ns = MIN(waits->oldest_ns, since_ns);
}

// What has begun long ago and not ended is in no row: a deadlock would be the one that nobody sees.
static void put_open(struct prof *prof, const struct tool *tool, uint64_t now_ns)
{
	const uint64_t now = prof_tally_now(prof, now_ns);
	struct open_waits waits = {.oldest_ns = UINT64_MAX,
				   .before_ns = now - MIN(now, NSEC_PER_SEC)};

	tally_each_waiting(prof->tally, add_wait, &waits);
	if (!waits.n || prof->options->quiet)
		return;
	prof_put_time(prof, now_ns);
	out_printf(prof->out,
		   " %s: %llu %s of more than a second have not ended; the longest has lasted %.3f s\n",
		   tool->name, (unsigned long long)waits.n, tool->pairs,
		   (double)(now - waits.oldest_ns) / 1e9);
}

// What the rows lack.
static void put_notes(struct prof *prof, struct tool_run *run, uint64_t now_ns)
{
	const struct tally_stats stats = tally_stats(prof->tally);
	const char *pairs = run->tool->pairs;

	prof->no_place_n += stats.overflow;
	if (stats.no_stack && !prof->options->quiet) {
		prof_put_time(prof, now_ns);
		out_printf(prof->out,
			   " %s: %llu %s are of unknown callers: the kernel's table had no place for their stacks\n",
			   run->tool->name, (unsigned long long)stats.no_stack, pairs);
	}
	if (!pairs)
		return;
	prof_put_unknown(prof, now_ns, run->unknown_n,
			 arena_fmt(&prof->arena, "%s %s", pairs, PROF_LOST_WITHIN));
	prof_put_unknown(prof, now_ns, stats.again,
			 arena_fmt(&prof->arena, "%s began anew before they had ended", pairs));
	if (run->tool->tells_open)
		put_open(prof, run->tool, now_ns);
	run->unknown_n = 0;
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct tool_run *run = prof->state;
	int err;

	if (run->ended)
		return 0;
	err = tally_read(prof->tally);
	if (err < 0)
		return err;
	err = run->tool->show ? run->tool->show(run, now_ns) : tool_show_histograms(run, now_ns);
	put_notes(prof, run, now_ns);
	tally_clear(prof->tally);
	if (err || !run->results_left || --run->results_left)
		return err;
	run->ended = true;
	return 1;
}

struct profiler tool_profiler(const struct tool *tool)
{
	return (struct profiler){
		.name = tool->name,
		.summary = tool->summary,
		.usage = tool->usage,
		.description = tool->description,
		.opts = tool->opts,
		.size = tool->opts_size,
		.state_size = sizeof(struct tool_run),
		.tool = tool,
		.examples = tool->examples,
		.events = PROF_EVENTS_NONE,
		.ordered = true,
		.endless = true,
		.setup = setup,
		.begin = begin,
		.lost = lost,
		.interval = interval,
	};
}
