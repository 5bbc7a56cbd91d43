// SPDX-License-Identifier: GPL-2.0-or-later
// Adds, removes and shows dynamic tracepoints of the kernel and of programs.
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "cmd/core/rows.h"
#include "cmd/probe/show.h"

// Each of these is an action of its own.
struct options {
	struct probe_options common;
	struct probe_show show;
	struct opt_list add, remove, definitions;
	const char *list, *lines, *variables, *functions;
	int verbose;
	bool demangle, force, cache, bootconfig;
};

#define AT(field) offsetof(struct options, field)
static const char any[] = "";

static const struct opt opts[] = {
	HEADING("What to do"),
	OPT(OPT_LIST, 'a', "add", AT(add), "PROBE",
	    "Add a probe. May be repeated. Words that are no options are one, too."),
	OPT(OPT_LIST, 'd', "del", AT(remove), "[GROUP:]EVENT",
	    "Remove the probes of that name; * and ? stand for others. May be repeated."),
	OPT(OPT_TEXT, 'l', "list", AT(list), "[GROUP:]EVENT",
	    "List the probes that there are, or those of that name.", .absent = any,
	    .next_word = true),
	OPT(OPT_TEXT, 'L', "line", AT(lines), "FUNC[@SRC][:LINES]|SRC[:LINES]",
	    "Show the source, with numbers at the lines that can be probed. LINES is A, A-B or A+COUNT."),
	OPT(OPT_TEXT, 'V', "vars", AT(variables), "PLACE",
	    "Show the variables that can be fetched there."),
	OPT(OPT_TEXT, 'F', "funcs", AT(functions), "FILTER",
	    "Show the functions that can be probed. Without FILTER those whose names don't begin with _.",
	    .absent = any, .next_word = true),
	OPT(OPT_LIST, 'D', "definition", AT(definitions), "PROBE",
	    "Only print what -a would write to uprobe_events or kprobe_events."),
	HEADING("Where"),
	OPT(OPT_TEXT, 'x', "exec", AT(common.exec), "FILE", "In this program or library."),
	OPT(OPT_TEXT, 'm', "module", AT(common.module), "NAME|PATH", "In this module of the kernel."),
	OPT(OPT_TEXT, 'k', "vmlinux", AT(common.vmlinux), "FILE",
	    "The kernel's file with debug information."),
	OPT(OPT_TEXT, 's', "source", AT(common.source), "FOLDER", "Where the source is."),
	OPT(OPT_TEXT, 0, "symfs", AT(common.symfs), "FOLDER", "Look for files below this folder."),
	HEADING("How"),
	OPT(OPT_FLAG, 'f', "force", AT(force), NULL,
	    "Add a probe although there is one of that name: it gets a number behind it."),
	OPT(OPT_FLAG, 'n', "dry-run", AT(show.dry_run), NULL,
	    "Do all but changing the kernel's probes."),
	OPT(OPT_FLAG, 0, "externs", AT(show.externs), NULL, "With -V: global variables, too."),
	OPT(OPT_FLAG, 0, "range", AT(show.range), NULL,
	    "With -V: say for which addresses of the function each variable is there."),
	OPT(OPT_TEXT, 0, "filter", AT(show.filter), "FILTER",
	    "With -V and -F: only these names. Globs, ! (not), & (and), | (or), parentheses."),
	OPT(OPT_U32, 0, "max-probes", AT(common.max_probes), "N",
	    "How many places one probe may have (default: 128).", .least = OPT_ABOVE_ZERO),
	OPT(OPT_FLAG, 0, "no-inlines", AT(common.no_inlines), NULL,
	    "Leave out where the function was inlined."),
	OPT(OPT_FLAG, 0, "demangle", AT(demangle), NULL,
	    "Names of C++, Rust and others as people write them (default), in -F and for PLACE."),
	OPT(OPT_FLAG, 0, "demangle-kernel", AT(common.demangle_kernel), NULL, "In the kernel too."),
	OPT(OPT_FLAG, 0, "cache", AT(cache), NULL,
	    "With -a: also keep the definition in ~/.debug, by the file's build-id (with -n only that). With "
	    "-l and -d: those that are kept."),
	OPT(OPT_U32, 0, "target-ns", AT(common.target_ns), "PID",
	    "FILE is meant as this process has it, which may be in a container.",
	    .least = OPT_ABOVE_ZERO),
	OPT(OPT_FLAG, 0, "bootconfig", AT(bootconfig), NULL,
	    "With -D: as the kernel's boot configuration has it. For probes of the kernel."),
	OPT(OPT_FLAG, 'q', "quiet", AT(show.quiet), NULL, "Say nothing but errors."),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "Tell more."),
	OPT_END,
};

static const struct command_example examples[] = {
	{.line = "sonde probe -x /usr/lib/x86_64-linux-gnu/libc.so.6 -F 'str*'",
	 .shows = "which functions of a library begin with str",
	 .test = "sonde probe -x \"$(command -v sonde)\" -F 'str*' | grep -q str"},
	{.line = "sonde probe -x ./program -V work",
	 .shows = "which variables there are where the function work begins",
	 .test = "printf 'int work(int n) { return n * 3; }\\nint main(int c, char **v) { return work(c); }\\n' >p.c "
		 "&& ${CC:-cc} -g -O1 -fno-inline -o program p.c && sonde probe -x ./program -V work"},
	{.line = "sonde probe -x ./program -L work",
	 .shows = "the source of work, with numbers at the lines that can be probed"},
	{.line = "sonde probe -x ./program -D 'work n'",
	 .shows = "what the kernel would be told for a probe that fetches n"},
	{.line = "sonde probe -x ./program 'work n'",
	 .shows = "a new event probe_program:work, for record, script, stat and prof",
	 .test = "sonde probe -n -x ./program 'work n'"},
	{.line = "sonde probe -x ./program 'work%return $retval:s32'",
	 .shows = "what work returns",
	 .test = "sonde probe -n -x ./program 'work%return $retval:s32'"},
	{.line = "sonde probe tcp_sendmsg",
	 .shows = "an event of the kernel at each call of tcp_sendmsg",
	 .test = "test -w /sys/kernel/tracing/kprobe_events || { echo no kprobes here; exit 77; }; "
		 "sonde probe -n tcp_sendmsg"},
	{.line = "sonde probe -l",
	 .shows = "the probes that there are",
	 .test = "test -r /sys/kernel/tracing/uprobe_events || { echo no uprobes here; exit 77; }; sonde probe "
		 "-l"},
	{.line = "sonde probe -d 'probe_program:*'",
	 .shows = "takes all probes of the program away",
	 .test = "test -w /sys/kernel/tracing/uprobe_events || { echo no uprobes here; exit 77; }; sonde probe "
		 "-x ./program sonde_help=work && sonde probe -d 'probe_program:sonde_help'"},
	{0},
};

static int run(int argc, char **argv);

// The events that -d can remove.
static void values(const char *option, opt_offer *offer, void *arg)
{
	struct probe_store store;

	if (probe_store_open(&store) < 0)
		return;
	vec_each(struct probe_stored, stored, &store.v) {
		auto_free char *name = text_dup_fmt("%.*s:%.*s", STR_FMT(stored->is.group),
						    STR_FMT(stored->is.event));

		offer(arg, name, stored->line);
	}
	probe_store_done(&store);
}

const struct command command_probe = {
	.name = "probe",
	.summary = "Add, remove and show dynamic tracepoints",
	.usage = "sonde probe [options] [-a] PROBE...\n"
		 "sonde probe [options] -d [GROUP:]EVENT...\n"
		 "sonde probe -l [[GROUP:]EVENT]\n"
		 "sonde probe [options] -L FUNC[:LINES] | -V PLACE | -F [FILTER] | -D PROBE",
	.description =
		"A probe makes an event of each time that a place in the kernel or in a program is reached, without a "
		"change to it. It stays until it is removed with -d or the machine ends, and is then an event like "
		"others: sonde record -e probe_program:work.\n\n"
		"PROBE is [[GROUP:]EVENT=]PLACE [ARG...]. PLACE is FUNC, FUNC+OFFSET, FUNC%return, FUNC:LINE "
		"(from the function's own line on), FUNC;PATTERN (its lines that look so), SRC:LINE, SRC;PATTERN, "
		"0xADDRESS, or %PROVIDER:NAME for a static probe that the program brings along. FUNC@SRC tells functions "
		"of one name apart; FUNC may have * and ?. Where a function was inlined the probe is at each place.\n\n"
		"ARG is [NAME=]WHAT[:TYPE]. WHAT is a variable or parameter, with members (list->next.name), elements "
		"(argv[1]) and bit fields, by debug information; or the kernel's own: a register (%di), $retval, "
		"$stack, $stackN, $comm, memory (+8(%sp), @0xADDRESS). $params stands for all parameters, $vars for all "
		"variables. TYPE is s8 to s64 (signed), u8 to u64, x8 to x64 (hexadecimal), string, ustring, symbol, or "
		"bBITS@OFFSET/SIZE; without it the variable's own.\n\n"
		"Programs without debug information can be probed at the start and the return of functions and at "
		"addresses, with registers.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.values = values,
	.family = COMMAND_PERF,
	.exits_by_errno = true,
	.run = run,
};

// ---- -d

bool probe_is_meant(const char *name, const char *wanted)
{
	auto_free char *glob = text_dup_fmt("%s%s", strchr(wanted, ':') ? "" : "*:", wanted);

	return text_glob(name, glob);
}

static bool is_meant(const struct probe_stored *stored, const char *wanted)
{
	auto_free char *name =
		text_dup_fmt("%.*s:%.*s", STR_FMT(stored->is.group), STR_FMT(stored->is.event));

	return probe_is_meant(name, wanted);
}

static bool is_meant_by_any(const struct probe_stored *stored, const struct options *o)
{
	for (size_t i = 0; i < o->remove.n; i++) {
		if (is_meant(stored, o->remove.v[i]))
			return true;
	}
	return false;
}

static int remove_meant(struct probe_store *store, const struct options *o, struct out *out)
{
	size_t n = 0;
	int err = 0;

	// perf takes those of the kernel first, each in the order of their names.
	for (size_t i = 0; err == 0 && i < store->v.n; i++) {
		struct probe_stored *stored = &store->v.v[i];

		if (!is_meant_by_any(stored, o))
			continue;
		n++;
		err = o->show.dry_run ? 0 : probe_store_remove(store, stored);
		if (err == 0 && !o->show.quiet)
			out_printf(out, "%s event: %.*s:%.*s\n",
				   o->show.dry_run ? "Would remove" : "Removed",
				   STR_FMT(stored->is.group), STR_FMT(stored->is.event));
	}
	if (err == 0 && !n)
		return fail(ENOENT, "there is no probe '%s' to remove; sonde probe -l lists them",
			    o->remove.v[0]);
	return err;
}

// A text that means none is worth a word where others mean some.
static void warn_meant_none(const struct probe_store *store, const struct options *o)
{
	for (size_t k = 0; k < o->remove.n; k++) {
		size_t i = 0;

		while (i < store->v.n && !is_meant(&store->v.v[i], o->remove.v[k]))
			i++;
		if (i == store->v.n)
			warn("there is no probe '%s' to remove", o->remove.v[k]);
	}
}

static int remove_all(const struct options *o, struct out *out)
{
	struct probe_store store;
	int err = probe_store_open(&store);

	if (err < 0)
		return err;
	probe_store_sort_by_name(&store);
	err = remove_meant(&store, o, out);
	if (err == 0)
		warn_meant_none(&store, o);
	probe_store_done(&store);
	return err;
}

// ---- -a

static void show_added(const struct probe_event *event, const struct probe_request *request,
		       struct out *out)
{
	struct probe_point point = request->point;
	auto_free char *name = text_dup_fmt("%s:%s", event->group, event->event);

	out_printf(out, "  %-20s (on ", name);
	if (request->is_sdt)
		out_printf(out, "%%%s%s%s", request->group ? request->group : "",
			   request->group ? ":" : "", request->event);
	else
		probe_put_point(out, &point);
	if (event->path)
		out_printf(out, " in %s", event->path);
	else if (event->symbol && strchr(event->symbol, ':'))
		out_printf(out, " in %.*s", (int)strcspn(event->symbol, ":"), event->symbol);
	for (size_t i = 0; i < request->args.n; i++) {
		out_text(out, i ? " " : " with ");
		probe_put_arg(out, &request->args.v[i]);
	}
	out_printf(out, ")%c", '\0');
}

// A name that isn't taken yet. Further places of one request always get a number.
static int free_name(struct probe_target *target, struct probe_store *store, bool may_number,
		     struct probe_event *event)
{
	const char *base = event->event;

	if (!probe_store_find(store, event->group, base))
		return 0;
	if (!may_number)
		return fail(EEXIST,
			    "there is a probe %s:%s already; remove it with: sonde probe -d %s:%s, or add "
			    "another one with -f",
			    event->group, base, event->group, base);
	for (unsigned i = 1; i < 1024; i++) {
		event->event = arena_fmt(&target->arena, "%s_%u", base, i);
		if (!probe_store_find(store, event->group, event->event))
			return 0;
	}
	return fail(ERANGE, "there are too many probes of the name %s:%s", event->group, base);
}

struct added {
	const struct options *o;
	struct probe_target *target;
	struct probe_store *store;
	struct out lines; // that end with NUL
	struct out *out;
	unsigned n;
	char *last; // name of the last one
};

// What the kernel is told, in its own words.
static void show_definition(const struct added *added, const struct probe_event *event)
{
	struct out text;

	if (!added->o->show.dry_run && !added->o->verbose)
		return;
	out_init_memory(&text);
	probe_put_definition(&text, event);
	out_char(&text, 0);
	if (added->o->show.dry_run && !added->o->show.quiet)
		out_printf(added->out, "%s\n", text.buf);
	else
		inform("%s_events: %s", event->path ? "uprobe" : "kprobe", text.buf);
	out_done(&text);
}

static int add_request(struct added *added, const struct probe_request *request)
{
	struct probe_events events = {0};
	int err = probe_make_events(added->target, request, &events);

	for (size_t i = 0; err == 0 && i < events.v.n; i++) {
		struct probe_event *event = &events.v.v[i];

		err = free_name(added->target, added->store, added->o->force || i, event);
		if (err == 0)
			err = added->o->show.dry_run ? probe_store_note(added->store, event)
						     : probe_store_add(added->store, event);
		if (err < 0)
			break;
		show_definition(added, event);
		show_added(event, request, &added->lines);
		added->n++;
		free(added->last);
		added->last = text_dup_fmt("%s:%s", event->group, event->event);
	}
	if (err == 0 && added->o->cache && probe_cached_add(added->target, request, &events) < 0) {
		warn("the cache doesn't keep it: %s", err_sentence());
		err_clear();
	}
	probe_events_done(&events);
	return err;
}

static int add_all(struct probe_target *target, const struct options *o, struct out *out)
{
	struct added added = {.o = o, .target = target, .out = out};
	struct probe_store store;
	int err = probe_store_open(&store);

	if (err < 0)
		return err;
	added.store = &store;
	out_init_memory(&added.lines);
	for (size_t i = 0; err == 0 && i < o->add.n; i++) {
		struct probe_request request;

		err = probe_parse(&target->arena, o->add.v[i], &request);
		if (err < 0)
			break;
		err = add_request(&added, &request);
		probe_request_done(&request);
	}
	if (added.n && !o->show.quiet && o->show.dry_run) {
		out_printf(out, "Would add (dry run, nothing was added):\n");
		out_safe_lines(out, &added.lines);
	} else if (added.n && !o->show.quiet) {
		out_printf(out, "Added new event%s\n", added.n > 1 ? "s:" : ":");
		out_safe_lines(out, &added.lines);
		out_printf(out,
			   "\nYou can now use it in all sonde tools, such as:\n\n\tsonde record -e %s -aR "
			   "sleep 1\n\n",
			   added.last);
	}
	out_done(&added.lines);
	free(added.last);
	probe_store_done(&store);
	return err;
}

// ---- -D

static int define_all(struct probe_target *target, const struct options *o, struct out *out)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < o->definitions.n; i++) {
		struct probe_events events = {0};
		struct probe_request request;

		err = probe_parse(&target->arena, o->definitions.v[i], &request);
		if (err < 0)
			break;
		err = probe_make_events(target, &request, &events);
		if (err == 0 && o->bootconfig)
			err = probe_put_bootconfig(out, &request, &events);
		for (size_t k = 0; err == 0 && !o->bootconfig && k < events.v.n; k++) {
			probe_put_definition(out, &events.v.v[k]);
			out_char(out, '\n');
		}
		probe_events_done(&events);
		probe_request_done(&request);
	}
	return err;
}

// ----

static int in_target(const struct options *o, struct out *out)
{
	struct probe_target target;
	int err = probe_target_open(&target, &o->common);

	// perf takes a file that isn't there for a wrong option.
	if (err < 0)
		return err == -ENOENT ? -COMMAND_USAGE : err;
	if (o->lines)
		err = probe_show_lines(&target, o->lines, out);
	else if (o->variables)
		err = probe_show_variables(&target, o->variables, &o->show, out);
	else if (o->functions)
		err = probe_show_functions(&target, *o->functions ? o->functions : o->show.filter,
					   out);
	else if (o->definitions.n)
		err = define_all(&target, o, out);
	else
		err = add_all(&target, o, out);
	probe_target_done(&target);
	return err;
}

static int act(const struct options *o, struct out *out)
{
	unsigned actions = (o->add.n != 0) + (o->remove.n != 0) + (o->definitions.n != 0) +
			   (o->list != NULL) + (o->lines != NULL) + (o->variables != NULL) +
			   (o->functions != NULL);

	if (!actions)
		return fail(COMMAND_USAGE,
			    "what is to be done? sonde probe -x FILE FUNCTION adds a probe, "
			    "-l lists probes, -h tells more");
	if (actions > 1)
		return fail(COMMAND_USAGE, "only one of -a, -d, -D, -l, -L, -V and -F at a time");
	if (o->common.exec && (o->common.module || o->common.vmlinux))
		return fail(COMMAND_USAGE, "-x is a program, -m and -k are the kernel: not both");
	if (o->list && o->cache)
		return probe_cached_list(o->list, out);
	if (o->remove.n && o->cache)
		return probe_cached_remove(&o->remove, &o->show, out);
	if (o->list)
		return probe_show_list(&o->common, o->list, out);
	if (o->remove.n)
		return remove_all(o, out);
	return in_target(o, out);
}

// Words that are no options are one probe, in front of it perhaps the file that it is for.
static char *join_words(struct options *o, int n, char **argv)
{
	struct out text;
	char *joined;
	int i = 1;

	if (n && argv[1][0] == '/' && !o->common.exec && !o->common.module) {
		if (text_ends(argv[1], ".ko"))
			o->common.module = argv[1];
		else
			o->common.exec = argv[1];
		i++;
	}
	if (i > n)
		return NULL;
	out_init_memory(&text);
	for (; i <= n; i++) {
		out_text(&text, argv[i]);
		out_char(&text, ' ');
	}
	joined = str_dup(str_trim((struct str){text.buf, text.n}));
	out_done(&text);
	return joined;
}

static int run(int argc, char **argv)
{
	struct options o = {.common.max_probes = 128, .demangle = true};
	struct out out;
	int n = command_parse(&command_probe, &o, argv, 0), err, closed;

	if (n < 0)
		return n;
	o.common.no_demangle = !o.demangle;
	auto_free char *words = join_words(&o, n, argv);
	if (words)
		opt_list_add(&o.add, words);
	if (o.show.quiet)
		log_set_level(LOG_QUIET);
	else if (o.verbose)
		log_set_level(o.verbose > 1 ? LOG_DEBUG : LOG_INFO);
	out_init_fd(&out, 1);
	err = act(&o, &out);
	closed = out_close(&out, "standard output");
	free(o.add.v);
	free(o.remove.v);
	free(o.definitions.v);
	return err ? err : closed;
}
