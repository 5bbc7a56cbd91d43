// SPDX-License-Identifier: GPL-2.0-or-later
// What the arguments of system calls point at, read by the kernel when the call begins: a BPF program on raw_syscalls:sys_enter writes
// it to a perf event (PERF_COUNT_SW_BPF_OUTPUT) of the same ring, just before the entry's own record.
//
// Memory that is not there yet (a page that was never touched) can't be read: that piece is then missing. Programs let each hit pass, so
// other users of the tracepoint see what they saw before.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BPF_TEXTS_PIECES = 3,
	BPF_TEXTS_LIST = BPF_TEXTS_PIECES, // the place of a list, which follows at most one other piece
	BPF_TEXTS_PLACES,
	BPF_TEXTS_STRING = 4096,
	BPF_TEXTS_BYTES = 512,
	BPF_TEXTS_LIST_N = 16,
	BPF_TEXTS_LIST_STRING = 512, // bytes of each with the NUL; what fills them may be cut
};

enum bpf_texts_kind { BPF_TEXTS_NONE, BPF_TEXTS_IS_STRING, BPF_TEXTS_IS_BYTES, BPF_TEXTS_IS_LIST };

// A list (an array of pointers to strings that ends with NULL, as argv) is read as a byte each and what belongs to it.
enum bpf_texts_item {
	BPF_TEXTS_ITEM_STRING = 's',  // the string with its NUL
	BPF_TEXTS_ITEM_POINTER = 'p', // 8 bytes: a string that could not be read
	// the last one:
	BPF_TEXTS_ITEM_NULL = 'n',
	BPF_TEXTS_ITEM_MORE = 'm',   // there are more than BPF_TEXTS_LIST_N
	BPF_TEXTS_ITEM_UNREAD = 'u', // the next pointer could not be read
};

// Which argument points at it. Bytes: `size` of them, or, when size_arg > 0, as many as argument size_arg says, at most `size`.
struct bpf_texts_piece {
	uint32_t kind, arg, size, size_arg;
};

// As the record has it: the piece at place i is sizes[i] bytes, one behind the other; 0: not read.
struct bpf_texts_record {
	uint64_t number;
	uint16_t sizes[BPF_TEXTS_PLACES];
	char bytes[];
};

struct bpf_texts_options {
	uint32_t numbers_n; // of system calls: above all
	bool by_process;    // only of processes that bpf_texts_watch names, and of what they start
	uint32_t enter_id;  // of raw_syscalls:sys_enter
	uint32_t fork_id,
		child; // of sched:sched_process_fork, where its child_pid lies; with by_process
};

struct bpf_texts;

// -EPERM, ... with a sentence; then there are pointers only. Some ms.
int bpf_texts_open(struct bpf_texts **ret, const struct bpf_texts_options *options);
// pieces: BPF_TEXTS_PLACES of them, without gaps but before the list. -errno without a sentence.
int bpf_texts_plan(struct bpf_texts *texts, uint32_t number, const struct bpf_texts_piece *pieces);
int bpf_texts_watch(struct bpf_texts *texts, uint32_t pid);
// The perf event of a CPU.
int bpf_texts_output(struct bpf_texts *texts, uint32_t cpu, int fd);
// From here on it reads. -errno with a sentence.
int bpf_texts_start(struct bpf_texts *texts);
void bpf_texts_close(struct bpf_texts *texts); // NULL is allowed
