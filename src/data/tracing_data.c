// SPDX-License-Identifier: GPL-2.0-or-later
// The copy of tracefs' formats in a recording, as trace-cmd and perf lay it out
// (tools/perf/util/trace-event-read.c).
#include "base/err.h"
#include "base/log.h"
#include "data/private.h"

static const char *cursor_text(struct cursor *c)
{
	const uint8_t *nul = c->bad ? NULL : memchr(c->at, 0, cursor_left(c));
	const char *text = (const char *)c->at;

	if (!nul) {
		c->bad = true;
		return "";
	}
	c->at = nul + 1;
	return text;
}

static struct str cursor_block(struct cursor *c, uint64_t size)
{
	const uint8_t *p = size <= cursor_left(c) ? cursor_bytes(c, size) : NULL;

	if (!p) {
		c->bad = true;
		return (struct str){NULL, 0};
	}
	return (struct str){(const char *)p, size};
}

static void take_formats(struct tracepoints *all, struct cursor *c, const char *system)
{
	uint32_t n = cursor_u32(c);

	while (n-- && !c->bad) {
		struct str format = cursor_block(c, cursor_u64(c));

		if (!c->bad && tracepoints_add(all, system, format) < 0)
			debug("a format of %s in the recording: %s", system, err_sentence());
	}
}

int tracing_data_take(struct recording *recording, const uint8_t *data, size_t size)
{
	static const char magic[] = "\x17\x08\x44tracing";
	struct cursor c = cursor_of(data, size, false);
	const uint8_t *p = cursor_bytes(&c, sizeof(magic) - 1);
	struct tp_options options = {0};
	struct str block;
	const char *version;
	uint32_t n;

	if (!p || memcmp(p, magic, sizeof(magic) - 1))
		return fail(EINVAL, "its tracing data does not start with the magic bytes");
	version = cursor_text(&c);
	p = cursor_bytes(&c, 2);
	if (!p)
		return fail(EINVAL, "its tracing data is cut");
	options.big_endian = p[0] != 0;
	options.long_size = p[1] == 4 ? 4 : 8;
	c.swap = options.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	options.page_size = cursor_u32(&c);
	if (c.bad)
		return fail(EINVAL, "its tracing data is cut");
	recording->is_64bit = options.long_size == 8;
	if (!recording->tracepoints)
		recording->tracepoints = tracepoints_new(&options);

	if (strcmp(cursor_text(&c), "header_page"))
		c.bad = true;
	cursor_block(&c, cursor_u64(&c));
	if (strcmp(cursor_text(&c), "header_event"))
		c.bad = true;
	cursor_block(&c, cursor_u64(&c));
	take_formats(recording->tracepoints, &c, "ftrace");
	n = cursor_u32(&c);
	while (n-- && !c.bad) {
		const char *system = cursor_text(&c);

		take_formats(recording->tracepoints, &c, system);
	}
	block = cursor_block(&c, cursor_u32(&c));
	if (block.n)
		tracepoints_add_kallsyms(recording->tracepoints, block);
	block = cursor_block(&c, cursor_u32(&c));
	if (block.n)
		tracepoints_add_printk(recording->tracepoints, block);
	if (strcmp(version, "0.6") >= 0) {
		block = cursor_block(&c, cursor_u64(&c));
		if (block.n)
			tracepoints_add_cmdlines(recording->tracepoints, block);
	}
	recording_name_events(recording);
	return c.bad ? fail(EINVAL, "its tracing data is cut or malformed at byte %zu",
			    (size_t)(c.at - data))
		     : 0;
}
