// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of code that nobody describes (what JIT compilers made, trampolines, assembly), by its instructions.
#include "base/hash.h"
#include "obj/cfi_code.h"
#include "obj/x86.h"
#include "sym/jit.h"
#include "sym/unwind_walk.h"
#include <sys/uio.h>

enum {
	BEFORE = 4096,
	AHEAD = 4096,
	PAGE = 4096,
	PAGES = 512, // 2 MB
	MOST_READ = 3 * PAGE,
};

// Rules that were made, each once.
struct unwind_made {
	struct unwind_made *next;
	union {
		uint64_t words[CFI_CODE_WORDS];
		struct cfi_rule rule;
	};
};

void unwind_made_free(struct unwind_made *made)
{
	while (made) {
		struct unwind_made *next = made->next;

		free(made);
		made = next;
	}
}

// What was read of programs' memory lately, for when they have ended; direct mapped.
struct unwind_page {
	uint64_t addr, space; // space: an id, 0: empty
	uint8_t bytes[PAGE];
};

static struct unwind_page *page_of(const struct walk *w, uint64_t addr)
{
	if (!w->unwinder->pages)
		w->unwinder->pages = xcalloc(PAGES, sizeof(*w->unwinder->pages));
	return &w->unwinder->pages[hash_mix(addr, w->task->space->id) % PAGES];
}

static size_t read_ended(const struct walk *w, uint64_t addr, uint8_t *ret, size_t size)
{
	size_t n = 0;

	while (n < size) {
		uint64_t in = (addr + n) % PAGE, at = addr + n - in;
		const struct unwind_page *page = page_of(w, at);
		size_t some = MIN(size - n, PAGE - in);

		if (page->space != w->task->space->id || page->addr != at)
			break;
		memcpy(ret + n, page->bytes + in, some);
		n += some;
	}
	return n;
}

static size_t read_memory(const struct walk *w, uint64_t addr, uint8_t *ret, size_t size)
{
	uint8_t bytes[MOST_READ];
	uint64_t start = addr - addr % PAGE, in = addr - start;
	size_t wanted = MIN((in + size + PAGE - 1) / PAGE * PAGE, MOST_READ);
	struct iovec to = {bytes, wanted}, from = {(void *)(uintptr_t)start, wanted};
	ssize_t n = process_vm_readv((pid_t)w->task->pid, &to, 1, &from, 1, 0);

	if (n < PAGE)
		return read_ended(w, addr, ret, size);
	for (size_t at = 0; at + PAGE <= (size_t)n; at += PAGE) {
		struct unwind_page *page = page_of(w, start + at);

		page->addr = start + at;
		page->space = w->task->space->id;
		memcpy(page->bytes, bytes + at, PAGE);
	}
	size = MIN(size, (size_t)n - in);
	memcpy(ret, bytes + in, size);
	return size;
}

size_t walk_read_code(const struct walk *w, uint64_t addr, void *ret, size_t size)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, addr);
	const struct unwind_dso *dso;
	struct str bytes;
	uint64_t at;

	if (!map)
		return 0;
	size = MIN(size, map->end - addr);
	at = mapping_addr(map, addr);
	dso = unwind_dso_of(w->unwinder, map->dso);
	if (dso->has_source) {
		bytes = (struct str){(const char *)dso->source.elf.p, dso->source.elf.n};
		at = MIN(at, bytes.n);
		bytes = (struct str){bytes.p + at, bytes.n - at};
	} else {
		bytes = jit_bytes(w->unwinder->sym, map->dso, at);
	}
	if (bytes.n) {
		size = MIN(size, bytes.n);
		memcpy(ret, bytes.p, size);
		return size;
	}
	return w->unwinder->is_live && w->task->pid ? read_memory(w, addr, ret, size) : 0;
}

// Is the first thing that the code at `pc` does to call what makes a function's frame?
static bool calls_frame_maker(const struct walk *w, uint64_t pc, const struct code_text *text)
{
	enum { FIRST = 4, CALL = 5 }; // instructions, bytes
	uint8_t code[AHEAD];
	struct unwind_made made;
	size_t at = text->at;
	int32_t by;

	for (unsigned i = 0; i < FIRST; i++) {
		const struct x86 x = x86_decode(text->p + at, text->n - at);

		if (x.kind == X86_CALL && text->p[at] == 0xe8) {
			memcpy(&by, text->p + at + 1, 4);
			pc += at - text->at + CALL + (uint64_t)(int64_t)by;
			const struct code_text maker = {.p = code,
							.n = walk_read_code(w, pc, code,
									    sizeof(code))};
			return cfi_of_code(&maker, made.words) && made.rule.flags & CFI_MAKES_FRAME;
		}
		if (!x.length || x.kind != X86_OTHER || x.reg == X86_SP || x.reg == X86_FP)
			return false;
		at += x.length;
	}
	return false;
}

const struct cfi_rule *walk_rule_of_code(const struct walk *w, uint64_t pc, bool is_leaf)
{
	uint8_t code[BEFORE + AHEAD];
	struct code_text text = {.p = code, .is_return = !is_leaf};
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, pc);
	struct unwind_made new = {0};

	if (w->machine->code != EM_X86_64 || !map)
		return NULL;
	text.at = MIN(pc - map->start, BEFORE);
	text.n = walk_read_code(w, pc - text.at, code, text.at + AHEAD);
	if (text.n <= text.at)
		return NULL;
	if (is_leaf && calls_frame_maker(w, pc, &text))
		return &cfi_no_frame;
	if (!cfi_of_code(&text, new.words))
		return NULL;
	for (struct unwind_made *made = w->unwinder->made; made; made = made->next) {
		if (memcmp(made->words, new.words, sizeof(new.words)) == 0)
			return &made->rule;
	}
	new.next = w->unwinder->made;
	w->unwinder->made = xmemdup(&new, sizeof(new));
	return &w->unwinder->made->rule;
}
