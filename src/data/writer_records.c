// SPDX-License-Identifier: GPL-2.0-or-later
// What is told of events by records: all of it in a pipe, in a file what attrs can't say.
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "data/writer_private.h"

static int put_record(struct writer *writer, uint32_t type, const void *body, size_t size)
{
	struct perf_event_header header = {.type = type};
	size_t padded = (size + 7) & ~(size_t)7;
	static const uint8_t zeros[8];
	int err;

	if (padded > 65535 - sizeof(header))
		return 0; // what does not fit into a record is left out
	header.size = (uint16_t)(sizeof(header) + padded);
	err = writer_put(writer, &header, sizeof(header));
	if (err >= 0)
		err = writer_put(writer, body, size);
	return err < 0 ? err : writer_put(writer, zeros, padded - size);
}

static int put_update(struct writer *writer, const struct writer_event *event, uint64_t type,
		      struct str body)
{
	uint64_t head[2] = {type, event->ids_n ? event->ids[0] : 0};
	struct out out;
	int err;

	out_init_memory(&out);
	out_bytes(&out, head, sizeof(head));
	out_str(&out, body);
	err = put_record(writer, RECORD_EVENT_UPDATE, out.buf, out.n);
	out_done(&out);
	return err;
}

int writer_put_updates(struct writer *writer)
{
	enum { UNIT, SCALE, NAME };
	int err = 0;

	for (size_t i = 0; i < writer->events_n && err >= 0; i++) {
		const struct writer_event *event = &writer->events[i];

		if (event->unit && *event->unit)
			err = put_update(writer, event, UNIT,
					 (struct str){event->unit, strlen(event->unit) + 1});
		if (err >= 0 && event->scale != 0 && event->scale != 1)
			err = put_update(writer, event, SCALE,
					 (struct str){(const char *)&event->scale, 8});
		if (err >= 0 && writer->options.pipe && *event->name)
			err = put_update(writer, event, NAME,
					 (struct str){event->name, strlen(event->name) + 1});
	}
	return err;
}

static int put_attrs(struct writer *writer)
{
	int err = 0;

	for (size_t i = 0; i < writer->events_n && err >= 0; i++) {
		const struct writer_event *event = &writer->events[i];
		size_t ids_max = (65535 - 8 - writer->attr_size) / 8;
		struct out out;

		out_init_memory(&out);
		out_bytes(&out, &event->attr, writer->attr_size);
		out_bytes(&out, event->ids, MIN(event->ids_n, ids_max) * sizeof(uint64_t));
		err = put_record(writer, RECORD_HEADER_ATTR, out.buf, out.n);
		out_done(&out);
	}
	return err;
}

static int put_features(struct writer *writer)
{
	struct feature_facts facts = writer_facts(writer);
	struct out out;
	int err = 0;

	out_init_memory(&out);
	for (uint64_t id = 1; id < FEATURE_LAST && err >= 0; id++) {
		out.n = 0;
		out_bytes(&out, &id, sizeof(id));
		if (feature_in_pipe((uint32_t)id) && feature_write(&out, &facts, (uint32_t)id))
			err = put_record(writer, RECORD_HEADER_FEATURE, out.buf, out.n);
	}
	if (err >= 0) {
		uint64_t end = FEATURE_LAST;

		err = put_record(writer, RECORD_HEADER_FEATURE, &end, sizeof(end));
	}
	out_done(&out);
	return err;
}

static int put_tracing_data(struct writer *writer)
{
	struct {
		struct perf_event_header header;
		uint32_t size;
	} __attribute__((packed)) record = {
		.header = {.type = RECORD_HEADER_TRACING_DATA, .size = sizeof(record)},
	};
	struct out out;
	int err;

	out_init_memory(&out);
	err = tracing_data_write(&out, writer->events, writer->events_n,
				 writer->options.root ? writer->options.root : "");
	if (err < 0) {
		inform("the recording lacks the formats of its tracepoints: %s", err_sentence());
	} else if (err) {
		out_fill(&out, 0, -out.n & 7);
		record.size = (uint32_t)out.n;
		err = writer_put(writer, &record, sizeof(record));
		if (err >= 0)
			err = writer_put(writer, out.buf, out.n);
	}
	out_done(&out);
	return writer->error;
}

int writer_start_pipe(struct writer *writer)
{
	uint64_t head[2] = {WRITER_MAGIC, sizeof(head)};
	int err = writer_put(writer, head, sizeof(head));

	if (err >= 0)
		err = put_attrs(writer);
	if (err >= 0)
		err = writer_put_updates(writer);
	if (err >= 0)
		err = put_tracing_data(writer);
	if (err >= 0)
		err = put_features(writer);
	return err < 0 ? err : writer_flush(writer);
}
