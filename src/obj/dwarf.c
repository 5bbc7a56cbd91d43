// SPDX-License-Identifier: GPL-2.0-or-later
// Which sections of an image hold debug information, and how they are unpacked.
#include "obj/dwarf.h"
#include "base/err.h"
#include "obj/inline.h"
#include "obj/line.h"
#include "obj/unpack.h"

static const char *const names[DWARF_SECTIONS] = {
	[DWARF_INFO] = "info",	       [DWARF_ABBREV] = "abbrev",
	[DWARF_STR] = "str",	       [DWARF_LINE] = "line",
	[DWARF_LINE_STR] = "line_str", [DWARF_STR_OFFSETS] = "str_offsets",
	[DWARF_ADDR] = "addr",	       [DWARF_RANGES] = "ranges",
	[DWARF_RNGLISTS] = "rnglists", [DWARF_ARANGES] = "aranges",
	[DWARF_CU_INDEX] = "cu_index", [DWARF_LOC] = "loc",
	[DWARF_LOCLISTS] = "loclists",
};

enum { MOST_SECTIONS = 1 << 16 };
#define MOST_BYTES (4ull << 30)

// The section that a name is of, or DWARF_SECTIONS.
static unsigned section_of(const char *name, bool *ret_split)
{
	size_t n;

	if (!text_starts(name, ".zdebug_") && !text_starts(name, ".debug_"))
		return DWARF_SECTIONS;
	name = strchr(name, '_') + 1;
	for (unsigned i = 0; i < DWARF_SECTIONS; i++) {
		n = strlen(names[i]);
		if (strncmp(name, names[i], n))
			continue;
		*ret_split = strcmp(name + n, ".dwo") == 0;
		if (*ret_split || !name[n])
			return i;
	}
	return DWARF_SECTIONS;
}

// Texts end with NUL, so that an offset below n is one.
static struct str cut_text(struct str text)
{
	while (text.n && text.p[text.n - 1])
		text.n--;
	return text;
}

static bool is_text(unsigned id)
{
	return id == DWARF_STR || id == DWARF_LINE_STR;
}

static void take_section(struct dwarf *dwarf, unsigned id, const struct elf_section *found)
{
	struct dwarf_section *section = &dwarf->sections[id];

	if (section->content.n || section->is_packed)
		return;
	if (unpack_section_is_packed(found) || relocate_wanted(&dwarf->relocate, found->index)) {
		section->packed = *found;
		section->is_packed = true;
		return;
	}
	section->content = elf_content(&dwarf->elf, found);
	if (is_text(id))
		section->content = cut_text(section->content);
}

int dwarf_init(struct dwarf *ret, const struct elf *elf, const struct dwarf_files *files)
{
	bool has_plain = false, has_split = false, is_split;
	struct elf_section section;
	struct dwarf dwarf = {.elf = *elf, .zero_is_code = elf->type == ET_REL};

	if (files)
		dwarf.files = *files;
	for (uint32_t i = 1; i < MOST_SECTIONS && elf_section(elf, i, &section); i++) {
		if (section_of(section.name, &is_split) != DWARF_INFO ||
		    section.type == SHT_NOBITS || !section.size)
			continue;
		has_plain |= !is_split;
		has_split |= is_split;
	}
	if (!has_plain && !has_split)
		return -ENOENT;
	dwarf.is_split = !has_plain;
	relocate_init(&dwarf.relocate, elf);
	for (uint32_t i = 1; i < MOST_SECTIONS && elf_section(elf, i, &section); i++) {
		unsigned id;

		is_split = false;
		id = section_of(section.name, &is_split);
		if (id != DWARF_SECTIONS && section.type != SHT_NOBITS &&
		    (is_split == dwarf.is_split || (dwarf.is_split && id == DWARF_CU_INDEX)))
			take_section(&dwarf, id, &section);
	}
	*ret = dwarf;
	return 0;
}

bool dwarf_is_in(const struct elf *elf)
{
	bool is_split;
	struct elf_section section;

	for (uint32_t i = 1; i < MOST_SECTIONS && elf_section(elf, i, &section); i++) {
		if (section_of(section.name, &is_split) == DWARF_INFO &&
		    section.type != SHT_NOBITS && section.size)
			return true;
	}
	return false;
}

static void unpack_now(struct dwarf *dwarf, unsigned id)
{
	struct dwarf_section *section = &dwarf->sections[id];

	section->is_packed = false;
	section->content =
		unpack_section(&dwarf->elf, &section->packed, MOST_BYTES, &section->unpacked);
	if (section->content.n && relocate_wanted(&dwarf->relocate, section->packed.index)) {
		if (!section->unpacked)
			section->unpacked = xmemdup(section->content.p, section->content.n);
		section->content.p = (const char *)section->unpacked;
		relocate_apply(&dwarf->relocate, &dwarf->elf,
			       &(struct relocate_bytes){section->packed.index, section->unpacked,
							section->content.n});
	}
	if (is_text(id))
		section->content = cut_text(section->content);
}

struct str dwarf_section(struct dwarf *dwarf, enum dwarf_section_id id)
{
	if (dwarf->sections[id].is_packed)
		unpack_now(dwarf, id);
	return dwarf->sections[id].content;
}

const char *dwarf_altlink(const struct elf *elf, struct str *ret_build_id)
{
	struct elf_section section;
	struct str content;
	const char *nul;

	if (!elf_find_section(elf, ".gnu_debugaltlink", &section))
		return NULL;
	content = elf_content(elf, &section);
	nul = content.n ? memchr(content.p, '\0', content.n) : NULL;
	if (!nul || nul == content.p)
		return NULL;
	*ret_build_id = (struct str){nul + 1, (size_t)(content.p + content.n - nul - 1)};
	return content.p;
}

static void abbrevs_free(struct dwarf_abbrevs *abbrevs)
{
	if (!abbrevs)
		return;
	vec_done(&abbrevs->v);
	vec_done(&abbrevs->attrs);
	free(abbrevs);
}

void dwarf_done(struct dwarf *dwarf)
{
	struct map_slot slot;

	for (size_t i = 0; i < dwarf->units.n; i++)
		inlines_free(dwarf->units.v[i].inlines);
	for (size_t i = 0; map_next(&dwarf->abbrevs, &i, &slot);)
		abbrevs_free((struct dwarf_abbrevs *)(uintptr_t)slot.value);
	for (size_t i = 0; map_next(&dwarf->lines, &i, &slot);)
		lines_free((struct lines *)(uintptr_t)slot.value);
	for (size_t i = 0; i < dwarf->pieces.n; i++) {
		dwarf_done(dwarf->pieces.v[i]);
		free(dwarf->pieces.v[i]);
	}
	for (unsigned i = 0; i < DWARF_SECTIONS; i++)
		free(dwarf->sections[i].unpacked);
	relocate_done(&dwarf->relocate);
	map_done(&dwarf->abbrevs);
	map_done(&dwarf->lines);
	vec_done(&dwarf->units);
	vec_done(&dwarf->ranges);
	vec_done(&dwarf->pieces);
	arena_done(&dwarf->arena);
}
