// SPDX-License-Identifier: GPL-2.0-or-later
// What the callers of the sampled places add up to (children), and the call graphs below the rows. Both come from the distinct stacks
// (pairs) at the end, not from samples. Pairs are walked in the order in which they came: their nodes, frames and rows were made in that
// order too, so they lie side by side in memory; an order by stack misses the caches at each. Call graphs are only made for rows that
// weigh enough to show one, of stacks in which frames that weigh too little for a branch are one (small_of): of two million nodes
// some thousands are left.
#include "base/search.h"
#include "hist/counted.h"

enum { NONE = UINT32_MAX };

// A place in a context's stacks where a wanted entry's function stands.
struct occurrence {
	uint32_t index;	    // into the context's weights
	uint32_t around;    // the occurrence of the same entry that encloses this one, + 1
	uint32_t next;	    // of the same entry, + 1
	uint32_t net_count; // without those below an enclosed one
	uint64_t net_weight;
};

// An entry whose call graph is made: its samples' own pairs, and where it occurs.
struct wanted {
	uint32_t entry, pairs_from, pairs_n; // in run.own_pairs
	uint32_t first, last;		     // occurrences, + 1
};

// A node of a stack, by depth.
struct step {
	uint32_t node, frame;
};

struct chain_run {
	struct hist *hist;
	struct report *report;
	struct call_tree_options options;
	uint64_t least;
	bool keeps_all;	       // frames that weigh little are told apart
	struct stacks small;   // the stacks that call graphs are made of: only its nodes
	struct trie trie;      // of these
	uint32_t *small_of;    // by node of report->stacks: the one here, 0: none yet
	VEC(uint32_t) mapped;  // that have one
	VEC(uint32_t) origins; // by node here, a node of report->stacks
	VEC(uint32_t) way;     // scratch
	VEC(struct step) path;
	struct context_rows rows;
	struct weights weights, own;
	VEC(struct path_weight) paths;
	VEC(uint32_t) open;   // by entry: the innermost open occurrence + 1
	VEC(uint32_t) levels; // by depth: the entry that is open there, NONE: too light
	VEC(struct wanted) wanted;
	VEC(uint32_t) wanted_at;	    // by entry: place among the wanted + 1
	VEC(uint32_t) own_pairs;	    // of the wanted, one behind the other
	VEC(struct occurrence) occurrences; // of the wanted
	VEC(struct occurrence) of_one;
	VEC(struct subtree) subtrees;
};

static const struct stack_node *node_of(const struct chain_run *run, uint32_t node)
{
	return &run->report->stacks.nodes.v[node];
}

static const struct stack_node *small_node(const struct chain_run *run, uint32_t node)
{
	return &run->small.nodes.v[node];
}

// perf keeps equally heavy branches in falling order of (DSO, address), or of names where one was inlined, or of lines.
static int falling_address(void *arg, uint32_t a, uint32_t b)
{
	const struct report *report = arg;
	const struct frame *x = &report->stacks.frames.v[a], *y = &report->stacks.frames.v[b];
	uint64_t xa = x->ip, ya = y->ip;

	if (report->chain.by_srcline && x->srcline && y->srcline)
		return -strcmp(x->srcline, y->srcline);
	if (x->sym && y->sym && !report->chain.by_address && (x->sym->inlined || y->sym->inlined))
		return -strcmp(x->sym->name, y->sym->name);
	if (x->dso != y->dso)
		return !x->dso || (y->dso && x->dso->id < y->dso->id) ? 1 : -1;
	if (x->sym && y->sym && !report->chain.by_address) {
		xa = x->sym->start;
		ya = y->sym->start;
	}
	return xa > ya ? -1 : xa < ya;
}

// What stands for a frame in call graphs: frames below whose entry's weight no branch is shown are one, LIGHT. Most of what was
// sampled once only is of these, so the stacks that are left are few.
static uint32_t shown_frame(const struct chain_run *run, uint32_t frame)
{
	const struct entry *e;

	if (run->keeps_all)
		return frame;
	e = run->hist->entries.v[run->rows.of_frame[frame].caller];
	return e->acc >= run->least ? frame : CALL_TREE_LIGHT;
}

static uint32_t small_of(struct chain_run *run, uint32_t node)
{
	uint32_t at = node, to;

	vec_clear(&run->way);
	for (; at && !run->small_of[at]; at = node_of(run, at)->parent)
		vec_push(&run->way, at);
	to = at ? run->small_of[at] : 0;
	while (run->way.n) {
		at = vec_pop(&run->way);
		to = stacks_child(&run->small, to, shown_frame(run, node_of(run, at)->frame));
		if (to == run->origins.n)
			vec_push(&run->origins, at);
		run->small_of[at] = to;
		vec_push(&run->mapped, at);
	}
	return to;
}

static void small_start(struct chain_run *run)
{
	stacks_init(&run->small, NULL, FRAME_BY_FUNCTION);
	vec_clear(&run->origins);
	vec_push(&run->origins, 0);
	vec_clear(&run->mapped);
	if (!run->small_of)
		run->small_of = xcalloc(run->report->stacks.nodes.n, sizeof(*run->small_of));
}

static void small_end(struct chain_run *run)
{
	vec_each(uint32_t, node, &run->mapped)
		run->small_of[*node] = 0;
	trie_done(&run->trie);
	stacks_done(&run->small);
}

static void make_trie(struct chain_run *run)
{
	trie_init(&run->trie, (const struct trie_node *)run->small.nodes.v,
		  (uint32_t)run->small.nodes.n);
}

static void take_paths(struct chain_run *run, const struct wanted *wanted)
{
	vec_clear(&run->paths);
	for (size_t i = 0; i < wanted->pairs_n; i++) {
		const struct pair *pair =
			&run->hist->pairs.v[run->own_pairs.v[wanted->pairs_from + i]];

		vec_push(&run->paths, (struct path_weight){run->small_of[pair->stack], pair->count,
							   pair->period});
	}
}

static struct call_tree *tree_new(struct entry *e)
{
	return entry_more(e)->tree = NEW(struct call_tree);
}

static bool wants_tree(const struct chain_run *run, uint64_t weight)
{
	const struct report *report = run->report;

	if (!report->use_chains || !run->hist->has_chains)
		return false;
	return report->chain.mode == CHAIN_FRACTAL || weight >= run->least;
}

static struct wanted *want(struct chain_run *run, uint32_t id)
{
	while (run->wanted_at.n <= id)
		vec_push(&run->wanted_at, 0);
	if (!run->wanted_at.v[id]) {
		vec_push(&run->wanted, (struct wanted){.entry = id});
		run->wanted_at.v[id] = (uint32_t)run->wanted.n;
	}
	return &run->wanted.v[run->wanted_at.v[id] - 1];
}

// The pairs of those that are wanted, and of those that have pairs and weigh enough.
static void find_own_pairs(struct chain_run *run, const uint32_t *pairs, size_t n)
{
	const struct hist *hist = run->hist;
	uint32_t from = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t id = hist->pairs.v[pairs[i]].entry;
		const struct entry *e = hist->entries.v[id];

		if (wants_tree(run, run->report->children ? e->acc : e->period))
			want(run, id)->pairs_n++;
	}
	vec_each(struct wanted, wanted, &run->wanted) {
		wanted->pairs_from = from;
		from += wanted->pairs_n;
		wanted->pairs_n = 0;
	}
	vec_clear(&run->own_pairs);
	vec_reserve(&run->own_pairs, from);
	run->own_pairs.n = from;
	for (size_t i = 0; i < n; i++) {
		uint32_t id = hist->pairs.v[pairs[i]].entry, at;

		at = id < run->wanted_at.n ? run->wanted_at.v[id] : 0;
		if (at) {
			struct wanted *wanted = &run->wanted.v[at - 1];

			run->own_pairs.v[wanted->pairs_from + wanted->pairs_n++] = pairs[i];
		}
	}
}

static void forget_wanted(struct chain_run *run)
{
	vec_each(struct wanted, wanted, &run->wanted)
		run->wanted_at.v[wanted->entry] = 0;
	vec_clear(&run->wanted);
	vec_clear(&run->occurrences);
}

// Branches are known by the nodes of the samples' own stacks.
static void to_origins(const struct chain_run *run, struct call_tree *tree)
{
	for (size_t i = 0; run->report->history && i < tree->trie_nodes.n; i++)
		tree->trie_nodes.v[i] = run->origins.v[tree->trie_nodes.v[i]];
}

// Without children: each entry's own stacks.
static void own_tree(struct chain_run *run, const struct wanted *wanted)
{
	struct entry *e = run->hist->entries.v[wanted->entry];

	take_paths(run, wanted);
	if (run->report->chain.caller || run->report->history) {
		struct subtree all = {.weights = &run->own, .index = NONE};

		weights_build(&run->own, &run->trie, run->paths.v, run->paths.n);
		call_tree_callees(tree_new(e), &run->trie, (struct subtrees){&all, 1}, &run->options);
		to_origins(run, e->more->tree);
	} else {
		call_tree_callers(tree_new(e), &run->trie,
				  (struct paths){run->paths.v, run->paths.n}, &run->options);
	}
}

static void own_trees(struct chain_run *run, const uint32_t *pairs)
{
	if (!run->report->use_chains)
		return;
	find_own_pairs(run, pairs, run->hist->pairs.n);
	small_start(run);
	vec_each(uint32_t, pair, &run->own_pairs)
		small_of(run, run->hist->pairs.v[*pair].stack);
	make_trie(run);
	vec_each(struct wanted, wanted, &run->wanted)
		own_tree(run, wanted);
	small_end(run);
	forget_wanted(run);
}

// perf shows a frame that lies nowhere with the level of the frame that it read before.
static char level_before(const struct chain_run *run, const struct pair *pair, uint32_t depth)
{
	const struct step *path = run->path.v;
	const struct stacks *stacks = &run->report->stacks;
	uint32_t deepest = (uint32_t)run->path.n - 1, at;

	if (run->report->chain.caller) {
		for (at = depth - 1; at; at--) {
			if (stacks->frames.v[path[at].frame].dso)
				return stacks->frames.v[path[at].frame].level;
		}
	} else {
		for (at = depth + 1; at <= deepest; at++) {
			if (stacks->frames.v[path[at].frame].dso)
				return stacks->frames.v[path[at].frame].level;
		}
	}
	return run->hist->entries.v[pair->entry]->place.level;
}

static void seen_first(struct chain_run *run, struct entry *e, const struct pair *pair, uint32_t depth)
{
	uint32_t at = run->report->chain.caller ? depth : (uint32_t)run->path.n - depth;

	if (pair->first > e->first || (pair->first == e->first && at >= e->first_at))
		return;
	e->first = pair->first;
	e->first_at = at;
	e->task = pair->task;
	e->filtered = pair->filtered;
	if (!e->place.dso)
		e->place.level = level_before(run, pair, depth);
}

// The frames of the stack from the outer end: path.v[depth].
static void make_path(struct chain_run *run, uint32_t node)
{
	uint32_t depth = node_of(run, node)->depth;

	vec_clear(&run->path);
	vec_reserve(&run->path, depth + 1u);
	run->path.n = depth + 1u;
	for (uint32_t at = node; at; at = node_of(run, at)->parent)
		run->path.v[depth--] = (struct step){at, node_of(run, at)->frame};
}

// The pair's weight counts once for each entry that is in its stack, and for its own, which may not be there (a user chain of a kernel
// sample).
static void accumulate(struct chain_run *run, uint32_t index)
{
	const struct pair *pair = &run->hist->pairs.v[index];
	uint32_t deepest;
	struct entry *e;

	make_path(run, pair->stack);
	deepest = (uint32_t)run->path.n - 1;
	for (uint32_t depth = 1; depth <= deepest; depth++) {
		uint32_t id = context_rows_caller(&run->rows, run->path.v[depth].frame);

		e = run->hist->entries.v[id];
		if (e->met != index + 1) {
			e->met = index + 1;
			e->acc += pair->period;
			seen_first(run, e, pair, depth);
		}
		e->max_depth =
			MAX(e->max_depth, run->report->chain.caller ? deepest - depth + 1 : depth);
	}
	e = run->hist->entries.v[pair->entry];
	if (e->met != index + 1)
		e->acc += pair->period;
	e->max_depth = MAX(e->max_depth, deepest);
}

// Where the node stands in weights (preorder), or NONE.
static uint32_t find_node(const struct chain_run *run, const struct weights *weights, uint32_t node)
{
	const uint32_t *before = run->trie.before;
	size_t low = SEARCH(weights->v.n, i, before[weights->v.v[i].node] < before[node]);

	return low < weights->v.n && weights->v.v[low].node == node ? (uint32_t)low : NONE;
}

// From the outermost occurrence inwards; the entry's own samples come with their whole chain instead.
static void callee_tree(struct chain_run *run, struct entry *e, const struct wanted *wanted)
{
	vec_clear(&run->subtrees);
	take_paths(run, wanted);
	weights_build(&run->own, &run->trie, run->paths.v, run->paths.n);
	if (run->own.v.n)
		vec_push(&run->subtrees, (struct subtree){&run->own, NONE, false});
	vec_each(struct occurrence, o, &run->of_one) {
		uint32_t own;

		if (o->around)
			continue;
		vec_push(&run->subtrees, (struct subtree){&run->weights, o->index, false});
		own = find_node(run, &run->own, run->weights.v.v[o->index].node);
		if (own != NONE)
			vec_push(&run->subtrees, (struct subtree){&run->own, own, true});
	}
	call_tree_callees(tree_new(e), &run->trie,
			  (struct subtrees){run->subtrees.v, run->subtrees.n}, &run->options);
}

// Is it a frame of the entry? Frames of those whose call graphs are made are not LIGHT.
static bool is_of(const struct chain_run *run, uint32_t frame, const struct entry *e)
{
	return frame != CALL_TREE_LIGHT && run->rows.of_frame[frame].caller == e->id;
}

static void remove_own(struct chain_run *run, const struct entry *e, const struct path_weight *own)
{
	struct occurrence *occurrences = run->of_one.v;
	const uint32_t *before = run->trie.before;
	uint32_t at = own->node;
	size_t n = run->of_one.n, low;

	while (at && !is_of(run, small_node(run, at)->frame, e))
		at = small_node(run, at)->parent;
	if (!at)
		return;
	low = SEARCH(n, i, before[run->weights.v.v[occurrences[i].index].node] < before[at]);
	if (low < n && run->weights.v.v[occurrences[low].index].node == at) {
		occurrences[low].net_weight -= own->weight;
		occurrences[low].net_count -= own->count;
	}
}

// From the innermost occurrence outwards.
static void caller_tree(struct chain_run *run, struct entry *e, const struct wanted *wanted)
{
	take_paths(run, wanted);
	for (size_t i = 0; i < wanted->pairs_n; i++)
		remove_own(run, e, &run->paths.v[i]);
	vec_each(struct occurrence, o, &run->of_one) {
		if (o->net_count)
			vec_push(&run->paths,
				 (struct path_weight){.node = run->weights.v.v[o->index].node,
						      .count = o->net_count,
						      .weight = o->net_weight});
	}
	call_tree_callers(tree_new(e), &run->trie, (struct paths){run->paths.v, run->paths.n},
			  &run->options);
}

static void open_occurrence(struct chain_run *run, uint32_t id, uint32_t index)
{
	const struct weighted *w = &run->weights.v.v[index];
	struct wanted *wanted = want(run, id);
	uint32_t around = run->open.v[id], link;

	if (around) {
		run->occurrences.v[around - 1].net_weight -= w->weight;
		run->occurrences.v[around - 1].net_count -= w->count;
	}
	vec_push(&run->occurrences, (struct occurrence){.index = index,
							.around = around,
							.net_count = w->count,
							.net_weight = w->weight});
	link = (uint32_t)run->occurrences.n;
	if (wanted->last)
		run->occurrences.v[wanted->last - 1].next = link;
	else
		wanted->first = link;
	wanted->last = run->open.v[id] = link;
}

// The innermost open occurrence of the entry ends.
static void close_occurrence(struct chain_run *run, uint32_t id)
{
	uint32_t *open = id == NONE ? NULL : &run->open.v[id];

	if (open && *open)
		*open = run->occurrences.v[*open - 1].around;
}

// Where those that weigh enough occur.
static void find_occurrences(struct chain_run *run)
{
	uint32_t depth = 0;

	while (run->open.n < run->hist->entries.n)
		vec_push(&run->open, 0);
	for (uint32_t i = 0; i < run->weights.v.n; i++) {
		const struct weighted *w = &run->weights.v.v[i];
		uint32_t frame = small_node(run, w->node)->frame, id = NONE;

		for (; depth >= w->depth; depth--)
			close_occurrence(run, run->levels.v[depth]);
		while (run->levels.n <= w->depth)
			vec_push(&run->levels, NONE);
		if (frame != CALL_TREE_LIGHT)
			id = run->rows.of_frame[frame].caller;
		if (id != NONE && wants_tree(run, run->hist->entries.v[id]->acc))
			open_occurrence(run, id, i);
		run->levels.v[depth = w->depth] = id;
	}
	for (; depth; depth--)
		close_occurrence(run, run->levels.v[depth]);
}

// All of the context's samples by the stacks that are left of theirs.
static void make_weights(struct chain_run *run, const uint32_t *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pair *pair = &run->hist->pairs.v[pairs[i]];
		uint32_t node = small_of(run, pair->stack);

		for (uint32_t next = (uint32_t)run->paths.n; next <= node; next++)
			vec_push(&run->paths, (struct path_weight){.node = next});
		run->paths.v[node].count += pair->count;
		run->paths.v[node].weight += pair->period;
	}
	make_trie(run);
	weights_build(&run->weights, &run->trie, run->paths.v, run->paths.n);
}

static void context_trees(struct chain_run *run, const uint32_t *pairs, size_t n)
{
	small_start(run);
	vec_clear(&run->paths);
	make_weights(run, pairs, n);
	find_occurrences(run);
	find_own_pairs(run, pairs, n);
	vec_each(struct wanted, wanted, &run->wanted) {
		struct entry *e = run->hist->entries.v[wanted->entry];

		vec_clear(&run->of_one);
		for (uint32_t at = wanted->first; at; at = run->occurrences.v[at - 1].next)
			vec_push(&run->of_one, run->occurrences.v[at - 1]);
		if (run->report->chain.caller)
			callee_tree(run, e, wanted);
		else
			caller_tree(run, e, wanted);
	}
	small_end(run);
	forget_wanted(run);
}

// Of each context: the rows of what was only counted, what callers add up to, the call graphs.
static void context_by_context(struct chain_run *run, const uint32_t *pairs, const uint32_t *ends)
{
	struct hist *hist = run->hist;
	uint32_t start = 0;

	for (uint32_t i = 0; i < hist->contexts.n; start = ends[i++]) {
		uint64_t weight = 0;

		context_rows_settle(&run->rows, i, pairs + start, ends[i] - start);
		for (size_t j = start; j < ends[i] && run->report->children; j++) {
			accumulate(run, pairs[j]);
			weight += hist->pairs.v[pairs[j]].period;
		}
		if (run->report->children && wants_tree(run, weight))
			context_trees(run, pairs + start, ends[i] - start);
	}
}

// What came first decides whether a row is hidden, also when a caller of another sample did: then its own samples are hidden, too.
static void count_shown(struct hist *hist)
{
	hist->shown_samples = 0;
	for (size_t i = 0; i < hist->entries.n; i++) {
		if (!hist->entries.v[i]->filtered)
			hist->shown_samples += hist->entries.v[i]->samples;
	}
}

void hist_chains(struct hist *hist)
{
	struct report *report = hist->report;
	struct chain_run run = {.hist = hist, .report = report};
	double percent = report->chain.least_percent;
	uint64_t total = !strcmp(report->o.percentage, "relative") ? hist->chain_shown_period
								   : hist->chain_period;

	uint32_t *ends, *pairs;

	if (!hist->pairs.n)
		return;
	run.least = (uint64_t)((double)total * (percent / 100));
	hist->chain_least = run.least;
	run.options = (struct call_tree_options){
		.least = report->chain.mode == CHAIN_FRACTAL ? 0 : run.least,
		.least_fraction = report->chain.mode == CHAIN_FRACTAL ? percent / 100.0 : 0,
		.all_ends = report->chain.mode == CHAIN_FLAT || report->chain.mode == CHAIN_FOLDED,
		.tie = falling_address,
		.arg = report,
	};
	run.keeps_all = !report->children || report->chain.mode == CHAIN_FRACTAL;
	ends = xcalloc(MAX(hist->contexts.n, (size_t)1), sizeof(*ends));
	pairs = hist_sorted_pairs(hist, ends);
	context_rows_init(&run.rows, hist);
	context_by_context(&run, pairs, ends);
	if (!report->children)
		own_trees(&run, pairs);
	else if (report->has_hide)
		count_shown(hist);
	context_rows_done(&run.rows);
	free(pairs);
	free(ends);
	free(run.small_of);
	vec_done(&run.mapped);
	vec_done(&run.origins);
	vec_done(&run.way);
	vec_done(&run.path);
	weights_done(&run.weights);
	weights_done(&run.own);
	vec_done(&run.paths);
	vec_done(&run.own_pairs);
	vec_done(&run.open);
	vec_done(&run.levels);
	vec_done(&run.wanted);
	vec_done(&run.wanted_at);
	vec_done(&run.occurrences);
	vec_done(&run.of_one);
	vec_done(&run.subtrees);
}
