// SPDX-License-Identifier: GPL-2.0-or-later
// Probes of functions belong to their perf event (no name, no trace), where it isn't inherited: the kernel reads such an
// event's texts again in each task that a watched one starts, so fork would fail there. What is inherited, static probes with
// arguments (which need names for them), and those of record and stat (a recording needs their format) are dynamic events in a
// group sonde_PID (event/core/dynamic), removed at the end; the next process that makes some removes what a killed one left.
// event/core/probe finds what such a spec names, event_parse takes it (event/probe), and event_dynamic_make makes the events
// once signals wait, so that an option that fails later leaves nothing.
#include "event/core/dynamic.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/num.h"
#include "base/out.h"
#include "obj/sdt.h"
#include "sys/probe_line.h"
#include "sys/tracefs.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum {
	NAME_MAX_ = 64, // MAX_EVENT_NAME_LEN, kernel/trace/trace_probe.h
	ARGUMENT_MAX = 96,
};

#define GROUP "sonde_"

static const char *const events_files[] = {"uprobe_events", "kprobe_events"};

static const char *events_file(bool is_kernel)
{
	return events_files[is_kernel];
}

// "p:sonde_12/name ..." of a process that is no more. What others use stays: the kernel says EBUSY.
static void sweep(const struct tracefs *tracefs, bool is_uprobe)
{
	const char *file = events_file(!is_uprobe);
	auto_free char *text = NULL;
	struct str rest;
	uint64_t pid;
	size_t n;

	if (tracefs_read(tracefs, file, &text, &n) < 0)
		return;
	for (rest = (struct str){text, n}; rest.p;) {
		struct probe_line probe;
		struct str owner;

		if (!probe_line_parse(str_cut(&rest, '\n'), is_uprobe, &probe) ||
		    !str_starts(probe.group, GROUP))
			continue;
		owner = (struct str){probe.group.p + strlen(GROUP), probe.group.n - strlen(GROUP)};
		if (num_parse_u64(owner, &pid) < 0 || pid > INT32_MAX || !pid ||
		    kill((pid_t)pid, 0) == 0 || errno != ESRCH)
			continue;
		auto_free char *removal =
			text_dup_fmt("-:%.*s/%.*s", STR_FMT(probe.group), STR_FMT(probe.event));
		tracefs_append(tracefs, file, removal);
	}
}

static int only_root(void)
{
	return fail(EACCES,
		    "only root may make probes (tracefs can't be written by this user); try: sudo");
}

static int enter(struct event_dynamic *dynamic)
{
	int err;

	if (dynamic->tracefs)
		return 0;
	err = tracefs_enter(&dynamic->tracefs, NULL);
	if (err < 0)
		return err == -EACCES ? only_root() : err;
	snprintf(dynamic->group, sizeof(dynamic->group), GROUP "%d", (int)getpid());
	for (size_t i = 0; i < ARRAY_SIZE(events_files); i++)
		sweep(dynamic->tracefs, !i);
	return 0;
}

static bool put_constant(struct str argument, char *ret, size_t size)
{
	struct str operand = argument, width = str_cut(&operand, '@');
	int64_t bytes, value;

	if (!operand.p || operand.n < 2 || *operand.p != '$' || num_parse_i64(width, &bytes) < 0 ||
	    num_parse_i64((struct str){operand.p + 1, operand.n - 1}, &value) < 0)
		return false;
	if (bytes < 0 ? (bytes != -1 && bytes != -2 && bytes != -4 && bytes != -8)
		      : (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
		return false;
	snprintf(ret, size, "\\%lld:%c%d", (long long)value, bytes < 0 ? 's' : 'u',
		 (int)(bytes < 0 ? -bytes : bytes) * 8);
	return true;
}

void event_dynamic_fetch(struct out *out, uint16_t machine, const char *arguments, unsigned *ret_left)
{
	struct str rest = str_of(arguments);
	char text[ARGUMENT_MAX];
	unsigned i = 0, left = 0;

	while (rest.p) {
		// arm64's operands have blanks within brackets
		struct str argument = rest;
		bool inside = false;
		size_t n = 0;

		for (; n < rest.n && (inside || rest.p[n] != ' '); n++)
			inside = rest.p[n] == '[' || (inside && rest.p[n] != ']');
		argument.n = n;
		rest = n < rest.n ? (struct str){rest.p + n + 1, rest.n - n - 1}
				  : (struct str){NULL, 0};
		if (!argument.n)
			continue;
		i++;
		if (sdt_argument(machine, argument, text, sizeof(text)) ||
		    put_constant(argument, text, sizeof(text)))
			out_printf(out, " arg%u=%s", i, text);
		else
			left++;
	}
	*ret_left = left;
}

// A name that tracefs takes: "p3_FUNCTION", "p3_PROVIDER_NAME", unique in the group.
static char *name_for(const struct event_dynamic *dynamic, const struct event_probe *probe)
{
	char *name = text_dup_fmt("p%zu_%s", dynamic->events.n, strchr(probe->name, ':') + 1);

	for (char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c))
			*c = '_';
	}
	if (strlen(name) >= NAME_MAX_)
		name[NAME_MAX_ - 1] = '\0';
	return name;
}

// A blank would end the path; through a descriptor it has none. The kernel follows it while it takes the definition.
static char *path_of(const char *given, int *ret_fd)
{
	auto_free char *absolute = realpath(given, NULL);
	const char *path = absolute ? absolute : given;

	*ret_fd = -1;
	if (!strpbrk(path, " \t\n"))
		return xstrdup(path);
	*ret_fd = open(path, O_RDONLY | O_CLOEXEC);
	return text_dup_fmt("/proc/%d/fd/%d", (int)getpid(), *ret_fd);
}

// All but the name and the path: "0x1234(0x4000) arg1=%di:s32", "function+4".
static char *place_of(const struct event_probe *probe)
{
	const char *function = (const char *)(uintptr_t)probe->attr.kprobe_func;
	unsigned long long at = probe->attr.probe_offset, counter = probe->counter;
	const char *fetch = probe->fetch ? probe->fetch : "";

	if (probe->in_kernel)
		return at ? text_dup_fmt("%s+%llu", function, at) : xstrdup(function);
	return counter ? text_dup_fmt("0x%llx(0x%llx)%s", at, counter, fetch)
		       : text_dup_fmt("0x%llx%s", at, fetch);
}

int event_probe_define(const struct tracefs *tracefs, const struct event_probe *probe,
		       const char *group, const char *name)
{
	auto_free char *place = place_of(probe), *path = NULL, *line = NULL;
	char kind = probe->at_return ? 'r' : 'p';
	auto_close int fd = -1;
	int err;

	if (!probe->in_kernel)
		path = path_of((const char *)(uintptr_t)probe->attr.uprobe_path, &fd);
	line = text_dup_fmt("%c:%s/%s %s%s%s", kind, group, name, path ? path : "", path ? ":" : "",
			    place);
	err = tracefs_append(tracefs, events_file(probe->in_kernel), line);
	if (err == -EACCES || err == -EPERM)
		return only_root();
	return err < 0 ? fail(-err, "the kernel doesn't take '%s': %s", line, strerror(-err)) : 0;
}

static int add(struct event_dynamic *dynamic, const struct event_probe *probe, const char *what)
{
	struct event_made made = {.name = name_for(dynamic, probe), .in_kernel = probe->in_kernel};
	int err = event_probe_define(dynamic->tracefs, probe, dynamic->group, made.name);

	if (err < 0) {
		free(made.name);
		return err;
	}
	made.what = xstrdup(what);
	err = tracefs_read_id(dynamic->tracefs, dynamic->group, made.name, &made.id);
	vec_push(&dynamic->events, made);
	return err < 0 ? fail(-err, "can't read the id of %s/%s: %s", dynamic->group, made.name,
			      strerror(-err))
		       : 0;
}

int event_dynamic_add(struct event_dynamic *dynamic, const struct event_probe *probe,
		      const struct event_made **ret)
{
	const char *path = probe->in_kernel ? "" : (const char *)(uintptr_t)probe->attr.uprobe_path;
	auto_free char *place = place_of(probe);
	auto_free char *what =
		text_dup_fmt("%s %d %s", path, probe->in_kernel * 2 + probe->at_return, place);
	int err = enter(dynamic);

	if (err < 0)
		return err;
	vec_each(const struct event_made, made, &dynamic->events) {
		if (made->id && !strcmp(made->what, what)) {
			*ret = made;
			return 0;
		}
	}
	err = add(dynamic, probe, what);
	if (!err)
		*ret = &vec_last(&dynamic->events);
	return err;
}

int event_dynamic_make(struct event_dynamic *dynamic, struct event_specs *specs)
{
	int err = 0;

	for (size_t i = 0; i < specs->events.n && !err; i++) {
		struct event_spec *spec = &specs->events.v[i];
		const struct event_made *made;

		if (!spec->probe)
			continue;
		err = event_dynamic_add(dynamic, spec->probe, &made);
		if (err < 0)
			return fail_context(err, "%s can't be watched", spec->name);
		spec->attr.config = made->id;
		spec->tp_system = event_text(specs, str_of(dynamic->group));
		spec->tp_name = event_text(specs, str_of(made->name));
	}
	return err;
}

void event_dynamic_done(struct event_dynamic *dynamic)
{
	vec_each(const struct event_made, event, &dynamic->events) {
		auto_free char *line = text_dup_fmt("-:%s/%s", dynamic->group, event->name);
		int err = tracefs_append(dynamic->tracefs, events_file(event->in_kernel), line);

		if (err < 0)
			warn("%s/%s can't be removed: %s; try: sonde probe -d '%s:*'",
			     dynamic->group, event->name, strerror(-err), dynamic->group);
		free(event->name);
		free(event->what);
	}
	vec_done(&dynamic->events);
	tracefs_leave(dynamic->tracefs);
	dynamic->tracefs = NULL;
}
