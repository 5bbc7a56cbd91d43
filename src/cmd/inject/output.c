// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/inject/output.h"
#include "base/alloc.h"
#include "base/err.h"

struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic, size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

static const uint64_t magic = 0x32454c4946524550ull; // "PERFILE2"

static uint64_t here(const struct inject_output *output)
{
	return output->out.written_bytes + output->out.n;
}

// No longer than the recorder's own: older readers refuse what they don't know.
static size_t attr_size(const struct recording *recording)
{
	size_t size = PERF_ATTR_SIZE_VER0;

	for (size_t i = 0; i < recording->events.n; i++)
		size = MAX(size, (size_t)recording->events.v[i]->attr.size);
	return MIN(size, sizeof(struct perf_event_attr));
}

static void put_events(struct inject_output *output)
{
	const struct recording *recording = output->recording;
	VEC(struct section) ids = {0};

	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = recording->events.v[i];

		vec_push(&ids, (struct section){here(output), event->ids.n * 8});
		out_bytes(&output->out, event->ids.v, event->ids.n * 8);
	}
	for (size_t i = 0; i < recording->events.n; i++) {
		out_bytes(&output->out, &recording->events.v[i]->attr, attr_size(recording));
		out_bytes(&output->out, &ids.v[i], sizeof(ids.v[i]));
	}
	vec_done(&ids);
}

static void start_header(struct file_header *ret, const struct recording *recording)
{
	*ret = (struct file_header){.magic = magic,
				    .size = sizeof(struct file_header),
				    .attr_size = attr_size(recording) + sizeof(struct section)};
}

int inject_output_open(struct inject_output *output, struct recording *recording, const char *path)
{
	const uint64_t pipe_header[2] = {magic, sizeof(pipe_header)};
	struct file_header header;
	bool is_stdout = strcmp(path, "-") == 0;
	int err = 0;

	*output = (struct inject_output){.recording = recording,
					 .path = path,
					 .pipe = recording->is_pipe};
	if (is_stdout && !output->pipe)
		return fail(EINVAL, "a recording from a file can't be written to a pipe: say where it "
				    "shall go with -o FILE");
	if (is_stdout)
		out_init_fd(&output->out, STDOUT_FILENO);
	else
		err = out_open_mode(&output->out, path, 0600);
	if (err < 0)
		return err;
	out_init_memory(&output->build_ids);
	if (output->pipe) {
		out_bytes(&output->out, pipe_header, sizeof(pipe_header));
		return 0;
	}
	start_header(&header, recording);
	out_bytes(&output->out, &header, sizeof(header));
	put_events(output);
	output->data_at = here(output);
	return 0;
}

void inject_output_record(struct inject_output *output, const struct perf_event_header *header)
{
	out_bytes(&output->out, header, header->size);
}

void inject_output_build_id(struct inject_output *output, const struct recorded_build_id *id)
{
	enum { MISC_SIZE = 1 << 15, ID_ROOM = 24 };
	struct out *out = output->pipe ? &output->out : &output->build_ids;
	size_t name_n = (strlen(id->name) + 1 + 63) & ~(size_t)63;
	struct perf_event_header header = {
		.type = output->pipe ? RECORD_HEADER_BUILD_ID : 0,
		.misc = id->misc | MISC_SIZE,
		.size = (uint16_t)(sizeof(header) + 4 + ID_ROOM + name_n),
	};
	uint8_t room[ID_ROOM] = {0};

	if (name_n > 4096)
		return;
	memcpy(room, id->id, MIN(id->id_size, (uint8_t)20));
	room[20] = id->id_size;
	out_bytes(out, &header, sizeof(header));
	out_bytes(out, &id->pid, 4);
	out_bytes(out, room, sizeof(room));
	out_text(out, id->name);
	out_fill(out, 0, name_n - strlen(id->name));
}

static bool is_wanted(const struct inject_output *output, size_t bit)
{
	const struct feature *feature = &output->recording->features[bit];

	// The records are unpacked now.
	if (bit == FEATURE_COMPRESSED || bit == FEATURE_DIR_FORMAT || bit == FEATURE_AUXTRACE)
		return false;
	return feature->present || (bit == FEATURE_BUILD_ID && output->build_ids.n);
}

static void put_features(struct inject_output *output, struct file_header *header)
{
	VEC(struct section) sections = {0};
	uint64_t at = here(output);

	for (size_t i = 0; i < FEATURE_BITS; i++) {
		if (is_wanted(output, i)) {
			header->features[i / 64] |= 1ull << i % 64;
			at += sizeof(struct section);
		}
	}
	for (size_t i = 0; i < FEATURE_BITS; i++) {
		const struct feature *feature = &output->recording->features[i];
		uint64_t size = feature->present ? feature->size : 0;

		if (!is_wanted(output, i))
			continue;
		if (i == FEATURE_BUILD_ID)
			size += output->build_ids.n;
		vec_push(&sections, (struct section){at, size});
		at += size;
	}
	out_bytes(&output->out, sections.v, sections.n * sizeof(*sections.v));
	for (size_t i = 0; i < FEATURE_BITS; i++) {
		const struct feature *feature = &output->recording->features[i];

		if (!is_wanted(output, i))
			continue;
		if (feature->present)
			out_bytes(&output->out, feature->data, feature->size);
		if (i == FEATURE_BUILD_ID)
			out_bytes(&output->out, output->build_ids.buf, output->build_ids.n);
	}
	vec_done(&sections);
}

int inject_output_close(struct inject_output *output, int err)
{
	struct file_header header;

	if (!output->pipe && err >= 0) {
		uint64_t ids = sizeof(header);

		start_header(&header, output->recording);
		for (size_t i = 0; i < output->recording->events.n; i++)
			ids += output->recording->events.v[i]->ids.n * 8;
		header.attrs = (struct section){ids, output->recording->events.n * header.attr_size};
		header.data = (struct section){output->data_at, here(output) - output->data_at};
		put_features(output, &header);
		err = out_flush(&output->out);
		if (err < 0)
			err = fail(-err, "can't write %s: %s", output->path, strerror(-err));
		if (err >= 0 && pwrite(output->out.fd, &header, sizeof(header), 0) != sizeof(header))
			err = fail(errno, "can't write %s: %s", output->path, strerror(errno));
	}
	out_done(&output->build_ids);
	return out_end(&output->out, output->path, err);
}
