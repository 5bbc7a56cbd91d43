// SPDX-License-Identifier: GPL-2.0-or-later
// Registers and stacks of every kind, through frame information of every kind.
#include "sym/unwind.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include "base/file.h"
#include "obj/cfi_sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_AT = 0x10000, PID = 1, REGS = 33 };

static void map_file(struct sym *sym, const char *path)
{
	_Alignas(8) char bytes[256] = {0};
	struct record_mmap2 *record = (void *)bytes;

	record->header.type = PERF_RECORD_MMAP2;
	record->header.misc = PERF_RECORD_MISC_USER;
	record->pid = record->tid = PID;
	record->start = FILE_AT;
	record->len = SAMPLE_SIZE;
	record->prot = PROT_READ | PROT_EXEC;
	snprintf(record->filename, 100, "%s", path);
	record->header.size = (sizeof(*record) + strlen(path) + 8) & ~7ull;
	(void)sym_record(sym, &record->header, 1);
}

// 1 byte: machine; 2 bytes: size of the frame information; that; registers; the stack.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t image[SAMPLE_SIZE];
	const struct sym_options options = {.root = "/nowhere", .symfs = "", .no_cache_dir = true};
	struct sample_frames frames = {0};
	struct unwind_input input = {.regs_abi = PERF_SAMPLE_REGS_ABI_64};
	uint64_t regs[REGS], ips[64];
	struct unwound found = {ips, ARRAY_SIZE(ips), UNWIND_ENDS};
	uint16_t machine;
	char path[64];
	struct unwinder *unwinder;
	struct sym *sym;
	uint32_t n;
	int fd;

	if (size < 3 + sizeof(regs))
		return 0;
	machine = data[0] & 1 ? EM_AARCH64 : EM_X86_64;
	n = (uint32_t)(data[1] | data[2] << 8) % SAMPLE_FRAMES_MAX;
	data += 3;
	size -= 3;
	if (n > size - sizeof(regs))
		n = (uint32_t)(size - sizeof(regs));
	memcpy(frames.bytes, data, n);
	frames.n = n;
	memcpy(regs, data + n, sizeof(regs));
	data += n + sizeof(regs);
	size -= n + sizeof(regs);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	sample_elf(image, machine, &frames);
	if (fd < 0 || write_all(fd, image, sizeof(image)) < 0 || sym_new(&sym, &options) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	map_file(sym, path);
	unwinder = unwinder_new(sym, machine);
	input.task = sym_task(sym, PID, PID);
	input.regs = regs;
	input.regs_mask = machine == EM_X86_64 ? 0xff01ff : 0x1ffffffff;
	input.stack = data;
	input.stack_size = size;
	// Into the code, mostly.
	regs[machine == EM_X86_64 ? 8 : 32] = FILE_AT + regs[0] % SAMPLE_SIZE;
	n = unwind_stack(unwinder, &input, &found);
	if (n > 64 || found.end >= UNWIND_ENDS)
		abort();
	unwinder_free(unwinder);
	sym_free(sym);
	close(fd);
	return 0;
}
