// SPDX-License-Identifier: GPL-2.0-or-later
// Records of the perf ring buffer and of perf.data. Kernel records are described in
// include/uapi/linux/perf_event.h (enum perf_event_type); those from 64 up are synthesized by perf's
// tools (tools/lib/perf/include/perf/event.h) and live only in files and pipes.
#pragma once
#include "base/perf_event.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Numbers that older installed headers lack.
enum {
	SONDE_RECORD_AUX_OUTPUT_HW_ID = 21,
	SONDE_RECORD_CALLCHAIN_DEFERRED = 22,
};

enum record_user_type {
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE = 65, // obsolete
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	RECORD_AUXTRACE_ERROR = 72,
	RECORD_THREAD_MAP = 73,
	RECORD_CPU_MAP = 74,
	RECORD_STAT_CONFIG = 75,
	RECORD_STAT = 76,
	RECORD_STAT_ROUND = 77,
	RECORD_EVENT_UPDATE = 78,
	RECORD_TIME_CONV = 79,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_FINISHED_INIT = 82,
	RECORD_COMPRESSED2 = 83,
	RECORD_BPF_METADATA = 84,
	RECORD_SCHEDSTAT_CPU = 85,
	RECORD_SCHEDSTAT_DOMAIN = 86,
	RECORD_MAX
};

// "MMAP2", "FINISHED_ROUND"; "UNKNOWN" for others. As perf names them in -D and --stats.
const char *record_type_name(uint32_t type);

// One record where it lies: header->size bytes from header. 8-byte aligned, native byte order.
struct record {
	const struct perf_event_header *header;
	uint64_t offset; // in the file (of the COMPRESSED record it came from, when it was packed)
	bool stable;	 // the bytes stay valid until the reader is closed (mapped file)
	uint8_t source;	 // reserved for several inputs
};

// Bodies, for casting a header of the type. Sizes must be checked with record_at_least or by the
// accessors below; text is not trusted to be NUL-terminated.
struct record_mmap {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	char filename[];
};
struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, ino_generation;
		};
		struct { // with PERF_RECORD_MISC_MMAP_BUILD_ID
			uint8_t build_id_size;
			uint8_t reserved1;
			uint16_t reserved2;
			uint8_t build_id[20];
		};
	};
	uint32_t prot, flags;
	char filename[];
};
struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};
struct record_task { // FORK, EXIT
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};
struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};
struct record_lost_samples {
	struct perf_event_header header;
	uint64_t lost;
};
// Of those: a BPF filter left them out on purpose, which is no loss. tools/lib/perf/include/perf/event.h,
// PERF_RECORD_MISC_LOST_SAMPLES_BPF.
static inline bool record_is_of_filter(const struct perf_event_header *header)
{
	return header->misc & (1 << 15);
}
struct record_throttle { // THROTTLE, UNTHROTTLE
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};
struct record_read {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t values[];
};
struct record_aux {
	struct perf_event_header header;
	uint64_t aux_offset, aux_size, flags;
};
struct record_itrace_start {
	struct perf_event_header header;
	uint32_t pid, tid;
};
struct record_switch { // SWITCH_CPU_WIDE; SWITCH has no body
	struct perf_event_header header;
	uint32_t next_prev_pid, next_prev_tid;
};
struct record_namespaces {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t nr;
	struct {
		uint64_t dev, ino;
	} link[];
};
struct record_ksymbol {
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags;
	char name[];
};
struct record_bpf_event {
	struct perf_event_header header;
	uint16_t type, flags;
	uint32_t id;
	uint8_t tag[8];
};
struct record_cgroup {
	struct perf_event_header header;
	uint64_t id;
	char path[];
};
struct record_text_poke {
	struct perf_event_header header;
	uint64_t addr;
	uint16_t old_len, new_len;
	uint8_t bytes[];
};
struct record_thread_map {
	struct perf_event_header header;
	uint64_t nr;
	struct {
		uint64_t pid;
		char comm[16];
	} threads[];
};
struct record_stat_config {
	struct perf_event_header header;
	uint64_t nr;
	struct {
		uint64_t tag, value; // enum stat_config_tag
	} terms[];
};
enum stat_config_tag { STAT_CONFIG_AGGREGATION, STAT_CONFIG_INTERVAL, STAT_CONFIG_SCALE };
struct record_stat {
	struct perf_event_header header;
	uint64_t id;
	uint32_t cpu, thread; // its number; its place in the THREAD_MAP
	uint64_t value, enabled_ns, running_ns;
};
struct record_stat_round {
	struct perf_event_header header;
	uint64_t type, time_ns; // enum stat_round
};
enum stat_round { STAT_ROUND_INTERVAL, STAT_ROUND_FINAL };

// The CPUs of a CPU_MAP, -1: any. Returns how many, at most as many as `max`; ret may be NULL with max 0.
size_t record_cpu_map(const struct perf_event_header *header, int *ret, size_t max);

// Where the record's trailer of so many bytes (sample_id_all) ends: at header->size, but Linux lets KSYMBOL, BPF_EVENT and TEXT_POKE
// grow by one trailer for each event that listens, and what is behind the first is left over. `swap`: the record's not swapped yet.
uint32_t record_end_of(const struct perf_event_header *header, uint32_t trailer_size, bool swap);
static inline uint32_t record_end(const struct perf_event_header *header, uint32_t trailer_size)
{
	return header->type < PERF_RECORD_KSYMBOL ? header->size
						  : record_end_of(header, trailer_size, false);
}

// The NUL-terminated text at `text` inside the record (a field of it); NULL when no NUL stands before
// the record's end.
const char *record_text(const struct perf_event_header *header, const char *text);

// Is the body long enough for the fixed part of its type? (what the structs above need, text with
// its NUL included). Unknown types: true from the header's size up.
bool record_is_whole(const struct perf_event_header *header);

// Swaps a whole record of the other byte order in place: header, known body, trailing sample ids and
// for SAMPLE the body by `attr` (NULL: as u64 words). Untouched when it is malformed; -EINVAL then.
int record_swap(struct perf_event_header *header, const struct perf_event_attr *attr);
void record_swap_header(struct perf_event_header *header);
