// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/stacks.h"
#include "base/hash.h"

void stacks_init(struct stacks *stacks, struct sym *sym, enum frame_key key)
{
	*stacks = (struct stacks){.sym = sym, .key = key};
	vec_push(&stacks->nodes, (struct stack_node){0});
	vec_push(&stacks->last_child, 0);
	(void)vec_add(&stacks->frames);
	stacks->chains = xcalloc(STACK_CHAINS, sizeof(*stacks->chains));
	stacks->known = xcalloc(STACK_FRAMES, sizeof(*stacks->known));
}

void stacks_end(struct stacks *stacks)
{
	vec_done(&stacks->path);
	vec_done(&stacks->steps);
	vec_done(&stacks->last_child);
	for (size_t i = 0; i < STACK_MEMORIES; i++)
		vec_done(&stacks->last[i].steps);
	map_done(&stacks->frame_ids);
	map_done(&stacks->node_ids);
	free(stacks->chains);
	free(stacks->known);
	stacks->chains = NULL;
	stacks->known = NULL;
}

void stacks_done(struct stacks *stacks)
{
	stacks_end(stacks);
	vec_done(&stacks->frames);
	vec_done(&stacks->nodes);
}

static uint64_t frame_key_of(const struct stacks *stacks, const struct location *location)
{
	if (location->sym && stacks->key != FRAME_BY_ADDRESS)
		return (uintptr_t)location->sym;
	if (stacks->key == FRAME_BY_NAME)
		return location->dso ? (uintptr_t)location->dso : location->cpumode;
	return hash_mix(location->dso ? location->dso->id + 1ull : 0, location->ip);
}

uint32_t stacks_frame(struct stacks *stacks, const struct location *location)
{
	bool is_new;
	uint64_t *id = map_at(&stacks->frame_ids, frame_key_of(stacks, location), &is_new);

	if (is_new) {
		*id = stacks->frames.n;
		vec_push(&stacks->frames, (struct frame){.dso = location->dso,
							 .sym = location->sym,
							 .ip = location->ip,
							 .addr = location->addr,
							 .cpumode = location->cpumode,
							 .level = location->level});
	}
	return (uint32_t)*id;
}

uint32_t stacks_child(struct stacks *stacks, uint32_t parent, uint32_t frame)
{
	uint32_t last = stacks->last_child.v[parent];
	bool is_new;
	uint64_t *id;

	if (last && stacks->nodes.v[last].frame == frame)
		return last;
	id = map_at(&stacks->node_ids, (uint64_t)parent << 32 | frame, &is_new);
	if (is_new) {
		*id = stacks->nodes.n;
		vec_push(&stacks->nodes,
			 (struct stack_node){parent, frame, stacks->nodes.v[parent].depth + 1});
		vec_push(&stacks->last_child, 0);
	}
	stacks->last_child.v[parent] = (uint32_t)*id;
	return (uint32_t)*id;
}

static int cpumode_of_context(uint64_t marker)
{
	switch (marker) {
	case PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	default:
		return -1;
	}
}

static uint32_t frame_of_ip(struct stacks *stacks, struct task *task, uint8_t cpumode, uint64_t ip)
{
	bool is_kernel = cpumode == PERF_RECORD_MISC_KERNEL;
	struct known_frame *known = NULL;
	struct location location;
	uint64_t key = 0;

	if (is_kernel) {
		key = hash_mix(ip, stacks->sym->kernel->generation) | 1;
	} else {
		sym_resolve_map(stacks->sym, task, cpumode, ip, &location);
		if (location.dso)
			key = hash_mix(location.addr, (uintptr_t)location.dso) | 1;
	}
	if (key) {
		known = &stacks->known[key >> 32 & (STACK_FRAMES - 1)];
		if (known->key == key)
			return known->frame;
	}
	sym_resolve(stacks->sym, task, cpumode, ip, &location);
	if (!known || (!location.sym && stacks->key != FRAME_BY_NAME) ||
	    stacks->key == FRAME_BY_ADDRESS)
		return stacks_frame(stacks, &location);
	*known = (struct known_frame){key, stacks_frame(stacks, &location)};
	return known->frame;
}

static bool is_hidden(const struct stacks *stacks, uint32_t frame)
{
	return stacks->hide_unresolved && !stacks->frames.v[frame].sym;
}

static void add_ip(struct stacks *stacks, struct task *task, int cpumode, uint64_t ip)
{
	uint32_t frame = frame_of_ip(stacks, task, (uint8_t)cpumode, ip);

	if (!is_hidden(stacks, frame))
		vec_push(&stacks->path, frame);
}

static void resolve_chain(struct stacks *stacks, struct task *task, const struct sample *sample)
{
	int cpumode = PERF_RECORD_MISC_USER;

	for (uint32_t i = 0; i < sample->callchain_n; i++) {
		uint64_t ip = sample->callchain[i];

		if (ip >= PERF_CONTEXT_MAX) {
			cpumode = cpumode_of_context(ip);
			if (cpumode < 0) {
				stacks->corrupt_n++;
				vec_clear(&stacks->path);
				return;
			}
			continue;
		}
		if (stacks->max_stack && !stacks->keep_outermost &&
		    stacks->path.n >= stacks->max_stack)
			break;
		add_ip(stacks, task, cpumode, ip);
	}
}

static uint32_t descend(struct stacks *stacks)
{
	size_t n = stacks->path.n, first = 0;
	uint32_t node = 0;

	if (stacks->max_stack && n > stacks->max_stack)
		first = n - stacks->max_stack;
	while (n > first)
		node = stacks_child(stacks, node, stacks->path.v[--n]);
	return node;
}

// The chain as steps, each address with its mode; false when it is corrupt.
static bool make_steps(struct stacks *stacks, const struct sample *sample)
{
	int cpumode = PERF_RECORD_MISC_USER;

	vec_clear(&stacks->steps);
	vec_reserve(&stacks->steps, sample->callchain_n);
	for (uint32_t i = 0; i < sample->callchain_n; i++) {
		uint64_t ip = sample->callchain[i];
		bool is_marker = ip >= PERF_CONTEXT_MAX;

		if (is_marker && (cpumode = cpumode_of_context(ip)) < 0) {
			stacks->corrupt_n++;
			return false;
		}
		stacks->steps.v[stacks->steps.n++] =
			(struct stack_step){.ip = ip, .cpumode = is_marker ? -1 : (int16_t)cpumode};
	}
	return true;
}

// From the outer end inwards; what the task's last chain had there as well is not resolved again.
static uint32_t follow_last(struct stacks *stacks, struct task *task, const struct sample *sample,
			    uint64_t where)
{
	struct stack_memory *last = &stacks->last[task->index % STACK_MEMORIES];
	size_t n, known, old = last->steps.n;
	uint32_t node = 0;

	if (!make_steps(stacks, sample))
		return 0;
	n = known = stacks->steps.n;
	while (last->where == where && known && old &&
	       stacks->steps.v[known - 1].ip == last->steps.v[old - 1].ip &&
	       stacks->steps.v[known - 1].cpumode == last->steps.v[old - 1].cpumode) {
		node = last->steps.v[--old].node;
		stacks->steps.v[--known].node = node;
	}
	for (size_t i = known; i-- > 0;) {
		struct stack_step *step = &stacks->steps.v[i];

		if (step->cpumode >= 0) {
			uint32_t frame =
				frame_of_ip(stacks, task, (uint8_t)step->cpumode, step->ip);

			if (!is_hidden(stacks, frame))
				node = stacks_child(stacks, node, frame);
		}
		step->node = node;
	}
	vec_clear(&last->steps);
	vec_reserve(&last->steps, n);
	memcpy(last->steps.v, stacks->steps.v, n * sizeof(struct stack_step));
	last->steps.n = n;
	last->where = where;
	return node;
}

uint32_t stacks_of_sample(struct stacks *stacks, struct task *task, const struct sample *sample)
{
	const struct space *space = task->space;
	struct known_chain *known;
	uint64_t key, where;

	vec_clear(&stacks->path);
	if (!sample->callchain_n) {
		add_ip(stacks, task, sample->cpumode, sample->ip);
		return descend(stacks);
	}
	if (sample->callchain_n <= STACK_SHORT) {
		resolve_chain(stacks, task, sample);
		return descend(stacks);
	}
	where = hash_mix((uint64_t)space->id << 32 | space->generation,
			 stacks->sym->kernel->generation);
	key = hash_mix(hash_bytes(sample->callchain, sample->callchain_n * 8ull), where) | 1;
	known = &stacks->chains[key >> 32 & (STACK_CHAINS - 1)];
	stacks->chains_n++;
	if (known->key == key) {
		stacks->chains_hit++;
		return known->node;
	}
	known->key = key;
	if (!stacks->max_stack || sample->callchain_n <= stacks->max_stack) {
		known->node = follow_last(stacks, task, sample, where);
		return known->node;
	}
	resolve_chain(stacks, task, sample);
	known->node = descend(stacks);
	return known->node;
}
