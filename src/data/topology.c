// SPDX-License-Identifier: GPL-2.0-or-later
// The machine that a recording was made on, of its CPU_TOPOLOGY and NUMA_TOPOLOGY sections.
#include "data/cursor.h"
#include "data/recording.h"
#include "sys/topology.h"

enum { NODES_MAX = 1024 }; // MAX_NUMNODES of the kernel

static struct cursor section(const struct recording *recording, enum feature_id id)
{
	const struct feature *feature = &recording->features[id];

	return cursor_of(feature->data, feature->present ? feature->size : 0, recording->swap);
}

static void skip_texts(struct cursor *c)
{
	for (uint32_t n = cursor_u32(c); n && !c->bad; n--)
		cursor_string(c);
}

// Texts of sockets and threads, (core, socket) of each CPU; later also texts of dies, the die of each CPU.
static void take_cpus(const struct recording *recording, struct topology *ret)
{
	struct cursor c = section(recording, FEATURE_CPU_TOPOLOGY), dies;
	uint32_t n = recording->info.cpus_available;

	skip_texts(&c);
	skip_texts(&c);
	dies = c;
	if (c.bad || !n || !cursor_bytes(&dies, (size_t)n * 8))
		return;
	skip_texts(&dies);
	ret->has_dies = !dies.bad && cursor_left(&dies) >= (size_t)n * 4;
	for (uint32_t i = 0; i < n; i++) {
		struct topology_cpu cpu = {.cpu = i, .die = -1};

		cpu.core = (int32_t)cursor_u32(&c);
		cpu.socket = (int32_t)cursor_u32(&c);
		if (ret->has_dies)
			cpu.die = (int32_t)cursor_u32(&dies);
		vec_push(&ret->cpus, cpu);
	}
}

static void take_nodes(const struct recording *recording, struct topology *ret)
{
	struct cursor c = section(recording, FEATURE_NUMA_TOPOLOGY);

	for (uint32_t n = MIN(cursor_u32(&c), NODES_MAX); n && !c.bad; n--) {
		struct topology_node node = {.node = cursor_u32(&c)};

		node.memory_kb = cursor_u64(&c);
		node.free_kb = cursor_u64(&c);
		node.cpus = cursor_string(&c);
		if (node.cpus)
			vec_push(&ret->nodes, node);
	}
}

void recording_topology(const struct recording *recording, struct topology *ret)
{
	*ret = (struct topology){0};
	take_cpus(recording, ret);
	take_nodes(recording, ret);
}
