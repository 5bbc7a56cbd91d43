// SPDX-License-Identifier: GPL-2.0-or-later
// Which calls happen within which, and how long they take.
#include "agg/dist.h"
#include "base/err.h"
#include "prof/core/delays.h"
#include "prof/core/pairing.h"
#include "prof/core/profiler.h"

enum { DEEPEST = 256, MOST_NODES = 1 << 16, MOST_KEYS = 1 << 14 };

struct nest_node {
	uint32_t parent, stage, child, sibling; // 0: none; node 0 is the root
	bool recursive;
	uint64_t n;
	struct dist dist;
};

struct nest_call {
	uint32_t node;
	uint64_t since_ns;
};

struct nest_stack {
	uint32_t depth;
	struct nest_call calls[DEEPEST];
};

struct nested_options {
	struct prof_options common;
	const char *impl;
};

struct nested {
	const struct nested_options *options;
	bool delays, by_thread;	  // by_thread: what has no key nests by thread, else by CPU
	struct event_value *keys; // by event
	bool *has_key, *is_exit;
	VEC(struct nest_node) nodes;
	struct map stacks; // key -> nest_stack
	uint64_t unpaired_n, too_deep_n, too_many_n, unknown_n;
};

static const struct opt options[] = {
	PROF_OPTIONS_ATTACH,
	PROF_HEADING("Which events, and what of them"),
	PROF_OPTIONS_EVENTS,
	PROF_TEXT('k', "key", PROF_AT(key), "EXPR", "the key of events that have none of their own"),
	PROF_TEXT(0, "impl", offsetof(struct nested_options, impl), "HOW",
		  "call-delay (calls and how long, default) or call (calls alone)"),
	PROF_OPTIONS_RINGS,
	PROF_OPTIONS_OUTPUT,
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde prof nested-trace -e irq:softirq_entry,irq:softirq_exit -e timer:timer_expire_entry,timer:timer_expire_exit -i 1000",
	 "timers within soft interrupts",
	 "sonde prof nested-trace -e irq:softirq_entry,irq:softirq_exit -e timer:timer_expire_entry,timer:timer_expire_exit -C 0 -- sleep 0.2 >out.txt"},
	{0},
};

static int setup(struct prof *prof)
{
	struct nested *state = PROF_STATE(struct nested, prof);
	int err = 0;

	state->options = PROF_OPTIONS(struct nested_options, prof);
	if (state->options->impl && strcmp(state->options->impl, "call") &&
	    strcmp(state->options->impl, "call-delay"))
		return fail(EINVAL, "--impl %s: call or call-delay", state->options->impl);
	state->delays = !state->options->impl || !strcmp(state->options->impl, "call-delay");
	state->keys = xcalloc(prof->events.n + 1, sizeof(*state->keys));
	state->has_key = xcalloc(prof->events.n + 1, sizeof(bool));
	state->is_exit = xcalloc(prof->events.n + 1, sizeof(bool));
	vec_push(&state->nodes, (struct nest_node){0});
	state->by_thread = feed_has_tasks(prof->feed);
	for (size_t i = 0; i < prof->events.n && !err; i++) {
		const struct prof_event *event = prof->events.v[i];
		const char *key = prof_spec_attr(event->spec, "key");
		uint32_t of_stage = 0;

		for (size_t k = 0; k < prof->events.n; k++)
			of_stage += prof->events.v[k]->stage == event->stage;
		if (of_stage != 2)
			return fail(EINVAL,
				    "each -e is an entry and its exit: -e ENTRY,EXIT; number %u has %u events",
				    event->stage + 1, of_stage);
		state->is_exit[i] = i && prof->events.v[i - 1]->stage == event->stage;
		if (!key || !*key)
			key = prof->options->key;
		if (!key) {
			// All nest in one another, so they have one kind of key.
			state->by_thread |= !prof_is_of_cpu(event);
			continue;
		}
		prof->ordered = true;
		err = prof_value_init(&state->keys[i], prof, event, key);
		state->has_key[i] = !err;
	}
	prof->ordered |= state->by_thread;
	return err;
}

static uint32_t child_of(struct nested *state, uint32_t parent, uint32_t stage)
{
	uint32_t node = state->nodes.v[parent].child;
	bool recursive = false;

	for (; node; node = state->nodes.v[node].sibling) {
		if (state->nodes.v[node].stage == stage)
			return node;
	}
	if (state->nodes.n >= MOST_NODES)
		return 0;
	for (uint32_t at = parent; at; at = state->nodes.v[at].parent)
		recursive |= state->nodes.v[at].stage == stage;
	vec_push(&state->nodes, (struct nest_node){.parent = parent,
						   .stage = stage,
						   .sibling = state->nodes.v[parent].child,
						   .recursive = recursive});
	node = (uint32_t)state->nodes.n - 1;
	state->nodes.v[parent].child = node;
	return node;
}

static void drop_empty(struct nested *state)
{
	struct map kept = {0};
	struct map_slot slot;

	for (size_t i = 0; map_next(&state->stacks, &i, &slot);) {
		struct nest_stack *stack = (struct nest_stack *)(uintptr_t)slot.value;

		if (stack->depth)
			map_set_ptr(&kept, slot.key, stack);
		else
			free(stack);
	}
	map_done(&state->stacks);
	state->stacks = kept;
}

static struct nest_stack *stack_of(struct nested *state, uint64_t key)
{
	struct nest_stack *stack = map_find_ptr(&state->stacks, key);

	if (stack)
		return stack;
	// Threads that are gone have nothing open.
	if (state->stacks.n >= MOST_KEYS)
		drop_empty(state);
	if (state->stacks.n >= MOST_KEYS) {
		state->too_many_n++;
		return NULL;
	}
	stack = NEW(struct nest_stack);
	map_set_ptr(&state->stacks, key, stack);
	return stack;
}

static void on_exit_event(struct prof *prof, struct nest_stack *stack, uint32_t stage, uint64_t now_ns)
{
	struct nested *state = PROF_STATE(struct nested, prof);
	uint32_t depth = stack->depth;
	uint64_t ns;

	while (depth && state->nodes.v[stack->calls[depth - 1].node].stage != stage)
		depth--;
	if (!depth) {
		state->unpaired_n++; // it began before we looked
		return;
	}
	if (!prof_delay(prof, stack->calls[depth - 1].since_ns, now_ns, &ns))
		return;
	// Calls within whose exit was not seen end here, nobody knows when.
	state->unpaired_n += stack->depth - depth;
	struct nest_node *node = &state->nodes.v[stack->calls[depth - 1].node];
	node->n++;
	if (state->delays)
		dist_add(&node->dist, ns);
	stack->depth = depth - 1;
}

static int sample(struct prof *prof, struct prof_event *event, const struct sample *sample)
{
	struct nested *state = PROF_STATE(struct nested, prof);
	uint64_t key = state->has_key[event->index]
			       ? event_value_number(&state->keys[event->index], sample)
		       : state->by_thread ? prof_thread_key(sample)
					  : sample->cpu;
	struct nest_stack *stack = stack_of(state, key);
	uint32_t node;

	if (!stack)
		return 0;
	if (state->is_exit[event->index]) {
		on_exit_event(prof, stack, event->stage, sample->time);
		return 0;
	}
	if (stack->depth == DEEPEST) {
		state->too_deep_n++;
		return 0;
	}
	node = child_of(state, stack->depth ? stack->calls[stack->depth - 1].node : 0, event->stage);
	if (node)
		stack->calls[stack->depth++] =
			(struct nest_call){.node = node, .since_ns = sample->time};
	return 0;
}

static void lost(struct prof *prof, const struct run_loss *loss)
{
	struct nested *state = PROF_STATE(struct nested, prof);
	struct map_slot slot;

	for (size_t i = 0; map_next(&state->stacks, &i, &slot);) {
		struct nest_stack *stack = (struct nest_stack *)(uintptr_t)slot.value;

		state->unknown_n += stack->depth;
		stack->depth = 0;
	}
}

static const char *label_of(const struct prof *prof, uint32_t stage)
{
	for (size_t i = 0; i < prof->events.n; i++) {
		if (prof->events.v[i]->stage == stage)
			return prof->events.v[i]->label;
	}
	return "";
}

// How much of a node was seen, calls within it included: those that lead nowhere are left out.
static bool was_called(const struct nested *state, uint32_t node)
{
	if (state->nodes.v[node].n)
		return true;
	for (uint32_t child = state->nodes.v[node].child; child;
	     child = state->nodes.v[child].sibling) {
		if (was_called(state, child))
			return true;
	}
	return false;
}

static void put_node(struct prof *prof, struct table *table, uint32_t at, unsigned depth)
{
	struct nested *state = PROF_STATE(struct nested, prof);
	struct nest_node *node = &state->nodes.v[at];
	struct out name;

	if (!was_called(state, at))
		return;
	out_init_memory(&name);
	for (unsigned i = 1; i < depth; i++)
		out_text(&name, "|   ");
	if (depth)
		out_text(&name, "|-");
	out_text(&name, label_of(prof, node->stage));
	out_char(&name, 0);
	table_text(table, name.buf);
	table_text(table, node->recursive ? "R" : " ");
	out_done(&name);
	if (state->delays)
		delays_cells(table, &node->dist);
	else
		table_number(table, node->n);
	for (uint32_t stage = 0; stage < prof->stages; stage++) {
		for (uint32_t child = node->child; child; child = state->nodes.v[child].sibling) {
			if (state->nodes.v[child].stage == stage)
				put_node(prof, table, child, depth + 1);
		}
	}
}

static int interval(struct prof *prof, uint64_t now_ns)
{
	struct nested *state = PROF_STATE(struct nested, prof);
	struct table table = {.rule = true};

	table_column(&table,
		     (struct table_column){"function call", "call", TABLE_TEXT, .left = true});
	table_column(&table, (struct table_column){"R", "recursive", TABLE_TEXT, .left = true});
	if (state->delays)
		delays_columns(&table);
	else
		table_column(&table, (struct table_column){"calls", NULL, TABLE_COUNT, 8});
	for (uint32_t stage = 0; stage < prof->stages; stage++) {
		for (uint32_t child = state->nodes.v[0].child; child;
		     child = state->nodes.v[child].sibling) {
			if (state->nodes.v[child].stage == stage)
				put_node(prof, &table, child, 0);
		}
	}
	if (state->unknown_n + state->too_deep_n + state->too_many_n && !prof->options->quiet) {
		prof_put_time(prof, now_ns);
		out_printf(prof->out,
			   " nested-trace: %llu calls are not known, as events were lost within them; %llu were nested too deeply or had too many keys\n",
			   (unsigned long long)state->unknown_n,
			   (unsigned long long)(state->too_deep_n + state->too_many_n));
	}
	prof_put_table(prof, &table, now_ns);
	table_done(&table);
	for (size_t i = 0; i < state->nodes.n; i++) {
		state->nodes.v[i].n = 0;
		dist_clear(&state->nodes.v[i].dist);
	}
	state->unknown_n = state->too_deep_n = state->too_many_n = state->unpaired_n = 0;
	return 0;
}

static void done(struct prof *prof)
{
	struct nested *state = PROF_STATE(struct nested, prof);
	struct map_slot slot;

	for (size_t i = 0; state->keys && i < prof->events.n; i++)
		event_value_done(&state->keys[i]);
	for (size_t i = 0; i < state->nodes.n; i++)
		dist_done(&state->nodes.v[i].dist);
	for (size_t i = 0; map_next(&state->stacks, &i, &slot);)
		free((void *)(uintptr_t)slot.value);
	map_done(&state->stacks);
	vec_done(&state->nodes);
	free(state->keys);
	free(state->has_key);
	free(state->is_exit);
}

static const char *const attributes[] = {"key", NULL};

const struct profiler profiler_nested_trace = {
	.name = "nested-trace",
	.summary = "Which calls happen within which, and how long they take",
	.usage = "sonde prof nested-trace -e ENTRY,EXIT -e ENTRY,EXIT ... [-k KEY] [--impl HOW] [options] [-- COMMAND]",
	.description =
		"Each -e is an entry and its exit. Calls with the same key nest. Without one that is the thread, or the CPU where all events "
		"are of interrupts, timers and the scheduler and no tasks are chosen. R marks a call within itself.",
	.opts = options,
	.size = sizeof(struct nested_options),
	.state_size = sizeof(struct nested),
	.examples = examples,
	.attributes = attributes,
	.endless = true,
	.setup = setup,
	.sample = sample,
	.lost = lost,
	.interval = interval,
	.done = done,
};
