// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/session.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "base/num.h"
#include "flow/archive.h"
#include "flow/chain.h"
#include "flow/fetch.h"
#include "flow/queue.h"
#include "flow/session_parts.h"
#include "sym/options.h"
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

struct session_private {
	struct session *session;
	struct queue queue;
	struct fetch_order fetch_order;
	struct archive_beside archive;
	bool started, unordered, count_places;
	size_t build_ids_taken;
	struct map last_values; // id -> last value of PERF_SAMPLE_READ
	size_t batch_n;		// of the samples hook: those that wait
	struct session_sample batch[SESSION_BATCH];
};

static void take_machine(struct session *session)
{
	const struct recording_info *info = &session->recording->info;
	struct session_private *p = session->private;
	struct utsname here;

	for (; p->build_ids_taken < info->build_ids.n; p->build_ids_taken++) {
		const struct recorded_build_id *id = &info->build_ids.v[p->build_ids_taken];

		sym_build_id(session->sym, id->name, id->misc, id->id, id->id_size);
	}
	if (uname(&here) == 0) {
		session->sym->options.same_host =
			info->hostname && strcmp(info->hostname, here.nodename) == 0;
		// What doesn't say whose it is (pipes of perf before 4.16) is nobody's.
		session->sym->options.other_machine =
			!info->os_release || strcmp(info->os_release, here.release) ||
			(info->arch && strcmp(info->arch, here.machine));
	}
}

// When it was complete: what has changed since may not be what it is of.
static void learn_age(struct session *session)
{
	struct sym_options *options = &session->sym->options;
	struct timespec now, up;

	options->recorded_ns = session->recording->modified_ns;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	options->same_boot =
		!options->recorded_ns || options->recorded_ns / 1000000000 > now.tv_sec - up.tv_sec;
}

static void learn_files(struct session *session)
{
	const char *notes = session->recording->info.notes;
	struct file_facts facts;

	for (struct str rest = str_of(notes ? notes : ""); rest.n;) {
		if (!file_facts_parse(str_cut(&rest, '\n'), &facts))
			continue;
		sym_learn_file(session->sym, &facts);
		free((char *)facts.name);
		free((char *)facts.path);
	}
}

static void learn_clock(struct session *session)
{
	const struct event *event =
		session->recording->events.n ? session->recording->events.v[0] : NULL;

	session->sym->clock_is_monotonic =
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

static struct session *new_session(void)
{
	struct session *session = NEW(struct session);

	session->private = NEW(struct session_private);
	session->private->session = session;
	session->stats.first_ns = session->stats.first_lost_ns = UINT64_MAX;
	return session;
}

int session_open_live(struct session **ret, const struct sym_options *options)
{
	const struct tp_options formats = {.long_size = sizeof(long),
					   .page_size = (uint32_t)sysconf(_SC_PAGESIZE),
					   .keep_formats = true};
	struct session *session = new_session();
	int err;

	session->recording = recording_new("the running system");
	session->recording->tracepoints = tracepoints_new(&formats);
	err = sym_new(&session->sym, options);
	if (err) {
		session_close(session);
		return err;
	}
	tracepoints_set_resolver(session->recording->tracepoints, sym_name_in_print, session->sym);
	*ret = session;
	return 0;
}

int session_open(struct session **ret, const struct session_options *options)
{
	struct recording_options reading = {.force = options->force};
	struct session *session = new_session();
	int err;

	alloc_expect_much();
	session->private->unordered = options->unordered;
	session->private->count_places = options->count_places;
	err = sym_options_check(&options->sym);
	if (!err)
		err = recording_open(&session->recording,
				     options->path ? options->path : "perf.data", &reading);
	struct sym_options sym = options->sym;
	sym.foreign_maps |= options->force;
	if (!err && !sym.kallsyms)
		sym.kallsyms = session->recording->kallsyms;
	if (!err && !options->no_archive && !sym.archive_dir)
		archive_beside_find(session->recording->path, &session->private->archive);
	if (!sym.archive_dir)
		sym.archive_dir = session->private->archive.folder;
	if (!err)
		err = sym_new(&session->sym, &sym);
	if (err) {
		session_close(session);
		return err;
	}
	take_machine(session);
	learn_age(session);
	learn_files(session);
	take_notes(session->recording);
	learn_clock(session);
	session->private->fetch_order = (struct fetch_order){session, *options};
	if (!options->no_fetch)
		fetch_hottest_first(&session->private->fetch_order);
	*ret = session;
	return 0;
}

void session_close(struct session *session)
{
	if (!session)
		return;
	session_unwind_free(session->unwind);
	sym_free(session->sym);
	recording_close(session->recording);
	queue_done(&session->private->queue);
	map_done(&session->private->last_values);
	archive_beside_done(&session->private->archive);
	free(session->private);
	vec_done(&session->losses);
	vec_done(&session->last_ns);
	free(session);
}

static int start(struct session_private *p)
{
	struct session *session = p->session;

	p->started = true;
	learn_clock(session); // of a pipe
	if (session->recording->tracepoints)
		tracepoints_set_resolver(session->recording->tracepoints, sym_name_in_print,
					 session->sym);
	return p->session->hooks->start ? p->session->hooks->start(p->session->arg, session) : 0;
}

static void count_place(struct session *session, const struct sample *sample, struct task *task)
{
	struct location location;

	sym_resolve_map(session->sym, task, sample->cpumode, sample->ip, &location);
	session_count_place(session, &location);
}

static int give_batch(struct session_private *p)
{
	size_t n = p->batch_n;

	p->batch_n = 0;
	return n ? p->session->hooks->samples(p->session->arg, p->session, p->batch, n) : 0;
}

// Gives out what waits before the sample, which lies in the free place of the batch.
static int come_first(struct session_private *p, struct sample **sample)
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
static int give_sample(struct session_private *p, struct event *event, struct sample *sample,
		       const struct record *record)
{
	struct session *session = p->session;
	struct session_sample *place = &p->batch[p->batch_n];
	struct task *task = sym_task(session->sym, sample->pid, sample->tid);

	session_note_sample(session, sample);
	if (p->count_places)
		count_place(session, sample, task);
	if (!p->session->hooks->samples)
		return p->session->hooks->sample
			       ? p->session->hooks->sample(p->session->arg, session, event, sample,
							   task, record)
			       : 0;
	place->event = event;
	place->task = task;
	place->record = *record;
	return ++p->batch_n == SESSION_BATCH ? give_batch(p) : 0;
}

// A sample that reads counters stands for each of them; its period is what that counter advanced.
static int give_read_sample(struct session_private *p, struct event *event, struct sample *sample,
			    const struct record *record)
{
	struct sample_read value;
	uint32_t pos = 0;
	int err = 0;

	if (!(event->plan.read_format & PERF_FORMAT_ID))
		return give_sample(p, event, sample, record);
	err = come_first(p, &sample);
	while (!err && sample_read_next(&event->plan, sample, &pos, &value)) {
		struct event *counted = recording_event_by_id(p->session->recording, value.id);
		uint64_t *last;

		if (!counted) {
			p->session->stats.unknown_ids++;
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

static int deliver_sample(struct session_private *p, struct event *event, const struct record *record)
{
	struct sample *sample = &p->batch[p->batch_n].sample;
	int err;

	if (!event) {
		p->session->stats.unknown_ids++;
		return 0;
	}
	if (sample_decode(&event->plan, record->header, sample) < 0) {
		if (!p->session->stats.bad_samples++)
			warn("%s: sample at offset %#llx: %s; such samples are left out",
			     p->session->recording->path, (unsigned long long)record->offset,
			     err_sentence());
		return 0;
	}
	sample->at_calls = event->at_calls;
	// What waits was before that code.
	if (sample->time >= p->session->sym->next_jit_ns && sample->time != UINT64_MAX) {
		err = come_first(p, &sample);
		if (err)
			return err;
		sym_advance(p->session->sym, sample->time);
	}
	if (event->plan.sample_type & PERF_SAMPLE_READ)
		return give_read_sample(p, event, sample, record);
	return give_sample(p, event, sample, record);
}

static void count_loss(struct session *session, struct event *event, const struct sample *ids,
		       uint64_t lost, bool samples)
{
	struct session_loss *loss = NULL;

	vec_each(struct session_loss, it, &session->losses) {
		if (it->event == event && it->cpu == ids->cpu && it->samples == samples)
			loss = it;
	}
	if (!loss) {
		loss = vec_add(&session->losses);
		*loss = (struct session_loss){.event = event,
					      .cpu = ids->cpu,
					      .samples = samples,
					      .first_ns = UINT64_MAX};
	}
	loss->lost += lost;
	// What is counted at the end of a recording has no time.
	if (ids->time && ids->time != UINT64_MAX) {
		loss->first_ns = MIN(loss->first_ns, ids->time);
		loss->last_ns = MAX(loss->last_ns, ids->time);
	}
}

// How much the record says was lost.
static uint64_t count_trouble(struct session *session, struct event *event, const struct sample *ids)
{
	const struct perf_event_header *header = ids->header;
	struct session_stats *stats = &session->stats;

	if (!record_is_whole(header))
		return 0;
	switch (header->type) {
	case PERF_RECORD_LOST: {
		const struct record_lost *lost = (const void *)header;
		struct event *by_id = recording_event_by_id(session->recording, lost->id);

		stats->lost_events += lost->lost;
		count_loss(session, by_id ? by_id : event, ids, lost->lost, false);
		return lost->lost;
	}
	case PERF_RECORD_LOST_SAMPLES: {
		const struct record_lost_samples *lost = (const void *)header;

		// Those a BPF filter dropped on purpose are no loss (PERF_RECORD_MISC_LOST_SAMPLES_BPF).
		if (header->misc & (1 << 15))
			return 0;
		stats->lost_samples += lost->lost;
		count_loss(session, event, ids, lost->lost, true);
		return lost->lost;
	}
	case PERF_RECORD_THROTTLE:
		stats->throttled++;
		return 0;
	default:
		return 0;
	}
}

void session_note_cpu(struct session *session, const struct sample *sample)
{
	enum { MOST_CPUS = 1 << 16 }; // made up numbers are bigger

	if (sample->cpu >= MOST_CPUS)
		return;
	while (session->last_ns.n <= sample->cpu)
		vec_push(&session->last_ns, 0);
	session->last_ns.v[sample->cpu] = sample->time;
}

static int tell_loss(struct session *session, const struct sample *ids, uint64_t lost)
{
	struct feed_loss loss = {.cpu = ids->cpu, .lost = lost, .to_ns = ids->time};

	// What an event's counter had at the end: of it and of the losses that were told at their time the larger one counts.
	if (ids->header->type == PERF_RECORD_LOST_SAMPLES && !ids->time) {
		session->counted_n += lost;
		return 0;
	}
	session->told_n += lost;
	if (ids->cpu < session->last_ns.n)
		loss.from_ns = session->last_ns.v[ids->cpu];
	return session->hooks->lost(session->arg, session, &loss);
}

int session_tell_counted(struct session *session)
{
	struct feed_loss loss = {.cpu = UINT32_MAX,
				 .lost = session->counted_n - session->told_n,
				 .from_ns = session->stats.last_ns,
				 .to_ns = UINT64_MAX};

	if (session->counted_n <= session->told_n || !session->hooks->lost)
		return 0;
	return session->hooks->lost(session->arg, session, &loss);
}

int session_take_side(struct session *session, struct event *event, const struct sample *ids,
		      const struct record *record)
{
	const struct session_hooks *hooks = session->hooks;
	uint64_t lost = count_trouble(session, event, ids);
	int err = lost && hooks->lost ? tell_loss(session, ids, lost) : 0;

	if (ids->time >= session->sym->next_jit_ns && ids->time != UINT64_MAX)
		sym_advance(session->sym, ids->time);
	if (sym_record(session->sym, record->header, ids->time) < 0)
		session->stats.bad_records++;
	if (err || !hooks->record)
		return err;
	return hooks->record(session->arg, session, event, ids, record);
}

static int deliver(struct session_private *p, struct event *event, const struct record *record)
{
	const struct perf_event_header *header = record->header;
	struct sample ids;
	int err = p->started ? 0 : start(p);

	if (err)
		return err;
	if (header->type == PERF_RECORD_SAMPLE)
		return deliver_sample(p, event, record);
	err = give_batch(p);
	if (err)
		return err;
	sample_ids_init(&ids, header);
	if (event && header->type < RECORD_HEADER_ATTR)
		sample_decode_trailer(&event->plan, header, &ids);
	return session_take_side(p->session, event, &ids, record);
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
static int deliver_now(struct session_private *p, struct event *event, const struct record *record)
{
	int err = deliver(p, event, record);

	return err ? err : give_batch(p);
}

// Nothing before the oldest record that waits, or before this one, is looked at again.
static void release(struct session_private *p, uint64_t offset)
{
	for (size_t i = 0; i < p->queue.entries.n; i++)
		offset = MIN(offset, p->queue.entries.v[i].offset);
	recording_release(p->session->recording, offset);
}

// The order of the file is all there is: without sample_id_all the records that are no samples carry no time.
static bool is_in_order(const struct session_private *p)
{
	const struct recording *recording = p->session->recording;

	return p->unordered || !recording->events.n || !recording->events.v[0]->attr.sample_id_all;
}

static int take(struct session_private *p, const struct record *record)
{
	const struct perf_event_header *header = record->header;
	struct session *session = p->session;
	struct event *event;
	uint64_t time;
	int err;

	session->stats.total++;
	if (header->type < ARRAY_SIZE(session->stats.records))
		session->stats.records[header->type]++;
	if (p->session->hooks->raw && (err = p->session->hooks->raw(p->session->arg, session, record)))
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
			take_machine(session);
		}
		if (!p->session->hooks->record)
			return 0;
		struct sample none;
		sample_ids_init(&none, header);
		return p->session->hooks->record(p->session->arg, session, NULL, &none, record);
	}
	event = recording_event(session->recording, header);
	if (is_in_order(p))
		return deliver_now(p, event, record);
	time = event ? sample_plan_time(&event->plan, header) : 0;
	if (time == 0 || time == UINT64_MAX)
		return deliver_now(p, event, record);
	queue_add(&p->queue, time, record, event);
	return 0;
}

// What they held has been counted by itself; so does perf.
static void count_compressed(struct session *session)
{
	const struct recording *recording = session->recording;

	session->stats.records[RECORD_COMPRESSED] = recording->compressed_n;
	session->stats.records[RECORD_COMPRESSED2] = recording->compressed2_n;
	session->stats.total += recording->compressed_n + recording->compressed2_n;
}

// Samples one after the other, as nearly all of a large recording is, without a look at what they are not.
static void take_samples(struct session_private *p)
{
	struct recording *recording = p->session->recording;
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
		queue_add_stable(&p->queue, time, header, run.offset, event);
		sample_run_pass(&run, header);
		n++;
	}
	recording_run_end(recording, &run);
	p->session->stats.total += n;
	p->session->stats.records[PERF_RECORD_SAMPLE] += n;
}

int session_process(struct session *session, const struct session_hooks *hooks, void *arg)
{
	struct session_private *p = session->private;
	struct record record;
	int err = 0;

	session->hooks = hooks;
	session->arg = arg;
	p->queue.delivered = give_queued_batch;
	recording_read_in_chunks(session->recording);
	while (!err) {
		if (!p->session->hooks->raw && !is_in_order(p))
			take_samples(p);
		if (recording_next(session->recording, &record) <= 0)
			break;
		err = take(p, &record);
		if (!p->queue.entries.n && !(session->stats.total & 1023))
			release(p, record.offset);
	}
	take_machine(session);
	count_compressed(session);
	if (!err)
		err = queue_finish(&p->queue, deliver_queued, p);
	if (!err)
		err = give_batch(p);
	if (!err && !p->started)
		err = start(p);
	if (!err)
		err = session_tell_counted(session);
	session->stats.out_of_order = p->queue.late_n;
	return err < 0 ? err : 0;
}
