// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/gopclntab.h"
#include "base/alloc.h"
#include "obj/dwarf_read.h"

enum {
	MOST_FUNCTIONS = 1 << 22,
	LONGEST_NAME = 1 << 12,
	TOP_FRAME = 1, // of a function's flags, since Go 1.17
	WRITES_SP = 2,
};

static uint64_t number(const struct gopclntab *table, uint64_t at, unsigned size)
{
	struct dwarf_reader r = dwarf_reader_at(table->bytes, at, table->swap);

	return size == 8 ? dwarf_u64(&r) : dwarf_u32(&r);
}

static bool find(const struct elf *elf, struct str *ret)
{
	static const char *const names[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	struct elf_section section;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!elf_find_section(elf, names[i], &section) || section.type == SHT_NOBITS)
			continue;
		*ret = elf_content(elf, &section);
		return true;
	}
	return false;
}

// The header's word `index` behind its first 8 bytes.
static uint64_t word(const struct gopclntab *table, unsigned index)
{
	return number(table, 8 + (uint64_t)index * table->pointer_size, table->pointer_size);
}

bool gopclntab_init(struct gopclntab *ret, const struct elf *elf)
{
	struct gopclntab table = {.swap = elf->swap};
	struct elf_section text;
	uint64_t n;

	if (!find(elf, &table.bytes) || table.bytes.n < 8)
		return false;
	table.quantum = (uint8_t)table.bytes.p[6];
	table.pointer_size = (uint8_t)table.bytes.p[7];
	if (table.pointer_size != (elf->is_64bit ? 8 : 4) || !table.quantum || table.quantum > 4)
		return false;
	n = word(&table, 0);
	switch (number(&table, 0, 4)) {
	case 0xfffffffb:
		table.version = 2;
		table.functions = 8u + table.pointer_size;
		break;
	case 0xfffffffa:
		table.version = 16;
		table.names = word(&table, 2);
		table.steps = word(&table, 5);
		table.functions = word(&table, 6);
		break;
	case 0xfffffff0:
	case 0xfffffff1:
		table.version = number(&table, 0, 4) & 1 ? 20 : 18;
		table.text = word(&table, 2);
		table.names = word(&table, 3);
		table.steps = word(&table, 6);
		table.functions = word(&table, 7);
		// May be left to the loader; C code, which comes first, makes the start of .text another one.
		if (!table.text && (elf_find_section(elf, ".init", &text) ||
				    !elf_find_section(elf, ".text", &text)))
			return false;
		table.text = table.text ? table.text : text.addr;
		break;
	default:
		return false;
	}
	// An entry is two numbers, one more of the end follows.
	if (n > MOST_FUNCTIONS || table.functions > table.bytes.n ||
	    n * (table.version >= 18 ? 8 : 2u * table.pointer_size) > table.bytes.n - table.functions)
		return false;
	table.functions_n = (uint32_t)n;
	*ret = table;
	return true;
}

static const char *name_at(const struct gopclntab *table, uint64_t at)
{
	const char *name;

	if (table->names > table->bytes.n || at >= table->bytes.n - table->names)
		return "";
	at += table->names;
	name = table->bytes.p + at;
	return memchr(name, '\0', MIN(table->bytes.n - at, (uint64_t)LONGEST_NAME)) ? name : "";
}

// Flags tell since Go 1.17; their numbers for single functions change, names don't.
static enum gopclntab_kind kind_of(const char *name, uint8_t flags)
{
	// Who called mcall waits elsewhere, or runs already on another thread: the scheduler has a life of its own.
	static const struct {
		const char *name;
		enum gopclntab_kind kind;
	} known[] = {
		{"goexit", GO_ROOT},	    {"mstart", GO_ROOT},	{"rt0_go", GO_ROOT},
		{"sigtramp", GO_PLAIN}, // the interrupted function comes next
		{"systemstack", GO_SWITCH}, {"mcall", GO_ROOT},		{"morestack", GO_SWITCH},
		{"asmcgocall", GO_SWITCH},  {"cgocallback", GO_SWITCH},
	};

	if (text_starts(name, "runtime.")) {
		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			if (strcmp(name + 8, known[i].name) == 0)
				return known[i].kind;
		}
	}
	// The program's entry: "_rt0_amd64_linux".
	if (flags & TOP_FRAME || text_starts(name, "_rt0_"))
		return GO_ROOT;
	return flags & WRITES_SP ? GO_SWITCH : GO_PLAIN;
}

bool gopclntab_function(const struct gopclntab *table, uint32_t index, struct gopclntab_function *ret)
{
	unsigned size = table->version >= 18 ? 4 : table->pointer_size;
	uint64_t entry = table->functions + (uint64_t)index * 2 * size, at, fields;
	uint64_t addr = number(table, entry, size), end = number(table, entry + 2 * size, size);
	uint8_t flags = 0;
	static const uint8_t flags_at[] = {[16] = 33, [18] = 33, [20] = 37};

	// Offsets of functions count from their table on, in the oldest from the start.
	at = number(table, entry + size, size) + (table->version == 2 ? 0 : table->functions);
	fields = at + size;
	if (end <= addr || at >= table->bytes.n || table->bytes.n - at < 48u)
		return false;
	ret->addr = table->text + addr;
	ret->end = table->text + end;
	if (ret->end <= ret->addr)
		return false;
	ret->name = name_at(table, number(table, fields, 4));
	ret->steps = number(table, fields + 12, 4);
	if (table->version >= 16)
		flags = (uint8_t)table->bytes.p[fields + flags_at[table->version]];
	ret->kind = kind_of(ret->name, flags);
	return true;
}

void gopclntab_steps(const struct gopclntab *table, const struct gopclntab_function *function,
		     struct gopclntab_steps *ret)
{
	uint64_t at = table->steps + function->steps;
	struct dwarf_reader r = dwarf_reader_at(table->bytes, at, table->swap);

	// At 0 lies nothing: the function has no steps.
	*ret = (struct gopclntab_steps){.p = function->steps ? r.p : r.end,
					.end = r.end,
					.quantum = table->quantum,
					.until = function->addr,
					.bytes = -1,
					.first = true};
}

bool gopclntab_step(struct gopclntab_steps *steps)
{
	struct dwarf_reader r = {steps->p, steps->end, false, false};
	uint32_t bytes = (uint32_t)dwarf_uleb(&r), instructions = (uint32_t)dwarf_uleb(&r);

	// Nothing changes: that is how a list ends.
	if (r.bad || (!bytes && !steps->first) || !instructions)
		return false;
	steps->bytes = (int32_t)((uint32_t)steps->bytes + ((bytes >> 1) ^ (0u - (bytes & 1))));
	steps->until += instructions * steps->quantum;
	steps->first = false;
	steps->p = r.p;
	return true;
}
