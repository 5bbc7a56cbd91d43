// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "cmd/core/output.h"
#include "cmd/core/rows.h"
#include "cmd/heatmap/heatmap.h"
#include "encoder/core/encoder.h"
#include <math.h>
#include <stdio.h>

struct options {
	struct point_options points;
	struct heat_options grid;
	struct heat_style style;
	const char *input, *output, *format, *min_value, *max_value;
	bool logarithmic, quiet;
	double box_size, step_sec;
	int verbose;
};

#define AT(member) offsetof(struct options, member)

static const struct opt opts[] = {
	HEADING("Where the points come from"),
	OPT(OPT_TEXT, 'i', "input", AT(input), "FILE",
	    "A recording, perf script text, or text with a time and a value on each line; - is stdin. Default: stdin when it is a "
	    "pipe or a file, else perf.data."),
	OPT(OPT_TEXT, 'e', "event", AT(points.event), "EVENT",
	    "Only this event of a recording: a name or a glob."),
	OPT(OPT_TEXT, 0, "value", AT(points.value), "FIELD",
	    "What the height shows: a number field of a tracepoint, or period, addr, weight, cpu, pid, tid."),
	OPT(OPT_TEXT, 0, "latency", AT(points.latency), "NAME",
	    "The height is how long something took: block (I/O, from issue to completion), block-queue (from insertion to issue), irq, "
	    "softirq (their handlers), syscall, sched (wait for a CPU, of who is woken or preempted), offcpu (from leaving a CPU to "
	    "the next run)."),
	OPT(OPT_TEXT, 0, "from-event", AT(points.from), "EVENT",
	    "The height is the time from this event to --to-event, which is known for the events of --latency."),
	OPT(OPT_TEXT, 0, "to-event", AT(points.to), "EVENT",
	    "The event that ends what --from-event began."),
	OPT(OPT_TEXT, 0, "key", AT(points.key), "FIELD,...",
	    "Fields that both events of a pair share, such as dev,sector, or pid=next_pid where their names differ; also cpu, pid, tid "
	    "of the sample. Default: what is known of the events, else the thread."),
	OPT(OPT_FLAG, 0, "subsecond", AT(points.subsecond), NULL,
	    "A column is a second, the height is where in it things happen. The default without --value, --latency or --from-event."),
	OPT(OPT_FLAG, 'f', "force", AT(points.force), NULL, "Read recordings of other owners."),

	HEADING("Which samples of a recording"),
	OPT(OPT_TEXT, 0, "comm", AT(points.filter.comms), "NAME,...", "Only tasks with these names."),
	OPT(OPT_TEXT, 0, "pid", AT(points.filter.pids), "PID,...", "Only these processes."),
	OPT(OPT_TEXT, 0, "tid", AT(points.filter.tids), "TID,...", "Only these threads."),
	OPT(OPT_TEXT, 'C', "cpu", AT(points.filter.cpus), "CPUS", "Only samples on these CPUs."),
	OPT(OPT_TEXT, 0, "time", AT(points.filter.times), "FROM,TO", "Only samples in this time."),

	HEADING("The grid"),
	OPT(OPT_U32, 0, "rows", AT(grid.rows), "N", "Rows (50).", .least = OPT_ABOVE_ZERO),
	OPT(OPT_U32, 0, "cols", AT(grid.columns), "N",
	    "Columns (100; of a --subsecond map: as many as there are seconds).",
	    .least = OPT_ABOVE_ZERO),
	OPT(OPT_DOUBLE, 0, "stepsec", AT(step_sec), "SECONDS", "Width of a column in time.",
	    .least = OPT_ABOVE_ZERO),
	OPT(OPT_TEXT, 0, "minlat", AT(min_value), "VALUE", "Lowest value, in the unit of the values."),
	OPT(OPT_TEXT, 0, "min-lat", AT(min_value), "VALUE", "The same.", .hidden = true),
	OPT(OPT_TEXT, 0, "maxlat", AT(max_value), "VALUE",
	    "Highest value; higher ones fall into the top row and are counted."),
	OPT(OPT_TEXT, 0, "max-lat", AT(max_value), "VALUE", "The same.", .hidden = true),
	OPT(OPT_FLAG, 0, "drop-beyond", AT(grid.drop_beyond), NULL,
	    "Leave values outside the range out."),
	OPT(OPT_FLAG, 0, "log", AT(logarithmic), NULL, "Logarithmic height."),

	HEADING("Units of text input"),
	OPT(OPT_TEXT, 0, "unitstime", AT(style.time_unit), "UNIT",
	    "Of the times: s (default), ms, us, ns."),
	OPT(OPT_TEXT, 0, "units-time", AT(style.time_unit), "UNIT", "The same.", .hidden = true),
	OPT(OPT_TEXT, 0, "unitslat", AT(style.value_unit), "UNIT",
	    "Of the values: s, ms, us, ns, or any word. Default: for pairs of events ns, else none."),
	OPT(OPT_TEXT, 0, "units-lat", AT(style.value_unit), "UNIT", "The same.", .hidden = true),

	HEADING("How it looks"),
	OPT(OPT_TEXT, 'o', "output", AT(output), "FILE",
	    "Default: stdout; heat.svg when that is a terminal."),
	OPT(OPT_TEXT, 0, "format", AT(format), "FORMAT", "svg or json."),
	OPT(OPT_TEXT, 0, "title", AT(style.title), "TEXT", "The line on top."),
	OPT(OPT_TEXT, 0, "subtitle", AT(style.subtitle), "TEXT",
	    "A second line. Default: the events, their number and the host of a recording."),
	OPT(OPT_TEXT, 0, "colors", AT(style.colors), "PALETTE", "hot red blue green grey viridis."),
	OPT(OPT_FLAG, 0, "log-colors", AT(style.log_colors), NULL,
	    "Color by the logarithm of the count."),
	OPT(OPT_TEXT, 0, "countname", AT(style.count_name), "TEXT",
	    "What is counted (events, samples)."),
	OPT(OPT_TEXT, 0, "count-name", AT(style.count_name), "TEXT", "The same.", .hidden = true),
	OPT(OPT_DOUBLE, 0, "boxsize", AT(box_size), "PIXELS",
	    "Width and height of a cell; default: by their number.", .least = OPT_ABOVE_ZERO),
	OPT(OPT_COUNT, 'v', "verbose", AT(verbose), NULL, "Tell more."),
	OPT(OPT_FLAG, 'q', "quiet", AT(quiet), NULL, "Tell only what went wrong."),
	OPT_END,
};

static int check_options(struct options *options)
{
	struct point_options *points = &options->points;
	struct heat_options *grid = &options->grid;

	const char *pair = points->latency ? "--latency"
			   : points->from  ? "--from-event"
			   : points->to	   ? "--to-event"
					   : NULL;
	if (points->latency && (points->from || points->to))
		return fail(COMMAND_USAGE, "--latency says which events; leave %s out",
			    points->from ? "--from-event" : "--to-event");
	if (pair && points->value)
		return fail(COMMAND_USAGE, "--value and %s both say what the height is; use one",
			    pair);
	if (pair && points->event)
		return fail(COMMAND_USAGE, "%s says which events; leave -e out", pair);
	if (points->key && (!pair || points->latency))
		return fail(COMMAND_USAGE, "--key belongs to --from-event and --to-event");
	if ((pair || points->value) && points->subsecond)
		return fail(COMMAND_USAGE, "--subsecond shows times alone, without %s",
			    pair ? pair : "--value");
	if (options->min_value) {
		if (num_parse_double(str_of(options->min_value), &grid->min_value) < 0)
			return fail(EINVAL, "--minlat '%s' is no number", options->min_value);
		grid->has_min_value = true;
	}
	if (options->max_value) {
		if (num_parse_double(str_of(options->max_value), &grid->max_value) < 0)
			return fail(EINVAL, "--maxlat '%s' is no number", options->max_value);
		grid->has_max_value = true;
	}
	return 0;
}

static double time_units_a_second(const char *unit)
{
	static const struct {
		const char *name;
		double n;
	} units[] = {{"s", 1}, {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}};

	for (size_t i = 0; unit && i < ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].name, unit) == 0)
			return units[i].n;
	}
	return 1;
}

static bool is_latency(const struct point_options *points)
{
	return points->latency || points->from || points->to;
}

static void choose_subsecond(struct options *options)
{
	struct heat_options *grid = &options->grid;
	struct heat_style *style = &options->style;

	style->value_unit = "ms";
	style->time_unit = "s";
	if (!style->title)
		style->title = "Subsecond Offset Heat Map";
	style->value_title = "offset within the second";
	grid->min_value = 0;
	grid->max_value = 1000;
	grid->has_min_value = grid->has_max_value = true;
	if (!grid->columns && !grid->step_time)
		grid->step_time = 1;
	grid->align_columns = true;
}

static void choose_look(struct options *options, const struct point_result *result)
{
	struct heat_options *grid = &options->grid;
	struct heat_style *style = &options->style;

	grid->scale = options->logarithmic ? HEAT_LOG : HEAT_LINEAR;
	style->cell_width = style->cell_height = options->box_size;
	style->time_title = "time";
	if (result->from_recording)
		style->time_unit = "s";
	grid->step_time = options->step_sec * time_units_a_second(style->time_unit);
	if (!style->count_name)
		style->count_name = result->from_recording && !is_latency(&options->points)
					    ? "samples"
					    : "events";
	if (result->subsecond) {
		choose_subsecond(options);
		return;
	}
	if (is_latency(&options->points)) {
		style->value_unit = "ns";
		style->value_title = "latency";
	} else if (options->points.value) {
		style->value_title = options->points.value;
		if (strcmp(options->points.value, "cpu") == 0 && !grid->has_max_value && !grid->rows) {
			grid->max_value = result->highest + 1;
			grid->rows = (unsigned)grid->max_value;
			grid->has_max_value = true;
		}
	}
	if (!style->title)
		style->title = result->title	       ? result->title
			       : options->points.value ? "Heat Map"
						       : "Latency Heat Map";
}

// "block:block_rq_issue to block:block_rq_complete, 51 events, on HOST"; NULL where no recording says it. Heap.
static char *subtitle_of(const struct heat *heat, const struct options *options,
			 const struct point_result *result)
{
	if (!result->events)
		return NULL;
	return text_dup_fmt("%s, %.0f %s%s%s", result->events, heat->sum, options->style.count_name,
			    result->host ? ", on " : "", result->host ? result->host : "");
}

// NULL: standard output.
static const char *output_of(const struct options *options)
{
	bool svg = !options->format || strcmp(options->format, "svg") == 0;

	if (options->output)
		return strcmp(options->output, "-") ? options->output : NULL;
	return svg && isatty(STDOUT_FILENO) ? "heat.svg" : NULL;
}

static int write_result(const struct heat *heat, const struct options *options)
{
	const char *path = output_of(options);
	const struct encoder *encoder;
	struct out text, out;
	int err = encoder_find(&encoder, options->format ? options->format : "svg");

	if (err < 0)
		return err;
	if (!encoder->heat)
		return fail(EINVAL, "a heat map can't be written as %s; use svg or json",
			    encoder->name);
	out_init_memory(&text);
	err = encoder->heat(&text, heat, &options->style);
	if (err >= 0 && path)
		err = out_open(&out, path);
	else if (err >= 0)
		out_init_fd(&out, STDOUT_FILENO);
	if (err >= 0) {
		out_bytes(&out, text.buf, text.n);
		err = out_close(&out, path ? path : "stdout");
		out_done(&out);
	}
	out_done(&text);
	if (err >= 0 && path && !options->output && !options->quiet)
		say("%s: %.0f %s", path, heat->sum, options->style.count_name);
	return err;
}

extern const struct command command_heatmap;

static int run(int argc, char **argv)
{
	struct options options = {0};
	struct point_result result = {0};
	struct heat heat;
	int n = command_parse(&command_heatmap, &options, argv, 0);

	if (n < 0)
		return n;
	int err = check_options(&options);
	if (err < 0)
		return err;
	if (n > 1 || (n == 1 && options.input))
		return fail(COMMAND_USAGE, "one input is drawn, not %d", n + !!options.input);
	if (options.verbose || options.quiet)
		log_set_level(options.quiet ? LOG_QUIET : options.verbose);
	const char *path = n ? argv[1] : options.input ? options.input : default_input(true);
	const char *name = strcmp(path, "-") == 0 ? "stdin" : path;
	const char *output = output_of(&options);
	err = output ? output_check_input(output, path) : 0;
	if (err < 0)
		return err;
	heat_init(&heat);
	options.points.units_a_second = time_units_a_second(options.style.time_unit);
	err = points_from_file(&heat, path, &options.points, &result);
	if (err >= 0 && result.bad_lines)
		warn("%s: %llu lines have no time and value and were left out, the first is line %llu",
		     name, (unsigned long long)result.bad_lines,
		     (unsigned long long)result.first_bad_line);
	if (err >= 0 && result.unpaired)
		warn(result.unpaired == 1 ? "%s: %llu event had no partner"
					  : "%s: %llu events had no partner",
		     name, (unsigned long long)result.unpaired);
	if (err >= 0 && !heat.points.n)
		err = result.filtered
			      ? fail(ENODATA, "%s: no sample passes the filters; %llu were left out",
				     name, (unsigned long long)result.filtered)
		      : options.points.value && !options.points.event
			      ? fail(ENODATA, "no sample of %s has a field '%s'", name,
				     options.points.value)
			      : fail(ENODATA,
				     "%s has nothing to draw: no such event, or no samples", name);
	int damaged = result.damaged;
	if (err >= 0) {
		result.highest = heat.highest;
		choose_look(&options, &result);
		err = heat_finish(&heat, &options.grid);
	}
	auto_free char *subtitle = NULL;
	if (err >= 0 && !options.style.subtitle)
		options.style.subtitle = subtitle = subtitle_of(&heat, &options, &result);
	if (err >= 0)
		err = write_result(&heat, &options);
	if (err >= 0 && result.hint && !options.quiet)
		warn("%s also has the events of a latency; to draw that: sonde heatmap --latency %s",
		     name, result.hint);
	point_result_done(&result);
	heat_done(&heat);
	return err < 0 ? err : damaged;
}

static const struct command_example examples[] = {
	{"sonde heatmap -i perf.data -o heat.svg",
	 "when in each second samples fell: idle gaps, bursts, timers",
	 "sonde heatmap -i $T/data/singleprocess.data -o heat.svg && test -s heat.svg"},
	{"sonde record -a -e block:block_rq_issue,block:block_rq_complete && sonde heatmap --latency block",
	 "the latency of disk I/O over time",
	 "sonde record -q -a -o try.data -e irq:softirq_entry,irq:softirq_exit -- sleep 0.2 || exit 77; "
	 "sonde heatmap -i try.data --latency softirq >heat.svg"},
	{"sonde heatmap --latency sched --comm nginx -o heat.svg", "how long tasks waited for a CPU",
	 "sonde record -q -a -o try.data -e sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_switch -- "
	 "sh -c 'sleep 0.1; sleep 0.1' || exit 77; sonde heatmap -i try.data --latency sched --comm sleep -o heat.svg"},
	{"sonde heatmap --from-event sched:sched_process_exec --to-event sched:sched_process_exit --key pid",
	 "the time between any two events that share a field",
	 "sonde heatmap -i $T/data/tracepoints.data --from-event sched:sched_process_exec "
	 "--to-event sched:sched_process_exit --key pid=pid >heat.svg"},
	{"sonde heatmap -i perf.data -e block:block_rq_issue --value bytes --log",
	 "sizes of disk I/O over time",
	 "sonde heatmap -i $T/data/tracepoints.data --value cpu >heat.svg"},
	{"awk '{ print $1, $5 }' trace.txt | sonde heatmap --unitstime us --unitslat us --maxlat 20000 > heat.svg",
	 "any times and values",
	 "seq 1 100 | awk '{ print $1 * 10000, $1 * $1 }' | sonde heatmap --unitstime us --unitslat us --maxlat 20000 > heat.svg"},
	{.line = NULL},
};

const struct command command_heatmap = {
	.name = "heatmap",
	.summary = "Draw latency or occurrences over time as a heat map",
	.usage = "sonde heatmap [options] [FILE]",
	.description =
		"Time runs to the right, a value upwards, and the color of a cell says how many events fell into it: "
		"distributions with several peaks, outliers and changes over time can be seen where an average hides them.\n\n"
		"Without a value or latency the subsecond form is drawn: each column is one second, the height is the offset within it. "
		"Things that happen with a rhythm become lines.\n\n"
		"Text input has a time and a value on each line, split by white space or a comma; a line with only a time makes a "
		"subsecond map. Lines that begin with # are comments.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PICTURE,
	.run = run,
};
