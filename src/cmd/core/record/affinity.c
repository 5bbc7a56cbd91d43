// SPDX-License-Identifier: GPL-2.0-or-later
// --affinity: the thread that reads follows the rings, so that what it copies is in a cache or in memory that is near.
#include "base/alloc.h"
#include "base/num.h"
#include "cmd/core/record/readers.h"
#include "sys/ring.h"
#include "sys/topology.h"

struct affinity {
	enum record_affinity mode;
	struct topology topology;
	int at; // the CPU whose surroundings we are in; -1: anywhere
};

struct affinity *affinity_new(enum record_affinity mode, const char *root)
{
	struct affinity *affinity;

	if (mode == AFFINITY_ANY)
		return NULL;
	affinity = NEW(struct affinity);
	affinity->mode = mode;
	affinity->at = -1;
	topology_read(&affinity->topology, root);
	return affinity;
}

void affinity_free(struct affinity *affinity)
{
	if (!affinity)
		return;
	topology_done(&affinity->topology);
	free(affinity);
}

static void add(void *arg, uint32_t cpu)
{
	cpu_mask_add(arg, cpu);
}

void affinity_go(struct affinity *affinity, const struct ring *ring)
{
	struct cpu_mask mask = {0};
	bool found = false;

	if (!affinity || ring->cpu < 0 || ring->cpu == affinity->at)
		return;
	affinity->at = ring->cpu;
	for (size_t i = 0;
	     i < affinity->topology.nodes.n && affinity->mode == AFFINITY_NODE && !found; i++) {
		const char *cpus = affinity->topology.nodes.v[i].cpus;

		cpu_mask_done(&mask);
		found = cpus && num_parse_list(str_of(cpus), 1 << 20, add, &mask) >= 0 &&
			cpu_mask_has(&mask, (uint32_t)ring->cpu);
	}
	if (affinity->mode == AFFINITY_CPU) {
		cpu_mask_add(&mask, (uint32_t)ring->cpu);
		found = true;
	}
	if (found)
		sched_setaffinity(0, mask.bytes, mask.set);
	cpu_mask_done(&mask);
}
