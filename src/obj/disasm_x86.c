// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/disasm_x86_parts.h"
#ifdef HAVE_CAPSTONE

enum {
	PREFIX_DATA = 0x66,
	PREFIX_ADDRESS = 0x67,
	PREFIX_LOCK = 0xf0,
	PREFIX_REPNZ = 0xf2,
	PREFIX_REPZ = 0xf3,
	PREFIX_DS = 0x3e,
};

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case PREFIX_DS:
	case 0x64:
	case 0x65:
	case PREFIX_DATA:
	case PREFIX_ADDRESS:
	case PREFIX_LOCK:
	case PREFIX_REPNZ:
	case PREFIX_REPZ:
		return true;
	default:
		return false;
	}
}

static void read_prefixes(struct writer *w)
{
	const uint8_t *p = w->insn->bytes, *end = p + w->insn->size;
	struct prefixes *prefixes = &w->prefixes;

	while (p < end && is_prefix(*p))
		prefixes->bytes[prefixes->n++] = *p++;
	if (p < end && w->options->is_64bit && (*p & 0xf0) == 0x40)
		prefixes->rex = *p++;
	if (p >= end)
		return;
	if (*p == 0x62 && w->options->is_64bit && end - p > 4) {
		memcpy(w->evex, p + 1, 3);
		w->opcode[0] = 0x0f;
		w->opcode[1] = p[4];
		return;
	}
	if (*p == 0x0f && p + 1 < end) {
		w->opcode[0] = *p++;
		if ((*p == 0x38 || *p == 0x3a) && p + 1 < end)
			w->opcode[0] = *p++;
	}
	w->opcode[1] = *p;
}

static const char *prefix_word(const struct writer *w, uint8_t byte)
{
	switch (byte) {
	case 0x26:
		return "es";
	case 0x2e:
		return "cs";
	case 0x36:
		return "ss";
	case PREFIX_DS:
		return "ds";
	case 0x64:
		return "fs";
	case 0x65:
		return "gs";
	case PREFIX_DATA:
		return "data16";
	case PREFIX_ADDRESS:
		return w->options->is_64bit ? "addr32" : "addr16";
	case PREFIX_LOCK:
		return "lock";
	case PREFIX_REPNZ:
		return "repnz";
	default:
		return "repz";
	}
}

static bool uses_repeat(const struct writer *w, bool *ret_compares)
{
	const char *name = x86_plain_name(w);

	*ret_compares = !strncmp(name, "cmps", 4) || !strncmp(name, "scas", 4);
	if (strchr(w->insn->mnemonic, ' '))
		return *ret_compares || !strncmp(name, "movs", 4) || !strncmp(name, "stos", 4) ||
		       !strncmp(name, "lods", 4) || !strncmp(name, "ins", 3) ||
		       !strncmp(name, "outs", 4);
	return false;
}

// Vector and other instructions have 66, f2 and f3 as a part of the opcode: libcapstone says so by naming no prefix.
static bool is_mandatory(const struct writer *w, uint8_t byte)
{
	if (w->insn->id == X86_INS_PAUSE)
		return true;
	return w->opcode[0] && (byte == PREFIX_REPNZ || byte == PREFIX_REPZ) &&
	       !strchr(w->insn->mnemonic, ' ') && w->opcode[1] != 0x1f && w->opcode[1] != 0x05;
}

static bool segment_is_used(const struct writer *w, uint8_t byte)
{
	const cs_x86_op *memory = x86_memory_operand(w);

	// Segments that have no meaning in 64-bit programs are words of their own.
	if (!memory || !memory->mem.segment)
		return false;
	return byte == 0x64 || byte == 0x65 || !w->options->is_64bit;
}

static bool data_size_is_used(const struct writer *w)
{
	unsigned id = w->insn->id;

	if (x86_is_branch(w) || id == X86_INS_RET || id == X86_INS_LEAVE)
		return false;
	if (w->opcode[0] && w->opcode[1] != 0x1f)
		return true; // of vectors, or of 16-bit operands
	if (w->prefixes.rex & 8)
		return false;
	if (!w->opcode[0] && w->x86->op_count && w->x86->operands[0].size == 1)
		return false;
	return true;
}

static void put_prefixes(struct writer *w)
{
	const struct prefixes *prefixes = &w->prefixes;
	bool compares, repeats = uses_repeat(w, &compares);
	const cs_x86_op *memory = x86_memory_operand(w);
	unsigned last_data = UINT32_MAX;

	for (unsigned i = 0; i < prefixes->n; i++) {
		if (prefixes->bytes[i] == PREFIX_DATA)
			last_data = i;
	}
	for (unsigned i = 0; i < prefixes->n; i++) {
		uint8_t byte = prefixes->bytes[i];
		const char *word = prefix_word(w, byte);

		switch (byte) {
		case PREFIX_DATA:
			if (i == last_data && data_size_is_used(w))
				word = NULL;
			break;
		case PREFIX_ADDRESS:
			if (memory)
				word = NULL;
			break;
		case PREFIX_REPZ:
		case PREFIX_REPNZ:
			if (is_mandatory(w, byte))
				word = NULL;
			else if (repeats && !compares && byte == PREFIX_REPZ)
				word = "rep";
			else if (byte == PREFIX_REPNZ &&
				 (x86_is_branch(w) || w->insn->id == X86_INS_RET))
				word = "bnd";
			break;
		case PREFIX_LOCK:
			break;
		default:
			if (segment_is_used(w, byte))
				word = NULL;
			else if (byte == PREFIX_DS && x86_is_branch(w) && w->x86->op_count &&
				 w->x86->operands[0].type != X86_OP_IMM)
				word = "notrack";
			else if (x86_is_branch(w) && w->opcode[1] >= 0x70 && w->opcode[1] < 0x90 &&
				 (byte == PREFIX_DS || byte == 0x2e))
				word = NULL; // a hint, behind the name
		}
		if (word) {
			out_text(w->out, word);
			out_char(w->out, ' ');
		}
	}
	// A call of 8 bytes without being told: padding of thread-local accesses.
	if (prefixes->rex == 0x48 && w->insn->id == X86_INS_CALL && w->opcode[1] == 0xe8)
		out_text(w->out, "rex.W ");
}

// 90 with an operand size is an exchange that does nothing.
static bool put_special(const struct writer *w)
{
	if (w->insn->id == X86_INS_NOP && w->opcode[1] == 0x90 && !w->opcode[0] &&
	    w->x86->prefix[2] == PREFIX_DATA && w->prefixes.n) {
		out_text(w->out, w->att ? "xchg   %ax,%ax" : "xchg   ax,ax");
		return true;
	}
	return false;
}

void disasm_x86_text(const struct capstone *cs, const struct disasm_options *options,
		     const cs_insn *insn, struct out *out)
{
	struct writer w = {
		.cs = cs,
		.options = options,
		.insn = insn,
		.x86 = &insn->detail->x86,
		.out = out,
		.att = options->syntax == DISASM_ATT,
	};
	size_t start = out->n;

	read_prefixes(&w);
	w.how = x86_how_of(&w);
	put_prefixes(&w);
	if (put_special(&w))
		return;
	x86_put_name(&w);
	x86_put_operands(&w, start);
}
#endif
