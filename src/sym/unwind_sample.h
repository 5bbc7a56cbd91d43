// SPDX-License-Identifier: GPL-2.0-or-later
// For tests of unwinding: tasks whose maps are made by hand or are those of the test itself.
#pragma once
#include "base/test.h"
#include "sym/unwind.h"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { SAMPLE_PID = 7 };

static inline struct sym *sample_sym(void)
{
	const struct sym_options options = {.root = "/nowhere",
					    .symfs = "",
					    .no_cache_dir = true,
					    .live = true};
	struct sym *sym;

	assert_int_equal(sym_new(&sym, &options), 0);
	return sym;
}

static inline uint32_t unwind_to(struct unwinder *unwinder, const struct unwind_input *input,
				 struct unwound to, enum unwind_end *ret_end)
{
	uint32_t n = unwind_stack(unwinder, input, &to);

	*ret_end = to.end;
	return n;
}

static uint32_t sample_pid = SAMPLE_PID; // whose maps are told of

static inline void sample_map(struct sym *sym, uint64_t start, uint64_t end, uint64_t pgoff,
			      const char *name)
{
	_Alignas(8) char bytes[4096] = {0};
	struct record_mmap2 *record = (void *)bytes;

	record->header.type = PERF_RECORD_MMAP2;
	record->header.misc = PERF_RECORD_MISC_USER;
	record->pid = record->tid = sample_pid;
	record->start = start;
	record->len = end - start;
	record->pgoff = pgoff;
	record->prot = PROT_READ | PROT_EXEC;
	snprintf(record->filename, 3800, "%s", name);
	record->header.size = (uint16_t)((sizeof(*record) + strlen(record->filename) + 8) & ~7ull);
	assert_int_equal(sym_record(sym, &record->header, 1), 0);
}

// qemu-user has a page without a name where a kernel of arm64 has its vdso: mov x8, 139; svc 0.
static inline bool sample_is_sigreturn(uint64_t start)
{
#ifdef __aarch64__
	return *(const uint64_t *)start == 0xd4000001d2801168;
#else
	return false;
#endif
}

// Of this process, as if it were SAMPLE_PID. Returns where the stack ends.
static inline uint64_t sample_maps(struct sym *sym)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long start, end, pgoff, top = 0;
	char line[4096], prot[8], name[3500];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		name[0] = '\0';
		if (sscanf(line, "%llx-%llx %7s %llx %*s %*s %3499[^\n]", &start, &end, prot,
			   &pgoff, name) < 4)
			continue;
		if (prot[2] == 'x')
			sample_map(sym, start, end, pgoff,
				   name[0]			? name
				   : sample_is_sigreturn(start) ? "[vdso]"
								: "//anon");
		if ((uintptr_t)&line >= start && (uintptr_t)&line < end)
			top = end;
	}
	fclose(maps);
	return top;
}
