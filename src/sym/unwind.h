// SPDX-License-Identifier: GPL-2.0-or-later
// Call stacks of user space from registers, bytes of the stack and the task's maps. Call frame information leads (see
// obj/cfi.h), frame pointers where there is none (JIT compilers), and back again. x86-64 (32-bit
// programs as well), i386 and arm64.
//
// In a recording: unwind_sample gives the whole chain of a sample. Live: keep a `struct sym` up to date with the side-band
// records of the rings (sym_record, sym_options.live), make one unwinder for it and hand each sample to unwind_sample
// (or what it holds to unwind_stack) while it lies in the ring; the addresses written are those for a call chain behind
// PERF_CONTEXT_USER. Those of callers are one less than where the call returns to, so they lie in the call, also when it never
// returns and another function follows (perf has it so, too); those of code that a signal interrupted are as they are. Nothing is allocated for a stack. But the first
// stack that meets a file reads or makes its table (0.1 to 300 ms).
// Not for several threads at once.
#pragma once
#include "abi/sample.h"
#include "obj/cfi.h"
#include "sym/sym.h"

struct unwind_tables;

// Why a stack ended.
enum unwind_end {
	UNWIND_ROOT,	// the first function of the thread was reached
	UNWIND_SHORT,	// the next frame lies behind the bytes that were copied
	UNWIND_NO_INFO, // code without frame information and without frame pointers
	UNWIND_BAD,	// the next frame can't be read or makes no sense
	UNWIND_SWITCHED, // the thread had gone over to this stack; what it did before is on another one
	UNWIND_LIMIT, // more frames than were asked for
	// From here on the first function was reached, if not for sure. By frame pointers of code that nothing describes: functions that keep none are left out.
	UNWIND_GUESSED,
	// The copy was too short, but an earlier sample of the thread had the same frames at the same places there, and the rest; or the
	// stack, when the sample was looked at, led from there to the root, each return behind a call.
	UNWIND_JOINED,
	UNWIND_ENDS
};

struct unwind_counts {
	uint64_t ends[UNWIND_ENDS]; // stacks
	uint64_t without;	    // samples of user space without registers or stack
	uint64_t frames;
};

struct unwind_dso; // of a dso: its table and its file
struct unwind_known;
struct unwind_made;
struct unwind_page;
struct unwind_joins;
struct unwind_frame;

struct unwinder {
	struct sym *sym;
	uint16_t machine; // EM_*
	struct unwind_counts counts;
	struct unwind_tables *tables;
	VEC(struct unwind_dso *) dsos; // by id
	struct unwind_known *known;
	struct unwind_made *made;  // rules
	struct unwind_page *pages; // of memory, NULL: none was read
	struct unwind_joins *joins;
	VEC(struct unwind_frame) frames; // of the stack at hand
	uint64_t ended_n;		 // files that were let go, as held_age had closed so many
	bool is_live; // the tasks run now, on this machine: code that has no file is read from their memory
};

// `machine`: whose samples these are, EM_X86_64, EM_386 or EM_AARCH64. NULL (no sentence) for any other.
struct unwinder *unwinder_new(struct sym *sym, uint16_t machine);
void unwinder_free(struct unwinder *unwinder);
// EM_* of uname's machine ("x86_64", "aarch64"); 0: none that can be unwound.
uint16_t unwind_machine(const char *arch);
uint16_t unwind_machine_here(void);
// What perf_event_attr.sample_regs_user asks for here, so that stacks can be unwound: all but segments.
uint64_t unwind_regs_here(void);

struct unwind_input {
	struct task *task;
	const uint64_t *regs; // as PERF_SAMPLE_REGS_USER has them
	uint64_t regs_mask;   // attr.sample_regs_user
	uint64_t regs_abi;    // PERF_SAMPLE_REGS_ABI_*
	const uint8_t *stack; // bytes from the stack pointer upwards
	uint64_t stack_size;  // how many are valid
	// What the kernel found by frame pointers at the same time, innermost first (NULL: it was not asked): leads on where the
	// copy of the stack ends.
	const uint64_t *by_kernel;
	uint32_t by_kernel_n;
};

struct unwound {
	uint64_t *ips; // room for max, the caller's
	uint32_t max;
	enum unwind_end end; // set by unwind_stack
};
// Writes at most ret->max addresses, innermost first; returns how many (0: no registers). Warm about 20 ns a frame.
uint32_t unwind_stack(struct unwinder *unwinder, const struct unwind_input *input,
		      struct unwound *ret);

struct unwind_sample {
	struct task *task;
	const struct sample *sample;
	const struct sample_plan *plan;
};
// The whole chain of a sample that has registers and stack of user space: what was recorded of the kernel, then
// PERF_CONTEXT_USER and at most `max` addresses. `chain` has room for sample->callchain_n + 1 + max entries. Returns
// how many there are; counts how the stack ended.
uint32_t unwind_sample(struct unwinder *unwinder, const struct unwind_sample *of, uint64_t *chain,
		       uint32_t max);

// "root reached", "stack copy too short"...
const char *unwind_end_text(enum unwind_end end);
