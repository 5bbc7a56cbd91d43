// SPDX-License-Identifier: GPL-2.0-or-later
// Counts as text, CSV and JSON, in the layouts of perf stat.
#include "base/json.h"
#include "cmd/stat/stat.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>

enum { METRIC_WIDTH = 35, METRIC_ONLY_WIDTH = 20, HEADER_EVERY = 25 };

// How a row begins, by enum stat_by.
static const struct kind {
	const char *json;     // the key
	int header;	      // width of its columns in a header of metrics
	const char *csv;      // its columns in such a header
	const char *interval; // in the header of intervals
	bool counts_cpus;
} kinds[] = {
	[STAT_BY_ALL] = {"", 0, "", "", false},
	[STAT_BY_CPU] = {"cpu", 6, "cpu,", " CPU       ", false},
	[STAT_BY_CORE] = {"core", 24, "core,cpus", " core            cpus", true},
	[STAT_BY_DIE] = {"die", 18, "die,cpus", " die          cpus", true},
	[STAT_BY_SOCKET] = {"socket", 12, "socket,cpus", " socket cpus", true},
	[STAT_BY_NODE] = {"node", 6, "node", " node   cpus", true},
	[STAT_BY_THREAD] = {"thread", 24, "comm-pid", "             comm-pid", false},
};

struct printer {
	struct counting *stat;
	struct out *out;
	const char *prefix; // of each line
	int unit_width;
	locale_t numbers; // the user's, for large counts; 0: none
};

static void row_name(const struct printer *printer, const struct stat_row *row, char *buf, size_t size)
{
	switch (printer->stat->options->by) {
	case STAT_BY_CPU:
		snprintf(buf, size, "%d", row->cpu);
		break;
	case STAT_BY_CORE:
		snprintf(buf, size, "S%d-D%d-C%d", row->socket, row->die, row->core);
		break;
	case STAT_BY_DIE:
		snprintf(buf, size, "S%d-D%d", row->socket, row->die);
		break;
	case STAT_BY_SOCKET:
		snprintf(buf, size, "S%d", row->socket);
		break;
	case STAT_BY_NODE:
		snprintf(buf, size, "N%d", row->node);
		break;
	case STAT_BY_THREAD:
		snprintf(buf, size, "%s-%d", row->comm, (int)row->thread);
		break;
	default:
		*buf = 0;
	}
}

static void put_row_text(const struct printer *printer, const struct stat_row *row, unsigned cells)
{
	struct out *out = printer->out;

	switch (printer->stat->options->by) {
	case STAT_BY_CPU:
		out_printf(out, "CPU%-7d ", row->cpu);
		break;
	case STAT_BY_CORE:
		out_printf(out, "S%d-D%d-C%-8d %4u ", row->socket, row->die, row->core, cells);
		break;
	case STAT_BY_DIE:
		out_printf(out, "S%d-D%-8d %4u ", row->socket, row->die, cells);
		break;
	case STAT_BY_SOCKET:
		out_printf(out, "S%-5d %4u ", row->socket, cells);
		break;
	case STAT_BY_NODE:
		out_printf(out, "N%-5d %4u ", row->node, cells);
		break;
	case STAT_BY_THREAD:
		out_fill(out, ' ', 16 - MIN(strlen(row->comm), 16));
		out_safe(out, row->comm);
		out_printf(out, "-%-8d ", (int)row->thread);
		break;
	default:
		break;
	}
}

static void put_row(const struct printer *printer, const struct stat_row *row, unsigned cells)
{
	const struct stat_options *options = printer->stat->options;
	const struct kind *kind = &kinds[options->by];
	struct out *out = printer->out;
	char name[96];

	row_name(printer, row, name, sizeof(name));
	if (options->format == STAT_TEXT) {
		put_row_text(printer, row, cells);
	} else if (options->format == STAT_CSV && *name) {
		out_printf(out, "%s%s%s", options->by == STAT_BY_CPU ? "CPU" : "", name,
			   options->separator);
		if (kind->counts_cpus)
			out_printf(out, "%u%s", cells, options->separator);
	} else if (options->format == STAT_JSON) {
		if (!options->interval_ms || !*printer->prefix)
			out_char(out, '{');
		if (*name) {
			out_printf(out, "\"%s\" : ", kind->json);
			json_quote(out, str_of(name));
			out_text(out, ", ");
		}
		if (kind->counts_cpus)
			out_printf(out, "\"aggregate-number\" : %u, ", cells);
	}
}

static void put_prefix(const struct printer *printer)
{
	out_text(printer->out, printer->prefix);
}

static const char *unit_of(const struct stat_counter *counter)
{
	return counter->spec->unit ? counter->spec->unit : stat_is_clock(counter) ? "msec" : "";
}

static void put_count_text(const struct printer *printer, const struct stat_counter *counter,
			   double value, int decimals)
{
	bool counted = value >= 0;
	char number[64];

	if (counted) {
		locale_t old = printer->numbers ? uselocale(printer->numbers) : 0;

		snprintf(number, sizeof(number), printer->numbers ? "%'.*f" : "%.*f", decimals,
			 value);
		if (old)
			uselocale(old);
	} else {
		snprintf(number, sizeof(number), "%s",
			 counter->supported ? "<not counted>" : "<not supported>");
	}
	out_text_right(printer->out, number, 18);
	out_char(printer->out, ' ');
	out_text_left(printer->out, unit_of(counter), printer->unit_width);
	out_char(printer->out, ' ');
	out_text_left(printer->out, counter->spec->name, counted ? 32 : 25);
}

static void put_count(const struct printer *printer, const struct stat_counter *counter, double value)
{
	const struct stat_options *options = printer->stat->options;
	double scale = stat_is_clock(counter) ? 1e-6
		       : counter->spec->scale ? counter->spec->scale
					      : 1;
	int decimals = floor(scale) != scale ? 2 : 0;
	const char *bad = counter->supported ? "<not counted>" : "<not supported>";
	struct out *out = printer->out;

	value = value < 0 ? -1 : value * scale;
	if (options->format == STAT_TEXT) {
		put_count_text(printer, counter, value, decimals);
		return;
	}
	if (options->format == STAT_CSV) {
		if (value < 0)
			out_text(out, bad);
		else
			out_printf(out, "%.*f", decimals, value);
		out_printf(out, "%s%s%s%s", options->separator, unit_of(counter),
			   options->separator, counter->spec->name);
		return;
	}
	if (value < 0)
		out_printf(out, "\"counter-value\" : \"%s\", ", bad);
	else
		out_printf(out, "\"counter-value\" : \"%f\", ", value);
	out_text(out, "\"unit\" : ");
	json_quote(out, str_of(unit_of(counter)));
	out_text(out, ", \"event\" : ");
	json_quote(out, str_of(counter->spec->name));
	out_text(out, ", ");
}

static void put_cgroup(const struct printer *printer, const struct stat_counter *counter)
{
	const struct stat_options *options = printer->stat->options;
	const char *name = counter->cgroup ? counter->cgroup : "";
	struct out *out = printer->out;

	if (!printer->stat->has_cgroups)
		return;
	if (options->format == STAT_TEXT) {
		out_char(out, ' ');
		out_safe(out, name);
	} else if (options->format == STAT_CSV) {
		out_printf(out, "%s%s", options->separator, name);
	} else {
		out_text(out, "\"cgroup\" : ");
		json_quote(out, str_of(name));
		out_text(out, ", ");
	}
}

// Spread and share of the time: behind the count where machines read, behind the metric where people do.
static void put_quality(const struct printer *printer, const struct stat_counter *counter,
			const struct stat_count *count)
{
	const struct stat_options *options = printer->stat->options;
	double percent = spread_percent(&counter->spread);
	uint64_t run = count->running_ns, enabled = count->enabled_ns;
	uint64_t runs = printer->stat->runs ? printer->stat->runs : 1;
	// Whole percents, as perf's.
	double share = enabled ? (double)(100 * (__uint128_t)run / enabled) : 100;
	struct out *out = printer->out;

	if (options->format == STAT_TEXT) {
		if (options->repeat != 1 && percent > 0)
			out_printf(out, "  ( +-%6.2f%% )", percent);
		if (run != enabled && run)
			out_printf(out, "  (%.2f%%)", 100.0 * (double)run / (double)enabled);
	} else if (options->format == STAT_CSV) {
		if (options->repeat != 1)
			out_printf(out, "%s%.2f%%", options->separator, percent);
		out_printf(out, "%s%llu%s%.2f", options->separator,
			   (unsigned long long)(run / runs), options->separator, share);
	} else {
		if (options->repeat != 1)
			out_printf(out, "\"variance\" : %.2f, ", percent);
		out_printf(out, "\"event-runtime\" : %llu, \"pcnt-running\" : %.2f, ",
			   (unsigned long long)(run / runs), share);
	}
}

static void put_metric(const struct printer *printer, const struct stat_metric *metric)
{
	struct out *out = printer->out;
	char number[64];

	if (printer->stat->options->format == STAT_JSON) {
		out_printf(out, "\"metric-value\" : %f, \"metric-unit\" : \"%s\"}", metric->value,
			   metric->unit);
		return;
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(number, sizeof(number), metric->format, metric->value);
#pragma GCC diagnostic pop
	if (printer->stat->options->format == STAT_TEXT) {
		out_text(out, " # ");
		out_text(out, number);
		out_char(out, ' ');
		out_text_left(out, metric->unit, METRIC_WIDTH - 4 - (int)strlen(number));
		return;
	}
	char *start = number + strspn(number, " ");
	start[strspn(start, "0123456789.")] = 0;
	out_printf(out, "%s%s%s%s", printer->stat->options->separator, start,
		   printer->stat->options->separator, metric->unit);
}

static void put_no_metric(const struct printer *printer, bool counted)
{
	const struct stat_options *options = printer->stat->options;

	if (options->format == STAT_TEXT)
		out_fill(printer->out, ' ', METRIC_WIDTH);
	else if (options->format == STAT_CSV)
		out_printf(printer->out, "%s%s", options->separator, options->separator);
	else
		out_printf(printer->out, "\"metric-value\" : 0.000000, \"metric-unit\" : \"%s\"}",
			   counted ? "(null)" : "");
}

// The begin of a line that holds a further metric of the count before it.
static void continue_line(const struct printer *printer, const struct stat_counter *counter,
			  size_t row, unsigned cells)
{
	const struct stat_options *options = printer->stat->options;
	unsigned empty = 3 + (options->by != STAT_BY_ALL) + kinds[options->by].counts_cpus +
			 (counter->cgroup != NULL);

	out_char(printer->out, '\n');
	put_prefix(printer);
	put_row(printer, &printer->stat->rows.v[row], cells);
	if (options->format == STAT_TEXT)
		out_fill(printer->out, ' ', options->by == STAT_BY_CPU ? 57 : 49);
	for (unsigned i = 0; options->format == STAT_CSV && i < empty; i++)
		out_text(printer->out, options->separator);
}

static void put_line(const struct printer *printer, const struct stat_counter *counter, size_t row)
{
	const struct counting *stat = printer->stat;
	struct stat_metric metrics[STAT_METRICS];
	double value = stat_value(stat, counter, row);
	unsigned n = stat_metrics(stat, counter, row, metrics), shown = 0;
	unsigned cells = !counter->supported ? 1 : stat->rows.v[row].cells;

	put_prefix(printer);
	put_row(printer, &stat->rows.v[row], cells);
	put_count(printer, counter, value);
	put_cgroup(printer, counter);
	if (stat->options->format != STAT_TEXT)
		put_quality(printer, counter, &counter->rows[row]);
	for (unsigned i = 0; i < n; i++) {
		if (isnan(metrics[i].value))
			continue;
		if (shown++)
			continue_line(printer, counter, row, cells);
		put_metric(printer, &metrics[i]);
	}
	if (!shown)
		put_no_metric(printer, value >= 0);
	if (stat->options->format == STAT_TEXT)
		put_quality(printer, counter, &counter->rows[row]);
	out_char(printer->out, '\n');
}

static bool shown_alone(const struct stat_metric *metric)
{
	return metric->is_named ||
	       (!strstr(metric->unit, "/sec") && !strstr(metric->unit, "CPUs utilized"));
}

static void put_metric_alone(const struct printer *printer, const struct stat_metric *metric,
			     const char *unit)
{
	const struct stat_options *options = printer->stat->options;
	struct out *out = printer->out;
	char number[64] = "";

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (!isnan(metric->value))
		snprintf(number, sizeof(number),
			 options->format == STAT_JSON ? "%.3f" : metric->format, metric->value);
#pragma GCC diagnostic pop
	if (options->format == STAT_TEXT) {
		out_printf(out, "%*s ", MAX(METRIC_ONLY_WIDTH, (int)strlen(unit)), number);
	} else if (options->format == STAT_CSV) {
		char *start = number + strspn(number, " ");

		start[strspn(start, "-0123456789.")] = 0;
		out_printf(out, "%s%s", start, options->separator);
	} else {
		out_printf(out, "\"%s\" : \"%s\"", unit, number);
	}
}

// Gives each metric of a row that --metric-only shows.
static void each_alone(const struct counting *stat, size_t row,
		       void (*put)(void *arg, const struct stat_metric *metric, const char *unit),
		       void *arg)
{
	struct stat_metric metrics[STAT_METRICS];

	vec_each(const struct stat_counter, counter, &stat->counters) {
		unsigned n = stat_metrics(stat, counter, row, metrics);

		for (unsigned i = 0; i < n; i++) {
			bool is_share = text_starts(metrics[i].unit, "of all");
			char unit[160];

			if (!shown_alone(&metrics[i]))
				continue;
			snprintf(unit, sizeof(unit), "%s%s%s", is_share ? counter->spec->name : "",
				 is_share ? " " : "", metrics[i].unit);
			put(arg, &metrics[i], unit);
		}
	}
}

struct metrics_line {
	const struct printer *printer;
	unsigned shown;
};

static void put_alone(void *arg, const struct stat_metric *metric, const char *unit)
{
	struct metrics_line *line = arg;
	bool is_json = line->printer->stat->options->format == STAT_JSON;

	if (is_json && isnan(metric->value))
		return;
	if (is_json && line->shown++)
		out_text(line->printer->out, ", ");
	put_metric_alone(line->printer, metric, unit);
}

// --metric-only: a line a row.
static void put_metrics_line(const struct printer *printer, size_t row)
{
	const struct counting *stat = printer->stat;
	struct metrics_line line = {printer, 0};

	put_prefix(printer);
	put_row(printer, &stat->rows.v[row], stat->rows.v[row].cells);
	each_alone(stat, row, put_alone, &line);
	if (stat->options->format == STAT_JSON)
		out_char(printer->out, '}');
	out_char(printer->out, '\n');
}

static void put_unit(void *arg, const struct stat_metric *metric, const char *unit)
{
	const struct printer *printer = arg;

	if (printer->stat->options->format == STAT_CSV)
		out_printf(printer->out, "%s%s", unit, printer->stat->options->separator);
	else
		out_printf(printer->out, "%*s ", METRIC_ONLY_WIDTH, unit);
}

static void put_metrics_header(const struct printer *printer, bool indented)
{
	const struct stat_options *options = printer->stat->options;
	struct printer copy = *printer;

	if (options->format == STAT_JSON)
		return;
	if (options->format == STAT_CSV)
		out_printf(printer->out, "%s%s", options->interval_ms ? "time," : "",
			   kinds[options->by].csv);
	else if (indented)
		out_fill(printer->out, ' ', (size_t)kinds[options->by].header);
	each_alone(printer->stat, 0, put_unit, &copy);
	out_char(printer->out, '\n');
}

static bool nothing_in(const struct counting *stat, const struct stat_counter *counter, size_t row)
{
	return counter->supported && !counter->row_cells[row] && stat->options->by != STAT_BY_ALL &&
	       !counter->rows[row].enabled_ns && counter->spec->cpus;
}

struct ranked {
	size_t row;
	double value;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->value != y->value ? (x->value > y->value ? -1 : 1)
	       : x->row < y->row    ? -1
				    : x->row > y->row;
}

// Of all threads of a system most did nothing: those that did the most come first.
static struct ranked *rank_rows(const struct counting *stat, const struct stat_counter *counter)
{
	struct ranked *ranked = xcalloc(stat->rows.n, sizeof(*ranked));

	for (size_t row = 0; row < stat->rows.n; row++)
		ranked[row] = (struct ranked){row, stat_value(stat, counter, row)};
	qsort(ranked, stat->rows.n, sizeof(*ranked), by_value);
	return ranked;
}

static void put_all(const struct printer *printer)
{
	const struct counting *stat = printer->stat;
	enum stat_by by = stat->options->by;
	bool by_event = by == STAT_BY_CPU || by == STAT_BY_THREAD;

	if (stat->options->metric_only) {
		for (size_t row = 0; row < stat->rows.n; row++)
			put_metrics_line(printer, row);
		return;
	}
	// CPUs and threads stand together under their event, events under their core or socket.
	for (size_t a = 0; a < (by_event ? stat->counters.n : stat->rows.n); a++) {
		auto_free struct ranked *ranked =
			stat->options->each_thread ? rank_rows(stat, &stat->counters.v[a]) : NULL;

		for (size_t b = 0; b < (by_event ? stat->rows.n : stat->counters.n); b++) {
			const struct stat_counter *counter = &stat->counters.v[by_event ? a : b];
			size_t row = ranked ? ranked[b].row : by_event ? b : a;

			if (ranked && ranked[b].value <= 0)
				break;
			if (!nothing_in(stat, counter, row))
				put_line(printer, counter, row);
		}
	}
}

static void put_target(const struct printer *printer)
{
	const struct stat_options *options = printer->stat->options;
	struct out *out = printer->out;

	out_text(out, "\n Performance counter stats for ");
	if (options->bpf_programs) {
		out_printf(out, "'BPF program(s) %s", options->bpf_programs);
	} else if (options->target.all_cpus) {
		out_text(out, "'system wide");
	} else if (options->target.cpus) {
		out_printf(out, "'CPU(s) %s", options->target.cpus);
	} else if (options->target.pids) {
		out_printf(out, "process id '%s", options->target.pids);
	} else if (options->target.tids) {
		out_printf(out, "thread id '%s", options->target.tids);
	} else {
		for (char **word = printer->stat->command; *word; word++) {
			out_char(out, word == printer->stat->command ? '\'' : ' ');
			out_safe(out, *word);
		}
	}
	out_char(out, '\'');
	if (options->repeat > 1)
		out_printf(out, " (%u runs)", options->repeat);
	out_text(out, ":\n\n");
}

// One digit of the deviation more than what is sure.
static int precision(double deviation)
{
	return deviation > 1 ? 0 : deviation > 0 ? (int)lround(ceil(-log10(deviation))) : 9;
}

static void put_table(const struct printer *printer, int digits)
{
	const struct counting *stat = printer->stat;
	double mean = stat->elapsed.mean / 1e9;
	struct out *out = printer->out;
	char number[64];

	snprintf(number, sizeof(number), " %17.*f", digits, mean);
	size_t indent = strspn(number, " ");
	out_fill(out, ' ', indent);
	out_text(out, "# Table of individual measurements:\n");
	vec_each(const uint64_t, ns, &stat->run_ns) {
		double seconds = (double)*ns / 1e9;
		double off = seconds > 0 ? 100 * (seconds - mean) / seconds / 5 : 0;

		out_printf(out, " %17.*f (%+.*f) ", digits, seconds, digits, seconds - mean);
		out_fill(out, '#', 1 + (size_t)fmin(fabs(off), 1000));
		out_char(out, '\n');
	}
	out_char(out, '\n');
	out_fill(out, ' ', indent);
	out_text(out, "# Final result:\n");
}

static void put_end(const struct printer *printer)
{
	const struct counting *stat = printer->stat;
	const struct stat_options *options = stat->options;
	struct out *out = printer->out;
	double mean = stat->elapsed.mean / 1e9, off = spread_deviation(&stat->elapsed) / 1e9;

	if (!options->null_run)
		out_char(out, '\n');
	if (options->repeat == 1) {
		out_printf(out, " %17.9f seconds time elapsed", mean);
		if (stat->target.has_workload)
			out_printf(out, "\n\n %17.9f seconds user\n %17.9f seconds sys\n",
				   stat->user.mean / 1e9, stat->system.mean / 1e9);
	} else {
		int digits = MIN(precision(off) + 2, 9);

		if (options->table)
			put_table(printer, digits);
		out_printf(out, " %17.*f +- %.*f seconds time elapsed", digits, mean, digits, off);
		if (off > 0)
			out_printf(out, "  ( +-%6.2f%% )", spread_percent(&stat->elapsed));
	}
	out_text(out, "\n\n");
	if (stat->kernel_excluded)
		out_printf(out, "# kernel.perf_event_paranoid is %d: only user space was counted\n",
			   perf_paranoid());
}

static void printer_init(struct printer *printer, struct counting *stat)
{
	const char *tells;

	*printer = (struct printer){.stat = stat, .out = &stat->out, .prefix = "", .unit_width = 4};
	vec_each(const struct stat_counter, counter, &stat->counters)
		printer->unit_width = MAX(printer->unit_width, (int)strlen(unit_of(counter)));
	// Only the grouping of digits is the user's: a decimal comma would break who reads the rest.
	tells = stat->options->big_num && stat->options->format == STAT_TEXT ? "" : NULL;
	if (tells)
		printer->numbers = newlocale(LC_NUMERIC_MASK, tells, 0);
}

static void printer_done(struct printer *printer)
{
	if (printer->numbers)
		freelocale(printer->numbers);
	out_flush(printer->out);
}

void stat_print_interval(struct counting *stat, uint64_t since_ns)
{
	const struct stat_options *options = stat->options;
	struct printer printer;
	char prefix[64];
	const char *form = options->format == STAT_JSON	 ? "{\"interval\" : %llu.%09llu, "
			   : options->format == STAT_CSV ? "%6llu.%09llu"
							 : "%6llu.%09llu ";

	printer_init(&printer, stat);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(prefix, sizeof(prefix), form, (unsigned long long)(since_ns / 1000000000),
		 (unsigned long long)(since_ns % 1000000000));
#pragma GCC diagnostic pop
	if (options->format == STAT_CSV)
		snprintf(prefix + strlen(prefix), sizeof(prefix) - strlen(prefix), "%s",
			 options->separator);
	printer.prefix = prefix;
	if (options->interval_clear)
		out_text(&stat->out, "\033[H\033[2J");
	if (options->format == STAT_TEXT && (!stat->printed || options->interval_clear)) {
		out_printf(&stat->out, "#           time%s", kinds[options->by].interval);
		if (options->metric_only)
			put_metrics_header(&printer, false);
		else
			out_printf(&stat->out, "             counts %*s events\n",
				   printer.unit_width, "unit");
	} else if (options->metric_only && !stat->printed) {
		put_metrics_header(&printer, false);
	}
	if (stat->printed++ == HEADER_EVERY)
		stat->printed = 0;
	put_all(&printer);
	printer_done(&printer);
}

void stat_print(struct counting *stat)
{
	const struct stat_options *options = stat->options;
	struct printer printer;
	char prefix[64] = "";

	printer_init(&printer, stat);
	if (options->format == STAT_CSV && options->interval_ms && !options->no_csv_summary)
		snprintf(prefix, sizeof(prefix), "%16s%s", "summary", options->separator);
	printer.prefix = prefix;
	if (options->format == STAT_TEXT)
		put_target(&printer);
	if (options->metric_only)
		put_metrics_header(&printer, true);
	put_all(&printer);
	if (options->format == STAT_TEXT)
		put_end(&printer);
	printer_done(&printer);
}
