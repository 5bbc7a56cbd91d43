// SPDX-License-Identifier: GPL-2.0-or-later
// The bytes of a recording, a window of them at a time: of mapped files, of files read in chunks, of streams.
#include "base/alloc.h"
#include "base/err.h"
#include "data/private.h"
#include <stdio.h>

enum {
	CHUNK_SIZE = 1 << 18,
	CHUNKED_FILE_MIN = 1 << 20, // smaller files are not worth it
	CHUNK_BYTES_MAX = 64 << 20, // in use at once; a reader that holds more gets the mapping
};

void bytes_start_chunks(struct recording_private *p, uint64_t offset)
{
	static const uint8_t nothing[1];

	p->chunked = true;
	p->base = p->at = p->end = nothing;
	p->base_offset = offset;
}

// From here on through the mapping.
static void end_chunks(struct recording_private *p)
{
	const struct part *part = &p->parts.v[p->part];

	p->at = part->file.p + bytes_offset(p, p->at);
	p->end = part->file.p + part->end;
	p->base = part->file.p;
	p->base_offset = 0;
	p->chunked = false;
}

static struct chunk take_chunk(struct recording_private *p, size_t size)
{
	if (p->free_chunks.n && size <= CHUNK_SIZE)
		return vec_pop(&p->free_chunks);
	size = MAX(size, (size_t)CHUNK_SIZE);
	return (struct chunk){.p = xmalloc(size), .size = size};
}

static void drop_chunk(struct recording_private *p, struct chunk chunk)
{
	p->chunk_bytes -= chunk.size;
	if (chunk.size == CHUNK_SIZE)
		vec_push(&p->free_chunks, chunk);
	else
		free(chunk.p);
}

// The next chunk, with what is left of this one before it, so that n bytes lie together.
static bool next_chunk(struct recording *recording, size_t n)
{
	struct recording_private *p = recording->private;
	const struct part *part = &p->parts.v[p->part];
	uint64_t start = bytes_offset(p, p->at), got;
	struct chunk chunk;

	if (n > part->end - start)
		return false;
	if (p->chunk_bytes + n > CHUNK_BYTES_MAX) {
		end_chunks(p);
		return true;
	}
	chunk = take_chunk(p, n);
	got = (uint64_t)(p->end - p->at);
	memcpy(chunk.p, p->at, got);
	chunk.start = start;
	while (got < n) {
		uint64_t want = MIN(chunk.size - got, part->end - start - got);
		ssize_t more = pread(p->file_fd, chunk.p + got, want, (off_t)(start + got));

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0) { // it was cut meanwhile, or the disk is broken: as good as its end
			recording_damage(recording, true, "can't read on at offset %llu: %s",
					 (unsigned long long)(start + got),
					 more ? strerror(errno) : "it got shorter");
			p->parts.v[p->part].end = start + got;
			break;
		}
		got += (uint64_t)more;
	}
	chunk.end = start + got;
	p->chunk_bytes += chunk.size;
	vec_push(&p->chunks, chunk);
	p->base = p->at = chunk.p;
	p->end = chunk.p + got;
	p->base_offset = start;
	return got >= n;
}

void recording_read_in_chunks(struct recording *recording)
{
	struct recording_private *p = recording->private;
	const struct part *part = p->parts.v;

	if (p->file_fd >= 0 && p->parts.n == 1 && !p->chunked &&
	    part->end - part->start >= CHUNKED_FILE_MIN)
		bytes_start_chunks(p, bytes_offset(p, p->at));
}

void recording_release(struct recording *recording, uint64_t offset)
{
	struct recording_private *p = recording->private;
	size_t n = 0;

	if (p->unpacker.in_size)
		offset = MIN(offset, p->unpacker.offset);
	while (n + 1 < p->chunks.n && p->chunks.v[n].end <= offset)
		drop_chunk(p, p->chunks.v[n++]);
	p->chunks.n -= n;
	if (n)
		memmove(p->chunks.v, p->chunks.v + n, p->chunks.n * sizeof(*p->chunks.v));
}

// Has a stream (or a file) n more bytes at `at`? Reads more; the bytes may move.
bool bytes_ensure(struct recording *recording, size_t n)
{
	struct recording_private *p = recording->private;
	size_t left = (size_t)(p->end - p->at);

	if (left >= n)
		return true;
	if (p->chunked)
		return next_chunk(recording, n);
	if (p->fd < 0 || p->fd_ended)
		return false;
	if (n > p->window_size) {
		size_t size = MAX(n, p->window_size * 2);
		uint8_t *window = xmalloc(size);

		memcpy(window, p->at, left);
		free(p->window);
		p->window = window;
		p->window_size = size;
		p->base_offset = bytes_offset(p, p->at);
		p->base = p->at = window;
		p->end = window + left;
	} else if (n > p->window_size - (size_t)(p->at - p->base)) {
		p->base_offset = bytes_offset(p, p->at);
		memmove(p->window, p->at, left);
		p->at = p->base;
		p->end = p->base + left;
	}
	while ((size_t)(p->end - p->at) < n) {
		size_t room = p->window_size - (size_t)(p->end - p->base);
		ssize_t got = read(p->fd, (uint8_t *)p->end, room);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			recording_damage(recording, true, "can't read on at offset %llu: %s",
					 (unsigned long long)bytes_offset(p, p->end),
					 strerror(errno));
		if (got <= 0) {
			p->fd_ended = true;
			return false;
		}
		p->end += got;
	}
	return true;
}

// Goes over a payload that is of no interest. False when it is cut.
bool bytes_skip(struct recording *recording, uint64_t n)
{
	struct recording_private *p = recording->private;

	if (p->chunked && n > (uint64_t)(p->end - p->at)) {
		uint64_t offset = bytes_offset(p, p->at), end = p->parts.v[p->part].end;

		bytes_start_chunks(p, n <= end - offset ? offset + n : end);
		return n <= end - offset;
	}
	while (n > (uint64_t)(p->end - p->at)) {
		n -= (uint64_t)(p->end - p->at);
		p->at = p->end;
		if (!bytes_ensure(recording, 1))
			return false;
	}
	p->at += n;
	return true;
}
