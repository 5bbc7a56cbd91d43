// SPDX-License-Identifier: GPL-2.0-or-later
// Tracepoints, dynamic probes, the function tracer, BPF.
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "base/perf_event.h"
#include "cmd/doctor/doctor.h"
#include "sys/tracefs.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/syscall.h>

#define SECTION "Tracing"
#define REMOUNT "sudo mount -o remount,mode=750,gid=$(id -g) /sys/kernel/tracing"

static void add_raw_tracepoint(struct doctor *d, const struct tracefs *tracefs)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
				       .size = PERF_ATTR_SIZE_VER0,
				       .sample_type = PERF_SAMPLE_RAW,
				       .sample_period = 1};
	uint64_t id = 0;
	int err = tracefs_read_id(tracefs, "sched", "sched_switch", &id);

	attr.config = id;
	if (err < 0) {
		doctor_add(d, (struct check){SECTION, "tracepoints", CHECK_MISSING}, "%s",
			   strerror(-err));
		doctor_why(d, REMOUNT, "the tracepoints' ids can't be read");
		return;
	}
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd >= 0) {
		close((int)fd);
		doctor_add(d, (struct check){SECTION, "tracepoints", CHECK_OK},
			   "sched:sched_switch opens with its data");
		return;
	}
	doctor_add(d, (struct check){SECTION, "tracepoints", CHECK_MISSING}, "%s", strerror(errno));
	doctor_why(d, "sudo sysctl kernel.perf_event_paranoid=-1",
		   "tracepoints with their data need perf_event_paranoid=-1 (it is %lld) or CAP_PERFMON",
		   (long long)d->paranoid);
}

static void add_file(struct doctor *d, const struct tracefs *tracefs, const char *name,
		     const char *file)
{
	auto_free char *path = text_dup_fmt("%s/%s", tracefs->path, file);

	if (access(path, W_OK) == 0) {
		doctor_add(d, (struct check){SECTION, name, CHECK_OK}, "can be defined");
		return;
	}
	bool absent = errno == ENOENT;
	doctor_add(d, (struct check){SECTION, name, CHECK_MISSING}, "%s", strerror(errno));
	if (absent)
		doctor_why(d, NULL, "the kernel has no %s (CONFIG_%s_EVENTS)", name,
			   text_starts(name, "kprobes") ? "KPROBE" : "UPROBE");
	else
		doctor_why(d, "sudo sonde probe ...",
			   "only root may define probes; what root "
			   "defined can be recorded");
}

static void add_function_tracer(struct doctor *d, const struct tracefs *tracefs)
{
	auto_free char *text = NULL;

	int err = tracefs_read(tracefs, "available_tracers", &text, NULL);
	bool function = err == 0 && strstr(text, "function");
	doctor_add(d, (struct check){SECTION, "function tracer", function ? CHECK_OK : CHECK_MISSING},
		   "%s",
		   err < 0    ? strerror(-err)
		   : function ? (strstr(text, "function_graph") ? "function, function_graph"
								: "function")
			      : "not built in");
	if (err < 0)
		doctor_why(d, "sudo sonde ftrace ...", "only root may use it");
	else if (!function)
		doctor_why(d, NULL, "the kernel was built without CONFIG_FUNCTION_TRACER");
}

static void add_bpf(struct doctor *d)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY,
			       .key_size = 4,
			       .value_size = 8,
			       .max_entries = 1};
	long fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));

	if (fd >= 0) {
		close((int)fd);
		int64_t closed = doctor_number(d, "/proc/sys/kernel/unprivileged_bpf_disabled", 0);
		bool privileged = doctor_capability(d, 39) || doctor_capability(d, 21);
		doctor_add(d, (struct check){SECTION, "BPF", privileged ? CHECK_OK : CHECK_LIMITED},
			   privileged ? "maps and programs" : "maps only");
		if (!privileged)
			doctor_why(d, "sudo setcap cap_bpf,cap_perfmon=ep \"$(command -v sonde)\"",
				   "tracing programs need CAP_BPF and CAP_PERFMON "
				   "(unprivileged_bpf_disabled=%lld)",
				   (long long)closed);
		return;
	}
	int err = errno;
	doctor_add(d, (struct check){SECTION, "BPF", CHECK_MISSING}, "%s", strerror(err));
	if (err == ENOSYS)
		doctor_why(d, NULL,
			   "the kernel was built without CONFIG_BPF_SYSCALL, or seccomp hides it; "
			   "sonde aggregates in user space instead");
	else
		doctor_why(d, "sudo setcap cap_bpf,cap_perfmon=ep \"$(command -v sonde)\"",
			   "bpf needs CAP_BPF; sonde aggregates in user space instead");
}

static void add_btf(struct doctor *d)
{
	auto_free char *path = text_dup_fmt("%s/sys/kernel/btf/vmlinux", d->root);
	bool there = access(path, R_OK) == 0;

	doctor_add(d, (struct check){SECTION, "BTF", there ? CHECK_OK : CHECK_MISSING},
		   there ? "types of the kernel" : "no /sys/kernel/btf/vmlinux");
	if (!there)
		doctor_why(d, NULL,
			   "the kernel was built without CONFIG_DEBUG_INFO_BTF: BPF programs can't "
			   "follow its structures");
}

void doctor_tracing(struct doctor *d)
{
	struct tracefs *tracefs;
	int err = tracefs_enter(&tracefs, d->root);

	if (err < 0) {
		doctor_add(d, (struct check){SECTION, "tracefs", CHECK_MISSING}, "%s",
			   strerror(-err));
		doctor_why(d,
			   err == -EACCES ? REMOUNT
					  : "sudo mount -t tracefs tracefs /sys/kernel/tracing",
			   err == -EACCES ? "this user may not read it, so there are no tracepoints"
					  : "it is not mounted, so there are no tracepoints");
	} else {
		doctor_add(d, (struct check){SECTION, "tracefs", CHECK_OK}, "%s",
			   tracefs->fd >= 0 ? "mounted privately while sonde runs" : tracefs->path);
		add_raw_tracepoint(d, tracefs);
		add_file(d, tracefs, "kprobes", "kprobe_events");
		add_file(d, tracefs, "uprobes", "uprobe_events");
		add_function_tracer(d, tracefs);
		tracefs_leave(tracefs);
	}
	add_bpf(d);
	add_btf(d);
}
