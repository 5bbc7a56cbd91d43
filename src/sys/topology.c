// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/topology.h"
#include "base/file.h"
#include "base/num.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#define CPU_DIR "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"
enum { CPUS_MAX = 65536, CACHES_MAX = 16 };

struct reader {
	struct topology *topology;
	const char *root;
};

static void add_number(void *arg, uint32_t n)
{
	struct cpu_numbers *numbers = arg;
	vec_push(&numbers->v, n);
}

__attribute__((format(printf, 2, 3))) static const char *read_text(struct reader *r,
								   const char *fmt, ...)
{
	auto_free char *text = NULL;
	char path[512];
	va_list args;
	size_t n;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	if (file_read_at(r->root, path, &text, &n) < 0)
		return NULL;
	return arena_strdup(&r->topology->arena, str_trim((struct str){text, strnlen(text, n)}));
}

static int64_t to_number(const char *text, int64_t absent)
{
	int64_t value;

	return text && num_parse_i64(str_of(text), &value) == 0 ? value : absent;
}

int topology_cpus(struct cpu_numbers *ret, const char *root, const char *which)
{
	auto_free char *path = text_dup_fmt(CPU_DIR "/%s", which), *text = NULL;
	size_t n;

	if (file_read_at(root, path, &text, &n) < 0)
		return -ENOENT;
	struct str list = str_trim((struct str){text, strnlen(text, n)});
	return list.n ? num_parse_list(list, CPUS_MAX, add_number, ret) : 0;
}

// perf squeezes blanks out of the model's name.
static const char *squeeze(struct arena *arena, struct str s)
{
	char *copy = arena_strdup(arena, s), *to = copy;

	for (const char *from = copy; *from; from++)
		if (!isspace((unsigned char)*from) || (to > copy && !isspace((unsigned char)to[-1])))
			*to++ = isspace((unsigned char)*from) ? ' ' : *from;
	*to = 0;
	return copy;
}

static void read_cpuinfo(struct reader *r)
{
	static const char *const models[] = {"model name", "Processor", "cpu model", "cpu"};
	struct str vendor = {0}, family = {0}, number = {0}, stepping = {0}, model[4] = {0};
	struct topology *t = r->topology;
	auto_free char *text = NULL;
	size_t n;

	if (file_read_at(r->root, "/proc/cpuinfo", &text, &n) < 0)
		return;
	struct str rest = {text, n};
	while (rest.p) {
		struct str value = str_cut(&rest, '\n'), key = str_trim(str_cut(&value, ':'));

		if (!key.n && vendor.n)
			break; // one CPU is enough
		value = str_trim(value);
		for (size_t i = 0; i < ARRAY_SIZE(models); i++)
			if (!model[i].n && str_is(key, models[i]))
				model[i] = value;
		if (str_is(key, "vendor_id"))
			vendor = value;
		else if (str_is(key, "cpu family"))
			family = value;
		else if (str_is(key, "model"))
			number = value;
		else if (str_is(key, "stepping"))
			stepping = value;
	}
	for (size_t i = 0; i < ARRAY_SIZE(models) && !t->model; i++)
		if (model[i].n)
			t->model = squeeze(&t->arena, model[i]);
	if (vendor.n && family.n)
		t->cpu_id = arena_fmt(&t->arena, "%.*s,%.*s,%.*s,%.*s", STR_FMT(vendor),
				      STR_FMT(family), STR_FMT(number), STR_FMT(stepping));
}

static void read_midr(struct reader *r)
{
	const char *midr = read_text(r, CPU_DIR "/cpu0/regs/identification/midr_el1");

	if (midr && !r->topology->cpu_id)
		r->topology->cpu_id = midr;
}

static uint64_t meminfo_kb(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;
	unsigned long long kb;

	return at && sscanf(at + strlen(key), " %llu", &kb) == 1 ? kb : 0;
}

static void add_once(struct topology *t, void *list, const char *text)
{
	VEC(const char *) *all = list;

	(void)t;
	if (!text || !*text)
		return;
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i], text))
			return;
	vec_push(all, text);
}

// The file's name changed in Linux 5.3.
static const char *siblings(struct reader *r, uint32_t cpu, const char *now, const char *before)
{
	const char *list = read_text(r, CPU_DIR "/cpu%u/topology/%s", cpu, now);

	return list ? list : read_text(r, CPU_DIR "/cpu%u/topology/%s", cpu, before);
}

static void read_cpu(struct reader *r, uint32_t number)
{
	struct topology *t = r->topology;
	struct topology_cpu cpu = {.cpu = number};
	const char *die = read_text(r, CPU_DIR "/cpu%u/topology/die_id", number);

	cpu.core = (int32_t)to_number(read_text(r, CPU_DIR "/cpu%u/topology/core_id", number), -1);
	cpu.die = (int32_t)to_number(die, -1);
	cpu.socket = (int32_t)to_number(read_text(r, CPU_DIR "/cpu%u/topology/physical_package_id",
						  number),
					-1);
	t->has_dies |= die != NULL;
	vec_push(&t->cpus, cpu);
	add_once(t, &t->sockets, siblings(r, number, "package_cpus_list", "core_siblings_list"));
	add_once(t, &t->dies, read_text(r, CPU_DIR "/cpu%u/topology/die_cpus_list", number));
	add_once(t, &t->cores, siblings(r, number, "core_cpus_list", "thread_siblings_list"));
}

static void read_cache(struct reader *r, uint32_t cpu, int index)
{
#define CACHE CPU_DIR "/cpu%u/cache/index%d/"
	struct topology *t = r->topology;
	const char *level = read_text(r, CACHE "level", cpu, index);

	if (!level)
		return;
	struct topology_cache cache = {
		.level = (uint32_t)to_number(level, 0),
		.line_size_bytes =
			(uint32_t)to_number(read_text(r, CACHE "coherency_line_size", cpu, index), 0),
		.sets = (uint32_t)to_number(read_text(r, CACHE "number_of_sets", cpu, index), 0),
		.ways = (uint32_t)to_number(read_text(r, CACHE "ways_of_associativity", cpu, index),
					    0),
		.type = read_text(r, CACHE "type", cpu, index),
		.size = read_text(r, CACHE "size", cpu, index),
		.cpus = read_text(r, CACHE "shared_cpu_list", cpu, index),
	};
#undef CACHE
	if (!cache.type || !cache.size || !cache.cpus)
		return;
	vec_each(struct topology_cache, old, &t->caches)
		if (old->level == cache.level && !strcmp(old->type, cache.type) &&
		    !strcmp(old->size, cache.size) && !strcmp(old->cpus, cache.cpus))
			return;
	vec_push(&t->caches, cache);
}

// Stable, and short: the caches of one CPU come level by level already.
static void sort_caches(struct topology *t)
{
	for (size_t i = 1; i < t->caches.n; i++) {
		struct topology_cache cache = t->caches.v[i];
		size_t j = i;

		for (; j && t->caches.v[j - 1].level > cache.level; j--)
			t->caches.v[j] = t->caches.v[j - 1];
		t->caches.v[j] = cache;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

static void read_node(struct reader *r, uint32_t number)
{
	struct topology *t = r->topology;
	struct topology_node *node = vec_add(&t->nodes);
	const char *info = read_text(r, NODE_DIR "/node%u/meminfo", number);
	auto_free char *path = text_dup_fmt("%s" NODE_DIR "/node%u", r->root ? r->root : "", number);
	DIR *dir = opendir(path);
	struct dirent *entry;
	unsigned block;

	node->node = number;
	node->memory_kb = meminfo_kb(info, "MemTotal:");
	node->free_kb = meminfo_kb(info, "MemFree:");
	node->cpus = read_text(r, NODE_DIR "/node%u/cpulist", number);
	while (dir && (entry = readdir(dir)) != NULL)
		if (sscanf(entry->d_name, "memory%u", &block) == 1)
			vec_push(&node->blocks, block);
	if (dir)
		closedir(dir);
	if (node->blocks.n)
		qsort(node->blocks.v, node->blocks.n, sizeof(*node->blocks.v), by_number);
}

static void read_nodes(struct reader *r)
{
	const char *list = read_text(r, NODE_DIR "/online");
	const char *block = read_text(r, "/sys/devices/system/memory/block_size_bytes");
	struct cpu_numbers nodes = {0};

	if (block)
		num_parse_hex(str_of(block), &r->topology->memory_block_bytes);
	if (list && *list)
		num_parse_list(str_of(list), CPUS_MAX, add_number, &nodes);
	for (size_t i = 0; i < nodes.v.n; i++)
		read_node(r, nodes.v.v[i]);
	vec_done(&nodes.v);
}

void topology_read(struct topology *ret, const char *root)
{
	struct cpu_numbers present = {0}, online = {0};
	struct reader r = {ret, root};

	*ret = (struct topology){0};
	topology_cpus(&online, root, "online");
	topology_cpus(&present, root, "present");
	ret->present = (uint32_t)present.v.n;
	for (size_t i = 0; i < online.v.n; i++)
		vec_push(&ret->online, online.v.v[i]);
	read_cpuinfo(&r);
	read_midr(&r);
	ret->memory_kb = meminfo_kb(read_text(&r, "/proc/meminfo"), "MemTotal:");
	for (size_t i = 0; i < present.v.n; i++)
		read_cpu(&r, present.v.v[i]);
	for (size_t i = 0; i < present.v.n; i++)
		for (int index = 0; index < CACHES_MAX; index++)
			read_cache(&r, present.v.v[i], index);
	sort_caches(ret);
	read_nodes(&r);
	vec_done(&present.v);
	vec_done(&online.v);
}

void topology_done(struct topology *topology)
{
	vec_each(struct topology_node, node, &topology->nodes)
		vec_done(&node->blocks);
	vec_done(&topology->nodes);
	vec_done(&topology->online);
	vec_done(&topology->cpus);
	vec_done(&topology->sockets);
	vec_done(&topology->dies);
	vec_done(&topology->cores);
	vec_done(&topology->caches);
	arena_done(&topology->arena);
	*topology = (struct topology){0};
}
