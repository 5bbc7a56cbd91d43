// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/hash.h"
#include "cmd/core/report/browse.h"

enum { DEEPEST = 512 };

struct maker {
	struct browser *browser;
	const struct call_tree *tree;
	uint32_t row;
};

static bool is_open(const struct browser *browser, uint64_t key, bool by_itself)
{
	const uint64_t *state = map_find(&browser->folds, key);

	return state ? *state != 0 : by_itself;
}

static bool tree_is_shown(const struct browser *browser, const struct entry *e)
{
	return browser->report->use_chains && e->more->tree && e->more->tree->top != BROWSE_NONE;
}

// The same place in the tree has the same key when the tree was made anew.
static uint64_t node_key(const struct call_tree *tree, const struct call_node *node, uint64_t above)
{
	return hash_mix(above, tree->frames.v[node->first_frame] + 1ull);
}

// What the lines of a node's children have from it.
struct above {
	uint64_t total, key;
	uint16_t depth;
};

static void add_nodes(struct maker *maker, uint32_t id, struct above level)
{
	const struct call_tree *tree = maker->tree;
	const uint64_t total = level.total;
	struct browser *browser = maker->browser;
	bool fractal = browser->report->chain.mode == CHAIN_FRACTAL;
	bool alone = id != BROWSE_NONE && tree->nodes.v[id].sibling == BROWSE_NONE;

	for (; id != BROWSE_NONE; id = tree->nodes.v[id].sibling) {
		const struct call_node *node = &tree->nodes.v[id];
		struct browse_line line = {.row = maker->row,
					   .node = id,
					   .depth = level.depth,
					   .key = node_key(tree, node, level.key),
					   .total = total};

		line.folds = node->frames_n > 1 || node->child != BROWSE_NONE;
		line.has_percent = !alone || node->hit + node->children_hit != total;
		line.open = line.folds && is_open(browser, line.key, alone);
		vec_push(&browser->lines, line);
		if (!line.open || level.depth >= DEEPEST)
			continue;
		for (uint32_t i = 1; i < node->frames_n; i++)
			vec_push(&browser->lines, (struct browse_line){.row = maker->row,
								       .node = id,
								       .frame = i,
								       .depth = level.depth,
								       .key = line.key + i,
								       .total = total});
		add_nodes(maker, node->child,
			  (struct above){fractal ? node->children_hit : total, line.key,
					 (uint16_t)(level.depth + 1)});
	}
}

static uint64_t chain_total(const struct browser *browser, const struct entry *e)
{
	if (browser->report->chain.mode == CHAIN_FRACTAL)
		return browser->report->children ? e->acc : e->period;
	return browser->hist->total_period;
}

static void add_row(struct browser *browser, uint32_t i)
{
	const struct entry *e = browser->hist->rows[i];
	struct browse_line line = {.row = i, .node = BROWSE_NONE, .key = entry_hash(e)};
	struct maker maker = {.browser = browser, .tree = e->more->tree, .row = i};

	line.folds = tree_is_shown(browser, e);
	line.open = line.folds && is_open(browser, line.key, browser->all_open);
	vec_push(&browser->lines, line);
	if (line.open)
		add_nodes(&maker, e->more->tree->top,
			  (struct above){chain_total(browser, e), line.key, 1});
}

void browser_make_lines(struct browser *browser)
{
	struct hist *hist = browser->hist;
	const struct browse_line *chosen = browser_line(browser);
	uint64_t key = chosen ? chosen->key : 0;
	size_t at = browser->list.at, off = at - browser->list.top;
	bool follows = chosen && at > 0;

	vec_clear(&browser->lines);
	for (size_t i = 0; i < hist->rows_n; i++) {
		const struct entry *e = hist->rows[i];

		if (!e->filtered && entry_percent(e) >= browser->percent_limit)
			add_row(browser, (uint32_t)i);
	}
	// Who looks at the top wants to see what is on top; else the line is followed.
	for (size_t i = 0; follows && i < browser->lines.n; i++) {
		if (browser->lines.v[i].key == key) {
			at = i;
			break;
		}
	}
	browser->list.at = at;
	browser->list.top = at > off ? at - off : 0;
	list_resize(&browser->list, browser->lines.n, browser->list.page);
}

const struct browse_line *browser_line(const struct browser *browser)
{
	return browser->list.at < browser->lines.n ? &browser->lines.v[browser->list.at] : NULL;
}

struct entry *browser_entry(const struct browser *browser, const struct browse_line *line)
{
	return browser->hist->rows[line->row];
}

void browser_fold(struct browser *browser, const struct browse_line *line, bool open)
{
	*map_at(&browser->folds, line->key, NULL) = open;
	browser_make_lines(browser);
}

struct folding {
	struct browser *browser;
	const struct call_tree *tree;
	bool open;
};

static void fold_nodes(const struct folding *f, uint32_t id, uint64_t above)
{
	for (; id != BROWSE_NONE; id = f->tree->nodes.v[id].sibling) {
		const struct call_node *node = &f->tree->nodes.v[id];
		uint64_t key = node_key(f->tree, node, above);

		*map_at(&f->browser->folds, key, NULL) = f->open;
		fold_nodes(f, node->child, key);
	}
}

void browser_fold_deep(struct browser *browser, const struct browse_line *line, bool open)
{
	const struct entry *e = browser_entry(browser, line);
	const struct folding folding = {browser, e->more->tree, open};

	*map_at(&browser->folds, line->key, NULL) = open;
	if (tree_is_shown(browser, e))
		fold_nodes(&folding,
			   line->node == BROWSE_NONE ? e->more->tree->top
						     : e->more->tree->nodes.v[line->node].child,
			   line->key);
	browser_make_lines(browser);
}

void browser_fold_all(struct browser *browser, bool open)
{
	map_clear(&browser->folds);
	browser->all_open = open;
	for (size_t i = 0; open && i < browser->hist->rows_n; i++) {
		const struct entry *e = browser->hist->rows[i];

		if (!e->filtered && tree_is_shown(browser, e))
			fold_nodes(&(struct folding){browser, e->more->tree, true},
				   e->more->tree->top, entry_hash(e));
	}
	browser_make_lines(browser);
}

static bool is_wanted(const struct browser *browser, const struct entry *e)
{
	const struct browse_zoom *zoom = &browser->zoom;

	if (zoom->by_task &&
	    (zoom->has_tid ? !e->task || e->task->tid != zoom->tid : e->comm != zoom->comm))
		return false;
	if (zoom->by_dso && e->place.dso != zoom->dso)
		return false;
	if (zoom->by_symbol && e->place.sym != zoom->symbol)
		return false;
	if (zoom->by_socket && entry_socket(browser->report, e) != zoom->socket)
		return false;
	if (!zoom->filter.n)
		return true;
	return e->place.sym && strstr(e->place.sym->name, zoom->filter.text);
}

void browser_apply_zoom(struct browser *browser)
{
	struct hist *hist = browser->hist;

	hist_widen_to_headers(hist);
	hist->total_shown_period = 0;
	for (size_t i = 0; i < hist->rows_n; i++) {
		struct entry *e = hist->rows[i];

		e->filtered &= (uint8_t)~HIDDEN_ZOOM;
		if (!is_wanted(browser, e))
			e->filtered |= HIDDEN_ZOOM;
		if (!e->filtered)
			hist->total_shown_period += e->period;
	}
	browser_make_lines(browser);
}
