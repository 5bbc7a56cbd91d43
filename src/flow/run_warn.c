// SPDX-License-Identifier: GPL-2.0-or-later
// What a result lacks, in sentences.
#include "base/log.h"
#include "flow/chain.h"
#include "flow/run.h"
#include <stdio.h>
#include <stdlib.h>

static void warn_loss(const struct run_event_loss *loss, uint64_t first_ns, uint64_t last_ns)
{
	char cpu[32] = "", when[64] = "";

	if (loss->cpu != UINT32_MAX)
		snprintf(cpu, sizeof(cpu), " on CPU %u", loss->cpu);
	if (first_ns != UINT64_MAX)
		snprintf(when, sizeof(when), " between %.6f s and %.6f s", (double)first_ns / 1e9,
			 (double)last_ns / 1e9);
	warn("lost %llu %s of %s%s%s", (unsigned long long)loss->lost,
	     loss->samples ? "samples" : "records",
	     loss->event ? loss->event->name : "an unknown event", cpu, when);
}

// What the events' own counters had at the end tells the samples among the records that were lost: the same loss, with better names.
// LOST records tell when it was.
static void warn_losses(const struct run *run)
{
	struct run_event_loss records = {.first_ns = UINT64_MAX, .cpu = UINT32_MAX};
	uint64_t counted = 0;

	vec_each(const struct run_event_loss, loss, &run->losses) {
		counted += run_event_loss_is_counter(loss) ? loss->lost : 0;
		if (loss->samples)
			continue;
		records.lost += loss->lost;
		records.first_ns = MIN(records.first_ns, loss->first_ns);
		records.last_ns = MAX(records.last_ns, loss->last_ns);
	}
	vec_each(const struct run_event_loss, loss, &run->losses) {
		bool counts = run_event_loss_is_counter(loss);

		if (loss->lost && (loss->samples || !counted))
			warn_loss(loss, counts ? records.first_ns : loss->first_ns,
				  counts ? records.last_ns : loss->last_ns);
	}
	if (counted && records.lost > counted)
		warn("lost %llu records that are no samples, such as names of tasks and files",
		     (unsigned long long)(records.lost - counted));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// In an order that doesn't hang on who came across them first.
static void warn_refused(const struct sym *sym)
{
	VEC(const char *) refused = {0};

	for (size_t i = 0; i < sym->dsos.n; i++) {
		if (sym->dsos.v[i]->refused)
			vec_push(&refused, sym->dsos.v[i]->refused);
	}
	if (refused.n)
		qsort(refused.v, refused.n, sizeof(*refused.v), by_text);
	vec_each(const char *, it, &refused)
		warn("%s", *it);
	vec_done(&refused);
}

// Names that are missing in the result, and why: the kernel's by itself, of the others the first stands for all.
void run_warn_names(const struct run *run)
{
	const struct recording_info *info = &run->recording->info;
	const struct dso *example = NULL;
	enum { SHOWN = 5 };
	size_t others = 0, refused = 0;

	warn_refused(run->sym);
	for (size_t i = 0; i < run->sym->dsos.n; i++) {
		const struct dso *dso = run->sym->dsos.v[i];

		if (dso->state != DSO_NO_SYMBOLS || !dso->note)
			continue;
		if (dso->kind == DSO_KERNEL) {
			warn("kernel addresses have no names: %s%s%s", dso->note,
			     run->sym->options.other_machine && info->os_release
				     ? "; it was recorded under Linux "
				     : "",
			     run->sym->options.other_machine && info->os_release ? info->os_release
										 : "");
		} else if (dso->is_other_file && refused++ < SHOWN) {
			warn("%s has no names: %s; sonde archive keeps such files with a recording%s",
			     dso->short_name, dso->note,
			     dso->build_id.n ? "" : ", --symfs=/ takes what is there");
		} else {
			others++;
			if (!example)
				example = dso;
		}
	}
	if (others)
		warn("%zu file%s no symbols here, such as %s: %s", others,
		     others == 1 ? " has" : "s have", example->short_name, example->note);
}

static size_t put_ends(const struct unwind_counts *counts, char *to, size_t size)
{
	const char *before = "; the others ended: ";
	size_t n = 0;

	*to = '\0';
	for (int i = UNWIND_GUESSED; i < UNWIND_ENDS; i++) {
		if (counts->ends[i])
			n += (size_t)snprintf(to + n, size - n, ", %llu %s",
					      (unsigned long long)counts->ends[i],
					      unwind_end_text((enum unwind_end)i));
	}
	for (int i = UNWIND_ROOT + 1; i < UNWIND_GUESSED; i++) {
		if (!counts->ends[i])
			continue;
		n += (size_t)snprintf(to + n, size - n, "%s%llu %s", before,
				      (unsigned long long)counts->ends[i],
				      unwind_end_text((enum unwind_end)i));
		before = ", ";
	}
	return n;
}

// Why user stacks are not whole. What record has said, in its own words, is said again where it makes the result another one.
static void warn_stacks(const struct run *run)
{
	enum { TOLD_AGAIN = 90 }; // percent that are whole
	struct unwind_counts counts;
	uint64_t all = 0, whole;
	char text[512];

	run_unwind_counts(run, &counts);
	for (int i = 0; i < UNWIND_ENDS; i++)
		all += counts.ends[i];
	whole = counts.ends[UNWIND_ROOT];
	if (!all)
		return;
	if (!put_ends(&counts, text, sizeof(text)))
		inform("all %llu user stacks are whole", (unsigned long long)all);
	else if (run->unwind || whole * 100 < all * TOLD_AGAIN)
		warn("%llu of %llu user stacks are whole%s", (unsigned long long)whole,
		     (unsigned long long)all, text);
	else
		inform("%llu of %llu user stacks are whole%s", (unsigned long long)whole,
		       (unsigned long long)all, text);
}

int run_warn(const struct run *run)
{
	const struct run_stats *stats = &run->stats;
	const struct recording *recording = run->recording;

	warn_losses(run);
	run_warn_names(run);
	warn_stacks(run);
	if (stats->lost_events + stats->lost_samples)
		warn("%s lacks what was lost: record with a larger buffer (-m), fewer events or a lower rate (-F)",
		     recording->path);
	if (stats->throttled)
		warn("the kernel throttled the events %llu times: samples are missing there",
		     (unsigned long long)stats->throttled);
	if (stats->unknown_ids)
		warn("%llu samples belong to events that the recording does not describe; they are left out",
		     (unsigned long long)stats->unknown_ids);
	if (stats->bad_samples)
		warn("%llu samples are malformed and left out",
		     (unsigned long long)stats->bad_samples);
	if (stats->bad_records)
		warn("%llu records are malformed and left out",
		     (unsigned long long)stats->bad_records);
	if (stats->out_of_order)
		inform("%llu records came later than their round and stand out of order",
		       (unsigned long long)stats->out_of_order);
	if (recording->records_skipped)
		inform("%llu records (%llu bytes) of unknown types were skipped",
		       (unsigned long long)recording->records_skipped,
		       (unsigned long long)recording->bytes_skipped);
	if (recording->damage)
		warn("%s", recording->damage);
	return recording->damage ? 1 : 0;
}
