// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/features_machine.h"
#include "base/alloc.h"
#include "base/file.h"
#include "sys/pmu.h"
#include "version.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/utsname.h>

// The file's text without white space at its ends, or NULL; the caller frees it.
static char *read_text(const char *root, const char *path)
{
	auto_free char *text = NULL;
	size_t n;

	if (file_read_at(root, path, &text, &n) < 0)
		return NULL;
	return str_dup(str_trim((struct str){text, n}));
}

static char *read_text_fmt(const char *root, const char *fmt, unsigned n)
{
	char path[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(path, sizeof(path), fmt, n);
#pragma GCC diagnostic pop
	return read_text(root, path);
}

static void add_number(void *arg, uint32_t n)
{
	VEC(uint32_t) *list = arg;

	vec_push(list, n);
}

struct numbers {
	VEC(uint32_t) list;
};

// "0-3,8" as numbers. False: no such file.
static bool read_numbers(struct numbers *ret, const char *root, const char *path)
{
	auto_free char *text = read_text(root, path);

	return text && *text && num_parse_list(str_of(text), 1 << 16, add_number, &ret->list) >= 0;
}

static uint32_t cpus_present(const char *root)
{
	struct numbers cpus = {0};
	uint32_t max = 0;

	if (!read_numbers(&cpus, root, "/sys/devices/system/cpu/present"))
		return (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	for (size_t i = 0; i < cpus.list.n; i++)
		max = MAX(max, cpus.list.v[i] + 1);
	vec_done(&cpus.list);
	return max;
}

bool machine_hostname(struct out *out, const struct feature_facts *facts)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return false;
	section_string(out, uts.nodename);
	return true;
}

bool machine_os_release(struct out *out, const struct feature_facts *facts)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return false;
	section_string(out, uts.release);
	return true;
}

bool machine_version(struct out *out, const struct feature_facts *facts)
{
	section_string(out, "sonde " SONDE_VERSION);
	return true;
}

bool machine_arch(struct out *out, const struct feature_facts *facts)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return false;
	section_string(out, uts.machine);
	return true;
}

bool machine_cpus(struct out *out, const struct feature_facts *facts)
{
	struct numbers online = {0};

	section_u32(out, cpus_present(section_root(facts)));
	if (read_numbers(&online, section_root(facts), "/sys/devices/system/cpu/online"))
		section_u32(out, (uint32_t)online.list.n);
	else
		section_u32(out, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	vec_done(&online.list);
	return true;
}

// The value of the first "key : value" line of /proc/cpuinfo; the caller frees it.
static char *cpuinfo(const char *root, const char *key)
{
	auto_free char *text = NULL;
	struct str rest;

	if (file_read_at(root, "/proc/cpuinfo", &text, NULL) < 0)
		return NULL;
	rest = str_of(text);
	while (rest.p) {
		struct str value = str_cut(&rest, '\n'), name = str_cut(&value, ':');

		if (str_is(str_trim(name), key))
			return str_dup(str_trim(value));
	}
	return NULL;
}

bool machine_cpu_description(struct out *out, const struct feature_facts *facts)
{
	static const char *const keys[] = {"model name", "Processor", "cpu model", "cpu",
					   "vendor_id"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		auto_free char *text = cpuinfo(section_root(facts), keys[i]);
		char *to = text;

		if (!text)
			continue;
		for (const char *p = text; *p; p++) // one space for several
			if (!isspace((unsigned char)*p))
				*to++ = *p;
			else if (!isspace((unsigned char)p[1]))
				*to++ = ' ';
		*to = 0;
		section_string(out, text);
		return true;
	}
	return false;
}

bool machine_cpu_id(struct out *out, const struct feature_facts *facts)
{
	const char *root = section_root(facts);
	auto_free char *vendor = cpuinfo(root, "vendor_id"), *family = cpuinfo(root, "cpu family"),
		       *model = cpuinfo(root, "model"), *stepping = cpuinfo(root, "stepping");
	auto_free char *midr =
		read_text(root, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
	char text[128];
	uint64_t id;

	if (vendor && family && model && stepping)
		snprintf(text, sizeof(text), "%s,%s,%s,%s", vendor, family, model, stepping);
	else if (midr && num_parse_u64(str_of(midr), &id) >= 0) // without variant and revision
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)id & ~0xf0000full);
	else
		return false;
	section_string(out, text);
	return true;
}

// "MemTotal:   123 kB" of a meminfo text.
static uint64_t meminfo(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	unsigned long long kb = 0;

	if (at)
		sscanf(at + strlen(key), " %llu", &kb);
	return kb;
}

bool machine_memory(struct out *out, const struct feature_facts *facts)
{
	auto_free char *text = read_text(section_root(facts), "/proc/meminfo");

	if (!text)
		return false;
	section_u64(out, meminfo(text, "MemTotal:"));
	return true;
}

struct text_set {
	VEC(char *) texts;
};

static void text_set_add(struct text_set *set, char *text)
{
	for (size_t i = 0; i < set->texts.n; i++)
		if (!text || !strcmp(set->texts.v[i], text)) {
			free(text);
			return;
		}
	if (text)
		vec_push(&set->texts, text);
}

static void text_set_put(struct out *out, struct text_set *set)
{
	section_u32(out, (uint32_t)set->texts.n);
	for (size_t i = 0; i < set->texts.n; i++) {
		section_string(out, set->texts.v[i]);
		free(set->texts.v[i]);
	}
	vec_done(&set->texts);
}

static uint32_t topology_id(const char *root, uint32_t cpu, const char *what)
{
	char path[128];
	int64_t id;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
	return file_read_i64(root, path, &id) < 0 ? UINT32_MAX : (uint32_t)id;
}

static char *topology_list(const char *root, uint32_t cpu, const char *what, const char *or_what)
{
	char path[128];
	char *text;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu, what);
	text = read_text(root, path);
	if (text || !or_what)
		return text;
	return topology_list(root, cpu, or_what, NULL);
}

bool machine_cpu_topology(struct out *out, const struct feature_facts *facts)
{
	const char *root = section_root(facts);
	uint32_t n = cpus_present(root);
	struct text_set sockets = {0}, dies = {0}, cores = {0};
	bool has_dies = false;
	struct utsname uts;

	if (uname(&uts) >= 0)
		has_dies = !strcmp(uts.machine, "x86_64") || text_starts(uts.machine, "s390x");
	for (uint32_t i = 0; i < n; i++) {
		text_set_add(&sockets,
			     topology_list(root, i, "package_cpus_list", "core_siblings_list"));
		text_set_add(&cores,
			     topology_list(root, i, "core_cpus_list", "thread_siblings_list"));
		if (has_dies)
			text_set_add(&dies, topology_list(root, i, "die_cpus_list", NULL));
	}
	text_set_put(out, &sockets);
	text_set_put(out, &cores);
	for (uint32_t i = 0; i < n; i++) {
		section_u32(out, topology_id(root, i, "core_id"));
		section_u32(out, topology_id(root, i, "physical_package_id"));
	}
	if (!dies.texts.n)
		return true;
	text_set_put(out, &dies);
	for (uint32_t i = 0; i < n; i++)
		section_u32(out, topology_id(root, i, "die_id"));
	return true;
}

bool machine_numa(struct out *out, const struct feature_facts *facts)
{
	const char *root = section_root(facts);
	struct numbers nodes = {0};

	if (!read_numbers(&nodes, root, "/sys/devices/system/node/online"))
		return false;
	section_u32(out, (uint32_t)nodes.list.n);
	for (size_t i = 0; i < nodes.list.n; i++) {
		uint32_t node = nodes.list.v[i];
		auto_free char *memory =
			read_text_fmt(root, "/sys/devices/system/node/node%u/meminfo", node);
		auto_free char *cpus =
			read_text_fmt(root, "/sys/devices/system/node/node%u/cpulist", node);

		section_u32(out, node);
		section_u64(out, memory ? meminfo(memory, "MemTotal:") : 0);
		section_u64(out, memory ? meminfo(memory, "MemFree:") : 0);
		section_string(out, cpus ? cpus : "");
	}
	vec_done(&nodes.list);
	return true;
}

bool machine_pmus(struct out *out, const struct feature_facts *facts)
{
	struct pmus *pmus;

	pmus_load(&pmus, section_root(facts));
	section_u32(out, (uint32_t)pmus->list.n);
	vec_each(struct pmu, pmu, &pmus->list) {
		section_u32(out, pmu->type);
		section_string(out, pmu->name);
	}
	pmus_free(pmus);
	return true;
}

struct cache {
	uint32_t level, line_size, sets, ways;
	char *type, *size, *cpus;
};

static uint32_t cache_number(const char *root, const char *dir, const char *what)
{
	auto_free char *path = text_dup_fmt("%s/%s", dir, what);
	int64_t v = 0;

	return file_read_i64(root, path, &v) < 0 ? 0 : (uint32_t)v;
}

static char *cache_text(const char *root, const char *dir, const char *what)
{
	auto_free char *path = text_dup_fmt("%s/%s", dir, what);
	char *text = read_text(root, path);

	return text ? text : xstrdup("");
}

static int by_level(const void *a, const void *b)
{
	return (int)((const struct cache *)a)->level - (int)((const struct cache *)b)->level;
}

bool machine_caches(struct out *out, const struct feature_facts *facts)
{
	enum { LEVELS = 4 };
	const char *root = section_root(facts);
	VEC(struct cache) caches = {0};

	for (uint32_t i = 0, n = cpus_present(root) * LEVELS; i < n; i++) {
		auto_free char *dir = text_dup_fmt("/sys/devices/system/cpu/cpu%u/cache/index%u",
						   i / LEVELS, i % LEVELS);
		struct cache cache = {.level = cache_number(root, dir, "level")};
		bool known = !cache.level;

		if (known)
			continue;
		cache.line_size = cache_number(root, dir, "coherency_line_size");
		cache.sets = cache_number(root, dir, "number_of_sets");
		cache.ways = cache_number(root, dir, "ways_of_associativity");
		cache.type = cache_text(root, dir, "type");
		cache.size = cache_text(root, dir, "size");
		cache.cpus = cache_text(root, dir, "shared_cpu_list");
		vec_each(struct cache, other, &caches)
			known |= other->level == cache.level &&
				 other->line_size == cache.line_size && other->sets == cache.sets &&
				 other->ways == cache.ways && !strcmp(other->type, cache.type) &&
				 !strcmp(other->size, cache.size) &&
				 !strcmp(other->cpus, cache.cpus);
		if (!known) {
			vec_push(&caches, cache);
			continue;
		}
		free(cache.type);
		free(cache.size);
		free(cache.cpus);
	}
	if (caches.n)
		qsort(caches.v, caches.n, sizeof(*caches.v), by_level);
	section_u32(out, 1);
	section_u32(out, (uint32_t)caches.n);
	vec_each(struct cache, cache, &caches) {
		section_u32(out, cache->level);
		section_u32(out, cache->line_size);
		section_u32(out, cache->sets);
		section_u32(out, cache->ways);
		section_string(out, cache->type);
		section_string(out, cache->size);
		section_string(out, cache->cpus);
		free(cache->type);
		free(cache->size);
		free(cache->cpus);
	}
	vec_done(&caches);
	return true;
}

// The numbers behind `prefix` of the entries of a folder, sorted by insertion.
static bool list_dir(struct numbers *ret, const char *root, const char *dir, const char *prefix)
{
	auto_free char *path = text_dup_fmt("%s%s", root, dir);
	DIR *d = opendir(path);
	struct dirent *entry;

	if (!d)
		return false;
	while ((entry = readdir(d))) {
		uint64_t n;

		if (!text_starts(entry->d_name, prefix) ||
		    num_parse_u64(str_of(entry->d_name + strlen(prefix)), &n) < 0 || n > 1 << 24)
			continue;
		vec_push(&ret->list, (uint32_t)n);
		for (size_t i = ret->list.n - 1; i && ret->list.v[i - 1] > ret->list.v[i]; i--) {
			uint32_t swap = ret->list.v[i];

			ret->list.v[i] = ret->list.v[i - 1];
			ret->list.v[i - 1] = swap;
		}
	}
	closedir(d);
	return true;
}

bool machine_memory_topology(struct out *out, const struct feature_facts *facts)
{
	const char *root = section_root(facts);
	auto_free char *text = read_text(root, "/sys/devices/system/memory/block_size_bytes");
	struct numbers nodes = {0};
	uint64_t block;

	if (!text || num_parse_hex(str_of(text), &block) < 0)
		return false;
	if (!list_dir(&nodes, root, "/sys/devices/system/node", "node"))
		return false;
	section_u64(out, 1);
	section_u64(out, block);
	section_u64(out, nodes.list.n);
	for (size_t i = 0; i < nodes.list.n; i++) {
		char dir[64];
		struct numbers blocks = {0};
		uint32_t bits;

		snprintf(dir, sizeof(dir), "/sys/devices/system/node/node%u", nodes.list.v[i]);
		list_dir(&blocks, root, dir, "memory");
		bits = blocks.list.n ? vec_last(&blocks.list) + 1 : 1;
		auto_free uint64_t *set = xcalloc(bits / 64 + 1, sizeof(*set));
		for (size_t k = 0; k < blocks.list.n; k++)
			set[blocks.list.v[k] / 64] |= 1ull << blocks.list.v[k] % 64;
		section_u64(out, nodes.list.v[i]);
		section_u64(out, bits);
		section_u64(out, bits);
		out_bytes(out, set, ((size_t)bits + 63) / 64 * 8);
		vec_done(&blocks.list);
	}
	vec_done(&nodes.list);
	return true;
}

// The files of a PMU's caps folder as name and value.
static uint32_t put_caps(struct out *out, const char *root, const char *pmu)
{
	auto_free char *path = text_dup_fmt("%s/sys/bus/event_source/devices/%s/caps", root, pmu);
	DIR *d = opendir(path);
	struct dirent *entry;
	uint32_t n = 0;

	while (d && (entry = readdir(d))) {
		auto_free char *file = text_dup_fmt("%s/%s", path, entry->d_name);
		auto_free char *value = entry->d_name[0] == '.' ? NULL : read_text("", file);

		if (!value)
			continue;
		section_string(out, entry->d_name);
		section_string(out, value);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

bool machine_cpu_pmu_caps(struct out *out, const struct feature_facts *facts)
{
	const char *root = section_root(facts);
	auto_free char *type = read_text(root, "/sys/bus/event_source/devices/cpu/type");
	size_t at = out->n;
	uint32_t n;

	if (!type)
		return false;
	section_u32(out, 0);
	n = put_caps(out, root, "cpu");
	memcpy(out->buf + at, &n, sizeof(n));
	return true;
}

bool machine_pmu_caps(struct out *out, const struct feature_facts *facts)
{
	const char *root = section_root(facts);
	struct pmus *pmus;
	size_t at = out->n, one;
	uint32_t count = 0;

	section_u32(out, 0);
	pmus_load(&pmus, root);
	vec_each(struct pmu, pmu, &pmus->list) {
		uint32_t n;

		if (!strcmp(pmu->name, "cpu"))
			continue;
		one = out->n;
		section_u32(out, 0);
		n = put_caps(out, root, pmu->name);
		if (!n) {
			out->n = one;
			continue;
		}
		memcpy(out->buf + one, &n, sizeof(n));
		section_string(out, pmu->name);
		count++;
	}
	pmus_free(pmus);
	memcpy(out->buf + at, &count, sizeof(count));
	return true;
}
