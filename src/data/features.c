// SPDX-License-Identifier: GPL-2.0-or-later
// What the feature sections say about where and how a recording was made.
#include "base/log.h"
#include "data/private.h"
#include <errno.h>

static const char *const names[FEATURE_LAST] = {
	[FEATURE_TRACING_DATA] = "TRACING_DATA",
	[FEATURE_BUILD_ID] = "BUILD_ID",
	[FEATURE_HOSTNAME] = "HOSTNAME",
	[FEATURE_OSRELEASE] = "OSRELEASE",
	[FEATURE_VERSION] = "VERSION",
	[FEATURE_ARCH] = "ARCH",
	[FEATURE_NRCPUS] = "NRCPUS",
	[FEATURE_CPUDESC] = "CPUDESC",
	[FEATURE_CPUID] = "CPUID",
	[FEATURE_TOTAL_MEM] = "TOTAL_MEM",
	[FEATURE_CMDLINE] = "CMDLINE",
	[FEATURE_EVENT_DESC] = "EVENT_DESC",
	[FEATURE_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
	[FEATURE_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
	[FEATURE_BRANCH_STACK] = "BRANCH_STACK",
	[FEATURE_PMU_MAPPINGS] = "PMU_MAPPINGS",
	[FEATURE_GROUP_DESC] = "GROUP_DESC",
	[FEATURE_AUXTRACE] = "AUXTRACE",
	[FEATURE_STAT] = "STAT",
	[FEATURE_CACHE] = "CACHE",
	[FEATURE_SAMPLE_TIME] = "SAMPLE_TIME",
	[FEATURE_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
	[FEATURE_CLOCKID] = "CLOCKID",
	[FEATURE_DIR_FORMAT] = "DIR_FORMAT",
	[FEATURE_BPF_PROG_INFO] = "BPF_PROG_INFO",
	[FEATURE_BPF_BTF] = "BPF_BTF",
	[FEATURE_COMPRESSED] = "COMPRESSED",
	[FEATURE_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
	[FEATURE_CLOCK_DATA] = "CLOCK_DATA",
	[FEATURE_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
	[FEATURE_PMU_CAPS] = "PMU_CAPS",
};

const char *feature_name(uint32_t id)
{
	return id < FEATURE_LAST && names[id] ? names[id] : "unknown";
}

int build_id_take(struct recording *recording, const uint8_t *record, size_t size)
{
	struct cursor c = cursor_of(record, size, recording->swap);
	struct recorded_build_id id = {.id_size = 20};
	uint16_t misc;
	const uint8_t *p;
	size_t n;

	if (size < 8 + 4 + 24 + 1)
		return -EINVAL;
	memcpy(&misc, record + 4, 2);
	id.misc = recording->swap ? __builtin_bswap16(misc) : misc;
	cursor_bytes(&c, 8);
	id.pid = (int32_t)cursor_u32(&c);
	p = cursor_bytes(&c, 24);
	// perf before 2.6.33-rc4 had no pid: the name then seems to start 4 bytes late
	if (cursor_left(&c) > 13 && !memcmp(c.at, "nel.kallsyms]", 13)) {
		id.pid = -1;
		p -= 4;
		c.at -= 4;
	}
	memcpy(id.id, p, 20);
	if (id.misc & 1 << 15) // PERF_RECORD_MISC_BUILD_ID_SIZE
		id.id_size = MIN(p[20], (uint8_t)20);
	n = strnlen((const char *)c.at, cursor_left(&c));
	id.name = arena_strdup(&recording->arena, (struct str){(const char *)c.at, n});
	vec_push(&recording->info.build_ids, id);
	return 0;
}

static int take_build_ids(struct recording *recording, const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (size - at >= 8) {
		uint16_t n;

		memcpy(&n, data + at + 6, 2);
		if (recording->swap)
			n = __builtin_bswap16(n);
		if (n < 8 || n > size - at || build_id_take(recording, data + at, n) < 0)
			return -EINVAL;
		at += n;
	}
	return 0;
}

static int take_tracing_data(struct recording *recording, const uint8_t *data, size_t size)
{
	return tracing_data_take(recording, data, size);
}

#define TEXT_FEATURE(field)                                                                        \
	static int take_##field(struct recording *recording, const uint8_t *data, size_t size)     \
	{                                                                                          \
		struct cursor c = cursor_of(data, size, recording->swap);                          \
		const char *text = cursor_string(&c);                                              \
                                                                                                   \
		if (!text)                                                                         \
			return -EINVAL;                                                            \
		recording->info.field = text;                                                      \
		return 0;                                                                          \
	}

TEXT_FEATURE(hostname)
TEXT_FEATURE(os_release)
TEXT_FEATURE(perf_version)
TEXT_FEATURE(cpu_description)
TEXT_FEATURE(cpu_id)

static int take_arch(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	const char *arch = cursor_string(&c);

	if (!arch)
		return -EINVAL;
	recording->info.arch = arch;
	recording->is_64bit = strstr(arch, "64") || !strcmp(arch, "s390x") || !strcmp(arch, "alpha");
	return 0;
}

static int take_cpus(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint32_t available = cursor_u32(&c), online = cursor_u32(&c);

	if (c.bad)
		return -EINVAL;
	recording->info.cpus_available = available;
	recording->info.cpus_online = online;
	return 0;
}

static int take_memory(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint64_t kb = cursor_u64(&c);

	if (c.bad)
		return -EINVAL;
	recording->info.total_memory_kb = kb;
	return 0;
}

static int take_command_line(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint32_t n = cursor_u32(&c);

	vec_clear(&recording->info.command_line);
	while (n-- && !c.bad) {
		const char *word = cursor_string(&c);

		if (word)
			vec_push(&recording->info.command_line, word);
	}
	return c.bad ? -EINVAL : 0;
}

static int take_event_desc(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint32_t n = cursor_u32(&c), attr_size = cursor_u32(&c);

	for (uint32_t i = 0; i < n && !c.bad; i++) {
		cursor_bytes(&c, attr_size);
		uint32_t ids = cursor_u32(&c);
		const char *name = cursor_string(&c);

		cursor_bytes(&c, (size_t)ids * 8);
		if (name && *name && i < recording->events.n && !recording->events.v[i]->name_stored) {
			recording->events.v[i]->name = name;
			recording->events.v[i]->name_stored = true;
		}
	}
	return c.bad ? -EINVAL : 0;
}

static int take_group_desc(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint32_t n = cursor_u32(&c);

	while (n-- && !c.bad) {
		const char *name = cursor_string(&c);
		uint32_t leader = cursor_u32(&c), members = cursor_u32(&c);

		if (c.bad || leader >= recording->events.n || !members ||
		    members > recording->events.n - leader)
			return -EINVAL;
		struct event *first = recording->events.v[leader];
		if (strcmp(name, "{anon_group}"))
			first->group_name = name;
		first->group_members = members;
		for (uint32_t i = 0; i < members; i++)
			recording->events.v[leader + i]->leader = first;
	}
	return c.bad ? -EINVAL : 0;
}

static int take_branch_stack(struct recording *recording, const uint8_t *data, size_t size)
{
	recording->info.has_branch_stack = true;
	return 0;
}

static int take_sample_time(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint64_t first = cursor_u64(&c), last = cursor_u64(&c);

	if (c.bad)
		return -EINVAL;
	recording->info.first_sample_ns = first;
	recording->info.last_sample_ns = last;
	recording->info.has_sample_time = true;
	return 0;
}

static int take_clockid(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint64_t ns = cursor_u64(&c);

	if (c.bad)
		return -EINVAL;
	recording->info.clock_resolution_ns = ns;
	return 0;
}

static int take_clock_data(struct recording *recording, const uint8_t *data, size_t size)
{
	struct cursor c = cursor_of(data, size, recording->swap);
	uint32_t version = cursor_u32(&c), id = cursor_u32(&c);
	uint64_t wall = cursor_u64(&c), time = cursor_u64(&c);

	if (c.bad || version != 1)
		return -EINVAL;
	recording->info.clock_id = id;
	recording->info.wall_clock_ns = wall;
	recording->info.clock_id_time_ns = time;
	recording->info.has_clock_data = true;
	return 0;
}

typedef int take(struct recording *recording, const uint8_t *data, size_t size);

static take *const takers[FEATURE_LAST] = {
	[FEATURE_TRACING_DATA] = take_tracing_data,
	[FEATURE_BUILD_ID] = take_build_ids,
	[FEATURE_HOSTNAME] = take_hostname,
	[FEATURE_OSRELEASE] = take_os_release,
	[FEATURE_VERSION] = take_perf_version,
	[FEATURE_ARCH] = take_arch,
	[FEATURE_NRCPUS] = take_cpus,
	[FEATURE_CPUDESC] = take_cpu_description,
	[FEATURE_CPUID] = take_cpu_id,
	[FEATURE_TOTAL_MEM] = take_memory,
	[FEATURE_CMDLINE] = take_command_line,
	[FEATURE_EVENT_DESC] = take_event_desc,
	[FEATURE_BRANCH_STACK] = take_branch_stack,
	[FEATURE_GROUP_DESC] = take_group_desc,
	[FEATURE_SAMPLE_TIME] = take_sample_time,
	[FEATURE_CLOCKID] = take_clockid,
	[FEATURE_CLOCK_DATA] = take_clock_data,
};

static void take_notes(struct recording *recording, const uint8_t *data, size_t size)
{
	static const char cut[] = "cut ";
	struct str rest = {(const char *)data, strnlen((const char *)data, size)};

	recording->info.notes = arena_strdup(&recording->arena, rest);
	while (rest.n) {
		struct str line = str_cut(&rest, '\n');

		if (str_starts(line, cut))
			recording_damage(recording, false,
					 "the recording was given up before its end: %.*s",
					 STR_FMT(((struct str){line.p + strlen(cut),
							       line.n - strlen(cut)})));
	}
}

int feature_take(struct recording *recording, uint32_t id, const uint8_t *data, size_t size)
{
	if (id >= FEATURE_BITS)
		return -EINVAL;
	recording->features[id] = (struct feature){.present = true, .data = data, .size = size};
	if (id == FEATURE_NOTES)
		take_notes(recording, data, size);
	return id < FEATURE_LAST && takers[id] ? takers[id](recording, data, size) : 0;
}
