// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/recording.h"
#include "base/err.h"
#include "base/file.h"
#include "base/out.h"
#include "base/test.h"
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

static char *data_path(const char *name)
{
	const char *top = getenv("T");

	return text_dup_fmt("%s/data/%s", top ? top : "test", name);
}

struct counts {
	unsigned records, samples, bad, unknown;
};

static void count_record(struct recording *recording, const struct perf_event_header *header,
			 struct counts *counts)
{
	struct event *event = recording_event(recording, header);
	struct sample sample;

	assert_int_equal((uintptr_t)header & 7, 0);
	counts->records++;
	if (header->type != PERF_RECORD_SAMPLE)
		return;
	counts->samples++;
	counts->unknown += !event;
	counts->bad += event && sample_decode(&event->plan, header, &sample) < 0;
}

static struct counts count(struct recording *recording)
{
	struct counts counts = {0};
	struct record record;

	while (recording_next(recording, &record) > 0)
		count_record(recording, record.header, &counts);
	return counts;
}

// Samples that lie behind each other without recording_next.
static struct counts count_by_runs(struct recording *recording, unsigned *ret_in_runs)
{
	const struct perf_event_header *header;
	struct counts counts = {0};
	struct sample_run run;
	struct record record;

	while (recording_next(recording, &record) > 0) {
		count_record(recording, record.header, &counts);
		if (!recording_run_begin(recording, &run))
			continue;
		for (; (header = sample_run_look(&run)); sample_run_pass(&run, header)) {
			count_record(recording, header, &counts);
			++*ret_in_runs;
		}
		recording_run_end(recording, &run);
	}
	return counts;
}

static const struct {
	const char *file;
	unsigned events, records, samples;
	const char *name, *host;
	bool pipe;
} files[] = {
	{"sleep.data", 1, 20, 7, "cycles:Pu", "arthur-des", false},
	{"true-v1.data", 1, 84, 0, "cpu-clock:HG", NULL, false},
	{"true-v2.data.gz", 1, 94, 1, "cpu-clock", "centos7", false},
	{"piped.data", 1, 57, 2, "cpu-clock", "instance-1", true},
	{"piped-group.data", 2, 59, 21, "cycles:u", NULL, true},
	{"singleprocess.data", 6, 132, 77, "cycles", "localhost", false},
	{"switches.data", 1, 42, 2, "cycles", NULL, false},
	{"compressed.data", 1, 95, 8, "cycles:P", NULL, false},
	{"compressed2.data", 1, 20, 7, "cycles:Pu", NULL, false},
	{"tracepoints.data", 3, 17, 3, "sched:sched_process_exec", "host", false},
	{"lost-samples.data", 3, 243, 191, "cycles:pp", "localhost", false},
};

static void reads_all_kinds(void **state)
{
	unsigned in_runs = 0;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *path = data_path(files[i].file);
		struct recording *recording;

		assert_int_equal(recording_open(&recording, path, NULL), 0);
		for (int round = 0; round < 2; round++) {
			struct counts counts =
				round ? count_by_runs(recording, &in_runs) : count(recording);

			assert_int_equal(counts.records, files[i].records);
			assert_int_equal(counts.samples, files[i].samples);
			assert_int_equal(counts.bad + counts.unknown, 0);
			assert_int_equal(recording_rewind(recording), 0);
		}
		assert_int_equal(recording->events.n, files[i].events);
		assert_string_equal(recording->events.v[0]->name, files[i].name);
		if (files[i].host)
			assert_string_equal(recording->info.hostname, files[i].host);
		assert_int_equal(recording->is_pipe, files[i].pipe);
		assert_null(recording->damage);
		recording_close(recording);
	}
	assert_true(in_runs > 100);
}

static void groups_are_known(void **state)
{
	auto_free char *path = data_path("lost-samples.data");
	struct recording *recording;

	assert_int_equal(recording_open(&recording, path, NULL), 0);
	assert_int_equal(recording->events.v[0]->group_members, 3);
	assert_ptr_equal(recording->events.v[2]->leader, recording->events.v[0]);
	assert_int_equal(recording->events.v[1]->ids.n, 2);
	assert_ptr_equal(recording_event_by_id(recording, 292), recording->events.v[1]);
	assert_ptr_equal(recording_event_by_id(recording, 294), recording->events.v[2]);
	assert_null(recording_event_by_id(recording, 12345));
	recording_close(recording);
}

static void packed_bytes_are_unpacked(void **state)
{
	auto_free char *path = data_path("singleprocess.data");
	struct mapped file;
	struct recording *recording;
	uint8_t *packed = xmalloc(1 << 20);
	uLongf n = 1 << 20;

	assert_int_equal(file_map(&file, path), 0);
	for (int kind = 0; kind < 2; kind++) {
		if (kind) {
			n = ZSTD_compress(packed, 1 << 20, file.p, file.n, 1);
		} else {
			z_stream z = {0};

			deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, 0);
			z.next_in = (uint8_t *)file.p;
			z.avail_in = (uInt)file.n;
			z.next_out = packed;
			z.avail_out = 1 << 20;
			assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
			n = z.total_out;
			deflateEnd(&z);
		}
		assert_int_equal(recording_open_memory(&recording, packed, n, "packed"), 0);
		assert_int_equal(count(recording).samples, 77);
		recording_close(recording);
	}
	free(packed);
	file_unmap(&file);
}

static void through_a_pipe(const char *name, unsigned samples)
{
	auto_free char *path = data_path(name);
	auto_free char *command = text_dup_fmt("cat '%s'", path);
	FILE *pipe = popen(command, "r");
	int old = dup(STDIN_FILENO);
	struct recording *recording;

	assert_non_null(pipe);
	dup2(fileno(pipe), STDIN_FILENO);
	assert_int_equal(recording_open(&recording, "-", NULL), 0);
	assert_int_equal(count(recording).samples, samples);
	assert_null(recording->damage);
	recording_close(recording);
	dup2(old, STDIN_FILENO);
	close(old);
	pclose(pipe);
}

static void pipes_are_read(void **state)
{
	through_a_pipe("piped.data", 2);
	through_a_pipe("piped-group.data", 21);
	through_a_pipe("singleprocess.data", 77);
	through_a_pipe("true-v2.data.gz", 1);
}

// A recording of the other byte order, by hand: one attr, a comm, two samples.
static size_t make_swapped(uint8_t *p)
{
	struct perf_event_attr attr = {
		.type = __builtin_bswap32(PERF_TYPE_SOFTWARE),
		.size = __builtin_bswap32(sizeof(attr)),
		.sample_type = __builtin_bswap64(PERF_SAMPLE_IP | PERF_SAMPLE_TID),
	};
	uint64_t header[13] = {0x32454c4946524550ull, 104, sizeof(attr) + 16, 104, sizeof(attr) + 16};
	size_t n = 104, data;

	memcpy(p + n, &attr, sizeof(attr));
	memset(p + n + sizeof(attr), 0, 16);
	n += sizeof(attr) + 16;
	data = n;
	for (unsigned i = 0; i < 3; i++) {
		struct {
			uint32_t type;
			uint16_t misc, size;
			union {
				struct {
					uint32_t pid, tid;
					char comm[8];
				} comm;
				struct {
					uint64_t ip;
					uint32_t pid, tid;
				} sample;
			};
		} record = {0};

		record.type = __builtin_bswap32(i ? PERF_RECORD_SAMPLE : PERF_RECORD_COMM);
		record.misc = __builtin_bswap16(PERF_RECORD_MISC_USER);
		record.size = __builtin_bswap16(sizeof(record));
		if (i) {
			record.sample.ip = __builtin_bswap64(0x1234567890ull + i);
			record.sample.pid = __builtin_bswap32(7);
			record.sample.tid = __builtin_bswap32(8);
		} else {
			record.comm.pid = __builtin_bswap32(7);
			record.comm.tid = __builtin_bswap32(8);
			strcpy(record.comm.comm, "fir");
		}
		memcpy(p + n, &record, sizeof(record));
		n += sizeof(record);
	}
	header[5] = data;
	header[6] = n - data;
	for (int i = 0; i < 13; i++)
		header[i] = __builtin_bswap64(header[i]);
	memcpy(p, header, sizeof(header));
	return n;
}

static void other_byte_order_is_turned(void **state)
{
	uint8_t bytes[1024];
	size_t n = make_swapped(bytes);
	struct recording *recording;
	struct record record;
	struct sample sample;

	assert_int_equal(recording_open_memory(&recording, bytes, n, "swapped"), 0);
	assert_true(recording->swap);
	assert_int_equal(recording->events.v[0]->attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(recording_next(recording, &record), 1);
	const struct record_comm *comm = (const void *)record.header;
	assert_int_equal(record.header->type, PERF_RECORD_COMM);
	assert_int_equal(comm->tid, 8);
	assert_string_equal(comm->comm, "fir");
	assert_false(record.stable);
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(recording_next(recording, &record), 1);
		assert_int_equal(sample_decode(&recording->events.v[0]->plan, record.header, &sample),
				 0);
		assert_int_equal(sample.ip, 0x1234567890ull + i);
		assert_int_equal(sample.tid, 8);
	}
	assert_int_equal(recording_next(recording, &record), 0);
	assert_null(recording->damage);
	recording_close(recording);
}

static void not_recordings_are_named(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *sentence;
	} cases[] = {
		{"", 0, "x is empty: nothing was recorded"},
		{"\177ELF\2\1\1\0", 8,
		 "x is not a perf recording: it is an ELF file (a program or library)"},
		{"hello world\n", 12, "x is not a perf recording: it looks like text"},
		{"\1\2\3\4\5\6\7\0", 8,
		 "x is not a perf recording: it starts with the bytes 01 02 03 04"},
		{"PERFILE2", 8, "x is cut inside its header, after 8 bytes"},
		{"PERFILE2\x68\0\0\0\0\0\0\0", 16,
		 "x is cut inside its header: 16 bytes of 104 are there"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct recording *recording;

		assert_true(recording_open_memory(&recording, cases[i].bytes, cases[i].n, "x") < 0);
		assert_string_equal(err_sentence(), cases[i].sentence);
	}
}

static void damage_is_told(const uint8_t *bytes, size_t n, unsigned samples, const char *sentence)
{
	struct recording *recording;

	assert_int_equal(recording_open_memory(&recording, bytes, n, "x"), 0);
	assert_int_equal(count(recording).samples, samples);
	assert_non_null(recording->damage);
	assert_string_equal(recording->damage, sentence);
	recording_close(recording);
}

static void broken_files_give_what_is_there(void **state)
{
	auto_free char *path = data_path("singleprocess.data");
	auto_free char *text = NULL;
	uint8_t *bytes;
	size_t n;

	assert_int_equal(file_read(path, 1 << 20, &text, &n), 0);
	bytes = (uint8_t *)text;
	damage_is_told(bytes, 9000, 45,
		       "x: it is cut: its data should go on to offset 11000, but it ends at 9000");
	memset(bytes + 48, 0, 8); // killed before it could write the size: all is read to the end
	struct recording *recording;
	assert_int_equal(recording_open_memory(&recording, bytes, n, "x"), 0);
	assert_non_null(strstr(recording->damage, "was not ended properly"));
	assert_true(count(recording).samples >= 77);
	assert_null(recording->info.hostname);
	recording_close(recording);
}

static void old_mmap2_gets_its_name(void **state)
{
	auto_free char *path = data_path("true-v2.data.gz");
	struct recording *recording;
	struct record record;
	bool seen = false;

	assert_int_equal(recording_open(&recording, path, NULL), 0);
	while (recording_next(recording, &record) > 0) {
		const struct record_mmap2 *map = (const void *)record.header;

		if (record.header->type != PERF_RECORD_MMAP2)
			continue;
		assert_true(map->filename[0] == '/' || map->filename[0] == '[');
		seen |= !strcmp(map->filename, "/usr/lib64/ld-2.17.so");
	}
	assert_true(seen);
	recording_close(recording);
}

static void header_text(void **state)
{
	auto_free char *path = data_path("lost-samples.data");
	struct recording *recording;
	struct out out;

	assert_int_equal(recording_open(&recording, path, NULL), 0);
	out_init_memory(&out);
	recording_print_header(&out, recording, true);
	out_char(&out, 0);
	assert_non_null(strstr(out.buf, "# cmdline : /usr/bin/perf record -e "
					"{cycles:pp,instructions:pp,branch-instructions:pp} -P "));
	assert_non_null(strstr(out.buf,
			       "# event : name = instructions:pp, , id = { 291, 292 }, size = "
			       "112, config = 0x1, { sample_period, sample_freq } = 20003"));
	assert_non_null(strstr(out.buf, "# CPU 1: Core ID 1, Socket ID 0\n"));
	assert_non_null(
		strstr(out.buf, "# group: {cycles:pp,instructions:pp,branch-instructions:pp}\n"));
	assert_non_null(strstr(out.buf, "# missing features: TRACING_DATA NUMA_TOPOLOGY "));
	out_done(&out);
	recording_close(recording);
}

RUN_TESTS(TEST(reads_all_kinds), TEST(groups_are_known), TEST(packed_bytes_are_unpacked),
	  TEST(pipes_are_read), TEST(other_byte_order_is_turned), TEST(not_recordings_are_named),
	  TEST(broken_files_give_what_is_there), TEST(old_mmap2_gets_its_name), TEST(header_text))
