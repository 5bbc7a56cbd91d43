// SPDX-License-Identifier: GPL-2.0-or-later
// Debug information in memory: DWARF 2 to 5, also split (.dwo, .dwp), packed (SHF_COMPRESSED, .zdebug_*) and with a
// supplementary file (dwz). What is read stays read: each section is unpacked, each unit looked at when it is first needed.
// Sizes and offsets are all checked; made up data costs time and memory in proportion to its size.
// Formats: dwarfstd.org, DWARF 5 (2017); gcc.gnu.org/wiki/DebugFission, DebugFissionDWP for what came before.
#pragma once
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/dwarf_read.h"
#include "obj/elf.h"
#include "obj/relocate.h"

enum dwarf_section_id {
	DWARF_INFO,
	DWARF_ABBREV,
	DWARF_STR,
	DWARF_LINE,
	DWARF_LINE_STR,
	DWARF_STR_OFFSETS,
	DWARF_ADDR,
	DWARF_RANGES,
	DWARF_RNGLISTS,
	DWARF_ARANGES,
	DWARF_CU_INDEX,
	DWARF_LOC,
	DWARF_LOCLISTS,
	DWARF_SECTIONS
};

struct dwarf_section {
	struct str content; // empty: none, or not unpacked yet
	struct elf_section packed;
	bool is_packed;	   // or has to be relocated
	uint8_t *unpacked; // owned
};

struct dwarf;
struct dwarf_unit;

// How other files are opened; what it returns lives as long as the caller of dwarf_init says. All may be NULL.
struct dwarf_files {
	void *arg;
	// The file of a split unit (unit->dwo_name, dwo_id): a .dwo or a .dwp.
	struct dwarf *(*split)(void *arg, const struct dwarf_unit *unit);
	// The supplementary file of .gnu_debugaltlink.
	struct dwarf *(*supplement)(void *arg, const char *name, struct str build_id);
};

// Where a unit's code lies.
struct dwarf_unit_range {
	uint64_t low, high; // [low, high)
	uint64_t reach;	    // the highest end up to here
	uint32_t unit;
};

struct dwarf {
	struct elf elf;
	struct dwarf_section sections[DWARF_SECTIONS];
	struct dwarf_files files;
	bool zero_is_code; // of relocatable files
	struct relocate relocate;
	bool is_split; // .dwo sections
	bool has_units, has_ranges, asked_supplement;
	struct dwarf *supplement;     // borrowed
	VEC(struct dwarf_unit) units; // in the order of .debug_info; all known once has_units
	VEC(struct dwarf_unit_range) ranges; // sorted by low, once has_ranges
	VEC(struct dwarf *) pieces; // units of a .dwp, each with its part of the sections; owned
	struct map abbrevs, lines;  // by offset
	uint64_t abbrev_budget, range_budget, line_budget; // bytes and entries that may still be read
	struct arena arena;
};

// Borrows the image. -ENOENT (no sentence) when it has no .debug_info.
int dwarf_init(struct dwarf *ret, const struct elf *elf, const struct dwarf_files *files);
void dwarf_done(struct dwarf *dwarf);
struct str dwarf_section(struct dwarf *dwarf, enum dwarf_section_id id);
// Does the image have that information, of whatever kind? Cheap.
bool dwarf_is_in(const struct elf *elf);
// The supplementary file's name and build-id; NULL when there is none.
const char *dwarf_altlink(const struct elf *elf, struct str *ret_build_id);

// Units

struct dwarf_attr {
	uint16_t name, form;
	int64_t implicit;
};
struct dwarf_abbrev {
	uint64_t code;
	uint32_t first, n;  // into attrs
	int32_t fixed_size; // bytes behind the code; -1: they vary
	int32_t sibling; // where DW_AT_sibling is behind the code, of 4 bytes and from the unit's start; -1: nowhere, or it varies
	uint16_t tag;
	bool children;
};
struct dwarf_abbrevs {
	VEC(struct dwarf_abbrev) v; // sorted by code
	VEC(struct dwarf_attr) attrs;
	bool is_dense; // code n is v[n - 1]
};

struct lines;
struct inlines;

struct dwarf_unit {
	struct dwarf *dwarf;
	uint64_t at, end, dies; // offsets in .debug_info: header, end, first entry
	uint64_t abbrev_at;
	uint16_t version;
	uint8_t address_size, offset_size, type;
	bool root_read, root_good, is_partial, asked_split;
	bool is_unplaced; // its first entry doesn't say where all of its code is
	bool has_aranges; // .debug_aranges says it
	const struct dwarf_abbrevs *abbrevs;
	const char *name, *comp_dir, *dwo_name; // NULL: none
	uint64_t dwo_id;
	uint64_t line_at; // UINT64_MAX: none
	uint64_t low_pc, str_offsets_base, addr_base, rnglists_base, ranges_base, loclists_base;
	uint64_t signature, type_at; // of a type unit: the offset of its type
	struct dwarf_unit *skeleton; // of a split unit
	struct dwarf_unit *split;    // the other way; NULL: none, or not here
	struct inlines *inlines;     // made by inlines_of
};

enum dwarf_kind {
	DWARF_NONE,
	DWARF_CONST,
	DWARF_ADDRESS,
	DWARF_ADDRESS_INDEX,
	DWARF_TEXT,	  // value.text
	DWARF_TEXT_AT,	  // offset into value.section
	DWARF_TEXT_INDEX, // through .debug_str_offsets
	DWARF_TEXT_SUPPLEMENT,
	DWARF_REF, // offset in the file's .debug_info
	DWARF_REF_SUPPLEMENT,
	DWARF_OFFSET, // into some other section
	DWARF_RANGES_INDEX,
	DWARF_BLOCK, // u bytes at text, inside of the section
	DWARF_LOCATIONS_INDEX,
	DWARF_SIGNATURE, // of a type unit
};
struct dwarf_value {
	enum dwarf_kind kind;
	enum dwarf_section_id section;
	uint64_t u;
	const char *text;
};

// All units, read once. In no order of addresses.
void dwarf_read_units(struct dwarf *dwarf);
// The unit that a .debug_info offset lies in, NULL: none.
struct dwarf_unit *dwarf_unit_of(struct dwarf *dwarf, uint64_t at);
// The unit whose code an address is; log n. NULL: none. With split units: the skeleton.
struct dwarf_unit *dwarf_unit_at(struct dwarf *dwarf, uint64_t addr);
// The unit that holds the entries: the split one if there is one, else itself; NULL when it is not here.
struct dwarf_unit *dwarf_unit_whole(struct dwarf_unit *unit);
// Reads the first entry's attributes; false when the unit makes no sense.
bool dwarf_unit_root(struct dwarf_unit *unit);

const struct dwarf_abbrevs *dwarf_abbrevs_of(struct dwarf_unit *unit); // NULL: none that makes sense
// One abbreviation without the whole table, if it stands near its beginning; the caller's to free, in v[0]. Cheap where most
// units are looked at only to see where they are.
bool dwarf_one_abbrev(struct dwarf_unit *unit, uint64_t code, struct dwarf_abbrevs *ret);
const struct dwarf_abbrev *dwarf_abbrev_find_slow(const struct dwarf_abbrevs *abbrevs, uint64_t code);
static inline const struct dwarf_abbrev *dwarf_abbrev_find(const struct dwarf_abbrevs *abbrevs,
							   uint64_t code)
{
	if (abbrevs->is_dense)
		return code - 1 < abbrevs->v.n ? &abbrevs->v.v[code - 1] : NULL;
	return dwarf_abbrev_find_slow(abbrevs, code);
}

// Entries from an offset of .debug_info to the unit's end.
struct dwarf_reader dwarf_unit_reader(const struct dwarf_unit *unit, uint64_t at);
void dwarf_read_value(struct dwarf_reader *r, const struct dwarf_unit *unit,
		      const struct dwarf_attr *attr, struct dwarf_value *ret);
// Behind the attributes of an entry. Returns where its sibling is when the compiler says so, else 0.
uint64_t dwarf_skip_entry(struct dwarf_reader *r, const struct dwarf_unit *unit,
			  const struct dwarf_abbrev *abbrev);
const char *dwarf_text(const struct dwarf_unit *unit, const struct dwarf_value *value); // NULL: none
bool dwarf_address(const struct dwarf_unit *unit, const struct dwarf_value *value, uint64_t *ret);

// The entry that a reference leads to; false: nowhere. Signatures of type units are looked for in the whole file: n units.
bool dwarf_follow(const struct dwarf_unit *unit, const struct dwarf_value *reference,
		  struct dwarf_unit **ret_unit, uint64_t *ret_at);

// The linkage name of an entry or its plain one, through DW_AT_abstract_origin and DW_AT_specification. NULL: none.
const char *dwarf_function_name(const struct dwarf_unit *unit, const struct dwarf_value *reference);

struct dwarf_pcs {
	struct dwarf_value low, high, ranges;
};
// Calls with each range of code; the marks of linkers for code that they left out are not.
typedef void dwarf_range(void *arg, uint64_t low, uint64_t high);
void dwarf_each_range(const struct dwarf_unit *unit, const struct dwarf_pcs *pcs, dwarf_range *call,
		      void *arg);
