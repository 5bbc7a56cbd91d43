// SPDX-License-Identifier: GPL-2.0-or-later
// Sets of CPUs: what --threads means on this machine.
#include "base/alloc.h"
#include "base/err.h"
#include "base/num.h"
#include "base/vec.h"
#include "cmd/core/record/readers.h"
#include "sys/topology.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { MOST_CPUS = 1 << 20 };

void cpu_mask_add(struct cpu_mask *mask, uint32_t cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);

	if (bytes > mask->bytes) {
		mask->set = xreallocarray(mask->set, bytes, 1);
		memset((char *)mask->set + mask->bytes, 0, bytes - mask->bytes);
		mask->bytes = bytes;
	}
	CPU_SET_S(cpu, mask->bytes, mask->set);
}

bool cpu_mask_has(const struct cpu_mask *mask, uint32_t cpu)
{
	return cpu < mask->bytes * 8 && CPU_ISSET_S(cpu, mask->bytes, mask->set);
}

void cpu_mask_done(struct cpu_mask *mask)
{
	free(mask->set);
	*mask = (struct cpu_mask){0};
}

struct places {
	VEC(struct reader_place) v;
	struct cpu_mask online, read, run; // what was said so far
};

struct adding {
	const struct cpu_mask *online;
	struct cpu_mask *to;
	struct cpu_mask *before; // of other threads
	int64_t twice;		 // -1: none
};

static void add_cpu(void *arg, uint32_t cpu)
{
	struct adding *adding = arg;

	if (!cpu_mask_has(adding->online, cpu))
		return;
	if (cpu_mask_has(adding->before, cpu))
		adding->twice = cpu;
	cpu_mask_add(adding->to, cpu);
}

static int add_list(struct places *places, struct str list, struct cpu_mask *to,
		    struct cpu_mask *before)
{
	struct adding adding = {&places->online, to, before, -1};
	int err = num_parse_list(list, MOST_CPUS, add_cpu, &adding);

	if (err < 0)
		return fail(EINVAL, "--threads: '%.*s' is no list of CPUs", STR_FMT(list));
	if (!to->bytes)
		return fail(ENODEV, "--threads: none of the CPUs '%.*s' is online", STR_FMT(list));
	if (adding.twice >= 0)
		return fail(EINVAL, "--threads: CPU %lld stands in two places",
			    (long long)adding.twice);
	num_parse_list(list, MOST_CPUS, add_cpu,
		       &(struct adding){&places->online, before, before, -1});
	return 0;
}

static int add_place(struct places *places, struct str reads, struct str runs)
{
	struct reader_place place = {0};
	int err = add_list(places, reads, &place.reads, &places->read);

	if (!err)
		err = add_list(places, runs, &place.runs, &places->run);
	if (!err) {
		vec_push(&places->v, place);
		return 0;
	}
	cpu_mask_done(&place.reads);
	cpu_mask_done(&place.runs);
	return err;
}

static int add_spec(struct places *places, struct str spec)
{
	int err = 0;

	while (spec.p && !err) {
		struct str runs = str_cut(&spec, ':');
		struct str reads = str_cut(&runs, '/');

		err = add_place(places, reads, runs.p ? runs : STR(""));
	}
	return err;
}

static int add_same(struct places *places, const char *list)
{
	return list ? add_place(places, str_of(list), str_of(list)) : 0;
}

static int add_word(struct places *places, const char *word, const struct topology *topology)
{
	int err = 0;
	char one[16];

	if (!strcasecmp(word, "core")) {
		for (size_t i = 0; i < topology->cores.n && !err; i++)
			err = add_same(places, topology->cores.v[i]);
	} else if (!strcasecmp(word, "package")) {
		for (size_t i = 0; i < topology->sockets.n && !err; i++)
			err = add_same(places, topology->sockets.v[i]);
	} else if (!strcasecmp(word, "numa")) {
		for (size_t i = 0; i < topology->nodes.n && !err; i++) {
			// a node may have memory alone
			if (topology->nodes.v[i].cpus && *topology->nodes.v[i].cpus)
				err = add_same(places, topology->nodes.v[i].cpus);
		}
	} else {
		for (size_t i = 0; i < topology->online.n && !err; i++) {
			snprintf(one, sizeof(one), "%u", topology->online.v[i]);
			err = add_same(places, one);
		}
	}
	return err;
}

int reader_places(struct reader_place **ret, size_t *ret_n, const char *spec, const char *root)
{
	struct places places = {0};
	struct topology topology;
	int err;

	topology_read(&topology, root);
	for (size_t i = 0; i < topology.online.n; i++)
		cpu_mask_add(&places.online, topology.online.v[i]);
	err = strchr(spec, '/') ? add_spec(&places, str_of(spec))
				: add_word(&places, spec, &topology);
	if (!err && !places.v.n)
		err = fail(ENODEV,
			   "--threads=%s: this machine doesn't say which CPUs belong together; --threads=cpu needs no such thing",
			   spec);
	topology_done(&topology);
	cpu_mask_done(&places.online);
	cpu_mask_done(&places.read);
	cpu_mask_done(&places.run);
	if (err) {
		reader_places_free(places.v.v, places.v.n);
		return err;
	}
	*ret = places.v.v;
	*ret_n = places.v.n;
	return 0;
}

void reader_places_free(struct reader_place *places, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cpu_mask_done(&places[i].reads);
		cpu_mask_done(&places[i].runs);
	}
	free(places);
}
