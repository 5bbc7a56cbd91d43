// SPDX-License-Identifier: GPL-2.0-or-later
// Recorded stacks are unwound at once (cmd/core/record/unwinding.c); the file gets call chains that every reader understands. A
// thread (cmd/core/record/drain.c) takes the samples out of the rings as they come, without the room that a stack didn't fill,
// as the first look into a file may take longer than a ring lasts. Its memory is there from the start: it must not wait for who
// changes the process's maps. Records of all rings pass in the order of time, so that an exec or mmap is seen before the
// samples behind it.
#include "cmd/core/record/drain.h"
#include "base/err.h"
#include "base/time.h"
#include "cmd/core/record/parts.h"
#include "cmd/core/record/record.h"
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	LARGEST_RECORD = 1 << 16,
	MOST_BYTES = 256 << 20, // that wait and are looked at, of all rings together
	LEAST_BYTES = 1 << 20,	// of a ring
	MUCH_BYTES = 1 << 20,
	LONG_NS = 100000000,
	SHORTEST_MS = 10, // between looks
	LONGEST_MS = 80,
	KEPT_BYTES = 32 << 20, // of memory that waits, and of what is looked at, from one time to the next
	LEAST_KEPT = 64 << 10, // of a ring
};

// Memory that is there from the beginning, so that the thread never waits for others that change what the process has mapped; pages
// come when they are used.
struct taken {
	uint8_t *bytes;
	size_t n;
};

struct drain {
	struct recorder *recorder;
	pthread_t thread;
	pthread_mutex_t lock;	      // of coming, waiting_bytes and the rings
	struct taken *coming, *taken; // by ring
	size_t room, kept;	      // of each
	size_t waiting_bytes, taken_bytes;
	uint64_t waiting_since_ns;
	void *straddle;	 // room for a record that the ring's end cut
	int stop, ready; // eventfds
	bool runs;
	atomic_bool is_over;
};

static bool put_sample(const struct drain *drain, struct taken *to,
		       const struct perf_event_header *header)
{
	const struct recorder *recorder = drain->recorder;
	const struct sample_plan *plan = &recorder->plans[collect_event(recorder, header)];
	struct sample_parts parts;
	struct sample sample;

	if (!(plan->sample_type & PERF_SAMPLE_STACK_USER) ||
	    sample_decode(plan, header, &sample) < 0 || !sample.user_stack)
		return false;
	parts = sample_parts_find(plan, &sample);
	to->n += sample_parts_trim(to->bytes + to->n, header, &parts, sample.user_stack_size);
	return true;
}

static void put(const struct drain *drain, struct taken *to, const struct perf_event_header *header)
{
	if (header->type == PERF_RECORD_SAMPLE && put_sample(drain, to, header))
		return;
	memcpy(to->bytes + to->n, header, header->size);
	to->n += header->size;
}

// Returns how many bytes of the ring went; the rest stays there. What makes no sense goes on as it is, its reader says so.
static size_t put_pieces(const struct drain *drain, struct taken *to, const struct ring_pieces *pieces)
{
	size_t total = pieces->n[0] + pieces->n[1], at = 0;

	while (at + sizeof(struct perf_event_header) <= total &&
	       drain->room - to->n >= LARGEST_RECORD) {
		const struct perf_event_header *header =
			at < pieces->n[0] ? (const void *)(pieces->p[0] + at)
					  : (const void *)(pieces->p[1] + (at - pieces->n[0]));
		size_t size = header->size;

		if (size < sizeof(*header) || at + size > total) {
			memcpy(to->bytes + to->n, header, sizeof(*header));
			to->n += sizeof(*header);
			return total;
		}
		if (at < pieces->n[0] && at + size > pieces->n[0]) {
			size_t first = pieces->n[0] - at;

			memcpy(drain->straddle, header, first);
			memcpy((char *)drain->straddle + first, pieces->p[1], size - first);
			header = drain->straddle;
		}
		put(drain, to, header);
		at += size;
	}
	return at;
}

// Under the lock.
static void pull(struct drain *drain)
{
	struct opened *opened = &drain->recorder->opened;

	for (size_t i = 0; i < opened->rings.n; i++) {
		struct ring *ring = &opened->rings.v[i];
		size_t before = drain->coming[i].n;
		struct ring_pieces pieces;

		if (drain->waiting_bytes + drain->taken_bytes >= MOST_BYTES)
			break;
		if (!ring_read(ring, &pieces))
			continue;
		ring_release(ring, ring->tail + put_pieces(drain, &drain->coming[i], &pieces));
		if (!drain->waiting_bytes)
			drain->waiting_since_ns = time_now_ns(CLOCK_MONOTONIC);
		drain->waiting_bytes += drain->coming[i].n - before;
	}
}

static void kick(int fd)
{
	uint64_t one = 1;

	// It can't fail before it was read 2^64 - 2 times.
	(void)!write(fd, &one, sizeof(one));
}

static void go_before_others(void)
{
	const struct sched_param first = {.sched_priority = 1};
	int policy = SCHED_OTHER;
	struct sched_param as_is;

	pthread_getschedparam(pthread_self(), &policy, &as_is);
	if (policy == SCHED_OTHER && pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0)
		// Of this thread alone, on Linux.
		(void)setpriority(PRIO_PROCESS, (id_t)gettid(), -20);
}

static bool look(struct drain *drain)
{
	bool came;

	pthread_mutex_lock(&drain->lock);
	size_t before = drain->waiting_bytes;
	pull(drain);
	came = drain->waiting_bytes > before;
	if (drain->waiting_bytes >= MUCH_BYTES ||
	    (drain->waiting_bytes &&
	     time_now_ns(CLOCK_MONOTONIC) - drain->waiting_since_ns >= LONG_NS))
		kick(drain->ready);
	pthread_mutex_unlock(&drain->lock);
	return came;
}

static void *run(void *arg)
{
	struct drain *drain = arg;
	size_t n = drain->recorder->opened.rings.n;
	auto_free struct pollfd *fds = xcalloc(n + 1, sizeof(*fds));
	int timeout = SHORTEST_MS;

	go_before_others();
	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = drain->recorder->opened.rings.v[i].fd,
					 .events = POLLIN};
	fds[n] = (struct pollfd){.fd = drain->stop, .events = POLLIN};
	while (poll(fds, n + 1, timeout) >= 0 || errno == EINTR) {
		size_t gone = 0;

		if (fds[n].revents)
			break;
		timeout = look(drain) ? SHORTEST_MS : MIN(timeout * 2, (int)LONGEST_MS);
		// A ring hangs up when all that wrote to it have ended.
		for (size_t i = 0; i < n; i++) {
			if (fds[i].revents & (POLLHUP | POLLERR))
				fds[i].fd = -1;
			gone += fds[i].fd < 0;
		}
		if (gone == n && !atomic_exchange(&drain->is_over, true))
			kick(drain->ready);
	}
	return NULL;
}

static bool reserve(struct taken *taken, size_t room)
{
	void *p = mmap(NULL, room, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	taken->bytes = p == MAP_FAILED ? NULL : p;
	return taken->bytes;
}

int drain_start(struct drain **ret, struct recorder *recorder)
{
	struct drain *drain = NEW(struct drain);
	size_t n = recorder->opened.rings.n;
	pthread_mutexattr_t attr;
	int err;

	drain->recorder = recorder;
	*ret = drain;
	// Pages are whole.
	drain->room = MAX((size_t)MOST_BYTES / n, (size_t)LEAST_BYTES) & ~((size_t)LEAST_KEPT - 1);
	drain->kept = MAX((size_t)KEPT_BYTES / n, (size_t)LEAST_KEPT) & ~((size_t)LEAST_KEPT - 1);
	drain->coming = xcalloc(n, sizeof(*drain->coming));
	drain->taken = xcalloc(n, sizeof(*drain->taken));
	drain->stop = drain->ready = -1;
	// Who has it goes before others when the thread waits for it.
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&drain->lock, &attr);
	pthread_mutexattr_destroy(&attr);
	for (size_t i = 0; i < n; i++) {
		if (!reserve(&drain->coming[i], drain->room) ||
		    !reserve(&drain->taken[i], drain->room))
			return fail(errno, "no memory to empty the rings into: %s", strerror(errno));
	}
	drain->straddle = xmalloc(1 << 16);
	drain->stop = eventfd(0, EFD_CLOEXEC);
	drain->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = drain->stop < 0 || drain->ready < 0 ? errno
						  : pthread_create(&drain->thread, NULL, run, drain);
	drain->runs = !err;
	return err ? fail(err, "can't start the thread that empties the rings: %s", strerror(err))
		   : 0;
}

void drain_stop(struct drain *drain)
{
	if (!drain)
		return;
	if (drain->runs) {
		kick(drain->stop);
		pthread_join(drain->thread, NULL);
	}
	for (size_t i = 0; i < drain->recorder->opened.rings.n; i++) {
		if (drain->coming[i].bytes)
			munmap(drain->coming[i].bytes, drain->room);
		if (drain->taken[i].bytes)
			munmap(drain->taken[i].bytes, drain->room);
	}
	free(drain->coming);
	free(drain->taken);
	free(drain->straddle);
	pthread_mutex_destroy(&drain->lock);
	if (drain->stop >= 0)
		close(drain->stop);
	if (drain->ready >= 0)
		close(drain->ready);
	free(drain);
}

int drain_fd(const struct drain *drain)
{
	return drain->ready;
}

void drain_take(struct drain *drain)
{
	struct taken *old = drain->taken;
	uint64_t times;

	for (size_t i = 0; i < drain->recorder->opened.rings.n; i++) {
		if (old[i].n > drain->kept)
			(void)madvise(old[i].bytes + drain->kept, drain->room - drain->kept,
				      MADV_DONTNEED);
		old[i].n = 0;
	}
	(void)!read(drain->ready, &times, sizeof(times));
	pthread_mutex_lock(&drain->lock);
	pull(drain);
	drain->taken = drain->coming;
	drain->coming = old;
	drain->taken_bytes = drain->waiting_bytes;
	drain->waiting_bytes = 0;
	pthread_mutex_unlock(&drain->lock);
}

struct ring_pieces drain_pieces(const struct drain *drain, size_t ring)
{
	const struct taken *taken = &drain->taken[ring];

	return (struct ring_pieces){.p = {taken->bytes, NULL}, .n = {taken->n, 0}};
}

bool drain_is_over(const struct drain *drain)
{
	return drain && atomic_load(&drain->is_over);
}
