// SPDX-License-Identifier: GPL-2.0-or-later
// Static probes of programs: which there are, and events of them that stay, under their own names.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "cmd/core/rows.h"
#include "probe/store.h"
#include "event/core/dynamic.h"
#include "obj/sdt.h"
#include "sys/tracefs.h"
#include <ctype.h>
#include <stdio.h>

enum { MAPS_MAX = 64 << 20 };

struct options {
	const char *exec;
	uint32_t pid;
	bool dry_run, quiet;
	int verbose;
};

#define AT(field) offsetof(struct options, field)

static const struct opt opts[] = {
	OPT(OPT_TEXT, 'x', "exec", AT(exec), "FILE",
	    "The program or library, where the words don't name one."),
	OPT(OPT_U32, 'p', "pid", AT(pid), "PID",
	    "With list: of all files that this process has mapped, in a container, too.",
	    .least = OPT_ABOVE_ZERO),
	OPT(OPT_FLAG, 'n', "dry-run", AT(dry_run), NULL, "Change nothing, only say it."),
	OPT(OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "Say nothing but errors."),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "Tell more."),
	OPT_END,
};

static const struct command_example examples[] = {
	{.line = "sonde usdt list /usr/lib/x86_64-linux-gnu/libc.so.6",
	 .shows = "which static probes a library has, with their places and arguments",
	 .test = "sonde usdt list \"$(command -v sonde)\""},
	{.line = "sonde usdt add libstdcxx:throw@/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	 .shows = "an event libstdcxx:throw, which stays; sonde prof trace -e libstdcxx:throw shows it",
	 .test = "test -w /sys/kernel/tracing/uprobe_events || { echo no uprobes here; exit 77; }; sonde usdt list "
		 "/usr/lib/x86_64-linux-gnu/libstdc++.so.6 | grep -q libstdcxx:throw || { echo it has no such probe; exit 77; }; "
		 "sonde usdt add libstdcxx:throw@/usr/lib/x86_64-linux-gnu/libstdc++.so.6"},
	{.line = "sonde usdt del libstdcxx:throw",
	 .shows = "takes it away",
	 .test = "sonde probe -l | grep -q libstdcxx:throw || { echo it is not there; exit 77; }; sonde usdt del libstdcxx:throw"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_usdt = {
	.name = "usdt",
	.summary = "List the static probes of programs, make events of them",
	.usage = "sonde usdt list [-p PID | FILE...]\n"
		 "sonde usdt add [options] PROVIDER:NAME@FILE...\n"
		 "sonde usdt del [options] PROVIDER:NAME[@FILE]...",
	.description =
		"Static probes (USDT, SDT) are places in a program that its authors have marked, with arguments. list shows "
		"them, one place a line: the name as add takes it, the place in the file, the arguments.\n\n"
		"add makes an event of a probe, with the probe's own name and its arguments as fields arg1, arg2, ...; it stays "
		"until del removes it or the machine ends, and is an event like others for prof, record, stat and script. "
		"Without add, -e usdt:PROVIDER:NAME@\"FILE\" makes one that lasts as long as the run. In names, * and ? stand for "
		"others with del.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_LIVE,
	.run = run,
};

// ---- list

// Control characters of names are escaped on a terminal.
static void put_note(struct out *out, const struct sdt_note *note, const char *path)
{
	struct out line;

	out_init_memory(&line);
	out_printf(&line, "%s:%s@%s 0x%llx", note->provider, note->name, path,
		   (unsigned long long)note->location);
	if (note->semaphore)
		out_printf(&line, "(0x%llx)", (unsigned long long)note->semaphore);
	if (*note->arguments)
		out_printf(&line, " %s", note->arguments);
	out_char(&line, '\0');
	out_safe_lines(out, &line);
	out_done(&line);
}

// How many; -errno with a sentence. `path` is shown for `real`.
static int list_file(const char *real, const char *path, struct out *out)
{
	struct mapped file;
	struct elf elf;
	struct sdt_notes notes;
	struct sdt_note note;
	int n = 0, err = file_map_plain(&file, real);

	if (err)
		return err;
	if (elf_init(&elf, file.p, file.n) < 0)
		err = fail(EINVAL, "%s is no ELF file: it has no static probes", path);
	else if (sdt_notes_init(&notes, &elf))
		for (; sdt_notes_next(&notes, &note); n++)
			put_note(out, &note, path);
	file_unmap(&file);
	return err ? err : n;
}

// "00400000-00452000 r-xp 00000000 08:02 173521 /usr/bin/x"
static struct str mapped_path(struct str line)
{
	struct str mode = {0};

	for (int i = 0; i < 5; i++) {
		struct str word = str_cut(&line, ' ');

		if (i == 1)
			mode = word;
	}
	line = str_trim(line);
	return line.p && line.n && *line.p == '/' && memchr(mode.p, 'x', mode.n)
		       ? line
		       : (struct str){NULL, 0};
}

static int list_process(uint32_t pid, struct out *out)
{
	auto_free char *maps = text_dup_fmt("/proc/%u/maps", pid), *text = NULL;
	struct str rest, before = {0};
	int n = 0, err;
	size_t size;

	err = file_read(maps, MAPS_MAX, &text, &size);
	if (err < 0)
		return fail(-err, "can't read %s: %s", maps, strerror(-err));
	for (rest = (struct str){text, size}; rest.p;) {
		struct str path = mapped_path(str_cut(&rest, '\n'));

		if (!path.n || (path.n == before.n && !memcmp(path.p, before.p, path.n)))
			continue;
		before = path;
		auto_free char *shown = text_dup_fmt("/proc/%u/root%.*s", pid, STR_FMT(path));
		auto_free char *plain = str_dup(path);
		struct stat here, there;
		// As it is called here, where that is the same file.
		bool same = stat(plain, &here) == 0 && stat(shown, &there) == 0 &&
			    here.st_ino == there.st_ino && here.st_dev == there.st_dev;
		int found = list_file(shown, same ? plain : shown, out);

		if (found < 0) {
			warn("%s", err_sentence());
			err_clear();
		}
		n += MAX(found, 0);
	}
	return n;
}

static int list(const struct options *o, int n, char **files)
{
	struct out out;
	int found = 0, one = 0, closed;

	if (!n && !o->exec && !o->pid)
		return fail(COMMAND_USAGE, "of which program? sonde usdt list FILE, or -p PID; "
					   "'sonde list sdt' shows those of the build-id cache");
	out_init_fd(&out, 1);
	if (o->pid)
		found = list_process(o->pid, &out);
	if (found >= 0 && o->exec) {
		one = list_file(o->exec, o->exec, &out);
		found = one < 0 ? one : found + one;
	}
	for (int i = 0; i < n && found >= 0; i++) {
		one = list_file(files[i], files[i], &out);
		found = one < 0 ? one : found + one;
	}
	closed = out_close(&out, "standard output");
	if (!found)
		warn("there are no static probes");
	return found < 0 ? found : closed;
}

// ---- add, del

struct wanted {
	char *provider, *name, *file; // file NULL: not given
};

static void wanted_done(struct wanted *wanted)
{
	free(wanted->provider);
	free(wanted->name);
	free(wanted->file);
}

static int read_wanted(const struct options *o, const char *text, struct wanted *ret)
{
	struct str file = str_of(text), name, provider;

	if (text_starts(text, "usdt:"))
		file = (struct str){text + 5, file.n - 5};
	name = str_cut(&file, '@');
	provider = str_cut(&name, ':');
	if (!provider.n || !name.n)
		return fail(COMMAND_USAGE,
			    "'%s' is no static probe: it is written PROVIDER:NAME@FILE", text);
	if (file.n >= 2 && file.p[0] == '"' && file.p[file.n - 1] == '"')
		file = (struct str){file.p + 1, file.n - 2};
	*ret = (struct wanted){str_dup(provider), str_dup(name),
			       file.n	 ? str_dup(file)
			       : o->exec ? xstrdup(o->exec)
					 : NULL};
	return 0;
}

struct work {
	const struct options *o;
	struct probe_store store;
	struct arena arena;
	struct out out;
};

static void say_added(struct work *work, const char *group, const char *event, size_t places)
{
	if (work->o->quiet)
		return;
	out_printf(&work->out, "%s %s:%s", work->o->dry_run ? "Would add" : "Added", group, event);
	if (places > 1)
		out_printf(&work->out, " (%zu places)", places);
	out_char(&work->out, '\n');
}

// All places are one event; where their fields differ, or the kernel is old, those behind get a number.
static int add_places(struct work *work, const struct event_probe *probes, size_t n)
{
	const char *text = strchr(probes->name, ':') + 1, *colon = strchr(text, ':');
	const char *group =
		probe_clean_name(&work->arena, (struct str){text, (size_t)(colon - text)});
	const char *base = probe_clean_name(&work->arena, str_of(colon + 1)), *event = base;
	size_t places = 0;
	unsigned number = 0;

	if (probe_store_find(&work->store, group, base))
		return fail(EEXIST,
			    "there is an event %s:%s already; remove it with: sonde usdt del %s:%s",
			    group, base, group, base);
	for (size_t i = 0; i < n; i++) {
		int err = work->o->dry_run
				  ? 0
				  : event_probe_define(work->store.tracefs, &probes[i], group, event);

		if (err < 0 && places) {
			err_clear();
			say_added(work, group, event, places);
			event = arena_fmt(&work->arena, "%s_%u", base, ++number);
			places = 0;
			err = event_probe_define(work->store.tracefs, &probes[i], group, event);
		}
		if (err < 0)
			return i ? fail_context(err, "only %zu of the %zu places are added", i, n)
				 : err;
		places++;
	}
	say_added(work, group, event, places);
	if (number)
		inform("their arguments differ: -e '%s:%s*' means all", group, base);
	return 0;
}

static int add(struct work *work, const struct wanted *wanted)
{
	auto_free char *text = NULL;
	struct event_probe *probes;
	size_t n;
	int err;

	if (!wanted->file)
		return fail(COMMAND_USAGE, "%s:%s: in which file? sonde usdt add %s:%s@FILE",
			    wanted->provider, wanted->name, wanted->provider, wanted->name);
	text = text_dup_fmt("usdt:%s:%s@\"%s\"", wanted->provider, wanted->name, wanted->file);
	err = event_probe_find(&work->arena, text, &probes, &n);
	if (err == -ENOENT && *wanted->file != '/') {
		auto_free char *root = text_dup_fmt("/%s", wanted->file);

		if (access(wanted->file, F_OK) < 0 && access(root, F_OK) == 0)
			return fail(ENOENT, "there is no %s here; is %s meant?", wanted->file, root);
	}
	return err < 0 ? err : add_places(work, probes, n);
}

// NAME, or NAME_2 of the same
static bool is_name(struct str event, const char *wanted)
{
	auto_free char *text = str_dup(event);
	char *end = strrchr(text, '_');

	if (text_glob(text, wanted))
		return true;
	if (!end || !end[1] || end[1 + strspn(end + 1, "0123456789")])
		return false;
	*end = '\0';
	return text_glob(text, wanted);
}

static bool is_meant(const struct probe_stored *stored, const struct wanted *wanted)
{
	auto_free char *group = str_dup(stored->is.group), *path = str_dup(stored->is.path);
	struct stat a, b;

	if (!stored->is.is_uprobe || stored->is.is_return || !text_glob(group, wanted->provider) ||
	    !is_name(stored->is.event, wanted->name))
		return false;
	return !wanted->file || (stat(wanted->file, &a) == 0 && stat(path, &b) == 0 &&
				 a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

static int del(struct work *work, const struct wanted *wanted)
{
	const struct probe_stored *last = NULL;
	size_t n = 0;

	vec_each(const struct probe_stored, stored, &work->store.v) {
		// One with several places goes at once.
		bool again = last && last->is.event.n == stored->is.event.n &&
			     !memcmp(last->is.event.p, stored->is.event.p, last->is.event.n) &&
			     last->is.group.n == stored->is.group.n &&
			     !memcmp(last->is.group.p, stored->is.group.p, last->is.group.n);

		if (again || !is_meant(stored, wanted))
			continue;
		int err = work->o->dry_run ? 0 : probe_store_remove(&work->store, stored);

		if (err < 0)
			return err;
		last = stored;
		n++;
		if (!work->o->quiet)
			out_printf(&work->out, "%s %.*s:%.*s\n",
				   work->o->dry_run ? "Would remove" : "Removed",
				   STR_FMT(stored->is.group), STR_FMT(stored->is.event));
	}
	return n ? 0
		 : fail(ENOENT,
			"there is no event of a static probe %s:%s%s%s; sonde probe -l lists them",
			wanted->provider, wanted->name, wanted->file ? " in " : "",
			wanted->file ? wanted->file : "");
}

static int change(const struct options *o, int (*each)(struct work *, const struct wanted *),
		  char **words)
{
	struct work work = {.o = o};
	int err, closed;

	if (!*words)
		return fail(COMMAND_USAGE,
			    "which static probe? PROVIDER:NAME@FILE; 'sonde usdt list FILE' "
			    "shows those that a file has");
	err = probe_store_open(&work.store);
	if (err < 0)
		return err;
	probe_store_sort_by_name(&work.store);
	out_init_fd(&work.out, 1);
	for (; *words && !err; words++) {
		struct wanted wanted = {0};

		err = read_wanted(o, *words, &wanted);
		if (!err)
			err = each(&work, &wanted);
		wanted_done(&wanted);
	}
	closed = out_close(&work.out, "standard output");
	probe_store_done(&work.store);
	arena_done(&work.arena);
	return err ? err : closed;
}

static int run(int argc, char **argv)
{
	struct options o = {0};
	int n = command_parse(&command_usdt, &o, argv, 0);

	if (n < 0)
		return n;
	argv[n + 1] = NULL;
	log_set_level(o.quiet ? LOG_QUIET : o.verbose);
	if (n && !strcmp(argv[1], "list"))
		return list(&o, n - 1, argv + 2);
	if (o.pid)
		return fail(COMMAND_USAGE, "-p is for 'sonde usdt list'");
	if (n && !strcmp(argv[1], "add"))
		return change(&o, add, argv + 2);
	if (n && !strcmp(argv[1], "del"))
		return change(&o, del, argv + 2);
	return fail(COMMAND_USAGE, "what is to be done? list, add or del; -h tells more");
}
