// SPDX-License-Identifier: GPL-2.0-or-later
// The operands of x86 instructions, as objdump writes them.
#include "obj/disasm_x86_parts.h"
#ifdef HAVE_CAPSTONE
#include "base/alloc.h"

static uint64_t masked(uint64_t v, unsigned size)
{
	return size && size < 8 ? v & ((UINT64_C(1) << size * 8) - 1) : v;
}

static void put_register(const struct writer *w, unsigned reg)
{
	const char *name = w->cs->reg_name(w->cs->handle, reg);

	if (w->att)
		out_char(w->out, '%');
	out_text(w->out, name ? name : "?");
}

static void put_hex(const struct writer *w, uint64_t v)
{
	out_text(w->out, "0x");
	out_hex(w->out, v);
}

static void put_signed_hex(const struct writer *w, int64_t v, bool plus)
{
	if (v < 0)
		out_char(w->out, '-');
	else if (plus)
		out_char(w->out, '+');
	put_hex(w, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static bool has_sib(const struct writer *w)
{
	return (w->x86->modrm & 7) == 4 && w->x86->modrm >> 6 != 3 && w->x86->encoding.modrm_offset;
}

// A byte for an index that names none: %riz. Bases that need the byte anyway are written without it.
static bool has_zero_index(const struct writer *w, const x86_op_mem *mem)
{
	if (mem->index || !has_sib(w) || w->x86->addr_size == 2)
		return false;
	if (!mem->base)
		return !w->options->is_64bit || w->x86->sib >> 6;
	return (w->x86->sib & 7) != 4 || w->x86->sib >> 6;
}

// Is a displacement there, be it 0?
static bool has_displacement(const struct writer *w)
{
	unsigned modrm = w->x86->modrm;

	if (!w->x86->encoding.modrm_offset)
		return false;
	if (modrm >> 6 == 1 || modrm >> 6 == 2)
		return true;
	if (modrm >> 6)
		return false;
	if (w->x86->addr_size == 2)
		return (modrm & 7) == 6;
	return (modrm & 7) == 5 || ((modrm & 7) == 4 && (w->x86->sib & 7) == 5);
}

static const char *zero_index(const struct writer *w)
{
	return w->x86->addr_size == 8 ? "riz" : "eiz";
}

static uint64_t absolute(const struct writer *w, int64_t disp)
{
	return w->options->is_64bit && w->x86->addr_size == 8 ? (uint64_t)disp : (uint32_t)disp;
}

// libcapstone 4 takes the index of some AVX-512 instructions for a vector.
static unsigned index_of(const struct writer *w, const x86_op_mem *mem)
{
	static const unsigned registers[] = {
		X86_REG_RAX, X86_REG_RCX, X86_REG_RDX, X86_REG_RBX, X86_REG_RSP, X86_REG_RBP,
		X86_REG_RSI, X86_REG_RDI, X86_REG_R8,  X86_REG_R9,  X86_REG_R10, X86_REG_R11,
		X86_REG_R12, X86_REG_R13, X86_REG_R14, X86_REG_R15,
	};
	bool is_vector = mem->index >= X86_REG_XMM0 && mem->index <= X86_REG_ZMM31;
	const char *name = x86_plain_name(w);

	if (!is_vector || strstr(name, "gather") || strstr(name, "scatter") || !w->evex[2])
		return mem->index;
	return registers[(w->x86->sib >> 3 & 7) | (w->evex[0] & 0x40 ? 0 : 8)];
}

// In 64-bit programs the others mean nothing; those of string instructions are always written.
static bool shows_segment(const struct writer *w, const x86_op_mem *mem)
{
	if (!mem->segment)
		return false;
	return !w->options->is_64bit || mem->segment == X86_REG_FS || mem->segment == X86_REG_GS ||
	       w->how == HOW_STRING;
}

static void put_memory_att(const struct writer *w, const cs_x86_op *op)
{
	const x86_op_mem *mem = &op->mem;
	unsigned index = index_of(w, mem);
	bool riz = has_zero_index(w, mem);

	if (shows_segment(w, mem)) {
		put_register(w, mem->segment);
		out_char(w->out, ':');
	}
	if (!mem->base && !mem->index && !riz) {
		put_hex(w, absolute(w, mem->disp));
		return;
	}
	if (has_displacement(w) || mem->disp)
		put_signed_hex(w, mem->disp, false);
	out_char(w->out, '(');
	if (mem->base)
		put_register(w, mem->base);
	if (mem->index || riz) {
		out_char(w->out, ',');
		if (mem->index)
			put_register(w, index);
		else
			out_printf(w->out, "%%%s", zero_index(w));
		if (w->x86->addr_size != 2)
			out_printf(w->out, ",%d", riz ? 1 << (w->x86->sib >> 6) : mem->scale);
	}
	out_char(w->out, ')');
}

static const char *size_words(unsigned size)
{
	switch (size) {
	case 1:
		return "BYTE PTR ";
	case 2:
		return "WORD PTR ";
	case 4:
		return "DWORD PTR ";
	case 6:
		return "FWORD PTR ";
	case 8:
		return "QWORD PTR ";
	case 10:
		return "TBYTE PTR ";
	case 16:
		return "XMMWORD PTR ";
	case 32:
		return "YMMWORD PTR ";
	case 64:
		return "ZMMWORD PTR ";
	default:
		return "";
	}
}

static bool has_no_size(unsigned id)
{
	static const unsigned ids[] = {
		X86_INS_LEA,	  X86_INS_INVLPG,     X86_INS_FXSAVE,	X86_INS_FXRSTOR,
		X86_INS_XSAVE,	  X86_INS_XRSTOR,     X86_INS_XSAVEC,	X86_INS_XSAVEOPT,
		X86_INS_XSAVES,	  X86_INS_XRSTORS,    X86_INS_XSAVE64,	X86_INS_XRSTOR64,
		X86_INS_XSAVEC64, X86_INS_XSAVEOPT64, X86_INS_XSAVES64, X86_INS_XRSTORS64,
		X86_INS_FXSAVE64, X86_INS_FXRSTOR64,  X86_INS_FNSTENV,	X86_INS_FLDENV,
		X86_INS_LGDT,	  X86_INS_LIDT,	      X86_INS_SGDT,	X86_INS_SIDT,
	};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

static const char *size_words_of(const struct writer *w, const cs_x86_op *op)
{
	const char *name = x86_plain_name(w);

	if (has_no_size(w->insn->id))
		return "";
	if (!strncmp(name, "prefetch", 8) || !strncmp(name, "clflush", 7))
		return size_words(1);
	if (strstr(name, "comisd"))
		return size_words(8);
	if (strstr(name, "comiss"))
		return size_words(4);
	return size_words(op->size);
}

static void put_memory_intel(const struct writer *w, const cs_x86_op *op)
{
	const x86_op_mem *mem = &op->mem;
	unsigned index = index_of(w, mem);
	bool riz = has_zero_index(w, mem), bare = !mem->base && !mem->index && !riz;

	out_text(w->out, size_words_of(w, op));
	if (shows_segment(w, mem)) {
		put_register(w, mem->segment);
		out_char(w->out, ':');
	} else if (bare) {
		out_text(w->out, "ds:");
	}
	if (bare) {
		put_hex(w, absolute(w, mem->disp));
		return;
	}
	out_char(w->out, '[');
	if (mem->base)
		put_register(w, mem->base);
	if (mem->index || riz) {
		if (mem->base)
			out_char(w->out, '+');
		if (mem->index)
			put_register(w, index);
		else
			out_text(w->out, zero_index(w));
		if (w->x86->addr_size != 2)
			out_printf(w->out, "*%d", riz ? 1 << (w->x86->sib >> 6) : mem->scale);
	}
	if (mem->base == X86_REG_RIP) {
		out_char(w->out, '+');
		put_hex(w, (uint64_t)mem->disp);
	} else if (has_displacement(w) || mem->disp) {
		put_signed_hex(w, mem->disp, true);
	}
	out_char(w->out, ']');
}

bool x86_is_branch(const struct writer *w)
{
	return w->cs->insn_group(w->cs->handle, w->insn, CS_GRP_JUMP) ||
	       w->cs->insn_group(w->cs->handle, w->insn, CS_GRP_CALL) ||
	       w->cs->insn_group(w->cs->handle, w->insn, CS_GRP_BRANCH_RELATIVE);
}

static unsigned immediate_size(const struct writer *w, const cs_x86_op *op)
{
	switch (w->insn->id) {
	case X86_INS_PUSH:
		return w->options->is_64bit ? 8 : 4;
	case X86_INS_INT:
	case X86_INS_IN:
	case X86_INS_OUT:
	case X86_INS_XABORT:
		return 1;
	case X86_INS_RET:
	case X86_INS_RETF:
	case X86_INS_ENTER:
		return 2;
	default:
		// Of vector instructions it is a byte.
		return w->x86->op_count > 1 && w->x86->operands[0].size > 8 ? 1 : op->size;
	}
}

static void put_immediate(const struct writer *w, const cs_x86_op *op)
{
	uint64_t v = (uint64_t)op->imm;

	if (x86_is_branch(w)) {
		if (!w->options->is_64bit)
			v &= UINT32_MAX;
		out_hex(w->out, v);
		disasm_name(w->options, v, w->out);
		return;
	}
	// The short form of shifts has no number to show.
	if (x86_is_shift(w->insn->id) && !w->opcode[0] &&
	    (w->opcode[1] == 0xd0 || w->opcode[1] == 0xd1)) {
		out_char(w->out, '1');
		return;
	}
	if (w->att)
		out_char(w->out, '$');
	put_hex(w, masked(v, immediate_size(w, op)));
}

static bool is_port(const struct writer *w)
{
	unsigned id = w->insn->id;

	return id == X86_INS_IN || id == X86_INS_OUT || id == X86_INS_INSB || id == X86_INS_INSW ||
	       id == X86_INS_INSD || id == X86_INS_OUTSB || id == X86_INS_OUTSW ||
	       id == X86_INS_OUTSD;
}

static void put_operand(const struct writer *w, const cs_x86_op *op)
{
	switch (op->type) {
	case X86_OP_REG:
		if (op->reg == X86_REG_DX && is_port(w)) {
			out_text(w->out, w->att ? "(%dx)" : "dx");
			break;
		}
		if (w->att && x86_is_branch(w))
			out_char(w->out, '*');
		put_register(w, op->reg);
		break;
	case X86_OP_IMM:
		put_immediate(w, op);
		break;
	case X86_OP_MEM:
		if (w->att && x86_is_branch(w))
			out_char(w->out, '*');
		if (w->how == HOW_STRING && !op->mem.segment) {
			cs_x86_op with = *op;
			bool is_destination = op->mem.base == X86_REG_RDI ||
					      op->mem.base == X86_REG_EDI ||
					      op->mem.base == X86_REG_DI;

			with.mem.segment = is_destination ? X86_REG_ES : X86_REG_DS;
			if (w->att)
				put_memory_att(w, &with);
			else
				put_memory_intel(w, &with);
		} else if (w->att) {
			put_memory_att(w, op);
		} else {
			put_memory_intel(w, op);
		}
		break;
	default:
		out_char(w->out, '?');
	}
}

// objdump writes no count of 1 for the short form of shifts.
static unsigned operands_n(const struct writer *w)
{
	unsigned n = w->x86->op_count;

	if (w->att && n == 2 && x86_is_shift(w->insn->id) &&
	    (w->opcode[1] == 0xd0 || w->opcode[1] == 0xd1) && !w->opcode[0] &&
	    w->x86->operands[1].type == X86_OP_IMM)
		return 1;
	return n;
}

// 91 to 97: the accumulator comes second in libcapstone, first in objdump.
static bool is_short_exchange(const struct writer *w)
{
	return w->insn->id == X86_INS_XCHG && !w->opcode[0] && w->opcode[1] >= 0x90 &&
	       w->opcode[1] < 0x98;
}

// The mask of AVX-512 is an operand of its own in libcapstone, behind the destination.
static bool is_mask(const struct writer *w)
{
	const cs_x86_op *op = &w->x86->operands[1];

	return w->evex[2] & 7 && w->x86->op_count > 1 && op->type == X86_OP_REG &&
	       op->reg >= X86_REG_K0 && op->reg <= X86_REG_K7;
}

// Both operands, the top of the stack being %st, but where objdump names only the other.
static void put_float_stack(const struct writer *w)
{
	unsigned group = w->x86->modrm >> 3 & 7, other = w->x86->modrm & 7;
	const char *percent = w->att ? "%" : "";
	bool alone = (w->opcode[1] == 0xd9 && group < 2) || (w->opcode[1] == 0xdd && group != 1);
	// The top is what is written to.
	bool to_top = w->opcode[1] == 0xd8 || w->opcode[1] == 0xda || w->opcode[1] == 0xdb ||
		      w->opcode[1] == 0xdf;

	if (w->opcode[1] == 0xdf && group == 4) {
		out_printf(w->out, "%sax", percent); // fnstsw
		return;
	}
	if (alone || w->insn->id == X86_INS_FFREEP)
		out_printf(w->out, "%sst(%u)", percent, other);
	else if (to_top == w->att)
		out_printf(w->out, "%sst(%u),%sst", percent, other, percent);
	else
		out_printf(w->out, "%sst,%sst(%u)", percent, percent, other);
}

void x86_put_operands(const struct writer *w, size_t start)
{
	const cs_x86_op *ops = w->x86->operands;
	unsigned n = operands_n(w);
	size_t used = w->out->n - start;
	bool first = true;

	if (!n)
		return;
	out_fill(w->out, ' ', used < 6 ? 7 - used : 1);
	if (x86_is_float_stack(w)) {
		put_float_stack(w);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		bool from_end = w->att != is_short_exchange(w);
		unsigned at = from_end ? n - 1 - i : i;

		if (at == 1 && is_mask(w))
			continue;
		if (!first)
			out_char(w->out, ',');
		first = false;
		put_operand(w, &ops[at]);
		if (!at && is_mask(w)) {
			out_char(w->out, '{');
			put_register(w, ops[1].reg);
			out_char(w->out, '}');
			if (w->evex[2] & 0x80)
				out_text(w->out, "{z}");
		}
	}
	for (unsigned i = 0; i < n; i++) {
		if (ops[i].type != X86_OP_MEM || ops[i].mem.base != X86_REG_RIP)
			continue;
		uint64_t addr = w->insn->address + w->insn->size + (uint64_t)ops[i].mem.disp;

		out_text(w->out, "        # ");
		out_hex(w->out, addr);
		disasm_name(w->options, addr, w->out);
	}
}
#endif
