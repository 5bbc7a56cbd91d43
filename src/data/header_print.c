// SPDX-License-Identifier: GPL-2.0-or-later
// The header as text, line for line as perf report --header prints it (scripts parse it).
#include "abi/attr.h"
#include "base/out.h"
#include "data/private.h"
#include <stdio.h>
#include <time.h>

typedef void print(struct out *out, struct recording *recording, struct cursor *c);

static const char *shown(const char *text)
{
	return text ? text : "(null)"; // as perf's printf shows what is missing
}

#define PRINT_TEXT(function, label, field)                                                         \
	static void function(struct out *out, struct recording *recording, struct cursor *c)       \
	{                                                                                          \
		out_text(out, "# " label " : ");                                                   \
		out_safe(out, shown(recording->info.field));                                       \
		out_char(out, '\n');                                                               \
	}

PRINT_TEXT(print_hostname, "hostname", hostname)
PRINT_TEXT(print_os_release, "os release", os_release)
PRINT_TEXT(print_version, "perf version", perf_version)
PRINT_TEXT(print_arch, "arch", arch)
PRINT_TEXT(print_cpu_description, "cpudesc", cpu_description)
PRINT_TEXT(print_cpu_id, "cpuid", cpu_id)

static void print_cpus(struct out *out, struct recording *recording, struct cursor *c)
{
	out_printf(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", recording->info.cpus_online,
		   recording->info.cpus_available);
}

static void print_memory(struct out *out, struct recording *recording, struct cursor *c)
{
	out_printf(out, "# total memory : %llu kB\n",
		   (unsigned long long)recording->info.total_memory_kb);
}

static void print_command_line(struct out *out, struct recording *recording, struct cursor *c)
{
	out_text(out, "# cmdline : ");
	for (size_t i = 0; i < recording->info.command_line.n; i++) {
		struct str rest = str_of(recording->info.command_line.v[i]);
		bool first = true;

		do {
			struct str part = str_cut(&rest, '\'');
			auto_free char *text = str_dup(part);

			if (!first)
				out_text(out, "\\'");
			first = false;
			out_safe(out, text);
		} while (rest.p);
		out_char(out, ' ');
	}
	out_char(out, '\n');
}

static void print_attr(struct out *out, const struct perf_event_attr *attr)
{
	struct out text;

	out_init_memory(&text);
	attr_print(&text, attr);
	if (text.n)
		out_text(out, ", ");
	for (size_t i = 0; i < text.n; i++) {
		if (text.buf[i] == ':' && i + 1 < text.n && text.buf[i + 1] == ' ')
			out_text(out, " =");
		else
			out_char(out, text.buf[i]);
	}
	out_done(&text);
}

static void print_events(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t n = cursor_u32(c), attr_size = cursor_u32(c);

	if (c->bad)
		out_text(out, "# event desc: not available or unable to read\n");
	while (n-- && !c->bad) {
		const uint8_t *bytes = cursor_bytes(c, attr_size);
		uint32_t ids = cursor_u32(c);
		const char *name = cursor_string(c);
		const uint8_t *id = cursor_bytes(c, (size_t)ids * 8);
		struct perf_event_attr attr;

		if (!id || attr_read(&attr, bytes, attr_size, c->swap) < 0)
			break;
		attr.size = load_u32(bytes + 4, c->swap);
		out_text(out, "# event : name = ");
		out_safe(out, name);
		out_text(out, ", ");
		for (uint32_t i = 0; i < ids; i++)
			out_printf(out, "%s %llu", i ? "," : ", id = {",
				   (unsigned long long)load_u64(id + (size_t)i * 8, c->swap));
		if (ids)
			out_text(out, " }");
		print_attr(out, &attr);
		out_char(out, '\n');
	}
}

static void print_list(struct out *out, struct cursor *c, const char *label)
{
	uint32_t n = cursor_u32(c);

	while (n-- && !c->bad) {
		const char *text = cursor_string(c);

		if (!text)
			break;
		out_text(out, label);
		out_safe(out, text);
		out_char(out, '\n');
	}
}

static void print_cpu_topology(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t cpus = recording->info.cpus_available;
	struct cursor ids, dies = {.bad = true};
	struct out threads;
	bool has_ids, has_dies = false;

	out_init_memory(&threads);
	print_list(out, c, "# sibling sockets : ");
	print_list(&threads, c, "# sibling threads : ");
	ids = *c;
	has_ids = !c->bad && cursor_left(c) >= (size_t)cpus * 8 && cursor_left(c);
	if (has_ids)
		cursor_bytes(c, (size_t)cpus * 8);
	if (has_ids && cursor_left(c) >= 4) {
		uint32_t n = load_u32(c->at, c->swap);

		print_list(out, c, "# sibling dies    : ");
		dies = *c;
		has_dies = n && !c->bad;
	}
	out_bytes(out, threads.buf, threads.n);
	out_done(&threads);
	if (!has_ids) {
		out_text(out, has_dies ? "# Core ID, Die ID and Socket ID information is not available\n"
				       : "# Core ID and Socket ID information is not available\n");
		return;
	}
	for (uint32_t i = 0; i < cpus; i++) {
		int core = (int)cursor_u32(&ids), socket = (int)cursor_u32(&ids);

		if (has_dies)
			out_printf(out, "# CPU %u: Core ID %d, Die ID %d, Socket ID %d\n", i, core,
				   (int)cursor_u32(&dies), socket);
		else
			out_printf(out, "# CPU %u: Core ID %d, Socket ID %d\n", i, core, socket);
	}
}

static void print_numa(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	while (n-- && !c->bad) {
		uint32_t node = cursor_u32(c);
		uint64_t total = cursor_u64(c), unused = cursor_u64(c);
		const char *cpus = cursor_string(c);

		if (!cpus)
			break;
		out_printf(out, "# node%u meminfo  : total = %llu kB, free = %llu kB\n", node,
			   (unsigned long long)total, (unsigned long long)unused);
		out_printf(out, "# node%u cpu list : ", node);
		out_safe(out, cpus);
		out_char(out, '\n');
	}
}

static void print_branch_stack(struct out *out, struct recording *recording, struct cursor *c)
{
	out_text(out, "# contains samples with branch stack\n");
}

static void print_auxtrace(struct out *out, struct recording *recording, struct cursor *c)
{
	out_text(out, "# contains AUX area data (e.g. instruction trace)\n");
}

static void print_stat(struct out *out, struct recording *recording, struct cursor *c)
{
	out_text(out, "# contains stat data\n");
}

static void print_pmus(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	if (c->bad || !n) {
		out_text(out, "# pmu mappings: not available\n");
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t type = cursor_u32(c);
		const char *name = cursor_string(c);

		if (!name) {
			out_text(out, "# pmu mappings: unable to read\n");
			return;
		}
		out_text(out, i ? ", " : "# pmu mappings: ");
		out_safe(out, name);
		out_printf(out, " = %u", type);
	}
	out_char(out, '\n');
}

static void print_groups(struct out *out, struct recording *recording, struct cursor *c)
{
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *leader = recording->events.v[i];

		if (leader->leader != leader || leader->group_members < 2)
			continue;
		out_text(out, "# group: ");
		out_safe(out, leader->group_name ? leader->group_name : "");
		for (size_t k = 0; k < leader->group_members && i + k < recording->events.n; k++) {
			out_char(out, k ? ',' : '{');
			out_safe(out, recording->events.v[i + k]->name);
		}
		out_text(out, "}\n");
	}
}

static void print_caches(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t version = cursor_u32(c), n = cursor_u32(c);

	out_text(out, "# CPU cache info:\n");
	while (version == 1 && n-- && !c->bad) {
		uint32_t level = cursor_u32(c);

		cursor_bytes(c, 12); // line size, sets, ways
		const char *type = cursor_string(c), *size = cursor_string(c),
			   *cpus = cursor_string(c);
		if (c->bad)
			break;
		out_printf(out, "#  L%d %-15s %8s [%s]\n", (int)level, type, size, cpus);
	}
}

static void print_sample_time(struct out *out, struct recording *recording, struct cursor *c)
{
	uint64_t first = recording->info.first_sample_ns, last = recording->info.last_sample_ns;

	out_text(out, "# time of first sample : ");
	out_time(out, first, 0, 6);
	out_text(out, "\n# time of last sample : ");
	out_time(out, last, 0, 6);
	out_printf(out, "\n# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
}

static void print_ranges(struct out *out, const struct cursor *bitmap, uint64_t bits)
{
	uint64_t start = 0;
	bool on = false, any = false;

	for (uint64_t i = 0; i <= bits; i++) {
		bool set = i < bits && load_u64(bitmap->at + i / 64 * 8, bitmap->swap) >> i % 64 & 1;

		if (set && !on)
			start = i;
		if (!set && on) {
			out_printf(out, "%s%llu", any ? "," : "", (unsigned long long)start);
			if (i - 1 > start)
				out_printf(out, "-%llu", (unsigned long long)i - 1);
			any = true;
		}
		on = set;
	}
}

static void print_memory_nodes(struct out *out, struct recording *recording, struct cursor *c)
{
	uint64_t version = cursor_u64(c), block = cursor_u64(c), n = cursor_u64(c);

	if (c->bad || version != 1)
		n = block = 0;
	out_printf(out, "# memory nodes (nr %d, block size 0x%llx):\n", (int)n,
		   (unsigned long long)block);
	while (n-- && !c->bad) {
		uint64_t node = cursor_u64(c), set = 0, size;
		uint64_t words, bits;
		struct cursor bitmap;
		int unit = 0;

		cursor_u64(c); // the bitmap's size once more
		bits = cursor_u64(c);
		bitmap = *c;
		words = bits / 64 + (bits % 64 != 0);
		if (words > cursor_left(c) / 8 || !cursor_bytes(c, (size_t)words * 8))
			break;
		for (uint64_t i = 0; i < words; i++)
			set += (unsigned)__builtin_popcountll(
				load_u64(bitmap.at + i * 8, bitmap.swap));
		for (size = block * set; size / 1024 > 1 && unit < 3; unit++)
			size /= 1024;
		out_printf(out, "#  %3llu [%llu%c]: ", (unsigned long long)node,
			   (unsigned long long)size, "BKMG"[unit]);
		print_ranges(out, &bitmap, bits);
		out_char(out, '\n');
	}
}

static void print_clockid(struct out *out, struct recording *recording, struct cursor *c)
{
	out_printf(out, "# clockid frequency: %llu MHz\n",
		   (unsigned long long)recording->info.clock_resolution_ns * 1000);
}

static const char *clock_name(uint32_t id)
{
	static const char *const names[] = {
		[CLOCK_REALTIME] = "realtime",
		[CLOCK_MONOTONIC] = "monotonic",
		[CLOCK_MONOTONIC_RAW] = "monotonic_raw",
		[CLOCK_BOOTTIME] = "boottime",
		[CLOCK_TAI] = "tai",
	};

	return id < ARRAY_SIZE(names) && names[id] ? names[id] : "(not found)";
}

static void print_clock_data(struct out *out, struct recording *recording, struct cursor *c)
{
	const struct recording_info *info = &recording->info;
	time_t sec = (time_t)(info->wall_clock_ns / 1000000000);
	unsigned usec = (unsigned)(info->wall_clock_ns / 1000 % 1000000);
	char date[64] = "<error>";
	struct tm tm;

	if (!info->has_clock_data) {
		out_text(out, "# reference time disabled\n");
		return;
	}
	if (localtime_r(&sec, &tm)) {
		size_t n = strftime(date, sizeof(date), "%F %T", &tm);
		snprintf(date + n, sizeof(date) - n, ".%06u", usec);
	}
	out_printf(out, "# clockid: %s (%u)\n", clock_name(info->clock_id), info->clock_id);
	out_printf(out, "# reference time: %s = %ld.%06u (TOD) = %llu.%09llu (%s)\n", date,
		   (long)sec, usec, (unsigned long long)info->clock_id_time_ns / 1000000000,
		   (unsigned long long)info->clock_id_time_ns % 1000000000,
		   clock_name(info->clock_id));
}

static void print_dir_format(struct out *out, struct recording *recording, struct cursor *c)
{
	out_printf(out, "# directory data version : %llu\n", (unsigned long long)cursor_u64(c));
}

static void print_bpf_types(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	while (n-- && !c->bad) {
		uint32_t id = cursor_u32(c), size = cursor_u32(c);

		if (!cursor_bytes(c, size))
			break;
		out_printf(out, "# btf info of id %u\n", id);
	}
}

static void print_compressed(struct out *out, struct recording *recording, struct cursor *c)
{
	cursor_u32(c); // version
	uint32_t type = cursor_u32(c), level = cursor_u32(c), ratio = cursor_u32(c);

	out_printf(out, "# compressed : %s, level = %d, ratio = %d\n",
		   type == 1 ? "Zstd" : "Unknown", (int)level, (int)ratio);
}

// name=value pairs; the name of the PMU may stand behind them.
static void print_one_pmu_caps(struct out *out, struct cursor *c, bool named)
{
	uint32_t n = cursor_u32(c);
	struct cursor look = *c;
	const char *pmu = "cpu", *delimiter = "";

	if (named) {
		for (uint32_t i = 0; i < n && !look.bad; i++) {
			cursor_string(&look);
			cursor_string(&look);
		}
		pmu = cursor_string(&look);
	}
	if (c->bad || !pmu)
		return;
	out_printf(out, "# %s pmu capabilities: %s", pmu, n ? "" : "not available");
	while (n-- && !c->bad) {
		const char *name = cursor_string(c), *value = cursor_string(c);

		if (!value)
			break;
		out_printf(out, "%s%s=%s", delimiter, name, value);
		delimiter = ", ";
	}
	out_char(out, '\n');
	if (named)
		cursor_string(c);
}

static void print_cpu_pmu_caps(struct out *out, struct recording *recording, struct cursor *c)
{
	print_one_pmu_caps(out, c, false);
}

static void print_pmu_caps(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	while (n-- && !c->bad)
		print_one_pmu_caps(out, c, true);
}

static void print_hybrid(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t n = cursor_u32(c);

	out_text(out, "# hybrid cpu system:\n");
	while (n-- && !c->bad) {
		const char *pmu = cursor_string(c), *cpus = cursor_string(c);

		if (cpus)
			out_printf(out, "# %s cpu list : %s\n", pmu, cpus);
	}
}

static const struct {
	print *print;
	bool only_full;
} printers[FEATURE_LAST] = {
	[FEATURE_HOSTNAME] = {.print = print_hostname},
	[FEATURE_OSRELEASE] = {.print = print_os_release},
	[FEATURE_VERSION] = {.print = print_version},
	[FEATURE_ARCH] = {.print = print_arch},
	[FEATURE_NRCPUS] = {.print = print_cpus},
	[FEATURE_CPUDESC] = {.print = print_cpu_description},
	[FEATURE_CPUID] = {.print = print_cpu_id},
	[FEATURE_TOTAL_MEM] = {.print = print_memory},
	[FEATURE_CMDLINE] = {.print = print_command_line},
	[FEATURE_EVENT_DESC] = {.print = print_events},
	[FEATURE_CPU_TOPOLOGY] = {.print = print_cpu_topology, .only_full = true},
	[FEATURE_NUMA_TOPOLOGY] = {.print = print_numa, .only_full = true},
	[FEATURE_BRANCH_STACK] = {.print = print_branch_stack},
	[FEATURE_PMU_MAPPINGS] = {.print = print_pmus},
	[FEATURE_GROUP_DESC] = {.print = print_groups},
	[FEATURE_AUXTRACE] = {.print = print_auxtrace},
	[FEATURE_STAT] = {.print = print_stat},
	[FEATURE_CACHE] = {.print = print_caches, .only_full = true},
	[FEATURE_SAMPLE_TIME] = {.print = print_sample_time},
	[FEATURE_MEM_TOPOLOGY] = {.print = print_memory_nodes, .only_full = true},
	[FEATURE_CLOCKID] = {.print = print_clockid},
	[FEATURE_DIR_FORMAT] = {.print = print_dir_format},
	[FEATURE_BPF_PROG_INFO] = {.print = header_print_bpf},
	[FEATURE_BPF_BTF] = {.print = print_bpf_types},
	[FEATURE_COMPRESSED] = {.print = print_compressed},
	[FEATURE_CPU_PMU_CAPS] = {.print = print_cpu_pmu_caps},
	[FEATURE_CLOCK_DATA] = {.print = print_clock_data},
	[FEATURE_HYBRID_TOPOLOGY] = {.print = print_hybrid, .only_full = true},
	[FEATURE_PMU_CAPS] = {.print = print_pmu_caps},
};

static void print_features(struct out *out, struct recording *recording, bool full)
{
	for (uint32_t id = 0; id < FEATURE_LAST; id++) {
		const struct feature *feature = &recording->features[id];
		struct cursor c = cursor_of(feature->data, feature->size, recording->swap);

		if (!feature->present || !printers[id].print)
			continue;
		if (printers[id].only_full && !full)
			out_printf(out, "# %s info available, use -I to display\n", feature_name(id));
		else
			printers[id].print(out, recording, &c);
	}
}

void recording_print_header(struct out *out, struct recording *recording, bool full)
{
	time_t modified = (time_t)(recording->modified_ns / 1000000000);
	bool pipe = recording->is_pipe;
	char date[64];

	out_printf(out, "# ========\n# captured on    : %s",
		   ctime_r(&modified, date) ? date : "unknown\n");
	out_printf(out, "# header version : %u\n", recording->version - 1);
	out_printf(out, "# data offset    : %llu\n",
		   pipe ? 0ull : (unsigned long long)recording->data_offset);
	out_printf(out, "# data size      : %llu\n", (unsigned long long)recording->data_size);
	out_printf(out, "# feat offset    : %llu\n", (unsigned long long)recording->features_offset);
	if (!pipe) {
		print_features(out, recording, full);
		out_text(out, "# missing features: ");
		for (uint32_t id = 1; id < FEATURE_LAST; id++)
			if (!recording->features[id].present)
				out_printf(out, "%s ", feature_name(id));
		out_char(out, '\n');
	}
	out_text(out, "# ========\n#\n");
	if (pipe) // perf prints them when they come by
		print_features(out, recording, full);
}
