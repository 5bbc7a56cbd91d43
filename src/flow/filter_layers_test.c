// SPDX-License-Identifier: GPL-2.0-or-later
// A filter means the same wherever it runs: the kernel's own trace-event filter, eBPF and the machine see the same renamings of this thread.
#include "abi/tracepoint.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/test.h"
#include "flow/bpf_count.h"
#include "sys/perf.h"
#include "sys/tracefs.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const filters[] = {
	"newcomm == \"bash\"",
	"newcomm != \"bash\"",
	"newcomm == \"\"",
	"newcomm ~ \"ba*\"",
	"newcomm ~ \"*as*\"",
	"newcomm ~ \"b?s[g-i]\"",
	"newcomm ~ \"[!b]*\"",
	"newcomm ~ \"*\"",
	"newcomm ~ \"bash\"",
	"newcomm ~ \"!ba*\"",
	"newcomm ~ \"a*b*c\"",
	"newcomm ~ \"\\*x*\"",
	"newcomm == \"fifteen letters\"",
	"newcomm == \"fifteen letters and more\"",
	"newcomm ~ \"fifteen letters*\"",
	"oldcomm == \"bash\"",
	"oldcomm ~ \"k*\" && newcomm ~ \"b*\"",
	"oldcomm == \"zsh\" || newcomm == \"zsh\"",
	"!(newcomm == \"zsh\")",
	"!newcomm == \"zsh\" && !(oldcomm ~ \"z*\")",
	"pid > 1 && newcomm ~ \"*o*\" || newcomm == \"x y\"",
	"pid == 0",
	"pid & 1",
	"pid < 2147483648",
	"pid >= -1",
	"oom_score_adj == 0",
	"oom_score_adj == 65536", // cut to the 16 bits of the field: 0
	"oom_score_adj < -1",
	"oom_score_adj <= 1000 && (newcomm == \"a\" || newcomm == \"ab\")",
	"common_pid > 1 && common_type != 0",
	"newcomm ~ \"*c\"",
	"newcomm ~ \"kworker/[0-9]:*\"",
	"newcomm == 'bash' && oldcomm != 'bash'",
	"common_type > 0 && newcomm != \"x\"",
};
static const char *const names[] = {
	"bash",
	"zsh",
	"",
	"ba",
	"basalt",
	"k",
	"kworker/0:1",
	"kworker/u:1",
	"a",
	"ab",
	"abc",
	"axbxc",
	"x",
	"x y",
	"*x",
	"\\*x",
	"cab",
	"BASH",
	"b\"",
	"bash ",
	" bash",
	"fifteen letters",
	"fifteen letterz",
	"c",
	"oooooo",
	"bash",
};
enum { FILTERS = sizeof(filters) / sizeof(filters[0]), NAMES = sizeof(names) / sizeof(names[0]) };

struct layers {
	struct tracepoints *all;
	struct tracepoint *tp;
	uint32_t record_bytes;
	struct expr *exprs[FILTERS], *numbers[FILTERS];
	int perf[FILTERS]; // with the kernel's filter
	uint64_t kernel[FILTERS], machine[FILTERS], bpf[FILTERS];
	bool in_bpf[FILTERS];
	struct bpf_count *count;
};

static bool find(void *arg, struct str name, struct expr_field *ret)
{
	const struct tracepoint *tp = arg;
	const struct tp_field *fields;
	const size_t n = tracepoint_fields(tp, &fields);

	for (size_t i = 0; i < n; i++) {
		if (!str_is(name, fields[i].name))
			continue;
		*ret = (struct expr_field){.kind = fields[i].is_array ? EXPR_FIELD_ARRAY
								      : EXPR_FIELD_NUMBER,
					   .offset = fields[i].offset,
					   .size = fields[i].size,
					   .element_size = fields[i].element_size,
					   .is_signed = fields[i].is_signed,
					   .is_text = fields[i].is_string};
		return true;
	}
	return false;
}

static bool read_format(struct layers *l)
{
	const struct tp_options options = {.long_size = 8, .page_size = 4096};
	struct tracefs *tracefs = NULL;
	const struct tp_field *fields;
	char *text = NULL;
	size_t size, n;

	l->all = tracepoints_new(&options);
	if (tracefs_enter(&tracefs, NULL) < 0)
		return false;
	if (tracefs_read(tracefs, "events/task/task_rename/format", &text, &size) >= 0 &&
	    tracepoints_add(l->all, "task", (struct str){text, size}) >= 0)
		l->tp = tracepoints_by_name(l->all, "task", "task_rename");
	free(text);
	tracefs_leave(tracefs);
	if (!l->tp)
		return false;
	n = tracepoint_fields(l->tp, &fields);
	for (size_t i = 0; i < n; i++)
		l->record_bytes = MAX(l->record_bytes, fields[i].offset + fields[i].size);
	return true;
}

// A counter of this thread's renamings with the filter in the kernel.
static int open_counter(const struct layers *l, const char *filter)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = sizeof(attr),
				       .config = tracepoint_id(l->tp)};
	int fd = perf_open(&attr, PERF_OPEN_AT_SELF);

	if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) < 0)
		fail_msg("the kernel refuses %s: %s", filter, strerror(errno));
	return fd;
}

static void put_field(const struct layers *l, uint8_t *record, const char *name, const void *value,
		      size_t size)
{
	const struct tp_field *field = tracepoint_field(l->tp, name);

	if (field)
		memcpy(record + field->offset, value, MIN(size, (size_t)field->size));
}

// What the kernel records when `name` takes the place of `old`.
static void evaluate(struct layers *l, struct expr_machine *machine, const char *old, const char *name)
{
	const uint64_t context[EXPR_CONTEXTS] = {0};
	const int32_t tid = (int32_t)syscall(SYS_gettid);
	const uint16_t type = (uint16_t)tracepoint_id(l->tp);
	auto_free uint8_t *bytes = xcalloc(1, l->record_bytes);
	const struct expr_record record = {bytes, l->record_bytes, context};
	char text[16] = {0};

	put_field(l, bytes, "common_type", &type, 2);
	put_field(l, bytes, "common_pid", &tid, 4);
	put_field(l, bytes, "pid", &tid, 4);
	snprintf(text, sizeof(text), "%s", old);
	put_field(l, bytes, "oldcomm", text, 16);
	memset(text, 0, sizeof(text));
	snprintf(text, sizeof(text), "%s", name);
	put_field(l, bytes, "newcomm", text, 16);
	for (int i = 0; i < FILTERS; i++)
		l->machine[i] += expr_true(machine, l->exprs[i], &record);
}

static int take(void *arg, const void *key, const uint64_t *cells)
{
	struct layers *l = arg;
	uint64_t number;

	memcpy(&number, key, 8);
	assert_true(number <= FILTERS);
	if (number < FILTERS)
		l->bpf[number] = cells[0];
	return 0;
}

static void open_bpf(struct layers *l)
{
	static const struct bpf_key keys[] = {{BPF_KEY_NUMBER, 0}};
	static const struct bpf_cell cells[] = {{BPF_CELL_HITS, false}};
	const struct bpf_count_options options = {.keys = keys,
						  .keys_n = 1,
						  .cells = cells,
						  .cells_n = 1,
						  .rows_max = 100};
	char number[32];

	if (bpf_count_open(&l->count, &options) < 0) {
		print_message("without eBPF: %s\n", err_sentence());
		return;
	}
	for (int i = 0; i < FILTERS; i++) {
		// Others are renamed meanwhile.
		snprintf(number, sizeof(number), "_tid == %d ? %d : %d", (int)syscall(SYS_gettid),
			 i, FILTERS);
		assert_int_equal(expr_compile(&l->numbers[i], number, NULL), 0);
		l->in_bpf[i] =
			bpf_count_add(l->count,
				      &(struct bpf_count_event){.id = tracepoint_id(l->tp),
								.record_bytes = l->record_bytes,
								.filter = l->exprs[i],
								.keys = {l->numbers[i]},
								.updates = {{0, NULL}},
								.updates_n = 1}) == 0;
	}
}

static void test_same_everywhere(void **state)
{
	struct layers *l = xcalloc(1, sizeof(*l));
	struct expr_machine *machine = expr_machine_new(NULL);
	const char *old = "start";
	unsigned in_bpf = 0, in_kernel = 0;

	if (!read_format(l)) {
		print_message("no format of task:task_rename: %s\n", err_sentence());
		skip();
	}
	const struct expr_fields fields = {.find = find, .arg = l->tp};
	for (int i = 0; i < FILTERS; i++) {
		if (expr_filter_compile_kernel(&l->exprs[i], filters[i], &fields) < 0)
			fail_msg("%s", err_sentence());
		l->perf[i] = open_counter(l, filters[i]);
		if (l->perf[i] < 0) {
			print_message("can't count task:task_rename: %s\n", strerror(-l->perf[i]));
			skip();
		}
	}
	prctl(PR_SET_NAME, old);
	open_bpf(l);
	for (int i = 0; i < FILTERS; i++)
		ioctl(l->perf[i], PERF_EVENT_IOC_RESET, 0);
	for (int i = 0; i < NAMES; i++) {
		prctl(PR_SET_NAME, names[i]);
		evaluate(l, machine, old, names[i]);
		old = names[i];
	}
	for (int i = 0; i < FILTERS; i++)
		assert_int_equal(read(l->perf[i], &l->kernel[i], 8), 8);
	if (!l->kernel[7]) { // ~ "*"
		print_message("events of this thread are not seen\n");
		skip();
	}
	if (l->count)
		assert_int_equal(bpf_count_read(l->count, take, l), 0);
	for (int i = 0; i < FILTERS; i++) {
		if (expr_is_kernel_filter(l->exprs[i])) {
			in_kernel++;
			if (l->kernel[i] != l->machine[i])
				fail_msg("%s: %u by the kernel, %u by the machine", filters[i],
					 (unsigned)l->kernel[i], (unsigned)l->machine[i]);
		}
		if (l->in_bpf[i]) {
			in_bpf++;
			if (l->bpf[i] != l->machine[i])
				fail_msg("%s: %u by eBPF, %u by the machine", filters[i],
					 (unsigned)l->bpf[i], (unsigned)l->machine[i]);
		}
		close(l->perf[i]);
		expr_free(l->exprs[i]);
		expr_free(l->numbers[i]);
	}
	print_message("%d filters: %u in the kernel, %u as eBPF\n", FILTERS, in_kernel, in_bpf);
	assert_true(in_kernel > FILTERS / 2);
	assert_true(!l->count || in_bpf > FILTERS / 2);
	bpf_count_close(l->count);
	tracepoints_free(l->all);
	expr_machine_free(machine);
	free(l);
}

RUN_TESTS(TEST(test_same_everywhere))
