// SPDX-License-Identifier: GPL-2.0-or-later
// A program that is run step by step: the stack at each of its instructions is known from the calls that were made.
#include "sym/unwind.h"
#include <alloca.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>
#include "base/test.h"
#include "sym/unwind_sample.h"

#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)

enum { MOST = 64, COPY = 1 << 15, MOST_STEPS = 200000, LANDINGS = 12, LEAST_STEPS = 2000 };

// ---- what is run

static volatile long sink;

// Their stacks are realigned in a way in which gcc finds the frame by r10 or rbp, and rbp by itself.
static __attribute__((noipa)) long aligned_leaf(long a, long b)
{
	char *some = alloca((a & 127) + 54);

	memset(some, (int)a, (a & 127) + 54);
	sink = some[b & 15];
	volatile char bytes[64] __attribute__((aligned(64)));
	for (int i = 0; i < 5; i++)
		bytes[i & 63] = (char)i;
	return a + bytes[3] + sink;
}

static __attribute__((noipa)) long aligned(long a, long b)
{
	{
		volatile char bytes[64] __attribute__((aligned(64)));

		for (int i = 0; i < 5; i++)
			bytes[i & 63] = (char)i;
		sink = bytes[3];
	}
	{
		char text[80];

		snprintf(text, sizeof(text), "%ld %f", a, 1.5 * (double)(b & 255));
		sink = text[2];
	}
	return a + aligned_leaf(a + 1, b) + sink;
}

// rbp is the frame pointer of its kind; of the other, something else.
static __attribute__((noinline)) long by_frame_pointer(long a)
{
	volatile char *bytes = alloca((a & 15) + 32);

	bytes[a & 15] = (char)a;
	return aligned(a, 3) + bytes[a & 15] + aligned_leaf(a + 3, a);
}

static __attribute__((noipa, optimize("omit-frame-pointer"))) long by_stack_pointer(long a)
{
	long b = sink, c = a ^ 5, d = b + c, e = d * 3, f = e ^ b;

	for (int i = 0; i < 2; i++) {
		f += by_frame_pointer(a + f) ^ b;
		e += aligned_leaf(e, a) ^ c;
		d ^= e;
	}
	return b + c + d + e + f;
}

static int compare(const void *a, const void *b)
{
	sink = aligned_leaf(3, 4);
	return *(const int *)a - *(const int *)b;
}

// An exception: one that catches gets it from `raises`, over one that cleans up on the way, by frame pointer or not. Whom they call
// their instructions tell, or a register only.
static void raises(void);
static __attribute__((noipa, used)) void passes(void)
{
	volatile char bytes[48];

	bytes[3] = 1;
	raises();
	sink += bytes[3];
}

#define BY_SP                                                                                      \
	"sub $24, %rsp; .cfi_adjust_cfa_offset 24\n", "add $24, %rsp; .cfi_adjust_cfa_offset -24\n"
#define BY_FP                                                                                      \
	"push %rbp; .cfi_def_cfa_offset 16; .cfi_offset 6, -16\n"                                  \
	"mov %rsp, %rbp; .cfi_def_cfa_register 6; sub $32, %rsp\n",                                \
		"leave; .cfi_def_cfa 7, 8\n"
#define CATCHES "", "ret\n"
#define CLEANS "mov %rax, %rdi; call _Unwind_Resume; nop\n", ""
#define CALLS_PASSES "call passes\n"
#define CALLS_GIVEN "mov %rdi, %rax; mov %rsi, %rdi; call *%rax\n"
#define PAD(name, call, frame, does) PAD_(name, call, frame, does)
#define PAD_(name, call, enter, leave, before, after)                                               \
	void name(void *callee, void *its);                                                         \
	extern char name##_landing[];                                                               \
	__asm__(".text\n" #name ": .cfi_startproc; .cfi_personality 0x1b, personality\n" enter call \
		"nop\n" #name "_landing: " before leave after ".cfi_endproc\n");

PAD(catches, CALLS_PASSES, BY_SP, CATCHES)
PAD(catches_by_fp, CALLS_PASSES, BY_FP, CATCHES)
PAD(catches_any, CALLS_GIVEN, BY_SP, CATCHES)
PAD(catches_any_by_fp, CALLS_GIVEN, BY_FP, CATCHES)
PAD(cleans, CALLS_PASSES, BY_SP, CLEANS)
PAD(cleans_by_fp, CALLS_PASSES, BY_FP, CLEANS)
PAD(cleans_any, CALLS_GIVEN, BY_SP, CLEANS)
PAD(cleans_any_by_fp, CALLS_GIVEN, BY_FP, CLEANS)

static const struct pad {
	void (*function)(void *, void *);
	char *landing;
	bool cleans;
} pads[] = {
	{catches, catches_landing},
	{catches_by_fp, catches_by_fp_landing},
	{catches_any, catches_any_landing},
	{catches_any_by_fp, catches_any_by_fp_landing},
	{cleans, cleans_landing, true},
	{cleans_by_fp, cleans_by_fp_landing, true},
	{cleans_any, cleans_any_landing, true},
	{cleans_any_by_fp, cleans_any_by_fp_landing, true},
};

_Unwind_Reason_Code personality(int version, _Unwind_Action actions, uint64_t kind,
				struct _Unwind_Exception *exception, struct _Unwind_Context *context);
_Unwind_Reason_Code personality(int version, _Unwind_Action actions, uint64_t kind,
				struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	const struct pad *pad = pads;

	while ((uintptr_t)pad->function != _Unwind_GetRegionStart(context))
		pad++;
	// What it calls to go on comes here as well.
	if (pad->cleans &&
	    (actions & _UA_SEARCH_PHASE || _Unwind_GetIP(context) > (uintptr_t)pad->landing))
		return _URC_CONTINUE_UNWIND;
	if (actions & _UA_SEARCH_PHASE)
		return _URC_HANDLER_FOUND;
	_Unwind_SetGR(context, 0, (uintptr_t)exception);
	_Unwind_SetIP(context, (uintptr_t)pad->landing);
	return _URC_INSTALL_CONTEXT;
}

static __attribute__((noipa)) void raises(void)
{
	static struct _Unwind_Exception exception;

	_Unwind_RaiseException(&exception);
	sink++;
}

// As OCaml does it.
void handles(void);
void raises_to_handler(void);
extern char handles_landing[];
__attribute__((used)) void *volatile handler;
__asm__(".text\n"
	"handles: .cfi_startproc; lea handles_landing(%rip), %rax; push %rax; .cfi_adjust_cfa_offset 8\n"
	"push handler(%rip); .cfi_adjust_cfa_offset 8; mov %rsp, handler(%rip)\n"
	"call raises_to_handler; nop\n"
	"handles_landing: .cfi_adjust_cfa_offset -16; ret; .cfi_endproc\n"
	"raises_to_handler: .cfi_startproc; mov handler(%rip), %rsp\n"
	"pop handler(%rip); .cfi_adjust_cfa_offset -8; ret; .cfi_endproc\n");

static __attribute__((noinline)) void work(void)
{
	int numbers[] = {7, 3, 9, 1};

	sink = by_stack_pointer(7);
	qsort(numbers, ARRAY_SIZE(numbers), sizeof(numbers[0]), compare);
	sink = by_frame_pointer(numbers[0]);
	catches(NULL, NULL);
	catches_by_fp(NULL, NULL);
	catches_any(passes, NULL);
	catches_any_by_fp(passes, NULL);
	catches_any(cleans, NULL);
	catches_any_by_fp(cleans_by_fp, NULL);
	catches_any(cleans_any_by_fp, passes);
	catches_any_by_fp(cleans_any, passes);
	handles();
	sink = by_frame_pointer(numbers[1]);
}

static void be_stepped(void)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		_exit(77);
	raise(SIGSTOP);
	work();
	_exit(0);
}

// ---- what is known of it

struct call {
	uint64_t slot, back; // where it lies on the stack, where it returns to
};

struct stepped {
	pid_t pid;
	struct user_regs_struct regs;
	struct call calls[MOST];
	uint32_t calls_n;
	uint64_t want[MOST]; // the chain by these calls
	uint64_t base[MOST]; // frames of those who called work
	uint32_t base_n;
	struct unwinder *unwinder;
	uint64_t top;
	uint8_t stack[COPY];
	uint32_t on_its_way; // instructions of an exception's last part
};

static bool read_of(const struct stepped *s, uint64_t addr, void *ret, size_t size)
{
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)addr, size};

	return process_vm_readv(s->pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

static bool is_call(const struct stepped *s, uint64_t pc)
{
	uint8_t code[3] = {0};
	size_t at;

	assert_true(read_of(s, pc, code, sizeof(code)));
	at = (code[0] & 0xf0) == 0x40 || code[0] == 0xf2 || code[0] == 0x3e;
	return code[at] == 0xe8 || (code[at] == 0xff && (code[at + 1] & 0x38) == 0x10);
}

static bool step(struct stepped *s)
{
	uint64_t pc = s->regs.rip, sp = s->regs.rsp;
	bool calls = is_call(s, pc);
	int status;

	if (ptrace(PTRACE_SINGLESTEP, s->pid, 0, 0) < 0 || waitpid(s->pid, &status, 0) < 0 ||
	    !WIFSTOPPED(status))
		return false;
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs), 0);
	while (s->calls_n && s->calls[s->calls_n - 1].slot < s->regs.rsp)
		s->calls_n--;
	if (calls && s->regs.rsp == sp - 8) {
		struct call *call = &s->calls[s->calls_n++];

		assert_true(s->calls_n < MOST);
		call->slot = s->regs.rsp;
		assert_true(read_of(s, call->slot, &call->back, 8));
	}
	return true;
}

static uint32_t unwind(struct stepped *s, uint64_t *ips, enum unwind_end *ret_end)
{
	const struct user_regs_struct *r = &s->regs;
	const uint64_t regs[] = {r->rax, r->rbx, r->rcx, r->rdx, r->rsi, r->rdi,
				 r->rbp, r->rsp, r->rip, r->r8,	 r->r9,	 r->r10,
				 r->r11, r->r12, r->r13, r->r14, r->r15};
	struct unwind_input input = {.task = sym_task(s->unwinder->sym, SAMPLE_PID, SAMPLE_PID),
				     .regs = regs,
				     .regs_mask = 0xff01ff,
				     .regs_abi = PERF_SAMPLE_REGS_ABI_64,
				     .stack = s->stack,
				     .stack_size = MIN(s->top - r->rsp, (uint64_t)COPY)};

	assert_true(read_of(s, r->rsp, s->stack, input.stack_size));
	return unwind_to(s->unwinder, &input, (struct unwound){ips, MOST, 0}, ret_end);
}

static bool is_throwing(uint64_t pc)
{
	Dl_info info = {0};

	if (pc - (uintptr_t)raises_to_handler < 16)
		return true;
	return dladdr((void *)(uintptr_t)pc, &info) && info.dli_sname &&
	       (strcmp(info.dli_sname, "_Unwind_RaiseException") == 0 ||
		strcmp(info.dli_sname, "_Unwind_Resume") == 0);
}

static bool is_landing(uint64_t pc)
{
	for (size_t i = 0; i < ARRAY_SIZE(pads); i++) {
		if (pc == (uintptr_t)pads[i].landing)
			return true;
	}
	return pc == (uintptr_t)handles_landing;
}

// Before it goes to a landing pad the library has overwritten what its frame had of its caller's: who called it is known, the chain is
// a guessed one. Afterwards the landing pad is the caller.
static bool is_on_its_way(struct stepped *s, const uint64_t *ips, uint32_t n, enum unwind_end end)
{
	uint32_t throws = 0;

	while (throws < n && !is_throwing(ips[throws]))
		throws++;
	if (throws == n)
		return false;
	if (end == UNWIND_GUESSED)
		return memcmp(ips, s->want, MIN(throws + 2, n) * sizeof(*ips)) == 0;
	return end == UNWIND_ROOT && !throws && n > 2 && is_landing(ips[1]) && n - 2 >= s->base_n &&
	       ips[n - 1] == s->base[s->base_n - 1];
}

static void check(struct stepped *s)
{
	uint64_t ips[MOST], *want = s->want;
	enum unwind_end end;
	uint32_t n = unwind(s, ips, &end), want_n = 1;
	bool same;

	want[0] = s->regs.rip;
	for (uint32_t i = s->calls_n; i-- > 0;)
		want[want_n++] = s->calls[i].back - 1;
	for (uint32_t i = 0; i < s->base_n; i++)
		want[want_n++] = s->base[i];
	same = n == want_n && end == UNWIND_ROOT && memcmp(ips, want, n * sizeof(*ips)) == 0;
	if (!same && is_on_its_way(s, ips, n, end)) {
		s->on_its_way++;
		return;
	}
	for (uint32_t i = 0; i < MIN(n, want_n); i++) {
		if (ips[i] != want[i])
			fail_msg("at %#llx (work is at %p) frame %u is %#llx, not %#llx",
				 s->regs.rip, (void *)work, i, (unsigned long long)ips[i],
				 (unsigned long long)want[i]);
	}
	assert_int_equal(n, want_n);
	assert_int_equal(end, UNWIND_ROOT);
}

static void begin(struct stepped *s)
{
	uint64_t ips[MOST];
	enum unwind_end end;
	int status;

	s->top = sample_maps(s->unwinder->sym);
	s->pid = fork();
	assert_true(s->pid >= 0);
	if (!s->pid)
		be_stepped();
	assert_true(waitpid(s->pid, &status, 0) == s->pid);
	if (!WIFSTOPPED(status))
		return;
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, 0, &s->regs), 0);
	// Out of raise, up to the first instruction of work.
	while (s->regs.rip != (uintptr_t)work)
		assert_true(step(s));
	s->base_n = unwind(s, ips, &end);
	assert_int_equal(end, UNWIND_ROOT);
	assert_in_range(s->base_n, 4, MOST / 2);
	s->base_n -= 2;
	memcpy(s->base, ips + 2, s->base_n * sizeof(*ips));
	s->calls[0].slot = s->regs.rsp;
	assert_true(read_of(s, s->regs.rsp, &s->calls[0].back, 8));
	s->calls_n = 1;
}

static void test_steps(void **state)
{
	struct stepped *s = NEW(struct stepped);
	struct sym *sym = sample_sym();
	unsigned steps = 0;

	s->unwinder = unwinder_new(sym, EM_X86_64);
	begin(s);
	while (s->calls_n && steps < MOST_STEPS) {
		check(s);
		assert_true(step(s));
		steps++;
	}
	if (s->base_n) {
		assert_in_range(steps, LEAST_STEPS, MOST_STEPS - 1);
		assert_in_range(s->on_its_way, 2, LANDINGS * 500);
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	unwinder_free(s->unwinder);
	sym_free(sym);
	if (!s->base_n) {
		free(s);
		skip(); // nobody may trace here
	}
	free(s);
}

#else

static void test_steps(void **state)
{
	skip();
}

#endif

RUN_TESTS(TEST(test_steps))
