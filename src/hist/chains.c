// SPDX-License-Identifier: GPL-2.0-or-later
// What the callers of the sampled places add up to (children), and the call graphs below the rows. Both come from the
// distinct stacks at the end. Call graphs are only made for rows that weigh enough to show one.
#include "hist/report.h"
#include "base/search.h"

enum { NONE = UINT32_MAX };

// A place in a context's stacks where a wanted entry's function stands.
struct occurrence {
	uint32_t index;	    // into the context's weights
	uint32_t around;    // the occurrence of the same entry that encloses this one, + 1
	uint32_t next;	    // of the same entry, + 1
	uint32_t net_count; // without those below an enclosed one
	uint64_t net_weight;
};

// An entry of the context whose call graph is made: its samples' own pairs, and where it occurs.
struct wanted {
	uint32_t entry, pairs_n;
	const uint32_t *pairs;
	uint32_t first, last; // occurrences, + 1
};

struct chain_run {
	struct hist *hist;
	struct report *report;
	struct call_tree_options options;
	uint64_t least;
	uint32_t *pairs; // indices of all pairs, by context and entry
	struct weights weights, own;
	VEC(struct path_weight) paths;
	VEC(uint32_t) ids;    // entry of each of the weights
	VEC(uint32_t) open;   // by entry: how many are open; then the innermost open occurrence + 1
	VEC(uint32_t) levels; // by depth: the entry that is open there
	VEC(struct wanted) wanted;
	VEC(uint32_t) wanted_at;	    // by entry: place among the wanted + 1
	VEC(struct occurrence) occurrences; // of the wanted
	VEC(struct occurrence) of_one;
	VEC(struct subtree) subtrees;
	uint32_t *frame_entry, *frame_stamp; // of the context
	uint32_t stamp;
};

static const struct stack_node *node_of(const struct chain_run *run, uint32_t node)
{
	return &run->report->stacks.nodes.v[node];
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

// Puts the pairs in the order of context, entry and age. `ends` has room for one a context: where its pairs end.
static void sort_pairs(struct chain_run *run, uint32_t *ends)
{
	const struct hist *hist = run->hist;
	uint32_t *next = xcalloc(hist->entries.n + 1, sizeof(*next)), start = 0;
	size_t contexts_n = MAX(hist->contexts.n, (size_t)1);

	vec_each(struct pair, pair, &hist->pairs)
		next[pair->entry]++;
	for (size_t i = 0; i < hist->entries.n; i++)
		ends[hist->entries.v[i]->context] += next[i];
	for (size_t i = 0; i < contexts_n; i++) {
		uint32_t n = ends[i];

		ends[i] = start;
		start += n;
	}
	for (size_t i = 0; i < hist->entries.n; i++) {
		uint32_t *end = &ends[hist->entries.v[i]->context], n = next[i];

		next[i] = *end;
		*end += n;
	}
	for (uint32_t i = 0; i < hist->pairs.n; i++)
		run->pairs[next[hist->pairs.v[i].entry]++] = i;
	free(next);
}

static void take_paths(struct chain_run *run, const uint32_t *pairs, size_t n)
{
	vec_clear(&run->paths);
	for (size_t i = 0; i < n; i++) {
		const struct pair *pair = &run->hist->pairs.v[pairs[i]];

		vec_push(&run->paths,
			 (struct path_weight){pair->stack, pair->count, pair->period, pairs[i]});
	}
}

static struct call_tree *tree_new(struct entry *e)
{
	e->tree = NEW(struct call_tree);
	return e->tree;
}

static bool wants_tree(const struct chain_run *run, uint64_t weight)
{
	const struct report *report = run->report;

	if (!report->use_chains || !run->hist->has_chains)
		return false;
	return report->chain.mode == CHAIN_FRACTAL || weight >= run->least;
}

// Without children: each entry's own stacks.
static void entry_tree(struct chain_run *run, struct entry *e, const uint32_t *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t depth = node_of(run, run->hist->pairs.v[pairs[i]].stack)->depth;

		e->max_depth = MAX(e->max_depth, depth);
	}
	if (!wants_tree(run, e->period))
		return;
	take_paths(run, pairs, n);
	if (run->report->chain.caller || run->report->history) {
		struct subtree all = {.weights = &run->own, .index = NONE};

		weights_build(&run->own, &run->report->trie, run->paths.v, run->paths.n);
		call_tree_callees(tree_new(e), &run->report->trie, &all, 1, &run->options);
	} else {
		call_tree_callers(tree_new(e), &run->report->trie, run->paths.v, run->paths.n,
				  &run->options);
	}
}

static void own_trees(struct chain_run *run)
{
	struct hist *hist = run->hist;

	for (size_t i = 0, end; i < hist->pairs.n; i = end) {
		uint32_t id = hist->pairs.v[run->pairs[i]].entry;

		for (end = i; end < hist->pairs.n && hist->pairs.v[run->pairs[end]].entry == id; end++)
			;
		entry_tree(run, hist->entries.v[id], &run->pairs[i], end - i);
	}
}

// Children: the entry of a frame in the context at hand.
static uint32_t entry_of_frame(struct chain_run *run, const struct entry *context, uint32_t frame)
{
	if (run->frame_stamp[frame] != run->stamp) {
		struct entry template, *e;
		struct extra extra;
		size_t before = run->hist->entries.n;

		frame_template(run->report, &template, context, frame);
		if (run->report->needs_extra) {
			extra = *context->x;
			extra.srcline = run->report->stacks.frames.v[frame].srcline;
			extra.srcfile = NULL;
			extra.map_size = 0;
			template.x = &extra;
		}
		template.first = NONE;
		e = hist_entry(run->hist, &template);
		if (run->hist->entries.n > before) {
			e->period = e->period_sys = e->period_us = e->acc = 0;
			e->period_guest_sys = e->period_guest_us = 0;
			e->samples = 0;
		}
		run->frame_stamp[frame] = run->stamp;
		run->frame_entry[frame] = e->id;
	}
	return run->frame_entry[frame];
}

// perf shows a frame that lies nowhere with the level of the frame that it read before.
static char level_before(const struct chain_run *run, const struct pair *pair,
			 const struct weighted *w)
{
	const struct stacks *stacks = &run->report->stacks;
	char level = run->hist->entries.v[pair->entry]->place.level;
	uint32_t at;

	if (run->report->chain.caller) {
		for (at = node_of(run, w->node)->parent; at; at = node_of(run, at)->parent) {
			if (stacks_node_frame(stacks, at)->dso)
				return stacks_node_frame(stacks, at)->level;
		}
		return level;
	}
	for (at = pair->stack; at != w->node; at = node_of(run, at)->parent) {
		if (stacks_node_frame(stacks, at)->dso)
			level = stacks_node_frame(stacks, at)->level;
	}
	return level;
}

static void seen_first(struct chain_run *run, struct entry *e, const struct weighted *w)
{
	const struct pair *pair = &run->hist->pairs.v[w->first];
	uint32_t at = run->report->chain.caller ? w->depth : w->first_depth - w->depth + 1;

	if (pair->first > e->first || (pair->first == e->first && at >= e->first_at))
		return;
	e->first = pair->first;
	e->first_at = at;
	e->task = pair->task;
	e->filtered = pair->filtered;
	if (!e->place.dso)
		e->place.level = level_before(run, pair, w);
}

static void take_weight(struct chain_run *run, const struct entry *context, uint32_t index)
{
	const struct weighted *w = &run->weights.v.v[index];
	uint32_t id = entry_of_frame(run, context, node_of(run, w->node)->frame);
	struct entry *e = run->hist->entries.v[id];

	while (run->open.n <= id)
		vec_push(&run->open, 0);
	if (!run->open.v[id]++) {
		e->acc += w->weight;
		seen_first(run, e, w);
	}
	e->max_depth =
		MAX(e->max_depth, run->report->chain.caller ? w->deepest - w->depth + 1 : w->depth);
	run->ids.v[index] = id;
}

// What an entry's outermost occurrences weigh.
static void accumulate(struct chain_run *run, const struct entry *context)
{
	uint32_t depth = 0;

	vec_clear(&run->ids);
	vec_reserve(&run->ids, run->weights.v.n);
	for (uint32_t i = 0; i < run->weights.v.n; i++) {
		uint32_t at = run->weights.v.v[i].depth;

		while (run->levels.n <= at)
			vec_push(&run->levels, 0);
		for (; depth >= at; depth--)
			run->open.v[run->levels.v[depth]]--;
		take_weight(run, context, i);
		run->levels.v[depth = at] = run->ids.v[i];
	}
	for (; depth; depth--)
		run->open.v[run->levels.v[depth]]--;
}

// A sample whose own place is not in its chain (a user chain of a kernel sample) counts for it as well.
static void add_selves(struct chain_run *run, const struct entry *context, const uint32_t *pairs,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pair *pair = &run->hist->pairs.v[pairs[i]];
		struct entry *e = run->hist->entries.v[pair->entry];
		uint32_t at = pair->stack;

		while (at && entry_of_frame(run, context, node_of(run, at)->frame) != pair->entry)
			at = node_of(run, at)->parent;
		if (!at)
			e->acc += pair->period;
		e->max_depth = MAX(e->max_depth, node_of(run, pair->stack)->depth);
	}
}

// Where the node stands in weights (preorder), or NONE.
static uint32_t find_node(const struct chain_run *run, const struct weights *weights, uint32_t node)
{
	const uint32_t *before = run->report->trie.before;
	size_t low = SEARCH(weights->v.n, i, before[weights->v.v[i].node] < before[node]);

	return low < weights->v.n && weights->v.v[low].node == node ? (uint32_t)low : NONE;
}

// From the outermost occurrence inwards; the entry's own samples come with their whole chain instead.
static void callee_tree(struct chain_run *run, struct entry *e, const struct wanted *wanted)
{
	vec_clear(&run->subtrees);
	take_paths(run, wanted->pairs, wanted->pairs_n);
	weights_build(&run->own, &run->report->trie, run->paths.v, run->paths.n);
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
	call_tree_callees(tree_new(e), &run->report->trie, run->subtrees.v, run->subtrees.n,
			  &run->options);
}

static void remove_own(struct chain_run *run, const struct entry *e, const struct entry *context,
		       const struct pair *pair)
{
	struct occurrence *occurrences = run->of_one.v;
	const uint32_t *before = run->report->trie.before;
	uint32_t at = pair->stack;
	size_t n = run->of_one.n, low;

	while (at && entry_of_frame(run, context, node_of(run, at)->frame) != e->id)
		at = node_of(run, at)->parent;
	if (!at)
		return;
	low = SEARCH(n, i, before[run->weights.v.v[occurrences[i].index].node] < before[at]);
	if (low < n && run->weights.v.v[occurrences[low].index].node == at) {
		occurrences[low].net_weight -= pair->period;
		occurrences[low].net_count -= pair->count;
	}
}

// From the innermost occurrence outwards.
static void caller_tree(struct chain_run *run, struct entry *e, const struct entry *context,
			const struct wanted *wanted)
{
	take_paths(run, wanted->pairs, wanted->pairs_n);
	for (size_t i = 0; i < wanted->pairs_n; i++)
		remove_own(run, e, context, &run->hist->pairs.v[wanted->pairs[i]]);
	vec_each(struct occurrence, o, &run->of_one) {
		if (o->net_count)
			vec_push(&run->paths,
				 (struct path_weight){.node = run->weights.v.v[o->index].node,
						      .count = o->net_count,
						      .weight = o->net_weight});
	}
	call_tree_callers(tree_new(e), &run->report->trie, run->paths.v, run->paths.n, &run->options);
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
	uint32_t *open = &run->open.v[id];

	if (*open)
		*open = run->occurrences.v[*open - 1].around;
}

// Where those that weigh enough occur.
static void find_occurrences(struct chain_run *run)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < run->weights.v.n; i++) {
		uint32_t at = run->weights.v.v[i].depth, id = run->ids.v[i];

		for (; depth >= at; depth--)
			close_occurrence(run, run->levels.v[depth]);
		if (wants_tree(run, run->hist->entries.v[id]->acc))
			open_occurrence(run, id, i);
		run->levels.v[depth = at] = id;
	}
	for (; depth; depth--)
		close_occurrence(run, run->levels.v[depth]);
}

static void find_wanted_pairs(struct chain_run *run, const uint32_t *pairs, size_t n)
{
	const struct hist *hist = run->hist;

	for (size_t i = 0, end; i < n; i = end) {
		uint32_t id = hist->pairs.v[pairs[i]].entry;

		for (end = i; end < n && hist->pairs.v[pairs[end]].entry == id; end++)
			;
		if (wants_tree(run, hist->entries.v[id]->acc)) {
			struct wanted *wanted = want(run, id);

			wanted->pairs = &pairs[i];
			wanted->pairs_n = (uint32_t)(end - i);
		}
	}
}

static void context_trees(struct chain_run *run, const struct entry *context, const uint32_t *pairs,
			  size_t n)
{
	vec_clear(&run->wanted);
	vec_clear(&run->occurrences);
	find_occurrences(run);
	find_wanted_pairs(run, pairs, n);
	vec_each(struct wanted, wanted, &run->wanted) {
		struct entry *e = run->hist->entries.v[wanted->entry];

		run->wanted_at.v[wanted->entry] = 0;
		vec_clear(&run->of_one);
		for (uint32_t at = wanted->first; at; at = run->occurrences.v[at - 1].next)
			vec_push(&run->of_one, run->occurrences.v[at - 1]);
		if (run->report->chain.caller)
			callee_tree(run, e, wanted);
		else
			caller_tree(run, e, context, wanted);
	}
}

static void children(struct chain_run *run, const uint32_t *ends)
{
	struct hist *hist = run->hist;
	uint32_t start = 0;

	vec_reserve(&run->weights.v, run->report->trie.n); // nothing is moved as they grow
	for (size_t i = 0; i < hist->contexts.n; start = ends[i++]) {
		const struct entry *context = hist->contexts.v[i];
		const uint32_t *pairs = run->pairs + start;
		size_t n = ends[i] - start;

		run->stamp++;
		take_paths(run, pairs, n);
		weights_build(&run->weights, &run->report->trie, run->paths.v, run->paths.n);
		accumulate(run, context);
		add_selves(run, context, pairs, n);
		if (run->report->use_chains)
			context_trees(run, context, pairs, n);
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
	size_t frames_n = report->stacks.frames.n;
	struct chain_run run = {.hist = hist, .report = report};
	double percent = report->chain.least_percent;
	uint64_t total = !strcmp(report->o.percentage, "relative") ? hist->chain_shown_period
								   : hist->chain_period;

	uint32_t *ends;

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
	run.pairs = xcalloc(hist->pairs.n, sizeof(uint32_t));
	ends = xcalloc(MAX(hist->contexts.n, (size_t)1), sizeof(*ends));
	sort_pairs(&run, ends);
	if (report->children) {
		run.frame_entry = xcalloc(frames_n, sizeof(uint32_t));
		run.frame_stamp = xcalloc(frames_n, sizeof(uint32_t));
		children(&run, ends);
		if (report->has_hide)
			count_shown(hist);
	} else {
		own_trees(&run);
	}
	free(run.pairs);
	free(ends);
	free(run.frame_entry);
	free(run.frame_stamp);
	weights_done(&run.weights);
	weights_done(&run.own);
	vec_done(&run.paths);
	vec_done(&run.ids);
	vec_done(&run.open);
	vec_done(&run.levels);
	vec_done(&run.wanted);
	vec_done(&run.wanted_at);
	vec_done(&run.occurrences);
	vec_done(&run.of_one);
	vec_done(&run.subtrees);
}
