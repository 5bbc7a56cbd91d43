// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/bpf.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/perf_event.h"
#include "sys/perf.h"
#include "sys/topology.h"
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

// What a kernel does not know of the union it refuses unless it is zero: each call gives the size up to the last field it uses.
static int call(enum bpf_cmd cmd, union bpf_attr *attr, size_t size)
{
	int result;

	do // a program's verification may be interrupted
		result = (int)syscall(SYS_bpf, cmd, attr, (unsigned)size);
	while (result < 0 && errno == EAGAIN && cmd == BPF_PROG_LOAD);
	return result < 0 ? -errno : result;
}

#define UP_TO(field) (offsetof(union bpf_attr, field) + sizeof(((union bpf_attr *)0)->field))

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static void raise_memlock(void)
{
	const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	setrlimit(RLIMIT_MEMLOCK, &all);
}

int bpf_map_new(enum bpf_map_type type, uint32_t key_size, uint32_t value_size, uint32_t max_entries)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_size;
	attr.value_size = value_size;
	attr.max_entries = max_entries;
	fd = call(BPF_MAP_CREATE, &attr, UP_TO(map_flags));
	if (fd == -EPERM) {
		raise_memlock();
		fd = call(BPF_MAP_CREATE, &attr, UP_TO(map_flags));
	}
	return fd;
}

static int element(enum bpf_cmd cmd, int map, const void *key, const void *value)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)map;
	attr.key = address(key);
	attr.value = address(value);
	return call(cmd, &attr, UP_TO(flags));
}

int bpf_map_get(int map, const void *key, void *value)
{
	return element(BPF_MAP_LOOKUP_ELEM, map, key, value);
}

int bpf_map_set(int map, const void *key, const void *value)
{
	return element(BPF_MAP_UPDATE_ELEM, map, key, value);
}

int bpf_map_remove(int map, const void *key)
{
	return element(BPF_MAP_DELETE_ELEM, map, key, NULL);
}

int bpf_map_next(int map, const void *key, void *ret_key)
{
	return element(BPF_MAP_GET_NEXT_KEY, map, key, ret_key);
}

// Kernels size per-CPU values by the possible processors.
int bpf_value_cpus(void)
{
	struct cpu_numbers possible = {0};
	int err = topology_cpus(&possible, "", "possible");
	int n = possible.v.n ? (int)vec_last(&possible.v) + 1 : -EINVAL;

	vec_done(&possible.v);
	return err < 0 ? err : n;
}

static int load(union bpf_attr *attr, size_t size, char **ret_log)
{
	enum { LOG_BYTES = 1 << 16 };
	int fd = call(BPF_PROG_LOAD, attr, size);

	if (fd == -EPERM) {
		raise_memlock();
		fd = call(BPF_PROG_LOAD, attr, size);
	}
	if (fd >= 0 || !ret_log)
		return fd;
	char *log = xcalloc(1, LOG_BYTES);

	attr->log_buf = address(log);
	attr->log_size = LOG_BYTES;
	attr->log_level = 1;
	call(BPF_PROG_LOAD, attr, size);
	if (!*log) {
		free(log);
		log = NULL;
	}
	*ret_log = log;
	return fd;
}

static void describe(union bpf_attr *attr, enum bpf_prog_type type, const struct bpf_insn *insns,
		     size_t n)
{
	memset(attr, 0, sizeof(*attr));
	attr->prog_type = type;
	attr->insns = address(insns);
	attr->insn_cnt = (uint32_t)n;
	attr->license = address("GPL");
}

int bpf_program_load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n, char **ret_log)
{
	union bpf_attr attr;

	describe(&attr, type, insns, n);
	return load(&attr, UP_TO(kern_version), ret_log);
}

int bpf_program_open(uint32_t id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id;
	return call(BPF_PROG_GET_FD_BY_ID, &attr, UP_TO(open_flags));
}

static int program_info(int program, struct bpf_prog_info *info)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)program;
	attr.info.info_len = sizeof(*info);
	attr.info.info = address(info);
	int err = call(BPF_OBJ_GET_INFO_BY_FD, &attr, UP_TO(info));

	return err < 0 ? err : (int)attr.info.info_len;
}

int bpf_program_function(int program, uint32_t *ret_type)
{
	struct bpf_func_info function = {0};
	struct bpf_prog_info info;
	int err;

	// One function is enough: the first one is the program itself.
	memset(&info, 0, sizeof(info));
	info.nr_func_info = 1;
	info.func_info_rec_size = sizeof(function);
	info.func_info = address(&function);
	err = program_info(program, &info);
	if (err < 0)
		return err;
	if (!info.btf_id || !info.nr_func_info || !function.type_id)
		return -ENODATA;
	*ret_type = function.type_id;
	return 0;
}

int bpf_tracing_load(const struct bpf_place *place, const struct bpf_insn *insns, size_t n,
		     char **ret_log)
{
	union bpf_attr attr;

	describe(&attr, BPF_PROG_TYPE_TRACING, insns, n);
	attr.expected_attach_type = place->type;
	attr.attach_prog_fd = (uint32_t)place->program;
	attr.attach_btf_id = place->function;
	return load(&attr, UP_TO(attach_prog_fd), ret_log);
}

int bpf_tracing_attach(int program)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.prog_fd = (uint32_t)program;
	return call(BPF_RAW_TRACEPOINT_OPEN, &attr, UP_TO(raw_tracepoint.prog_fd));
}

int bpf_tracepoint_attach(uint32_t id, int program)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.disabled = 1, // it only holds the program
	};
	const struct perf_open_at at = {.pid = -1, .cpu = MAX(sched_getcpu(), 0), .group_fd = -1};
	int perf = perf_open(&attr, &at), err;

	if (perf < 0)
		return fail(-perf, "can't open tracepoint %u to attach a BPF program: %s", id,
			    strerror(-perf));
	if (ioctl(perf, PERF_EVENT_IOC_SET_BPF, program) == 0)
		return perf;
	err = errno;
	close(perf);
	return fail(err, "can't attach a BPF program to tracepoint %u: %s", id, strerror(err));
}

int bpf_program_misses(int program, uint64_t *ret)
{
	struct bpf_prog_info info;
	int size;

	memset(&info, 0, sizeof(info));
	size = program_info(program, &info);
	if (size < 0)
		return size;
	if (size < (int)offsetof(struct bpf_prog_info, recursion_misses) + 8)
		return -EOPNOTSUPP;
	*ret = info.recursion_misses;
	return 0;
}
