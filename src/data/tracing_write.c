// SPDX-License-Identifier: GPL-2.0-or-later
// The copy of tracefs' formats that goes into a recording, for the tracepoints in use.
#include "base/alloc.h"
#include "data/features_write.h"
#include "sys/tracefs.h"

struct used {
	const char *system, *name;
};

static void put_size(struct out *out, uint64_t v, int size)
{
	uint32_t small = (uint32_t)v;

	if (size == 4)
		out_bytes(out, &small, 4);
	else
		out_bytes(out, &v, 8);
}

// A file with its size before it; an absent one has size 0.
static bool put_file(struct out *out, const struct tracefs *tracefs, const char *file, int size_bytes)
{
	auto_free char *text = NULL;
	size_t n = 0;
	int err = tracefs_read(tracefs, file, &text, &n);

	put_size(out, err < 0 ? 0 : n, size_bytes);
	if (err >= 0)
		out_bytes(out, text, n);
	return err >= 0;
}

// The formats of a system's events, among those that are used (which end with {NULL, NULL}).
static void put_system(struct out *out, const struct tracefs *tracefs, const struct used *used,
		       const char *system)
{
	size_t at = out->n;
	uint32_t count = 0;

	put_size(out, 0, 4);
	for (; used->system; used++) {
		auto_free char *file = text_dup_fmt("events/%s/%s/format", used->system, used->name);
		size_t before = out->n;

		if (strcmp(used->system, system))
			continue;
		if (put_file(out, tracefs, file, 8))
			count++;
		else
			out->n = before;
	}
	memcpy(out->buf + at, &count, sizeof(count));
}

static bool is_known(const struct used *used, size_t n, const char *system, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(used[i].system, system) && (!name || !strcmp(used[i].name, name)))
			return true;
	return false;
}

int tracing_data_write(struct out *out, const struct writer_event *events, size_t n, const char *root)
{
	auto_free struct used *used = xcalloc(n + 1, sizeof(*used));
	size_t used_n = 0, at;
	struct tracefs *tracefs;
	uint32_t systems = 0;
	int err;

	for (size_t i = 0; i < n; i++) {
		const struct writer_event *event = &events[i];

		if (event->attr.type != PERF_TYPE_TRACEPOINT || !event->tp_system || !event->tp_name)
			continue;
		if (!is_known(used, used_n, event->tp_system, event->tp_name))
			used[used_n++] = (struct used){event->tp_system, event->tp_name};
	}
	if (!used_n)
		return 0;
	err = tracefs_enter(&tracefs, root);
	if (err < 0)
		return err;

	out_bytes(out, "\x17\x08\x44tracing", 10);
	out_bytes(out, "0.6", 4);
	out_char(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	out_char(out, (char)sizeof(long));
	put_size(out, (uint64_t)sysconf(_SC_PAGESIZE), 4);
	out_bytes(out, "header_page", 12);
	put_file(out, tracefs, "events/header_page", 8);
	out_bytes(out, "header_event", 13);
	put_file(out, tracefs, "events/header_event", 8);
	put_system(out, tracefs, used, "ftrace");

	at = out->n;
	put_size(out, 0, 4);
	for (size_t i = 0; i < used_n; i++) {
		if (!strcmp(used[i].system, "ftrace") || is_known(used, i, used[i].system, NULL))
			continue;
		out_bytes(out, used[i].system, strlen(used[i].system) + 1);
		put_system(out, tracefs, used, used[i].system);
		systems++;
	}
	memcpy(out->buf + at, &systems, sizeof(systems));
	put_size(out, 0, 4); // no kallsyms, as perf since 4.2
	put_file(out, tracefs, "printk_formats", 4);
	put_file(out, tracefs, "saved_cmdlines", 8);
	tracefs_leave(tracefs);
	return 1;
}
