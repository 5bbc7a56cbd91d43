// SPDX-License-Identifier: GPL-2.0-or-later
// How objdump writes x86 instructions, of what libcapstone decoded (Intel syntax, with details).
#pragma once
#ifdef HAVE_CAPSTONE
#include "obj/capstone.h"
#include "obj/disasm.h"

void disasm_x86_text(const struct capstone *cs, const struct disasm_options *options,
		     const cs_insn *insn, struct out *out);
// "        # 4010 <name+0x8>" and the like.
void disasm_name(const struct disasm_options *options, uint64_t addr, struct out *out);
#endif
