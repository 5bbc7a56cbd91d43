// SPDX-License-Identifier: GPL-2.0-or-later
// Threads that only copy: each moves the bytes of its rings to files. What has to be known of them (samples, losses, maps) is
// looked up in the files at the end, so the threads share nothing while they run.
#include "cmd/core/record/readers.h"
#include "base/err.h"
#include "cmd/core/record/record.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct ring_file {
	struct ring *ring;
	int fd;
};

struct reader {
	struct readers *all;
	pthread_t thread;
	bool runs;
	VEC(struct ring_file) files;
	int error; // -errno
};

struct readers {
	struct recorder *recorder;
	struct reader *v;
	size_t n;
	int stop; // an eventfd that is readable when the end has come
	atomic_ullong bytes;
	atomic_bool failed;
};

static int write_pieces(int fd, const struct ring_pieces *pieces)
{
	struct iovec rest[2] = {{(void *)(uintptr_t)pieces->p[0], pieces->n[0]},
				{(void *)(uintptr_t)pieces->p[1], pieces->n[1]}};

	while (rest[0].iov_len + rest[1].iov_len) {
		ssize_t n = writev(fd, rest, 2);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (int i = 0; i < 2; i++) {
			size_t done = MIN((size_t)n, rest[i].iov_len);

			rest[i].iov_base = (char *)rest[i].iov_base + done;
			rest[i].iov_len -= done;
			n -= (ssize_t)done;
		}
	}
	return 0;
}

static int copy_rings(struct reader *reader, uint64_t least)
{
	vec_each(struct ring_file, file, &reader->files) {
		struct ring_pieces pieces;
		size_t n = ring_read(file->ring, &pieces);
		int err;

		if (!n || n < least)
			continue;
		err = write_pieces(file->fd, &pieces);
		if (err)
			return err;
		ring_release(file->ring, pieces.end);
		atomic_fetch_add_explicit(&reader->all->bytes, n, memory_order_relaxed);
	}
	return 0;
}

static int copy_until_stopped(struct reader *reader)
{
	enum { LONGEST_MS = 1000 };
	uint64_t least = reader->all->recorder->options->mmap_flush;
	size_t n = reader->files.n;
	auto_free struct pollfd *fds = xcalloc(n + 1, sizeof(*fds));
	int err = 0;

	for (size_t i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = reader->files.v[i].ring->fd, .events = POLLIN};
	fds[n] = (struct pollfd){.fd = reader->all->stop, .events = POLLIN};
	while (!err) {
		if (poll(fds, n + 1, LONGEST_MS) < 0 && errno != EINTR)
			return -errno;
		bool stop = fds[n].revents & POLLIN;

		err = copy_rings(reader, stop ? 0 : least);
		if (stop)
			break;
		// A ring hangs up when all that wrote to it have ended.
		for (size_t i = 0; i < n; i++)
			fds[i].fd = fds[i].revents & (POLLHUP | POLLERR) ? -1 : fds[i].fd;
	}
	return err;
}

static void *read_rings(void *arg)
{
	struct reader *reader = arg;

	reader->error = copy_until_stopped(reader);
	if (reader->error)
		atomic_store(&reader->all->failed, true);
	return NULL;
}

static int add_file(struct readers *readers, const struct reader_place *places, size_t index)
{
	struct recorder *recorder = readers->recorder;
	struct ring *ring = &recorder->opened.rings.v[index];
	auto_free char *path = text_dup_fmt("%s/data.%zu", recorder->path, index);
	size_t to = 0;
	int fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return fail(errno, "can't create %s: %s", path, strerror(errno));
	for (size_t i = 0; i < readers->n; i++) {
		if (ring->cpu >= 0 && cpu_mask_has(&places[i].reads, (uint32_t)ring->cpu))
			to = i;
	}
	vec_push(&readers->v[to].files, ((struct ring_file){ring, fd}));
	return 0;
}

static int start_thread(struct reader *reader, const struct cpu_mask *runs)
{
	pthread_attr_t attr;
	int err;

	if (!reader->files.n)
		return 0;
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, runs->bytes, runs->set);
	err = pthread_create(&reader->thread, &attr, read_rings, reader);
	pthread_attr_destroy(&attr);
	reader->runs = !err;
	return err ? fail(err, "can't start a thread for --threads: %s%s", strerror(err),
			  err == EINVAL ? "; are its CPUs ours to run on (taskset -p $$)?" : "")
		   : 0;
}

int readers_start(struct readers **ret, struct recorder *recorder, const char *spec)
{
	struct readers *readers;
	struct reader_place *places;
	size_t n;
	int err = reader_places(&places, &n, spec, "");

	if (err)
		return err;
	readers = NEW(struct readers);
	readers->recorder = recorder;
	readers->n = n;
	readers->v = xcalloc(n, sizeof(*readers->v));
	readers->stop = eventfd(0, EFD_CLOEXEC);
	if (readers->stop < 0)
		err = fail(errno, "can't make an eventfd: %s", strerror(errno));
	for (size_t i = 0; i < recorder->opened.rings.n && !err; i++)
		err = add_file(readers, places, i);
	for (size_t i = 0; i < n && !err; i++) {
		readers->v[i].all = readers;
		err = start_thread(&readers->v[i], &places[i].runs);
	}
	reader_places_free(places, n);
	*ret = readers; // the caller stops it in any case
	return err;
}

uint64_t readers_bytes(const struct readers *readers)
{
	return readers ? atomic_load_explicit(&readers->bytes, memory_order_relaxed) : 0;
}

bool readers_failed(const struct readers *readers)
{
	return readers && atomic_load(&readers->failed);
}

static int look_at(struct recorder *recorder, const struct ring_file *file)
{
	struct ring_pieces whole = {0}, behind = {0};
	struct stat st;
	void *map;
	int err;

	if (fstat(file->fd, &st) < 0)
		return fail(errno, "can't look at what was written: %s", strerror(errno));
	if (!st.st_size)
		return 0;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file->fd, 0);
	if (map == MAP_FAILED)
		return fail(errno, "can't look at what was written: %s", strerror(errno));
	whole.p[0] = map;
	whole.n[0] = (size_t)st.st_size;
	err = collect_account(recorder, file->ring, &whole);
	munmap(map, (size_t)st.st_size);
	behind.p[0] = (const uint8_t *)recorder->behind.buf;
	behind.n[0] = recorder->behind.n;
	recorder->behind.n = 0;
	if (err)
		return err;
	err = write_pieces(file->fd, &behind);
	return err < 0 ? fail(-err, "can't write what follows a map: %s", strerror(-err)) : 0;
}

// Returns err, with its sentence, or when there is none yet what came next.
static int first_error(int err, int next, char **sentence)
{
	if (err)
		return fail_again(err, *sentence);
	if (next)
		*sentence = xstrdup(err_sentence());
	return next;
}

int readers_stop(struct readers *readers)
{
	auto_free char *sentence = NULL;
	uint64_t one = 1;
	int err = 0;

	if (!readers)
		return 0;
	if (readers->stop >= 0 && write(readers->stop, &one, sizeof(one)) < 0)
		err = first_error(0, fail(errno, "can't end the threads: %s", strerror(errno)),
				  &sentence);
	for (size_t i = 0; i < readers->n; i++) {
		struct reader *reader = &readers->v[i];

		if (reader->runs)
			pthread_join(reader->thread, NULL);
		if (reader->error)
			err = first_error(err,
					  fail(-reader->error, "can't write %s/data.N: %s",
					       readers->recorder->path, strerror(-reader->error)),
					  &sentence);
		vec_each(struct ring_file, file, &reader->files) {
			err = first_error(err, look_at(readers->recorder, file), &sentence);
			close(file->fd);
		}
		vec_done(&reader->files);
	}
	readers->recorder->beside_bytes = readers_bytes(readers);
	if (readers->stop >= 0)
		close(readers->stop);
	free(readers->v);
	free(readers);
	return err;
}
