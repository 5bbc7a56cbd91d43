// SPDX-License-Identifier: GPL-2.0-or-later
#include "tool/core/callers.h"

static void resolve(struct tool_run *run, uint64_t ip, struct location *ret)
{
	struct sym *sym = run->prof->feed->sym;

	*ret = sym_resolve(sym, sym_task(sym, 0, 0), PERF_RECORD_MISC_KERNEL, ip);
}

// The linker puts functions of locks and of the scheduler together: include/asm-generic/vmlinux.lds.h, SCHED_TEXT and LOCK_TEXT.
static void find_ranges(struct tool_run *run, struct dso *dso)
{
	static const char *const names[] = {"__sched_text_start", "__sched_text_end",
					    "__lock_text_start", "__lock_text_end"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct symbol *symbol =
			dso_find_symbol_by_name(run->prof->feed->sym, dso, names[i]);

		run->lock_text[i] = symbol ? symbol->start : 0;
	}
	run->knows_lock_text = true;
}

static bool is_of_lock(void *arg, uint64_t ip)
{
	struct tool_run *run = arg;
	struct location location;
	const uint64_t *text = run->lock_text;

	resolve(run, ip, &location);
	if (!location.dso)
		return false;
	// What runs first may lie elsewhere, as a BPF program does.
	if (!run->knows_lock_text && location.dso->kind == DSO_KERNEL)
		find_ranges(run, location.dso);
	return (location.addr >= text[0] && location.addr < text[1]) ||
	       (location.addr >= text[2] && location.addr < text[3]) ||
	       (location.sym && (text_ends(location.sym->name, "trace_contention_begin") ||
				 text_ends(location.sym->name, "traceiter_contention_begin")));
}

void tool_callers_of_locks(struct tool_run *run)
{
	run->skips_frame = is_of_lock;
}

void tool_caller_name(void *run_, size_t row, uint32_t key, struct out *out)
{
	struct tool_run *run = run_;
	const uint64_t *frames;
	struct location location;

	if (!tally_stack(run->prof->tally, row, key, &frames)) {
		out_text(out, "unknown");
		return;
	}
	resolve(run, frames[0], &location);
	if (!location.sym) {
		out_printf(out, "%#llx", (unsigned long long)frames[0]);
		return;
	}
	out_text(out, location.sym->name);
	if (location.addr > location.sym->start)
		out_printf(out, "+%#llx", (unsigned long long)(location.addr - location.sym->start));
}
