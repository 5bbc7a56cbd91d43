// SPDX-License-Identifier: GPL-2.0-or-later
// What turns addresses into names.
#include "base/alloc.h"
#include "base/file.h"
#include "cmd/doctor/doctor.h"
#include <fcntl.h>
#include <stdlib.h>

#define SECTION "Symbols"

static void add_kallsyms(struct doctor *d)
{
	int64_t restricted = doctor_number(d, "/proc/sys/kernel/kptr_restrict", -1);
	auto_free char *path = text_dup_fmt("%s/proc/kallsyms", d->root);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);
	bool hidden = true;

	if (fd >= 0)
		close(fd);
	head[n > 0 ? n : 0] = 0;
	// The first symbols of x86 are at 0 when nothing is hidden, too (per-CPU ones): look at all of them.
	for (char *line = head; line && *line && hidden; line = strchr(line, '\n')) {
		line += *line == '\n';
		hidden = strtoull(line, NULL, 16) == 0;
	}
	if (n > 0 && !hidden) {
		doctor_add(d, (struct check){SECTION, "kernel symbols", CHECK_OK},
			   "/proc/kallsyms (kptr_restrict %lld)", (long long)restricted);
		return;
	}
	doctor_add(d, (struct check){SECTION, "kernel symbols", CHECK_MISSING},
		   n > 0 ? "addresses are hidden (kptr_restrict %lld)"
			 : "/proc/kallsyms can't be read (kptr_restrict %lld)",
		   (long long)restricted);
	doctor_why(d,
		   restricted > 0 ? "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"
				  : "sudo sysctl kernel.perf_event_paranoid=1",
		   "kernel functions are shown as addresses");
}

static void add_debuginfod(struct doctor *d)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (urls && *urls) {
		doctor_add(d, (struct check){SECTION, "debuginfod", CHECK_OK}, "%s", urls);
		return;
	}
	doctor_add(d, (struct check){SECTION, "debuginfod", CHECK_INFO},
		   "DEBUGINFOD_URLS is not set");
	doctor_why(d, "export DEBUGINFOD_URLS=https://debuginfod.debian.net",
		   "debug information that isn't installed can't be fetched");
}

static void add_debug_files(struct doctor *d)
{
	auto_free char *path = text_dup_fmt("%s/usr/lib/debug/.build-id", d->root);
	bool there = access(path, R_OK | X_OK) == 0;

	doctor_add(d, (struct check){SECTION, "installed debug files", there ? CHECK_OK : CHECK_INFO},
		   there ? "/usr/lib/debug" : "none in /usr/lib/debug");
	if (!there)
		doctor_why(d, "sudo apt-get install libc6-dbg",
			   "lines and static functions of stripped programs stay unknown (each package "
			   "has a -dbgsym of its own)");
}

void doctor_symbols(struct doctor *d)
{
	add_kallsyms(d);
	add_debuginfod(d);
	add_debug_files(d);
}
