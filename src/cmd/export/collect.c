// SPDX-License-Identifier: GPL-2.0-or-later
// From a recording to a profile: each distinct place of the code is resolved once; a sample is a number of its stack.
//
// cmd/export/collect.c makes a struct profile (view/profile.h): samples as rows of numbers, frames by their place in a file
// (FRAME_BY_PLACE, so that processes share them wherever they are mapped), stacks as the same trie, texts in one table. Each
// format is one encoder over it. 350,000 samples take 0.2 s to collect; firefox and gzip another 0.2 s.
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "cmd/export/export.h"
#include "flow/chain.h"
#include "flow/run.h"
#include "sym/stacks.h"
#include <sys/mman.h>

struct task_thread {
	uint32_t comm, thread; // thread + 1; 0: none yet
	bool named;
};

struct code_part {
	uint64_t start, end; // offsets in the file
};

struct collector {
	const struct export_options *options;
	struct profile *profile;
	struct filter *filter;
	struct sources *sources;
	struct stacks stacks;
	VEC(struct task_thread) task_threads; // by the task's index
	struct map tids;		      // how often a tid was seen
	struct map parts; // name of a file (id of sym->strings) -> code part + 1
	VEC(struct code_part) code_parts;
	struct map files, functions;
	struct out text;
	uint64_t filtered_n, other_events_n;
};

static uint32_t new_thread(struct collector *collector, const struct run *run, const struct task *task)
{
	struct profile *profile = collector->profile;
	uint64_t *seen = map_at(&collector->tids, task->tid, NULL);

	vec_push(&profile->threads,
		 (struct profile_thread){.pid = task->pid,
					 .tid = task->tid,
					 .name = intern_text(&profile->strings,
							     task_comm(run->sym, task)),
					 .nth = (uint32_t)(*seen)++});
	return (uint32_t)profile->threads.n - 1;
}

// A thread is a task under one name: a program that is replaced (exec) becomes another one.
static uint32_t thread_of(struct collector *collector, const struct run *run, const struct task *task)
{
	struct profile *profile = collector->profile;
	struct task_thread *known;

	if (task->index >= collector->task_threads.n) {
		size_t had = collector->task_threads.n;

		vec_reserve(&collector->task_threads, task->index + 1 - had);
		collector->task_threads.n = collector->task_threads.capacity;
		memset(collector->task_threads.v + had, 0,
		       (collector->task_threads.n - had) * sizeof(struct task_thread));
	}
	known = &collector->task_threads.v[task->index];
	if (known->thread && known->comm == task->comm)
		return known->thread - 1;
	if (known->thread && !known->named)
		profile->threads.v[known->thread - 1].name =
			intern_text(&profile->strings, task_comm(run->sym, task));
	else
		known->thread = new_thread(collector, run, task) + 1;
	known->comm = task->comm;
	known->named = task->comm_set;
	return known->thread - 1;
}

static bool is_wanted(void *arg, struct run *run, const struct hit *it)
{
	struct collector *collector = arg;

	if (collector->options->event && !filter_event(it->event, collector->options->event)) {
		collector->other_events_n++;
		return false;
	}
	if (!filter_sample_of(collector->filter, &it->sample, run->sym, it->task)) {
		collector->filtered_n++;
		return false;
	}
	return true;
}

static uint32_t text_of(struct collector *collector, const struct hit *it)
{
	struct out *text = &collector->text;

	if (!it->event->tp || !it->sample.raw)
		return 0;
	text->n = 0;
	tracepoint_print(text, it->event->tp, it->sample.raw, it->sample.raw_size);
	return intern_str(&collector->profile->strings, str_trim((struct str){text->buf, text->n}));
}

static int take_hits(void *arg, struct run *run, const struct hit *hits, size_t n)
{
	struct collector *collector = arg;

	for (const struct hit *it = hits; it < hits + n; it++) {
		vec_push(&collector->profile->samples,
			 (struct profile_sample){.time_ns = it->sample.time,
						 .weight = it->sample.period,
						 .thread = thread_of(collector, run, it->task),
						 .cpu = it->sample.cpu,
						 .node = it->stack,
						 .text = text_of(collector, it),
						 .event = it->event->index});
	}
	return 0;
}

// Where in the file its code lies.
static int take_record(void *arg, struct run *run, const struct hit *hit)
{
	const struct record *record = &hit->record;
	const struct perf_event_header *header = record->header;
	const struct record_mmap *map = (const void *)header;
	const struct record_mmap2 *map2 = (const void *)header;
	struct collector *collector = arg;
	const char *name;
	uint64_t *part;

	if (header->type == PERF_RECORD_MMAP2 && record_is_whole(header) && map2->prot & PROT_EXEC)
		name = record_text(header, map2->filename);
	else if (header->type == PERF_RECORD_MMAP && record_is_whole(header) &&
		 !(header->misc & PERF_RECORD_MISC_MMAP_DATA))
		name = record_text(header, map->filename);
	else
		return 0;
	if (!name || (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER)
		return 0;
	part = map_at(&collector->parts, intern_text(&run->sym->strings, name), NULL);
	if (!*part) {
		vec_push(&collector->code_parts, (struct code_part){UINT64_MAX, 0});
		*part = collector->code_parts.n;
	}
	struct code_part *it = &collector->code_parts.v[*part - 1];
	it->start = MIN(it->start, map->pgoff);
	it->end = MAX(it->end, map->pgoff + map->len);
	return 0;
}

static int start(void *arg, struct run *run)
{
	struct collector *collector = arg;

	if (collector->filter)
		return 0;
	return filter_new(&collector->filter, &collector->options->filter, run->recording);
}

// ---- the end: frames and what they refer to

static enum profile_kind kind_of(const struct frame *frame)
{
	const struct dso *dso = frame->dso;

	if (frame->cpumode == PERF_RECORD_MISC_KERNEL ||
	    frame->cpumode == PERF_RECORD_MISC_GUEST_KERNEL)
		return PROFILE_KERNEL;
	if (!dso)
		return PROFILE_USER;
	if (dso->kind == DSO_ANON)
		return frame->sym || text_starts(dso->short_name, "[JIT]") ? PROFILE_JIT
									   : PROFILE_USER;
	return strstr(dso->long_name, "jitted-") ? PROFILE_JIT : PROFILE_USER;
}

static uint32_t file_of(struct collector *collector, struct run *run, const struct frame *frame)
{
	struct profile *profile = collector->profile;
	const struct dso *dso = frame->dso;
	struct profile_file file = {.start = UINT64_MAX};
	const char *path;
	uint64_t *known, *part;

	if (!dso)
		return PROFILE_NONE;
	known = map_at(&collector->files, dso->id, NULL);
	if (*known)
		return (uint32_t)*known - 1;
	// Kernel images may have been found elsewhere than the recording says.
	path = dso->kind == DSO_KERNEL ? dso->name : dso->long_name;
	file.path = intern_text(&profile->strings, path);
	file.name = intern_text(&profile->strings, text_base_name(path));
	file.kind = (uint8_t)kind_of(frame);
	if (dso->build_id.n) {
		char hex[41];

		build_id_text(&dso->build_id, hex);
		file.build_id = intern_text(&profile->strings, hex);
	}
	part = map_find(&collector->parts, intern_text(&run->sym->strings, dso->name));
	if (part) {
		file.start = collector->code_parts.v[*part - 1].start;
		file.end = collector->code_parts.v[*part - 1].end;
	}
	vec_push(&profile->files, file);
	*known = profile->files.n;
	return (uint32_t)*known - 1;
}

static uint32_t function_of(struct collector *collector, const struct frame *frame, uint32_t file)
{
	struct profile *profile = collector->profile;
	const struct symbol *sym = frame->sym && frame->sym->name[0] ? frame->sym : NULL;
	uint64_t key = sym ? (uintptr_t)sym : hash_mix(file, frame->cpumode);
	uint64_t *known = map_at(&collector->functions, key, NULL);
	struct profile_function function = {.file = file, .kind = (uint8_t)kind_of(frame)};

	if (*known)
		return (uint32_t)*known - 1;
	if (sym) {
		function.name = intern_text(&profile->strings, sym->name);
		function.start = sym->start;
		function.size = sym->end - sym->start;
	} else {
		const char *name = file == PROFILE_NONE ? "unknown"
							: intern_get(&profile->strings,
								     profile->files.v[file].name);
		auto_free char *text = name[0] == '[' ? xstrdup(name) : text_dup_fmt("[%s]", name);

		function.name = intern_text(&profile->strings, text);
		function.unresolved = true;
	}
	vec_push(&profile->functions, function);
	*known = profile->functions.n;
	return (uint32_t)*known - 1;
}

static void find_line(struct collector *collector, const struct frame *frame,
		      struct profile_frame *ret)
{
	struct profile *profile = collector->profile;
	struct source_frames lines;
	struct source_frame line;
	size_t i = 0;

	if (!frame->dso || !frame->sym)
		return;
	if (collector->options->no_inline) {
		if (!source_line(collector->sources, frame->dso, ret->address, &line))
			return;
		lines = (struct source_frames){&line, 1};
	} else {
		lines = source_frames(collector->sources, frame->dso, ret->address, frame->sym);
		if (frame->sym->inlined)
			while (i < lines.n && lines.v[i].sym != frame->sym)
				i++;
		else
			i = lines.n - 1;
	}
	if (i >= lines.n)
		return;
	ret->inline_depth = (uint16_t)(lines.n - 1 - i);
	if (!lines.v[i].file)
		return;
	ret->source = intern_text(&profile->strings, lines.v[i].file);
	ret->line = lines.v[i].line;
}

static void add_frame(struct collector *collector, struct run *run, const struct frame *frame)
{
	struct profile *profile = collector->profile;
	uint32_t file = file_of(collector, run, frame);
	struct profile_frame made = {.function = function_of(collector, frame, file),
				     .address = frame->addr - frame->is_return};
	struct profile_function *function = &profile->functions.v[made.function];

	find_line(collector, frame, &made);
	if (!function->source)
		function->source = made.source;
	if (file != PROFILE_NONE) {
		struct profile_file *it = &profile->files.v[file];

		it->start = MIN(it->start, made.address);
		it->end = MAX(it->end, made.address + 1);
	}
	vec_push(&profile->frames, made);
}

static void make_stacks(struct collector *collector, struct run *run)
{
	struct profile *profile = collector->profile;
	const struct stacks *stacks = &collector->stacks;

	stacks_end(&collector->stacks);
	vec_reserve(&profile->frames, stacks->frames.n);
	for (size_t i = 0; i < stacks->frames.n; i++)
		add_frame(collector, run, &stacks->frames.v[i]);
	vec_clear(&profile->nodes);
	vec_reserve(&profile->nodes, stacks->nodes.n);
	vec_each(struct stack_node, node, &stacks->nodes)
		vec_push(&profile->nodes, (struct profile_node){node->parent, node->frame});
}

static void add_events(struct profile *profile, const struct recording *recording)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = recording->events.v[i];
		bool is_clock = event->attr.type == PERF_TYPE_SOFTWARE &&
				(event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
				 event->attr.config == PERF_COUNT_SW_TASK_CLOCK);

		vec_push(&profile->events,
			 (struct profile_event){.name = intern_text(&profile->strings, event->name),
						.is_tracepoint =
							event->attr.type == PERF_TYPE_TRACEPOINT,
						.is_time = is_clock,
						.period = event->attr.freq
								  ? 0
								  : event->attr.sample_period});
	}
}

static uint32_t text_or_none(struct profile *profile, const char *text)
{
	return text ? intern_text(&profile->strings, text) : 0;
}

static void add_info(struct profile *profile, const struct run *run, const char *path)
{
	const struct recording_info *info = &run->recording->info;
	struct out out;

	profile->title = intern_text(&profile->strings, text_base_name(path));
	profile->host = text_or_none(profile, info->hostname);
	profile->system = text_or_none(profile, info->os_release);
	profile->machine = text_or_none(profile, info->arch);
	profile->cpu = text_or_none(profile, info->cpu_description);
	out_init_memory(&out);
	for (size_t i = 0; i < info->command_line.n; i++)
		out_printf(&out, "%s%s", i ? " " : "", info->command_line.v[i]);
	profile->command = intern_str(&profile->strings, (struct str){out.buf, out.n});
	profile->lost_n = run->stats.lost_events + run->stats.lost_samples;
	out.n = 0;
	if (profile->lost_n) {
		out_printf(&out, "%llu records were lost while it was recorded",
			   (unsigned long long)profile->lost_n);
		vec_push(&profile->notes,
			 intern_str(&profile->strings, (struct str){out.buf, out.n}));
	}
	if (run->recording->damage)
		vec_push(&profile->notes, intern_text(&profile->strings, run->recording->damage));
	out_done(&out);
}

static void add_wall_clock(struct profile *profile, const struct recording_info *info)
{
	if (info->has_clock_data && profile->first_ns)
		profile->wall_start_ns =
			info->wall_clock_ns + profile->first_ns - info->clock_id_time_ns;
}

static int check_samples(const struct collector *collector, const char *path)
{
	if (collector->profile->samples.n)
		return 0;
	if (collector->filtered_n)
		return fail(ENODATA, "%s: no sample passes the filters; %llu were left out", path,
			    (unsigned long long)collector->filtered_n);
	if (collector->other_events_n)
		return fail(ENODATA,
			    "%s has no samples of event '%s'; 'sonde evlist -i %s' lists them",
			    path, collector->options->event, path);
	return fail(ENODATA, "%s holds no samples", path);
}

static void collector_done(struct collector *collector)
{
	sources_free(collector->sources);
	stacks_done(&collector->stacks);
	filter_free(collector->filter);
	vec_done(&collector->task_threads);
	map_done(&collector->tids);
	map_done(&collector->parts);
	vec_done(&collector->code_parts);
	map_done(&collector->files);
	map_done(&collector->functions);
	out_done(&collector->text);
}

int export_collect(struct profile *profile, const char *path, const struct export_options *options)
{
	static const struct run_hooks hooks = {.wants = is_wanted,
					       .hits = take_hits,
					       .record = take_record,
					       .begin = start};
	struct run_options run_options = {.path = path, .force = options->force, .sym = options->sym};
	struct collector collector = {.options = options, .profile = profile};
	struct run *run;
	int err = run_open(&run, &run_options), damaged = 0;

	if (err < 0)
		return err;
	out_init_memory(&collector.text);
	stacks_init(&collector.stacks, run->sym, FRAME_BY_PLACE);
	run->stacks = &collector.stacks;
	collector.sources = sources_new(run->sym);
	if (!options->no_inline)
		collector.stacks.sources = collector.sources;
	if (!run->recording->is_pipe)
		err = start(&collector, run);
	run_share_chains(run, options->jobs, 0);
	if (err >= 0)
		err = run_process(run, &hooks, &collector);
	if (err >= 0) {
		damaged = run_warn(run);
		err = check_samples(&collector, path);
	}
	if (err >= 0) {
		make_stacks(&collector, run);
		add_events(profile, run->recording);
		add_info(profile, run, path);
		profile_finish(profile);
		add_wall_clock(profile, &run->recording->info);
	}
	collector_done(&collector);
	run_close(run);
	return err < 0 ? err : damaged;
}
