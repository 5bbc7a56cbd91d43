// SPDX-License-Identifier: GPL-2.0-or-later
// Samples become entries and (entry, stack) pairs: nothing here is allocated per sample, and nothing walks a call chain
// that has been seen before.
#include "base/hash.h"
#include "cmd/report/report.h"
#include "flow/chain.h"

enum { RECENT = 1 << 12 };

// Do the keys tell no more than comm, file and symbol?
static bool keys_are_of_place(const struct report *report)
{
	for (size_t i = 0; i < report->sorts.n; i++) {
		const struct column *column = report->sorts.v[i];

		if (column->field)
			return false;
		if (column->key && strcmp(column->key->name, "comm") != 0 &&
		    strcmp(column->key->name, "dso") != 0 && strcmp(column->key->name, "symbol") != 0)
			return false;
	}
	return true;
}

struct hist *hist_new(struct report *report, struct event *event)
{
	struct hist *hist = NEW(struct hist);

	hist->report = report;
	hist->event = event;
	hist->has_chains = (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
	if (keys_are_of_place(report))
		hist->recent = xcalloc(RECENT, sizeof(struct entry *));
	return hist;
}

struct hist *report_hist(struct report *report, struct event *event)
{
	if (!event->user)
		event->user = hist_new(report, event);
	return event->user;
}

static void tree_free(struct call_tree *tree)
{
	if (tree) {
		call_tree_done(tree);
		free(tree);
	}
}

void hist_free(struct hist *hist)
{
	if (!hist)
		return;
	for (size_t i = 0; i < hist->entries.n; i++)
		tree_free(hist->entries.v[i]->tree);
	vec_done(&hist->entries);
	vec_done(&hist->contexts);
	vec_done(&hist->pairs);
	map_done(&hist->pair_ids);
	free(hist->by_key.slots);
	free(hist->by_context.slots);
	order_done(&hist->in);
	free(hist->rows);
	free(hist->sorted);
	free(hist->recent);
	free(hist->compact);
	hierarchy_done(hist);
	arena_done(&hist->arena);
	free(hist);
}

static uint64_t column_hash(const struct report *report, const struct column *column,
			    const struct entry *e)
{
	if (column->field) {
		const uint8_t *p = NULL;
		int n = column->event == e->hist->event ? column_field_part(column, e, &p) : 0;

		return n > 0 ? hash_bytes(p, (size_t)n) : 0;
	}
	return column->key ? column->key->hash(report, e) : 0;
}

static uint64_t hash_columns(const struct report *report, struct column *const *columns, size_t n,
			     const struct entry *e)
{
	uint64_t h = 0x9ae16a3b2f90404full;

	for (size_t i = 0; i < n; i++) {
		if (columns[i]->key || columns[i]->field)
			h = hash_mix(h, column_hash(report, columns[i], e) + i);
	}
	return h;
}

static int64_t compare_context(const struct report *report, const struct entry *l,
			       const struct entry *r)
{
	for (size_t i = 0; i < report->context_keys.n; i++) {
		const struct column *column = report->context_keys.v[i];
		const uint8_t *a, *b;
		int64_t cmp;

		if (column->field) {
			int a_n = column_field_part(column, l, &a),
			    b_n = column_field_part(column, r, &b);

			cmp = column->event != l->hist->event ? 0
			      : a_n != b_n		      ? 1
			      : a_n			      ? memcmp(a, b, (size_t)a_n)
							      : 0;
		} else {
			cmp = column->key->compare(report, l, r);
		}
		if (cmp)
			return cmp;
	}
	return 0;
}

static void table_grow(struct entry_table *table)
{
	size_t n = table->mask ? (table->mask + 1) * 2 : 256;

	free(table->slots);
	table->slots = xcalloc(n, sizeof(uint32_t));
	table->mask = n - 1;
}

static void table_fill(struct entry_table *table, struct entry **entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t slot = entries[i]->hash & table->mask;

		while (table->slots[slot])
			slot = (slot + 1) & table->mask;
		table->slots[slot] = (uint32_t)i + 1;
	}
}

static struct entry *table_find(const struct entry_table *table, struct entry *const *entries,
				const struct entry *template,
				int64_t (*compare)(const struct report *, const struct entry *,
						   const struct entry *))
{
	const struct report *report = template->hist->report;

	for (size_t slot = template->hash & table->mask; table->mask && table->slots[slot];
	     slot = (slot + 1) & table->mask) {
		struct entry *e = entries[table->slots[slot] - 1];

		if (e->hash == template->hash && compare(report, e, template) == 0)
			return e;
	}
	return NULL;
}

static void table_add(struct entry_table *table, struct entry **entries, size_t n)
{
	if (n * 2 > table->mask) {
		table_grow(table);
		table_fill(table, entries, n);
	} else {
		size_t slot = entries[n - 1]->hash & table->mask;

		while (table->slots[slot])
			slot = (slot + 1) & table->mask;
		table->slots[slot] = (uint32_t)n;
	}
}

// A context is known by a copy of the first entry in it.
static uint32_t context_of(struct hist *hist, struct entry *e)
{
	struct report *report = hist->report;
	uint64_t own = e->hash;
	struct entry *context;

	if (!report->children)
		return 0;
	e->hash = hash_columns(report, report->context_keys.v, report->context_keys.n, e);
	context = table_find(&hist->by_context, hist->contexts.v, e, compare_context);
	if (!context) {
		context = arena_memdup(&hist->arena, e, sizeof(*e));
		context->context = (uint32_t)hist->contexts.n;
		vec_push(&hist->contexts, context);
		table_add(&hist->by_context, hist->contexts.v, hist->contexts.n);
	}
	e->hash = own;
	return context->context;
}

struct entry *hist_find(struct hist *hist, const struct entry *template)
{
	struct entry wanted = *template;

	wanted.hist = hist;
	wanted.hash =
		hash_columns(hist->report, hist->report->sorts.v, hist->report->sorts.n, &wanted);
	return table_find(&hist->by_key, hist->entries.v, &wanted, entry_compare);
}

static struct extra *extra_new(struct hist *hist, const struct extra *from)
{
	struct extra *x = arena_memdup(&hist->arena, from, sizeof(*x));

	if (x->raw && hist->report->has_dynamic)
		x->raw = arena_memdup(&hist->arena, x->raw, x->raw_size);
	if (x->branch)
		x->branch = arena_memdup(&hist->arena, x->branch, sizeof(*x->branch));
	if (x->mem)
		x->mem = arena_memdup(&hist->arena, x->mem, sizeof(*x->mem));
	return x;
}

struct entry *hist_entry(struct hist *hist, struct entry *template)
{
	struct report *report = hist->report;
	struct entry *e;

	template->hist = hist;
	template->hash = hash_columns(report, report->sorts.v, report->sorts.n, template);
	e = table_find(&hist->by_key, hist->entries.v, template, entry_compare);
	if (e)
		return e;
	e = arena_memdup(&hist->arena, template, sizeof(*e));
	e->x = report->needs_extra ? extra_new(hist, template->x) : &report->no_extra;
	e->id = (uint32_t)hist->entries.n;
	e->context = context_of(hist, e);
	e->leaf = true;
	vec_push(&hist->entries, e);
	table_add(&hist->by_key, hist->entries.v, hist->entries.n);
	return e;
}

void place_of(struct place *ret, const struct location *location)
{
	*ret = (struct place){.dso = location->dso,
			      .sym = location->sym,
			      .addr = location->addr,
			      .ip = location->ip,
			      .level = location->level};
}

// A caller's entry shows the address as it was sampled, not where it lies in the file; so does perf.
void frame_template(const struct report *report, struct entry *template,
		    const struct entry *context, uint32_t frame)
{
	const struct frame *f = &report->stacks.frames.v[frame];

	*template = *context;
	template->place = (struct place){.dso = f->dso,
					 .sym = f->sym,
					 .addr = f->ip,
					 .ip = f->ip,
					 .level = f->level};
	template->cpumode = f->cpumode;
}

static bool frame_matches(struct report *report, uint32_t frame, uint8_t **flags, const regex_t *regex)
{
	const struct symbol *sym = report->stacks.frames.v[frame].sym;
	size_t n = report->stacks.frames.n;

	if (report->frame_flags_n < n) {
		size_t grown = n * 2;

		report->frame_parent = xrealloc(report->frame_parent, grown);
		report->frame_ignored = xrealloc(report->frame_ignored, grown);
		memset(report->frame_parent + report->frame_flags_n, 0,
		       grown - report->frame_flags_n);
		memset(report->frame_ignored + report->frame_flags_n, 0,
		       grown - report->frame_flags_n);
		report->frame_flags_n = grown;
	}
	if (!(*flags)[frame])
		(*flags)[frame] = sym && !regexec(regex, sym->name, 0, NULL, 0) ? 2 : 1;
	return (*flags)[frame] == 2;
}

// The first symbol of the chain that matches -p, seen from where perf begins to read.
static const struct symbol *parent_of(struct report *report, uint32_t stack)
{
	const struct symbol *found = NULL;

	for (; stack; stack = report->stacks.nodes.v[stack].parent) {
		uint32_t frame = report->stacks.nodes.v[stack].frame;

		if (!frame_matches(report, frame, &report->frame_parent, &report->parent_regex))
			continue;
		found = report->stacks.frames.v[frame].sym;
		if (!report->chain.caller)
			break;
	}
	return found;
}

// --ignore-callees: the outermost match becomes the place of the sample, what it called is forgotten.
static uint32_t without_callees(struct report *report, uint32_t stack, struct entry *template)
{
	uint32_t kept = 0, frame;

	for (uint32_t at = stack; at; at = report->stacks.nodes.v[at].parent) {
		frame = report->stacks.nodes.v[at].frame;
		if (frame_matches(report, frame, &report->frame_ignored, &report->ignore_regex))
			kept = at;
	}
	if (!kept)
		return stack;
	frame = report->stacks.nodes.v[kept].frame;
	const struct frame *f = &report->stacks.frames.v[frame];

	template->place = (struct place){.dso = f->dso,
					 .sym = f->sym,
					 .addr = f->addr,
					 .ip = f->ip,
					 .level = f->level};
	return kept;
}

static void add_to(struct entry *e, const struct entry *from, uint64_t period)
{
	e->period += period;
	e->samples++;
	switch (from->cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		e->period_sys += period;
		break;
	case PERF_RECORD_MISC_USER:
		e->period_us += period;
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		e->period_guest_sys += period;
		break;
	case PERF_RECORD_MISC_GUEST_USER:
		e->period_guest_us += period;
		break;
	default:
		break;
	}
}

static void count_sample(struct hist *hist, const struct entry *e, uint64_t period)
{
	hist->samples++;
	if (!e->filtered)
		hist->shown_samples++;
	if (!hist->report->use_chains)
		return;
	hist->chain_period += period;
	if (!e->filtered)
		hist->chain_shown_period += period;
}

static void add_pair(struct hist *hist, const struct entry *e, const struct entry *template,
		     uint32_t stack, uint64_t period)
{
	struct pair *last = hist->last_pair ? &hist->pairs.v[hist->last_pair - 1] : NULL;
	bool is_new;
	uint64_t *id;

	if (!last || last->entry != e->id || last->stack != stack) {
		id = map_at(&hist->pair_ids, (uint64_t)e->id << 32 | stack, &is_new);
		if (is_new) {
			*id = hist->pairs.n;
			vec_push(&hist->pairs, (struct pair){.entry = e->id,
							     .stack = stack,
							     .task = template->task,
							     .filtered = template->filtered,
							     .first = hist->seen});
		}
		hist->last_pair = (uint32_t)*id + 1;
		last = &hist->pairs.v[*id];
	}
	last->period += period;
	last->count++;
}

static const char *trace_text(struct report *report, const struct event *event,
			      const struct sample *sample)
{
	struct out *out = &report->scratch;

	if (!event->tp)
		return NULL;
	out->n = 0;
	if (report->o.raw_trace)
		tracepoint_print_fields(out, event->tp, sample->raw, sample->raw_size);
	else
		tracepoint_print(out, event->tp, sample->raw, sample->raw_size);
	return intern_get(&report->texts, intern_str(&report->texts, (struct str){out->buf, out->n}));
}

static uint8_t hidden_by(struct report *report, const struct sample *sample,
			 const struct task *task, const struct location *location)
{
	uint8_t hidden = 0;

	if (!filter_sample(report->hide, sample) ||
	    !filter_comm(report->hide, task_comm(report->session->sym, task)))
		hidden |= HIDDEN_TASK;
	if (!filter_dso(report->hide, location->dso))
		hidden |= HIDDEN_DSO;
	if (!filter_location(report->hide_symbol, location))
		hidden |= HIDDEN_SYMBOL;
	return hidden;
}

static void count_branch_type(struct report *report, uint64_t from, uint64_t to, uint64_t flags)
{
	unsigned type = flags >> 20 & 15, new_type = flags >> 24 & 15;

	if (!type || !from)
		return;
	if (type == 15)
		report->branch_new_types[new_type]++;
	else
		report->branch_types[type]++;
	if (type == 1) {
		if (to > from)
			report->branch_forward++;
		else
			report->branch_backward++;
	}
	if (from >> 21 != to >> 21)
		report->branch_2m++;
	else if (from >> 12 != to >> 12)
		report->branch_4k++;
}

static unsigned branch_cycles(uint64_t flags)
{
	return flags >> 4 & 0xffff;
}

static uint64_t place_map_size(const struct location *location)
{
	return location->map ? location->map->end - location->map->start : 0;
}

// Returns the size of the mapping. Branches and data addresses do not say in which mode they lie: user, kernel, else nowhere ('H' for perf).
static uint64_t resolve_any(struct report *report, struct task *task, uint64_t ip, struct place *ret)
{
	struct sym *sym = report->session->sym;
	struct location location;

	sym_resolve(sym, task, PERF_RECORD_MISC_USER, ip, &location);
	if (!location.dso)
		sym_resolve(sym, task, PERF_RECORD_MISC_KERNEL, ip, &location);
	if (!location.dso)
		location.level = 'H';
	place_of(ret, &location);
	return place_map_size(&location);
}

static int add_branches(struct hist *hist, struct entry *template, const struct sample *sample,
			struct task *task)
{
	struct report *report = hist->report;
	char level = template->place.level;

	for (uint64_t i = 0; i < sample->branch_n; i++) {
		struct branch_ends ends;
		struct entry *e;

		template->x->map_size = resolve_any(report, task, sample->branches[i].to, &ends.to);
		resolve_any(report, task, sample->branches[i].from, &ends.from);
		memcpy(&ends.flags, (const char *)&sample->branches[i] + 16, 8);
		if (report->o.hide_unresolved && (!ends.from.sym || !ends.to.sym))
			continue;
		template->x->branch = &ends;
		template->place = ends.to;
		template->place.addr = ends.to.ip; // not where it lies in the file; so does perf
		template->place.level = level;
		template->x->weight = MAX(branch_cycles(ends.flags), 1u);
		e = hist_entry(hist, template);
		add_to(e, template, 1);
		count_sample(hist, e, 1);
		count_branch_type(report, ends.from.ip, ends.to.ip, ends.flags);
	}
	return 0;
}

// 0: the sample has no chain.
static uint32_t stack_of(struct report *report, const struct event *event,
			 const struct sample *sample, struct task *task)
{
	struct sample whole;
	const struct sample *chain =
		session_chain(report->session, event, sample, task, report->o.max_stack, &whole);

	// Each part of what was unwound has its limit already.
	report->stacks.max_stack = chain == sample ? report->o.max_stack : 0;
	return chain->callchain_n ? stacks_of_sample(&report->stacks, task, chain) : 0;
}

static void add_memory(struct hist *hist, struct entry *template, const struct sample *sample,
		       struct task *task)
{
	struct report *report = hist->report;
	struct memory_access mem = {.source = sample->data_src,
				    .phys_addr = sample->phys_addr,
				    .page_size = sample->data_page_size};
	uint64_t cost = template->x->weight ? template->x->weight : 1;
	struct location location;
	struct entry *e;
	uint32_t stack;

	resolve_any(report, task, sample->ip, &mem.code);
	sym_resolve(report->session->sym, task, sample->cpumode, sample->addr, &location);
	place_of(&mem.data, &location);
	template->x->mem = &mem;
	e = hist_entry(hist, template);
	add_to(e, template, cost);
	count_sample(hist, e, cost);
	if (report->use_chains && (stack = stack_of(report, hist->event, sample, task)))
		add_pair(hist, e, template, stack, cost);
}

static void take_weights(struct entry *template, const struct event *event,
			 const struct sample *sample)
{
	if (event->attr.sample_type & (1u << 24) /* PERF_SAMPLE_WEIGHT_STRUCT */) {
		template->x->weight = sample->weight & 0xffffffffu;
		template->x->ins_lat = sample->weight >> 32 & 0xffff;
		template->x->p_stage_cyc = sample->weight >> 48;
	} else {
		template->x->weight = sample->weight;
	}
}

static uint64_t sample_period(const struct event *event, const struct sample *sample)
{
	uint64_t type = event->attr.sample_type;

	if (type & PERF_SAMPLE_PERIOD ||
	    (type & PERF_SAMPLE_READ && event->attr.read_format & PERF_FORMAT_ID))
		return sample->period;
	return event->attr.sample_period;
}

static void take_extra(struct report *report, struct entry *template, const struct event *event,
		       const struct sample *sample, const struct location *location)
{
	struct extra *x = template->x;
	uint64_t quantum = report->quantum_ns;

	*x = (struct extra){.time = quantum ? sample->time / quantum * quantum : sample->time,
			    .transaction = sample->transaction,
			    .cgroup = sample->cgroup,
			    .code_page_size = sample->code_page_size};
	if (report->has_cgroup_id) {
		const uint64_t *dev = map_find(&report->cgroup_devs, template->task->tid);

		x->cgroup_dev = dev ? *dev : 0;
		x->cgroup_ino = dev ? *map_find(&report->cgroup_inos, template->task->tid) : 0;
	}
	take_weights(template, event, sample);
	if (report->has_mem_size)
		x->map_size = place_map_size(location);
	if (!sample->raw)
		return;
	if (report->has_trace)
		x->trace = trace_text(report, event, sample);
	x->raw = sample->raw;
	x->raw_size = sample->raw_size;
}

// As hist_entry, of a sample: most are where one was lately.
static struct entry *sample_entry(struct hist *hist, struct entry *template)
{
	const struct place *place = &template->place;
	uint64_t at = place->sym ? (uintptr_t)place->sym : place->addr;
	struct entry **recent, *e;

	if (!hist->recent)
		return hist_entry(hist, template);
	recent = &hist->recent[hash_mix(at ^ (uint64_t) template->comm << 40, (uintptr_t)place->dso) %
			       RECENT];
	e = *recent;
	if (!e || e->place.sym != place->sym || e->place.dso != place->dso ||
	    e->comm != template->comm || (!place->sym && e->place.addr != place->addr))
		*recent = e = hist_entry(hist, template);
	return e;
}

int report_sample(void *arg, struct session *session, struct event *event,
		  const struct sample *sample, struct task *task, const struct record *record)
{
	struct report *report = arg;
	struct hist *hist = report_hist(report, event);
	struct location location;
	struct extra extra;
	struct entry template = {.x = report->needs_extra ? &extra : &report->no_extra}, *e;
	uint64_t period;
	uint32_t stack = 0;

	if (!filter_time(report->skip, sample->time) ||
	    !event_switch_passes(&report->event_switch, event))
		return 0;
	if (!task)
		task = sym_task(session->sym, UINT32_MAX, UINT32_MAX);
	sym_resolve(session->sym, task, sample->cpumode, sample->ip, &location);
	if ((report->o.hide_unresolved && !location.sym) || !filter_sample(report->skip, sample))
		return 0;
	if (report->mode == MODE_BRANCH && !sample->branches)
		return 0;
	if (location.dso)
		location.dso->hit = true;
	hist->seen++;
	place_of(&template.place, &location);
	template.hist = hist;
	template.task = task;
	template.comm = task->comm;
	template.cpu = (int32_t)sample->cpu;
	template.socket = sample->cpu < report->sockets.n ? report->sockets.v[sample->cpu] : -1;
	template.cpumode = sample->cpumode;
	template.first = hist->seen;
	if (report->needs_extra)
		take_extra(report, &template, event, sample, &location);
	if (report->has_hide)
		template.filtered = hidden_by(report, sample, task, &location);
	if ((report->children || report->use_chains || report->has_parent) &&
	    report->mode != MODE_BRANCH && (stack = stack_of(report, event, sample, task))) {
		if (report->has_ignore_regex)
			stack = without_callees(report, stack, &template);
		if (report->has_parent)
			template.parent = parent_of(report, stack);
	}
	if (report->o.exclude_other && !template.parent)
		template.filtered |= HIDDEN_PARENT;
	if (report->mode == MODE_BRANCH)
		return add_branches(hist, &template, sample, task);
	if (report->mode == MODE_MEMORY) {
		add_memory(hist, &template, sample, task);
		return 0;
	}
	period = sample_period(event, sample);
	if (report->addresses && location.sym)
		annotate_counts_add(report->addresses, event->index, &location, period);
	e = sample_entry(hist, &template);
	add_to(e, &template, period);
	count_sample(hist, e, period);
	if (report->children || report->use_chains)
		add_pair(hist, e, &template, stack, period);
	return 0;
}
