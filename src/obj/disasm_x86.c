// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/disasm_x86.h"
#ifdef HAVE_CAPSTONE
#include "base/alloc.h"

enum {
	PREFIX_DATA = 0x66,
	PREFIX_ADDRESS = 0x67,
	PREFIX_LOCK = 0xf0,
	PREFIX_REPNZ = 0xf2,
	PREFIX_REPZ = 0xf3,
	PREFIX_DS = 0x3e,
};

// What the bytes before the opcode are.
struct prefixes {
	uint8_t bytes[15];
	unsigned n;
	uint8_t rex; // 0: none
};

// How an instruction is written; 0: as most.
enum how {
	HOW_INTEGER = 1, // AT&T: a letter for the size when no register tells it
	HOW_STRING,	 // its operands are written whatever they are
	HOW_FLOAT,
	HOW_FLOAT_INTEGER,
	HOW_CONVERT,
	HOW_STACK, // 64-bit programs: of 8 bytes, without a letter
};

struct writer {
	const struct capstone *cs;
	const struct disasm_options *options;
	const cs_insn *insn;
	const cs_x86 *x86;
	struct out *out;
	struct prefixes prefixes;
	uint8_t opcode[2]; // map (0, 0x0f, 0x38, 0x3a), opcode
	uint8_t evex[3];   // all 0: not of AVX-512
	bool att;
	enum how how;
};

// ---- names

struct known {
	unsigned id;
	enum how how;
};

static const struct known knowns[] = {
	{X86_INS_MOV, HOW_INTEGER},
	{X86_INS_ADD, HOW_INTEGER},
	{X86_INS_OR, HOW_INTEGER},
	{X86_INS_ADC, HOW_INTEGER},
	{X86_INS_SBB, HOW_INTEGER},
	{X86_INS_AND, HOW_INTEGER},
	{X86_INS_SUB, HOW_INTEGER},
	{X86_INS_XOR, HOW_INTEGER},
	{X86_INS_CMP, HOW_INTEGER},
	{X86_INS_TEST, HOW_INTEGER},
	{X86_INS_NOT, HOW_INTEGER},
	{X86_INS_NEG, HOW_INTEGER},
	{X86_INS_MUL, HOW_INTEGER},
	{X86_INS_IMUL, HOW_INTEGER},
	{X86_INS_DIV, HOW_INTEGER},
	{X86_INS_IDIV, HOW_INTEGER},
	{X86_INS_INC, HOW_INTEGER},
	{X86_INS_DEC, HOW_INTEGER},
	{X86_INS_SHL, HOW_INTEGER},
	{X86_INS_SAL, HOW_INTEGER},
	{X86_INS_SHR, HOW_INTEGER},
	{X86_INS_SAR, HOW_INTEGER},
	{X86_INS_ROL, HOW_INTEGER},
	{X86_INS_ROR, HOW_INTEGER},
	{X86_INS_RCL, HOW_INTEGER},
	{X86_INS_RCR, HOW_INTEGER},
	{X86_INS_BT, HOW_INTEGER},
	{X86_INS_BTS, HOW_INTEGER},
	{X86_INS_BTR, HOW_INTEGER},
	{X86_INS_BTC, HOW_INTEGER},
	{X86_INS_NOP, HOW_INTEGER},
	{X86_INS_MOVSB, HOW_STRING},
	{X86_INS_MOVSW, HOW_STRING},
	{X86_INS_MOVSQ, HOW_STRING},
	{X86_INS_STOSB, HOW_STRING},
	{X86_INS_STOSW, HOW_STRING},
	{X86_INS_STOSD, HOW_STRING},
	{X86_INS_STOSQ, HOW_STRING},
	{X86_INS_LODSB, HOW_STRING},
	{X86_INS_LODSW, HOW_STRING},
	{X86_INS_LODSD, HOW_STRING},
	{X86_INS_LODSQ, HOW_STRING},
	{X86_INS_SCASB, HOW_STRING},
	{X86_INS_SCASW, HOW_STRING},
	{X86_INS_SCASD, HOW_STRING},
	{X86_INS_SCASQ, HOW_STRING},
	{X86_INS_CMPSB, HOW_STRING},
	{X86_INS_CMPSW, HOW_STRING},
	{X86_INS_CMPSQ, HOW_STRING},
	{X86_INS_FLD, HOW_FLOAT},
	{X86_INS_FST, HOW_FLOAT},
	{X86_INS_FSTP, HOW_FLOAT},
	{X86_INS_FADD, HOW_FLOAT},
	{X86_INS_FSUB, HOW_FLOAT},
	{X86_INS_FSUBR, HOW_FLOAT},
	{X86_INS_FMUL, HOW_FLOAT},
	{X86_INS_FDIV, HOW_FLOAT},
	{X86_INS_FDIVR, HOW_FLOAT},
	{X86_INS_FCOM, HOW_FLOAT},
	{X86_INS_FCOMP, HOW_FLOAT},
	{X86_INS_FILD, HOW_FLOAT_INTEGER},
	{X86_INS_FIST, HOW_FLOAT_INTEGER},
	{X86_INS_FISTP, HOW_FLOAT_INTEGER},
	{X86_INS_FISTTP, HOW_FLOAT_INTEGER},
	{X86_INS_FIADD, HOW_FLOAT_INTEGER},
	{X86_INS_FISUB, HOW_FLOAT_INTEGER},
	{X86_INS_FISUBR, HOW_FLOAT_INTEGER},
	{X86_INS_FIMUL, HOW_FLOAT_INTEGER},
	{X86_INS_FIDIV, HOW_FLOAT_INTEGER},
	{X86_INS_FIDIVR, HOW_FLOAT_INTEGER},
	{X86_INS_FICOM, HOW_FLOAT_INTEGER},
	{X86_INS_FICOMP, HOW_FLOAT_INTEGER},
	{X86_INS_CVTSI2SD, HOW_CONVERT},
	{X86_INS_CVTSI2SS, HOW_CONVERT},
	{X86_INS_VCVTSI2SD, HOW_CONVERT},
	{X86_INS_VCVTSI2SS, HOW_CONVERT},
	{X86_INS_PUSH, HOW_STACK},
	{X86_INS_POP, HOW_STACK},
	{X86_INS_CALL, HOW_STACK},
	{X86_INS_JMP, HOW_STACK},
	{X86_INS_LCALL, HOW_STACK},
	{X86_INS_LJMP, HOW_STACK},
};

static enum how how_of(const struct writer *w)
{
	// The names of instructions on strings and on vectors.
	if ((w->insn->id == X86_INS_MOVSD || w->insn->id == X86_INS_CMPSD) && !w->opcode[0] &&
	    !w->evex[2] && (w->opcode[1] == 0xa5 || w->opcode[1] == 0xa7))
		return HOW_STRING;
	for (size_t i = 0; i < ARRAY_SIZE(knowns); i++) {
		if (knowns[i].id == w->insn->id)
			return knowns[i].how;
	}
	return 0;
}

// libcapstone's name, AT&T's, and objdump's Intel one; NULL: the same.
struct renamed {
	const char *name, *att, *intel;
};

static const struct renamed renames[] = {
	{"cbw", "cbtw", NULL},
	{"cwde", "cwtl", NULL},
	{"cdqe", "cltq", NULL},
	{"cwd", "cwtd", NULL},
	{"cdq", "cltd", NULL},
	{"cqo", "cqto", NULL},
	{"sal", "shl", "shl"},
	{"pushfq", "pushf", "pushf"},
	{"popfq", "popf", "popf"},
	{"pushfd", "pushf", "pushf"},
	{"popfd", "popf", "popf"},
	{"retf", "lret", "retf"},
	{"wait", "fwait", "fwait"},
	{"movsxd", "movslq", "movsxd"},
	{"xlatb", "xlat", "xlat"},
	{"iretd", "iret", "iret"},
	{"fucompi", "fucomip", "fucomip"},
	{"fcompi", "fcomip", "fcomip"},
	{"ud2b", "ud1", "ud1"},
};

static char size_letter(unsigned size)
{
	switch (size) {
	case 1:
		return 'b';
	case 2:
		return 'w';
	case 4:
		return 'l';
	case 8:
		return 'q';
	default:
		return 0;
	}
}

static const cs_x86_op *memory_operand(const struct writer *w)
{
	for (unsigned i = 0; i < w->x86->op_count; i++) {
		if (w->x86->operands[i].type == X86_OP_MEM)
			return &w->x86->operands[i];
	}
	return NULL;
}

static bool is_shift(unsigned id)
{
	return id == X86_INS_SHL || id == X86_INS_SAL || id == X86_INS_SHR || id == X86_INS_SAR ||
	       id == X86_INS_ROL || id == X86_INS_ROR || id == X86_INS_RCL || id == X86_INS_RCR;
}

// Does a register say how large the operands are?
static bool register_tells_size(const struct writer *w)
{
	const cs_x86_op *ops = w->x86->operands;

	for (unsigned i = 0; i < w->x86->op_count; i++) {
		if (ops[i].type == X86_OP_REG && !(i && is_shift(w->insn->id)))
			return true;
	}
	return false;
}

static char float_letter(unsigned size)
{
	return size == 4 ? 's' : size == 8 ? 'l' : size == 10 ? 't' : 0;
}

static void put_att_suffix(const struct writer *w)
{
	const cs_x86_op *memory = memory_operand(w);
	char letter = 0;

	switch (w->how) {
	case HOW_INTEGER:
		if (memory && !register_tells_size(w))
			letter = size_letter(memory->size);
		break;
	case HOW_CONVERT:
		if (memory)
			letter = size_letter(memory->size);
		break;
	case HOW_FLOAT:
		if (memory)
			letter = float_letter(memory->size);
		break;
	case HOW_FLOAT_INTEGER:
		if (memory && memory->size == 8 &&
		    (w->insn->id == X86_INS_FILD || w->insn->id == X86_INS_FISTP ||
		     w->insn->id == X86_INS_FISTTP)) {
			out_text(w->out, "ll");
			return;
		}
		letter = memory && memory->size == 2 ? 's' : 'l';
		break;
	case HOW_STACK:
		if (memory && memory->size == 2)
			letter = 'w';
		break;
	default:
		break;
	}
	if (letter)
		out_char(w->out, letter);
}

// movzx and movsx have the sizes of both operands in AT&T's name.
static void put_extend(const struct writer *w)
{
	const cs_x86_op *ops = w->x86->operands;

	out_text(w->out, w->insn->id == X86_INS_MOVZX ? "movz" : "movs");
	if (w->x86->op_count < 2)
		return;
	out_char(w->out, size_letter(ops[1].size) ?: ' ');
	out_char(w->out, size_letter(ops[0].size) ?: ' ');
}

// The name alone: libcapstone puts words for prefixes before it.
static const char *plain_name(const struct writer *w)
{
	const char *space = strrchr(w->insn->mnemonic, ' ');

	return space ? space + 1 : w->insn->mnemonic;
}

static void put_string_name(const struct writer *w, const char *name)
{
	size_t n = strlen(name);
	// The size shows in a register, when there is one.
	bool has_register = strncmp(name, "movs", 4) && strncmp(name, "cmps", 4);

	out_bytes(w->out, name, n - 1);
	if (w->att && !has_register)
		out_char(w->out, name[n - 1] == 'd' ? 'l' : name[n - 1]);
}

// Of the x87's registers: d8 to df with a register in the last byte.
static bool is_float_stack(const struct writer *w)
{
	return !w->opcode[0] && w->opcode[1] >= 0xd8 && w->opcode[1] <= 0xdf &&
	       w->x86->modrm >= 0xc0 && w->x86->op_count;
}

// AT&T's names for these are exchanged, an old mistake that stayed.
static const char *with_operands_swapped(const char *name)
{
	static const char *const names[] = {"fsub", "fsubr", "fsubp", "fsubrp",
					    "fdiv", "fdivr", "fdivp", "fdivrp"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], name))
			return names[i ^ 1];
	}
	return name;
}

static void put_name(const struct writer *w)
{
	const char *name = plain_name(w);

	if (w->att && (w->insn->id == X86_INS_MOVZX || w->insn->id == X86_INS_MOVSX)) {
		put_extend(w);
		return;
	}
	if (w->how == HOW_STRING) {
		put_string_name(w, name);
		return;
	}
	if (w->att && is_float_stack(w) && (w->opcode[1] == 0xdc || w->opcode[1] == 0xde))
		name = with_operands_swapped(name);
	for (size_t i = 0; i < ARRAY_SIZE(renames); i++) {
		const char *other = w->att ? renames[i].att : renames[i].intel;

		if (!strcmp(renames[i].name, name)) {
			name = other ? other : name;
			break;
		}
	}
	out_text(w->out, name);
	if (w->att)
		put_att_suffix(w);
}

// ---- operands

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
	const char *name = plain_name(w);

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
	const char *name = plain_name(w);

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

static bool is_branch(const struct writer *w)
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

	if (is_branch(w)) {
		if (!w->options->is_64bit)
			v &= UINT32_MAX;
		out_hex(w->out, v);
		disasm_name(w->options, v, w->out);
		return;
	}
	// The short form of shifts has no number to show.
	if (is_shift(w->insn->id) && !w->opcode[0] && (w->opcode[1] == 0xd0 || w->opcode[1] == 0xd1)) {
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
		if (w->att && is_branch(w))
			out_char(w->out, '*');
		put_register(w, op->reg);
		break;
	case X86_OP_IMM:
		put_immediate(w, op);
		break;
	case X86_OP_MEM:
		if (w->att && is_branch(w))
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

	if (w->att && n == 2 && is_shift(w->insn->id) &&
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

static void put_operands(const struct writer *w, size_t start)
{
	const cs_x86_op *ops = w->x86->operands;
	unsigned n = operands_n(w);
	size_t used = w->out->n - start;
	bool first = true;

	if (!n)
		return;
	out_fill(w->out, ' ', used < 6 ? 7 - used : 1);
	if (is_float_stack(w)) {
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

// ---- prefixes

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
	const char *name = plain_name(w);

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
	const cs_x86_op *memory = memory_operand(w);

	// Segments that have no meaning in 64-bit programs are words of their own.
	if (!memory || !memory->mem.segment)
		return false;
	return byte == 0x64 || byte == 0x65 || !w->options->is_64bit;
}

static bool data_size_is_used(const struct writer *w)
{
	unsigned id = w->insn->id;

	if (is_branch(w) || id == X86_INS_RET || id == X86_INS_LEAVE)
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
	const cs_x86_op *memory = memory_operand(w);
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
			else if (byte == PREFIX_REPNZ && (is_branch(w) || w->insn->id == X86_INS_RET))
				word = "bnd";
			break;
		case PREFIX_LOCK:
			break;
		default:
			if (segment_is_used(w, byte))
				word = NULL;
			else if (byte == PREFIX_DS && is_branch(w) && w->x86->op_count &&
				 w->x86->operands[0].type != X86_OP_IMM)
				word = "notrack";
			else if (is_branch(w) && w->opcode[1] >= 0x70 && w->opcode[1] < 0x90 &&
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
	w.how = how_of(&w);
	put_prefixes(&w);
	if (put_special(&w))
		return;
	put_name(&w);
	put_operands(&w, start);
}
#endif
