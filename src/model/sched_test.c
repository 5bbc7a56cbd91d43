// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/test.h"
#include <stdio.h>
#include "base/alloc.h"
#include "model/sched.h"

enum { S = SCHED_SLEEPS, D = SCHED_SLEEPS + 1, X = SCHED_SLEEPS + 4, W = SCHED_WAITS };

// What ended, as text: "7R5 " is task 7, which ran for 5, "7R? " which ran, nobody knows how long; "c1:7+5 " CPU 1, which ran it.
struct seen {
	struct sched sched;
	char text[512];
	size_t n;
	uint32_t unwanted;
};

static void left(void *arg, struct sched_task *task, const struct sched_hit *hit)
{
	static const char letters[] = "RSDTtXZPIW";
	struct seen *seen = arg;
	char *text = seen->text + seen->n;
	size_t room = sizeof(seen->text) - seen->n;

	seen->n += (size_t)(hit ? snprintf(text, room, "%u%c%llu ", task->tid, letters[task->state],
					   (unsigned long long)(hit->time_ns - task->since_ns))
				: snprintf(text, room, "%u%c? ", task->tid, letters[task->state]));
}

static void ran(void *arg, const struct sched_hit *hit, uint64_t ns)
{
	struct seen *seen = arg;

	seen->n += (size_t)snprintf(seen->text + seen->n, sizeof(seen->text) - seen->n,
				    "c%u:%u+%llu ", hit->cpu, hit->tid, (unsigned long long)ns);
}

static bool wanted(void *arg, uint32_t tid)
{
	return tid != ((struct seen *)arg)->unwanted;
}

static void take(struct seen *seen, const struct sched_hit *hits, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sched_take(&seen->sched, &hits[i]);
}

#define SWITCH(at, on, from, in, to)                                                               \
	{                                                                                          \
		.kind = SCHED_SWITCH, .time_ns = at, .cpu = on, .tid = from, .state = in,          \
		.next = to, .is_dead = in == X                                                     \
	}
#define WAKE(at, who, on, from)                                                                    \
	{                                                                                          \
		.kind = SCHED_WAKEUP, .time_ns = at, .tid = who, .to_cpu = on, .by = from          \
	}
#define MOVE(at, who, to)                                                                          \
	{                                                                                          \
		.kind = SCHED_MIGRATE, .time_ns = at, .tid = who, .to_cpu = to                     \
	}
#define LOST(at, on)                                                                               \
	{                                                                                          \
		.kind = SCHED_OTHER, .time_ns = at, .cpu = on                                      \
	}

static void test_stays(void **state)
{
	enum { MOST = 8 };
	static const struct {
		const char *name;
		struct sched_hit hits[MOST]; // LOST: something was lost there
		const char *tasks, *cpus;
	} cases[] = {
		{"it runs, sleeps, is woken up, waits, runs",
		 {SWITCH(10, 0, 0, W, 7), SWITCH(15, 0, 7, S, 0), WAKE(35, 7, 0, 9),
		  SWITCH(38, 0, 0, W, 7), SWITCH(40, 0, 7, D, 0)},
		 "7R5 7S20 7W3 7R2 ",
		 "c0:7+5 c0:0+23 c0:7+2 "},
		{"two that fight",
		 {SWITCH(10, 0, 7, W, 8), SWITCH(15, 0, 8, W, 7), SWITCH(16, 0, 7, W, 8)},
		 "8R5 7W5 7R1 8W1 ",
		 "c0:8+5 c0:7+1 "},
		{"a wake-up of one that runs or waits says nothing new",
		 {SWITCH(10, 0, 0, W, 7), WAKE(12, 7, 0, 9), SWITCH(15, 0, 7, W, 8),
		  WAKE(17, 7, 0, 9), SWITCH(20, 0, 8, S, 7)},
		 "7R5 8R5 7W5 ",
		 "c0:7+5 c0:8+5 "},
		{"the wake-up comes behind the switch that it led to",
		 {SWITCH(10, 0, 7, S, 0), SWITCH(20, 0, 0, W, 7), WAKE(21, 7, 0, 9),
		  SWITCH(25, 0, 7, S, 0)},
		 "7S10 7R5 ",
		 "c0:0+10 c0:7+5 "},
		{"a hidden wake-up: who runs sleeps no longer",
		 {SWITCH(10, 0, 7, S, 0), SWITCH(30, 1, 8, S, 7), SWITCH(32, 1, 7, S, 0)},
		 "7S20 7R2 ",
		 "c1:7+2 "},
		{"a hidden switch: nobody knows when it left its CPU, nor who ran there",
		 {SWITCH(10, 0, 0, W, 7), SWITCH(30, 1, 0, W, 7), SWITCH(40, 0, 8, S, 0),
		  SWITCH(50, 1, 7, S, 0)},
		 "7R? 7R20 ",
		 "c1:7+20 "},
		{"a hidden switch to a task: its wait has ended, nobody knows when",
		 {SWITCH(10, 0, 7, S, 0), WAKE(20, 7, 0, 9), SWITCH(50, 0, 7, S, 0),
		  WAKE(70, 7, 0, 9), SWITCH(75, 0, 0, W, 7)},
		 "7S10 7W? 7S20 7W5 ",
		 "c0:0+25 "},
		{"something was lost: states end unknown, and begin anew",
		 {SWITCH(10, 0, 0, W, 7), WAKE(12, 8, 1, 7), LOST(15, 0), SWITCH(20, 0, 7, S, 8),
		  SWITCH(26, 0, 8, S, 0)},
		 "8R6 ",
		 "c0:8+6 "},
		{"of one CPU: who runs on the other is known still",
		 {SWITCH(10, 0, 0, W, 7), SWITCH(10, 1, 0, W, 8), LOST(15, 0),
		  SWITCH(20, 0, 7, S, 0), SWITCH(21, 1, 8, S, 0)},
		 "",
		 "c1:8+11 "},
		{"its CPU goes offline: it was moved, and runs elsewhere",
		 {SWITCH(10, 3, 0, W, 7), SWITCH(12, 3, 7, W, 20), MOVE(13, 7, 0),
		  SWITCH(15, 0, 0, W, 7), SWITCH(16, 3, 20, S, 0), SWITCH(18, 0, 7, S, 0)},
		 "7R2 7W3 20R4 7R3 ",
		 "c3:7+2 c3:20+4 c0:7+3 "},
		{"the dead don't come back: the next one of that number is another",
		 {SWITCH(10, 0, 0, W, 7), SWITCH(15, 0, 7, X, 0), WAKE(50, 7, 0, 9),
		  SWITCH(52, 0, 0, W, 7)},
		 "7R5 7W2 ",
		 "c0:7+5 c0:0+37 "},
		{"time runs backward: of no length that is known",
		 {SWITCH(10, 0, 0, W, 7), SWITCH(5, 0, 7, S, 8), SWITCH(9, 0, 8, S, 0)},
		 "7R18446744073709551611 8R4 ",
		 "c0:8+4 "},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct seen tasks = {.sched = {.left = left}}, cpus = {.sched = {.ran = ran}};

		tasks.sched.arg = &tasks;
		cpus.sched.arg = &cpus;
		for (size_t k = 0; k < MOST && cases[i].hits[k].time_ns; k++) {
			const struct sched_hit *hit = &cases[i].hits[k];

			if (hit->kind == SCHED_OTHER) {
				sched_lost(&tasks.sched, hit->cpu);
				sched_lost(&cpus.sched, hit->cpu);
			}
			take(&tasks, hit, 1);
			take(&cpus, hit, 1);
		}
		if (strcmp(tasks.text, cases[i].tasks) || strcmp(cpus.text, cases[i].cpus))
			fail_msg("%s: %s| %s", cases[i].name, tasks.text, cpus.text);
		sched_done(&tasks.sched);
		sched_done(&cpus.sched);
	}
}

// All time of a CPU since its first switch is busy, idle or unknown.
static void test_use(void **state)
{
	static const struct sched_hit hits[] = {
		SWITCH(100, 2, 5, S, 0), SWITCH(110, 2, 0, W, 7), SWITCH(140, 2, 7, S, 0),
		SWITCH(150, 2, 9, S, 8), // who came before 9 is hidden
	};
	struct seen seen = {0};
	const struct sched_use *use;

	take(&seen, hits, ARRAY_SIZE(hits));
	assert_int_equal(seen.sched.cpus.n, 3);
	assert_false(seen.sched.cpus.v[0].seen);
	use = &seen.sched.cpus.v[2].use;
	sched_cut(&seen.sched, 155);
	assert_int_equal(use->busy_ns, 30 + 5);
	assert_int_equal(use->idle_ns, 10);
	assert_int_equal(use->unknown_ns, 10);
	assert_int_equal(use->switches_n, 4);
	sched_lost(&seen.sched, 1); // another CPU
	sched_cut(&seen.sched, 160);
	assert_int_equal(use->busy_ns, 40);
	sched_lost(&seen.sched, UINT32_MAX);
	sched_cut(&seen.sched, 165);
	assert_int_equal(use->busy_ns, 40);
	assert_int_equal(use->unknown_ns, 15);
	// A number that is no CPU's takes no memory.
	take(&seen, &(struct sched_hit)SWITCH(170, UINT32_MAX, 7, S, 0), 1);
	assert_int_equal(seen.sched.cpus.n, 3);
	assert_int_equal(seen.sched.odd_cpus_n, 1);
	assert_int_equal(seen.sched.tasks.n, 0);
	sched_done(&seen.sched);
}

static void test_tasks(void **state)
{
	static const struct sched_hit hits[] = {SWITCH(10, 1, 7, S, 8), WAKE(12, 7, 3, 8)};
	struct seen seen = {.sched = {.left = left, .wanted = wanted}};
	const struct sched_task *task;

	seen.sched.arg = &seen;
	take(&seen, hits, ARRAY_SIZE(hits));
	task = sched_task(&seen.sched, 7);
	assert_int_equal(task->state, SCHED_WAITS);
	assert_int_equal(task->since_ns, 12);
	assert_int_equal(task->cpu, 3);
	assert_int_equal(task->waker, 8);
	take(&seen, &(struct sched_hit)MOVE(13, 7, 2), 1);
	assert_int_equal(sched_task(&seen.sched, 7)->cpu, 2);
	assert_int_equal(sched_task(&seen.sched, 8)->waker, SCHED_NOBODY);
	// Its waker has no part in that it waits again.
	take(&seen, &(struct sched_hit)SWITCH(14, 2, 8, W, 7), 1);
	assert_int_equal(sched_task(&seen.sched, 7)->waker, 8);
	take(&seen, &(struct sched_hit)SWITCH(15, 2, 7, W, 8), 1);
	assert_int_equal(sched_task(&seen.sched, 7)->waker, SCHED_NOBODY);
	assert_null(sched_task(&seen.sched, 0));
	assert_null(sched_task(&seen.sched, 9));
	assert_int_equal(sched_lost(&seen.sched, 0), 2);
	assert_int_equal(sched_lost(&seen.sched, 0), 0);
	// Who is no longer wanted is forgotten when that can happen.
	seen.unwanted = 7;
	take(&seen, &(struct sched_hit)SWITCH(20, 1, 8, S, 7), 1);
	assert_non_null(sched_task(&seen.sched, 7));
	seen.sched.asks_again = true;
	take(&seen, &(struct sched_hit)SWITCH(25, 1, 7, S, 0), 1);
	assert_null(sched_task(&seen.sched, 7));
	assert_string_equal(seen.text, "7S2 8R4 7W2 7R1 8W1 ");
	sched_done(&seen.sched);
}

// Tasks come and go for months, and not each end is seen.
static void test_limit(void **state)
{
	enum { LIMIT = 100, TASKS = 10000 };
	struct seen seen = {.sched = {.left = left, .limit = LIMIT}};

	seen.sched.arg = &seen;
	for (uint32_t tid = 1; tid <= TASKS; tid++)
		take(&seen, &(struct sched_hit)WAKE(tid, tid, 0, 0), 1);
	assert_true(seen.sched.tasks.n <= LIMIT);
	assert_true(seen.sched.by_tid.n <= LIMIT);
	assert_int_equal(seen.sched.by_tid.n + seen.sched.forgotten_n, TASKS);
	assert_non_null(sched_task(&seen.sched, TASKS));
	assert_null(sched_task(&seen.sched, 1));
	sched_done(&seen.sched);
}

RUN_TESTS(TEST(test_stays), TEST(test_use), TEST(test_tasks), TEST(test_limit))
