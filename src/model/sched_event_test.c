// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/sched_event.h"
#include "base/alloc.h"
#include "base/test.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define SWITCH                                                                                     \
	COMMON "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"                     \
	       "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"                         \
	       "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"                          \
	       "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"                        \
	       "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"                    \
	       "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"                         \
	       "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"                        \
	       "print fmt: \"prev_comm=%s prev_state=%s%s\", REC->prev_comm, "

// Linux 4.14 and later, and 4.12: of the same bits.
static const char new_switch[] =
	"name: sched_switch\nID: 1\n" SWITCH
	"(REC->prev_state & 255) ? __print_flags(REC->prev_state & 255, \"|\", { 0x01, \"S\" }, "
	"{ 0x02, \"D\" }, { 0x04, \"T\" }, { 0x08, \"t\" }, { 0x10, \"X\" }, { 0x20, \"Z\" }, "
	"{ 0x40, \"P\" }, { 0x80, \"I\" }) : \"R\", REC->prev_state & 256 ? \"+\" : \"\"\n";
static const char old_switch[] =
	"name: sched_switch\nID: 1\n" SWITCH
	"(REC->prev_state & 1023) ? __print_flags(REC->prev_state & 1023, \"|\", { 1, \"S\" }, "
	"{ 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, { 64, \"x\" }, "
	"{ 128, \"K\" }) : \"R\", REC->prev_state & 1024 ? \"+\" : \"\"\n";
static const char wakeup[] =
	"name: sched_wakeup\nID: 2\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\"\n";
static const char migrate[] =
	"name: sched_migrate_task\nID: 3\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int orig_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:int dest_cpu;\toffset:36;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\"\n";
static const char other[] = "name: sched_wakeup\nID: 2\n" COMMON
			    "\tfield:int what;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\"\n";

union raw {
	uint8_t bytes[64];
	struct {
		uint16_t type, unused;
		int32_t own_pid;
		char comm[16];
		int32_t pid, prio;
		union {
			struct {
				uint64_t state;
				char next_comm[16];
				int32_t next_pid, next_prio;
			};
			int32_t cpus[2];
		};
	};
};

static struct tracepoints *learn(const char *format, const char *name, struct sched_event *ret)
{
	struct tracepoints *all =
		tracepoints_new(&(struct tp_options){.long_size = 8, .page_size = 4096});
	struct event event = {.name = name};

	assert_int_equal(tracepoints_add(all, "sched", str_of(format)), 0);
	event.tp = tracepoints_by_name(all, "sched", name);
	assert_int_equal(sched_event_init(ret, &event), format != other);
	return all;
}

static struct sample sample_of(const union raw *raw)
{
	return (struct sample){.raw = (const void *)raw,
			       .raw_size = sizeof(*raw),
			       .time = 1000,
			       .cpu = 3,
			       .tid = 9};
}

static void switches(void **state)
{
	static const struct {
		uint64_t bits;
		uint8_t state;
		char is_new, is_old;
	} cases[] = {
		{0, SCHED_WAITS, 'R', 'R'},
		{1, SCHED_SLEEPS, 'S', 'S'},
		{2, SCHED_SLEEPS + 1, 'D', 'D'},
		{0x10, SCHED_SLEEPS + 4, 'X', 'Z'},
		{0x20, SCHED_SLEEPS + 5, 'Z', 'X'},
		{0x40, SCHED_SLEEPS + 6, 'P', 'x'},
		{0x80, SCHED_SLEEPS + 7, 'I', 'K'},
		{0x82, SCHED_SLEEPS + 1, 'D', 'D'}, // asleep by the lowest
		{0x100, SCHED_WAITS, 'R', 'R'},	    // preempted
	};
	struct sched_event events[2];
	struct tracepoints *all[] = {learn(new_switch, "sched_switch", &events[0]),
				     learn(old_switch, "sched_switch", &events[1])};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const union raw raw = {.pid = 7, .comm = "seven", .state = cases[i].bits, .next_pid = 8};
		const struct sample sample = sample_of(&raw);

		for (int k = 0; k < 2; k++) {
			const char letter = k ? cases[i].is_old : cases[i].is_new;
			const struct sched_hit hit = sched_hit_of(&events[k], &sample);

			assert_int_equal(hit.kind, SCHED_SWITCH);
			assert_int_equal(hit.state, cases[i].state);
			assert_int_equal(sched_letter(&events[k], hit.state), letter);
			assert_int_equal(hit.is_dead,
					 letter == 'X' || letter == 'Z' || letter == 'x');
			assert_true(hit.tid == 7 && hit.next == 8 && hit.by == 9 && hit.cpu == 3 &&
				    hit.time_ns == 1000);
			assert_true(sched_hit_is_about(&hit, 7) && sched_hit_is_about(&hit, 8) &&
				    !sched_hit_is_about(&hit, 9));
			assert_true(str_is(sched_comm(&events[k], &sample), "seven"));
		}
	}
	tracepoints_free(all[0]);
	tracepoints_free(all[1]);
}

static void others(void **state)
{
	const union raw raw = {.pid = 7, .comm = "seven", .cpus = {1, 2}};
	const struct sample sample = sample_of(&raw);
	struct sched_event event;
	struct sched_hit hit;
	struct tracepoints *all = learn(wakeup, "sched_wakeup", &event);

	hit = sched_hit_of(&event, &sample);
	assert_true(hit.kind == SCHED_WAKEUP && hit.tid == 7 && hit.to_cpu == 1 && hit.by == 9);
	assert_true(sched_hit_is_about(&hit, 7) && !sched_hit_is_about(&hit, 0));
	tracepoints_free(all);
	all = learn(migrate, "sched_migrate_task", &event);
	hit = sched_hit_of(&event, &sample);
	assert_true(hit.kind == SCHED_MIGRATE && hit.tid == 7 && hit.from_cpu == 1 && hit.to_cpu == 2);
	tracepoints_free(all);
	// Of that name, but with other fields.
	all = learn(other, "sched_wakeup", &event);
	hit = sched_hit_of(&event, &sample);
	assert_int_equal(hit.kind, SCHED_OTHER);
	assert_false(sched_hit_is_about(&hit, 7));
	tracepoints_free(all);
	assert_false(sched_event_init(&event, &(const struct event){.name = "cycles"}));
}

RUN_TESTS(TEST(switches), TEST(others))
