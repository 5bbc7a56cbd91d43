// SPDX-License-Identifier: GPL-2.0-or-later
// Who asks, and what stands between that user and the kernel: capabilities, namespaces, seccomp, lockdown.
#include "base/alloc.h"
#include "base/file.h"
#include "base/num.h"
#include "cmd/doctor/doctor.h"
#include <stdio.h>
#include <sys/utsname.h>

// include/uapi/linux/capability.h
static const struct {
	unsigned number;
	const char *name;
} capabilities[] = {
	{38, "CAP_PERFMON"},	{39, "CAP_BPF"},    {21, "CAP_SYS_ADMIN"},
	{19, "CAP_SYS_PTRACE"}, {34, "CAP_SYSLOG"}, {14, "CAP_IPC_LOCK"},
};

static struct str status_field(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	if (!at)
		return (struct str){0};
	at += strlen(key);
	return str_trim((struct str){at, strcspn(at, "\n")});
}

static void add_kernel(struct doctor *d)
{
	struct utsname name;

	if (uname(&name) == 0)
		doctor_add(d, "System", "kernel", CHECK_INFO, "%s %s %s", name.sysname,
			   name.release, name.machine);
}

static void add_user(struct doctor *d, const char *status)
{
	char held[256] = "";
	size_t used = 0;

	num_parse_hex(status_field(status, "\nCapEff:"), &d->capabilities);
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		if (doctor_capability(d, capabilities[i].number))
			used += (size_t)snprintf(held + used, sizeof(held) - used, "%s%s",
						 used ? " " : "", capabilities[i].name);
	doctor_add(d, "System", "user", CHECK_INFO, "uid %u%s%s", (unsigned)geteuid(),
		   used ? " with " : " without capabilities for profiling", held);
}

static const char *container(const struct doctor *d)
{
	static const struct {
		const char *path, *name;
	} marks[] = {
		{"/.dockerenv", "Docker"},
		{"/run/.containerenv", "Podman"},
		{"/run/systemd/container", "systemd-nspawn or LXC"},
		{"/var/run/secrets/kubernetes.io", "Kubernetes"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		auto_free char *path = text_dup_fmt("%s%s", d->root, marks[i].path);
		if (access(path, F_OK) == 0)
			return marks[i].name;
	}
	return NULL;
}

static bool in_user_namespace(const struct doctor *d)
{
	auto_free char *text = NULL;
	unsigned long long inside, outside, count;

	if (file_read_at(d->root, "/proc/self/uid_map", 4096, &text, NULL) < 0)
		return false;
	return sscanf(text, "%llu %llu %llu", &inside, &outside, &count) == 3 &&
	       !(inside == 0 && outside == 0 && count == UINT32_MAX);
}

static void add_confinement(struct doctor *d, const char *status)
{
	struct str seccomp = status_field(status, "\nSeccomp:");
	const char *in = container(d);
	auto_free char *lockdown = NULL;

	if (in) {
		doctor_add(d, "System", "container", CHECK_INFO, "%s", in);
		doctor_why(d, NULL,
			   "other programs of the host are seen only with the host's pid namespace (docker "
			   "run --pid=host) and with the capability CAP_PERFMON (--cap-add=PERFMON)");
	}
	if (in_user_namespace(d)) {
		doctor_add(d, "System", "user namespace", CHECK_LIMITED,
			   "uid 0 here is not root outside");
		doctor_why(d, NULL,
			   "capabilities of a user namespace count for nothing in "
			   "perf_event_open: the host's perf_event_paranoid decides");
	}
	if (seccomp.n && !str_is(seccomp, "0")) {
		doctor_add(d, "System", "seccomp", CHECK_INFO, "a filter is on");
		doctor_why(d, NULL,
			   "it may refuse perf_event_open and bpf; containers: docker run "
			   "--security-opt seccomp=unconfined, or a profile that allows both");
	}
	if (file_read_at(d->root, "/sys/kernel/security/lockdown", 4096, &lockdown, NULL) == 0) {
		char *open = strchr(lockdown, '['), *close = open ? strchr(open, ']') : NULL;
		if (!close)
			return;
		*close = 0;
		bool none = !strcmp(open + 1, "none");
		bool all = !strcmp(open + 1, "confidentiality");
		doctor_add(d, "System", "lockdown",
			   none	 ? CHECK_OK
			   : all ? CHECK_LIMITED
				 : CHECK_INFO,
			   "%s", open + 1);
		if (all)
			doctor_why(d, NULL,
				   "confidentiality lockdown forbids kernel samples, tracefs, kprobes and "
				   "BPF; it can only be lifted at boot (without lockdown=confidentiality)");
	}
}

void doctor_user(struct doctor *d)
{
	auto_free char *status = NULL;

	if (file_read_at(d->root, "/proc/self/status", 1 << 16, &status, NULL) < 0)
		status = NULL;
	d->is_root = geteuid() == 0;
	d->paranoid = doctor_number(d, "/proc/sys/kernel/perf_event_paranoid", INT64_MIN);
	add_kernel(d);
	add_user(d, status);
	add_confinement(d, status);
}
