// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/moved_text.h"
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
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
