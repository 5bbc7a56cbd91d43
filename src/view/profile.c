// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/profile.h"
#include "base/map.h"
#include "base/radix.h"

void profile_init(struct profile *profile)
{
	*profile = (struct profile){.first_ns = UINT64_MAX};
	intern_init(&profile->strings);
	vec_push(&profile->nodes, (struct profile_node){0});
}

void profile_done(struct profile *profile)
{
	intern_done(&profile->strings);
	vec_done(&profile->files);
	vec_done(&profile->functions);
	vec_done(&profile->frames);
	vec_done(&profile->nodes);
	vec_done(&profile->threads);
	vec_done(&profile->events);
	vec_done(&profile->samples);
	vec_done(&profile->notes);
	free(profile->by_thread);
	profile->by_thread = NULL;
}

struct placed {
	uint64_t time_ns;
	size_t at;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

// Equal times keep their order; samples without a time stay behind the one before them.
static void order_samples(struct profile *profile)
{
	struct profile_sample *samples = profile->samples.v, *copy;
	size_t n = profile->samples.n;
	uint64_t last_ns = 0;
	struct placed *placed;
	bool ordered = true;

	for (size_t i = 0; i < n && ordered; i++) {
		if (samples[i].time_ns == UINT64_MAX)
			continue;
		ordered = samples[i].time_ns >= last_ns;
		last_ns = samples[i].time_ns;
	}
	if (ordered)
		return;
	placed = xcalloc(n, sizeof(*placed));
	copy = xcalloc(n, sizeof(*copy));
	last_ns = 0;
	for (size_t i = 0; i < n; i++) {
		if (samples[i].time_ns != UINT64_MAX)
			last_ns = samples[i].time_ns;
		placed[i] = (struct placed){last_ns, i};
	}
	qsort(placed, n, sizeof(*placed), compare_placed);
	memcpy(copy, samples, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		samples[i] = copy[placed[i].at];
	free(copy);
	free(placed);
}

static void count_samples(struct profile *profile)
{
	vec_each(struct profile_sample, sample, &profile->samples) {
		struct profile_thread *thread = &profile->threads.v[sample->thread];

		thread->n++;
		profile->events.v[sample->event].samples_n++;
		if (sample->cpu != PROFILE_NONE && sample->cpu >= profile->cpus_n)
			profile->cpus_n = sample->cpu + 1;
		if (sample->time_ns == UINT64_MAX)
			continue;
		if (profile->first_ns == UINT64_MAX)
			profile->first_ns = sample->time_ns;
		profile->last_ns = sample->time_ns;
		if (thread->first_ns == UINT64_MAX)
			thread->first_ns = sample->time_ns;
		thread->last_ns = sample->time_ns;
	}
	if (profile->first_ns == UINT64_MAX)
		profile->first_ns = profile->last_ns = 0;
}

// A thread belongs to the newest main thread before it.
static void name_processes(struct profile *profile)
{
	struct map mains = {0};

	for (size_t i = 0; i < profile->threads.n; i++) {
		struct profile_thread *thread = &profile->threads.v[i];
		const struct profile_thread *main = thread;
		const uint64_t *known;

		if (thread->pid == thread->tid)
			*map_at(&mains, thread->pid, NULL) = i;
		else if ((known = map_find(&mains, thread->pid)))
			main = &profile->threads.v[*known];
		thread->process_name = main->name;
		thread->process_nth = main == thread ? 0 : main->nth;
		if (thread->pid == thread->tid)
			thread->process_nth = thread->nth;
	}
	map_done(&mains);
}

static void choose_main_event(struct profile *profile)
{
	uint32_t first = PROFILE_NONE;

	for (size_t i = 0; i < profile->events.n; i++) {
		const struct profile_event *event = &profile->events.v[i];

		if (!event->samples_n)
			continue;
		if (!event->is_tracepoint) {
			profile->main_event = (uint32_t)i;
			return;
		}
		if (first == PROFILE_NONE)
			first = (uint32_t)i;
	}
	profile->main_event = first == PROFILE_NONE ? 0 : first;
}

void profile_finish(struct profile *profile)
{
	size_t at = 0;

	for (size_t i = 0; i < profile->threads.n; i++)
		profile->threads.v[i].first_ns = UINT64_MAX;
	order_samples(profile);
	count_samples(profile);
	name_processes(profile);
	choose_main_event(profile);
	vec_each(struct profile_thread, thread, &profile->threads) {
		if (thread->first_ns == UINT64_MAX)
			thread->first_ns = thread->last_ns = profile->first_ns;
		thread->first = at;
		at += thread->n;
		thread->n = 0;
	}
	profile->by_thread = xcalloc(profile->samples.n + 1, sizeof(uint32_t));
	for (size_t i = 0; i < profile->samples.n; i++) {
		struct profile_thread *thread = &profile->threads.v[profile->samples.v[i].thread];

		profile->by_thread[thread->first + thread->n++] = (uint32_t)i;
	}
}

void profile_path(const struct profile *profile, uint32_t node, struct profile_path *path)
{
	vec_clear(&path->nodes);
	for (; node; node = profile->nodes.v[node].parent)
		vec_push(&path->nodes, node);
	for (size_t i = 0, k = path->nodes.n; i + 1 < k; i++) {
		uint32_t other = path->nodes.v[--k];

		path->nodes.v[k] = path->nodes.v[i];
		path->nodes.v[i] = other;
	}
}

uint64_t profile_usual_gap_ns(const struct profile *profile, uint32_t event)
{
	VEC(struct keyed) gaps = {0};
	uint64_t usual;

	vec_each(struct profile_thread, thread, &profile->threads) {
		uint64_t last = UINT64_MAX;

		for (size_t i = 0; i < thread->n; i++) {
			const struct profile_sample *sample =
				&profile->samples.v[profile->by_thread[thread->first + i]];

			if (sample->event != event || sample->time_ns == UINT64_MAX)
				continue;
			if (last != UINT64_MAX && sample->time_ns > last)
				vec_push(&gaps, (struct keyed){.key = sample->time_ns - last});
			last = sample->time_ns;
		}
	}
	if (!gaps.n)
		return 0;
	radix_sort(gaps.v, gaps.n);
	usual = gaps.v[gaps.n / 2].key;
	vec_done(&gaps);
	return usual;
}
