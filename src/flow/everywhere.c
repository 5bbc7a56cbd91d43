// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/everywhere.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/num.h"
#include "obj/elf.h"
#include "sys/perf.h"
#include "sys/probe_line.h"
#include "sys/tracefs.h"
#include <sched.h>
#include <unistd.h>

// The files of all probes.
static void learn_files(struct everywhere *everywhere, const struct tracefs *tracefs)
{
	auto_free char *text = NULL;
	struct str rest;
	size_t n;

	everywhere->knows_files = true;
	if (tracefs_read(tracefs, "uprobe_events", &text, &n) < 0)
		return;
	for (rest = (struct str){text, n}; rest.p;) {
		struct probe_line probe;
		uint64_t id;

		if (!probe_line_parse(str_cut(&rest, '\n'), true, &probe))
			continue;
		auto_free char *group = str_dup(probe.group), *event = str_dup(probe.event);
		if (tracefs_read_id(tracefs, group, event, &id) == 0 &&
		    !map_find(&everywhere->files, id))
			map_set_ptr(&everywhere->files, id, str_dup(probe.path));
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

	if (everywhere->starts.n || tracefs_read_id(tracefs, "task", "task_newtask", &id) < 0)
		return;
	attr.config = id;
	vec_each(pid_t, thread, &target->threads) {
		const struct perf_open_at at = {.pid = *thread, .cpu = -1, .group_fd = -1};
		int fd = perf_open(&attr, &at);

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
	const struct perf_open_at here = {.pid = -1, .cpu = sched_getcpu(), .group_fd = -1};
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
		fd = perf_open(&attr, &here);
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
		say("Processes were started (%llu): where several run at a time, the kernel may have missed hits of a library's probe in "
		    "some of them; of everybody (-a) it misses none",
		    (unsigned long long)total);
	vec_done(&everywhere->fds);
	vec_done(&everywhere->starts);
	for (size_t i = 0; map_next(&everywhere->files, &i, &slot);)
		free((void *)(uintptr_t)slot.value);
	map_done(&everywhere->files);
	*everywhere = (struct everywhere){0};
}
