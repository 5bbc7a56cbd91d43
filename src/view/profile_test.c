// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/profile.h"
#include "base/test.h"

static void make(struct profile *profile, const uint64_t *times_ns, size_t n)
{
	profile_init(profile);
	vec_push(&profile->events, (struct profile_event){0});
	for (uint32_t i = 0; i < 2; i++)
		vec_push(&profile->threads, (struct profile_thread){.pid = 1, .tid = i + 1});
	for (size_t i = 0; i < n; i++)
		vec_push(&profile->samples, (struct profile_sample){.time_ns = times_ns[i],
								    .weight = i,
								    .thread = i % 2,
								    .cpu = PROFILE_NONE});
	profile_finish(profile);
}

static void samples_are_in_order_of_time(void **state)
{
	enum { N = 6 };
	static const struct {
		uint64_t times_ns[N], order[N], by_thread[N];
	} cases[] = {
		{{1, 2, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5}, {0, 2, 4, 1, 3, 5}},
		{{4, 2, 9, 2, 4, 3}, {1, 3, 5, 0, 4, 2}, {3, 4, 5, 0, 1, 2}}, // equal ones as they came
		{{5, UINT64_MAX, 7, 6, 8, 1}, {5, 0, 1, 3, 2, 4}, {1, 4, 5, 0, 2, 3}},
		{{UINT64_MAX, 2, UINT64_MAX, 1, 3, 4}, {0, 3, 1, 2, 4, 5}, {0, 3, 4, 1, 2, 5}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct profile profile;

		make(&profile, cases[i].times_ns, N);
		assert_int_equal(profile.samples.n, N);
		for (size_t k = 0; k < N; k++) {
			assert_int_equal(profile.samples.v[k].weight, cases[i].order[k]);
			assert_int_equal(profile.by_thread[k], cases[i].by_thread[k]);
		}
		profile_done(&profile);
	}
}

static void times_are_of_samples_that_have_one(void **state)
{
	static const uint64_t times_ns[] = {50, 20, UINT64_MAX, 70, 30};
	struct profile profile;

	make(&profile, times_ns, ARRAY_SIZE(times_ns));
	assert_int_equal(profile.first_ns, 20);
	assert_int_equal(profile.last_ns, 70);
	assert_int_equal(profile.threads.v[0].first_ns, 30);
	assert_int_equal(profile.threads.v[0].last_ns, 50);
	assert_int_equal(profile.threads.v[1].first_ns, 20);
	assert_int_equal(profile_usual_gap_ns(&profile, 0), 50);
	profile_done(&profile);
}

static void paths_begin_at_the_outermost_frame(void **state)
{
	static const uint32_t parents[] = {0, 0, 1, 2, 2, 4};
	static const struct {
		uint32_t node, n, nodes[4];
	} cases[] = {{0, 0, {0}}, {1, 1, {1}}, {3, 3, {1, 2, 3}}, {2, 2, {1, 2}}, {5, 4, {1, 2, 4, 5}}};
	struct profile_path path = {0};
	struct profile profile;

	profile_init(&profile);
	vec_clear(&profile.nodes);
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++)
		vec_push(&profile.nodes, (struct profile_node){.parent = parents[i]});
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		profile_path(&profile, cases[i].node, &path);
		assert_int_equal(path.nodes.n, cases[i].n);
		for (size_t k = 0; k < cases[i].n; k++)
			assert_int_equal(path.nodes.v[k], cases[i].nodes[k]);
	}
	vec_done(&path.nodes);
	profile_done(&profile);
}

RUN_TESTS(TEST(samples_are_in_order_of_time), TEST(times_are_of_samples_that_have_one),
	  TEST(paths_begin_at_the_outermost_frame))
