// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/core/metric.h"
#include "base/alloc.h"
#include "base/err.h"
#include "event/core/event_kind.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

bool metric_matches(const struct metric *metric, struct str word)
{
	auto_free char *wanted = str_dup(word);
	struct str groups = str_of(metric->groups);

	if (!strcasecmp(wanted, metric->name) || !strcasecmp(wanted, "all") ||
	    (metric->alias && !strcasecmp(wanted, metric->alias)))
		return true;
	while (groups.p) {
		struct str group = str_cut(&groups, ';');

		if (group.n == word.n && !strncasecmp(group.p, wanted, word.n))
			return true;
	}
	return false;
}

struct reader {
	struct str rest, token; // token.n 0: the end
	double (*value)(void *arg, struct str name);
	void *arg;
};

static void next(struct reader *reader)
{
	do
		reader->token = reader->rest.p ? str_cut(&reader->rest, ' ') : STR("");
	while (!reader->token.n && reader->rest.p);
}

static bool is_event(struct str token)
{
	return token.n && !isdigit((unsigned char)*token.p) &&
	       !(token.n == 1 && strchr("+-*/(),", *token.p)) && !str_is(token, "max(") &&
	       !str_is(token, "min(");
}

static double sum(struct reader *reader);

static double pair(struct reader *reader)
{
	bool is_max = str_is(reader->token, "max(");

	next(reader);
	double a = sum(reader);
	next(reader); // ,
	double b = sum(reader);

	if (isnan(a) || isnan(b))
		return (double)NAN;
	return is_max ? fmax(a, b) : fmin(a, b);
}

static double factor(struct reader *reader)
{
	double value;

	if (str_is(reader->token, "max(") || str_is(reader->token, "min(")) {
		value = pair(reader);
	} else if (str_is(reader->token, "(")) {
		next(reader);
		value = sum(reader);
	} else {
		value = is_event(reader->token) ? reader->value(reader->arg, reader->token)
						: strtod(reader->token.p, NULL);
	}
	next(reader); // also the closing parenthesis
	return value;
}

static double product(struct reader *reader)
{
	double value = factor(reader);

	while (str_is(reader->token, "*") || str_is(reader->token, "/")) {
		bool divides = *reader->token.p == '/';

		next(reader);
		double by = factor(reader);

		if (divides)
			value = by != 0 ? value / by : (double)NAN;
		else
			value *= by;
	}
	return value;
}

static double sum(struct reader *reader)
{
	double value = product(reader);

	while (str_is(reader->token, "+") || str_is(reader->token, "-")) {
		bool is_minus = *reader->token.p == '-';

		next(reader);
		double more = product(reader);

		value += is_minus ? -more : more;
	}
	return value;
}

double metric_value(const char *formula, double (*value)(void *arg, struct str name), void *arg)
{
	struct reader reader = {.rest = str_of(formula), .value = value, .arg = arg};

	next(&reader);
	return sum(&reader);
}

void metric_events(const char *formula, void (*event)(void *arg, struct str name), void *arg)
{
	struct reader reader = {.rest = str_of(formula)};

	for (next(&reader); reader.token.n; next(&reader)) {
		if (is_event(reader.token))
			event(arg, reader.token);
	}
}

struct search {
	struct event_specs *specs;
	const struct event_context *ctx;
	bool there, opens;
};

static void look(void *arg, struct str name)
{
	struct search *search = arg;
	size_t before = search->specs->events.n;

	if (!search->there)
		return;
	auto_free char *text = str_is(name, "clock") ? xstrdup("task-clock") : str_dup(name);

	if (event_parse(search->specs, text, search->ctx) < 0) {
		err_clear();
		search->there = search->opens = false;
		return;
	}
	for (size_t i = before; i < search->specs->events.n; i++) {
		const struct event_spec *spec = &search->specs->events.v[i];

		// What sysfs names is there, though it may open only on some CPUs or behind a leader.
		search->opens = search->opens && (spec->tool || !strcmp(spec->kind->name, "pmu") ||
						  event_opens(&spec->attr));
	}
}

const char *metric_form(const struct metric *metric, struct event_specs *specs,
			const struct event_context *ctx, bool *ret_opens)
{
	const char *possible = NULL;
	size_t last = specs->last;

	*ret_opens = false;
	for (size_t i = 0; i < METRIC_FORMS && metric->forms[i] && !*ret_opens; i++) {
		struct event_context quick = *ctx;
		struct search search = {specs, &quick, true, true};
		size_t before = specs->events.n;

		quick.no_hints = true;
		metric_events(metric->forms[i], look, &search);
		specs->events.n = before;
		if (search.opens) {
			possible = metric->forms[i];
			*ret_opens = true;
		} else if (search.there && !possible) {
			possible = metric->forms[i];
		}
	}
	specs->last = last;
	return possible;
}
