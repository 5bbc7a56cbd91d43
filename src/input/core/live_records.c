// SPDX-License-Identifier: GPL-2.0-or-later
// The records of the rings: whose they are, and what they are for.
#include "base/log.h"
#include "input/core/live.h"
#include "input/core/live_pull.h"

static const struct watching_id *id_of(const struct watching *live, uint64_t id)
{
	uint64_t *index;

	if (id - live->first_id < live->ids_n)
		return &live->id_table[id - live->first_id];
	index = map_find(&live->ids, id);
	return index ? &live->id_table[*index] : NULL;
}

uint64_t watching_look(void *arg, const struct perf_event_header *header, void **ret_what)
{
	struct watching *live = arg;
	const char *p = (const char *)header;
	const struct watching_id *what;
	uint64_t id;

	// PERF_SAMPLE_IDENTIFIER: behind the header of samples, the last word of others.
	memcpy(&id, header->type == PERF_RECORD_SAMPLE ? p + 8 : p + header->size - 8, 8);
	if (live->pull && pull_is(id)) {
		*ret_what = live->pull;
		return pull_time(header);
	}
	what = id_of(live, id);
	*ret_what = (void *)(uintptr_t)what;
	return what && what->plan ? sample_plan_time(what->plan, header) : 0;
}

static void note_cpu(struct watching *live, uint32_t cpu, uint64_t time)
{
	if (cpu < live->cpus_n)
		live->last_ns[cpu] = time;
}

// The record behind a gap has come.
static int tell_gap(struct watching *live, uint32_t cpu, uint64_t to_ns)
{
	struct feed *feed = live->feed;
	struct watching_gap *gap = &live->gaps[cpu];
	struct feed_loss loss = {.cpu = cpu, .lost = gap->lost, .from_ns = gap->from_ns, .to_ns = to_ns};

	gap->lost = 0;
	return feed->hooks->lost ? feed->hooks->lost(feed->arg, &loss) : 0;
}

static int give_side(struct watching *live, const struct perf_event_header *header, uint64_t time,
		     const struct watching_id *what)
{
	struct feed *feed = live->feed;
	struct sample ids = {.header = header};

	sample_decode_trailer(what->plan, header, &ids);
	if (header->type == PERF_RECORD_LOST && record_is_whole(header)) {
		uint64_t lost = ((const struct record_lost *)header)->lost;

		feed->stats.lost += lost;
		live->lost_told += lost;
		if (ids.cpu < live->cpus_n) {
			if (!live->gaps[ids.cpu].lost)
				live->gaps[ids.cpu].from_ns = live->last_ns[ids.cpu];
			live->gaps[ids.cpu].lost += lost;
			return tell_gap(live, ids.cpu, time);
		}
		return 0;
	}
	sym_record(feed->sym, header, time);
	return feed->hooks->record ? feed->hooks->record(feed->arg, header, &ids) : 0;
}

static bool wants(void *arg, const struct feed_event *wanted, const struct sample *sample)
{
	return watching_wants(arg, wanted, sample);
}

int watching_give(void *arg, const struct perf_event_header *header, uint64_t time, void *what_)
{
	struct watching *live = arg;
	const struct watching_id *what = what_;
	struct feed *feed = live->feed;
	struct sample *sample = &live->sample, full;

	if (what_ && what_ == live->pull)
		return live_pull_give(live->pull, header, &(struct pull_taker){feed, wants, live});
	if (!what || !what->plan) {
		feed->stats.unknown++;
		return 0;
	}
	if (header->type != PERF_RECORD_SAMPLE)
		return give_side(live, header, time, what);
	if (what->plain && header->size >= 56) {
		const uint32_t *words = (const uint32_t *)header;

		sample->header = header;
		memcpy(&sample->id, &words[2], 8);
		sample->pid = words[4];
		sample->tid = words[5];
		sample->time = time;
		sample->cpu = words[8];
		sample->cpumode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		memcpy(&sample->period, &words[10], 8);
		sample->raw_size = words[12];
		sample->raw = &words[13];
		if (sample->raw_size > header->size - 52u) {
			feed->stats.unknown++;
			return 0;
		}
	} else {
		if (sample_decode(what->plan, header, &full) < 0) {
			feed->stats.unknown++;
			return 0;
		}
		sample = &full;
	}
	note_cpu(live, sample->cpu, time);
	feed->last_ns = time;
	if (feed->first_ns == UINT64_MAX)
		feed->first_ns = time;
	if (!what->event || (what->event->test && !watching_wants(live, what->event, sample)))
		return 0;
	return feed_sample(feed, what->event, sample);
}
