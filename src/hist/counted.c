// SPDX-License-Identifier: GPL-2.0-or-later
#include "hist/counted.h"
#include "base/hash.h"

enum { NONE = UINT32_MAX };

bool report_may_count_first(const struct report *report)
{
	static const char *const names[] = {"comm", "pid",    "cpu",	     "socket",
					    "dso",  "symbol", "symbol_size", "ipc_null"};

	return report->mode == MODE_NORMAL && (report->children || report->use_chains) &&
	       !report->history && !report->needs_extra && !report->has_hide &&
	       !report->has_parent && !report->has_ignore_regex && !report->o.exclude_other &&
	       !report->o.hide_unresolved && !report->joins_unresolved && report->o.socket < 0 &&
	       report->verbose <= 0 && report_keys_are_among(report, names, ARRAY_SIZE(names));
}

uint32_t hist_context_of_sample(struct hist *hist, const struct sample *sample, struct task *task)
{
	struct report *report = hist->report;
	struct recent_context *recent;

	if (!hist->recent_contexts)
		hist->recent_contexts = xcalloc(HIST_RECENT_CONTEXTS, sizeof(*hist->recent_contexts));
	recent = &hist->recent_contexts[hash_mix((uintptr_t)task, sample->cpu) % HIST_RECENT_CONTEXTS];
	if (recent->task != task || recent->tid != task->tid || recent->comm != task->comm ||
	    recent->cpu != sample->cpu) {
		struct entry template = {.hist = hist, .x = &report->no_extra};

		entry_take_task(&template, sample, task);
		*recent = (struct recent_context){.task = task,
						  .tid = task->tid,
						  .comm = task->comm,
						  .cpu = sample->cpu,
						  .context = hist_context(hist, &template)};
	}
	return recent->context;
}

// ---- the rows of a context

// Frames without a symbol are told apart by file and address. So are rows, where they have all keys of a place and no two files
// have one name.
static bool addresses_tell(const struct report *report)
{
	const struct sym *sym = report->run->sym;
	struct map names = {0};
	bool tell = report->has_dso && report->has_sym && !report->grouped &&
		    !report->stacks.want_srclines && report_keys_are_of_place(report);

	for (size_t i = 0; i < sym->dsos.n && tell; i++) {
		const struct dso *dso = sym->dsos.v[i];
		const char *name = report->verbose > 0 ? dso->long_name : dso->short_name;

		map_at(&names, hash_bytes(name, strlen(name)), &tell);
	}
	map_done(&names);
	return tell;
}

void context_rows_init(struct context_rows *rows, struct hist *hist)
{
	struct stacks *stacks = &hist->report->stacks;

	*rows = (struct context_rows){.hist = hist,
				      .of_frame = xcalloc(stacks->frames.n, sizeof(*rows->of_frame)),
				      .addresses_tell = addresses_tell(hist->report)};
}

void context_rows_done(struct context_rows *rows)
{
	free(rows->of_frame);
}

static struct frame_rows *of_frame(struct context_rows *rows, uint32_t frame)
{
	struct frame_rows *known = &rows->of_frame[frame];

	if (known->stamp != rows->stamp)
		*known = (struct frame_rows){rows->stamp, NONE, NONE};
	return known;
}

static struct entry *make_caller(struct context_rows *rows, uint32_t frame)
{
	const struct frame *f = &rows->hist->report->stacks.frames.v[frame];
	struct entry template;
	struct extra extra;

	frame_template(rows->hist->report, &template, rows->context, frame);
	if (rows->hist->report->needs_extra) {
		extra = *rows->context->x;
		extra.srcline = f->srcline;
		extra.srcfile = NULL;
		extra.map_size = 0;
		template.x = &extra;
	}
	template.first = NONE;
	return hist_caller(rows->hist, &template, rows->addresses_tell && !f->sym);
}

uint32_t context_rows_caller(struct context_rows *rows, uint32_t frame)
{
	struct frame_rows *known = of_frame(rows, frame);

	if (known->caller == NONE)
		known->caller = make_caller(rows, frame)->id;
	return known->caller;
}

// A frame without a symbol is another row as a caller, unless the file is mapped where its addresses are.
static struct entry *own_row(struct context_rows *rows, uint32_t frame)
{
	const struct frame *f = &rows->hist->report->stacks.frames.v[frame];
	struct frame_rows *known = of_frame(rows, frame);
	bool is_caller = f->sym || f->addr == f->ip;
	struct entry template, *e;

	if (known->own != NONE)
		return rows->hist->entries.v[known->own];
	frame_template(rows->hist->report, &template, rows->context, frame);
	template.place.addr = f->addr;
	template.first = NONE;
	e = hist_caller(rows->hist, &template, rows->addresses_tell && !f->sym && is_caller);
	known->own = e->id;
	if (is_caller)
		known->caller = e->id;
	return e;
}

static void settle(struct context_rows *rows, struct pair *pair)
{
	const struct frame *f = stacks_node_frame(&rows->hist->report->stacks, pair->stack);
	struct entry *e = own_row(rows, rows->hist->report->stacks.nodes.v[pair->stack].frame);

	pair->entry = e->id;
	rows->hist->counted_n--;
	if (pair->first < e->first) {
		e->first = pair->first;
		e->first_at = 0;
		e->task = pair->task;
	}
	entry_add(e, f->cpumode, pair->count, pair->period);
	if (f->dso) {
		f->dso->hit = true;
		f->dso->samples_n += pair->count;
	}
}

void context_rows_settle(struct context_rows *rows, uint32_t context, const uint32_t *pairs, size_t n)
{
	struct hist *hist = rows->hist;

	rows->stamp++;
	rows->context = hist->contexts.v[context];
	for (size_t i = 0; i < n; i++) {
		struct pair *pair = &hist->pairs.v[pairs[i]];

		if (pair->entry & PAIR_OF_CONTEXT)
			settle(rows, pair);
	}
}

static uint32_t context_of(const struct hist *hist, const struct pair *pair)
{
	return pair->entry & PAIR_OF_CONTEXT ? pair->entry & ~PAIR_OF_CONTEXT
					     : hist->entries.v[pair->entry]->context;
}

uint32_t *hist_sorted_pairs(const struct hist *hist, uint32_t *ends)
{
	uint32_t *pairs = xcalloc(hist->pairs.n, sizeof(*pairs)), start = 0;
	size_t contexts_n = MAX(hist->contexts.n, (size_t)1);

	vec_each(struct pair, pair, &hist->pairs)
		ends[context_of(hist, pair)]++;
	for (size_t i = 0; i < contexts_n; i++) {
		uint32_t n = ends[i];

		ends[i] = start;
		start += n;
	}
	for (uint32_t i = 0; i < hist->pairs.n; i++)
		pairs[ends[context_of(hist, &hist->pairs.v[i])]++] = i;
	return pairs;
}

void hist_settle(struct hist *hist)
{
	struct context_rows rows;
	uint32_t *ends, *pairs, start = 0;

	if (!hist->counted_n)
		return;
	ends = xcalloc(hist->contexts.n, sizeof(*ends));
	pairs = hist_sorted_pairs(hist, ends);
	context_rows_init(&rows, hist);
	rows.addresses_tell = false; // whoever looks for rows later finds them by their keys
	for (uint32_t i = 0; i < hist->contexts.n; start = ends[i++])
		context_rows_settle(&rows, i, pairs + start, ends[i] - start);
	context_rows_done(&rows);
	free(pairs);
	free(ends);
}
