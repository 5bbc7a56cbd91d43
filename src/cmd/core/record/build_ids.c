// SPDX-License-Identifier: GPL-2.0-or-later
// Build-ids of what was mapped: read at the end, once a file.
#include "base/file.h"
#include "cmd/core/record/record.h"
#include "obj/elf.h"
#include "sym/idcache.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { LARGEST_NOTES = 1 << 16 };

size_t build_id_of_file(const char *path, uint8_t ret[20])
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct mapped image = {0};
	struct stat st;
	struct elf elf;
	size_t n = 0;

	// Devices and fifos are mapped too, and some block or act when they are read.
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < 64)
		return 0;
	if (file_map_fd(&image, fd, path) < 0)
		return 0;
	if (!elf_init(&elf, image.p, image.n))
		n = elf_build_id(&elf, ret);
	file_unmap(&image);
	return n;
}

static bool of_notes(const char *path, struct build_id *ret)
{
	auto_free char *notes = NULL;
	size_t size;

	if (file_read(path, LARGEST_NOTES, &notes, &size) < 0)
		return false;
	ret->n = (uint8_t)notes_build_id((struct str){notes, size}, false, ret->bytes);
	return ret->n;
}

static void add(struct recorder *recorder, uint16_t misc, const char *name, const struct build_id *id)
{
	struct recorded_build_id entry = {.pid = -1, .misc = misc, .id_size = id->n, .name = name};

	memcpy(entry.id, id->bytes, id->n);
	writer_build_id(recorder->writer, &entry);
}

static void add_modules(struct recorder *recorder)
{
	for (size_t i = 1; i < recorder->modules.strings.n; i++) {
		const char *path = recorder->modules.strings.v[i].p, *base = text_base_name(path);
		char name[256], notes[320];
		struct build_id id;

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(base + (*base == '['), ".]"),
			 base + (*base == '['));
		for (char *p = name; *p; p++)
			*p = *p == '-' ? '_' : *p;
		snprintf(notes, sizeof(notes), "/sys/module/%s/notes/.note.gnu.build-id", name);
		if (of_notes(notes, &id))
			add(recorder, PERF_RECORD_MISC_KERNEL, path, &id);
	}
}

static bool is_same_id(const struct build_id *a, const struct build_id *b)
{
	return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

static void add_file(struct recorder *recorder, struct held_file *file, struct map *by_name)
{
	const struct file_facts *facts = &file->facts, *first;
	bool is_new;
	uint64_t *at = map_at(by_name, intern_text(&recorder->dsos, facts->name), &is_new);

	if (is_new)
		*at = (uintptr_t)facts;
	first = (const void *)(uintptr_t)*at;
	// The table tells files apart by name, so the first one has it; of the others, and where it does not tell all, a line says more.
	if (is_new && facts->build_id.n)
		add(recorder, PERF_RECORD_MISC_USER, facts->name, &facts->build_id);
	if (!file_id_known(&facts->id) ||
	    (is_new ? !facts->is_lost && facts->build_id.n && !facts->path
		    : is_same_id(&first->build_id, &facts->build_id) && facts->build_id.n))
		return;
	auto_free char *line = file_facts_text(facts);
	if (line)
		writer_note(recorder->writer, "%s", line);
}

static void note_perfmap(void *arg, const struct file_facts *facts)
{
	auto_free char *line = file_facts_text(facts);

	if (line)
		writer_note(arg, "%s", line);
}

void build_ids_add(struct recorder *recorder)
{
	struct build_id kernel;
	struct map by_name = {0};

	if (kernel_build_id("", &kernel))
		add(recorder, PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]", &kernel);
	add_modules(recorder);
	vec_each(struct held_file *, file, &recorder->held->files) {
		held_look(*file);
		add_file(recorder, *file, &by_name);
	}
	map_done(&by_name);
	held_perfmaps_each(recorder->held, note_perfmap, recorder->writer);
}
