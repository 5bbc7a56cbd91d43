// SPDX-License-Identifier: GPL-2.0-or-later
// Every recording at hand, cut at random places and with random bytes changed: whatever is in a file, reading it
// ends, without a crash, and says where it stops making sense. The same mutations in every run.
#include "base/file.h"
#include "base/out.h"
#include "base/test.h"
#include "data/recording.h"
#include <dirent.h>
#include <stdio.h>

enum { MUTATIONS = 10000, SMALL_BYTES = 64 << 10 };

struct seed {
	char *path;
	uint8_t *bytes;
	size_t n;
};

struct seeds {
	VEC(struct seed) small, large;
};

// xorshift64*
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct seed *)a)->path, ((const struct seed *)b)->path);
}

static void add_folder(struct seeds *seeds, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		struct seed seed = {.path = text_dup_fmt("%s/%s", folder, entry->d_name)};
		char *text = NULL;

		if (entry->d_type == DT_DIR || file_read(seed.path, 4 << 20, &text, &seed.n) < 0 ||
		    !seed.n) {
			free(seed.path);
			free(text);
			continue;
		}
		// exactly as large, so that ASan sees the first byte behind
		seed.bytes = xmemdup(text, seed.n);
		free(text);
		if (seed.n <= SMALL_BYTES)
			vec_push(&seeds->small, seed);
		else
			vec_push(&seeds->large, seed);
	}
	if (dir)
		closedir(dir);
}

static struct seeds find_seeds(void)
{
	const char *top = getenv("T"), *corpus = getenv("CORPUS");
	auto_free char *own = text_dup_fmt("%s/data", top ? top : "test");
	auto_free char *shared = text_dup_fmt("%s/perfdata", corpus ? corpus : "../shared/corpus");
	struct seeds seeds = {0};

	add_folder(&seeds, own);
	add_folder(&seeds, shared);
	if (!seeds.large.n)
		print_message("skip: the large recordings are not here (CORPUS is not set)\n");
	if (seeds.small.n)
		qsort(seeds.small.v, seeds.small.n, sizeof(*seeds.small.v), by_path);
	if (seeds.large.n)
		qsort(seeds.large.v, seeds.large.n, sizeof(*seeds.large.v), by_path);
	return seeds;
}

// Returns how many records there were.
static size_t read_all(const uint8_t *bytes, size_t n)
{
	struct recording *recording;
	struct record record;
	struct out out;
	size_t records = 0;

	if (recording_open_memory(&recording, bytes, n, "mutated") < 0)
		return 0;
	out_init_memory(&out);
	recording_print_header(&out, recording, true);
	out_done(&out);
	while (recording_next(recording, &record) > 0) {
		struct event *event = recording_event(recording, record.header);
		struct sample sample;

		records++;
		// no record can be shorter than its header, so their number is bounded
		assert_true(record.header->size >= sizeof(*record.header));
		if (!event)
			continue;
		if (record.header->type == PERF_RECORD_SAMPLE)
			sample_decode(&event->plan, record.header, &sample);
		else
			sample_decode_trailer(&event->plan, record.header, &sample);
	}
	recording_close(recording);
	return records;
}

struct change {
	size_t at;
	uint8_t was;
};

static size_t mutate_one(struct seed *seed, uint64_t *state)
{
	enum { CHANGES = 32 };
	static const uint8_t evil[] = {0, 1, 7, 8, 0x7f, 0x80, 0xff};
	struct change changes[CHANGES];
	uint64_t how = next_random(state);
	unsigned n = how % 3 == 0 ? 0 : 1 + (unsigned)(how >> 8) % CHANGES;
	bool near_start = how >> 16 & 1; // the header and the first records matter most
	size_t cut = seed->n, records;
	uint8_t *bytes = seed->bytes;

	if (n == 0 || how >> 24 & 1)
		cut = next_random(state) % (seed->n + 1);
	for (unsigned i = 0; i < n; i++) {
		uint64_t r = next_random(state);
		size_t range = near_start ? MIN(seed->n, (size_t)1024) : seed->n;

		changes[i] = (struct change){.at = (r >> 16) % range};
		changes[i].was = bytes[changes[i].at];
		bytes[changes[i].at] = r & 1 ? evil[(r >> 1) % sizeof(evil)] : (uint8_t)(r >> 4);
	}
	if (cut == seed->n) {
		records = read_all(bytes, cut);
	} else {
		uint8_t *copy = xmemdup(bytes, cut);

		records = read_all(copy, cut);
		free(copy);
	}
	while (n--)
		bytes[changes[n].at] = changes[n].was;
	return records;
}

static void mutated_recordings_are_survived(void **state)
{
	struct seeds seeds = find_seeds();
	uint64_t random = 0x5eed5eed5eed5eedull;
	size_t records = 0;

	assert_true(seeds.small.n > 0);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		bool large = seeds.large.n && i % 8 == 0;
		struct seed *seed = large ? &seeds.large.v[i / 8 % seeds.large.n]
					  : &seeds.small.v[i % seeds.small.n];

		records += mutate_one(seed, &random);
	}
	print_message("%u mutations of %zu recordings, %zu records read\n", MUTATIONS,
		      seeds.small.n + seeds.large.n, records);
	assert_true(records > MUTATIONS);
	vec_each(struct seed, seed, &seeds.small) {
		free(seed->path);
		free(seed->bytes);
	}
	vec_each(struct seed, seed, &seeds.large) {
		free(seed->path);
		free(seed->bytes);
	}
	vec_done(&seeds.small);
	vec_done(&seeds.large);
}

RUN_TESTS(TEST(mutated_recordings_are_survived))
