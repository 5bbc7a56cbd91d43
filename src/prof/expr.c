// SPDX-License-Identifier: GPL-2.0-or-later
// Compiles an expression for an event, shows its code, and evaluates it for the events that come: to try out what an attribute of another
// profiler will say.
#include "base/err.h"
#include "base/log.h"
#include "flow/event_fields.h"
#include "prof/core/rows.h"

struct expr_state {
	struct expr **programs; // by event
	uint64_t evaluated_n, failed_n;
	struct prof_rows rows;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH, PROF_HEADING("Which events"), PROF_OPTIONS_EVENTS,
	PROF_OPTIONS_RINGS,  PROF_OPTIONS_OUTPUT,	   OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof expr -e sched:sched_wakeup 'prio > 100 ? pid : -1' -v -N 3",
	 "shows the code of an expression, and its value for three events",
	 "sonde prof expr -e sched:sched_wakeup 'prio > 100 ? pid : -1' -v -N 3 --from \"$T/data/prof.data.gz\" >out.txt"},
	{"sonde prof expr -e sched:sched_process_exec '(char *)&common_type + filename_offset' -- date",
	 "shows which file a command executes",
	 "sonde prof expr -e sched:sched_process_exec '(char *)&common_type + filename_offset' -- date >out.txt"},
	{"sonde prof expr -e sched:sched_switch 'printf(\"%s -> %s\\n\", prev_comm, next_comm)' -N 5",
	 "prints what it wants of each event",
	 "sonde prof expr -e sched:sched_switch 'printf(\"%s -> %s\\n\", prev_comm, next_comm)' -N 5 --from \"$T/data/prof.data.gz\" >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct expr_state *state = PROF_STATE(struct expr_state, prof);
	const char *text = prof->options->word;

	if (!text)
		return fail(EINVAL,
			    "there is no expression; write: sonde prof expr -e EVENT 'EXPRESSION'");
	state->programs = xcalloc(prof->events.n + 1, sizeof(*state->programs));
	for (size_t i = 0; i < prof->events.n; i++) {
		const struct event *event = prof->events.v[i]->feed->event;
		int err = prof_compile(&state->programs[i], prof, prof->events.v[i], text);

		if (err < 0)
			return err;
		if (prof->options->verbose < 1)
			continue;
		out_printf(prof->out, "%s: %s: %s\n", event->name, text,
			   expr_type_text(state->programs[i]));
		expr_dump(state->programs[i], prof->out);
	}
	prof_rows_begin(prof, &state->rows, false);
	return 0;
}

static void put_value(struct out *out, const struct expr *program, const struct expr_value *value)
{
	if (expr_is_text(program)) {
		out_char(out, '"');
		for (size_t i = 0; i < value->text.n; i++) { // names come from strangers
			const unsigned char c = (unsigned char)value->text.p[i];

			if (c < ' ' || c == 127 || c == '"' || c == '\\')
				out_printf(out, "\\x%02x", c);
			else
				out_char(out, (char)c);
		}
		out_char(out, '"');
	} else {
		if (expr_is_signed(program))
			out_i64(out, (int64_t)value->number);
		else
			out_u64(out, value->number);
		out_text(out, " 0x");
		out_hex(out, expr_size(program) < 8
				     ? value->number & ((1ull << 8 * expr_size(program)) - 1)
				     : value->number);
	}
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct expr_state *state = PROF_STATE(struct expr_state, prof);
	const struct expr *program = state->programs[event->index];
	uint64_t context[EXPR_CONTEXTS];
	const struct expr_record record = event_record(sample, context);
	struct expr_value value = {0};
	int err = expr_run(prof->machine, program, &record, &value);

	state->evaluated_n++;
	if (err < 0) {
		expr_fault(prof->machine, program);
		if (!state->failed_n++)
			warn("%s: %s", event->feed->event->name, err_sentence());
		err_clear();
		return 0;
	}
	if (expr_prints(program) || expr_is_void(program))
		return prof_broken(prof);
	if (prof_rows_on(&state->rows)) {
		put_value(prof_rows_fields(&state->rows), program, &value);
		prof_rows_put_as(prof, &state->rows, event, sample);
		return prof_broken(prof);
	}
	prof_put_time(prof, sample->time);
	out_printf(prof->out, " %s: ", event->feed->event->name);
	put_value(prof->out, program, &value);
	out_char(prof->out, '\n');
	return prof_broken(prof);
}

static int finish(struct prof *prof, uint64_t now_ns)
{
	const struct expr_state *state = PROF_STATE(struct expr_state, prof);

	if (state->failed_n && state->failed_n == state->evaluated_n)
		return fail(EFAULT, "all %llu evaluations failed",
			    (unsigned long long)state->failed_n);
	if (state->failed_n)
		warn("%llu of %llu evaluations failed", (unsigned long long)state->failed_n,
		     (unsigned long long)state->evaluated_n);
	return 0;
}

static void done(struct prof *prof)
{
	struct expr_state *state = PROF_STATE(struct expr_state, prof);

	for (size_t i = 0; state->programs && i < prof->events.n; i++)
		expr_free(state->programs[i]);
	free(state->programs);
	prof_rows_done(&state->rows);
}

const struct profiler profiler_expr = {
	.name = "expr",
	.summary = "Try out an expression over an event's fields",
	.usage = "sonde prof expr -e EVENT EXPRESSION [-v] [options] [-- COMMAND]",
	.description =
		"Attributes such as key=, num=, comm= and exec= are C expressions over the fields of the event. This one compiles an "
		"expression (-v shows its type and code) and shows its value for each event; -vv shows the event, too.\n\n"
		"Operators, from the strongest: x++ x-- f() a[i]; ++x --x + - ! ~ (type) * & sizeof; * / %; + -; << >>; < <= > >=; == != ~; "
		"&; ^; |; &&; ||; ?:; = += ...; comma. Types are C's integers (long has 64 bits), pointers and arrays. Text compares by "
		"== and != with text, by ~ with a pattern of * ? [a-z].\n\n"
		"Functions: printf(format, ...), ksymbol(address), usymbol(address[, pid]), comm(tid), syscall(number), "
		"strcmp(a, b), strncmp(a, b, n), strlen(a), min(a, b), max(a, b), ntohs, ntohl, ntohll, htons, htonl, htonll.\n\n"
		"A field of variable length is an array; NAME_offset and NAME_len are where it lies in the event. _cpu, _pid, _tid, _time "
		"(ns) and _period are the sample's. Pointers lead into the event; anywhere else is an error of that one evaluation. An "
		"assignment changes a copy of the event until the end of the evaluation.",
	.opts = options,
	.size = sizeof(struct prof_options),
	.state_size = sizeof(struct expr_state),
	.examples = examples,
	.events = PROF_EVENTS_WANTED,
	.takes_word = true,
	.endless = true,
	.tasks = true,
	.setup = setup,
	.sample = sample,
	.finish = finish,
	.done = done,
};
