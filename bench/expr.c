// SPDX-License-Identifier: GPL-2.0-or-later
// ns per evaluation of expressions over a sched_wakeup record, and of a filter beside libtraceevent's. Built by bench/expr.
#include "base/alloc.h"
#include "base/err.h"
#include "base/time.h"
#include "expr/expr.h"
#include <stdio.h>
#include <traceevent/event-parse.h>

static const char format[] =
	"name: sched_wakeup\nID: 374\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d\", REC->comm, REC->pid\n";
static const struct {
	const char *name;
	struct expr_field field;
} fields[] = {
	{"common_type", {EXPR_FIELD_NUMBER, 0, 2}},
	{"common_pid", {EXPR_FIELD_NUMBER, 4, 4, .is_signed = true}},
	{"comm", {EXPR_FIELD_ARRAY, 8, 16, 1, .is_text = true}},
	{"pid", {EXPR_FIELD_NUMBER, 24, 4, .is_signed = true}},
	{"prio", {EXPR_FIELD_NUMBER, 28, 4, .is_signed = true}},
	{"target_cpu", {EXPR_FIELD_NUMBER, 32, 4, .is_signed = true}},
};
static const struct {
	uint16_t type;
	uint8_t flags, count;
	int32_t common_pid;
	char comm[16];
	int32_t pid, prio, target_cpu, pad;
} record = {374, 1, 0, 1234, "kworker/0:1", 1234, 120, 3, 0};
static volatile uint64_t sink;

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!str_is(name, fields[i].name))
			continue;
		*ret = fields[i].field;
		return true;
	}
	return false;
}

static void row(const char *what, uint64_t start_ns, unsigned rounds)
{
	uint64_t ns = time_now_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;

	printf("%-64s %8.1f ns\n", what, (double)ns / rounds);
}

static int bench(const char *text, bool filter)
{
	enum { ROUNDS = 2000000, COMPILED = 2000 };
	const struct expr_fields all = {.find = find};
	const struct expr_record r = {&record, sizeof(record), NULL};
	struct expr_machine *machine = expr_machine_new(NULL);
	struct expr_value value = {0};
	struct expr *expr;
	char what[100];
	uint64_t start = time_now_ns(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned i = 0; i < COMPILED; i++) {
		if ((filter ? expr_filter_compile : expr_compile)(&expr, text, &all) < 0) {
			fprintf(stderr, "%s\n", err_sentence());
			return 1;
		}
		if (i + 1 < COMPILED)
			expr_free(expr);
	}
	snprintf(what, sizeof(what), "  compile");
	printf("%s\n", text);
	row(what, start, COMPILED);
	start = time_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (unsigned i = 0; i < ROUNDS; i++) {
		expr_run(machine, expr, &r, &value);
		sink += value.number;
	}
	row("  run", start, ROUNDS);
	expr_free(expr);
	expr_machine_free(machine);
	return 0;
}

static void bench_peer(const char *text)
{
	enum { ROUNDS = 500000 };
	struct tep_handle *tep = tep_alloc();
	struct tep_record r = {.size = sizeof(record), .data = (void *)&record};
	struct tep_event_filter *filter;
	uint64_t start;

	tep_parse_event(tep, format, sizeof(format) - 1, "sched");
	filter = tep_filter_alloc(tep);
	if (tep_filter_add_filter_str(filter, text) < 0) {
		printf("  libtraceevent does not take %s\n", text);
	} else {
		printf("%s\n", text);
		start = time_now_ns(CLOCK_PROCESS_CPUTIME_ID);
		for (unsigned i = 0; i < ROUNDS; i++)
			sink += (uint64_t)tep_filter_match(filter, &r);
		row("  run by libtraceevent", start, ROUNDS);
	}
	tep_filter_free(filter);
	tep_free(tep);
}

int main(void)
{
	int err = bench("pid", false) | bench("prio > 120 ? pid * 10 : target_cpu", false) |
		  bench("(pid & 0xff) * 3 + (prio >> 2) / 7", false) | bench("comm", false) |
		  bench("*(int *)((char *)&common_type + 24)", false) |
		  bench("pid < 10000 && prio == 120", true) |
		  bench("comm ~ \"kwork*\" && pid != 0", true) |
		  bench("comm ~ \"*[0-9]:1\" || pid == 0", true);

	bench_peer("sched/sched_wakeup:pid < 10000 && prio == 120");
	bench_peer("sched/sched_wakeup:comm =~ \"kwork.*\" && pid != 0");
	return err;
}
