// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/x86.h"
#include <string.h>

struct text {
	const uint8_t *p, *end;
	bool bad;
};

static uint8_t take(struct text *t)
{
	if (t->p == t->end) {
		t->bad = true;
		return 0;
	}
	return *t->p++;
}

static int32_t take_signed(struct text *t, unsigned size)
{
	int32_t v = 0;

	if ((size_t)(t->end - t->p) < size) {
		t->bad = true;
		t->p = t->end;
		return 0;
	}
	if (size == 1)
		v = (int8_t)*t->p;
	else if (size >= 4)
		memcpy(&v, t->p, 4);
	t->p += size;
	return v;
}

// ModRM with what belongs to it. Addresses other than base + displacement have no base.
struct operands {
	uint8_t field; // the middle three bits
	uint8_t reg;   // with REX.R
	uint8_t rm;    // with REX.B: a register
	bool is_register;
	uint8_t base;
	int32_t at;
};

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };

struct opcode {
	uint8_t op, rex;
	bool is_short; // operands of 16 bits
};

static struct operands take_operands(struct text *t, uint8_t rex)
{
	uint8_t modrm = take(t), mod = modrm >> 6, rm = modrm & 7;
	struct operands o = {.field = modrm >> 3 & 7, .base = X86_NO_REG};

	o.reg = o.field | (rex & REX_R ? 8 : 0);
	o.rm = rm | (rex & REX_B ? 8 : 0);
	o.is_register = mod == 3;
	if (o.is_register)
		return o;
	if (rm == 4) {
		uint8_t sib = take(t);
		bool no_index = (sib >> 3 & 7) == 4 && !(rex & REX_X);

		rm = sib & 7;
		if (no_index && (mod || rm != 5))
			o.base = rm | (rex & REX_B ? 8 : 0);
	} else if (mod || rm != 5) {
		o.base = o.rm;
	}
	if (mod == 1)
		o.at = take_signed(t, 1);
	else if (mod == 2 || rm == 5)
		o.at = take_signed(t, mod == 2 || mod == 0 ? 4 : 0);
	return o;
}

static void writes(struct x86 *x, uint8_t reg)
{
	x->reg = reg;
}

static void writes_rm(struct x86 *x, const struct operands *o)
{
	if (o->is_register)
		x->reg = o->rm;
}

// add, or, ... cmp with an immediate value
static void arithmetic(struct x86 *x, const struct operands *o, bool is_wide, int32_t by)
{
	enum { ADD = 0, SUB = 5, CMP = 7 };

	if (o->field == CMP)
		return;
	writes_rm(x, o);
	if (o->is_register && is_wide && (o->field == ADD || o->field == SUB)) {
		x->kind = X86_ADD;
		x->value = o->field == ADD ? by : by == INT32_MIN ? 0 : -by;
	}
}

static void moves(struct x86 *x, const struct operands *o, bool is_store, bool is_wide)
{
	uint8_t to = is_store ? o->rm : o->reg, from = is_store ? o->reg : o->rm;

	if (o->is_register) {
		x->reg = to;
		if (is_wide) {
			x->kind = X86_LEA;
			x->base = from;
		}
		return;
	}
	if (!is_store)
		x->reg = o->reg;
	if (is_wide && o->base != X86_NO_REG) {
		x->kind = is_store ? X86_STORE : X86_LOAD;
		x->reg = o->reg;
		x->base = o->base;
		x->value = o->at;
	}
}

// ff: inc, dec, call, far call, jump, far jump, push
static void group_ff(struct x86 *x, const struct operands *o)
{
	if (o->field <= 1) {
		writes_rm(x, o);
		return;
	}
	x->kind = o->field <= 3 ? X86_CALL : o->field == 6 ? X86_PUSH : X86_STOP;
	x->reg = X86_NO_REG;
}

// 0f ...: `reg` may be a vector register, which is of no interest; those that write general ones are named.
static void two_bytes(struct text *t, struct x86 *x, struct opcode code)
{
	static const char no_operands[] =
		"\x05\x06\x07\x08\x09\x0b\x30\x31\x32\x33\x34\x35\x36\x37\x77"
		"\xa0\xa1\xa2\xa8\xa9\xaa";
	static const char with_byte[] = "\x70\x71\x72\x73\xa4\xac\xba\xc2\xc4\xc5\xc6";
	static const char to_reg[] = "\x2c\x2d\x50\xaf\xb6\xb7\xb8\xbc\xbd\xbe\xbf\xc0\xc1\xc5\xd7";
	static const char to_rm[] = "\x7e\xa4\xa5\xab\xac\xad\xb0\xb1\xb3\xba\xbb\xc0\xc1";
	uint8_t op = take(t);
	struct operands o;

	if (op == 0x38 || op == 0x3a) {
		take(t);
		o = take_operands(t, code.rex);
		if (op == 0x3a) {
			take(t);
			writes_rm(x, &o);
		} else {
			writes(x, o.reg);
		}
		return;
	}
	if ((op & 0xf0) == 0x80) {
		x->kind = X86_BRANCH;
		x->value = take_signed(t, code.is_short ? 2 : 4);
		return;
	}
	if (op == 0x0b || op == 0x05 || op == 0x07 || op == 0x34 || op == 0x35)
		x->kind = op == 0x05 || op == 0x34 ? X86_OTHER : X86_STOP;
	if (op >= 0xc8 && op <= 0xcf) {
		writes(x, (op & 7) | (code.rex & REX_B ? 8 : 0)); // bswap
		return;
	}
	if (memchr(no_operands, op, sizeof(no_operands) - 1)) {
		if (op == 0xa0 || op == 0xa8)
			x->kind = X86_PUSH;
		else if (op == 0xa1 || op == 0xa9)
			x->kind = X86_POP;
		return;
	}
	o = take_operands(t, code.rex);
	if (memchr(with_byte, op, sizeof(with_byte) - 1))
		take(t);
	if ((op & 0xf0) == 0x40 || memchr(to_reg, op, sizeof(to_reg) - 1))
		writes(x, o.reg);
	else if ((op & 0xf0) == 0x90 || memchr(to_rm, op, sizeof(to_rm) - 1))
		writes_rm(x, &o);
}

// VEX and EVEX: their maps are those of 0f, 0f 38, 0f 3a.
static void vector(struct text *t, struct x86 *x, uint8_t first)
{
	static const char with_byte[] = "\x70\x71\x72\x73\xc2\xc4\xc5\xc6";
	uint8_t map = 1, rex, op, p = take(t);
	struct operands o;

	rex = p & 0x80 ? 0 : REX_R;
	if (first != 0xc5) {
		map = p & (first == 0x62 ? 7 : 0x1f);
		rex |= (p & 0x40 ? 0 : REX_X) | (p & 0x20 ? 0 : REX_B);
		take(t);
		if (first == 0x62)
			take(t);
	}
	op = take(t);
	if (map == 1 && op == 0x77)
		return; // vzeroupper
	o = take_operands(t, rex);
	if (map == 3 || (map == 1 && memchr(with_byte, op, sizeof(with_byte) - 1)))
		take(t);
	if (map < 1 || map > 3)
		t->bad = true;
	// Of general registers: those of BMI, and moves between both kinds.
	if ((map == 2 && op >= 0xf2 && op <= 0xf7) || (map == 3 && op == 0xf0) ||
	    (map == 1 && (op == 0x2c || op == 0x2d || op == 0x50 || op == 0xc5 || op == 0xd7)))
		writes(x, o.reg);
	if ((map == 1 && op == 0x7e) || (map == 3 && op >= 0x14 && op <= 0x17))
		writes_rm(x, &o);
}

// Those whose operands are a ModRM byte's. False: it is none of them.
static bool with_operands(struct text *t, struct x86 *x, struct opcode code)
{
	unsigned immediate = code.is_short ? 2 : 4;
	bool is_wide = code.rex & REX_W;
	uint8_t op = code.op;
	struct operands o;

	if (!((op < 0x40 && (op & 7) < 4) || op == 0x63 || op == 0x69 || op == 0x6b ||
	      (op >= 0x80 && op <= 0x8f) || op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7 ||
	      (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) || op == 0xf6 ||
	      op == 0xf7 || op >= 0xfe))
		return false;
	o = take_operands(t, code.rex);
	if (op < 0x40) {
		if ((op & 0x38) != 0x38 && op & 2)
			writes(x, o.reg);
		else if ((op & 0x38) != 0x38)
			writes_rm(x, &o);
	} else if (op == 0x63 || op == 0x69 || op == 0x6b) {
		writes(x, o.reg);
		take_signed(t, op == 0x63 ? 0 : op == 0x6b ? 1 : immediate);
	} else if (op >= 0x80 && op <= 0x83) {
		arithmetic(x, &o, is_wide, take_signed(t, op == 0x81 ? immediate : 1));
	} else if (op == 0x86 || op == 0x87) {
		// Two are written: it is enough that stacks' registers are seen.
		writes(x, o.reg);
		if (o.is_register && (o.rm == X86_SP || o.rm == X86_FP))
			writes_rm(x, &o);
	} else if (op == 0x89 || op == 0x8b) {
		moves(x, &o, op == 0x89, is_wide);
	} else if (op == 0x88 || op == 0x8c) {
		writes_rm(x, &o);
	} else if (op == 0x8a) {
		writes(x, o.reg);
	} else if (op == 0x8d) {
		writes(x, o.reg);
		if (is_wide && !o.is_register && o.base != X86_NO_REG) {
			x->kind = X86_LEA;
			x->base = o.base;
			x->value = o.at;
		}
	} else if (op == 0x8f) {
		x->kind = X86_POP;
		writes_rm(x, &o);
	} else if (op == 0xc0 || op == 0xc1 || op == 0xc6 || op == 0xc7) {
		take_signed(t, op == 0xc7 ? immediate : 1);
		writes_rm(x, &o);
	} else if (op >= 0xd0 && op <= 0xd3) {
		writes_rm(x, &o);
	} else if (op == 0xf6 || op == 0xf7) {
		if (o.field < 2)
			take_signed(t, op == 0xf6 ? 1 : immediate);
		else if (o.field < 4)
			writes_rm(x, &o);
	} else if (op == 0xfe) {
		writes_rm(x, &o);
	} else if (op == 0xff) {
		group_ff(x, &o);
	}
	return true;
}

static void one_byte(struct text *t, struct x86 *x, struct opcode code)
{
	unsigned immediate = code.is_short ? 2 : 4;
	uint8_t op = code.op, low = (op & 7) | (code.rex & REX_B ? 8 : 0);

	if (with_operands(t, x, code))
		return;
	if (op < 0x40) {
		if ((op & 7) > 5)
			t->bad = true;
		take_signed(t, (op & 7) == 4 ? 1 : immediate);
	} else if (op >= 0x50 && op <= 0x5f) {
		x->kind = op < 0x58 ? X86_PUSH : X86_POP;
		x->reg = low;
	} else if (op == 0x68 || op == 0x6a) {
		x->kind = X86_PUSH;
		take_signed(t, op == 0x68 ? immediate : 1);
	} else if ((op >= 0x70 && op <= 0x7f) || (op >= 0xe0 && op <= 0xe3)) {
		x->kind = X86_BRANCH;
		x->value = take_signed(t, 1);
	} else if (op >= 0x90 && op <= 0x97) {
		if (low)
			writes(x, low);
	} else if (op == 0x9c || op == 0x9d) {
		x->kind = op == 0x9c ? X86_PUSH : X86_POP;
	} else if (op >= 0xa0 && op <= 0xa3) {
		take_signed(t, 8);
	} else if (op == 0xa8 || op == 0xa9) {
		take_signed(t, op == 0xa8 ? 1 : immediate);
	} else if (op >= 0xb0 && op <= 0xbf) {
		writes(x, low);
		take_signed(t, op < 0xb8 ? 1 : code.rex & REX_W ? 8 : immediate);
	} else if (op == 0xc2 || op == 0xc3) {
		x->kind = X86_RETURN;
	} else if (op == 0xc9) {
		x->kind = X86_LEAVE;
	} else if (op == 0xe8) {
		x->kind = X86_CALL;
		take_signed(t, 4);
	} else if (op == 0xe9 || op == 0xeb) {
		x->kind = X86_JUMP;
		x->value = take_signed(t, op == 0xe9 ? 4 : 1);
	} else if (op == 0xcd || op == 0xe4 || op == 0xe5) {
		take(t);
	} else if (op == 0xc8 || op == 0xca || op == 0xcb || op == 0xcc || op == 0xcf || op == 0xf4) {
		x->kind = X86_STOP;
	} else if (!((op >= 0x6c && op <= 0x6f) || (op >= 0x98 && op <= 0x9f) ||
		     (op >= 0xa4 && op <= 0xaf) || op == 0xd7 || (op >= 0xec && op <= 0xef) ||
		     (op >= 0xf5 && op <= 0xfd)) ||
		   op == 0x9a) {
		t->bad = true;
	}
}

static bool is_prefix(uint8_t c)
{
	return c == 0x66 || c == 0x67 || c == 0xf2 || c == 0xf3 || c == 0xf0 || c == 0x2e ||
	       c == 0x36 || c == 0x3e || c == 0x26 || c == 0x64 || c == 0x65;
}

struct x86 x86_decode(const uint8_t *p, size_t n)
{
	enum { LONGEST = 15 };
	struct text t = {p, p + (n < LONGEST ? n : LONGEST), false};
	struct x86 x = {.reg = X86_NO_REG, .base = X86_NO_REG};
	struct opcode code = {0};

	for (code.op = take(&t); is_prefix(code.op); code.op = take(&t)) {
		code.is_short |= code.op == 0x66;
		if (t.bad)
			break;
	}
	if ((code.op & 0xf0) == 0x40) {
		code.rex = code.op & 0xf;
		code.op = take(&t);
	}
	if (code.rex & REX_W)
		code.is_short = false;
	if (code.op == 0x0f)
		two_bytes(&t, &x, code);
	else if (code.op == 0xc4 || code.op == 0xc5 || code.op == 0x62)
		vector(&t, &x, code.op);
	else
		one_byte(&t, &x, code);
	if (!t.bad)
		x.length = (uint8_t)(t.p - p);
	return x;
}
