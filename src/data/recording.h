// SPDX-License-Identifier: GPL-2.0-or-later
// A recording (perf.data) being read: files and pipes, both byte orders, of any age, compressed or
// not. Layout: tools/perf/Documentation/perf.data-file-format.txt in the kernel's source.
#pragma once
#include "abi/record.h"
#include "abi/sample.h"
#include "abi/tracepoint.h"
#include "base/arena.h"
#include "base/vec.h"

// One attr of the recording with its ids ("evsel").
struct event {
	uint32_t index;
	struct perf_event_attr attr;
	const char *name; // stored name, else attr_name(); never NULL
	VEC(uint64_t) ids;
	struct sample_plan plan;
	const struct tracepoint *tp; // NULL: not a tracepoint, or its format is missing
	struct event *leader;	     // itself when it leads or stands alone
	uint32_t group_members;	     // of a leader: members, itself included (1: alone)
	const char *group_name;	     // of GROUP_DESC, or NULL
	const char *unit;	     // EVENT_UPDATE / EVENT_DESC, or NULL
	double scale;
	bool name_stored; // the recording itself says the name
	bool at_calls; // sample.at_calls of its samples, as they were unwound when they were recorded
	const char *own_cpus; // EVENT_UPDATE: "0-3", or NULL
	void *user;	      // for the consumer
};

// perf.data header features (HEADER_* of tools/perf/util/header.h), by bit number.
enum feature_id {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID,
	FEATURE_HOSTNAME,
	FEATURE_OSRELEASE,
	FEATURE_VERSION,
	FEATURE_ARCH,
	FEATURE_NRCPUS,
	FEATURE_CPUDESC,
	FEATURE_CPUID,
	FEATURE_TOTAL_MEM,
	FEATURE_CMDLINE,
	FEATURE_EVENT_DESC,
	FEATURE_CPU_TOPOLOGY,
	FEATURE_NUMA_TOPOLOGY,
	FEATURE_BRANCH_STACK,
	FEATURE_PMU_MAPPINGS,
	FEATURE_GROUP_DESC,
	FEATURE_AUXTRACE,
	FEATURE_STAT,
	FEATURE_CACHE,
	FEATURE_SAMPLE_TIME,
	FEATURE_MEM_TOPOLOGY,
	FEATURE_CLOCKID,
	FEATURE_DIR_FORMAT,
	FEATURE_BPF_PROG_INFO,
	FEATURE_BPF_BTF,
	FEATURE_COMPRESSED,
	FEATURE_CPU_PMU_CAPS,
	FEATURE_CLOCK_DATA,
	FEATURE_HYBRID_TOPOLOGY,
	FEATURE_PMU_CAPS,
	FEATURE_LAST,
	FEATURE_NOTES = 240, // sonde's own, perf passes it over: lines of text, see recording_info.notes
	FEATURE_BITS = 256,
};

struct feature {
	bool present;
	const uint8_t *data; // as it lies (other byte order: see recording.swap)
	size_t size;
};

struct recorded_build_id {
	int32_t pid;   // -1: host
	uint16_t misc; // cpumode in the low bits
	uint8_t id[20];
	uint8_t id_size; // 20, or what the record says
	const char *name;
};

// What the features say, parsed. Absent: NULL, 0.
struct recording_info {
	const char *hostname, *os_release, *perf_version, *arch, *cpu_description, *cpu_id;
	uint32_t cpus_online, cpus_available;
	uint64_t total_memory_kb;
	VEC(const char *) command_line;
	VEC(struct recorded_build_id) build_ids;
	uint64_t first_sample_ns, last_sample_ns; // SAMPLE_TIME
	bool has_sample_time, has_branch_stack;
	uint64_t clock_resolution_ns;
	uint32_t clock_id;
	uint64_t wall_clock_ns, clock_id_time_ns; // CLOCK_DATA
	bool has_clock_data;
	// "cut WHY": the recording was given up, WHY says the system; "stacks N...": how many stacks of user space ended how
	// (enum unwind_end) when it was made; "calls I...": the indexes of events with event.at_calls. NULL: none.
	const char *notes;
};

struct recording_options {
	bool force;	// don't check the owner
	bool no_events; // only header: data section is not needed
};

struct recording {
	const char *path;
	const char *kallsyms; // saved with it (a folder made by record --kcore), or NULL
	bool is_pipe, swap, is_big_endian, is_64bit;
	uint32_t version;
	uint64_t file_size, data_offset, data_size, header_size, attr_size, features_offset;
	int64_t modified_ns; // mtime of the file
	VEC(struct event *)
	events; // of a pipe: those it starts with; more may come while it is read
	struct feature features[FEATURE_BITS];
	struct recording_info info;
	struct tracepoints *tracepoints;	 // NULL until tracing data is seen
	uint64_t records_skipped, bytes_skipped; // of types that we don't know
	uint64_t compressed_n, compressed2_n;	 // records that held others, and are not handed out
	const char *damage; // NULL, or one sentence: where the file stops making sense (see recording_next)
	struct arena arena;
	struct recording_private *private;
};

// Opens a file, "-" for stdin; .gz and .zst are unpacked first. -errno with a sentence that names the
// file, the offset and what is wrong.
int recording_open(struct recording **ret, const char *path, const struct recording_options *options);
// The same of bytes in memory, which must stay until recording_close; `name` is for messages.
int recording_open_memory(struct recording **ret, const void *bytes, size_t size, const char *name);
void recording_close(struct recording *recording);
// One that is not read: what is known of events that come from elsewhere.
struct recording *recording_new(const char *name);
// Makes an event of an attr and its ids (as they lie, count of u64).
struct event *recording_add_event(struct recording *recording, const struct perf_event_attr *attr,
				  const uint8_t *ids, size_t ids_n);

// The next record in file order, COMPRESSED ones unpacked, byte order native; the headers of a pipe (HEADER_ATTR,
// EVENT_UPDATE, features, tracing data, build-ids, EVENT_TYPE, ID_INDEX) are taken in and then handed out as well.
// 1: *ret is a record; 0: end, or the rest can't be read: then recording->damage says why. Never negative for bad bytes.
int recording_next(struct recording *recording, struct record *ret);
// Samples that lie behind each other, as they are in the file: bytes of records that need no unpacking and no swapping.
struct sample_run {
	const uint8_t *at, *end;
	uint64_t offset; // in the file, of `at`
};
// What is there now; false: ask recording_next. No record may be asked for before recording_run_end.
bool recording_run_begin(struct recording *recording, struct sample_run *ret);
void recording_run_end(struct recording *recording, const struct sample_run *run);
// The SAMPLE at run->at, stable; NULL: something else, or not whole. sample_run_pass goes on to what is behind it.
static inline const struct perf_event_header *sample_run_look(const struct sample_run *run)
{
	const struct perf_event_header *header = (const void *)run->at;
	size_t left = (size_t)(run->end - run->at);

	// Made up sizes lead to addresses that no record has.
	if ((uintptr_t)run->at & 7 || left < sizeof(*header))
		return NULL;
	return header->type == PERF_RECORD_SAMPLE && header->size >= sizeof(*header) &&
			       header->size <= left
		       ? header
		       : NULL;
}
static inline void sample_run_pass(struct sample_run *run, const struct perf_event_header *header)
{
	run->at += header->size;
	run->offset += header->size;
}
// Promises that recording_release will be called: a large file is then read in chunks of memory, not through
// its mapping, which costs a fraction; records are stable until they are released.
void recording_read_in_chunks(struct recording *recording);
// No record before this file offset is looked at any more.
void recording_release(struct recording *recording, uint64_t offset);
// Back to the first record (mapped files only; -ESPIPE for pipes).
int recording_rewind(struct recording *recording);

// The event of a record by its id (sample or trailer), as perf does: one event: that one; id 0: the first. NULL:
// the id is unknown.
struct event *recording_event(struct recording *recording, const struct perf_event_header *header);
struct event *recording_event_by_id(struct recording *recording, uint64_t id);

// CPUs with their cores, dies and sockets, and memory nodes, as the features tell (what the recording lacks is empty). The
// texts are the recording's; topology_done afterwards.
struct topology;
void recording_topology(const struct recording *recording, struct topology *ret);

// Feature section text of `perf report --header[-only]` / `perf script --header` ("# hostname : ..."), byte for byte.
// full: -I (cpu/numa topology).
struct out;
void recording_print_header(struct out *out, struct recording *recording, bool full);
