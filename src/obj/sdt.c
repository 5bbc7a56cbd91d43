// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/sdt.h"
#include <stdio.h>
#include "base/alloc.h"
#include "base/num.h"

enum { NOTE_TYPE = 3 };

bool sdt_notes_init(struct sdt_notes *ret, const struct elf *elf)
{
	struct elf_section section;

	*ret = (struct sdt_notes){.elf = elf};
	if (!elf_find_section(elf, ".note.stapsdt", &section) || section.type != SHT_NOTE)
		return false;
	if (!elf_find_section(elf, ".stapsdt.base", &ret->base))
		ret->base.index = 0;
	if (!elf_find_section(elf, ".probes", &ret->probes))
		ret->probes.index = 0;
	ret->rest = elf_content(elf, &section);
	return ret->rest.n > 0;
}

// A text that ends inside; NULL otherwise.
static const char *cut_text(struct str *rest)
{
	const char *end = rest->n ? memchr(rest->p, '\0', rest->n) : NULL, *text = rest->p;

	if (!end)
		return NULL;
	rest->n -= (size_t)(end + 1 - rest->p);
	rest->p = end + 1;
	return text;
}

static bool file_offset(const struct elf *elf, uint64_t *addr)
{
	struct elf_segment segment;

	if (!elf_segment_of(elf, *addr, &segment))
		return false;
	*addr = *addr - segment.vaddr + segment.offset;
	return true;
}

static bool parse(struct sdt_notes *notes, struct str description, struct sdt_note *ret)
{
	size_t size = notes->elf->is_64bit ? 8 : 4;
	uint64_t base, semaphore;

	if (description.n < 3 * size)
		return false;
	ret->location = elf_word(notes->elf, description.p);
	base = elf_word(notes->elf, description.p + size);
	semaphore = elf_word(notes->elf, description.p + 2 * size);
	description.p += 3 * size;
	description.n -= 3 * size;
	ret->provider = cut_text(&description);
	ret->name = ret->provider ? cut_text(&description) : NULL;
	ret->arguments = ret->name ? cut_text(&description) : NULL;
	if (!ret->name || !*ret->provider || !*ret->name)
		return false;
	if (!ret->arguments)
		ret->arguments = "";
	// prelink moves the sections, not what stands in the note
	if (notes->base.index && base) {
		ret->location += notes->base.addr - base;
		if (semaphore)
			semaphore += notes->base.addr - base;
	}
	if (!file_offset(notes->elf, &ret->location))
		return false;
	ret->semaphore = semaphore && file_offset(notes->elf, &semaphore) ? semaphore : 0;
	return true;
}

bool sdt_notes_next(struct sdt_notes *notes, struct sdt_note *ret)
{
	enum { HEAD = 12 };

	while (notes->rest.n >= HEAD) {
		uint64_t name_n = elf_u32(notes->elf, notes->rest.p);
		uint64_t text_n = elf_u32(notes->elf, notes->rest.p + 4);
		uint32_t type = elf_u32(notes->elf, notes->rest.p + 8);
		uint64_t text_at = HEAD + ((name_n + 3) & ~3ull);
		uint64_t size = text_at + ((text_n + 3) & ~3ull);
		const char *p = notes->rest.p;
		bool is_whole = text_at + text_n <= notes->rest.n;

		if (!is_whole)
			break;
		size = MIN(size, notes->rest.n);
		notes->rest.p += size;
		notes->rest.n -= size;
		if (type == NOTE_TYPE && name_n == 8 && memcmp(p + HEAD, "stapsdt", 8) == 0 &&
		    parse(notes, (struct str){p + text_at, text_n}, ret))
			return true;
	}
	notes->rest.n = 0;
	return false;
}

struct reg_name {
	const char *from, *to;
};

static const struct reg_name x86_names[] = {
	{"rax", "ax"}, {"eax", "ax"}, {"ax", "ax"},  {"al", "ax"},  {"rbx", "bx"}, {"ebx", "bx"},
	{"bx", "bx"},  {"bl", "bx"},  {"rcx", "cx"}, {"ecx", "cx"}, {"cx", "cx"},  {"cl", "cx"},
	{"rdx", "dx"}, {"edx", "dx"}, {"dx", "dx"},  {"dl", "dx"},  {"rsi", "si"}, {"esi", "si"},
	{"si", "si"},  {"sil", "si"}, {"rdi", "di"}, {"edi", "di"}, {"di", "di"},  {"dil", "di"},
	{"rbp", "bp"}, {"ebp", "bp"}, {"bp", "bp"},  {"bpl", "bp"}, {"rsp", "sp"}, {"esp", "sp"},
	{"sp", "sp"},  {"spl", "sp"}, {"rip", "ip"},
};

enum { REGISTER_SIZE = 8 };

static bool x86_register(struct str name, char ret[REGISTER_SIZE])
{
	uint64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(x86_names); i++) {
		if (str_is(name, x86_names[i].from)) {
			snprintf(ret, REGISTER_SIZE, "%s", x86_names[i].to);
			return true;
		}
	}
	// r8 to r15, and their parts r8d, r8w, r8b
	if (name.n > 2 && strchr("dwb", name.p[name.n - 1]))
		name.n--;
	if (name.n < 2 || name.n > 3 || name.p[0] != 'r' ||
	    num_parse_u64((struct str){name.p + 1, name.n - 1}, &n) < 0 || n < 8 || n > 15)
		return false;
	snprintf(ret, REGISTER_SIZE, "r%u", (unsigned)n);
	return true;
}

static bool arm64_register(struct str name, char ret[REGISTER_SIZE])
{
	uint64_t n;

	if (str_is(name, "sp")) {
		snprintf(ret, REGISTER_SIZE, "sp");
		return true;
	}
	if (name.n < 2 || name.n > 3 || !strchr("xw", name.p[0]) ||
	    num_parse_u64((struct str){name.p + 1, name.n - 1}, &n) < 0 || n > 30)
		return false;
	snprintf(ret, REGISTER_SIZE, "x%u", (unsigned)n);
	return true;
}

static bool decimal(struct str s, int64_t *ret)
{
	if (s.n && *s.p == '+') {
		s.p++;
		s.n--;
	}
	return s.n && num_parse_i64(s, ret) == 0;
}

// "%rax", "-8(%rbp)"
static bool x86_operand(struct str operand, char *ret, size_t ret_size)
{
	struct str inner = operand, offset = str_cut(&inner, '(');
	int64_t distance = 0;
	char reg[8];

	if (!inner.p) {
		if (operand.n < 2 || *operand.p != '%' ||
		    !x86_register((struct str){operand.p + 1, operand.n - 1}, reg))
			return false;
		return (size_t)snprintf(ret, ret_size, "%%%s", reg) < ret_size;
	}
	if (inner.n < 3 || inner.p[0] != '%' || inner.p[inner.n - 1] != ')' ||
	    !x86_register((struct str){inner.p + 1, inner.n - 2}, reg) ||
	    (offset.n && !decimal(offset, &distance)))
		return false;
	return (size_t)snprintf(ret, ret_size, "%+lld(%%%s)", (long long)distance, reg) < ret_size;
}

// "x0", "[sp]", "[x29, -8]"
static bool arm64_operand(struct str operand, char *ret, size_t ret_size)
{
	struct str name;
	int64_t distance = 0;
	char reg[8];

	if (!operand.n || *operand.p != '[')
		return arm64_register(operand, reg) &&
		       (size_t)snprintf(ret, ret_size, "%%%s", reg) < ret_size;
	if (operand.p[operand.n - 1] != ']')
		return false;
	operand = (struct str){operand.p + 1, operand.n - 2};
	name = str_trim(str_cut(&operand, ','));
	if (!arm64_register(name, reg) || (operand.p && !decimal(str_trim(operand), &distance)))
		return false;
	return (size_t)snprintf(ret, ret_size, "%+lld(%%%s)", (long long)distance, reg) < ret_size;
}

bool sdt_argument(uint16_t machine, struct str argument, char *ret, size_t ret_size)
{
	struct str operand = argument, size = str_cut(&operand, '@');
	char text[48];
	int64_t n;

	if (!operand.p || !decimal(size, &n))
		return false;
	if (n != 1 && n != 2 && n != 4 && n != 8 && n != -1 && n != -2 && n != -4 && n != -8)
		return false;
	if (machine == EM_X86_64    ? !x86_operand(operand, text, sizeof(text))
	    : machine == EM_AARCH64 ? !arm64_operand(operand, text, sizeof(text))
				    : true)
		return false;
	return (size_t)snprintf(ret, ret_size, "%s:%c%d", text, n < 0 ? 's' : 'u',
				(int)(n < 0 ? -n : n) * 8) < ret_size;
}
