// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/file.h"
#include "cmd/core/default_input.h"
#include "cmd/heatmap/heatmap.h"
#include <ctype.h>
#include <math.h>

static bool is_separator(char c)
{
	return c == ',' || c == ';' || isspace((unsigned char)c);
}

static struct str next_word(struct str *rest)
{
	size_t i = 0, from;

	while (i < rest->n && is_separator(rest->p[i]))
		i++;
	for (from = i; i < rest->n && !is_separator(rest->p[i]);)
		i++;
	struct str word = {rest->p + from, i - from};
	*rest = (struct str){rest->p + i, rest->n - i};
	return word;
}

// perf script writes times with a colon behind them.
static bool parse_number(struct str word, double *ret)
{
	if (word.n && word.p[word.n - 1] == ':')
		word.n--;
	return word.n && word.n < 64 && num_parse_double(word, ret) >= 0 && isfinite(*ret);
}

static void add_subsecond(struct heat *heat, double seconds)
{
	heat_add(heat, seconds, (seconds - floor(seconds)) * 1000, 1);
}

// The time of a `perf script` line: a word "123.456789:".
static bool script_time(struct str line, double *ret)
{
	struct str word;

	while ((word = next_word(&line)).n) {
		if (word.n > 3 && word.p[word.n - 1] == ':' && memchr(word.p, '.', word.n) &&
		    parse_number(word, ret))
			return true;
	}
	return false;
}

enum line_form { TIME_VALUE, TIME_ONLY, SCRIPT, FORMS };

static bool parse_line(struct str line, enum line_form form, double *ret_time, double *ret_value)
{
	*ret_value = 0;
	if (form == SCRIPT)
		return script_time(line, ret_time);
	return parse_number(next_word(&line), ret_time) &&
	       (form == TIME_ONLY || parse_number(next_word(&line), ret_value));
}

static bool is_skipped(struct str line)
{
	return line.n == 0 || line.p[0] == '#' || line.p[0] == '\t' || !str_trim(line).n;
}

// The form that most of the first lines have; the narrower one when they are equal.
static enum line_form form_of(struct str text)
{
	unsigned fitting[FORMS] = {0}, lines = 0;
	enum line_form best = TIME_VALUE;

	while (text.p && lines < 100) {
		struct str line = str_cut(&text, '\n');
		double time, value;

		if (is_skipped(line))
			continue;
		lines++;
		for (enum line_form form = 0; form < FORMS; form++)
			fitting[form] += parse_line(line, form, &time, &value);
	}
	for (enum line_form form = TIME_ONLY; form < FORMS; form++) {
		if (fitting[form] > fitting[best])
			best = form;
	}
	return best;
}

void points_from_text(struct heat *heat, struct str text, const struct point_options *options,
		      struct point_result *ret)
{
	enum line_form form = form_of(text);

	ret->subsecond = options->subsecond || form != TIME_VALUE;
	for (uint64_t number = 1; text.p; number++) {
		struct str line = str_cut(&text, '\n');
		double time, value;

		if (is_skipped(line))
			continue;
		if (!parse_line(line, form, &time, &value)) {
			if (form == SCRIPT && isspace((unsigned char)line.p[0])) // a frame
				continue;
			if (!ret->bad_lines++)
				ret->first_bad_line = number;
			continue;
		}
		if (ret->subsecond)
			add_subsecond(heat, time / (form == SCRIPT ? 1 : options->units_a_second));
		else
			heat_add(heat, time, value, 1);
	}
}

int points_from_file(struct heat *heat, const char *path, const struct point_options *options,
		     struct point_result *ret)
{
	auto_close int fd = -1;
	struct mapped mapped;
	char by_fd[32];
	int err;

	if (strcmp(path, "-") == 0) {
		err = input_stdin(&fd, by_fd);
		if (err < 0)
			return err;
		path = by_fd;
	}
	err = file_map(&mapped, path);
	if (err < 0)
		return err;
	struct str bytes = str_after_bom((struct str){(const char *)mapped.p, mapped.n});
	bool recording = input_is_recording(bytes);
	if (!recording && (options->value || options->latency || options->from || options->to))
		err = fail(EINVAL, "%s needs a recording, and %s is text",
			   options->value     ? "--value"
			   : options->latency ? "--latency"
			   : options->from    ? "--from-event"
					      : "--to-event",
			   fd >= 0 ? "stdin" : path);
	else if (!recording)
		points_from_text(heat, bytes, options, ret);
	file_unmap(&mapped);
	return recording ? points_from_recording(heat, path, options, ret) : err;
}

void point_result_done(struct point_result *result)
{
	free(result->title);
	free(result->events);
	free(result->host);
}
