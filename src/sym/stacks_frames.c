// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/stacks_frames.h"
#include "base/hash.h"
#include <elf.h>

static uint64_t frame_key_of(const struct stacks *stacks, const struct frame *frame)
{
	bool is_inlined = frame->sym && frame->sym->inlined;
	uint64_t place;

	if (frame->srcline && stacks->key == FRAME_BY_SRCLINE)
		return hash_mix((uintptr_t)frame->sym, (uintptr_t)frame->srcline);
	if (frame->sym && stacks->key != FRAME_BY_ADDRESS && stacks->key != FRAME_BY_SRCLINE &&
	    stacks->key != FRAME_BY_PLACE)
		return (uintptr_t)frame->sym;
	if (stacks->key == FRAME_BY_NAME)
		return frame->dso ? (uintptr_t)frame->dso : frame->cpumode;
	place = hash_mix(frame->dso ? frame->dso->id + 1ull : 0,
			 stacks->key == FRAME_BY_PLACE ? frame->addr : frame->ip);
	if (stacks->key == FRAME_BY_PLACE)
		place += frame->is_return;
	return is_inlined ? hash_mix(place, (uintptr_t)frame->sym) : place;
}

// What a frame must share with a place to say all of it: beside its number, so that frames need no look to know. (Without a symbol
// the ip and the file are the same: addresses within it differ by less than 4 GiB, if at all.)
static uint32_t place_tag(const struct frame *frame)
{
	return (uint32_t)frame->cpumode << 28 ^ (frame->sym ? 0 : (uint32_t)frame->addr);
}

// `ret_tells`, may be NULL: the frame says all of the place, nothing was inlined there or is told apart by less.
static uint32_t intern_frame(struct stacks *stacks, const struct frame *frame, bool *ret_tells)
{
	bool is_new;
	uint64_t *id = map_at(&stacks->frame_ids, frame_key_of(stacks, frame), &is_new);

	if (is_new) {
		*id = (uint64_t)place_tag(frame) << 32 | stacks->frames.n;
		vec_push(&stacks->frames, *frame);
	}
	if (ret_tells)
		*ret_tells =
			*id >> 32 == place_tag(frame) && stacks->key != FRAME_BY_NAME &&
			(!frame->sym || (!frame->sym->inlined && frame->sym->type != STT_OBJECT));
	return (uint32_t)*id;
}

void stacks_expect(const struct stacks *stacks, const struct location *location)
{
	const struct frame frame = {.dso = location->dso, .ip = location->ip, .addr = location->addr};

	if (stacks->key == FRAME_BY_FUNCTION)
		map_expect(&stacks->frame_ids, frame_key_of(stacks, &frame));
}

uint32_t stacks_line_frame(struct stacks *stacks, const struct location *location)
{
	struct frame frame = {.dso = location->dso,
			      .sym = location->sym,
			      .ip = location->ip,
			      .addr = location->addr,
			      .cpumode = location->cpumode,
			      .level = location->level};
	struct source_frame line;

	if (stacks->want_srclines && location->dso) {
		if (source_line(stacks->sources, location->dso, location->addr, &line))
			frame.srcline = source_text(stacks->sources, &line);
		else if (location->sym && source_exists(stacks->sources, location->dso))
			frame.srcline = "??:0";
	}
	return intern_frame(stacks, &frame, NULL);
}

// What the source says about a location. The call itself stands before where it returns to.
static struct source_frames source_of_location(struct stacks *stacks,
					       const struct location *location, bool is_return)
{
	uint64_t addr = location->addr - is_return;

	if (!stacks->sources || !location->dso || !location->sym)
		return (struct source_frames){NULL, 0};
	if (!stacks->no_inlines)
		return source_frames(stacks->sources, location->dso, addr, location->sym);
	return (struct source_frames){&stacks->line, source_line(stacks->sources, location->dso,
								 addr, &stacks->line)};
}

uint32_t stacks_frames_of(struct stacks *stacks, const struct location *location, bool is_return,
			  bool *ret_tells)
{
	struct frame frame = {.dso = location->dso,
			      .sym = location->sym,
			      .ip = location->ip,
			      .addr = location->addr,
			      .cpumode = location->cpumode,
			      .level = location->level,
			      .is_return = is_return};
	const struct source_frames lines = source_of_location(stacks, location, is_return);
	uint64_t key, *known;

	if (stacks->want_srclines && lines.n)
		frame.srcline = source_text(stacks->sources, &lines.v[0]);
	else if (stacks->want_srclines && location->sym &&
		 source_exists(stacks->sources, location->dso))
		frame.srcline = "??:0";
	if (lines.n <= 1 || stacks->runs.n >= STACK_RUN)
		return intern_frame(stacks, &frame, ret_tells);
	*ret_tells = false;
	key = hash_mix(hash_mix(location->addr, (uintptr_t)location->dso), location->ip + is_return);
	known = map_find(&stacks->run_ids, key);
	if (known)
		return STACK_RUN | (uint32_t)*known;
	*map_at(&stacks->run_ids, key, NULL) = stacks->runs.n;
	vec_push(&stacks->runs,
		 (struct frame_run){(uint32_t)stacks->run_frames.n, (uint32_t)lines.n});
	for (size_t i = 0; i < lines.n; i++) {
		frame.sym = lines.v[i].sym;
		if (stacks->want_srclines)
			frame.srcline = source_text(stacks->sources, &lines.v[i]);
		vec_push(&stacks->run_frames, intern_frame(stacks, &frame, NULL));
	}
	return STACK_RUN | (uint32_t)(stacks->runs.n - 1);
}
