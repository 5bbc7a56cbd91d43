// SPDX-License-Identifier: GPL-2.0-or-later
// Side-band records with made up bodies, and lookups between them.
#include "sym/sym.h"
#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct space *space)
{
	for (size_t i = 1; i < space->maps.n; i++) {
		if (space->maps.v[i - 1]->end > space->maps.v[i]->start)
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	// No files: what is found here must not decide what is tried.
	const struct sym_options options = {.root = "/nowhere",
					    .symfs = "/nowhere",
					    .no_cache_dir = true,
					    .other_machine = true};
	struct perf_event_header *header = aligned_alloc(8, 1 << 16);
	struct sym *sym;

	sym_new(&sym, &options);
	while (size >= sizeof(*header)) {
		memcpy(header, data, sizeof(*header));
		// Small types and sizes, so that most mean something.
		header->type &= 31;
		header->size = (uint16_t)MAX(header->size & 255, sizeof(*header));
		if (header->size > size)
			break;
		memcpy(header + 1, data + sizeof(*header), header->size - sizeof(*header));
		data += header->size;
		size -= header->size;
		sym_record(sym, header, 0);
		struct task *task = sym->tasks.v[sym->tasks.n - 1];
		sym_resolve(sym, task, header->misc & 7, header->size * 4096ull);
		sym_resolve_guess(sym, task, PERF_RECORD_MISC_USER,
				  task->space->maps.n ? task->space->maps.v[0]->start : 0);
		check_order(task->space);
	}
	sym_free(sym);
	free(header);
	err_clear();
	return 0;
}
