// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/annotate/operands.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"

// By name; most of them with a letter for the size behind, too.
struct instruction {
	const char *name;
	enum operand_kind kind;
};

static const struct instruction instructions[] = {
	{"bnd", OPERANDS_PLAIN},  {"call", OPERANDS_CALL},   {"dec", OPERANDS_ONE},
	{"inc", OPERANDS_ONE},	  {"lock", OPERANDS_LOCK},   {"nop", OPERANDS_NOP},
	{"ret", OPERANDS_RETURN}, {"xbegin", OPERANDS_JUMP},
};

static const char *const jumps[] = {"ja",    "jae",  "jb",   "jbe",   "jc",  "jcxz", "je",
				    "jecxz", "jg",   "jge",  "jl",    "jle", "jmp",  "jna",
				    "jnae",  "jnb",  "jnbe", "jnc",   "jne", "jng",  "jnge",
				    "jnl",   "jnle", "jno",  "jnp",   "jns", "jnz",  "jo",
				    "jp",    "jpe",  "jpo",  "jrcxz", "js",  "jz"};

static const char *const twos[] = {
	"adc",	   "add",    "addsd",  "and",	  "andpd",   "andps",	"bsr",	    "bt",
	"btr",	   "bts",    "cmovae", "cmovbe",  "cmove",   "cmp",	"cmpxch",   "cmpxchg",
	"cs",	   "divsd",  "divss",  "gs",	  "imul",    "lea",	"mov",	    "movapd",
	"movaps",  "movdqa", "movdqu", "movsb",	  "movsd",   "movsl",	"movss",    "movsw",
	"movupd",  "movups", "movzb",  "movzl",	  "movzw",   "mulsd",	"mulss",    "or",
	"orps",	   "paddq",  "pand",   "pcmpeqb", "por",     "rcl",	"sbb",	    "sete",
	"sub",	   "subsd",  "test",   "tzcnt",	  "ucomisd", "ucomiss", "vaddsd",   "vandpd",
	"vmovdqa", "vmovq",  "vmovsd", "vmulsd",  "vorpd",   "vsubsd",	"vucomisd", "xadd",
	"xchg",	   "xor",    "xorpd",  "xorps",
};

size_t operands_name_size(const char *text)
{
	return strcspn(text, " \t");
}

static bool is_among(const char *const *names, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++) {
		if (str_is(name, names[i]))
			return true;
	}
	return false;
}

static enum operand_kind kind_of(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++) {
		if (str_is(name, instructions[i].name))
			return instructions[i].kind;
	}
	if (is_among(jumps, ARRAY_SIZE(jumps), name))
		return OPERANDS_JUMP;
	return is_among(twos, ARRAY_SIZE(twos), name) ? OPERANDS_TWO : OPERANDS_PLAIN;
}

enum operand_kind operands_kind(const char *text)
{
	struct str name = {text, operands_name_size(text)};
	enum operand_kind kind = kind_of(name);

	if (kind != OPERANDS_PLAIN || name.n < 3 || !strchr("bwlq", name.p[name.n - 1]))
		return kind;
	name.n--;
	kind = kind_of(name);
	return kind == OPERANDS_JUMP || kind == OPERANDS_LOCK ? OPERANDS_PLAIN : kind;
}

static const char *after_name(const char *text)
{
	const char *p = text + operands_name_size(text);

	return p + strspn(p, " \t");
}

static void put_name(struct out *out, const char *text, int width)
{
	size_t n = operands_name_size(text);

	out_bytes(out, text, n);
	if (n < (size_t)width)
		out_fill(out, ' ', (size_t)width - n);
}

void operands_put_plain(struct out *out, const char *text, int width)
{
	put_name(out, text, width);
	out_char(out, ' ');
	out_text(out, after_name(text));
}

// The name in "  # 4040 <name>", of an operand that lies relative to the code; n = 0: none.
static struct str name_in_comment(struct str operand, const char *comment)
{
	const char *name, *end;

	if (!comment || !memmem(operand.p, operand.n, "(%rip)", 6))
		return (struct str){0};
	name = strchr(comment, '<');
	end = name ? strchr(name, '>') : NULL;
	return end ? (struct str){name + 1, (size_t)(end - name - 1)} : (struct str){0};
}

static void put_operand(struct out *out, struct str operand, const char *comment)
{
	struct str name = name_in_comment(operand, comment);

	out_str(out, name.n ? name : operand);
}

// The comma between two operands; those inside of parentheses are none.
static const char *comma_of(const char *operands)
{
	const char *comma = strchr(operands, ','), *open = strchr(operands, '(');

	if (!comma || !open || open > comma)
		return comma;
	open = strchr(operands, ')');
	return open && open[1] == ',' ? open + 1 : NULL;
}

static void put_two(struct out *out, const char *text, int width)
{
	const char *operands = after_name(text), *comma = comma_of(operands),
		   *comment = strchr(operands, '#'), *target;
	size_t n;

	if (!comma || (comment && comment < comma)) {
		operands_put_plain(out, text, width);
		return;
	}
	target = comma + 1 + strspn(comma + 1, " ");
	n = comment ? (size_t)(comment - target) : strlen(target);
	put_name(out, text, width);
	out_char(out, ' ');
	put_operand(out, (struct str){operands, (size_t)(comma - operands)}, comment);
	out_char(out, ',');
	put_operand(out, str_trim((struct str){target, n}), comment);
}

static void put_one(struct out *out, const char *text, int width)
{
	const char *operand = after_name(text), *comment = strchr(operand, '#');
	size_t n = comment ? (size_t)(comment - operand) : strlen(operand);

	put_name(out, text, width);
	out_char(out, ' ');
	put_operand(out, str_trim((struct str){operand, n}), comment);
}

static void put_jump(struct out *out, const char *text, int width, const struct operands_place *place)
{
	const char *operands = after_name(text);

	if (!isxdigit((unsigned char)*operands) ||
	    (place->outside && (!place->target_name || place->offset < 0))) {
		operands_put_plain(out, text, width);
		return;
	}
	put_name(out, text, width);
	if (place->outside)
		out_printf(out, " %s", place->target_name);
	else
		out_printf(out, " %llx", (unsigned long long)place->offset);
}

static void put_call(struct out *out, const char *text, int width, const struct operands_place *place)
{
	const char *operands = after_name(text), *name = strchr(operands, '<'),
		   *end = name ? strchr(name, '>') : NULL;

	if (!isxdigit((unsigned char)*operands) || (!place->target_name && !end)) {
		operands_put_plain(out, text, width);
		return;
	}
	put_name(out, text, width);
	out_char(out, ' ');
	if (place->target_name)
		out_text(out, place->target_name);
	else
		out_bytes(out, name + 1, (size_t)(end - name - 1));
}

void operands_put(struct out *out, const char *text, int width, const struct operands_place *place)
{
	switch (operands_kind(text)) {
	case OPERANDS_TWO:
		put_two(out, text, width);
		break;
	case OPERANDS_ONE:
		put_one(out, text, width);
		break;
	case OPERANDS_JUMP:
		put_jump(out, text, width, place);
		break;
	case OPERANDS_CALL:
		put_call(out, text, width, place);
		break;
	case OPERANDS_LOCK:
		if (operands_kind(after_name(text)) == OPERANDS_PLAIN) {
			operands_put_plain(out, text, width);
			break;
		}
		put_name(out, text, width);
		out_char(out, ' ');
		operands_put(out, after_name(text), width, place);
		break;
	case OPERANDS_NOP:
		put_name(out, "nop", width);
		break;
	default:
		operands_put_plain(out, text, width);
	}
}
