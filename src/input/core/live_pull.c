// SPDX-License-Identifier: GPL-2.0-or-later
#include "input/core/live_pull.h"
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "flow/receiver.h"
#include <poll.h>

enum {
	GARBAGE_BYTES = 1 << 20, // before it is said that there is nothing of ours
	SILENT_MS = 2000,	 // others are not held back by who says nothing
};

struct pulled {
	struct pull_source source;
	struct receiver *receiver;
	enum receiver_state state;
	uint32_t connections;
	uint32_t strange; // of them, who said nothing of ours
	bool failed;	  // it said what can't be: nothing more is taken from it
};

struct live_pull {
	struct feed *feed;
	VEC(struct pulled *) sources;
};

static void tell_strange(const struct pulled *pulled)
{
	if (pulled->strange)
		warn("%u of %u connections to %s sent something else than events of sonde",
		     pulled->strange, pulled->connections, pulled->source.foreign.where);
}

void live_pull_free(struct live_pull *pull)
{
	if (!pull)
		return;
	for (size_t i = 0; i < pull->sources.n; i++) {
		tell_strange(pull->sources.v[i]);
		receiver_free(pull->sources.v[i]->receiver);
		pull_source_done(&pull->sources.v[i]->source);
		free(pull->sources.v[i]);
	}
	vec_done(&pull->sources);
	free(pull);
}

// Who begins with something else than a greeting is another program. It may be a wrong port, or one that is to become the right one.
static void turn_away(struct pulled *pulled)
{
	const char *where = pulled->source.foreign.where;

	if (!pulled->strange++)
		warn("%s: what it sends is no events that sonde pushes; trying again each second, without a word until it does",
		     where);
	receiver_be_quiet(pulled->receiver, true);
	receiver_hang_up(pulled->receiver);
	// It was heard: what is left of it is none of the next connection's.
	pulled->source.garbage = 0;
}

static int read_source(struct pulled *pulled)
{
	struct pull_source *source = &pulled->source;
	const uint8_t *p;
	size_t n;
	ssize_t done;

	if (source->ended || pull_source_room(source) < PULL_ROOM_BYTES)
		return 0;
	pulled->state = receiver_read(pulled->receiver, &p, &n);
	if (pulled->connections != receiver_connections(pulled->receiver)) {
		pulled->connections = receiver_connections(pulled->receiver);
		pull_source_again(source);
	}
	done = pull_source_hear(source, p, n);
	if (done < 0)
		return (int)done;
	receiver_take(pulled->receiver, (size_t)done);
	if (source->has_hello)
		receiver_be_quiet(pulled->receiver, false);
	else if (receiver_is_socket(pulled->receiver) &&
		 (source->garbage || (pulled->state == RECEIVER_AWAY && n > (size_t)done)))
		turn_away(pulled);
	if (source->ended)
		receiver_end(pulled->receiver);
	if (pulled->state != RECEIVER_ENDED || source->starting || source->ended)
		return 0;
	source->ended = true;
	if (!source->said_end)
		warn("%s ends in the middle: who wrote it was cut off", source->foreign.where);
	return 0;
}

// ---- the beginning

// Until it has said which events it has.
static int get_ready(struct pulled *pulled)
{
	struct pull_source *source = &pulled->source;

	source->starting = true;
	while (!pull_source_ready(source)) {
		struct pollfd fd;
		int ms = receiver_wait(pulled->receiver, &fd.fd, &fd.events), err;

		poll(&fd, 1, MIN(ms, 100));
		err = read_source(pulled);
		if (err < 0)
			return err;
		if (!pull_source_ready(source) &&
		    (source->garbage > GARBAGE_BYTES || pulled->state == RECEIVER_ENDED))
			return fail(EINVAL, "what comes from %s is no events that sonde pushes",
				    source->foreign.where);
	}
	source->starting = false;
	return 0;
}

static int add_source(struct live_pull *pull, const char *where, struct pull_source **ret)
{
	struct pulled *pulled;
	int err;

	for (size_t i = 0; i < pull->sources.n; i++) {
		if (!strcmp(pull->sources.v[i]->source.foreign.where, where)) {
			*ret = &pull->sources.v[i]->source;
			return 0;
		}
	}
	pulled = NEW(struct pulled);
	pull_source_init(&pulled->source, (uint32_t)pull->sources.n, where);
	pulled->source.wants_tsc = pull->feed->options->tsc;
	vec_push(&pull->sources, pulled);
	*ret = &pulled->source;
	err = receiver_new(&pulled->receiver, where);
	return err ? err : get_ready(pulled);
}

static int not_found(const struct pull_source *source, const char *name)
{
	struct out names;
	int err;

	out_init_memory(&names);
	for (uint32_t i = 0; i < source->hello.events_n && names.n < 500; i++)
		out_printf(&names, "%s%s", i ? ", " : "", source->events[i].name);
	out_char(&names, 0);
	err = fail(ENOENT, "%s does not send %s; it sends %s", source->foreign.where, name,
		   names.buf);
	out_done(&names);
	return err;
}

int live_pull_find(struct live_pull **pull_, struct feed *feed, const struct feed_pull *find)
{
	struct live_pull *pull = *pull_;
	struct pull_source *source;
	size_t n = 0;
	int err;

	if (!pull) {
		*pull_ = pull = NEW(struct live_pull);
		pull->feed = feed;
	}
	err = add_source(pull, find->where, &source);
	for (uint32_t i = 0; !err && i < source->hello.events_n; i++) {
		const struct sent_event *sent = &source->events[i];
		size_t before = feed->events.n;

		if (!text_glob(sent->name, find->name))
			continue;
		n++;
		err = find->found(find->arg, sent->event, *sent->system ? sent->system : NULL,
				  *sent->tracepoint ? sent->tracepoint : NULL);
		for (; before < feed->events.n; before++)
			feed->events.v[before]->foreign = &source->foreign;
	}
	return err || n ? err : not_found(source, find->name);
}

static void note_wanted(struct feed *feed, struct pull_source *source)
{
	for (size_t i = feed->events.n; i-- > 0;) {
		struct feed_event *wanted = feed->events.v[i];
		struct sent_event *sent;

		if (wanted->foreign != &source->foreign)
			continue;
		sent = &source->events[wanted->event->index];
		wanted->next_same = sent->wanted;
		sent->wanted = wanted;
	}
}

void live_pull_begin(struct live_pull *pull, const struct pull_clock *clock)
{
	for (size_t i = 0; i < pull->sources.n; i++) {
		struct pull_source *source = &pull->sources.v[i]->source;

		pull_source_align(source, clock);
		note_wanted(pull->feed, source);
	}
}

// ---- while it runs

size_t live_pull_sources(const struct live_pull *pull)
{
	return pull ? pull->sources.n : 0;
}

struct ring *live_pull_ring(struct live_pull *pull, size_t source)
{
	return &pull->sources.v[source]->source.ring;
}

// What one says that can't be is its own end; the run ends with the last of them.
int live_pull_read(struct live_pull *pull)
{
	size_t failed = 0;

	for (size_t i = 0; pull && i < pull->sources.n; i++) {
		struct pulled *pulled = pull->sources.v[i];
		int err = pulled->failed ? 0 : read_source(pulled);

		pulled->failed |= err < 0;
		failed += pulled->failed;
		if (err >= 0)
			continue;
		pulled->source.ended = true;
		receiver_end(pulled->receiver);
		if (failed == pull->sources.n)
			return err;
		warn("%s; nothing more is taken from it", err_sentence());
		err_clear();
	}
	return 0;
}

bool live_pull_ended(const struct live_pull *pull)
{
	for (size_t i = 0; pull && i < pull->sources.n; i++)
		if (!pull->sources.v[i]->source.ended)
			return false;
	return pull != NULL;
}

uint64_t live_pull_hold(const struct live_pull *pull)
{
	uint64_t now = time_now_ns(CLOCK_MONOTONIC), least = UINT64_MAX;

	for (size_t i = 0; pull && i < pull->sources.n; i++) {
		const struct pull_source *source = &pull->sources.v[i]->source;

		if (!source->ended && source->watermark &&
		    now - source->heard_ns < SILENT_MS * 1000000ull)
			least = MIN(least, source->watermark);
	}
	return least;
}

int live_pull_poll(const struct live_pull *pull, struct pollfd *fds)
{
	int ms = 1000;

	for (size_t i = 0; pull && i < pull->sources.n; i++) {
		const struct pull_source *source = &pull->sources.v[i]->source;
		int wait = receiver_wait(pull->sources.v[i]->receiver, &fds[i].fd, &fds[i].events);

		if (source->ended || pull_source_room(source) < PULL_ROOM_BYTES)
			fds[i].fd = -1;
		else
			ms = MIN(ms, wait);
	}
	return ms;
}

int live_pull_give(struct live_pull *pull, const struct perf_event_header *header, struct feed *feed)
{
	return pull_source_give(&pull->sources.v[pull_index(pull_id(header))]->source, header, feed);
}
