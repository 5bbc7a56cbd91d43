// SPDX-License-Identifier: GPL-2.0-or-later
// From a path to a recording whose header, attrs and features are read.
#include "abi/attr.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "data/private.h"
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	PIPE_HEADER_SIZE = 16,
	FILE_HEADER_SIZE = 104,
	OLD_HEADER_SIZE = 72, // without the feature bits
	SECTION_SIZE = 16,
};

struct recording *recording_new(const char *path)
{
	struct recording *recording = NEW(struct recording);

	recording->private = NEW(struct recording_private);
	recording->private->fd = recording->private->file_fd = -1;
	recording->is_64bit = true;
	recording->path = arena_strdup(&recording->arena, str_of(path));
	return recording;
}

static int not_a_recording(const char *path, const uint8_t *p, size_t n, bool unpacked)
{
	const char *inside = unpacked ? "what is packed in it " : "it ";
	size_t texty = 0, look = MIN(n, (size_t)512);

	if (!n && unpacked)
		return fail(EINVAL, "%s is not a perf recording: nothing is packed in it", path);
	if (!n)
		return fail(EINVAL, "%s is empty: nothing was recorded", path);
	if (n >= 8 &&
	    (!memcmp(p, "PERFFILE", 8) || !memcmp(p, "PERFILE2", 8) || !memcmp(p, "2ELIFREP", 8))) {
		if (n < PIPE_HEADER_SIZE)
			return fail(EINVAL, "%s is cut inside its header, after %zu bytes", path, n);
		return fail(EINVAL,
			    "%s starts like a perf recording, but its header at offset 8 has a size "
			    "that no perf writes (%#llx)",
			    path, (unsigned long long)load_u64(p + 8, false));
	}
	if (n >= 4 && !memcmp(p, "\177ELF", 4))
		return fail(EINVAL,
			    "%s is not a perf recording: %sis an ELF file (a program or library)",
			    path, inside);
	for (size_t i = 0; i < look; i++)
		texty += isprint(p[i]) || isspace(p[i]) || p[i] >= 0x80;
	if (texty == look)
		return fail(EINVAL, "%s is not a perf recording: %slooks like text", path, inside);
	return fail(EINVAL, "%s is not a perf recording: %sstarts with the bytes %02x %02x %02x %02x",
		    path, inside, p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0);
}

// Version, byte order and kind from the first 16 bytes. False: not a recording.
static bool read_magic(struct recording *recording, const uint8_t *p, size_t n)
{
	uint64_t magic, size;

	if (n < PIPE_HEADER_SIZE)
		return false;
	magic = load_u64(p, false);
	if (!memcmp(p, "PERFFILE", 8))
		recording->version = 1;
	else if (magic == 0x32454c4946524550ull || magic == 0x50455246494c4532ull)
		recording->version = 2;
	else
		return false;
	recording->swap = magic == 0x50455246494c4532ull;
	size = load_u64(p + 8, recording->swap);
	if (recording->version == 1 && size > UINT32_MAX) { // its magic has no byte order
		recording->swap = true;
		size = __builtin_bswap64(size);
	}
	recording->is_big_endian = recording->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	recording->header_size = size;
	recording->is_pipe = size == PIPE_HEADER_SIZE;
	return size == PIPE_HEADER_SIZE || size == FILE_HEADER_SIZE || size == OLD_HEADER_SIZE;
}

static bool inside(const struct mapped *file, uint64_t offset, uint64_t size)
{
	return offset <= file->n && size <= file->n - offset;
}

static int read_attrs(struct recording *recording, const struct mapped *file, uint64_t offset,
		      uint64_t size)
{
	uint64_t stride = recording->attr_size, n = size / (stride ? stride : 1);

	if (stride < PERF_ATTR_SIZE_VER0 + SECTION_SIZE || stride > 1 << 16)
		return fail(EINVAL,
			    "%s: the header at offset 16 gives events of %llu bytes, which can't be",
			    recording->path, (unsigned long long)stride);
	if (!inside(file, offset, size))
		return fail(EINVAL,
			    "%s: the event descriptions (%llu bytes at offset %llu) lie behind the "
			    "file's end at %zu",
			    recording->path, (unsigned long long)size, (unsigned long long)offset,
			    file->n);
	if (!n)
		recording_damage(recording, true, "its header describes no events");
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *p = file->p + offset + i * stride;
		uint64_t ids = load_u64(p + stride - 16, recording->swap);
		uint64_t ids_size = load_u64(p + stride - 8, recording->swap);
		uint32_t attr_size = load_u32(p + 4, recording->swap);
		struct perf_event_attr attr;

		if (!attr_size)
			attr_size = PERF_ATTR_SIZE_VER0;
		if (attr_size < PERF_ATTR_SIZE_VER0 || attr_size > stride - SECTION_SIZE)
			attr_size = (uint32_t)stride - SECTION_SIZE;
		if (attr_read(&attr, p, attr_size, recording->swap) < 0)
			return fail_context(-EINVAL, "%s: event %llu at offset %llu",
					    recording->path, (unsigned long long)i,
					    (unsigned long long)(p - file->p));
		if (!inside(file, ids, ids_size)) {
			recording_damage(recording, false,
					 "the ids of event %llu (%llu bytes at offset %llu) lie "
					 "behind the file's end at %zu",
					 (unsigned long long)i, (unsigned long long)ids_size,
					 (unsigned long long)ids, file->n);
			ids = ids_size = 0;
		}
		recording_add_event(recording, &attr, file->p + ids, ids_size / 8);
	}
	return 0;
}

// The set of features; of the other byte order it may have been written as u64 or u32 words.
static void feature_bits(const struct recording *recording, const uint8_t *p, uint64_t bits[4])
{
	bool hostname;

	for (int i = 0; i < 4; i++)
		bits[i] = load_u64(p + i * 8, recording->swap);
	hostname = bits[0] & 1ull << FEATURE_HOSTNAME;
	if (!recording->swap || hostname)
		return;
	for (int i = 0; i < 4; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
	if (bits[0] & 1ull << FEATURE_HOSTNAME)
		return;
	// all that perf wrote before it wrote the host's name
	if (bits[0] | bits[1] | bits[2] | bits[3])
		bits[0] = 1ull << FEATURE_BUILD_ID;
	bits[1] = bits[2] = bits[3] = 0;
}

static void read_features(struct recording *recording, const struct mapped *file,
			  const uint64_t bits[4], uint64_t at)
{
	for (uint32_t id = 0; id < FEATURE_BITS; id++) {
		uint64_t offset, size;

		if (!(bits[id / 64] & 1ull << id % 64))
			continue;
		if (!inside(file, at, SECTION_SIZE)) {
			recording_damage(recording, false,
					 "it ends at %zu, before the table of its feature sections at "
					 "%llu",
					 file->n, (unsigned long long)recording->features_offset);
			return;
		}
		offset = load_u64(file->p + at, recording->swap);
		size = load_u64(file->p + at + 8, recording->swap);
		at += SECTION_SIZE;
		if (!inside(file, offset, size))
			recording_damage(recording, false,
					 "the feature section %s (%llu bytes at offset %llu) lies "
					 "behind the file's end at %zu",
					 feature_name(id), (unsigned long long)size,
					 (unsigned long long)offset, file->n);
		else if (feature_take(recording, id, file->p + offset, size) < 0 && size)
			inform("%s: the feature section %s at offset %llu is malformed",
			       recording->path, feature_name(id), (unsigned long long)offset);
	}
}

static void read_event_types(struct recording *recording, const struct mapped *file,
			     uint64_t offset, uint64_t size)
{
	enum { ENTRY = 8 + 64 };

	if (!inside(file, offset, size))
		return;
	for (; size >= ENTRY; offset += ENTRY, size -= ENTRY) {
		const char *name = (const char *)file->p + offset + 8;
		struct event_type_name type = {.id = load_u64(file->p + offset, recording->swap)};

		type.name = arena_strdup(&recording->arena, (struct str){name, strnlen(name, 64)});
		vec_push(&recording->private->type_names, type);
	}
}

// Those that sonde writes ahead of the data, when the end was never written.
static void read_early_features(struct recording *recording, const struct mapped *file)
{
	uint64_t at = load_u64(file->p + 56, recording->swap), bits[4];

	if (!inside(file, at, 8 + sizeof(bits)) ||
	    load_u64(file->p + at, recording->swap) != recording_early_magic)
		return;
	feature_bits(recording, file->p + at + 8, bits);
	read_features(recording, file, bits, at + 8 + sizeof(bits));
}

// The header of a file, of which the first 16 bytes have been looked at.
static int read_header(struct recording *recording, struct part *part)
{
	const struct mapped *file = &part->file;
	const uint8_t *p = file->p;
	bool swap = recording->swap;
	uint64_t attrs, attrs_size, bits[4] = {0};
	int err;

	if (file->n < recording->header_size)
		return fail(EINVAL, "%s is cut inside its header: %zu bytes of %llu are there",
			    recording->path, file->n, (unsigned long long)recording->header_size);
	recording->attr_size = load_u64(p + 16, swap);
	attrs = load_u64(p + 24, swap);
	attrs_size = load_u64(p + 32, swap);
	recording->data_offset = load_u64(p + 40, swap);
	recording->data_size = load_u64(p + 48, swap);
	recording->features_offset = recording->data_offset + recording->data_size;
	read_event_types(recording, file, load_u64(p + 56, swap), load_u64(p + 64, swap));
	if (recording->header_size == FILE_HEADER_SIZE)
		feature_bits(recording, p + 72, bits);
	err = read_attrs(recording, file, attrs, attrs_size);
	if (err < 0)
		return err;
	if (recording->data_offset > file->n) {
		recording_damage(recording, true,
				 "its data starts at offset %llu, behind its end at %zu",
				 (unsigned long long)recording->data_offset, file->n);
		part->start = part->end = file->n;
	} else if (!recording->data_size) {
		// perf writes the size when it ends: it was killed. What is there can be read.
		part->start = recording->data_offset;
		part->end = file->n;
		recording_damage(recording, true,
				 "the header gives no size of the data: the recording was not ended "
				 "properly (killed?); reading up to the file's end");
		read_early_features(recording, file);
	} else if (recording->data_size > file->n - recording->data_offset) {
		recording_damage(recording, true,
				 "it is cut: its data should go on to offset %llu, but it ends at %zu",
				 (unsigned long long)recording->features_offset, file->n);
		part->start = recording->data_offset;
		part->end = file->n;
	} else {
		part->start = recording->data_offset;
		part->end = recording->features_offset;
		read_features(recording, file, bits, recording->features_offset);
	}
	recording_name_events(recording);
	return 0;
}

static int open_mapped(struct recording *recording, struct mapped *file, bool borrowed, bool unpacked)
{
	struct part part = {.path = recording->path, .file = *file, .borrowed = borrowed};
	int err = 0;

	*file = (struct mapped){0};
	vec_push(&recording->private->parts, part);
	struct part *first = &recording->private->parts.v[0];
	recording->file_size = first->file.n;
	if (!read_magic(recording, first->file.p, first->file.n))
		return not_a_recording(recording->path, first->file.p, first->file.n, unpacked);
	if (recording->is_pipe) {
		first->start = recording->data_offset = PIPE_HEADER_SIZE;
		first->end = first->file.n;
	} else {
		err = read_header(recording, first);
	}
	return err;
}

// A descriptor that can't be mapped: read as a stream when it carries pipe mode, else spooled.
static int open_stream(struct recording *recording, int fd, bool close_fd)
{
	struct recording_private *p = recording->private;
	struct mapped file = {0};
	size_t n = 0;
	struct str first;
	int err;

	p->window_size = 1 << 18;
	p->window = xmalloc(p->window_size);
	while (n < PIPE_HEADER_SIZE) {
		ssize_t got = read(fd, p->window + n, PIPE_HEADER_SIZE - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fail(errno, "can't read %s: %s", recording->path, strerror(errno));
		if (!got)
			break;
		n += (size_t)got;
	}
	if (read_magic(recording, p->window, n) && recording->is_pipe) {
		p->fd = fd;
		p->close_fd = close_fd;
		p->base = p->window;
		p->at = p->base + PIPE_HEADER_SIZE;
		p->end = p->at;
		recording->data_offset = PIPE_HEADER_SIZE;
		return 1; // the descriptor stays in use
	}
	first = (struct str){(const char *)p->window, n};
	err = source_unpack(&file, first, fd, recording->path);
	if (err > 0) {
		err = open_mapped(recording, &file, false, true);
	} else if (!err && recording->header_size > PIPE_HEADER_SIZE && recording->version) {
		err = source_spool(&file, first, fd, recording->path);
		if (!err)
			err = open_mapped(recording, &file, false, false);
	} else if (!err) {
		err = not_a_recording(recording->path, p->window, n, false);
	}
	return err;
}

// perf record --threads and --dir write a directory: "data" with the header, data.N beside it.
static int add_directory_parts(struct recording *recording, const char *dir)
{
	for (unsigned i = 0; i < 1 << 16; i++) {
		auto_free char *path = text_dup_fmt("%s/data.%u", dir, i);
		struct part part = {0};

		if (access(path, F_OK) < 0)
			break;
		if (file_map(&part.file, path) < 0)
			return -EIO;
		part.path = arena_strdup(&recording->arena, str_of(path));
		part.end = part.file.n;
		vec_push(&recording->private->parts, part);
	}
	return 0;
}

static int open_fd(struct recording *recording, int fd, bool *ret_keep)
{
	struct mapped file = {0}, unpacked = {0};
	struct stat st;
	int err;

	*ret_keep = false;
	if (fstat(fd, &st) < 0)
		return fail(errno, "can't look at %s: %s", recording->path, strerror(errno));
	recording->modified_ns = st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec;
	if (!S_ISREG(st.st_mode)) {
		err = open_stream(recording, fd, true);
		*ret_keep = err > 0;
		return MIN(err, 0);
	}
	err = file_map_fd(&file, fd, recording->path);
	if (err < 0)
		return err;
	err = source_unpack(&unpacked, (struct str){(const char *)file.p, file.n}, -1,
			    recording->path);
	if (err) {
		file_unmap(&file);
		return err < 0 ? err : open_mapped(recording, &unpacked, false, true);
	}
	err = open_mapped(recording, &file, false, false);
	if (!err)
		recording->private->file_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return err;
}

int recording_open(struct recording **ret, const char *path, const struct recording_options *options)
{
	static const struct recording_options none;
	bool is_stdin = !strcmp(path, "-"), keep = false;
	struct recording *recording = recording_new(is_stdin ? "standard input" : path);
	auto_free char *in_dir = NULL;
	struct stat st;
	int fd, err;

	options = options ? options : &none;
	if (!is_stdin && !stat(path, &st) && S_ISDIR(st.st_mode))
		in_dir = text_dup_fmt("%s/data", path);
	if (in_dir) {
		auto_free char *kallsyms = text_dup_fmt("%s/kcore_dir/kallsyms", path);

		if (access(kallsyms, R_OK) == 0)
			recording->kallsyms = arena_strdup(&recording->arena, str_of(kallsyms));
	}
	fd = is_stdin ? dup(STDIN_FILENO) : open(in_dir ? in_dir : path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		int code = errno;

		err = fail(code, "can't open %s: %s%s", in_dir ? in_dir : path, strerror(code),
			   code == ENOENT && !strcmp(path, "perf.data")
				   ? " (make one with: sonde record)"
				   : "");
	} else if (!options->force && !is_stdin && !fstat(fd, &st) && st.st_uid &&
		   st.st_uid != geteuid()) {
		err = fail(EPERM,
			   "%s belongs neither to you nor to root (use -f to read it nevertheless)",
			   path);
	} else {
		err = open_fd(recording, fd, &keep);
	}
	if (!err && in_dir && !options->no_events)
		err = add_directory_parts(recording, path);
	if (fd >= 0 && !keep)
		close(fd);
	if (err < 0) {
		recording_close(recording);
		return err;
	}
	recording_start(recording);
	*ret = recording;
	return 0;
}

int recording_open_memory(struct recording **ret, const void *bytes, size_t size, const char *name)
{
	struct recording *recording = recording_new(name);
	struct mapped file = {.p = bytes, .n = size, .on_heap = false}, unpacked = {0};
	int err = source_unpack(&unpacked, (struct str){(const char *)bytes, size}, -1, name);

	if (err > 0)
		err = open_mapped(recording, &unpacked, false, true);
	else if (!err)
		err = open_mapped(recording, &file, true, false);
	if (err < 0) {
		recording_close(recording);
		return err;
	}
	recording_start(recording);
	*ret = recording;
	return 0;
}
