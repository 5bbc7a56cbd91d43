// SPDX-License-Identifier: GPL-2.0-or-later
// Who asks, and what stands between that user and the kernel: capabilities, namespaces, seccomp, lockdown.
#include "base/alloc.h"
#include "base/file.h"
#include "base/num.h"
#include "cmd/doctor/doctor.h"
#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

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
		doctor_add(d, (struct check){"System", "kernel", CHECK_INFO}, "%s %s %s",
			   name.sysname, name.release, name.machine);
}

static void add_user(struct doctor *d, const char *status)
{
	char held[256] = "";
	size_t used = 0;

	num_parse_hex(status_field(status, "\nCapEff:"), &d->capabilities);
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		if (d->capabilities >> capabilities[i].number & 1)
			used += (size_t)snprintf(held + used, sizeof(held) - used, "%s%s",
						 used ? " " : "", capabilities[i].name);
	doctor_add(d, (struct check){"System", "user", CHECK_INFO}, "uid %u%s%s", (unsigned)geteuid(),
		   used ? " with " : " without capabilities for profiling", held);
}

// Namespaces that are not those in which the system started have other numbers than these: include/linux/proc_ns.h,
// include/uapi/linux/nsfs.h. Of those of mounts and networks the first ones have no fixed number.
static const struct {
	const char *name;
	uint32_t first;
} namespaces[] = {{"pid", 0xeffffffc},
		  {"uts", 0xeffffffe},
		  {"ipc", 0xefffffff},
		  {"cgroup", 0xeffffffb}};

static bool is_own_namespace(const struct doctor *d, size_t i)
{
	auto_free char *path = text_dup_fmt("%s/proc/self/ns/%s", d->root, namespaces[i].name);
	struct stat st;

	return stat(path, &st) == 0 && (uint32_t)st.st_ino != namespaces[i].first;
}

// By what it leaves in its file system, which also is there when a virtual machine was made of an image: it counts with
// namespaces alone.
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

static void add_container(struct doctor *d)
{
	const char *in = container(d);
	char names[64] = "";
	size_t used = 0, n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
		if (is_own_namespace(d, i))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 n++ ? ", " : "", namespaces[i].name);
	}
	if (!n)
		return;
	// Containers share one or the other with the host, but never all but one.
	if (in && n > 1)
		doctor_add(d, (struct check){"System", "container", CHECK_INFO}, "%s", in);
	else
		doctor_add(d, (struct check){"System", "namespaces", CHECK_INFO}, "own ones of %s",
			   names);
	if (is_own_namespace(d, 0))
		doctor_why(d, NULL,
			   "other programs of the host are seen only with the host's pid namespace (docker "
			   "run --pid=host) and with the capability CAP_PERFMON (--cap-add=PERFMON)");
}

// Who lends the processor; heap, NULL: nobody, or it isn't told.
static char *hypervisor(const struct doctor *d)
{
	auto_free char *vendor = NULL, *product = NULL;
#if defined(__x86_64__) || defined(__i386__)
	unsigned eax, words[3], features;

	if (!__get_cpuid(1, &eax, &words[0], &features, &words[1]) || !(features >> 31 & 1))
		return NULL;
	__cpuid(0x40000000, eax, words[0], words[1], words[2]);
	if (words[0])
		return text_dup_fmt("%.12s", (const char *)words);
#endif
	if (file_read_at(d->root, "/sys/class/dmi/id/sys_vendor", &vendor, NULL) < 0 ||
	    file_read_at(d->root, "/sys/class/dmi/id/product_name", &product, NULL) < 0 ||
	    !(strstr(vendor, "QEMU") || strstr(product, "KVM") || strstr(product, "Virtual")))
		return NULL;
	return text_dup_fmt("%.*s", STR_FMT(str_trim(str_of(vendor))));
}

static void add_hypervisor(struct doctor *d)
{
	static const struct {
		const char *signature, *name;
	} known[] = {{"KVMKVMKVM", "KVM"},	  {"TCGTCGTCGTCG", "QEMU, without KVM"},
		     {"Microsoft Hv", "Hyper-V"}, {"VMwareVMware", "VMware"},
		     {"XenVMMXenVMM", "Xen"},	  {"VBoxVBoxVBox", "VirtualBox"},
		     {"bhyve bhyve ", "bhyve"},	  {"ACRNACRNACRN", "ACRN"}};
	auto_free char *signature = hypervisor(d);
	const char *name = signature;

	if (!signature)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(known[i].signature, signature))
			name = known[i].name;
	}
	doctor_add(d, (struct check){"System", "virtual machine", CHECK_INFO}, "%s", name);
}

static bool in_user_namespace(const struct doctor *d)
{
	auto_free char *text = NULL;
	unsigned long long inside, outside, count;

	if (file_read_at(d->root, "/proc/self/uid_map", &text, NULL) < 0)
		return false;
	return sscanf(text, "%llu %llu %llu", &inside, &outside, &count) == 3 &&
	       !(inside == 0 && outside == 0 && count == UINT32_MAX);
}

static void add_confinement(struct doctor *d, const char *status)
{
	struct str seccomp = status_field(status, "\nSeccomp:");
	auto_free char *lockdown = NULL;

	if (d->in_user_namespace) {
		doctor_add(d, (struct check){"System", "user namespace", CHECK_LIMITED},
			   "uid 0 here is not root outside");
		doctor_why(d, NULL,
			   "capabilities of a user namespace count for nothing in "
			   "perf_event_open: the host's perf_event_paranoid decides");
	}
	if (seccomp.n && !str_is(seccomp, "0")) {
		doctor_add(d, (struct check){"System", "seccomp", CHECK_INFO}, "a filter is on");
		doctor_why(d, NULL,
			   "it may refuse perf_event_open and bpf; containers: docker run "
			   "--security-opt seccomp=unconfined, or a profile that allows both");
	}
	if (file_read_at(d->root, "/sys/kernel/security/lockdown", &lockdown, NULL) == 0) {
		char *open = strchr(lockdown, '['), *close = open ? strchr(open, ']') : NULL;
		if (!close)
			return;
		*close = 0;
		bool none = !strcmp(open + 1, "none");
		bool all = !strcmp(open + 1, "confidentiality");
		doctor_add(d,
			   (struct check){"System", "lockdown",
					  none	? CHECK_OK
					  : all ? CHECK_LIMITED
						: CHECK_INFO},
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

	if (file_read_at(d->root, "/proc/self/status", &status, NULL) < 0)
		status = NULL;
	d->in_user_namespace = in_user_namespace(d);
	d->paranoid = doctor_number(d, "/proc/sys/kernel/perf_event_paranoid", INT64_MIN);
	add_kernel(d);
	add_user(d, status);
	add_hypervisor(d);
	add_container(d);
	add_confinement(d, status);
}
