// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/writer.h"
#include "base/err.h"
#include "base/test.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <signal.h>

enum { SAMPLES = 40000 }; // more than a megabyte: see recording_read_in_chunks

static const uint64_t ids[] = {11, 12, 13};

static const struct writer_event events[] = {
	{.attr = {.type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_CPU_CLOCK,
		  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		  .sample_id_all = 1},
	 .name = "cpu-clock",
	 .ids = ids,
	 .ids_n = 2,
	 .scale = 1},
	{.attr = {.type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_SW_PAGE_FAULTS,
		  .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		  .sample_id_all = 1},
	 .name = "faults",
	 .ids = ids + 2,
	 .ids_n = 1,
	 .unit = "pages",
	 .scale = 0.5,
	 .leader = 1},
};

struct sample_record {
	struct perf_event_header header;
	uint64_t id, ip, time;
};

static int put_samples(struct writer *writer)
{
	int err = 0;

	for (uint64_t i = 0; i < SAMPLES && err >= 0; i++) {
		struct sample_record record = {
			.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof(record)},
			.id = ids[i % 3],
			.ip = i * 0x9e3779b97f4a7c15ull,
			.time = 1000 + i,
		};

		err = writer_records(writer, &record, sizeof(record));
		if (err >= 0 && i % 1000 == 999)
			err = writer_round(writer);
	}
	return err;
}

static int temporary(void)
{
	int fd = memfd_create("recording", 0);

	assert_true(fd >= 0);
	return fd;
}

static void write_and_read(const struct writer_options *options)
{
	auto_close int fd = temporary();
	auto_free char *path = text_dup_fmt("/proc/self/fd/%d", fd);
	struct recorded_build_id id = {.pid = -1,
				       .misc = PERF_RECORD_MISC_USER,
				       .id_size = 20,
				       .id = {1, 2, 3},
				       .name = "/bin/thing"};
	struct writer *writer;
	struct recording *recording;
	struct record record;
	uint64_t n = 0;

	assert_int_equal(writer_new(&writer, fd, options), 0);
	assert_int_equal(writer_init_done(writer), 0);
	assert_int_equal(put_samples(writer), 0);
	writer_build_id(writer, &id);
	writer_sample_time(writer, 1000, 1000 + SAMPLES - 1);
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);

	assert_int_equal(recording_open(&recording, path, NULL), 0);
	while (recording_next(recording, &record) > 0) {
		const struct sample_record *sample = (const void *)record.header;

		if (record.header->type != PERF_RECORD_SAMPLE)
			continue;
		assert_int_equal(sample->time, 1000 + n);
		assert_int_equal(sample->ip, n * 0x9e3779b97f4a7c15ull);
		assert_int_equal(recording_event(recording, record.header)->index, n % 3 == 2);
		n++;
	}
	assert_int_equal(n, SAMPLES);
	assert_null(recording->damage);
	assert_string_equal(recording->events.v[1]->name, "faults");
	assert_string_equal(recording->events.v[1]->unit, "pages");
	assert_true(recording->events.v[1]->scale == 0.5);
	assert_int_equal(recording->info.command_line.n, 3);
	assert_string_equal(recording->info.command_line.v[2], "sleep");
	assert_int_equal(recording->info.build_ids.n, 1);
	assert_string_equal(recording->info.build_ids.v[0].name, "/bin/thing");
	assert_int_equal(recording->info.build_ids.v[0].id[2], 3);
	assert_true(recording->info.cpus_online > 0);
	assert_non_null(recording->info.hostname);
	if (!options->pipe)
		assert_int_equal(recording->info.last_sample_ns, 1000 + SAMPLES - 1);
	recording_close(recording);
}

static const char *const command_line[] = {"record", "sleep", NULL};

static void what_is_written_is_read(void **state)
{
	static const struct writer_options cases[] = {
		{.events = events, .events_n = 2, .command_line = command_line},
		{.events = events, .events_n = 2, .command_line = command_line, .pipe = true},
		{.events = events, .events_n = 2, .command_line = command_line, .zstd_level = 1},
		{.events = events,
		 .events_n = 2,
		 .command_line = command_line,
		 .zstd_level = 3,
		 .compress_mmap_bytes = 4096},
		{.events = events,
		 .events_n = 2,
		 .command_line = command_line,
		 .zstd_level = 3,
		 .pipe = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		write_and_read(&cases[i]);
}

static void killed_recordings_are_readable(void **state)
{
	auto_close int fd = temporary();
	auto_free char *path = text_dup_fmt("/proc/self/fd/%d", fd);
	struct writer_options options = {.events = events, .events_n = 2, .command_line = command_line};
	struct writer *writer;
	struct recording *recording;
	struct record record;
	unsigned n = 0;

	assert_int_equal(writer_new(&writer, fd, &options), 0);
	assert_int_equal(put_samples(writer), 0);
	writer_free(writer); // without writer_finish
	assert_int_equal(recording_open(&recording, path, NULL), 0);
	while (recording_next(recording, &record) > 0)
		n += record.header->type == PERF_RECORD_SAMPLE;
	assert_int_equal(n, SAMPLES); // the last round ended behind the last sample
	assert_non_null(strstr(recording->damage, "was not ended properly"));
	// what was known at the start is not lost
	assert_string_equal(recording->events.v[1]->name, "faults");
	assert_int_equal(recording->info.command_line.n, 3);
	recording_close(recording);
}

static void full_disks_leave_whole_records(void **state)
{
	char path[] = "full-XXXXXX";
	auto_close int fd = mkstemp(path);
	struct writer_options options = {.events = events, .events_n = 2};
	struct rlimit old, limit;
	struct writer *writer;
	struct recording *recording;
	struct record record;
	unsigned n = 0;

	assert_true(fd >= 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){100003, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(writer_new(&writer, fd, &options), 0);
	assert_int_equal(put_samples(writer), -EFBIG);
	assert_int_equal(writer_finish(writer), -EFBIG);
	writer_free(writer);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(recording_open(&recording, path, NULL), 0);
	while (recording_next(recording, &record) > 0)
		n += record.header->type == PERF_RECORD_SAMPLE;
	// Up to 3,125 have a place; what is known of the machine and its processor takes some of it.
	assert_true(n > 2500 && n < 3200);
	// The reader hears of it, and the names are there.
	assert_non_null(recording->damage);
	assert_non_null(recording->info.hostname);
	recording_close(recording);
	unlink(path);
}

// Records stay as they are until they are released, whether chunks come from a file or not.
static void chunks_are_stable(void **state)
{
	auto_close int fd = temporary();
	auto_free char *path = text_dup_fmt("/proc/self/fd/%d", fd);
	struct writer_options options = {.events = events, .events_n = 2};
	struct writer *writer;
	struct recording *recording;
	struct record record;

	assert_int_equal(writer_new(&writer, fd, &options), 0);
	assert_int_equal(put_samples(writer), 0);
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
	assert_int_equal(recording_open(&recording, path, NULL), 0);
	recording_read_in_chunks(recording);
	for (int round = 0; round < 2; round++) {
		static const struct sample_record *held[SAMPLES];
		size_t n = 0, released = 0;

		while (recording_next(recording, &record) > 0) {
			if (record.header->type != PERF_RECORD_SAMPLE)
				continue;
			assert_true(record.stable);
			held[n++] = (const void *)record.header;
			if (n % 15000 == 0) { // all but the last 10000 are not needed any more
				released = n - 10000;
				recording_release(recording, record.offset - 9999 * sizeof(**held) -
								     10 * sizeof(record.header));
			}
			if (n % 5000 == 0)
				for (size_t i = released; i < n; i++)
					assert_int_equal(held[i]->time, 1000 + i);
		}
		assert_int_equal(n, SAMPLES);
		assert_null(recording->damage);
		assert_int_equal(recording_rewind(recording), 0);
	}
	recording_close(recording);
}

// A ring's end cuts a record: its head comes alone, and more than the buffer holds behind it.
static void pieces_of_any_size_stay_in_order(void **state)
{
	static const size_t sizes[] = {16, 150000, 1 << 17, 8, 300000, 24, 131064, 100};
	static struct sample_record samples[SAMPLES];
	auto_close int fd = temporary();
	auto_free char *path = text_dup_fmt("/proc/self/fd/%d", fd);
	struct writer_options options = {.events = events, .events_n = 2};
	struct writer *writer;
	struct recording *recording;
	struct record record;
	uint64_t n = 0;

	for (uint64_t i = 0; i < SAMPLES; i++)
		samples[i] = (struct sample_record){
			.header = {.type = PERF_RECORD_SAMPLE, .size = sizeof(samples[i])},
			.id = ids[i % 3],
			.time = 1000 + i,
		};
	assert_int_equal(writer_new(&writer, fd, &options), 0);
	for (size_t at = 0, i = 0; at < sizeof(samples); i++) {
		size_t size = MIN(sizes[i % ARRAY_SIZE(sizes)], sizeof(samples) - at);

		assert_int_equal(writer_records(writer, (const char *)samples + at, size), 0);
		at += size;
	}
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
	assert_int_equal(recording_open(&recording, path, NULL), 0);
	while (recording_next(recording, &record) > 0) {
		const struct sample_record *sample = (const void *)record.header;

		if (record.header->type == PERF_RECORD_SAMPLE)
			assert_int_equal(sample->time, 1000 + n++);
	}
	assert_int_equal(n, SAMPLES);
	assert_null(recording->damage);
	recording_close(recording);
}

static void groups_and_newer_attrs(void **state)
{
	struct writer_event pair[2] = {events[0], events[1]};
	auto_close int fd = temporary();
	auto_free char *path = text_dup_fmt("/proc/self/fd/%d", fd);
	struct writer_options options = {.events = pair, .events_n = 2, .command_line = command_line};
	struct writer *writer;
	struct recording *recording;

	pair[0].group_name = "both";
	pair[1].leader = 0;
	assert_int_equal(writer_new(&writer, fd, &options), 0);
	assert_int_equal(writer_finish(writer), 0);
	writer_free(writer);
	assert_int_equal(recording_open(&recording, path, NULL), 0);
	assert_int_equal(recording->events.v[0]->group_members, 2);
	assert_string_equal(recording->events.v[0]->group_name, "both");
	assert_ptr_equal(recording->events.v[1]->leader, recording->events.v[0]);
	assert_int_equal(recording->attr_size, 128 + 16);
	recording_close(recording);
}

RUN_TESTS(TEST(what_is_written_is_read), TEST(killed_recordings_are_readable),
	  TEST(full_disks_leave_whole_records), TEST(chunks_are_stable),
	  TEST(pieces_of_any_size_stay_in_order), TEST(groups_and_newer_attrs))
