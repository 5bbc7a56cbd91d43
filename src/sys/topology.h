// SPDX-License-Identifier: GPL-2.0-or-later
// What machine this is: CPUs, their cores, caches, memory nodes, names, from /proc and /sys below a root
// (Documentation/ABI/stable/sysfs-devices-system-cpu, -node).
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

struct topology_cpu {
	uint32_t cpu;
	int32_t core, die, socket; // -1: the kernel doesn't say
};

struct topology_cache {
	uint32_t level, line_size_bytes, sets, ways;
	const char *type; // "Data", "Instruction", "Unified"
	const char *size; // "32K"
	const char *cpus; // "0,2"
};

struct topology_node {
	uint32_t node;
	uint64_t memory_kb, free_kb;
	const char *cpus;     // "0-3"
	VEC(uint32_t) blocks; // numbers of its memory blocks, ascending
};

// Texts belong to it; NULL where the machine doesn't say.
struct topology {
	struct arena arena;
	const char *model;  // "AMD EPYC": cpudesc of a recording
	const char *cpu_id; // "AuthenticAMD,26,2,1" (x86), "0x00000000410fd4f0" (arm64)
	uint64_t memory_kb;
	uint32_t present;     // CPUs that there are (perf's "nrcpus avail")
	VEC(uint32_t) online; // ascending
	bool has_dies;
	VEC(struct topology_cpu) cpus; // the present ones, ascending
	// Lists as "0-3", each once, in the order of the lowest CPU: CPUs of a socket, a die, a core.
	VEC(const char *) sockets, dies, cores;
	VEC(struct topology_cache) caches; // each once, by level
	VEC(struct topology_node) nodes;
	uint64_t memory_block_bytes; // 0: no memory blocks
};

// Never fails: what can't be read is empty. root NULL or "": the real one. Cost: about ten small files a CPU.
void topology_read(struct topology *ret, const char *root);
void topology_done(struct topology *topology);

// Only the CPU numbers of /sys/devices/system/cpu/{online,present,possible}, ascending; the caller's vector
// is appended to. -ENOENT without a sentence.
struct cpu_numbers {
	VEC(uint32_t) v;
};
int topology_cpus(struct cpu_numbers *ret, const char *root, const char *which);
