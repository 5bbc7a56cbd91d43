// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/pairing.h"
#include "tally/tally.h"
#include "base/log.h"
#include "prof/core/print.h"

bool prof_is_of_cpu(const struct prof_event *event)
{
	static const char *const systems[] = {"irq",   "irq_vectors", "irq_matrix", "ipi", "nmi",
					      "timer", "power",	      "sched",	    "msr", "napi",
					      "rcu",   "hyperv",      "xdp"};
	const char *system = event->feed->system;

	for (size_t i = 0; system && i < ARRAY_SIZE(systems); i++)
		if (!strcmp(system, systems[i]))
			return true;
	return false;
}

bool prof_delay(struct prof *prof, uint64_t first_ns, uint64_t second_ns, uint64_t *ret_ns)
{
	if (second_ns < first_ns) {
		prof->backward_n++;
		return false;
	}
	*ret_ns = second_ns - first_ns;
	return true;
}

// How many are left out, and why.
static void put_left_out(struct prof *prof, uint64_t now_ns, uint64_t n, const char *why)
{
	struct out line;

	if (!n || prof->options->quiet)
		return;
	out_init_memory(&line);
	out_printf(&line, "%s: %llu %s", prof->profiler->name, (unsigned long long)n, why);
	out_char(&line, 0);
	if (!prof->print->format) {
		prof_put_time(prof, now_ns);
		out_printf(prof->out, " %s\n", line.buf);
	} else {
		warn("%s", line.buf);
	}
	out_done(&line);
}

void prof_put_backward(struct prof *prof, uint64_t now_ns)
{
	if (prof->tally)
		prof->backward_n += tally_take_backward(prof->tally);
	put_left_out(prof, now_ns, prof->backward_n,
		     "pairs ran backward in time; they are no delays and are left out");
	prof->backward_n = 0;
}

void prof_put_no_place(struct prof *prof, uint64_t now_ns)
{
	put_left_out(prof, now_ns, prof->no_place_n,
		     "events are in no row: there are more keys than rows are kept for");
	prof->no_place_n = 0;
}

void prof_open_init(struct prof_open *open, const struct prof *prof, uint64_t than_ns, uint64_t now_ns)
{
	const struct feed *feed = prof->feed;

	// The running kernel's ticks are CLOCK_MONOTONIC's, its events may have another clock that can't be read.
	*open = (struct prof_open){.than_ns = than_ns,
				   .now_ns = feed->is_live && !feed->has_wall ? feed->last_ns
									      : now_ns};
}

void prof_open_add(struct prof_open *open, const struct pair_slot *slot)
{
	if (open->than_ns && slot->time_ns < open->now_ns &&
	    open->now_ns - slot->time_ns > open->than_ns)
		vec_push(&open->v, *slot);
}

static int newest_first(const void *a, const void *b)
{
	const struct pair_slot *x = a, *y = b;

	return x->time_ns > y->time_ns ? -1 : x->time_ns < y->time_ns;
}

size_t prof_open_sort(struct prof_open *open)
{
	if (open->v.n)
		qsort(open->v.v, open->v.n, sizeof(*open->v.v), newest_first);
	return MIN(open->v.n, (size_t)PROF_OPEN_SHOWN);
}

void prof_open_put(struct prof *prof, const struct prof_open *open, const struct pair_slot *slot)
{
	out_printf(prof->out, "`Open %.3f us\n", (double)(open->now_ns - slot->time_ns) / 1e3);
}

void prof_open_done(struct prof_open *open, struct prof *prof)
{
	if (open->v.n > PROF_OPEN_SHOWN)
		out_printf(prof->out, "%zu more are open, the longest for %.3f us\n",
			   open->v.n - PROF_OPEN_SHOWN,
			   (double)(open->now_ns - vec_last(&open->v).time_ns) / 1e3);
	vec_done(&open->v);
}
