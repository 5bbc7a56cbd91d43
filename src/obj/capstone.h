// SPDX-License-Identifier: GPL-2.0-or-later
// libcapstone's functions, loaded when the first instruction is to be decoded.
#pragma once
#ifdef HAVE_CAPSTONE
#include <capstone/capstone.h>
#include "base/library.h"

struct capstone {
	__typeof__(cs_open) *open;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_insn_group) *insn_group;
	__typeof__(cs_reg_name) *reg_name;
	__typeof__(cs_free) *free;
	__typeof__(cs_close) *close;
	csh handle; // what `open` gave
};

static inline bool capstone_load(struct capstone *ret)
{
#define CAPSTONE_FILE(major) CAPSTONE_FILE_(major)
#define CAPSTONE_FILE_(major) "libcapstone.so." #major
	static const char *const names[] = {"cs_open",	      "cs_option",     "cs_malloc",
					    "cs_disasm_iter", "cs_insn_group", "cs_reg_name",
					    "cs_free",	      "cs_close"};

	_Static_assert(offsetof(struct capstone, handle) == sizeof(names), "one pointer a name");
	return library_load(CAPSTONE_FILE(CS_API_MAJOR), names, sizeof(names) / sizeof(*names), ret);
}
#endif
