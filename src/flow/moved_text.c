// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/moved_text.h"
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/err.h"
#include "abi/record.h"
#include "base/file.h"
#include "base/hash.h"
#include "flow/synthesize.h"
#include "obj/elf.h"

enum { PAGE = 4096, PAGES = 5 };

// Maps begin at page borders, segments need not.
static uint64_t page_of(uint64_t n)
{
	return n & ~(uint64_t)(PAGE - 1);
}

static bool is_same_code(const struct elf *elf, const struct moved_text *text, uint64_t offset)
{
	auto_free char *path = text_dup_fmt("/proc/%d/mem", (int)text->pid);
	auto_close int mem = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t size = text->end - text->start;
	char page[PAGE];

	if (mem < 0 || offset > elf->n || elf->n - offset < PAGE || size < PAGE)
		return false;
	// Behind the file's end a last page has nothing to be compared with.
	size = size < elf->n - offset ? size : elf->n - offset;
	for (uint64_t i = 0; i < PAGES; i++) {
		uint64_t at = (size - PAGE) / (PAGES - 1) * i;

		if (pread(mem, page, PAGE, (off_t)(text->start + at)) != PAGE ||
		    memcmp(page, elf->p + offset + at, PAGE))
			return false;
	}
	return true;
}

// Where the segment of code that has an address in the file's own terms has it in the file.
static bool offset_of(const struct elf *elf, uint64_t addr, uint64_t *ret)
{
	struct elf_segment segment;

	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		if (segment.type != PT_LOAD || !(segment.flags & PF_X) ||
		    addr < page_of(segment.vaddr) || addr >= segment.vaddr + segment.file_size)
			continue;
		*ret = addr - page_of(segment.vaddr) + page_of(segment.offset);
		return true;
	}
	return false;
}

static bool find(const struct elf *elf, const struct moved_text *text, uint64_t *ret)
{
	struct elf_segment segment;
	uint64_t offset;

	// Some pages belong to two segments, which lie apart in memory.
	for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
		uint64_t addr = text->start - text->beside + text->beside_pgoff + segment.vaddr -
				segment.offset;

		if (segment.type != PT_LOAD || text->beside_pgoff < page_of(segment.offset) ||
		    text->beside_pgoff >= segment.offset + segment.file_size ||
		    !offset_of(elf, addr, &offset) || !is_same_code(elf, text, offset))
			continue;
		*ret = offset;
		return true;
	}
	return false;
}

bool moved_text_find(const struct moved_text *text, uint64_t *ret)
{
	auto_free char *path = text_dup_fmt("/proc/%d/root%s", (int)text->pid, text->path);
	struct mapped file;
	struct elf elf;
	bool found;

	if (file_map_plain(&file, path) < 0) {
		err_clear();
		return false;
	}
	found = elf_init(&elf, file.p, file.n) == 0 && find(&elf, text, ret);
	file_unmap(&file);
	return found;
}

// Compilers map code again and again; programs move theirs when they begin.
enum { MOST_LOOKS = 32 };

static const struct record_mmap2 *anonymous_code(const struct perf_event_header *header)
{
	const struct record_mmap2 *map = (const void *)header;

	return header->type == PERF_RECORD_MMAP2 && !(header->misc & PERF_RECORD_MISC_MMAP_DATA) &&
			       record_is_whole(header) &&
			       text_starts(record_text(header, map->filename), "//anon")
		       ? map
		       : NULL;
}

static uint64_t key_of(const struct record_mmap2 *map)
{
	return hash_mix(map->pid, map->start);
}

static int keep(void *arg, const struct perf_event_header *header)
{
	void **ret = arg;

	free(*ret);
	*ret = xmemdup(header, header->size);
	return 0;
}

static void look(struct moved_texts *texts, const struct record_mmap2 *map)
{
	uint64_t *looks = map_at(&texts->looks, map->pid, NULL);
	void *found = NULL;
	const struct synth synth = {.root = "", .emit = keep, .arg = &found};

	if ((*looks)++ >= MOST_LOOKS || !map->pid)
		return;
	synth_moved_text(&synth, (pid_t)map->pid, map->start);
	free(map_find_ptr(&texts->found, key_of(map)));
	map_set_ptr(&texts->found, key_of(map), found);
}

void moved_texts_look(struct moved_texts *texts, const struct perf_event_header *header)
{
	const struct record_mmap2 *map = anonymous_code(header);

	if (map)
		look(texts, map);
}

const struct perf_event_header *moved_texts_record(struct moved_texts *texts,
						   const struct perf_event_header *header,
						   size_t trailer_bytes)
{
	const struct record_mmap2 *map = anonymous_code(header);
	const struct perf_event_header *found;
	struct perf_event_header *record;

	if (!map || header->size < trailer_bytes)
		return NULL;
	if (!map_find_ptr(&texts->found, key_of(map)))
		look(texts, map);
	found = map_find_ptr(&texts->found, key_of(map));
	if (!found)
		return NULL;
	record = texts->record = xrealloc(texts->record, found->size + trailer_bytes);
	memcpy(record, found, found->size);
	memcpy((char *)record + found->size, (const char *)header + header->size - trailer_bytes,
	       trailer_bytes);
	record->size = (uint16_t)(found->size + trailer_bytes);
	return record;
}

void moved_texts_done(struct moved_texts *texts)
{
	struct map_slot slot;

	for (size_t i = 0; map_next(&texts->found, &i, &slot);)
		free((void *)(uintptr_t)slot.value);
	map_done(&texts->found);
	map_done(&texts->looks);
	free(texts->record);
}
