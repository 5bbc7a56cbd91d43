// SPDX-License-Identifier: GPL-2.0-or-later
// How to get from a frame to its caller by the instructions that lie ahead, for code that nobody describes: what JIT compilers
// made, trampolines, assembly. Only what is sure is told: straight on to the return, or the first instructions of a function that
// keeps a frame pointer.
#include "sym/jit.h"
#include "sym/unwind_walk.h"
#include <sys/uio.h>

enum { AHEAD = 48, DEEPEST = 1 << 12, STEPS = 16 };

// Rules that were made, each once.
struct unwind_made {
	struct unwind_made *next;
	union {
		uint64_t words[3];
		struct cfi_rule rule;
	};
};

void unwind_made_free(struct unwind_made *made)
{
	while (made) {
		struct unwind_made *next = made->next;

		free(made);
		made = next;
	}
}

size_t walk_read_code(const struct walk *w, uint64_t addr, void *ret, size_t size)
{
	const struct mapping *map = space_find_near(w->unwinder->sym, w->task->space, addr);
	struct str bytes;

	if (!map)
		return 0;
	size = MIN(size, map->end - addr);
	if (walk_read_file(w, addr, ret, size))
		return size;
	bytes = jit_bytes(w->unwinder->sym, map->dso, mapping_addr(map, addr));
	if (bytes.n) {
		size = MIN(size, bytes.n);
		memcpy(ret, bytes.p, size);
		return size;
	}
	if (w->unwinder->is_live && w->task->pid) {
		struct iovec to = {ret, size}, from = {(void *)(uintptr_t)addr, size};
		ssize_t n = process_vm_readv((pid_t)w->task->pid, &to, 1, &from, 1, 0);

		return n > 0 ? (size_t)n : 0;
	}
	return 0;
}

// The registers as they will be when the code has gone on, by what they are now: the stack pointer from itself or from the
// frame pointer, the caller's frame pointer in memory or where it is.
struct ahead {
	const uint8_t *p, *end;
	int32_t at;    // of the stack pointer, from `base`
	uint8_t base;  // the register it is counted from
	bool pops_fp;  // the frame pointer comes from memory
	int32_t fp_at; // there, from `base`
	bool is_leaf;
};

static bool take(struct ahead *a, const char *code, size_t n)
{
	if ((size_t)(a->end - a->p) < n || memcmp(a->p, code, n) != 0)
		return false;
	a->p += n;
	return true;
}
#define TAKE(a, code) take(a, code, sizeof(code) - 1)

static bool take_byte(struct ahead *a, int32_t *ret)
{
	if (a->p == a->end)
		return false;
	*ret = (int8_t)*a->p++;
	return true;
}

static bool take_word(struct ahead *a, int32_t *ret)
{
	if (a->end - a->p < 4)
		return false;
	memcpy(ret, a->p, 4);
	a->p += 4;
	return true;
}

enum { FP = 6, SP = 7 };

static bool pop(struct ahead *a, bool is_fp)
{
	if (is_fp) {
		a->pops_fp = true;
		a->fp_at = a->at;
	}
	a->at += 8;
	return true;
}

static bool from_fp(struct ahead *a)
{
	if (a->base == FP || a->pops_fp)
		return false;
	a->base = FP;
	a->at = 0;
	return true;
}

// Of an epilogue. False: none of these.
static bool one_back(struct ahead *a)
{
	int32_t by;

	if (TAKE(a, "\x48\x83\xc4") || TAKE(a, "\x48\x8d\x64\x24")) { // add, lea: 8 bits
		if (!take_byte(a, &by))
			return false;
		a->at += by;
		return true;
	}
	if (TAKE(a, "\x48\x81\xc4") || TAKE(a, "\x48\x8d\xa4\x24")) { // 32 bits
		if (!take_word(a, &by) || by < 0 || by > DEEPEST)
			return false;
		a->at += by;
		return true;
	}
	if (TAKE(a, "\x48\x89\xec") || TAKE(a, "\x48\x8b\xe5"))
		return from_fp(a);
	if (TAKE(a, "\xc9")) // leave
		return from_fp(a) && pop(a, true);
	if (a->p < a->end && *a->p >= 0x58 && *a->p <= 0x5f && *a->p != 0x5c)
		return pop(a, *a->p++ == 0x5d);
	if (a->end - a->p >= 2 && a->p[0] == 0x41 && a->p[1] >= 0x58 && a->p[1] <= 0x5f) {
		a->p += 2;
		return pop(a, false);
	}
	return false;
}

// Before or at a call, as a trampoline has it: what it calls will leave the stack as it is.
static bool one_on(struct ahead *a)
{
	int32_t by;

	if (TAKE(a, "\xf3\x0f\x1e\xfa")) // endbr64
		return true;
	if (TAKE(a, "\x48\x83\xec")) {
		if (!take_byte(a, &by))
			return false;
		a->at -= by;
		return true;
	}
	if (TAKE(a, "\xeb")) { // on to the entry
		if (!take_byte(a, &by) || by < 0 || by > a->end - a->p)
			return false;
		a->p += by;
		return true;
	}
	if (a->end - a->p >= 2 && a->p[0] == 0xff && (a->p[1] & 0xf8) == 0xd0) {
		a->p += 2;
		return true;
	}
	if (a->end - a->p >= 3 && a->p[0] == 0x41 && a->p[1] == 0xff && (a->p[2] & 0xf8) == 0xd0) {
		a->p += 3;
		return true;
	}
	return false;
}

static bool is_frame_set(const uint8_t *p, const uint8_t *end)
{
	return end - p >= 3 &&
	       (memcmp(p, "\x48\x89\xe5", 3) == 0 || memcmp(p, "\x48\x8b\xec", 3) == 0);
}

static bool goes_back(struct ahead *a)
{
	for (int i = 0; i < STEPS && a->p < a->end; i++) {
		if (*a->p == 0xc3 || *a->p == 0xc2 || TAKE(a, "\xf3\xc3"))
			return true;
		// The return address lies where the stack pointer is now.
		if (a->is_leaf && *a->p == 0x55 && is_frame_set(a->p + 1, a->end) &&
		    a->base == SP && !a->pops_fp)
			return a->at == 0;
		if (!one_back(a) && !(a->is_leaf && one_on(a)))
			return false;
	}
	return false;
}

static const struct cfi_rule *made_rule(struct unwinder *unwinder, const struct ahead *a)
{
	struct unwind_made new = {0};

	new.rule.cfa = CFI_CFA_REGISTER;
	new.rule.cfa_reg = a->base;
	new.rule.flags = CFI_SIMPLE;
	new.rule.cfa_offset = a->at + 8;
	new.rule.saved_n = a->pops_fp ? 2 : 1;
	((struct cfi_saved *)&new.words[1])[0] =
		(struct cfi_saved){.reg = PC, .where = CFI_AT_CFA, .value = -8};
	if (a->pops_fp)
		((struct cfi_saved *)&new.words[2])[0] =
			(struct cfi_saved){.reg = FP,
					   .where = CFI_AT_CFA,
					   .value = a->fp_at - a->at - 8};
	for (struct unwind_made *made = unwinder->made; made; made = made->next) {
		if (memcmp(made->words, new.words, sizeof(new.words)) == 0)
			return &made->rule;
	}
	new.next = unwinder->made;
	unwinder->made = xmemdup(&new, sizeof(new));
	return &unwinder->made->rule;
}

const struct cfi_rule *walk_rule_of_code(const struct walk *w, uint64_t pc, bool is_leaf)
{
	uint8_t code[1 + AHEAD];
	struct ahead a = {.base = SP, .is_leaf = is_leaf};
	size_t n;

	if (w->machine->code != EM_X86_64)
		return NULL;
	n = walk_read_code(w, pc - 1, code, sizeof(code));
	a.p = code + 1;
	a.end = code + n;
	if (n < 2) {
		// Nothing in front of it.
		n = walk_read_code(w, pc, code, AHEAD);
		a.p = code;
		a.end = code + n;
	} else if (is_leaf && code[0] == 0x55 && is_frame_set(a.p, a.end)) {
		a.pops_fp = true;
		a.at = 8;
		return made_rule(w->unwinder, &a);
	}
	if (!goes_back(&a) || a.at < 0 || a.at > DEEPEST)
		return NULL;
	return made_rule(w->unwinder, &a);
}
