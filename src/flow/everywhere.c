// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/everywhere.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/num.h"
#include "obj/elf.h"
#include "sys/perf.h"
#include "sys/tracefs.h"
#include <sched.h>
#include <unistd.h>

enum { EVENTS_MAX = 64 << 20, ID_MAX = 64 };

static bool read_id(const struct tracefs *tracefs, struct str event, uint64_t *ret)
{
	auto_free char *path = text_dup_fmt("events/%.*s/id", STR_FMT(event)), *text = NULL;
	size_t n;

	return tracefs_read(tracefs, path, ID_MAX, &text, &n) >= 0 &&
	       num_parse_u64(str_trim((struct str){text, n}), ret) == 0;
}

// The files of all probes, of "p:GROUP/NAME FILE:0xOFFSET ...".
static void learn_files(struct everywhere *everywhere, const struct tracefs *tracefs)
{
	auto_free char *text = NULL;
	struct str rest;
	size_t n;

	everywhere->knows_files = true;
	if (tracefs_read(tracefs, "uprobe_events", EVENTS_MAX, &text, &n) < 0)
		return;
	for (rest = (struct str){text, n}; rest.p;) {
		struct str line = str_cut(&rest, '\n'), event = str_cut(&line, ' '), place;
		uint64_t id;

		(void)str_cut(&event, ':');
		if (!event.p || !line.p || !read_id(tracefs, event, &id))
			continue;
		place = str_cut(&line, ' ');
		while (place.n && place.p[place.n - 1] != ':')
			place.n--;
		if (place.n > 1 && !map_find(&everywhere->files, id))
			map_set_ptr(&everywhere->files, id,
				    str_dup((struct str){place.p, place.n - 1}));
	}
}

static bool has_pie_flag(const struct elf *elf)
{
	size_t size = elf->is_64bit ? 16 : 8;
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.type != PT_DYNAMIC || segment.offset > elf->n ||
		    segment.file_size > elf->n - segment.offset)
			continue;
		for (size_t at = 0; at + size <= segment.file_size; at += size) {
			const uint8_t *entry = elf->p + segment.offset + at;

			if (elf_word(elf, entry) == DT_FLAGS_1)
				return elf_word(elf, entry + size / 2) & DF_1_PIE;
		}
	}
	return false;
}

static bool is_program(const char *path)
{
	struct mapped file;
	struct elf elf;
	bool is;

	if (file_map_plain(&file, path) < 0) {
		err_clear();
		return false;
	}
	is = elf_init(&elf, file.p, file.n) == 0 && (elf.type == ET_EXEC || has_pie_flag(&elf));
	file_unmap(&file);
	return is;
}

static void open_starts(struct everywhere *everywhere, const struct tracefs *tracefs,
			const struct target *target)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .inherit = 1};
	uint64_t id;

	if (everywhere->starts.n || !read_id(tracefs, str_of("task/task_newtask"), &id))
		return;
	attr.config = id;
	vec_each(pid_t, thread, &target->threads) {
		int fd = perf_open(&attr, *thread, -1, -1, 0);

		if (fd < 0)
			continue;
		vec_push(&everywhere->starts, fd);
		// CLONE_THREAD: threads share their breakpoints.
		if (perf_set_filter(fd, "!(clone_flags & 0x10000)", "task:task_newtask") < 0)
			err_clear();
	}
}

void everywhere_add(struct everywhere *everywhere, const struct perf_event_attr *opened,
		    const struct target *target)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .config = opened->config,
				       .disabled = 1};
	const char *path;
	struct tracefs *tracefs;
	int fd = -1;

	if (opened->type != PERF_TYPE_TRACEPOINT || !opened->inherit || target->system_wide ||
	    (everywhere->knows_files && !map_find(&everywhere->files, opened->config)))
		return;
	if (tracefs_enter(&tracefs, NULL) < 0) {
		err_clear();
		return;
	}
	if (!everywhere->knows_files)
		learn_files(everywhere, tracefs);
	path = map_find_ptr(&everywhere->files, opened->config);
	if (path && is_program(path))
		fd = perf_open(&attr, -1, sched_getcpu(), -1, 0);
	if (fd >= 0) {
		vec_push(&everywhere->fds, fd);
	} else if (path) {
		everywhere->may_miss = true;
		open_starts(everywhere, tracefs, target);
	}
	tracefs_leave(tracefs);
}

void everywhere_done(struct everywhere *everywhere)
{
	uint64_t count, total = 0;
	struct map_slot slot;

	vec_each(int, fd, &everywhere->fds)
		close(*fd);
	vec_each(int, fd, &everywhere->starts) {
		if (read(*fd, &count, sizeof(count)) == sizeof(count))
			total += count;
		close(*fd);
	}
	if (everywhere->may_miss && total)
		warn("Processes were started (%llu): where several run at a time, the kernel may have missed hits of a library's probe in "
		     "some of them; of everybody (-a) it misses none",
		     (unsigned long long)total);
	vec_done(&everywhere->fds);
	vec_done(&everywhere->starts);
	for (size_t i = 0; map_next(&everywhere->files, &i, &slot);)
		free((void *)(uintptr_t)slot.value);
	map_done(&everywhere->files);
	*everywhere = (struct everywhere){0};
}
