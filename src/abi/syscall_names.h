// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of values that have names, for syscall_value.c.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum names_form {
	NAMES_ONE,     // one of them; others in decimal
	NAMES_ONE_HEX, // others in hex
	NAMES_FLAGS,   // all whose bits are set, in the table's order, the rest in hex
};

struct value_name {
	uint64_t value;
	const char *name;
};

struct value_names {
	const char *prefix; // of the names in C
	const struct value_name *names;
	uint16_t n;
	uint8_t form; // enum names_form
	bool shows_zero;
};

// By enum syscall_kind; no names: the kind is not a plain table.
const struct value_names *value_names(unsigned kind);
// Of an ioctl by its type and number (the size is left out, it differs between machines); NULL: not known.
const char *ioctl_name(unsigned type, unsigned number);
