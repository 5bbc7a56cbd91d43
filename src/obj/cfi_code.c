// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/cfi_code.h"
#include "obj/x86.h"
#include <string.h>

enum { WINDOW = 8192, PENDING = 64, DEEPEST = 1 << 20, JUMP = 5 };

const struct cfi_rule cfi_no_frame = {.cfa = CFI_CFA_REGISTER,
				      .cfa_reg = 7,
				      .cfa_offset = 8,
				      .flags = CFI_SIMPLE,
				      .saved_n = 1,
				      .saved = {{CFI_RA_COLUMN, CFI_AT_CFA, 0, -8}}};

// What a register holds, by what registers hold at the start.
struct value {
	enum { KNOWN, IN_MEMORY, LOST } kind; // base + at; what lies there; something else
	uint8_t base;
	int32_t at;
};

struct path {
	uint32_t at;
	bool has_called;
	struct value regs[16];
};

struct search {
	const struct code_text *text;
	struct path now, pending[PENDING];
	uint32_t pending_n;
	uint8_t seen[WINDOW / 8];
};

static void add(struct value *v, int32_t by)
{
	if (v->kind != KNOWN || by > DEEPEST || by < -DEEPEST || v->at > DEEPEST || v->at < -DEEPEST)
		v->kind = LOST;
	else
		v->at += by;
}

// What was kept there: below where the stack ends now it will be put by an instruction on the way, and it is what it is now.
static struct value kept_at(const struct value *where, uint8_t reg)
{
	struct value v = *where;

	if (v.kind == KNOWN && v.base == X86_SP && v.at < 0)
		return (struct value){KNOWN, reg, 0};
	v.kind = v.kind == KNOWN ? IN_MEMORY : LOST;
	return v;
}

static void pop(struct path *path, uint8_t reg)
{
	struct value *sp = &path->regs[X86_SP];

	if (reg != X86_NO_REG)
		path->regs[reg] = kept_at(sp, reg);
	if (reg != X86_SP)
		add(&path->regs[X86_SP], 8);
}

static void run(struct path *path, const struct x86 *x)
{
	struct value v = {.kind = LOST};

	switch (x->kind) {
	case X86_PUSH:
		add(&path->regs[X86_SP], -8);
		return;
	case X86_POP:
		pop(path, x->reg);
		return;
	case X86_LEAVE:
		path->regs[X86_SP] = path->regs[X86_FP];
		pop(path, X86_FP);
		return;
	case X86_ADD:
		add(&path->regs[x->reg], x->value);
		return;
	case X86_LEA:
	case X86_LOAD:
		v = path->regs[x->base];
		add(&v, x->value);
		path->regs[x->reg] = x->kind == X86_LEA ? v : kept_at(&v, x->reg);
		return;
	case X86_OTHER:
		if (x->reg != X86_NO_REG)
			path->regs[x->reg].kind = LOST;
		return;
	default: // calls leave all that matters as it is
		return;
	}
}

static void go_to(struct search *search, int64_t at)
{
	if (at < 0 || at >= (int64_t)search->text->n || search->pending_n == PENDING)
		return;
	search->pending[search->pending_n] = search->now;
	search->pending[search->pending_n++].at = (uint32_t)at;
}

static bool visit(struct search *search, uint32_t at)
{
	uint8_t bit = (uint8_t)(1 << at % 8), *byte = &search->seen[at / 8];
	bool is_new = !(*byte & bit);

	*byte |= bit;
	return is_new;
}

// The first instructions of functions. Behind a call that never returns another function may follow.
static bool is_entry(const uint8_t *p, size_t n)
{
	return n >= 4 &&
	       (memcmp(p, "\xf3\x0f\x1e\xfa", 4) == 0 || memcmp(p, "\x55\x48\x89\xe5", 4) == 0 ||
		memcmp(p, "\x55\x48\x8b\xec", 4) == 0);
}

// As at the start. Then what makes a frame makes that of the function at hand, or of one that takes its place.
static bool is_unchanged(const struct path *path)
{
	const struct value *sp = &path->regs[X86_SP], *fp = &path->regs[X86_FP];

	return sp->kind == KNOWN && sp->base == X86_SP && !sp->at && fp->kind == KNOWN &&
	       fp->base == X86_FP && !fp->at;
}

// A jump that one comes back to: HotSpot's compilers put it over an instruction of which something is not known yet. In front of
// where it goes to stands how long that one was: b8 ? ? ? length. -1: none.
static int64_t behind_patched(const struct code_text *text, uint32_t at)
{
	enum { RECORD = 5, LONGEST = 16 };
	int32_t by;
	int64_t to;

	if (at + JUMP > text->n || text->p[at] != 0xe9)
		return -1;
	memcpy(&by, text->p + at + 1, 4);
	to = (int64_t)at + JUMP + by;
	if (to < RECORD || to > (int64_t)text->n || text->p[to - RECORD] != 0xb8)
		return -1;
	return text->p[to - 1] >= JUMP && text->p[to - 1] < LONGEST ? (int64_t)at + text->p[to - 1]
								    : -1;
}

// On from search->now up to a return: true.
static bool follow(struct search *search)
{
	const struct code_text *text = search->text;
	struct path *now = &search->now;

	while (now->at < text->n && visit(search, now->at)) {
		const uint8_t *p = text->p + now->at;
		size_t n = text->n - now->at;
		struct x86 x;

		if (is_entry(p, n) && text->is_return)
			return false;
		if (is_entry(p, n) && p[0] == 0x55 && !now->has_called && is_unchanged(now))
			return true;
		x = x86_decode(p, n);
		if (!x.length || x.kind == X86_STOP)
			return false;
		if (x.kind == X86_RETURN)
			return true;
		run(now, &x);
		now->has_called |= x.kind == X86_CALL;
		now->at += x.length;
		if (x.kind == X86_BRANCH)
			go_to(search, (int64_t)now->at + x.value);
		if (x.kind == X86_JUMP) {
			go_to(search, (int64_t)now->at + x.value);
			return false;
		}
	}
	go_to(search, behind_patched(text, now->at));
	return false;
}

// At its return the frame pointer is where it was returned to: that one's frame begins there, and is not made yet.
static bool makes_frame(const struct path *path)
{
	const struct value *sp = &path->regs[X86_SP], *fp = &path->regs[X86_FP];

	return sp->kind == KNOWN && sp->base == X86_SP && sp->at < 0 && fp->kind == KNOWN &&
	       fp->base == X86_SP && !fp->at;
}

static void begin_rule(struct cfi_rule *rule, uint8_t cfa_reg, int32_t cfa)
{
	memset(rule, 0, CFI_CODE_WORDS * sizeof(uint64_t));
	rule->cfa = CFI_CFA_REGISTER;
	rule->cfa_reg = cfa_reg;
	rule->cfa_offset = cfa;
	rule->flags = CFI_SIMPLE;
	rule->saved[rule->saved_n++] =
		(struct cfi_saved){.reg = CFI_RA_COLUMN, .where = CFI_AT_CFA, .value = -8};
}

static bool write_rule(const struct path *path, uint64_t *ret)
{
	static const uint8_t dwarf[] = {0, 2, 1, 3, 7, 6, 4, 5};
	static const uint8_t kept[] = {X86_FP, 3, 12, 13, 14, 15}; // by the psABI
	struct cfi_rule *rule = (void *)ret;
	const struct value *sp = &path->regs[X86_SP], *fp = &path->regs[X86_FP];
	int32_t cfa = sp->at + 8;

	if (makes_frame(path)) {
		begin_rule(rule, dwarf[X86_SP], 8);
		rule->flags |= CFI_MAKES_FRAME;
		return true;
	}
	if (sp->kind != KNOWN || (sp->base != X86_SP && sp->base != X86_FP) ||
	    (sp->base == X86_SP && sp->at < 0) || (sp->base == X86_FP && sp->at < 8))
		return false;
	if (fp->kind == LOST || (fp->kind == KNOWN && (fp->base != X86_FP || fp->at)) ||
	    (fp->kind == IN_MEMORY && fp->base != sp->base))
		return false;
	begin_rule(rule, dwarf[sp->base], cfa);
	for (size_t i = 0; i < sizeof(kept); i++) {
		const struct value *v = &path->regs[kept[i]];

		if (v->kind == IN_MEMORY && v->base == sp->base)
			rule->saved[rule->saved_n++] =
				(struct cfi_saved){.reg = kept[i] < 8 ? dwarf[kept[i]] : kept[i],
						   .where = CFI_AT_CFA,
						   .value = v->at - cfa};
	}
	return true;
}

bool cfi_of_code(const struct code_text *text, uint64_t *ret_words)
{
	const struct code_text cut = {text->p, text->n < WINDOW ? text->n : WINDOW, text->at,
				      text->is_return};
	struct search search;

	search.text = &cut;
	search.pending_n = 0;
	memset(search.seen, 0, sizeof(search.seen));
	search.now.at = (uint32_t)text->at;
	search.now.has_called = false;
	for (uint8_t i = 0; i < 16; i++)
		search.now.regs[i] = (struct value){KNOWN, i, 0};
	// Its frame is being made.
	if (!text->is_return && text->at && text->p[text->at - 1] == 0x55 &&
	    is_entry(text->p + text->at - 1, text->n - text->at + 1)) {
		pop(&search.now, X86_FP);
		return write_rule(&search.now, ret_words);
	}
	for (;;) {
		if (follow(&search) && write_rule(&search.now, ret_words))
			return true;
		if (!search.pending_n)
			return false;
		search.now = search.pending[--search.pending_n];
	}
}
