// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes that can't be mapped as they are (packed files, pipes) go to an unlinked temporary file.
#include "base/alloc.h"
#include "base/err.h"
#include "base/unpack_limit.h"
#include "data/private.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <zlib.h>

enum { CHUNK = 1 << 18 };

// Input: the bytes already there, then those of a descriptor.
struct feed {
	const uint8_t *p;
	size_t n;
	int fd;
	uint8_t *buf;
	uint64_t taken_bytes, put_bytes; // so far
};

// 1: feed->p, n hold more; 0: the end; -errno.
static int feed_more(struct feed *feed)
{
	ssize_t got;

	if (feed->n)
		return 1;
	if (feed->fd < 0)
		return 0;
	if (!feed->buf)
		feed->buf = xmalloc(CHUNK);
	do
		got = read(feed->fd, feed->buf, CHUNK);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	feed->p = feed->buf;
	feed->n = (size_t)got;
	feed->taken_bytes += (uint64_t)got;
	return got > 0;
}

static int temporary_file(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = memfd_create("sonde", MFD_CLOEXEC);
	return fd < 0 ? fail(errno, "can't make a temporary file: %s", strerror(errno)) : fd;
}

static int put(struct feed *feed, int fd, struct str bytes, const char *name)
{
	enum { LOOK_EACH = 16 << 20 };
	bool look = (feed->put_bytes + bytes.n) / LOOK_EACH != feed->put_bytes / LOOK_EACH;
	int err;

	feed->put_bytes += bytes.n;
	if (unpack_is_absurd(feed->taken_bytes, feed->put_bytes))
		return fail(EFBIG,
			    "%s unpacks to more than %d times its size, as nothing that is recorded does",
			    name, UNPACK_MOST_RATIO);
	if (look && unpack_room_bytes(fd) < LOOK_EACH)
		return fail(ENOSPC,
			    "%s has more than the disk of temporary files has room for (%llu MB were put there); give "
			    "another one by TMPDIR",
			    name, (unsigned long long)feed->put_bytes >> 20);
	err = write_all(fd, bytes.p, bytes.n);
	return err < 0 ? fail(-err, "can't unpack %s into a temporary file: %s", name, strerror(-err))
		       : 0;
}

// Unpackers write what they can: a packed file that is cut still gives its beginning.
static int unpack_gzip(struct feed *feed, int out, const char *name)
{
	z_stream z = {0};
	auto_free uint8_t *buf = xmalloc(CHUNK);
	int err = 0, more;
	bool between = false; // members of a multi-part file

	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return fail(ENOMEM, "can't unpack %s: zlib does not start", name);
	while (!err && (more = feed_more(feed)) != 0) {
		int got;

		if (more < 0) {
			err = fail(-more, "can't read %s: %s", name, strerror(-more));
			break;
		}
		if (between && inflateReset(&z) != Z_OK)
			break;
		between = false;
		z.next_in = (uint8_t *)feed->p;
		z.avail_in = (uInt)MIN(feed->n, (size_t)1 << 30);
		uInt given = z.avail_in;
		do {
			z.next_out = buf;
			z.avail_out = CHUNK;
			got = inflate(&z, Z_NO_FLUSH);
			err = put(feed, out, (struct str){(const char *)buf, CHUNK - z.avail_out},
				  name);
		} while (!err && got == Z_OK && !z.avail_out);
		feed->p += given - z.avail_in;
		feed->n -= given - z.avail_in;
		if (got == Z_STREAM_END)
			between = true;
		else if (got != Z_OK && got != Z_BUF_ERROR)
			break;
		else if (given == z.avail_in)
			break;
	}
	inflateEnd(&z);
	return err;
}

static int unpack_zstd(struct feed *feed, int out, const char *name)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	auto_free uint8_t *buf = xmalloc(CHUNK);
	int err = 0, more;

	if (!z)
		alloc_failed();
	while (!err && (more = feed_more(feed)) != 0) {
		ZSTD_inBuffer in = {feed->p, feed->n, 0};
		ZSTD_outBuffer to = {buf, CHUNK, 0};
		size_t left;

		if (more < 0) {
			err = fail(-more, "can't read %s: %s", name, strerror(-more));
			break;
		}
		do {
			to.pos = 0;
			left = ZSTD_decompressStream(z, &to, &in);
			err = put(feed, out, (struct str){(const char *)buf, to.pos}, name);
		} while (!err && !ZSTD_isError(left) && (in.pos < in.size || to.pos == to.size));
		if (ZSTD_isError(left))
			break;
		feed->n = 0;
	}
	ZSTD_freeDStream(z);
	return err;
}

static int copy(struct feed *feed, int out, const char *name)
{
	int more, err = 0;

	while (!err && (more = feed_more(feed)) != 0) {
		if (more < 0)
			return fail(-more, "can't read %s: %s", name, strerror(-more));
		err = put(feed, out, (struct str){(const char *)feed->p, feed->n}, name);
		feed->n = 0;
	}
	return err;
}

static int to_file(struct mapped *ret, struct feed *feed, const char *name,
		   int (*how)(struct feed *, int, const char *))
{
	auto_close int fd = temporary_file();
	int err = fd < 0 ? fd : how(feed, fd, name);

	free(feed->buf);
	if (!err && lseek(fd, 0, SEEK_SET) < 0)
		err = fail(errno, "can't read back what was unpacked of %s", name);
	return err < 0 ? err : file_map_fd(ret, fd, name);
}

int source_unpack(struct mapped *ret, struct str first, int fd, const char *name)
{
	const uint8_t *p = (const uint8_t *)first.p;
	struct feed feed = {.p = p, .n = first.n, .fd = fd, .taken_bytes = first.n};
	int (*how)(struct feed *, int, const char *) = NULL;
	int err;

	if (first.n >= 3 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8)
		how = unpack_gzip;
	else if (first.n >= 4 && load_u32(p, false) == 0xfd2fb528)
		how = unpack_zstd;
	if (!how)
		return 0;
	err = to_file(ret, &feed, name, how);
	return err < 0 ? err : 1;
}

int source_spool(struct mapped *ret, struct str first, int fd, const char *name)
{
	struct feed feed = {.p = (const uint8_t *)first.p,
			    .n = first.n,
			    .fd = fd,
			    .taken_bytes = first.n};

	return to_file(ret, &feed, name, copy);
}
