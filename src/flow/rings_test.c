// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/rings.h"
#include "base/test.h"

enum { COUNTED, SAMPLED, TASKS, EVENTS };

static struct perf_event_attr sampling(uint64_t type)
{
	return (struct perf_event_attr){.sample_type = type, .sample_id_all = 1};
}

static void whose_records_are(void **state)
{
	const uint64_t common = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	struct event_spec specs[EVENTS] =
		{[SAMPLED] = {.attr = sampling(RINGS_PLAIN)}, [TASKS] = {.attr = sampling(common)}};
	struct event event = {0}, *events[EVENTS] = {[SAMPLED] = &event};
	const struct {
		struct perf_event_header header;
		uint64_t id, tid, time;
	} sample = {{.type = PERF_RECORD_SAMPLE, .size = sizeof(sample)}, 8, 7, 1000};
	const struct {
		struct perf_event_header header;
		uint64_t body, tid, time, id;
	} exec = {{.type = PERF_RECORD_COMM, .size = sizeof(exec)}, 0, 7, 900, 9};
	struct opened opened = {0};
	struct rings rings;
	void *what;

	for (uint64_t i = 0; i < EVENTS; i++) {
		struct opened_event *it = vec_add(&opened.events);

		*it = (struct opened_event){.spec = &specs[i]};
		vec_push(&it->ids, 7 + i);
	}
	rings_init(&rings, NULL);
	for (int again = 0; again < 2; again++) {
		rings_learn(&rings, &opened, events);
		assert_int_equal(rings_look(&rings, &sample.header, &what), 1000);
		assert_ptr_equal(what, &rings.sources[SAMPLED]);
		assert_ptr_equal(rings.sources[SAMPLED].event, &event);
		assert_true(rings.sources[SAMPLED].plain);
		assert_int_equal(rings_look(&rings, &exec.header, &what), 900);
		assert_ptr_equal(what, &rings.sources[TASKS]);
		assert_null(rings.sources[TASKS].event);
		// Numbers that are far from each other are no places in a table.
		opened.events.v[COUNTED].ids.v[0] = UINT64_MAX / 2;
	}
	rings_done(&rings);
	vec_each(struct opened_event, it, &opened.events)
		vec_done(&it->ids);
	vec_done(&opened.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(whose_records_are)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
