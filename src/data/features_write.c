// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/features_write.h"
#include "data/features_machine.h"
#include <time.h>

static bool write_command_line(struct out *out, const struct feature_facts *facts)
{
	const char *const *words = facts->options->command_line;
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	uint32_t count = 0;

	exe[MAX(n, 0)] = 0;
	while (words && words[count])
		count++;
	section_u32(out, count + 1);
	section_string(out, n > 0 ? exe : "sonde");
	for (uint32_t i = 0; i < count; i++)
		section_string(out, words[i]);
	return true;
}

static bool write_events(struct out *out, const struct feature_facts *facts)
{
	section_u32(out, (uint32_t)facts->events_n);
	section_u32(out, facts->attr_size);
	for (size_t i = 0; i < facts->events_n; i++) {
		const struct writer_event *event = &facts->events[i];
		struct perf_event_attr attr = event->attr;

		attr.size = facts->attr_size;
		out_bytes(out, &attr, facts->attr_size);
		section_u32(out, (uint32_t)event->ids_n);
		section_string(out, event->name ? event->name : "");
		out_bytes(out, event->ids, event->ids_n * sizeof(*event->ids));
	}
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
	section_u32(out, groups);
	for (size_t i = 0; i < facts->events_n; i++) {
		const char *name = facts->events[i].group_name;

		if (members(facts, i) < 2)
			continue;
		section_string(out, name ? name : "{anon_group}");
		section_u32(out, (uint32_t)i);
		section_u32(out, members(facts, i));
	}
	return true;
}

static bool write_auxtrace(struct out *out, const struct feature_facts *facts)
{
	if (!facts->auxtrace_n)
		return false;
	section_u64(out, facts->auxtrace_n);
	out_bytes(out, facts->auxtrace, facts->auxtrace_n * sizeof(*facts->auxtrace));
	return true;
}

static bool write_sample_time(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->has_sample_time)
		return false;
	section_u64(out, facts->first_sample_ns);
	section_u64(out, facts->last_sample_ns);
	return true;
}

static bool write_clockid(struct out *out, const struct feature_facts *facts)
{
	struct timespec res;

	if (!facts->options->has_clockid || clock_getres((clockid_t)facts->options->clockid, &res) < 0)
		return false;
	section_u64(out, (uint64_t)res.tv_sec * 1000000000 + (uint64_t)res.tv_nsec);
	return true;
}

static bool write_clock_data(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->has_clockid)
		return false;
	section_u32(out, 1);
	section_u32(out, facts->options->clockid);
	section_u64(out, facts->wall_clock_ns);
	section_u64(out, facts->clock_id_time_ns);
	return true;
}

static bool write_dir_format(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->dir_format)
		return false;
	section_u64(out, facts->options->beside);
	return true;
}

static bool write_compressed(struct out *out, const struct feature_facts *facts)
{
	if (!facts->options->zstd_level)
		return false;
	section_u32(out, 1);
	section_u32(out, 1); // Zstandard
	section_u32(out, (uint32_t)facts->options->zstd_level);
	section_u32(out,
		    facts->bytes_packed
			    ? (uint32_t)((double)facts->bytes_in / (double)facts->bytes_packed + 0.5)
			    : 0);
	section_u32(out, facts->options->compress_mmap_bytes);
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
	return tracing_data_write(out, facts->events, facts->events_n, section_root(facts)) > 0;
}

static const struct {
	bool (*write)(struct out *out, const struct feature_facts *facts);
	bool in_pipe;
} writers[FEATURE_LAST] = {
	[FEATURE_TRACING_DATA] = {.write = write_tracing_data},
	[FEATURE_BUILD_ID] = {.write = write_build_ids},
	[FEATURE_HOSTNAME] = {.write = machine_hostname, .in_pipe = true},
	[FEATURE_OSRELEASE] = {.write = machine_os_release, .in_pipe = true},
	[FEATURE_VERSION] = {.write = machine_version, .in_pipe = true},
	[FEATURE_ARCH] = {.write = machine_arch, .in_pipe = true},
	[FEATURE_NRCPUS] = {.write = machine_cpus, .in_pipe = true},
	[FEATURE_CPUDESC] = {.write = machine_cpu_description, .in_pipe = true},
	[FEATURE_CPUID] = {.write = machine_cpu_id, .in_pipe = true},
	[FEATURE_TOTAL_MEM] = {.write = machine_memory, .in_pipe = true},
	[FEATURE_CMDLINE] = {.write = write_command_line, .in_pipe = true},
	[FEATURE_EVENT_DESC] = {.write = write_events, .in_pipe = true},
	[FEATURE_CPU_TOPOLOGY] = {.write = machine_cpu_topology, .in_pipe = true},
	[FEATURE_NUMA_TOPOLOGY] = {.write = machine_numa, .in_pipe = true},
	[FEATURE_BRANCH_STACK] = {.write = write_branch_stack},
	[FEATURE_PMU_MAPPINGS] = {.write = machine_pmus, .in_pipe = true},
	[FEATURE_GROUP_DESC] = {.write = write_groups, .in_pipe = true},
	[FEATURE_AUXTRACE] = {.write = write_auxtrace},
	[FEATURE_STAT] = {.write = write_stat, .in_pipe = true},
	[FEATURE_CACHE] = {.write = machine_caches},
	[FEATURE_SAMPLE_TIME] = {.write = write_sample_time, .in_pipe = true},
	[FEATURE_MEM_TOPOLOGY] = {.write = machine_memory_topology, .in_pipe = true},
	[FEATURE_CLOCKID] = {.write = write_clockid, .in_pipe = true},
	[FEATURE_DIR_FORMAT] = {.write = write_dir_format},
	[FEATURE_COMPRESSED] = {.write = write_compressed, .in_pipe = true},
	[FEATURE_CPU_PMU_CAPS] = {.write = machine_cpu_pmu_caps, .in_pipe = true},
	[FEATURE_CLOCK_DATA] = {.write = write_clock_data, .in_pipe = true},
	[FEATURE_PMU_CAPS] = {.write = machine_pmu_caps, .in_pipe = true},
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
