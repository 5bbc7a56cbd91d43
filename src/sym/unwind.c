// SPDX-License-Identifier: GPL-2.0-or-later
// obj/cfi works off a file's call frame information once: sorted rows of 8 bytes (offset in the file, rule), where rules are
// shared (libc has 28,000 rows and 700 rules; 9 to 12 bytes a row with all). Expressions lie aside for a bounded stack machine
// (obj/cfi_expr). 32-bit programs have rules, registers and words of their own. sym/unwind_cache keeps tables by build-id,
// large ones as files that are mapped as they are and checked in whole. sym/unwind goes from frame to frame, unwind_step takes
// one step: what to do at an address is remembered by (address space, address; unwind_places); registers that were saved are
// all followed, as another frame's rule may need them. Where a file has no information its instructions up to the return say
// what they do with the stack (sym/unwind_code; live, those of code that a compiler just made are read from the program's
// memory; a function may call what makes its frame, and has none until then: V8); else it takes frame pointers, the kernel's signal frame, or what a call must have left. A frame pointer is believed
// where it leads to behind a call. Each stack ends with a reason; those that only frame pointers of undescribed code led to the
// root are guessed. Where a frame's information leads nowhere (assembly that doesn't tell how it moves the stack pointer), its
// instructions are asked. Where a compiler says of a realigned stack that the registers lie by the frame pointer after that is
// the caller's again (gcc, before the return), they are taken as they are. A frame is never where no code is; one that frame
// information led to, but that stands behind no call, makes the stack a guessed one. The kernel copies at most 64 KB: what is
// deeper is, live, joined (sym/unwind_join) to the thread's last deep stack where frames of both are the same at the same
// places, else to what its memory holds when the sample is looked at, if that leads to the root over returns that stand behind
// calls; such stacks are counted apart. Where an exception is about to go to its landing pad, the registers of the frames between are
// gone, and what follows is guessed. A function that nothing called is the first one of a stack that was made (makecontext).
// Programs of Go are unwound by their own table of functions (obj/gopclntab), which is there when all else is stripped, and
// which tells where a goroutine went over to its thread's stack. What the copy of a stack doesn't hold, the frame pointers that
// the kernel followed lead to (unwind_by_kernel): live, they are asked for as well. flow/chain makes the whole chain of a
// sample, so that commands see one chain, however it came about; live, the same call takes what lies in the ring.
#include "sym/unwind.h"
#include "sym/unwind_cache.h"
#include "sym/unwind_join.h"
#include "sym/unwind_walk.h"
#include <sys/utsname.h>

static const struct machine x86_64 = {.code = EM_X86_64, .sp = 7, .fp = 6, .pc_reg = 16, .word = 8};
static const struct machine i386 = {.code = EM_386, .sp = 4, .fp = 5, .pc_reg = 8, .word = 4};
static const struct machine arm64 = {.code = EM_AARCH64, .sp = 31, .fp = 29, .pc_reg = 255, .word = 8};

uint16_t unwind_machine(const char *arch)
{
	if (arch && !strcmp(arch, "x86_64"))
		return EM_X86_64;
	if (arch && (!strcmp(arch, "aarch64") || !strcmp(arch, "arm64")))
		return EM_AARCH64;
	// uname of 32-bit kernels: i386 to i686.
	if (arch && arch[0] == 'i' && arch[1] && strcmp(arch + 2, "86") == 0)
		return EM_386;
	return 0;
}

uint16_t unwind_machine_here(void)
{
	struct utsname here;

	return uname(&here) < 0 ? 0 : unwind_machine(here.machine);
}

uint64_t unwind_regs_here(void)
{
#if defined(__aarch64__)
	return 0x1ffffffff; // x0-x28, fp, lr, sp, pc: arch/arm64/include/uapi/asm/perf_regs.h
#else
	return 0xff0fff; // all but ds es fs gs: arch/x86/include/uapi/asm/perf_regs.h
#endif
}

struct unwinder *unwinder_new(struct sym *sym, uint16_t machine)
{
	struct unwinder *unwinder;

	if (machine != EM_X86_64 && machine != EM_AARCH64 && machine != EM_386)
		return NULL;
	unwinder = NEW(struct unwinder);
	unwinder->sym = sym;
	unwinder->machine = machine;
	unwinder->tables = unwind_tables_new(sym->options.no_cache_dir);
	unwinder->known = xcalloc(WALK_KNOWN, sizeof(*unwinder->known));
	unwinder->joins = unwind_joins_new();
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	vec_each(struct unwind_dso *, it, &unwinder->dsos) {
		if (*it && (*it)->has_source)
			source_done(&(*it)->source);
		if (*it)
			free((*it)->functions);
		free(*it);
	}
	vec_done(&unwinder->dsos);
	unwind_tables_free(unwinder->tables);
	free(unwinder->known);
	unwind_made_free(unwinder->made);
	free(unwinder->pages);
	unwind_joins_free(unwinder->joins);
	vec_done(&unwinder->frames);
	free(unwinder);
}

// Registers by DWARF number from those of perf's (arch/*/include/uapi/asm/perf_regs.h).
static bool take_registers(struct walk *w)
{
	static const int8_t from_x86_64[24] = {0,  3,  2,  1,  4, 5, 6,	 7,  PC, -1, -1, -1,
					       -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};
	// eax, ebx, ecx, edx, esi, edi, ebp, esp, eip
	static const int8_t from_i386[24] = {0,	 3,  1,	 2,  6,	 7,  5,	 4,  PC, -1, -1, -1,
					     -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
	const int8_t *from = w->machine == &i386 ? from_i386 : from_x86_64;
	const struct unwind_input *input = w->input;
	const uint64_t *at = input->regs;
	uint64_t needed;

	if (!at || (w->machine != &i386 && input->regs_abi != PERF_SAMPLE_REGS_ABI_64))
		return false;
	needed = w->machine != &arm64 ? 1ull << 7 | 1ull << 8 : 1ull << 31 | 1ull << 32;
	if ((input->regs_mask & needed) != needed)
		return false;
	for (uint64_t mask = input->regs_mask; mask; mask &= mask - 1, at++) {
		int bit = __builtin_ctzll(mask), to;

		if (w->machine != &arm64)
			to = bit < 24 ? from[bit] : -1;
		else
			to = bit <= PC ? bit : -1;
		if (to >= 0)
			w->regs[to] = w->machine == &i386 ? (uint32_t)*at : *at;
	}
	return true;
}

// The kernel writes a signal's frame right below what was interrupted, but where the handler has a stack of its own.
static bool is_other_stack(const struct walk *w, uint64_t signal_at)
{
	enum { LARGEST = 1 << 17 }; // of such frames, with the registers of all extensions

	return w->regs[w->machine->sp] - signal_at > LARGEST;
}

static const struct machine *machine_of(const struct unwinder *unwinder,
					const struct unwind_input *input)
{
	if (unwinder->machine == EM_AARCH64)
		return &arm64;
	return unwinder->machine == EM_386 || input->regs_abi == PERF_SAMPLE_REGS_ABI_32 ? &i386
											 : &x86_64;
}

// Nothing called it: where it begins was put on a stack that somebody made (makecontext) as if it were where to return to.
static bool is_made_start(const struct walk *w)
{
	return walk_known(w, w->regs[PC], true)->table && walk_is_no_return(w, w->regs[PC]);
}

static void add_frame(struct walk *w, uint64_t ip)
{
	w->unwinder->frames.v[w->n] = (struct unwind_frame){ip, w->regs[w->machine->sp]};
	w->ips[w->n++] = ip;
}

// Up to where it can't go on: w->end says why.
static void walk_up(struct walk *w)
{
	struct walk_before before = {0};
	bool is_exact = true;	// the pc is that of an instruction, not of one after a call
	uint64_t signal_at = 0; // where the frame of the signal lies that interrupted it

	for (w->n = 0;;) {
		uint64_t pc = w->regs[PC] - !is_exact;
		struct unwind_known *known = walk_known(w, pc, is_exact);
		bool is_trampoline = known->rule ? known->rule->flags & CFI_SIGNAL
						 : !is_exact && walk_is_sigreturn(w, w->regs[PC]);

		if (!is_exact && !known->table && is_made_start(w)) {
			add_frame(w, w->regs[PC]);
			w->end = UNWIND_SWITCHED;
			return;
		}
		if (!known->table)
			known = walk_known(w, pc, is_exact); // its slot may have been taken
		if (!is_exact && !known->rule && !walk_is_code(w, pc)) {
			if (walk_step_again(w, &before))
				continue;
			// Nothing returns to where no code is.
			w->end = UNWIND_BAD;
			return;
		}
		w->is_guessed |= !is_exact && !is_trampoline && known->table &&
				 !walk_is_root_rule(known) && !walk_is_behind_call(w);
		add_frame(w, is_trampoline ? w->regs[PC] : pc);
		before = (struct walk_before){w->regs[PC], w->regs[w->machine->sp],
					      w->regs[w->machine->fp], is_exact,
					      known->table != NULL};
		// Is there more behind the last one?
		if (!walk_step(w, known, is_exact, &is_exact)) {
			if (signal_at && is_other_stack(w, signal_at))
				w->end = UNWIND_SWITCHED;
			if (w->end != UNWIND_ROOT || w->regs[PC] || !walk_step_again(w, &before))
				return;
			is_exact = false;
		}
		signal_at = is_trampoline ? before.sp : 0;
		// Of a function that has returned meanwhile anything may be there.
		if (w->has_read_later && !is_exact &&
		    !(walk_is_code(w, w->regs[PC] - 1) && walk_is_return(w))) {
			w->end = UNWIND_SHORT;
			return;
		}
		if (w->n == w->max) {
			w->end = UNWIND_LIMIT;
			return;
		}
	}
}

// Live only: what was recorded is shown as it is. What lies less far up changes from one moment to the next.
static bool may_join(const struct walk *w)
{
	enum { LEAST = 32 << 10 };

	return w->unwinder->is_live && w->machine->word == 8 && !w->is_guessed &&
	       w->stack_size >= LEAST;
}

static struct unwind_path path_of(const struct walk *w)
{
	return (struct unwind_path){w->unwinder->frames.v, w->n};
}

static void join(struct walk *w)
{
	struct unwind_joins *joins = w->unwinder->joins;

	if (!may_join(w))
		return;
	if (w->end == UNWIND_SHORT) {
		const struct unwind_path further = unwind_further(joins, w->task, path_of(w));

		if (!further.n || further.n > w->max - w->n)
			return;
		memcpy(w->unwinder->frames.v + w->n, further.v, further.n * sizeof(*further.v));
		for (uint32_t i = 0; i < further.n; i++)
			w->ips[w->n++] = further.v[i].ip;
		w->end = UNWIND_JOINED;
	}
	if (w->end == UNWIND_ROOT || w->end == UNWIND_JOINED)
		unwind_remember(joins, w->task, path_of(w));
}

// The functions further up mostly still run when the sample is looked at: their frames are as they were.
static void walk_later(struct walk *w)
{
	struct walk later = *w;

	if (!may_join(w) || w->end != UNWIND_SHORT)
		return;
	later.reads_later = true;
	unwind_forget_later(w->unwinder->joins);
	take_registers(&later);
	// The first n are the same again.
	walk_up(&later);
	if (later.end != UNWIND_ROOT || later.is_guessed)
		return;
	w->end = UNWIND_JOINED;
	w->n = later.n;
	unwind_remember(w->unwinder->joins, w->task, path_of(w));
}

// Files that held_age has closed must not stay mapped here.
static void let_go(struct unwinder *unwinder, const struct held *held)
{
	if (unwinder->ended_n == held->ended_n)
		return;
	unwinder->ended_n = held->ended_n;
	for (size_t i = 0; i < unwinder->dsos.n; i++) {
		struct unwind_dso *dso = unwinder->dsos.v[i];
		const struct held_file *file = dso_private_of(unwinder->sym->dsos.v[i])->held;

		if (!dso || !dso->has_source || !file || !file->is_ended)
			continue;
		source_done(&dso->source);
		free(dso);
		unwinder->dsos.v[i] = NULL;
	}
}

uint32_t unwind_stack(struct unwinder *unwinder, const struct unwind_input *input, struct unwound *ret)
{
	struct walk w = {.unwinder = unwinder,
			 .task = input->task,
			 .input = input,
			 .ips = ret->ips,
			 .max = ret->max,
			 .stack = input->stack,
			 .stack_size = input->stack_size,
			 .readable = input->stack_size >= 8 ? input->stack_size - 7 : 0,
			 .machine = machine_of(unwinder, input)};

	w.end = UNWIND_NO_INFO;
	if (w.machine == &i386)
		w.readable = 0;
	if (unwinder->sym->options.held)
		let_go(unwinder, unwinder->sym->options.held);
	if (!w.max || !take_registers(&w)) {
		ret->end = w.end;
		return 0;
	}
	w.stack_at = w.regs[w.machine->sp];
	w.first_fp = w.regs[w.machine->fp];
	vec_reserve(&unwinder->frames, w.max);
	walk_up(&w);
	join(&w);
	walk_later(&w);
	walk_by_kernel(&w);
	ret->end = w.end == UNWIND_ROOT && w.is_guessed ? UNWIND_GUESSED : w.end;
	return w.n;
}

uint32_t unwind_sample(struct unwinder *unwinder, const struct unwind_sample *of, uint64_t *chain,
		       uint32_t max)
{
	const struct sample *sample = of->sample;
	const struct unwind_input input = {.task = of->task,
					   .regs = sample->user_regs,
					   .regs_mask = of->plan->user_mask,
					   .regs_abi = sample->user_abi,
					   .stack = sample->user_stack,
					   .stack_size = sample->user_stack_size};
	struct unwound found = {.max = max};
	uint32_t kernel = 0, n;

	for (uint32_t i = 0, left = max; i < sample->callchain_n; i++) {
		uint64_t ip = sample->callchain[i];

		if (ip == PERF_CONTEXT_USER || (ip < PERF_CONTEXT_MAX && !left--))
			break;
		chain[kernel++] = ip;
	}
	found.ips = chain + kernel + 1;
	n = input.regs && input.stack_size ? unwind_stack(unwinder, &input, &found) : 0;
	if (!n) {
		if (sample->cpumode == PERF_RECORD_MISC_USER)
			unwinder->counts.without++;
		return kernel;
	}
	chain[kernel] = PERF_CONTEXT_USER;
	unwinder->counts.ends[found.end]++;
	unwinder->counts.frames += n;
	return kernel + 1 + n;
}

const char *unwind_end_text(enum unwind_end end)
{
	static const char *const texts[UNWIND_ENDS] = {
		[UNWIND_ROOT] = "root reached",
		[UNWIND_SHORT] = "stack copy too short",
		[UNWIND_NO_INFO] = "no unwind information",
		[UNWIND_BAD] = "bad read",
		[UNWIND_SWITCHED] = "the stack was changed",
		[UNWIND_LIMIT] = "limit of frames",
		[UNWIND_JOINED] =
			"joined to what the thread's stack held further up shortly before or after, as no more can be copied",
		[UNWIND_GUESSED] =
			"guessed by frame pointers, as code has no unwind information, or by what an exception left of them",
	};

	return texts[end];
}
