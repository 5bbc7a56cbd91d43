// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/bpf_runs.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "expr/bpf.h"
#include "sys/bpf.h"
#include <string.h>

// What a program leaves on a CPU: whether it runs, then for each event where it stood at its begin, at its end, and the sum.
enum {
	R0 = BPF_REG_0,
	R1,
	R2,
	R3,
	R4,
	CPU = BPF_REG_6,
	ROW,
	FP = BPF_REG_10,
	KEY = -8,
	COUNT = sizeof(struct bpf_runs_count),
};
_Static_assert(sizeof(struct bpf_perf_event_value) == COUNT, "as the helper writes it");

struct watched {
	uint32_t id;
	int program, rows;
	int own[2], links[2]; // begin, end
};

struct bpf_runs {
	size_t events_n, programs_n;
	uint32_t cpus; // possible ones
	int counters;  // by event, CPU
	struct watched programs[BPF_RUNS_PROGRAMS];
};

static size_t row_size(const struct bpf_runs *runs)
{
	return 8 + 3 * runs->events_n * COUNT;
}

static int at(const struct bpf_runs *runs, unsigned part, size_t event)
{
	return (int)(8 + (part * runs->events_n + event) * COUNT);
}

// Reads all counters into a part of the row; if one can't be read, ends.
static void emit_read(struct expr_bpf *b, const struct bpf_runs *runs, unsigned part)
{
	for (size_t i = 0; i < runs->events_n; i++) {
		expr_bpf_emit_map(b, R1, runs->counters);
		expr_bpf_emit(b, bpf_alu(BPF_MOV, R2, CPU));
		expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R2, (int32_t)(i * runs->cpus)));
		expr_bpf_emit(b, bpf_alu(BPF_MOV, R3, ROW));
		expr_bpf_emit(b, bpf_alu_imm(BPF_ADD, R3, at(runs, part, i)));
		expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R4, COUNT));
		expr_bpf_emit_call(b, BPF_FUNC_perf_event_read_value);
		vec_push(&b->failed, expr_bpf_jump(b, BPF_JNE, R0, 0));
	}
}

static void emit_sums(struct expr_bpf *b, const struct bpf_runs *runs)
{
	for (size_t i = 0; i < runs->events_n; i++) {
		for (int field = 0; field < COUNT; field += 8) {
			expr_bpf_emit(b, bpf_load(BPF_DW, R1, ROW, at(runs, 1, i) + field));
			expr_bpf_emit(b, bpf_load(BPF_DW, R2, ROW, at(runs, 0, i) + field));
			expr_bpf_emit(b, bpf_alu(BPF_SUB, R1, R2));
			expr_bpf_emit(b, bpf_load(BPF_DW, R2, ROW, at(runs, 2, i) + field));
			expr_bpf_emit(b, bpf_alu(BPF_ADD, R1, R2));
			expr_bpf_emit(b, bpf_store(BPF_DW, ROW, at(runs, 2, i) + field, R1));
		}
	}
}

static void emit_program(struct expr_bpf *b, const struct bpf_runs *runs,
			 const struct watched *watched, bool is_end)
{
	expr_bpf_begin(b);
	expr_bpf_emit_zero(b, KEY, 8);
	expr_bpf_emit_lookup(b, watched->rows, KEY);
	vec_push(&b->failed, expr_bpf_jump(b, BPF_JEQ, R0, 0));
	expr_bpf_emit(b, bpf_alu(BPF_MOV, ROW, R0));
	expr_bpf_emit_call(b, BPF_FUNC_get_smp_processor_id);
	expr_bpf_emit(b, bpf_alu(BPF_MOV, CPU, R0));
	if (is_end) {
		// Began before we were there, or could not be read.
		expr_bpf_emit(b, bpf_load(BPF_DW, R1, ROW, 0));
		vec_push(&b->failed, expr_bpf_jump(b, BPF_JEQ, R1, 0));
	}
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, 0));
	expr_bpf_emit(b, bpf_store(BPF_DW, ROW, 0, R1));
	emit_read(b, runs, is_end);
	if (is_end) {
		emit_sums(b, runs);
	} else {
		expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R1, 1));
		expr_bpf_emit(b, bpf_store(BPF_DW, ROW, 0, R1));
	}
	expr_bpf_land_failed(b);
	expr_bpf_emit(b, bpf_alu_imm(BPF_MOV, R0, 0));
	expr_bpf_emit(b, bpf_exit());
}

static int load(struct bpf_runs *runs, struct watched *watched, bool is_end, uint32_t function)
{
	const struct bpf_place place = {is_end ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
					watched->program, function};
	struct expr_bpf b = {0};
	auto_free char *log = NULL;
	int fd;

	emit_program(&b, runs, watched, is_end);
	fd = b.error ? b.error : bpf_tracing_load(&place, b.insns.v, b.insns.n, &log);
	expr_bpf_done(&b);
	if (log)
		debug("the kernel's verifier: %s", log);
	watched->own[is_end] = fd;
	return fd >= 0 ? 0
		       : fail(-fd,
			      "can't watch where BPF program %u begins and ends: %s (needs Linux 5.5, on arm64 6.0, and a program that is compiled by the kernel)",
			      watched->id, strerror(-fd));
}

static int watch(struct bpf_runs *runs, uint32_t id)
{
	struct watched *watched = &runs->programs[runs->programs_n++];
	uint32_t function;
	int err;

	*watched = (struct watched){.id = id, .rows = -1, .own = {-1, -1}, .links = {-1, -1}};
	watched->program = bpf_program_open(id);
	if (watched->program == -ENOENT)
		return fail(ENOENT,
			    "there is no BPF program %u; 'bpftool prog' shows what there is", id);
	if (watched->program < 0)
		return fail(-watched->program, "can't look at BPF program %u: %s%s", id,
			    strerror(-watched->program),
			    watched->program == -EPERM ? " (needs root)" : "");
	err = bpf_program_function(watched->program, &function);
	if (err == -ENODATA)
		return fail(ENODATA,
			    "BPF program %u has no type information (BTF), so the kernel lets nobody watch where it begins",
			    id);
	if (err < 0)
		return fail(-err, "can't look at BPF program %u: %s", id, strerror(-err));
	watched->rows = bpf_map_new(BPF_MAP_TYPE_PERCPU_ARRAY, 4, (uint32_t)row_size(runs), 1);
	if (watched->rows < 0)
		return fail(-watched->rows, "can't make a BPF map: %s", strerror(-watched->rows));
	err = load(runs, watched, false, function);
	return err ? err : load(runs, watched, true, function);
}

int bpf_runs_open(struct bpf_runs **ret, const uint32_t *ids, size_t ids_n, size_t events_n)
{
	struct bpf_runs *runs = NEW(struct bpf_runs);
	int cpus = bpf_value_cpus(), err = 0;

	runs->counters = -1;
	runs->events_n = events_n;
	if (ids_n > BPF_RUNS_PROGRAMS || !events_n || events_n > BPF_RUNS_EVENTS)
		err = fail(E2BIG,
			   "at most %d BPF programs and %d events are counted at once, not %zu and %zu",
			   BPF_RUNS_PROGRAMS, BPF_RUNS_EVENTS, ids_n, events_n);
	else if (cpus < 0)
		err = fail(-cpus, "can't read how many CPUs there may be: %s", strerror(-cpus));
	if (!err) {
		runs->cpus = (uint32_t)cpus;
		runs->counters = bpf_map_new(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4,
					     (uint32_t)(events_n * runs->cpus));
		if (runs->counters < 0)
			err = fail(-runs->counters, "can't make a BPF map of counters: %s%s",
				   strerror(-runs->counters),
				   runs->counters == -EPERM ? " (needs root)" : "");
	}
	for (size_t i = 0; i < ids_n && !err; i++)
		err = watch(runs, ids[i]);
	if (err)
		bpf_runs_close(runs);
	else
		*ret = runs;
	return err;
}

int bpf_runs_set(struct bpf_runs *runs, size_t event, unsigned cpu, int fd)
{
	uint32_t key = (uint32_t)event * runs->cpus + cpu;
	int err = cpu < runs->cpus ? bpf_map_set(runs->counters, &key, &fd) : -ERANGE;

	return err < 0 ? fail(-err, "can't give the counter of CPU %u to BPF programs: %s", cpu,
			      strerror(-err))
		       : 0;
}

int bpf_runs_start(struct bpf_runs *runs)
{
	for (size_t i = 0; i < runs->programs_n; i++) {
		struct watched *watched = &runs->programs[i];

		for (int part = 0; part < 2; part++) {
			int link = watched->links[part] = bpf_tracing_attach(watched->own[part]);

			if (link < 0)
				return fail(-link, "can't watch where BPF program %u %s: %s",
					    watched->id, part ? "ends" : "begins", strerror(-link));
		}
	}
	return 0;
}

int bpf_runs_read(const struct bpf_runs *runs, struct bpf_runs_count *ret)
{
	size_t size = row_size(runs);
	auto_free uint8_t *rows = xcalloc(runs->cpus, size);
	const uint32_t key = 0;

	memset(ret, 0, runs->cpus * runs->events_n * sizeof(*ret));
	for (size_t i = 0; i < runs->programs_n; i++) {
		int err = bpf_map_get(runs->programs[i].rows, &key, rows);

		if (err < 0)
			return fail(-err, "can't read what was counted of BPF program %u: %s",
				    runs->programs[i].id, strerror(-err));
		for (size_t j = 0; j < runs->cpus * runs->events_n; j++) {
			size_t cpu = j / runs->events_n, event = j % runs->events_n;
			struct bpf_runs_count sum;

			memcpy(&sum, rows + cpu * size + (size_t)at(runs, 2, event), sizeof(sum));
			ret[j].value += sum.value;
			ret[j].enabled_ns += sum.enabled_ns;
			ret[j].running_ns += sum.running_ns;
		}
	}
	return 0;
}

uint32_t bpf_runs_cpus(const struct bpf_runs *runs)
{
	return runs->cpus;
}

void bpf_runs_close(struct bpf_runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->programs_n; i++) {
		struct watched *watched = &runs->programs[i];

		for (int part = 0; part < 2; part++) {
			close_if_open(watched->links[part]);
			close_if_open(watched->own[part]);
		}
		close_if_open(watched->rows);
		close_if_open(watched->program);
	}
	close_if_open(runs->counters);
	free(runs);
}
