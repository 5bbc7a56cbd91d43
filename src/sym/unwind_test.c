// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/unwind.h"
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "base/file.h"
#include "base/test.h"
#include "obj/cfi_sample.h"
#include "sym/unwind_cache.h"
#include "sym/unwind_sample.h"

enum { PID = SAMPLE_PID, MOST = 256 };

// ---- this process

static uint32_t unwind_context(struct unwinder *unwinder, const ucontext_t *context,
			       const uint64_t top, uint64_t *ips, enum unwind_end *ret_end)
{
	struct unwind_input input = {.task = sym_task(unwinder->sym, PID, PID),
				     .regs_abi = PERF_SAMPLE_REGS_ABI_64};
	uint64_t regs[33];
#ifdef __x86_64__
	// perf's order, without flags and segments
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
				    REG_RBP, REG_RSP, REG_RIP, REG_R8,	REG_R9,	 REG_R10,
				    REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	input.regs_mask = 0xff01ff;
	input.stack = (const uint8_t *)context->uc_mcontext.gregs[REG_RSP];
#else
	for (size_t i = 0; i < 31; i++)
		regs[i] = context->uc_mcontext.regs[i];
	regs[31] = context->uc_mcontext.sp;
	regs[32] = context->uc_mcontext.pc;
	input.regs_mask = 0x1ffffffff;
	input.stack = (const uint8_t *)context->uc_mcontext.sp;
#endif
	input.regs = regs;
	input.stack_size = top - (uintptr_t)input.stack;
	return unwind_to(unwinder, &input, (struct unwound){ips, MOST, 0}, ret_end);
}

static struct unwinder *self;
static uint64_t self_top;
static volatile bool is_in_signal;
static volatile unsigned compared; // in a signal handler too

// Ours lie in the call; but for what a signal interrupted, and where its handler returns to.
static int count_same(const uint64_t *ours, void *const *theirs, int n)
{
	int same = 0;

	for (int i = 1; i < n; i++) {
		same += ours[i] == (uintptr_t)theirs[i];
		assert_in_range((uintptr_t)theirs[i] - ours[i], 0, 1);
	}
	return same;
}

// As the C library sees it, from the caller of this function on.
static __attribute__((noinline)) void compare_here(void)
{
	void *theirs[MOST];
	uint64_t ours[MOST];
	enum unwind_end end;
	ucontext_t context;
	int n, inner;

	getcontext(&context);
	n = backtrace(theirs, MOST);
	// A sanitizer's own backtrace() stands between.
	inner = n - (int)unwind_context(self, &context, self_top, ours, &end);
	assert_in_range(inner, 0, 1);
	n -= inner;
	assert_int_equal(end, UNWIND_ROOT);
	assert_true(n > 5);
	assert_int_equal(count_same(ours, theirs + inner, n), is_in_signal ? 2 : 0);
	compared++;
}

static __attribute__((noinline)) int recurse(int n, volatile char *p)
{
	volatile char on_stack[40 + n];

	on_stack[n] = p ? p[0] : 0;
	if (n == 0)
		compare_here();
	else
		recurse(n - 1, on_stack);
	return on_stack[n];
}

static int compare_numbers(const void *a, const void *b)
{
	if (compared < 3)
		recurse(3, NULL);
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int signal)
{
	int numbers[] = {5, 3, 4, 1};

	is_in_signal = true;
	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), compare_numbers);
}

static void test_self(void **state)
{
	struct sym *sym = sample_sym();
#ifdef __x86_64__
	const uint16_t machine = EM_X86_64;
#else
	const uint16_t machine = EM_AARCH64;
#endif

	self = unwinder_new(sym, machine);
	assert_non_null(self);
	self_top = sample_maps(sym);
	recurse(0, NULL);
	recurse(20, NULL);
	assert_int_equal(compared, 2);
	compared = 0;
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	assert_int_equal(compared, 3);
	unwinder_free(self);
	sym_free(sym);
}

// ---- made by hand

struct world {
	struct sym *sym;
	struct unwinder *unwinder;
	char path[64];
	uint64_t stack[64];
	uint64_t regs[33];
	struct unwind_input input;
	uint64_t ips[MOST];
};
enum { FILE_AT = 0x7f0000000000, JIT_AT = 0x7e0000000000, STACK_AT = 0x7fff0000 };

// Nothing but call *%rax, so that one can return to every second byte.
static void fill_calls(uint8_t *image)
{
	for (size_t at = 0x1000; at < 0x1100; at += 2)
		memcpy(image + at, "\xff\xd0", 2);
}

static void world_init(struct world *w, uint16_t machine, const struct sample_frames *frames)
{
	static uint8_t image[SAMPLE_SIZE];
	int fd;

	memset(w, 0, sizeof(*w));
	snprintf(w->path, sizeof(w->path), "/tmp/unwind_test.XXXXXX");
	fd = mkstemp(w->path);
	assert_true(fd >= 0);
	sample_elf(image, machine, frames);
	fill_calls(image);
	assert_int_equal(write_all(fd, image, sizeof(image)), 0);
	close(fd);
	w->sym = sample_sym();
	w->unwinder = unwinder_new(w->sym, machine);
	// As mmap(2) does: whole pages, an offset.
	sample_map(w->sym, FILE_AT, FILE_AT + 0x1000, 0x1000, w->path);
	sample_map(w->sym, JIT_AT, JIT_AT + 0x1000, 0, "//anon");
	w->input = (struct unwind_input){.task = sym_task(w->sym, sample_pid, sample_pid),
					 .regs = w->regs,
					 .regs_mask = machine == EM_X86_64 ? 0xff01ff : 0x1ffffffff,
					 .regs_abi = PERF_SAMPLE_REGS_ABI_64,
					 .stack = (const uint8_t *)w->stack,
					 .stack_size = sizeof(w->stack)};
}

static void world_done(struct world *w)
{
	unwinder_free(w->unwinder);
	sym_free(w->sym);
	unlink(w->path);
}

// The end, after the addresses have been checked.
static enum unwind_end expect(struct world *w, const uint64_t *ips, uint32_t n)
{
	enum unwind_end end = UNWIND_ENDS;
	uint32_t got = unwind_to(w->unwinder, &w->input, (struct unwound){w->ips, MOST, 0}, &end);

	for (uint32_t i = 0; i < got && i < n; i++) {
		if (w->ips[i] != ips[i])
			fail_msg("frame %u: %#llx", i, (unsigned long long)w->ips[i]);
	}
	assert_int_equal(got, n);
	return end;
}

static void test_arm64(void **state)
{
	static const uint8_t pushes[] = {0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3};
	static const uint8_t root[] = {7, 30};
	const uint64_t code = FILE_AT, pac = 0x00a5ull << 48;
	struct sample_frames frames = {0};
	struct world w;

	sample_cie(&frames, "zR", 30, "\x0c\x1f\0", 3);
	sample_fde(&frames, 0x1000, 0x40, "", 0); // keeps no frame
	sample_fde(&frames, 0x1040, 0x40, pushes, sizeof(pushes));
	sample_fde(&frames, 0x1080, 0x40, root, sizeof(root));
	world_init(&w, EM_AARCH64, &frames);
	w.regs[29] = 0x1111;
	w.regs[30] = code + 0x50;
	w.regs[31] = STACK_AT;
	w.regs[32] = code + 0x10;
	// Two frames of the second function, then JIT code with a frame record, then the root.
	w.stack[1] = (code + 0x60) | pac;
	w.stack[0] = STACK_AT + 32;
	w.stack[4] = STACK_AT + 80;
	w.stack[5] = JIT_AT + 0x100;
	w.stack[10] = STACK_AT + 200;
	w.stack[11] = code + 0x90;
	const uint64_t ips[] = {code + 0x10, code + 0x4f, code + 0x5f, JIT_AT + 0xff, code + 0x8f};
	assert_int_equal(expect(&w, ips, 5), UNWIND_GUESSED);
	// A leaf that goes on for ever is none.
	w.regs[30] = code + 0x14;
	assert_int_equal(expect(&w, (const uint64_t[]){code + 0x10, code + 0x13}, 2), UNWIND_BAD);
	world_done(&w);
}

static const uint8_t x86_64_start[] = {0x0c, 7, 8, 0x90, 1};

// 0x1000: rsp+8; 0x1040: rsp+32 with rbp saved; 0x1080: root; 0x10c0 of no description; 0x1100 a signal's return
static void x86_64_world(struct world *w)
{
	static const uint8_t saves[] = {0x0e, 32, 0x86, 2};
	static const uint8_t root[] = {7, 16};
	struct sample_frames frames = {0};

	sample_cie(&frames, "zR", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x1000, 0x40, "", 0);
	sample_fde(&frames, 0x1040, 0x40, saves, sizeof(saves));
	sample_fde(&frames, 0x1080, 0x40, root, sizeof(root));
	sample_cie(&frames, "zRS", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x10ff, 0x40, "", 0);
	world_init(w, EM_X86_64, &frames);
	w->regs[7] = STACK_AT;
}

static void test_x86_64(void **state)
{
	const uint64_t code = FILE_AT;
	struct world w;

	x86_64_world(&w);
	w.regs[8] = code + 8;
	w.stack[0] = code + 0x48;     // a frame of 32 bytes
	w.stack[3] = STACK_AT + 0x80; // its rbp: leads JIT code to its caller
	w.stack[4] = JIT_AT + 8;
	w.stack[16] = 0;
	w.stack[17] = code + 0x10;
	w.stack[18] = code + 0x88;
	const uint64_t ips[] = {code + 8, code + 0x47, JIT_AT + 7, code + 0xf, code + 0x87};
	assert_int_equal(expect(&w, ips, 5), UNWIND_GUESSED);
	// The same once more, from what is known now.
	assert_int_equal(expect(&w, ips, 5), UNWIND_GUESSED);
	// Not deeper than asked for.
	enum unwind_end end;
	assert_int_equal(unwind_to(w.unwinder, &w.input, (struct unwound){w.ips, 4, 0}, &end), 4);
	assert_int_equal(end, UNWIND_LIMIT);
	assert_int_equal(unwind_to(w.unwinder, &w.input, (struct unwound){w.ips, 5, 0}, &end), 5);
	assert_int_equal(end, UNWIND_GUESSED);
	// A copy that ends in between.
	w.input.stack_size = 32;
	assert_int_equal(expect(&w, ips, 2), UNWIND_SHORT);
	w.input.stack_size = 40;
	assert_int_equal(expect(&w, ips, 3), UNWIND_SHORT);
	w.input.stack_size = 3;
	assert_int_equal(expect(&w, ips, 1), UNWIND_SHORT);
	w.input.stack_size = sizeof(w.stack);
	// JIT code whose rbp means something else.
	w.stack[3] = 12345;
	assert_int_equal(expect(&w, ips, 3), UNWIND_NO_INFO);
	w.stack[3] = STACK_AT + 0x80;
	w.stack[17] = 99; // no code there
	assert_int_equal(expect(&w, ips, 3), UNWIND_NO_INFO);
	// The outermost frame of code with frame pointers.
	w.stack[3] = 0;
	assert_int_equal(expect(&w, ips, 3), UNWIND_ROOT);
	world_done(&w);
}

// gcc says of a function that realigns its stack that rbp lies where rbp points to, also when it is the caller's again.
static void test_realigned(void **state)
{
	// At 8: CFA where rbp-8 says, rbp at rbp; at 16: CFA r10; at 24: rsp+8.
	static const uint8_t realigned[] = {0x48, 0x0f, 3,    0x76, 0x78, 6,	0x10, 6, 2, 0x76,
					    0,	  0x48, 0x0c, 10,   0,	  0x48, 0x0c, 7, 8};
	static const uint8_t keeps[] = {0x0e, 16, 0x86, 2, 0x0d, 6};
	static const uint8_t root[] = {7, 16};
	static const struct {
		unsigned at, sp, fp; // sp, fp: words of the stack
	} cases[] = {{10, 0, 2}, {17, 0, 2}, {18, 3, 8}, {26, 5, 8}};
	const uint64_t code = FILE_AT;
	struct sample_frames frames = {0};
	struct world w;

	sample_cie(&frames, "zR", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x1000, 0x40, realigned, sizeof(realigned));
	sample_fde(&frames, 0x1040, 0x40, keeps, sizeof(keeps));
	sample_fde(&frames, 0x1080, 0x40, root, sizeof(root));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint64_t ips[] = {code + cases[i].at, code + 0x47, code + 0x5f, code + 0x87};

		world_init(&w, EM_X86_64, &frames);
		w.stack[1] = STACK_AT + 6 * 8; // CFA
		w.stack[2] = STACK_AT + 8 * 8; // rbp of the caller, whose own caller's lies there
		w.stack[5] = code + 0x48;
		w.stack[8] = STACK_AT + 12 * 8;
		w.stack[9] = code + 0x60;
		w.stack[12] = STACK_AT + 16 * 8;
		w.stack[13] = code + 0x88;
		w.stack[17] = code + 0x88;
		w.regs[6] = STACK_AT + cases[i].fp * 8;
		w.regs[7] = STACK_AT + cases[i].sp * 8;
		w.regs[8] = code + cases[i].at;
		w.regs[11] = STACK_AT + 6 * 8; // r10
		w.input.stack = (const uint8_t *)(w.stack + cases[i].sp);
		w.input.stack_size = sizeof(w.stack) - cases[i].sp * 8;
		assert_int_equal(expect(&w, ips, 4), UNWIND_ROOT);
		world_done(&w);
	}
}

// What frame information leads to is no frame where no code is, and not for sure where nothing calls.
static void test_no_return(void **state)
{
	static const uint8_t root[] = {7, 16};
	const uint64_t code = FILE_AT;
	const uint64_t ips[] = {code + 8, code + 0x12f, code + 0x87};
	struct sample_frames frames = {0};
	struct world w;

	sample_cie(&frames, "zR", 16, x86_64_start, sizeof(x86_64_start));
	sample_fde(&frames, 0x1000, 0x40, "", 0);
	sample_fde(&frames, 0x1080, 0x40, root, sizeof(root));
	sample_fde(&frames, 0x1100, 0x40, "", 0);
	world_init(&w, EM_X86_64, &frames);
	w.regs[7] = STACK_AT;
	w.regs[8] = code + 8;
	w.stack[0] = code + 0x130;
	w.stack[1] = code + 0x88;
	assert_int_equal(expect(&w, ips, 3), UNWIND_GUESSED);
	w.stack[0] = code + 0x10;
	w.stack[1] = 0x5e1f90e7b57ff;
	const uint64_t cut[] = {code + 8, code + 0xf};
	assert_int_equal(expect(&w, cut, 2), UNWIND_BAD);
	world_done(&w);
}

static void test_x86_64_signal(void **state)
{
	const uint64_t code = FILE_AT;
	struct world w;

	x86_64_world(&w);
	w.regs[8] = code + 8;
	// The trampoline begins where it is returned to, the interrupted code where it will go on.
	w.stack[0] = code + 0x100;
	w.stack[1] = code + 0x40;
	w.stack[5] = code + 0x90;
	const uint64_t ips[] = {code + 8, code + 0x100, code + 0x40, code + 0x8f};
	assert_int_equal(expect(&w, ips, 4), UNWIND_ROOT);
	world_done(&w);
}

// Where the copy ends the kernel's own chain leads on, if it had been right up to there.
static void test_by_kernel(void **state)
{
	const uint64_t code = FILE_AT;
	const uint64_t theirs[] = {code + 8,	code + 0x48, JIT_AT + 8,
				   code + 0x10, code + 0x88, JIT_AT};
	const uint64_t ours[] = {code + 8, code + 0x47, JIT_AT + 7, code + 0xf, code + 0x87};
	struct world w;

	x86_64_world(&w);
	w.regs[8] = code + 8;
	w.stack[0] = code + 0x48;
	w.stack[3] = STACK_AT + 0x80;
	w.stack[4] = JIT_AT + 8;
	w.input.stack_size = 40;
	assert_int_equal(expect(&w, ours, 3), UNWIND_SHORT);
	w.input.by_kernel = theirs;
	w.input.by_kernel_n = ARRAY_SIZE(theirs);
	assert_int_equal(expect(&w, ours, 5), UNWIND_GUESSED);
	w.input.by_kernel_n = 4;
	assert_int_equal(expect(&w, ours, 4), UNWIND_SHORT);
	// Not to where there is no code.
	const uint64_t nowhere[] = {code + 8, code + 0x48, JIT_AT + 8, 99, code + 0x88};
	w.input.by_kernel = nowhere;
	w.input.by_kernel_n = ARRAY_SIZE(nowhere);
	assert_int_equal(expect(&w, ours, 3), UNWIND_SHORT);
	// One frame that is the same may be so by chance.
	const uint64_t others[] = {code + 8, JIT_AT + 8, code + 0x10, code + 0x88};
	w.input.by_kernel = others;
	w.input.by_kernel_n = ARRAY_SIZE(others);
	assert_int_equal(expect(&w, ours, 3), UNWIND_SHORT);
	world_done(&w);
}

// Code that a compiler made while the program ran is read from the program's memory: what it does up to its return tells how
// to get on. It has no frame pointer here.
static void test_made_code(void **state)
{
	static const struct {
		const char *code;
		size_t n;
		unsigned at; // of the instruction
		bool is_leaf;
		unsigned words; // on the stack below the return address
	} cases[] = {
		// A trampoline: sub $8,%rsp; call *%rcx; add $8,%rsp; ret
		{"\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3", 11, 6, false, 1},
		{"\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3", 11, 0, true, 0},
		{"\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3", 11, 4, true, 1},
		{"\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3", 11, 10, true, 0},
		// test $1,%al; push %rbp; mov %rsp,%rbp before its frame is there
		{"\xa8\x01\x55\x48\x89\xe5\x0f\x0b", 8, 0, true, 0},
		// push %rbp; mov %rsp,%rbp
		{"\x55\x48\x89\xe5\x0f\x0b", 6, 0, true, 0},
		{"\x55\x48\x89\xe5\x0f\x0b", 6, 1, true, 1},
		// call *%rax; jmp to what puts an instruction of 10 bytes there; add $8,%rsp; ret
		{"\xff\xd0\xe9\x0f\0\0\0\0\0\0\0\0\x48\x83\xc4\x08\xc3"
		 "\xb8\0\x0f\x05\x0a\xff\xd0\xe9\xe5\xff\xff\xff",
		 29, 2, false, 1},
		// call; pop %rbx; pop %r12; ret
		{"\xff\xd0\x5b\x41\x5c\xc3", 6, 2, false, 2},
	};
	const uint64_t code = FILE_AT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t *page =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		const uint64_t jit = (uintptr_t)page;
		struct world w;
		uint64_t *sp = w.stack;

		assert_true(page != MAP_FAILED);

		sample_pid = (uint32_t)getpid();
		x86_64_world(&w);
		sample_pid = PID;
		w.unwinder->is_live = true;
		memset(page, 0xcc, 4096);
		memcpy(page + 64, cases[i].code, cases[i].n);
		w.input.task->space->generation++;
		sample_pid = (uint32_t)getpid();
		sample_map(w.sym, jit, jit + 4096, 0, "//anon");
		sample_pid = PID;
		w.regs[6] = 12345;
		w.regs[8] = cases[i].is_leaf ? jit + 64 + cases[i].at : code + 8;
		if (!cases[i].is_leaf)
			*sp++ = jit + 64 + cases[i].at;
		sp[cases[i].words] = code + 0x88;
		const uint64_t ips[] = {w.regs[8], jit + 63 + cases[i].at, code + 0x87};
		const uint64_t leaf[] = {w.regs[8], code + 0x87};
		assert_int_equal(cases[i].is_leaf ? expect(&w, leaf, 2) : expect(&w, ips, 3),
				 UNWIND_ROOT);
		// When the program has ended, by what was read before.
		munmap(page, 4096);
		w.input.task->space->generation++;
		assert_int_equal(cases[i].is_leaf ? expect(&w, leaf, 2) : expect(&w, ips, 3),
				 UNWIND_ROOT);
		world_done(&w);
	}
}

// Memory of this process that the task has for made code, filled with int3.
static uint8_t *made_world(struct world *w, size_t size)
{
	uint8_t *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(page != MAP_FAILED);
	sample_pid = (uint32_t)getpid();
	x86_64_world(w);
	w->unwinder->is_live = true;
	memset(page, 0xcc, size);
	sample_map(w->sym, (uintptr_t)page, (uintptr_t)page + size, 0, "//anon");
	sample_pid = PID;
	return page;
}

// A function whose frame is made by what it calls first: until then it has none, though its instructions leave one.
static void test_made_frame(void **state)
{
	static const uint8_t function[] = {0xe8, 11, 0, 0, 0, 0xc9, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,
					   0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
					   // pop %r15; push %rbp; mov %rsp,%rbp; push %rsi; push %r15; ret
					   0x41, 0x5f, 0x55, 0x48, 0x89, 0xe5, 0x56, 0x41, 0x57,
					   0xc3};
	struct world w;
	uint8_t *page = made_world(&w, 4096);
	const uint64_t jit = (uintptr_t)page, code = FILE_AT;

	memcpy(page + 64, function, sizeof(function));
	// Its caller's: another frame, that must not be left out.
	w.regs[6] = STACK_AT + 0x40;
	w.regs[8] = jit + 64 + 16;
	w.stack[0] = jit + 64 + 5;
	w.stack[1] = code + 0x88;
	const uint64_t ips[] = {w.regs[8], jit + 64 + 4, code + 0x87};
	assert_int_equal(expect(&w, ips, 3), UNWIND_ROOT);
	// Before it calls that.
	w.regs[8] = jit + 64;
	w.stack[0] = code + 0x88;
	const uint64_t first[] = {w.regs[8], code + 0x87};
	assert_int_equal(expect(&w, first, 2), UNWIND_ROOT);
	munmap(page, 4096);
	world_done(&w);
}

// A loop whose end lies far behind its start, from where it goes to the return.
static void test_made_loop(void **state)
{
	enum { END = 3000, SIZE = 2 * 4096 };
	struct world w;
	uint8_t *page = made_world(&w, SIZE);
	const uint64_t jit = (uintptr_t)page, code = FILE_AT;
	const int32_t back = -(END + 7);

	memcpy(page, "\x48\x83\xc4\x08\xc3", 5); // add $8,%rsp; ret
	memcpy(page + END, "\xff\xd0\xe9", 3);	 // call *%rax; jmp
	memcpy(page + END + 3, &back, 4);
	w.regs[6] = STACK_AT + 0x40;
	w.regs[8] = code + 8;
	w.stack[0] = jit + END + 2;
	w.stack[2] = code + 0x88;
	const uint64_t ips[] = {w.regs[8], jit + END + 1, code + 0x87};
	assert_int_equal(expect(&w, ips, 3), UNWIND_ROOT);
	munmap(page, SIZE);
	world_done(&w);
}

// The first look may come before the compiler has put in what is called: nothing tells of the change.
static void test_made_later(void **state)
{
	uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t code = FILE_AT, jit = (uintptr_t)page;
	const uint64_t ips[] = {code + 8, jit + 69, code + 0x87};
	enum unwind_end end;
	struct world w;

	assert_true(page != MAP_FAILED);
	sample_pid = (uint32_t)getpid();
	x86_64_world(&w);
	w.unwinder->is_live = true;
	sample_map(w.sym, jit, jit + 4096, 0, "//anon");
	sample_pid = PID;
	memset(page, 0xcc, 4096);
	// sub $8,%rsp; call *%rcx; what comes later: add $8,%rsp; ret
	memcpy(page + 64, "\x48\x83\xec\x08\xff\xd1", 6);
	w.regs[6] = 12345;
	w.regs[8] = code + 8;
	w.stack[0] = jit + 70;
	w.stack[2] = code + 0x88;
	assert_int_equal(expect(&w, ips, 2), UNWIND_NO_INFO);
	memcpy(page + 70, "\x48\x83\xc4\x08\xc3", 5);
	for (int i = 0; i < 8; i++)
		unwind_to(w.unwinder, &w.input, (struct unwound){w.ips, MOST, 0}, &end);
	assert_int_equal(expect(&w, ips, 3), UNWIND_ROOT);
	munmap(page, 4096);
	world_done(&w);
}

// Made code that called the program's on the thread's stack has its frames on another one: where the kernel's chain knows
// on, as its frame pointer was the same, that is the way.
static void test_elsewhere(void **state)
{
	const uint64_t code = FILE_AT;
	const uint64_t theirs[] = {code + 8, JIT_AT + 0x20, JIT_AT + 0x40, code + 0x88};
	const uint64_t ips[] = {code + 8, JIT_AT + 7, JIT_AT + 0x1f, JIT_AT + 0x3f, code + 0x87};
	struct world w;

	x86_64_world(&w);
	w.regs[8] = code + 8;
	w.regs[6] = 0x7e1000000000;
	w.stack[0] = JIT_AT + 8;
	assert_int_equal(expect(&w, (uint64_t[]){code + 8, JIT_AT + 7}, 2), UNWIND_NO_INFO);
	w.input.by_kernel = theirs;
	w.input.by_kernel_n = ARRAY_SIZE(theirs);
	assert_int_equal(expect(&w, ips, 5), UNWIND_GUESSED);
	w.input.by_kernel_n = 3;
	assert_int_equal(expect(&w, ips, 4), UNWIND_NO_INFO);
	// Of another sample.
	w.regs[8] = code + 9;
	assert_int_equal(expect(&w, (uint64_t[]){code + 9, JIT_AT + 7}, 2), UNWIND_NO_INFO);
	world_done(&w);
}

// An ELF file of 32 bits: code at 0x1000 in it.
static void sample_elf32(uint8_t *ret, const struct sample_frames *frames)
{
	static const char names[] = "\0.eh_frame\0.shstrtab";
	const Elf32_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
				 .e_type = ET_DYN,
				 .e_machine = EM_386,
				 .e_version = EV_CURRENT,
				 .e_phoff = 0x40,
				 .e_shoff = 0x80,
				 .e_ehsize = sizeof(head),
				 .e_phentsize = sizeof(Elf32_Phdr),
				 .e_phnum = 1,
				 .e_shentsize = sizeof(Elf32_Shdr),
				 .e_shnum = 3,
				 .e_shstrndx = 2};
	const Elf32_Phdr load = {.p_type = PT_LOAD,
				 .p_flags = PF_R | PF_X,
				 .p_filesz = SAMPLE_SIZE,
				 .p_memsz = SAMPLE_SIZE};
	const Elf32_Shdr sections[3] = {
		{0},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_addr = SAMPLE_FRAMES_AT,
		 .sh_offset = SAMPLE_FRAMES_AT,
		 .sh_size = frames->n},
		{.sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = 0xf00, .sh_size = sizeof(names)},
	};

	memset(ret, 0, SAMPLE_SIZE);
	memcpy(ret, &head, sizeof(head));
	memcpy(ret + 0x40, &load, sizeof(load));
	memcpy(ret + 0x80, sections, sizeof(sections));
	memcpy(ret + SAMPLE_FRAMES_AT, frames->bytes, frames->n);
	memcpy(ret + 0xf00, names, sizeof(names));
}

// A 32-bit program: of an x86-64 machine and of an i686.
static void test_i386(void **state)
{
	enum { CODE = 0x8000000, VDSO = 0xf7000000, STACK = 0xff800000, ALIGNMENT_AT = 13 };
	// CFA esp+4; +16 with ebp saved; from where ebp-16 points to, as main realigns itself; none
	static const uint8_t start[] = {0x0c, 4, 4, 0x88, 1}, saves[] = {0x0e, 16, 0x85, 2};
	static const uint8_t realigned[] = {0x0f, 3, 0x75, 0x70, 6, 0x10, 5, 2, 0x75, 0};
	static const uint8_t root[] = {7, 8};
	static const uint16_t machines[] = {EM_X86_64, EM_386};
	static uint8_t image[SAMPLE_SIZE];
	struct sample_frames frames = {0};
	uint32_t stack[96];
	struct world w;

	sample_cie(&frames, "zR", 8, start, sizeof(start));
	frames.bytes[frames.cie + ALIGNMENT_AT] = 0x7c; // -4
	sample_fde(&frames, 0x1000, 0x40, "", 0);
	sample_fde(&frames, 0x1040, 0x40, saves, sizeof(saves));
	sample_fde(&frames, 0x1080, 0x40, root, sizeof(root));
	sample_fde(&frames, 0x10c0, 0x40, realigned, sizeof(realigned));
	sample_elf32(image, &frames);
	fill_calls(image);
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		enum unwind_end end;
		int fd;

		memset(stack, 0, sizeof(stack));
		memset(&w, 0, sizeof(w));
		snprintf(w.path, sizeof(w.path), "/tmp/unwind_test.XXXXXX");
		fd = mkstemp(w.path);
		assert_true(fd >= 0);
		assert_int_equal(write_all(fd, image, sizeof(image)), 0);
		close(fd);
		w.sym = sample_sym();
		w.unwinder = unwinder_new(w.sym, machines[i]);
		assert_non_null(w.unwinder);
		sample_map(w.sym, CODE, CODE + 0x1000, 0x1000, w.path);
		sample_map(w.sym, VDSO, VDSO + 0x1000, 0, "[vdso]");
		w.input = (struct unwind_input){.task = sym_task(w.sym, PID, PID),
						.regs = w.regs,
						.regs_mask = 0x1ff,
						.regs_abi = PERF_SAMPLE_REGS_ABI_32,
						.stack = (const uint8_t *)stack,
						.stack_size = sizeof(stack)};
		w.regs[7] = STACK; // esp
		w.regs[8] = CODE + 8;
		stack[0] = CODE + 0x48;	 // a frame of 16 bytes
		stack[3] = STACK + 0x30; // its ebp
		stack[4] = CODE + 0xd0;	 // realigned: its CFA lies at ebp-16
		stack[8] = STACK + 0x40;
		stack[12] = 77; // ebp of its caller
		stack[15] = CODE + 0x88;
		const uint64_t ips[] = {CODE + 8, CODE + 0x47, CODE + 0xcf, CODE + 0x87};
		assert_int_equal(expect(&w, ips, 4), UNWIND_ROOT);
		w.input.stack_size = 14;
		assert_int_equal(expect(&w, ips, 2), UNWIND_SHORT);
		w.input.stack_size = sizeof(stack);

		// A signal handler, without and with more arguments; what was interrupted is a leaf.
		for (int is_rt = 0; is_rt < 2; is_rt++) {
			uint32_t *context = is_rt ? stack + 1 + 40 : stack + 2;

			memset(stack, 0, sizeof(stack));
			stack[0] = VDSO + 0x560;
			stack[1] = 10;
			if (is_rt) {
				stack[2] = STACK + 16; // info
				stack[3] = STACK + 144;
			}
			context[4 + 3] = STACK + 90 * 4; // esp
			context[4 + 10] = CODE + 0x10;
			stack[90] = CODE + 0x88;
			const uint64_t signal[] = {CODE + 8, VDSO + 0x560, CODE + 0x10, CODE + 0x87};
			assert_int_equal(expect(&w, signal, 4), UNWIND_ROOT);
		}
		assert_int_equal(unwind_to(w.unwinder, &w.input, (struct unwound){w.ips, 1, 0}, &end),
				 1);
		// In a system call, as kernels do it now and as they did it.
		memset(stack, 0, sizeof(stack));
		w.regs[8] = VDSO + 0x549;
		stack[3] = CODE + 0x88;
		const uint64_t call[] = {VDSO + 0x549, CODE + 0x87};
		assert_int_equal(expect(&w, call, 2), UNWIND_ROOT);
		stack[0] = CODE + 0x88;
		stack[3] = 0;
		assert_int_equal(expect(&w, call, 2), UNWIND_ROOT);
		world_done(&w);
	}
}

static void test_nowhere(void **state)
{
	const uint64_t code = FILE_AT;
	struct world w;

	// A call through a pointer to nothing.
	x86_64_world(&w);
	w.regs[8] = 0x10;
	w.stack[0] = code + 0x88;
	assert_int_equal(expect(&w, (const uint64_t[]){0x10, code + 0x87}, 2), UNWIND_ROOT);
	w.stack[0] = 0x99;
	w.regs[6] = 0x99;
	assert_int_equal(expect(&w, (const uint64_t[]){0x10}, 1), UNWIND_NO_INFO);
	// Registers that don't help.
	w.input.regs_abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_int_equal(expect(&w, NULL, 0), UNWIND_NO_INFO);
	w.input.regs_abi = PERF_SAMPLE_REGS_ABI_64;
	w.input.regs_mask = 0xff;
	assert_int_equal(expect(&w, NULL, 0), UNWIND_NO_INFO);
	w.input.regs_mask = 0xff01ff;
	w.input.regs = NULL;
	assert_int_equal(expect(&w, NULL, 0), UNWIND_NO_INFO);
	// A file that is not here.
	sample_map(w.sym, FILE_AT + 0x100000, FILE_AT + 0x101000, 0, "/nowhere/library.so");
	w.input.regs = w.regs;
	w.regs[8] = FILE_AT + 0x100010;
	w.regs[6] = STACK_AT + 16;
	w.stack[2] = STACK_AT + 64;
	w.stack[3] = code + 0x88;
	assert_int_equal(expect(&w, (const uint64_t[]){w.regs[8]}, 1), UNWIND_NO_INFO);
	world_done(&w);
}

static void test_sample(void **state)
{
	const uint64_t code = FILE_AT, recorded[] = {PERF_CONTEXT_KERNEL, 1, 2, 3};
	const struct sample_plan plan = {.user_mask = 0xff01ff};
	struct sample sample = {.callchain = recorded,
				.callchain_n = 4,
				.user_abi = PERF_SAMPLE_REGS_ABI_64,
				.cpumode = PERF_RECORD_MISC_USER};
	uint64_t chain[64];
	struct world w;

	x86_64_world(&w);
	w.regs[8] = code + 8;
	w.stack[0] = code + 0x88;
	sample.user_regs = w.regs;
	sample.user_stack = w.input.stack;
	sample.user_stack_size = sizeof(w.stack);
	const struct unwind_sample of = {w.input.task, &sample, &plan};
	const uint64_t whole[] = {PERF_CONTEXT_KERNEL, 1,	 2,	     3,
				  PERF_CONTEXT_USER,   code + 8, code + 0x87};
	assert_int_equal(unwind_sample(w.unwinder, &of, chain, 10), 7);
	assert_memory_equal(chain, whole, sizeof(whole));
	// Both parts have the limit.
	const uint64_t cut[] = {PERF_CONTEXT_KERNEL, 1, PERF_CONTEXT_USER, code + 8};
	assert_int_equal(unwind_sample(w.unwinder, &of, chain, 1), 4);
	assert_memory_equal(chain, cut, sizeof(cut));
	sample.user_regs = NULL;
	assert_int_equal(unwind_sample(w.unwinder, &of, chain, 10), 4);
	assert_memory_equal(chain, recorded, sizeof(recorded));
	assert_int_equal(w.unwinder->counts.ends[UNWIND_ROOT], 1);
	assert_int_equal(w.unwinder->counts.ends[UNWIND_LIMIT], 1);
	assert_int_equal(w.unwinder->counts.without, 1);
	assert_int_equal(w.unwinder->counts.frames, 3);
	world_done(&w);
}

// ---- the cache's files

static void test_cache(void **state)
{
	enum { ROWS = 5000 };
	const struct build_id id = {20, "0123456789abcdefghij"}, other = {20, "0123456789abcdefghik"};
	const struct cfi_rule rule = {CFI_CFA_REGISTER, 7, CFI_SIMPLE, 1, 8};
	const struct cfi_saved ra = {CFI_RA_COLUMN, CFI_AT_CFA, 0, -8};
	uint64_t *words = xcalloc(3, 8);
	struct cfi_row *rows = xcalloc(ROWS, sizeof(*rows));
	struct cfi_table table = {.rows = rows,
				  .rules = words,
				  .expressions = (const uint8_t *)"",
				  .rows_n = ROWS,
				  .rules_n = 3,
				  .machine = EM_X86_64},
			 parsed;
	char folder[] = "/tmp/unwind_test.XXXXXX", path[256];
	struct unwind_tables *tables;
	const struct cfi_table *got;
	struct mapped file;
	uint8_t *bytes;

	memcpy(words + 1, &rule, 8);
	memcpy(words + 2, &ra, 8);
	for (uint32_t i = 0; i < ROWS; i++)
		rows[i] = (struct cfi_row){16 + i * 4, i % 2 == 0 && i + 1 < ROWS ? 1 : 0};
	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	tables = unwind_tables_new(false);
	assert_null(unwind_tables_find(tables, &id));
	got = unwind_tables_add(tables, &id, &table);
	assert_ptr_equal(unwind_tables_find(tables, &id), got);
	assert_null(unwind_tables_find(tables, &other));
	unwind_tables_free(tables);

	tables = unwind_tables_new(false);
	got = unwind_tables_find(tables, &id);
	assert_non_null(got);
	assert_int_equal(got->rows_n, ROWS);
	assert_memory_equal(got->rows, rows, ROWS * sizeof(*rows));
	assert_memory_equal(got->rules, words, 24);
	assert_null(unwind_tables_find(tables, &other));
	unwind_tables_free(tables);

	snprintf(path, sizeof(path), "%s/sonde/unwind-%s", folder,
		 "303132333435363738396162636465666768696a");
	assert_int_equal(file_map(&file, path), 0);
	bytes = xmemdup(file.p, file.n);
	assert_true(unwind_cache_parse(bytes, file.n, &id, &parsed));
	assert_false(unwind_cache_parse(bytes, file.n - 1, &id, &parsed));
	assert_false(unwind_cache_parse(bytes, file.n, &other, &parsed));
	for (size_t i = 0; i < file.n; i += i < 100 ? 1 : 997) {
		bytes[i] ^= 0x40;
		if (unwind_cache_parse(bytes, file.n, &id, &parsed))
			fail_msg("a change of byte %zu is not seen", i);
		bytes[i] ^= 0x40;
	}
	// A file that is cut is made anew.
	assert_int_equal(file_write(path, bytes, file.n / 2), 0);
	tables = unwind_tables_new(false);
	assert_null(unwind_tables_find(tables, &id));
	unwind_tables_add(tables, &id, &table);
	unwind_tables_free(tables);
	tables = unwind_tables_new(false);
	assert_non_null(unwind_tables_find(tables, &id));
	unwind_tables_free(tables);

	free(bytes);
	file_unmap(&file);
	free(rows);
	free(words);
	unlink(path);
	snprintf(path, sizeof(path), "%s/sonde", folder);
	rmdir(path);
	rmdir(folder);
	unsetenv("XDG_CACHE_HOME");
}

RUN_TESTS(TEST(test_self), TEST(test_arm64), TEST(test_x86_64), TEST(test_x86_64_signal),
	  TEST(test_realigned), TEST(test_no_return), TEST(test_i386), TEST(test_made_later),
	  TEST(test_by_kernel), TEST(test_made_code), TEST(test_made_frame), TEST(test_made_loop),
	  TEST(test_elsewhere), TEST(test_nowhere), TEST(test_sample), TEST(test_cache))
