// SPDX-License-Identifier: GPL-2.0-or-later
// The names of x86 instructions, as objdump writes them.
#include "obj/disasm_x86_parts.h"
#ifdef HAVE_CAPSTONE
#include "base/alloc.h"

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

enum how x86_how_of(const struct writer *w)
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

const cs_x86_op *x86_memory_operand(const struct writer *w)
{
	for (unsigned i = 0; i < w->x86->op_count; i++) {
		if (w->x86->operands[i].type == X86_OP_MEM)
			return &w->x86->operands[i];
	}
	return NULL;
}

bool x86_is_shift(unsigned id)
{
	return id == X86_INS_SHL || id == X86_INS_SAL || id == X86_INS_SHR || id == X86_INS_SAR ||
	       id == X86_INS_ROL || id == X86_INS_ROR || id == X86_INS_RCL || id == X86_INS_RCR;
}

// Does a register say how large the operands are?
static bool register_tells_size(const struct writer *w)
{
	const cs_x86_op *ops = w->x86->operands;

	for (unsigned i = 0; i < w->x86->op_count; i++) {
		if (ops[i].type == X86_OP_REG && !(i && x86_is_shift(w->insn->id)))
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
	const cs_x86_op *memory = x86_memory_operand(w);
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
const char *x86_plain_name(const struct writer *w)
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
bool x86_is_float_stack(const struct writer *w)
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

void x86_put_name(const struct writer *w)
{
	const char *name = x86_plain_name(w);

	if (w->att && (w->insn->id == X86_INS_MOVZX || w->insn->id == X86_INS_MOVSX)) {
		put_extend(w);
		return;
	}
	if (w->how == HOW_STRING) {
		put_string_name(w, name);
		return;
	}
	if (w->att && x86_is_float_stack(w) && (w->opcode[1] == 0xdc || w->opcode[1] == 0xde))
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
#endif
