// SPDX-License-Identifier: GPL-2.0-or-later
// Whole images: entries, types, members, variables and their places.
#include <dwarf.h>
#include "obj/type.h"
#include "obj/variable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_LOOKED_AT = 2000 };

struct fuzzed {
	const struct die *function;
	unsigned n;
};

static bool made_up_cfa(void *arg, uint64_t pc, unsigned *ret_register, int64_t *ret_offset)
{
	*ret_register = 7;
	*ret_offset = (int64_t)(pc & 63);
	return true;
}

static void ignore_name(void *arg, const char *name)
{
}

static void look_at_type(const struct die *of, unsigned depth)
{
	struct type_member member;
	struct die type;

	if (depth > 4 || !type_of(of, true, &type))
		return;
	(void)type_size(&type);
	(void)type_count(&type);
	(void)type_is_signed(&type);
	type_members(&type, ignore_name, NULL);
	if (type_member(&type, STR("next"), &member))
		look_at_type(&member.die, depth + 1);
	if (type_is_pointer(&type))
		look_at_type(&type, depth + 1);
}

static bool look_at_variable(void *arg, const struct die *variable, const struct die *scope,
			     bool inlined)
{
	struct fuzzed *fuzzed = arg;
	struct place_context context = {.function = fuzzed->function, .cfa = made_up_cfa};
	struct places places;
	struct out name;

	(void)die_entry_pc(fuzzed->function, &context.pc);
	context.at_entry = true;
	(void)variable_places(variable, &context, &places);
	(void)variable_later_places(variable, &context, &places);
	out_init_memory(&name);
	(void)type_name(variable, &name);
	out_done(&name);
	look_at_type(variable, 0);
	return ++fuzzed->n < MOST_LOOKED_AT;
}

static enum die_walk look_at_function(void *arg, const struct die *die)
{
	struct fuzzed *fuzzed = arg;
	uint64_t pc = 0;

	fuzzed->function = die;
	(void)die_name(die);
	(void)die_linkage_name(die);
	(void)die_decl_file(die);
	if (die_entry_pc(die, &pc))
		variables_at(die, pc, look_at_variable, fuzzed);
	return ++fuzzed->n < MOST_LOOKED_AT ? DIE_INSIDE : DIE_STOP;
}

// The bytes as an expression by themselves, too.
static void run_expression(const struct dwarf_unit *unit, const uint8_t *data, size_t size)
{
	const struct place_context context = {.cfa = made_up_cfa, .at_entry = true};
	struct places places;

	(void)places_of(unit, (struct str){(const char *)data, size}, &context, &places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzzed fuzzed = {0};
	struct dwarf dwarf = {0};
	struct dwarf_unit unit = {.dwarf = &dwarf, .address_size = 8, .version = 5, .offset_size = 4};
	struct elf elf;
	struct die root;

	run_expression(&unit, data, size);
	if (elf_init(&elf, data, size) < 0 || dwarf_init(&dwarf, &elf, NULL) < 0)
		return 0;
	dwarf_read_units(&dwarf);
	for (size_t i = 0; i < dwarf.units.n && fuzzed.n < MOST_LOOKED_AT; i++)
		if (die_root(&dwarf.units.v[i], &root))
			die_walk_functions(&root, look_at_function, &fuzzed);
	dwarf_done(&dwarf);
	return 0;
}
