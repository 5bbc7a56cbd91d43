// SPDX-License-Identifier: GPL-2.0-or-later
#include "prof/core/flame.h"
#include "base/err.h"
#include "base/log.h"
#include "encoder/core/encoder.h"
#include "flow/stack_frames.h"
#include "prof/core/print.h"
#include <stdio.h>
#include <sys/utsname.h>

struct prof_flame {
	struct stacks stacks;
	struct map counts; // comm << 32 | stack -> weight
	struct flame flame;
	bool by_time, any;
};

int prof_flame_new(struct prof *prof)
{
	struct prof_flame *flame;
	bool stacks = false;

	for (size_t i = 0; i < prof->events.n; i++)
		stacks |= prof->events.v[i]->feed->stack;
	if (!stacks)
		return fail(EINVAL, "--flame-graph draws call chains: add -g");
	flame = NEW(struct prof_flame);
	stacks_init(&flame->stacks, prof->feed->sym, FRAME_BY_NAME);
	flame_init(&flame->flame);
	flame->by_time = prof->options->interval_ms != 0;
	prof->flame = flame;
	return 0;
}

void prof_flame_free(struct prof_flame *flame)
{
	if (!flame)
		return;
	stacks_done(&flame->stacks);
	flame_done(&flame->flame);
	map_done(&flame->counts);
	free(flame);
}

void prof_flame_add(struct prof *prof, const struct sample *sample, uint64_t weight)
{
	struct prof_flame *flame = prof->flame;
	struct task *task;

	if (!flame || !sample->callchain)
		return;
	flame->any = true;
	task = feed_task(prof->feed, sample);
	*map_at(&flame->counts,
		(uint64_t)task->comm << 32 | stacks_of_sample(&flame->stacks, task, sample),
		NULL) += weight;
}

void prof_add_stack(struct prof *prof, const struct sample *sample)
{
	if (prof->flame)
		prof_flame_add(prof, sample, 1);
	else if (sample->callchain)
		prof_put_stack(prof, sample, "    ");
}

static void take_counts(struct prof *prof, const char *time)
{
	struct flame *flame = &prof->flame->flame;
	struct stack_frames frames;
	struct map_slot slot;

	stack_frames_init(&frames, &prof->flame->stacks);
	for (size_t i = 0; map_next(&prof->flame->counts, &i, &slot);) {
		const char *comm = intern_get(&prof->feed->sym->strings, (uint32_t)(slot.key >> 32));
		uint32_t at = 0;

		if (time)
			at = flame_child(flame, at, (struct flame_frame){str_of(time), FLAME_PLAIN});
		at = flame_child(flame, at, (struct flame_frame){str_of(comm), FLAME_PLAIN});
		at = stack_frames_node(&frames, flame, at, (uint32_t)slot.key);
		flame_add(flame, at, FLAME_AFTER, (double)slot.value);
	}
	stack_frames_done(&frames);
	map_clear(&prof->flame->counts);
}

void prof_flame_interval(struct prof *prof, uint64_t now_ns)
{
	char time[40];

	if (!prof->flame->by_time)
		return;
	prof_time_text(prof, now_ns, time);
	take_counts(prof, prof->feed->has_wall ? time + 11 : time);
}

char *prof_picture_subtitle(const struct prof *prof, double n, const char *what)
{
	enum { NAMES_MAX = 3 };
	size_t names_n = 0;
	struct utsname here;
	struct out text;

	out_init_memory(&text);
	vec_each(struct prof_event *const, it, &prof->events) {
		if ((*it)->source)
			continue;
		if (names_n++ < NAMES_MAX)
			out_printf(&text, "%s%s", names_n > 1 ? ", " : "",
				   (*it)->feed->event ? (*it)->feed->event->name : (*it)->label);
	}
	if (names_n > NAMES_MAX)
		out_printf(&text, " and %zu more", names_n - NAMES_MAX);
	out_printf(&text, "%s%.0f %s", names_n ? ", " : "", n, what);
	if (prof->feed->host)
		out_printf(&text, ", on %s", prof->feed->host);
	else if (prof->feed->is_live && uname(&here) == 0)
		out_printf(&text, ", on %s", here.nodename);
	char *subtitle = str_dup((struct str){text.buf, text.n});
	out_done(&text);
	return subtitle;
}

static int write_as(struct prof *prof, const char *format, const char *suffix)
{
	auto_free char *subtitle =
		prof_picture_subtitle(prof, flame_sum(&prof->flame->flame, FLAME_AFTER), "samples");
	struct flame_style style = {.title = prof->profiler->name,
				    .subtitle = subtitle,
				    .plain_names = !strcmp(format, "folded")};
	auto_free char *path = text_dup_fmt("%s%s", prof->options->flame_graph, suffix);
	const struct encoder *encoder;
	struct out out;
	int err = encoder_find(&encoder, format);

	if (!err)
		err = out_open(&out, path);
	if (err)
		return err;
	err = encoder->flame(&out, &prof->flame->flame, &style);
	return out_end(&out, path, err);
}

int prof_flame_write(struct prof *prof)
{
	struct prof_flame *flame = prof->flame;
	char time[40];
	int err;

	prof_time_text(prof, prof->feed->last_ns, time);
	take_counts(prof, flame->by_time ? prof->feed->has_wall ? time + 11 : time : NULL);
	if (!flame->any) {
		if (!prof->options->quiet)
			warn("there were no stacks: no flame graph is written");
		return 0;
	}
	flame_finish(&flame->flame, true);
	err = write_as(prof, "folded", ".folded");
	if (!err)
		err = write_as(prof, "svg", ".svg");
	if (!err && !prof->options->quiet)
		say("sonde prof %s: the stacks are in %s.folded, the flame graph is %s.svg",
		    prof->profiler->name, prof->options->flame_graph, prof->options->flame_graph);
	return err;
}
