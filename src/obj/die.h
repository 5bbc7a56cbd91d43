// SPDX-License-Identifier: GPL-2.0-or-later
// One entry of .debug_info after the other: children, siblings, attributes, what they refer to. Nothing is kept; an entry
// is four words. DWARF 5 chapters 2 and 3.
#pragma once
#include "obj/dwarf.h"

struct die {
	struct dwarf_unit *unit;
	uint64_t at; // offset in .debug_info
	const struct dwarf_abbrev *abbrev;
	const uint8_t *attrs; // where its attributes begin
};

// What is nested deeper is not looked at.
enum { DIE_MOST_DEPTH = 64 };

// False when there is none that makes sense.
bool die_at(struct dwarf_unit *unit, uint64_t at, struct die *ret);
bool die_root(struct dwarf_unit *unit, struct die *ret);
bool die_child(const struct die *die, struct die *ret); // the first
bool die_sibling(const struct die *die, struct die *ret); // the next; as long as the entries between are

static inline uint16_t die_tag(const struct die *die)
{
	return die->abbrev->tag;
}

// Its own attribute; false: it has none of that name (DW_AT_*).
bool die_attr(const struct die *die, uint16_t name, struct dwarf_value *ret);
// Likewise, or that of what DW_AT_abstract_origin and DW_AT_specification lead to. ret_of (may be NULL): whose it is, for
// references and texts are its unit's.
bool die_attr_through(const struct die *die, uint16_t name, struct dwarf_value *ret,
		      struct die *ret_of);
bool die_flag(const struct die *die, uint16_t name);
// A constant; false when it is none.
bool die_number(const struct die *die, uint16_t name, uint64_t *ret);
// The entry that an attribute of its own refers to.
bool die_reference(const struct die *die, uint16_t name, struct die *ret);
// Where DW_AT_abstract_origin ends.
struct die die_origin(const struct die *die);
static inline bool die_same(const struct die *a, const struct die *b)
{
	return a->unit->dwarf == b->unit->dwarf && a->at == b->at;
}

// NULL: none. Lives as long as the dwarf.
const char *die_name(const struct die *die);
const char *die_linkage_name(const struct die *die);
// Where it is declared; NULL, 0: not told.
const char *die_decl_file(const struct die *die);
uint32_t die_decl_line(const struct die *die);
const char *die_call_file(const struct die *die);
uint32_t die_call_line(const struct die *die);

// Its code.
void die_each_range(const struct die *die, dwarf_range *call, void *arg);
bool die_has_pc(const struct die *die, uint64_t pc);
// DW_AT_entry_pc, else the lowest address of its first range; false: it has no code.
bool die_entry_pc(const struct die *die, uint64_t *ret);
// Behind its highest address.
bool die_high_pc(const struct die *die, uint64_t *ret);

// Calls with each entry below one, outer ones first.
enum die_walk { DIE_INSIDE, DIE_NEXT, DIE_STOP }; // go on with its children; with its sibling; end
typedef enum die_walk die_visit(void *arg, const struct die *die);
// False when it was stopped.
bool die_walk(const struct die *die, die_visit *call, void *arg);
// Only functions (DW_TAG_subprogram), also those in namespaces, types and functions.
bool die_walk_functions(const struct die *die, die_visit *call, void *arg);
