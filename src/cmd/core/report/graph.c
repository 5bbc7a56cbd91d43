// SPDX-License-Identifier: GPL-2.0-or-later
// Call graphs as text.
#include "cmd/core/text_color.h"
#include "cmd/core/report/report.h"
#include "hist/history.h"

enum { NONE = UINT32_MAX, MARGIN = 12 };

struct graph {
	const struct report *report;
	const struct call_tree *tree;
	const struct entry *e;
	struct out *out;
	int margin;
};

static uint64_t weight_of(const struct call_node *node)
{
	return node->hit + node->children_hit;
}

void report_put_frame(const struct report *report, uint32_t frame, struct out *out)
{
	const struct frame *f = &report->stacks.frames.v[frame];

	if (!f->sym) {
		if (f->ip)
			out_text(out, "0x");
		out_hex(out, f->ip);
		return;
	}
	out_safe(out, f->sym->name);
	if (report->chain.by_address && f->srcline) {
		out_char(out, ' ');
		out_safe(out, f->srcline);
	} else if (report->chain.by_address) {
		out_printf(out, " +%llu", (unsigned long long)(f->addr - f->sym->start));
	}
	if (f->sym->inlined)
		out_text(out, " (inlined)");
}

static void print_value(const struct graph *g, uint64_t weight, uint32_t count, uint64_t total)
{
	const char *color;
	double percent;

	switch (g->report->chain.value) {
	case CHAIN_PERIOD:
		out_u64(g->out, weight);
		break;
	case CHAIN_COUNT:
		out_u64(g->out, count);
		break;
	default:
		percent = total ? (double)weight * 100.0 / (double)total : 0.0;
		color = g->report->colors ? text_color_of(percent) : "";
		out_printf(g->out, "%s%.2f%%%s", color, percent, *color ? TEXT_PLAIN : "");
	}
}

// A frame of the tree, with what is known of branches there.
static void put_tree_frame(const struct graph *g, uint32_t index)
{
	report_put_frame(g->report, g->tree->frames.v[index], g->out);
	if (g->report->history)
		history_put(g->report->history, g->e, g->tree->trie_nodes.v[index], g->out);
}

static void print_margin(const struct graph *g)
{
	out_fill(g->out, ' ', (size_t)(MARGIN + g->margin));
}

static uint32_t bit(int depth)
{
	return 1u << (depth & 31);
}

// How far to the right a line stands, by which depths lines lead further down (bits), and of what its shares are.
struct indent {
	int depth;
	uint32_t mask;
	uint64_t total;
};

// One line of a node; `frame`, a place in the tree's frames, NONE stands for what was left out. Its value stands at the first of them.
static void print_line(const struct graph *g, struct indent level, const struct call_node *node,
		       uint32_t frame)
{
	const bool first = frame == NONE || frame == node->first_frame;

	print_margin(g);
	for (int i = 0; i < level.depth; i++) {
		out_char(g->out, level.mask & bit(i) ? '|' : ' ');
		if (first && i == level.depth - 1) {
			out_text(g->out, "--");
			print_value(g, weight_of(node), node->count + node->children_count,
				    level.total);
			out_text(g->out, "--");
		} else {
			out_fill(g->out, ' ', 10);
		}
	}
	if (frame == NONE)
		out_text(g->out, "[...]");
	else
		put_tree_frame(g, frame);
	out_char(g->out, '\n');
}

static bool print_level(const struct graph *g, uint32_t parent, uint32_t id, struct indent level)
{
	const struct chain_options *chain = &g->report->chain;
	const uint64_t total = level.total;
	const uint32_t own = bit(level.depth - 1), mask = level.mask;
	uint64_t remaining = total;
	uint32_t printed = 0, counted = 0;
	bool any = false;

	while (id != NONE) {
		const struct call_node *node = &g->tree->nodes.v[id];

		remaining -= weight_of(node);
		counted += node->count + node->children_count;
		if (node->sibling == NONE && (chain->mode != CHAIN_FRACTAL || !remaining))
			level.mask &= ~own;
		print_margin(g);
		for (int i = 0; i < level.depth; i++)
			out_text(g->out, mask & bit(i) ? "|          " : "           ");
		out_char(g->out, '\n');
		for (uint32_t i = 0; i < node->frames_n; i++)
			print_line(g, level, node, node->first_frame + i);
		print_level(g, id, node->child,
			    (struct indent){level.depth + 1, level.mask | bit(level.depth),
					    chain->mode == CHAIN_FRACTAL ? node->children_hit
									 : total});
		any = true;
		id = node->sibling;
		if (++printed == chain->print_limit)
			break;
	}
	if (chain->mode == CHAIN_FRACTAL && remaining && remaining != total) {
		struct call_node rest = {.hit = remaining};

		if (chain->value == CHAIN_COUNT && any) {
			uint32_t all = parent == NONE ? g->tree->count
						      : g->tree->nodes.v[parent].children_count;

			if (all <= counted)
				return any;
			rest.count = all - counted;
		}
		level.mask &= ~own;
		print_line(g, level, &rest, NONE);
	}
	return any;
}

static bool symbol_comes_first(const struct report *report)
{
	return !report->o.fields && report->sort_order && text_starts(report->sort_order, "sym");
}

static void print_graph(struct graph *g, uint64_t total, uint64_t own)
{
	const struct report *report = g->report;
	uint32_t at = g->tree->top, parent = NONE, printed = 0;
	bool started = false, any;

	// A single root that holds all needs no percentage: its frames hang directly below the row.
	if (at != NONE && g->tree->nodes.v[at].sibling == NONE &&
	    weight_of(&g->tree->nodes.v[at]) == own) {
		const struct call_node *node = &g->tree->nodes.v[at];

		for (uint32_t i = symbol_comes_first(report); i < node->frames_n; i++) {
			print_margin(g);
			if (!started) {
				out_text(g->out, "|\n");
				print_margin(g);
				out_text(g->out, "---");
				g->margin += 3;
				started = true;
			}
			put_tree_frame(g, node->first_frame + i);
			out_char(g->out, '\n');
			if (++printed == report->chain.print_limit)
				break;
		}
		parent = at;
		at = node->child;
	}
	any = print_level(g, parent, at,
			  (struct indent){1, 1, report->chain.mode == CHAIN_FRACTAL ? own : total});
	if (started || any)
		out_char(g->out, '\n');
}

// The frames from the root to a node, in one line with `between` between them; NULL: each in its own.
static void print_path(const struct graph *g, uint32_t id, const char *between)
{
	const struct call_node *node = &g->tree->nodes.v[id];

	if (node->parent != NONE)
		print_path(g, node->parent, between);
	for (uint32_t i = 0; i < node->frames_n; i++) {
		if (!between)
			out_fill(g->out, ' ', 16);
		else if (i || node->parent != NONE)
			out_text(g->out, between);
		report_put_frame(g->report, g->tree->frames.v[node->first_frame + i], g->out);
		if (!between)
			out_char(g->out, '\n');
	}
}

static void print_ends(const struct graph *g, uint64_t total, uint64_t least)
{
	const struct report *report = g->report;
	uint32_t *ids = xcalloc(g->tree->nodes.n + 1, sizeof(*ids));
	size_t n = call_tree_ends(g->tree, least, ids);
	bool folded = report->chain.mode == CHAIN_FOLDED;

	for (size_t i = 0; i < n; i++) {
		const struct call_node *node = &g->tree->nodes.v[ids[i]];

		if (folded) {
			print_value(g, node->hit, node->count, total);
			out_char(g->out, ' ');
			print_path(g, ids[i], report->separator_text ? report->separator_text : ";");
		} else {
			out_fill(g->out, ' ', 11);
			print_value(g, weight_of(node), node->count + node->children_count, total);
			out_char(g->out, '\n');
			print_path(g, ids[i], NULL);
		}
		out_char(g->out, '\n');
		if (i + 1 == report->chain.print_limit)
			break;
	}
	free(ids);
}

void entry_print_chain(const struct entry *e, struct out *out)
{
	const struct report *report = e->hist->report;
	struct graph g = {.report = report, .tree = e->more->tree, .e = e, .out = out};
	uint64_t own = report->children ? e->acc : e->period;

	if (!e->more->tree)
		return;
	switch (report->chain.mode) {
	case CHAIN_GRAPH:
	case CHAIN_FRACTAL:
		print_graph(&g, e->hist->total_period, own);
		break;
	case CHAIN_FLAT:
	case CHAIN_FOLDED:
		print_ends(&g, e->hist->total_period, e->hist->chain_least);
		break;
	case CHAIN_NONE:
		break;
	}
}
