// SPDX-License-Identifier: GPL-2.0-or-later
// Which threads read which rings, and where they run: --threads, and --affinity of the one that reads when there are none.
#pragma once
#include "base/str.h"
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorder;
struct ring;

enum record_affinity { AFFINITY_ANY, AFFINITY_NODE, AFFINITY_CPU };

// ---- who reads what

// A set of CPUs by their numbers.
struct cpu_mask {
	cpu_set_t *set;
	size_t bytes;
};
void cpu_mask_add(struct cpu_mask *mask, uint32_t cpu);
bool cpu_mask_has(const struct cpu_mask *mask, uint32_t cpu);
void cpu_mask_done(struct cpu_mask *mask);

// The CPUs whose rings one thread reads, and those that it may run on.
struct reader_place {
	struct cpu_mask reads, runs;
};

// Reads a spec as perf has it: "" or "cpu", "core", "package", "numa" (in any case), or "CPUS/CPUS:..." with lists of what is read and of
// where it is read. Only CPUs that are online count. `root` of /sys: "" normally. -EINVAL, -ENODEV with a sentence: malformed, a part
// without a CPU that is online, a CPU twice.
int reader_places(struct reader_place **ret, size_t *ret_n, const char *spec, const char *root);
void reader_places_free(struct reader_place *places, size_t n);

// ---- the threads

struct readers;
// Makes the threads, and the files data.N of the recording's folder, one a ring; rings of no place are read by the first thread.
// The recorder's rings and path are theirs until they are stopped.
int readers_start(struct readers **ret, struct recorder *recorder, const char *spec);
// Bytes written so far by all.
uint64_t readers_bytes(const struct readers *readers);
// Has one failed? readers_stop says how.
bool readers_failed(const struct readers *readers);
// Takes what is left in the rings, ends the threads and walks what they have written once, for samples, losses and maps. Then the
// recorder knows how much that was (beside_bytes). Of several errors it is the first one. NULL is taken.
int readers_stop(struct readers *readers);

// ---- the one thread

struct affinity;
// NULL for AFFINITY_ANY.
struct affinity *affinity_new(enum record_affinity mode, const char *root);
void affinity_free(struct affinity *affinity);
// Before the ring is read: goes to where its CPU is. NULL is taken; a CPU that is not ours to run on is no error.
void affinity_go(struct affinity *affinity, const struct ring *ring);
