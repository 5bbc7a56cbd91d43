// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/flamegraph/flamegraph.h"
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/core/output.h"
#include "cmd/core/rows.h"
#include "encoder/core/encoder.h"
#include <regex.h>
#include <stdio.h>

struct options {
	struct stack_options stacks;
	struct live_options live;
	struct flame_style style;
	const char *input, *output, *format, *grep, *exclude;
	bool folded, difference, normalize, by_hash, no_annotations, quiet;
	int verbose;
	char *event, *host; // what is drawn, where that is known; heap
};

#define AT(member) offsetof(struct options, member)

static const struct opt opts[] = {
	HEADING("Where the stacks come from"),
	OPT(OPT_TEXT, 'i', "input", AT(input), "FILE",
	    "A recording, folded stacks, or text of perf script, bpftrace or DTrace, told apart by content; - is stdin. Default: "
	    "stdin when it is a pipe or a file, else perf.data."),
	OPT(OPT_FLAG, 0, "diff", AT(difference), NULL,
	    "Show how the second of two inputs differs from the first: as wide as in the second, red where a function itself takes "
	    "more, blue where it takes less."),
	OPT(OPT_FLAG, 0, "normalize", AT(normalize), NULL,
	    "With --diff: scale the first input so that both have the same sum."),
	OPT(OPT_TEXT, 'F', "freq", AT(live.frequency), "HERTZ",
	    "When recording a command: samples a second (99)."),
	OPT(OPT_TEXT, 0, "call-graph", AT(live.call_graph), "MODE",
	    "When recording a command: fp, dwarf or lbr."),
	OPT(OPT_FLAG, 'a', "all-cpus", AT(live.all_cpus), NULL,
	    "When recording a command: the whole system while it runs."),
	OPT(OPT_FLAG, 'f', "force", AT(stacks.force), NULL, "Read recordings of other owners."),
	OPT(OPT_U32, 'j', "jobs", AT(stacks.jobs), "N",
	    "Unwind copies of stacks in N processes; without it in as many as there are CPUs, 16 at most, where the recording is large enough. The result is the same.",
	    .least = OPT_ABOVE_ZERO),

	HEADING("Which samples"),
	OPT(OPT_TEXT, 'e', "event", AT(stacks.event), "EVENT",
	    "Only samples of this event (a name or a glob); when recording: the event to record. Default: the first event."),
	OPT(OPT_FLAG, 0, "all", AT(stacks.all_events), NULL,
	    "All events, each under a frame of its own."),
	OPT(OPT_TEXT, 0, "comm", AT(stacks.filter.comms), "NAME,...", "Only tasks with these names."),
	OPT(OPT_TEXT, 0, "pid", AT(stacks.filter.pids), "PID,...", "Only these processes."),
	OPT(OPT_TEXT, 0, "tid", AT(stacks.filter.tids), "TID,...", "Only these threads."),
	OPT(OPT_TEXT, 'C', "cpu", AT(stacks.filter.cpus), "CPUS",
	    "Only samples on these CPUs: 0-3,8."),
	OPT(OPT_TEXT, 0, "time", AT(stacks.filter.times), "FROM,TO",
	    "Only samples in this time: seconds, or of a recording a share such as 10%-20%."),
	OPT(OPT_TEXT, 0, "grep", AT(grep), "REGEX",
	    "Only stacks whose folded line matches this extended regular expression."),
	OPT(OPT_TEXT, 0, "exclude", AT(exclude), "REGEX",
	    "No stacks whose folded line matches, such as cpu_idle."),

	HEADING("How stacks become frames"),
	OPT(OPT_FLAG, 0, "reverse", AT(stacks.reverse), NULL,
	    "Merge the stacks from their innermost frames: who calls what is hot."),
	OPT(OPT_FLAG, 0, "inverted", AT(style.inverted), NULL, "The root on top (icicle)."),
	OPT(OPT_FLAG, 0, "per-pid", AT(stacks.per_pid), NULL,
	    "A base frame for each process: NAME-PID."),
	OPT(OPT_FLAG, 0, "per-tid", AT(stacks.per_tid), NULL,
	    "A base frame for each thread: NAME-PID/TID."),
	OPT(OPT_FLAG, 0, "no-base", AT(stacks.no_base), NULL,
	    "No base frame for the command's name.", .no_negation = true),
	OPT(OPT_FLAG, 0, "period", AT(stacks.by_period), NULL,
	    "Weigh each sample by its period in place of 1."),

	HEADING("What is written"),
	OPT(OPT_TEXT, 'o', "output", AT(output), "FILE",
	    "Default: stdout; flame.svg when that is a terminal or a command is recorded."),
	OPT(OPT_FLAG, 0, "folded", AT(folded), NULL,
	    "Folded stacks in place of the picture; the same as --format folded."),
	OPT(OPT_TEXT, 0, "format", AT(format), "FORMAT",
	    "svg, folded or json (nested frames, as d3-flame-graph takes them)."),
	OPT(OPT_FLAG, 0, "no-annotations", AT(no_annotations), NULL,
	    "Folded stacks without the endings _[k] kernel, _[j] JIT, _[i] inlined.",
	    .no_negation = true),

	HEADING("How it looks"),
	OPT(OPT_TEXT, 0, "title", AT(style.title), "TEXT", "Default: Flame Graph."),
	OPT(OPT_TEXT, 0, "subtitle", AT(style.subtitle), "TEXT",
	    "A second line. Default: the event, the number of samples and the host, where the input tells them."),
	OPT(OPT_DOUBLE, 0, "width", AT(style.width), "PIXELS",
	    "Width where no script runs (1200); in a browser it is as wide as the window.",
	    .least = OPT_ABOVE_ZERO),
	OPT(OPT_DOUBLE, 0, "height", AT(style.frame_height), "PIXELS", "Height of a frame (16).",
	    .least = OPT_ABOVE_ZERO),
	OPT(OPT_DOUBLE, 0, "minwidth", AT(style.min_width), "PIXELS",
	    "Leave out frames that are narrower (0.1).", .least = OPT_ABOVE_ZERO),
	OPT(OPT_DOUBLE, 0, "min-width", AT(style.min_width), "PIXELS", "The same.", .hidden = true,
	    .least = OPT_ABOVE_ZERO),
	OPT(OPT_TEXT, 0, "fonttype", AT(style.font), "FONT",
	    "Font of the frames; one with characters of equal width."),
	OPT(OPT_DOUBLE, 0, "fontsize", AT(style.font_size), "PIXELS", "12.", .least = OPT_ABOVE_ZERO),
	OPT(OPT_TEXT, 0, "countname", AT(style.count_name), "TEXT",
	    "What the values count (samples)."),
	OPT(OPT_TEXT, 0, "count-name", AT(style.count_name), "TEXT", "The same.", .hidden = true),
	OPT(OPT_TEXT, 0, "nametype", AT(style.name_type), "TEXT", "What frames are (Function:)."),
	OPT(OPT_TEXT, 0, "name-type", AT(style.name_type), "TEXT", "The same.", .hidden = true),
	OPT(OPT_TEXT, 0, "notes", AT(style.notes), "TEXT",
	    "A note inside the file, as its description."),
	OPT(OPT_TEXT, 0, "colors", AT(style.colors), "PALETTE",
	    "auto (kernel, JIT and inlined frames stand out), hot mem io java js perl python wakeup chain red green blue aqua yellow "
	    "purple orange grey."),
	OPT(OPT_TEXT, 0, "bgcolors", AT(style.background), "COLOR",
	    "yellow blue green grey white or #rrggbb; default: light or dark as the browser is."),
	OPT(OPT_FLAG, 0, "hash", AT(by_hash), NULL,
	    "Colors follow from names, which is the default.", .hidden = true),
	OPT(OPT_FLAG, 0, "random", AT(style.random_colors), NULL,
	    "Colors differ from frame to frame; without it the same name has the same color in every picture."),

	HEADING("Symbols"),
	OPT(OPT_FLAG, 0, "no-inline", AT(stacks.no_inline), NULL,
	    "Functions that the compiler put into their callers are no frames."),
	OPT(OPT_FLAG, 0, "functions", AT(stacks.sym.functions), NULL,
	    "Code without a symbol has the name of its file and the address where its function begins, gzip@4300 (the default; --no-functions leaves it unnamed)."),
	OPT(OPT_TEXT, 'k', "vmlinux", AT(stacks.sym.vmlinux), "FILE", "Kernel image with symbols."),
	OPT(OPT_TEXT, 0, "kallsyms", AT(stacks.sym.kallsyms), "FILE",
	    "Kernel symbols as /proc/kallsyms has them."),
	OPT(OPT_TEXT, 0, "symfs", AT(stacks.sym.symfs), "DIR",
	    "Look for programs and libraries below this folder."),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "Tell more."),
	OPT(OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "Tell only what went wrong."),
	OPT_END,
};

struct pattern {
	bool given;
	regex_t regex;
};

struct selection {
	struct pattern keep, drop;
};

static int pattern_compile(struct pattern *pattern, const char *text, const char *option)
{
	char message[160];

	if (!text)
		return 0;
	int error = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NOSUB);
	if (error) {
		regerror(error, &pattern->regex, message, sizeof(message));
		return fail(EINVAL, "--%s '%s' is no regular expression: %s", option, text, message);
	}
	pattern->given = true;
	return 0;
}

static bool is_selected(void *arg, const char *stack, size_t n)
{
	struct selection *selection = arg;

	if (selection->keep.given && regexec(&selection->keep.regex, stack, 0, NULL, 0) != 0)
		return false;
	return !selection->drop.given || regexec(&selection->drop.regex, stack, 0, NULL, 0) != 0;
}

static int select_stacks(struct flame *flame, const struct options *options)
{
	struct selection selection = {0};
	int err = 0;

	if (!options->grep && !options->exclude)
		return 0;
	err = pattern_compile(&selection.keep, options->grep, "grep");
	if (!err)
		err = pattern_compile(&selection.drop, options->exclude, "exclude");
	if (!err) {
		struct flame selected;
		double before = flame_sum(flame, FLAME_AFTER);

		flame_init(&selected);
		flame_finish(flame, true);
		flame_select(&selected, flame, is_selected, &selection);
		flame_done(flame);
		*flame = selected;
		if (before > 0 && !flame_sum(flame, FLAME_AFTER))
			err = fail(ENODATA, "none of the stacks is left by --grep and --exclude");
	}
	if (selection.keep.given)
		regfree(&selection.keep.regex);
	if (selection.drop.given)
		regfree(&selection.drop.regex);
	return err;
}

static void tell(const struct stack_counts *counts, const char *name, const struct options *options)
{
	if (counts->bad_lines)
		warn("%s: %llu lines are no stacks and were left out, the first is line %llu", name,
		     (unsigned long long)counts->bad_lines,
		     (unsigned long long)counts->first_bad_line);
	if (counts->ends_in_line && counts->damaged)
		warn("%s stops in the middle of a line: the sample there is left out", name);
	else if (counts->ends_in_line)
		warn("%s has no newline at its end: if it was cut, its last line is wrong", name);
	if (counts->events && !options->stacks.event && !options->quiet)
		warn("%s: this is event %s alone; it also holds %s (-e EVENT takes another, --all takes all)",
		     name, counts->event ? counts->event : "?", counts->events);
}

// NULL: standard output.
static const char *output_of(const struct options *options, bool recorded)
{
	bool svg = !options->folded && (!options->format || strcmp(options->format, "svg") == 0);

	if (options->output)
		return strcmp(options->output, "-") ? options->output : NULL;
	return svg && (recorded || isatty(STDOUT_FILENO)) ? "flame.svg" : NULL;
}

static int read_input(struct flame *flame, const char *path, struct options *options, unsigned side)
{
	const char *name = strcmp(path, "-") == 0 ? "stdin" : path;
	struct stack_counts counts;
	struct stack_options stacks = options->stacks;

	stacks.side = side;
	int err = stacks_from_file(flame, path, &stacks, &counts);
	if (err < 0)
		return err;
	tell(&counts, name, options);
	if (!counts.samples) {
		if (counts.filtered)
			err = fail(ENODATA, "%s: no sample passes the filters; %llu were left out",
				   name, (unsigned long long)counts.filtered);
		else if (counts.other_events)
			err = fail(ENODATA, "%s has no samples of event '%s'; it has %s", name,
				   options->stacks.event, counts.events ? counts.events : "others");
		else if (counts.bad_lines)
			err = fail(ENODATA, "%s holds no stacks", name);
		else
			err = fail(ENODATA, "%s holds no samples", name);
	}
	bool damaged = counts.damaged;
	// Of two inputs only one could be told.
	if (!options->difference) {
		options->event = counts.event;
		options->host = counts.host;
		counts.event = counts.host = NULL;
	}
	stack_counts_done(&counts);
	return err < 0 ? err : damaged;
}

static int read_file(struct flame *flame, const char *path, struct options *options, unsigned side)
{
	const char *output = output_of(options, false);
	int err = output ? output_check_input(output, path) : 0;

	return err < 0 ? err : read_input(flame, path, options, side);
}

// The words that are files.
static int read_files(struct flame *flame, struct options *options, int n, char **words)
{
	if (options->difference) {
		if (n != 2 || options->input)
			return fail(COMMAND_USAGE,
				    "--diff needs two inputs: sonde flamegraph --diff BEFORE AFTER");
		int before = read_file(flame, words[0], options, FLAME_BEFORE);
		if (before < 0)
			return before;
		int after = read_file(flame, words[1], options, FLAME_AFTER);
		flame->differential = true;
		return after < 0 ? after : before | after;
	}
	if (n > 1 || (n == 1 && options->input))
		return fail(COMMAND_USAGE,
			    "one input is drawn, not %d; a command to record stands behind --",
			    n + !!options->input);
	return read_file(flame,
			 n		  ? words[0]
			 : options->input ? options->input
					  : default_input(true),
			 options, FLAME_AFTER);
}

static int read_command(struct flame *flame, struct options *options, char **command)
{
	struct live_file file;
	int err = flamegraph_record(&options->live, command, &file);

	if (err < 0)
		return err;
	const char *event = options->stacks.event;
	options->stacks.event = NULL; // what was recorded is what was asked for
	err = read_input(flame, file.path, options, FLAME_AFTER);
	options->stacks.event = event;
	live_file_done(&file);
	if (err == -ENODATA)
		err = fail(ENODATA,
			   "no samples of '%s' were taken, or none was wanted: it hardly ran; let it run longer or "
			   "raise -F",
			   command[0]);
	else if (err < 0)
		fail_context(err, "the recording of '%s'", command[0]);
	return err;
}

// "cycles, 1234 samples, on HOST"; NULL where the input doesn't tell. Heap.
static char *subtitle_of(const struct flame *flame, const struct options *options)
{
	const char *event = options->stacks.all_events ? "all events"
			    : options->event	       ? options->event
						       : options->stacks.event;

	if (options->difference || (!event && !options->host))
		return NULL;
	return text_dup_fmt("%s%s%.0f %s%s%s", event ? event : "", event ? ", " : "",
			    flame_sum(flame, FLAME_AFTER),
			    options->style.count_name ? options->style.count_name : "samples",
			    options->host ? ", on " : "", options->host ? options->host : "");
}

static int write_result(struct flame *flame, const struct options *options, bool recorded)
{
	const char *path = output_of(options, recorded);
	const struct encoder *encoder;
	struct out out;
	int err = encoder_find(&encoder, options->folded   ? "folded"
					 : options->format ? options->format
							   : "svg");

	if (err < 0)
		return err;
	if (!encoder->flame)
		return fail(EINVAL, "a flame graph can't be written as %s; use svg, folded or json",
			    encoder->name);
	if (path) {
		// Not before it is known that there is something to write.
		struct out text;

		out_init_memory(&text);
		err = encoder->flame(&text, flame, &options->style);
		if (err >= 0)
			err = out_open(&out, path);
		if (err >= 0) {
			out_bytes(&out, text.buf, text.n);
			err = out_close(&out, path);
		}
		out_done(&text);
		if (err >= 0 && !options->quiet && !options->output)
			say("%s: %.0f %s", path, flame->nodes.v[0].total[FLAME_AFTER],
			    options->style.count_name ? options->style.count_name : "samples");
		return err;
	}
	out_init_fd(&out, STDOUT_FILENO);
	err = encoder->flame(&out, flame, &options->style);
	int closed = out_close(&out, "stdout");
	out_done(&out);
	return err < 0 ? err : closed;
}

extern const struct command command_flamegraph;

static int run(int argc, char **argv)
{
	struct options options = {.stacks = {.sym = {.functions = true}}};
	struct flame flame;
	int n = command_parse(&command_flamegraph, &options, argv, OPT_KEEP_DASHES);

	if (n < 0)
		return n;
	int files = opt_cut_dashes(&n, argv, 0);
	if (options.folded && options.format && strcmp(options.format, "folded"))
		return fail(COMMAND_USAGE, "--folded and --format %s exclude each other",
			    options.format);
	if (options.verbose || options.quiet)
		log_set_level(options.quiet ? LOG_QUIET : options.verbose);
	options.live.event = options.stacks.event;
	options.style.plain_names = options.no_annotations;
	if (options.stacks.by_period && !options.style.count_name)
		options.style.count_name = "events";
	if (options.stacks.reverse && !options.style.title)
		options.style.title = "Flame Graph (innermost first)";
	flame_init(&flame);
	int err;
	if (n > files && (files || options.input || options.difference))
		err = fail(COMMAND_USAGE,
			   "either a file is drawn or a command is recorded, not both");
	else if (n > files)
		err = read_command(&flame, &options, argv + 1 + files);
	else
		err = read_files(&flame, &options, n, argv + 1);
	int damaged = err;
	if (err >= 0)
		err = select_stacks(&flame, &options);
	if (err >= 0 && options.normalize && flame.differential && flame_sum(&flame, FLAME_BEFORE) > 0)
		flame_scale(&flame, FLAME_BEFORE,
			    flame_sum(&flame, FLAME_AFTER) / flame_sum(&flame, FLAME_BEFORE));
	if (err >= 0) {
		if (flame.stacks_cut)
			warn("%llu stacks are deeper than %d frames and were cut there",
			     (unsigned long long)flame.stacks_cut, FLAME_DEPTH_MAX);
		flame_finish(&flame, true);
		auto_free char *subtitle =
			options.style.subtitle ? NULL : subtitle_of(&flame, &options);
		if (subtitle)
			options.style.subtitle = subtitle;
		err = write_result(&flame, &options, n > files);
	}
	free(options.event);
	free(options.host);
	flame_done(&flame);
	return err < 0 ? err : damaged;
}

#define STACKS "printf 'a;b 3\\na;c 1\\nidle;cpu_idle_[k] 9\\n' >stacks; "

static const struct command_example examples[] = {
	{"sonde flamegraph -- gzip -c FILE", "records the command and draws flame.svg",
	 "sonde record -q -o try.data -- true || exit 77; "
	 "sonde flamegraph -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done' && test -s flame.svg"},
	{"sonde flamegraph -i perf.data -o flame.svg", "draws a recording",
	 "sonde flamegraph -i $T/data/singleprocess.data -o flame.svg && test -s flame.svg"},
	{"perf script | sonde flamegraph > flame.svg", "draws what another tool printed",
	 "printf 'a 1 1.0: 1 c: \\n\\t401000 f (/x)\\n\\n' | sonde flamegraph > flame.svg"},
	{"sonde flamegraph --folded | grep -v cpu_idle | sonde flamegraph > busy.svg",
	 "edits the stacks as text before they are drawn",
	 STACKS "sonde flamegraph --folded stacks | grep -v cpu_idle | sonde flamegraph > busy.svg"},
	{"sonde flamegraph --exclude cpu_idle --per-pid > busy.svg",
	 "the same without the detour, by process",
	 STACKS "sonde flamegraph --exclude cpu_idle --per-pid stacks > busy.svg"},
	{"sonde flamegraph --diff before.data after.data > diff.svg",
	 "where the second takes more (red) or less (blue)",
	 STACKS "sonde flamegraph --diff stacks stacks > diff.svg"},
	{"sonde flamegraph --reverse --inverted > callers.svg", "who calls the hot functions",
	 STACKS "sonde flamegraph --reverse --inverted < stacks > callers.svg"},
	{.line = NULL},
};

const struct command command_flamegraph = {
	.name = "flamegraph",
	.summary = "Draw where time goes as a flame graph",
	.usage = "sonde flamegraph [options] [FILE]\n"
		 "sonde flamegraph [options] --diff BEFORE AFTER\n"
		 "sonde flamegraph [options] -- COMMAND",
	.description =
		"Each box is a function, as wide as the share of samples that had it on their stack; what it calls stands on "
		"top of it. Sideways order has no meaning but the alphabet's. The picture is one SVG file that works alone: a "
		"click zooms, Ctrl-F searches by regular expression and shows the share that matches, and the page's address "
		"holds both, so that a view can be sent as a link.\n\n"
		"Folded stacks are text, one stack a line: the frames from the outermost to the innermost joined by ';', a space, "
		"and the value. Frames may end in _[k] (kernel), _[j] (JIT), _[i] (inlined) or _[w] (of a waker), which "
		"chooses their color and is not shown. Two values on each line are the two sides of a difference. Lines that begin "
		"with # are comments.\n\n"
		"Where an address has no symbol its file stands in brackets: [libc.so.6].",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PICTURE,
	.run = run,
};
