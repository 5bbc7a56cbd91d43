// SPDX-License-Identifier: GPL-2.0-or-later
// recording_open maps the file, recording_next gives record after record where it lies (records of the other byte order and
// unpacked ones are copies). run_process puts them into time order, keeps tasks and maps up to date, decodes samples and calls
// the command's hooks.
#include "flow/run.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "flow/archive.h"
#include "flow/chain.h"
#include "flow/fetch.h"
#include "flow/findings.h"
#include "flow/queue.h"
#include "flow/workers.h"
#include "sym/options.h"
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

struct run_private {
	struct run *run;
	struct queue queue;
	struct fetch_order fetch_order;
	struct archive_beside archive;
	bool started, unordered, count_places;
	size_t build_ids_taken;
	uint64_t read_to;	// offset
	struct map last_values; // id -> last value of PERF_SAMPLE_READ
	size_t batch_n;		// of the samples hook: those that wait
	struct hit batch[RUN_BATCH];
};

static void take_machine(struct run *run)
{
	const struct recording_info *info = &run->recording->info;
	struct run_private *p = run->private;
	struct utsname here;

	for (; p->build_ids_taken < info->build_ids.n; p->build_ids_taken++) {
		const struct recorded_build_id *id = &info->build_ids.v[p->build_ids_taken];

		struct build_id own = {.n = (uint8_t)MIN(id->id_size, sizeof(own.bytes))};

		memcpy(own.bytes, id->id, own.n);
		sym_build_id(run->sym, id->name, id->misc, &own);
	}
	if (uname(&here) == 0) {
		run->sym->options.same_host =
			info->hostname && strcmp(info->hostname, here.nodename) == 0;
		// What doesn't say whose it is (pipes of perf before 4.16) is nobody's.
		run->sym->options.other_machine = !info->os_release ||
						  strcmp(info->os_release, here.release) ||
						  (info->arch && strcmp(info->arch, here.machine));
	}
}

// When it was complete: what has changed since may not be what it is of.
static void learn_age(struct run *run)
{
	struct sym_options *options = &run->sym->options;
	struct timespec now, up;

	options->recorded_ns = run->recording->modified_ns;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	options->same_boot =
		!options->recorded_ns || options->recorded_ns / 1000000000 > now.tv_sec - up.tv_sec;
}

static void learn_files(struct run *run)
{
	const char *notes = run->recording->info.notes;
	struct file_facts facts;

	for (struct str rest = str_of(notes ? notes : ""); rest.n;) {
		if (!file_facts_parse(str_cut(&rest, '\n'), &facts))
			continue;
		sym_learn_file(run->sym, &facts);
		free((char *)facts.name);
		free((char *)facts.path);
	}
}

static void learn_clock(struct run *run)
{
	const struct event *event = run->recording->events.n ? run->recording->events.v[0] : NULL;

	run->sym->clock_is_monotonic =
		event && event->attr.use_clockid && event->attr.clockid == CLOCK_MONOTONIC;
}

// "calls I...": a line of recording_info.notes.
static void take_note(struct recording *recording, struct str line)
{
	uint64_t index;

	if (!str_is(str_cut(&line, ' '), "calls"))
		return;
	while (line.p && num_parse_u64(str_cut(&line, ' '), &index) == 0) {
		if (index < recording->events.n)
			recording->events.v[index]->at_calls = true;
	}
}

static void take_notes(struct recording *recording)
{
	struct str rest = str_of(recording->info.notes ? recording->info.notes : "");

	while (rest.n)
		take_note(recording, str_cut(&rest, '\n'));
}

static struct run *new_run(void)
{
	struct run *run = NEW(struct run);

	run->private = NEW(struct run_private);
	run->private->run = run;
	run->stats.first_ns = UINT64_MAX;
	return run;
}

int run_open_live(struct run **ret, const struct sym_options *options)
{
	const struct tp_options formats = {.long_size = sizeof(long),
					   .page_size = (uint32_t)sysconf(_SC_PAGESIZE),
					   .keep_formats = true};
	struct run *run = new_run();
	int err;

	run->recording = recording_new("the running system");
	run->recording->tracepoints = tracepoints_new(&formats);
	err = sym_new(&run->sym, options);
	if (err) {
		run_close(run);
		return err;
	}
	tracepoints_set_resolver(run->recording->tracepoints, sym_name_in_print, run->sym);
	*ret = run;
	return 0;
}

int run_open(struct run **ret, const struct run_options *options)
{
	struct recording_options reading = {.force = options->force};
	struct run *run = new_run();
	int err;

	alloc_expect_much();
	run->private->unordered = options->unordered;
	run->private->count_places = options->count_places;
	err = sym_options_check(&options->sym);
	if (!err)
		err = recording_open(&run->recording, options->path ? options->path : "perf.data",
				     &reading);
	struct sym_options sym = options->sym;
	sym.foreign_maps |= options->force;
	if (!err && !sym.kallsyms)
		sym.kallsyms = run->recording->kallsyms;
	if (!err && !options->no_archive && !sym.archive_dir)
		archive_beside_find(run->recording->path, &run->private->archive);
	if (!sym.archive_dir)
		sym.archive_dir = run->private->archive.folder;
	if (!err)
		err = sym_new(&run->sym, &sym);
	if (err) {
		run_close(run);
		return err;
	}
	take_machine(run);
	learn_age(run);
	learn_files(run);
	take_notes(run->recording);
	learn_clock(run);
	run->private->fetch_order = (struct fetch_order){run, *options};
	if (!options->no_fetch)
		fetch_hottest_first(&run->private->fetch_order);
	*ret = run;
	return 0;
}

void run_close(struct run *run)
{
	if (!run)
		return;
	workers_free(run->workers);
	run_unwind_free(run->unwind);
	sym_free(run->sym);
	recording_close(run->recording);
	queue_done(&run->private->queue);
	map_done(&run->private->last_values);
	archive_beside_done(&run->private->archive);
	free(run->private);
	vec_done(&run->losses);
	vec_done(&run->last_ns);
	free(run);
}

static int start(struct run_private *p)
{
	struct run *run = p->run;

	p->started = true;
	learn_clock(run); // of a pipe
	if (run->recording->tracepoints)
		tracepoints_set_resolver(run->recording->tracepoints, sym_name_in_print, run->sym);
	return p->run->hooks->begin ? p->run->hooks->begin(p->run->arg, run) : 0;
}

static void count_place(struct run *run, const struct sample *sample, struct task *task)
{
	struct location location;

	location = sym_resolve_map(run->sym, task, sample->cpumode, sample->ip);
	run_count_place(run, &location);
}

static int give_batch(struct run_private *p)
{
	size_t n = p->batch_n;

	p->batch_n = 0;
	if (p->run->stacks)
		run_find_stacks(p->run, p->batch, n);
	return n ? p->run->hooks->hits(p->run->arg, p->run, p->batch, n) : 0;
}

// Gives out what waits before the sample, which lies in the free place of the batch.
static int come_first(struct run_private *p, struct sample **sample)
{
	struct sample now;
	int err;

	if (!p->batch_n)
		return 0;
	now = **sample;
	err = give_batch(p);

	*sample = &p->batch[0].sample;
	**sample = now;
	return err;
}

// The sample lies in the free place of the batch.
static int give_sample(struct run_private *p, struct event *event, struct sample *sample,
		       const struct record *record)
{
	struct run *run = p->run;
	struct hit *hit = &p->batch[p->batch_n];

	hit->event = event;
	hit->task = sym_task(run->sym, sample->pid, sample->tid);
	hit->record = *record;
	run_note_sample(run, sample);
	if (p->count_places)
		count_place(run, sample, hit->task);
	if (run->workers && !run->workers->mine)
		return 0;
	if (!run->hooks->hits)
		return run->hooks->hit ? run->hooks->hit(run->arg, run, hit) : 0;
	if (run->hooks->wants && !run->hooks->wants(run->arg, run, hit))
		return 0;
	return ++p->batch_n == RUN_BATCH ? give_batch(p) : 0;
}

// A sample that reads counters stands for each of them; its period is what that counter advanced.
static int give_read_sample(struct run_private *p, struct event *event, struct sample *sample,
			    const struct record *record)
{
	struct sample_read value;
	uint32_t pos = 0;
	int err = 0;

	if (!(event->plan.read_format & PERF_FORMAT_ID))
		return give_sample(p, event, sample, record);
	err = come_first(p, &sample);
	while (!err && sample_read_next(&event->plan, sample, &pos, &value)) {
		struct event *counted = recording_event_by_id(p->run->recording, value.id);
		uint64_t *last;

		if (!counted) {
			p->run->stats.unknown_ids++;
			continue;
		}
		last = map_at(&p->last_values, value.id, NULL);
		sample->id = value.id;
		sample->period = value.value - *last;
		*last = value.value;
		if (sample->period)
			err = give_sample(p, counted, sample, record);
		// The next counter changes the sample.
		if (!err)
			err = give_batch(p);
	}
	return err;
}

static int deliver_sample(struct run_private *p, struct event *event, const struct record *record)
{
	struct sample *sample = &p->batch[p->batch_n].sample;
	int err;

	if (!event) {
		p->run->stats.unknown_ids++;
		return 0;
	}
	if (sample_decode(&event->plan, record->header, sample) < 0) {
		if (!p->run->stats.bad_samples++)
			warn("%s: sample at offset %#llx: %s; such samples are left out",
			     p->run->recording->path, (unsigned long long)record->offset,
			     err_sentence());
		return 0;
	}
	sample->at_calls = event->at_calls;
	// What waits was before that code.
	if (sample->time >= p->run->sym->next_jit_ns && sample->time != UINT64_MAX) {
		err = come_first(p, &sample);
		if (err)
			return err;
		sym_advance(p->run->sym, sample->time);
	}
	if (event->plan.sample_type & PERF_SAMPLE_READ)
		return give_read_sample(p, event, sample, record);
	return give_sample(p, event, sample, record);
}

static void count_loss(struct run *run, const struct run_event_loss *more, uint64_t time)
{
	struct run_event_loss *loss = NULL;

	vec_each(struct run_event_loss, it, &run->losses) {
		if (it->event == more->event && it->cpu == more->cpu && it->samples == more->samples)
			loss = it;
	}
	if (!loss) {
		loss = vec_add(&run->losses);
		*loss = (struct run_event_loss){.event = more->event,
						.cpu = more->cpu,
						.samples = more->samples,
						.first_ns = UINT64_MAX};
	}
	loss->lost += more->lost;
	// What is counted at the end of a recording has no time.
	if (time && time != UINT64_MAX) {
		loss->first_ns = MIN(loss->first_ns, time);
		loss->last_ns = MAX(loss->last_ns, time);
	}
}

// How much the record says was lost.
static uint64_t count_trouble(struct run *run, struct event *event, const struct sample *ids)
{
	const struct perf_event_header *header = ids->header;
	struct run_stats *stats = &run->stats;

	if (!record_is_whole(header))
		return 0;
	switch (header->type) {
	case PERF_RECORD_LOST: {
		const struct record_lost *lost = (const void *)header;
		struct event *by_id = recording_event_by_id(run->recording, lost->id);

		stats->lost_events += lost->lost;
		count_loss(run,
			   &(struct run_event_loss){.event = by_id ? by_id : event,
						    .cpu = ids->cpu,
						    .lost = lost->lost},
			   ids->time);
		return lost->lost;
	}
	case PERF_RECORD_LOST_SAMPLES: {
		const struct record_lost_samples *lost = (const void *)header;

		if (record_is_of_filter(header))
			return 0;
		stats->lost_samples += lost->lost;
		count_loss(run,
			   &(struct run_event_loss){.event = event,
						    .cpu = ids->cpu,
						    .samples = true,
						    .lost = lost->lost},
			   ids->time);
		return lost->lost;
	}
	case PERF_RECORD_THROTTLE:
		stats->throttled++;
		return 0;
	default:
		return 0;
	}
}

void run_note_cpu(struct run *run, const struct sample *sample)
{
	enum { MOST_CPUS = 1 << 16 }; // made up numbers are bigger

	if (sample->cpu >= MOST_CPUS)
		return;
	while (run->last_ns.n <= sample->cpu)
		vec_push(&run->last_ns, 0);
	run->last_ns.v[sample->cpu] = sample->time;
}

static int tell_loss(struct run *run, const struct sample *ids, uint64_t lost)
{
	struct run_loss loss = {.cpu = ids->cpu, .lost = lost, .to_ns = ids->time};

	// What an event's counter had at the end: of it and of the losses that were told at their time the larger one counts.
	if (ids->header->type == PERF_RECORD_LOST_SAMPLES && !ids->time) {
		run->counted_n += lost;
		return 0;
	}
	run->told_n += lost;
	if (ids->cpu < run->last_ns.n)
		loss.from_ns = run->last_ns.v[ids->cpu];
	return run->hooks->lost(run->arg, run, &loss);
}

int run_tell_counted(struct run *run)
{
	struct run_loss loss = {.cpu = UINT32_MAX,
				.lost = run->counted_n - run->told_n,
				.from_ns = run->stats.last_ns,
				.to_ns = UINT64_MAX};

	if (run->counted_n <= run->told_n || !run->hooks->lost)
		return 0;
	return run->hooks->lost(run->arg, run, &loss);
}

int run_take_record(struct run *run, const struct hit *record)
{
	const struct run_hooks *hooks = run->hooks;
	const struct sample *ids = &record->sample;
	uint64_t lost = count_trouble(run, record->event, ids);
	int err = lost && hooks->lost ? tell_loss(run, ids, lost) : 0;

	if (ids->time >= run->sym->next_jit_ns && ids->time != UINT64_MAX)
		sym_advance(run->sym, ids->time);
	if (sym_record(run->sym, ids->header, ids->time) < 0)
		run->stats.bad_records++;
	return err || !hooks->record ? err : hooks->record(run->arg, run, record);
}

// About: by the records that wait, and by the bytes that were not read yet.
static uint64_t records_left(const struct run_private *p)
{
	const struct recording *recording = p->run->recording;
	uint64_t end = recording->data_offset + recording->data_size;
	uint64_t waiting = p->run->stats.total - MIN(p->run->workers->records, p->run->stats.total);

	if (p->read_to <= recording->data_offset || p->read_to >= end)
		return waiting;
	return waiting + (uint64_t)((double)p->run->stats.total * (double)(end - p->read_to) /
				    (double)(p->read_to - recording->data_offset));
}

// Before each record.
static int share(struct run_private *p)
{
	struct workers *workers = p->run->workers;
	uint64_t left;
	int err;

	if (!workers || !workers_step(workers))
		return 0;
	err = give_batch(p);
	if (err)
		return err;
	if (workers_have_begun(workers))
		return workers_next(workers);
	left = records_left(p);
	if (workers_pay(workers, left)) {
		findings_begin(p->run);
		workers_begin(workers, left);
		if (workers->is_asked)
			run_answer_chains(p->run);
	}
	return 0;
}

static int deliver(struct run_private *p, struct event *event, const struct record *record)
{
	const struct perf_event_header *header = record->header;
	struct hit hit;
	int err = p->started ? 0 : start(p);

	if (!err)
		err = share(p);
	if (err)
		return err;
	if (header->type == PERF_RECORD_SAMPLE)
		return deliver_sample(p, event, record);
	err = give_batch(p);
	if (err)
		return err;
	hit_init(&hit, event, record);
	if (event && header->type < RECORD_HEADER_ATTR)
		sample_decode_trailer(&event->plan, header, &hit.sample);
	return run_take_record(p->run, &hit);
}

static int deliver_queued(void *arg, const struct queued *queued)
{
	const struct record record = {.header = queued->header, .offset = queued->offset};

	return deliver(arg, queued->event, &record);
}

static int give_queued_batch(void *arg)
{
	return give_batch(arg);
}

// A record that stays where it is for the moment only.
static int deliver_now(struct run_private *p, struct event *event, const struct record *record)
{
	int err = deliver(p, event, record);

	return err ? err : give_batch(p);
}

// Nothing before the oldest record that waits, or before this one, is looked at again.
static void release(struct run_private *p, uint64_t offset)
{
	for (size_t i = 0; i < p->queue.entries.n; i++)
		offset = MIN(offset, p->queue.entries.v[i].offset);
	recording_release(p->run->recording, offset);
}

// The order of the file is all there is: without sample_id_all the records that are no samples carry no time.
static bool is_in_order(const struct run_private *p)
{
	const struct recording *recording = p->run->recording;

	return p->unordered || !recording->events.n || !recording->events.v[0]->attr.sample_id_all;
}

static int take(struct run_private *p, const struct record *record)
{
	const struct perf_event_header *header = record->header;
	struct run *run = p->run;
	struct event *event;
	uint64_t time;
	int err;

	run->stats.total++;
	p->read_to = record->offset;
	if (header->type < ARRAY_SIZE(run->stats.records))
		run->stats.records[header->type]++;
	if (p->run->hooks->raw && (err = p->run->hooks->raw(p->run->arg, run, record)))
		return err;
	if (header->type >= RECORD_HEADER_ATTR) {
		if (header->type == RECORD_FINISHED_ROUND && !p->unordered) {
			err = queue_round(&p->queue, deliver_queued, p);
			if (!err)
				err = give_batch(p);
			if (err)
				return err;
			release(p, record->offset);
		} else if (header->type == RECORD_HEADER_BUILD_ID ||
			   header->type == RECORD_HEADER_FEATURE) {
			take_machine(run);
		}
		struct hit hit;
		err = share(p);
		if (err)
			return err;
		hit_init(&hit, NULL, record);
		return run->hooks->record ? run->hooks->record(run->arg, run, &hit) : 0;
	}
	event = recording_event(run->recording, header);
	if (is_in_order(p))
		return deliver_now(p, event, record);
	time = event ? sample_plan_time(&event->plan, header) : 0;
	if (time == 0 || time == UINT64_MAX)
		return deliver_now(p, event, record);
	queue_add(&p->queue, time, record, event);
	return 0;
}

// What they held has been counted by itself; so does perf.
static void count_compressed(struct run *run)
{
	const struct recording *recording = run->recording;

	run->stats.records[RECORD_COMPRESSED] = recording->compressed_n;
	run->stats.records[RECORD_COMPRESSED2] = recording->compressed2_n;
	run->stats.total += recording->compressed_n + recording->compressed2_n;
}

// Samples one after the other, as nearly all of a large recording is, without a look at what they are not.
static void take_samples(struct run_private *p)
{
	struct recording *recording = p->run->recording;
	const struct perf_event_header *header;
	struct sample_run run;
	uint64_t n = 0;

	if (!recording->events.n || !recording_run_begin(recording, &run))
		return;
	while ((header = sample_run_look(&run))) {
		struct event *event = recording->events.n == 1 ? recording->events.v[0]
							       : recording_event(recording, header);
		uint64_t time = event ? sample_plan_time(&event->plan, header) : 0;

		if (time == 0 || time == UINT64_MAX)
			break;
		queue_add_stable(&p->queue, &(struct queued){time, header, run.offset, event});
		p->read_to = run.offset;
		sample_run_pass(&run, header);
		n++;
	}
	recording_run_end(recording, &run);
	p->run->stats.total += n;
	p->run->stats.records[PERF_RECORD_SAMPLE] += n;
}

int run_process(struct run *run, const struct run_hooks *hooks, void *arg)
{
	struct run_private *p = run->private;
	struct record record;
	int err = 0;

	run->hooks = hooks;
	run->arg = arg;
	p->queue.delivered = give_queued_batch;
	recording_read_in_chunks(run->recording);
	while (!err) {
		if (!p->run->hooks->raw && !is_in_order(p))
			take_samples(p);
		if (recording_next(run->recording, &record) <= 0)
			break;
		err = take(p, &record);
		if (!p->queue.entries.n && !(run->stats.total & 1023))
			release(p, record.offset);
	}
	take_machine(run);
	count_compressed(run);
	if (!err)
		err = queue_finish(&p->queue, deliver_queued, p);
	if (!err)
		err = give_batch(p);
	if (!err && !p->started)
		err = start(p);
	if (!err)
		err = run_tell_counted(run);
	if (run->workers)
		err = workers_end(run->workers, err);
	run->stats.out_of_order = p->queue.late_n;
	return err < 0 ? err : 0;
}
