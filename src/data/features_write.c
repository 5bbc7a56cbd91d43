// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/features_write.h"
#include "base/alloc.h"
#include "base/file.h"
#include "sys/pmu.h"
#include "version.h"
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <time.h>

static void put_u32(struct out *out, uint32_t v)
{
	out_bytes(out, &v, sizeof(v));
}

static void put_u64(struct out *out, uint64_t v)
{
	out_bytes(out, &v, sizeof(v));
}

static void put_string(struct out *out, const char *text)
{
	size_t n = strlen(text) + 1, padded = (n + 63) & ~(size_t)63;

	put_u32(out, (uint32_t)padded);
	out_bytes(out, text, n);
	out_fill(out, 0, padded - n);
}

static const char *root_of(const struct feature_facts *facts)
{
	return facts->options->root ? facts->options->root : "";
}

// The file's text without white space at its ends, or NULL; the caller frees it.
static char *read_text(const char *root, const char *path)
{
	auto_free char *text = NULL;
	size_t n;

	if (file_read_at(root, path, 1 << 20, &text, &n) < 0)
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

static bool write_hostname(struct out *out, const struct feature_facts *facts)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return false;
	put_string(out, uts.nodename);
	return true;
}

static bool write_os_release(struct out *out, const struct feature_facts *facts)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return false;
	put_string(out, uts.release);
	return true;
}

static bool write_version(struct out *out, const struct feature_facts *facts)
{
	put_string(out, "sonde " SONDE_VERSION);
	return true;
}

static bool write_arch(struct out *out, const struct feature_facts *facts)
{
	struct utsname uts;

	if (uname(&uts) < 0)
		return false;
	put_string(out, uts.machine);
	return true;
}

static bool write_cpus(struct out *out, const struct feature_facts *facts)
{
	struct numbers online = {0};

	put_u32(out, cpus_present(root_of(facts)));
	if (read_numbers(&online, root_of(facts), "/sys/devices/system/cpu/online"))
		put_u32(out, (uint32_t)online.list.n);
	else
		put_u32(out, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	vec_done(&online.list);
	return true;
}

// The value of the first "key : value" line of /proc/cpuinfo; the caller frees it.
static char *cpuinfo(const char *root, const char *key)
{
	auto_free char *text = NULL;
	struct str rest;

	if (file_read_at(root, "/proc/cpuinfo", 1 << 24, &text, NULL) < 0)
		return NULL;
	rest = str_of(text);
	while (rest.p) {
		struct str value = str_cut(&rest, '\n'), name = str_cut(&value, ':');

		if (str_is(str_trim(name), key))
			return str_dup(str_trim(value));
	}
	return NULL;
}

static bool write_cpu_description(struct out *out, const struct feature_facts *facts)
{
	static const char *const keys[] = {"model name", "Processor", "cpu model", "cpu",
					   "vendor_id"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		auto_free char *text = cpuinfo(root_of(facts), keys[i]);
		char *to = text;

		if (!text)
			continue;
		for (const char *p = text; *p; p++) // one space for several
			if (!isspace((unsigned char)*p))
				*to++ = *p;
			else if (!isspace((unsigned char)p[1]))
				*to++ = ' ';
		*to = 0;
		put_string(out, text);
		return true;
	}
	return false;
}

static bool write_cpu_id(struct out *out, const struct feature_facts *facts)
{
	const char *root = root_of(facts);
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
	put_string(out, text);
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

static bool write_memory(struct out *out, const struct feature_facts *facts)
{
	auto_free char *text = read_text(root_of(facts), "/proc/meminfo");

	if (!text)
		return false;
	put_u64(out, meminfo(text, "MemTotal:"));
	return true;
}

static bool write_command_line(struct out *out, const struct feature_facts *facts)
{
	const char *const *words = facts->options->command_line;
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	uint32_t count = 0;

	exe[MAX(n, 0)] = 0;
	while (words && words[count])
		count++;
	put_u32(out, count + 1);
	put_string(out, n > 0 ? exe : "sonde");
	for (uint32_t i = 0; i < count; i++)
		put_string(out, words[i]);
	return true;
}

static bool write_events(struct out *out, const struct feature_facts *facts)
{
	put_u32(out, (uint32_t)facts->events_n);
	put_u32(out, facts->attr_size);
	for (size_t i = 0; i < facts->events_n; i++) {
		const struct writer_event *event = &facts->events[i];
		struct perf_event_attr attr = event->attr;

		attr.size = facts->attr_size;
		out_bytes(out, &attr, facts->attr_size);
		put_u32(out, (uint32_t)event->ids_n);
		put_string(out, event->name ? event->name : "");
		out_bytes(out, event->ids, event->ids_n * sizeof(*event->ids));
	}
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
	put_u32(out, (uint32_t)set->texts.n);
	for (size_t i = 0; i < set->texts.n; i++) {
		put_string(out, set->texts.v[i]);
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

static bool write_cpu_topology(struct out *out, const struct feature_facts *facts)
{
	const char *root = root_of(facts);
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
		put_u32(out, topology_id(root, i, "core_id"));
		put_u32(out, topology_id(root, i, "physical_package_id"));
	}
	if (!dies.texts.n)
		return true;
	text_set_put(out, &dies);
	for (uint32_t i = 0; i < n; i++)
		put_u32(out, topology_id(root, i, "die_id"));
	return true;
}

static bool write_numa(struct out *out, const struct feature_facts *facts)
{
	const char *root = root_of(facts);
	struct numbers nodes = {0};

	if (!read_numbers(&nodes, root, "/sys/devices/system/node/online"))
		return false;
	put_u32(out, (uint32_t)nodes.list.n);
	for (size_t i = 0; i < nodes.list.n; i++) {
		uint32_t node = nodes.list.v[i];
		auto_free char *memory =
			read_text_fmt(root, "/sys/devices/system/node/node%u/meminfo", node);
		auto_free char *cpus =
			read_text_fmt(root, "/sys/devices/system/node/node%u/cpulist", node);

		put_u32(out, node);
		put_u64(out, memory ? meminfo(memory, "MemTotal:") : 0);
		put_u64(out, memory ? meminfo(memory, "MemFree:") : 0);
		put_string(out, cpus ? cpus : "");
	}
	vec_done(&nodes.list);
	return true;
}

static bool write_branch_stack(struct out *out, const struct feature_facts *facts)
{
	return facts->options->branch_stack;
}

static bool write_stat(struct out *out, const struct feature_facts *facts)
{
	return facts->options->counts;
}

static bool write_pmus(struct out *out, const struct feature_facts *facts)
{
	struct pmus *pmus;

	pmus_load(&pmus, root_of(facts));
	put_u32(out, (uint32_t)pmus->list.n);
	vec_each(struct pmu, pmu, &pmus->list) {
		put_u32(out, pmu->type);
		put_string(out, pmu->name);
	}
	pmus_free(pmus);
	return true;
}

static uint32_t members(const struct feature_facts *facts, size_t leader)
{
	uint32_t n = 0;

	for (size_t i = 0; i < facts->events_n; i++)
		n += facts->events[i].leader == leader;
	return n;
}

static bool write_groups(struct out *out, const struct feature_facts *facts)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < facts->events_n; i++)
		groups += members(facts, i) > 1;
	if (!groups)
		return false;
	put_u32(out, groups);
	for (size_t i = 0; i < facts->events_n; i++) {
		const char *name = facts->events[i].group_name;

		if (members(facts, i) < 2)
			continue;
		put_string(out, name ? name : "{anon_group}");
		put_u32(out, (uint32_t)i);
		put_u32(out, members(facts, i));
	}
	return true;
}

static bool write_auxtrace(struct out *out, const struct feature_facts *facts)
{
	if (!facts->auxtrace_n)
		return false;
	put_u64(out, facts->auxtrace_n);
	out_bytes(out, facts->auxtrace, facts->auxtrace_n * sizeof(*facts->auxtrace));
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

static bool write_caches(struct out *out, const struct feature_facts *facts)
{
	enum { LEVELS = 4 };
	const char *root = root_of(facts);
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
	put_u32(out, 1);
	put_u32(out, (uint32_t)caches.n);
	vec_each(struct cache, cache, &caches) {
		put_u32(out, cache->level);
		put_u32(out, cache->line_size);
		put_u32(out, cache->sets);
		put_u32(out, cache->ways);
		put_string(out, cache->type);
		put_string(out, cache->size);
		put_string(out, cache->cpus);
		free(cache->type);
		free(cache->size);
		free(cache->cpus);
	}
	vec_done(&caches);
	return true;
}

static bool write_sample_time(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->has_sample_time)
		return false;
	put_u64(out, facts->first_sample_ns);
	put_u64(out, facts->last_sample_ns);
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

static bool write_memory_topology(struct out *out, const struct feature_facts *facts)
{
	const char *root = root_of(facts);
	auto_free char *text = read_text(root, "/sys/devices/system/memory/block_size_bytes");
	struct numbers nodes = {0};
	uint64_t block;

	if (!text || num_parse_hex(str_of(text), &block) < 0)
		return false;
	if (!list_dir(&nodes, root, "/sys/devices/system/node", "node"))
		return false;
	put_u64(out, 1);
	put_u64(out, block);
	put_u64(out, nodes.list.n);
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
		put_u64(out, nodes.list.v[i]);
		put_u64(out, bits);
		put_u64(out, bits);
		out_bytes(out, set, ((size_t)bits + 63) / 64 * 8);
		vec_done(&blocks.list);
	}
	vec_done(&nodes.list);
	return true;
}

static bool write_clockid(struct out *out, const struct feature_facts *facts)
{
	struct timespec res;

	if (!facts->options->has_clockid || clock_getres((clockid_t)facts->options->clockid, &res) < 0)
		return false;
	put_u64(out, (uint64_t)res.tv_sec * 1000000000 + (uint64_t)res.tv_nsec);
	return true;
}

static bool write_clock_data(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->has_clockid)
		return false;
	put_u32(out, 1);
	put_u32(out, facts->options->clockid);
	put_u64(out, facts->wall_clock_ns);
	put_u64(out, facts->clock_id_time_ns);
	return true;
}

static bool write_dir_format(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->dir_format)
		return false;
	put_u64(out, 0); // one file of records; 1: one a CPU
	return true;
}

static bool write_compressed(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->zstd_level)
		return false;
	put_u32(out, 1);
	put_u32(out, 1); // Zstandard
	put_u32(out, (uint32_t)facts->options->zstd_level);
	put_u32(out, facts->bytes_packed
			     ? (uint32_t)((double)facts->bytes_in / (double)facts->bytes_packed + 0.5)
			     : 0);
	put_u32(out, facts->options->compress_mmap_bytes);
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
		put_string(out, entry->d_name);
		put_string(out, value);
		n++;
	}
	if (d)
		closedir(d);
	return n;
}

static bool write_cpu_pmu_caps(struct out *out, const struct feature_facts *facts)
{
	const char *root = root_of(facts);
	auto_free char *type = read_text(root, "/sys/bus/event_source/devices/cpu/type");
	size_t at = out->n;
	uint32_t n;

	if (!type)
		return false;
	put_u32(out, 0);
	n = put_caps(out, root, "cpu");
	memcpy(out->buf + at, &n, sizeof(n));
	return true;
}

static bool write_pmu_caps(struct out *out, const struct feature_facts *facts)
{
	const char *root = root_of(facts);
	struct pmus *pmus;
	size_t at = out->n, one;
	uint32_t count = 0;

	put_u32(out, 0);
	pmus_load(&pmus, root);
	vec_each(struct pmu, pmu, &pmus->list) {
		uint32_t n;

		if (!strcmp(pmu->name, "cpu"))
			continue;
		one = out->n;
		put_u32(out, 0);
		n = put_caps(out, root, pmu->name);
		if (!n) {
			out->n = one;
			continue;
		}
		memcpy(out->buf + one, &n, sizeof(n));
		put_string(out, pmu->name);
		count++;
	}
	pmus_free(pmus);
	memcpy(out->buf + at, &count, sizeof(count));
	return true;
}

static bool write_build_ids(struct out *out, const struct feature_facts *facts)
{
	if (facts->options->no_buildid || !facts->build_ids || !facts->build_ids->n)
		return false;
	out_bytes(out, facts->build_ids->buf, facts->build_ids->n);
	return true;
}

static bool write_tracing_data(struct out *out, const struct feature_facts *facts)
{
	return tracing_data_write(out, facts->events, facts->events_n, root_of(facts)) > 0;
}

static const struct {
	bool (*write)(struct out *out, const struct feature_facts *facts);
	bool in_pipe;
} writers[FEATURE_LAST] = {
	[FEATURE_TRACING_DATA] = {.write = write_tracing_data},
	[FEATURE_BUILD_ID] = {.write = write_build_ids},
	[FEATURE_HOSTNAME] = {.write = write_hostname, .in_pipe = true},
	[FEATURE_OSRELEASE] = {.write = write_os_release, .in_pipe = true},
	[FEATURE_VERSION] = {.write = write_version, .in_pipe = true},
	[FEATURE_ARCH] = {.write = write_arch, .in_pipe = true},
	[FEATURE_NRCPUS] = {.write = write_cpus, .in_pipe = true},
	[FEATURE_CPUDESC] = {.write = write_cpu_description, .in_pipe = true},
	[FEATURE_CPUID] = {.write = write_cpu_id, .in_pipe = true},
	[FEATURE_TOTAL_MEM] = {.write = write_memory, .in_pipe = true},
	[FEATURE_CMDLINE] = {.write = write_command_line, .in_pipe = true},
	[FEATURE_EVENT_DESC] = {.write = write_events, .in_pipe = true},
	[FEATURE_CPU_TOPOLOGY] = {.write = write_cpu_topology, .in_pipe = true},
	[FEATURE_NUMA_TOPOLOGY] = {.write = write_numa, .in_pipe = true},
	[FEATURE_BRANCH_STACK] = {.write = write_branch_stack},
	[FEATURE_PMU_MAPPINGS] = {.write = write_pmus, .in_pipe = true},
	[FEATURE_GROUP_DESC] = {.write = write_groups, .in_pipe = true},
	[FEATURE_AUXTRACE] = {.write = write_auxtrace},
	[FEATURE_STAT] = {.write = write_stat, .in_pipe = true},
	[FEATURE_CACHE] = {.write = write_caches},
	[FEATURE_SAMPLE_TIME] = {.write = write_sample_time, .in_pipe = true},
	[FEATURE_MEM_TOPOLOGY] = {.write = write_memory_topology, .in_pipe = true},
	[FEATURE_CLOCKID] = {.write = write_clockid, .in_pipe = true},
	[FEATURE_DIR_FORMAT] = {.write = write_dir_format},
	[FEATURE_COMPRESSED] = {.write = write_compressed, .in_pipe = true},
	[FEATURE_CPU_PMU_CAPS] = {.write = write_cpu_pmu_caps, .in_pipe = true},
	[FEATURE_CLOCK_DATA] = {.write = write_clock_data, .in_pipe = true},
	[FEATURE_PMU_CAPS] = {.write = write_pmu_caps, .in_pipe = true},
};

bool feature_in_pipe(uint32_t id)
{
	return id < FEATURE_LAST && writers[id].in_pipe;
}

bool feature_write(struct out *out, const struct feature_facts *facts, uint32_t id)
{
	size_t before = out->n;

	if (id >= FEATURE_LAST || !writers[id].write)
		return false;
	if (writers[id].write(out, facts))
		return true;
	out->n = before;
	return false;
}

uint32_t attr_write_size(const struct writer_event *events, size_t n)
{
	enum { OLD = 128 }; // PERF_ATTR_SIZE_VER7, which perf 5.13 to 6.15 know
	const uint8_t *p;

	for (size_t i = 0; i < n; i++) {
		p = (const uint8_t *)&events[i].attr;
		for (size_t at = OLD; at < sizeof(events[i].attr); at++)
			if (p[at])
				return sizeof(events[i].attr);
	}
	return MIN((uint32_t)OLD, (uint32_t)sizeof(events[0].attr));
}
