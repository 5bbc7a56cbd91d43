// SPDX-License-Identifier: GPL-2.0-or-later
// bpf(2): maps and programs as file descriptors, each closed by close(2). See man 2 bpf and linux/bpf.h.
// Functions return -errno without a sentence unless they say so.
#pragma once
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Sizes in bytes. Raises RLIMIT_MEMLOCK once where the kernel charges maps to it (before 5.11).
int bpf_map_new(enum bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t max_entries);
// A value of a per-CPU map is bpf_value_cpus() values, each with its size rounded up to 8 bytes.
int bpf_map_get(int map, const void *key, void *value);
int bpf_map_set(int map, const void *key, const void *value); // whether the key is there or not
int bpf_map_remove(int map, const void *key);
// The key behind `key` (NULL: the first); -ENOENT: there is none. When `key` is gone, begins again.
int bpf_map_next(int map, const void *key, void *ret_key);
// The processors that a per-CPU value has places for: the possible ones; -errno.
int bpf_value_cpus(void);

// Loads a program under the licence GPL. On failure *ret_log (may be NULL) is the verifier's log, the caller's to free, or NULL.
int bpf_program_load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n, char **ret_log);
// A loaded program by the number that the kernel has for it (bpftool prog). -ENOENT: there is none.
int bpf_program_open(uint32_t id);
// The function of a loaded program that the kernel enters, as a type of the program's BTF; -ENODATA: it has none.
int bpf_program_function(int program, uint32_t *ret_type);
// A BPF_PROG_TYPE_TRACING program that runs at a place of another program, since Linux 5.5 (arm64: 6.0). As bpf_program_load.
struct bpf_place {
	enum bpf_attach_type type; // BPF_TRACE_FENTRY, BPF_TRACE_FEXIT: where the function begins, ends
	int program;
	uint32_t function;
};
int bpf_tracing_load(const struct bpf_place *place, const struct bpf_insn *insns, size_t n,
		     char **ret_log);
// From here to close() of what is returned it runs.
int bpf_tracing_attach(int program);
// A perf event that holds the program for the tracepoint with this id, until it is closed; -errno with a sentence. The program runs
// for every hit of that tracepoint on all processors, and its result counts for the perf events of everyone: 0 hides the hit from
// all of them.
int bpf_tracepoint_attach(uint32_t id, int program);
// How many hits the kernel skipped because a program ran already on that processor (since Linux 5.12).
int bpf_program_misses(int program, uint64_t *ret);
