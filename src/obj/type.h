// SPDX-License-Identifier: GPL-2.0-or-later
// Types of variables, of what they point to and consist of.
#pragma once
#include "base/out.h"
#include "obj/die.h"

// The type of a variable, member, pointer, array, without const and the like; `real`: without typedefs, too.
// False: none (void), or it makes no sense.
bool type_of(const struct die *die, bool real, struct die *ret);
// As C has it, near enough: "struct list*", "char**"; as perf probe -V shows it. false: it has no name.
bool type_name(const struct die *die, struct out *out);
// Bytes; 0: not known. Of arrays: all elements.
uint64_t type_size(const struct die *type);
// Elements of an array; 0: not known.
uint64_t type_count(const struct die *array);
bool type_is_signed(const struct die *type);
bool type_is_struct(const struct die *type);  // or class or union
bool type_is_char(const struct die *type);    // char or unsigned char, what text is made of
bool type_is_pointer(const struct die *type); // or reference

// A member, also in nameless ones inside. Static ones are none.
struct type_member {
	struct die die;
	uint64_t at; // bytes from the start
	uint32_t bits,
		bit_at; // of a bit field: how many, from `at` on (least significant first); 0: it is none
	uint32_t bytes; // of a bit field: the unit that holds it, at `at`
};
bool type_member(const struct die *type, struct str name, struct type_member *ret);
// Calls with the name of each member, for hints.
void type_members(const struct die *type, void (*call)(void *arg, const char *name), void *arg);
