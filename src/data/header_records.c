// SPDX-License-Identifier: GPL-2.0-or-later
// Records that tell of the recording itself: what a file has in its header, a pipe has in these.
#include "abi/attr.h"
#include "base/log.h"
#include "data/private.h"
#include <errno.h>

static int take_attr(struct recording *recording, const uint8_t *body, size_t size)
{
	struct perf_event_attr attr;
	uint32_t attr_size;

	if (size < PERF_ATTR_SIZE_VER0)
		return -EINVAL;
	attr_size = load_u32(body + 4, recording->swap);
	if (!attr_size)
		attr_size = PERF_ATTR_SIZE_VER0;
	if (attr_size > size || attr_read(&attr, body, attr_size, recording->swap) < 0)
		return -EINVAL;
	recording_add_event(recording, &attr, body + attr_size, (size - attr_size) / 8);
	return 0;
}

// Only old pipes have these; the names are given to the events once its beginning is read.
static int take_event_type(struct recording *recording, const uint8_t *body, size_t size)
{
	enum { NAMES_MAX = 4096 };
	struct event_type_name type = {0};
	const char *name = (const char *)body + 8;

	if (size < 8 + 1)
		return -EINVAL;
	if (recording->private->type_names.n == NAMES_MAX)
		return 0;
	type.id = load_u64(body, recording->swap);
	type.name = arena_strdup(&recording->arena, (struct str){name, strnlen(name, size - 8)});
	vec_push(&recording->private->type_names, type);
	return 0;
}

static const char *cpu_list(struct recording *recording, struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);
	uint16_t type, n;
	struct out out;
	const char *text = NULL;

	if (!p)
		return NULL;
	memcpy(&type, p, 2);
	memcpy(&n, p + 2, 2);
	if (c->swap) {
		type = __builtin_bswap16(type);
		n = __builtin_bswap16(n);
	}
	out_init_memory(&out);
	if (type == 0) { // PERF_CPU_MAP__CPUS: n of u16
		for (unsigned i = 0; i < n && (p = cursor_bytes(c, 2)); i++) {
			uint16_t cpu;

			memcpy(&cpu, p, 2);
			out_printf(&out, "%s%u", i ? "," : "",
				   c->swap ? __builtin_bswap16(cpu) : cpu);
		}
		text = out.n ? arena_strdup(&recording->arena, (struct str){out.buf, out.n}) : "";
	}
	out_done(&out);
	return text;
}

enum { UPDATE_UNIT, UPDATE_SCALE, UPDATE_NAME, UPDATE_CPUS };

static int take_event_update(struct recording *recording, const uint8_t *body, size_t size)
{
	struct cursor c = cursor_of(body, size, recording->swap);
	uint64_t type = cursor_u64(&c), id = cursor_u64(&c), bits;
	struct event *event = recording_event_by_id(recording, id);
	const char *text = NULL;

	if (c.bad)
		return -EINVAL;
	if (!event)
		return 0;
	if (type == UPDATE_UNIT || type == UPDATE_NAME)
		text = arena_strdup(&recording->arena,
				    (struct str){(const char *)c.at,
						 strnlen((const char *)c.at, cursor_left(&c))});
	switch (type) {
	case UPDATE_UNIT:
		event->unit = text;
		break;
	case UPDATE_NAME:
		event->name = text;
		event->name_stored = true;
		break;
	case UPDATE_SCALE:
		bits = cursor_u64(&c);
		if (!c.bad)
			memcpy(&event->scale, &bits, 8);
		break;
	case UPDATE_CPUS:
		event->own_cpus = cpu_list(recording, &c);
		break;
	}
	return c.bad ? -EINVAL : 0;
}

static int take_feature(struct recording *recording, const uint8_t *body, size_t size)
{
	uint64_t id;

	if (size < 8)
		return -EINVAL;
	id = load_u64(body, recording->swap);
	if (!id ||
	    id >= FEATURE_LAST) // the end mark of the perf that wrote it is one more than its last
		return 0;
	body += 8;
	size -= 8;
	if (!recording->private->simple || recording->private->chunked ||
	    recording->private->unpacker.n)
		body = arena_memdup(&recording->arena, body, size);
	if (feature_take(recording, (uint32_t)id, body, size) < 0 && size)
		inform("%s: the feature %s is malformed", recording->path,
		       feature_name((uint32_t)id));
	return 0;
}

static int take_build_id(struct recording *recording, const uint8_t *body, size_t size)
{
	return build_id_take(recording, body - 8, size + 8);
}

static int (*const header_takers[RECORD_MAX - RECORD_HEADER_ATTR])(struct recording *,
								   const uint8_t *, size_t) = {
	[RECORD_HEADER_ATTR - RECORD_HEADER_ATTR] = take_attr,
	[RECORD_HEADER_EVENT_TYPE - RECORD_HEADER_ATTR] = take_event_type,
	[RECORD_EVENT_UPDATE - RECORD_HEADER_ATTR] = take_event_update,
	[RECORD_HEADER_FEATURE - RECORD_HEADER_ATTR] = take_feature,
	[RECORD_HEADER_BUILD_ID - RECORD_HEADER_ATTR] = take_build_id,
};

void header_record_take(struct recording *recording, const struct raw_record *record)
{
	const uint32_t type = record->type;
	int (*taker)(struct recording *, const uint8_t *, size_t) =
		type < RECORD_MAX ? header_takers[type - RECORD_HEADER_ATTR] : NULL;

	if (taker && taker(recording, record->p + 8, record->size - 8) < 0)
		recording_damage(recording, false, "the %s record at offset %llu is malformed",
				 record_type_name(type), (unsigned long long)record->offset);
}
