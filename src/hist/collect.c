// SPDX-License-Identifier: GPL-2.0-or-later
// Samples become entries and (entry, stack) pairs, or only (context, stack) pairs (hist/counted.h): nothing here is allocated per
// sample, and nothing walks a call chain that has been seen before.
#include "base/hash.h"
#include "hist/counted.h"
#include "hist/history.h"
#include "flow/chain.h"
#include <elf.h>

void place_of(struct place *ret, const struct location *location)
{
	*ret = (struct place){.dso = location->dso,
			      .sym = location->sym,
			      .addr = location->addr,
			      .ip = location->ip,
			      .level = location->level};
}

// A caller's entry shows the address as it was sampled, not where it lies in the file, but how far it is in data; so does perf.
void frame_template(const struct report *report, struct entry *template,
		    const struct entry *context, uint32_t frame)
{
	const struct frame *f = &report->stacks.frames.v[frame];

	*template = *context;
	template->place =
		(struct place){.dso = f->dso,
			       .sym = f->sym,
			       .addr = f->sym && f->sym->type == STT_OBJECT ? f->addr : f->ip,
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

void entry_take_task(struct entry *template, const struct sample *sample, struct task *task)
{
	template->task = task;
	template->comm = task->comm;
	template->cpu = (int32_t)sample->cpu;
	template->cpumode = sample->cpumode;
}

int32_t entry_socket(const struct report *report, const struct entry *e)
{
	return (size_t)(uint32_t)e->cpu < report->sockets.n ? report->sockets.v[e->cpu] : -1;
}

void entry_add(struct entry *e, uint8_t cpumode, uint32_t samples, uint64_t period)
{
	e->period += period;
	e->samples += samples;
	if (!e->hist->report->has_modes)
		return;
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		entry_more(e)->period_sys += period;
		break;
	case PERF_RECORD_MISC_USER:
		entry_more(e)->period_us += period;
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		entry_more(e)->period_guest_sys += period;
		break;
	case PERF_RECORD_MISC_GUEST_USER:
		entry_more(e)->period_guest_us += period;
		break;
	default:
		break;
	}
}

static void count_sample(struct hist *hist, bool is_shown, uint64_t period)
{
	hist->samples++;
	hist->shown_samples += is_shown;
	if (!hist->report->use_chains)
		return;
	hist->chain_period += period;
	if (is_shown)
		hist->chain_shown_period += period;
}

// `pair` as it is when this sample is its first.
static void add_pair(struct hist *hist, const struct pair *pair)
{
	bool is_new;
	struct pair *known = hist_pair(hist, pair->entry, pair->stack, &is_new);

	if (is_new) {
		*known = *pair;
		hist->counted_n += (pair->entry & PAIR_OF_CONTEXT) != 0;
	} else {
		known->period += pair->period;
		known->count++;
	}
}

// Of the template's first sample, which is the last one.
static struct pair pair_of(const struct entry *template, uint32_t entry, uint32_t stack,
			   uint64_t period)
{
	return (struct pair){.entry = entry,
			     .stack = stack,
			     .period = period,
			     .task = template->task,
			     .count = 1,
			     .first = template->hist->seen,
			     .filtered = template->filtered};
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

	if (!filter_sample_of(report->hide, sample, report->run->sym, task))
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

static uint64_t place_map_size(const struct location *location)
{
	return location->map ? location->map->end - location->map->start : 0;
}

static void resolve_any(struct report *report, struct task *task, uint64_t ip, struct place *ret)
{
	struct location location;

	location = sym_resolve_any(report->run->sym, task, ip);
	place_of(ret, &location);
}

static void count_addresses(struct hist *hist, const struct location *from, const struct location *to)
{
	struct annotate_counts *counts = hist->report->addresses;

	if (counts && from->sym)
		annotate_counts_add(counts, hist->event->index, from, 1);
	if (counts && to->sym)
		annotate_counts_add(counts, hist->event->index, to, 1);
}

static int add_branches(struct hist *hist, struct entry *template, const struct sample *sample,
			struct task *task)
{
	struct report *report = hist->report;
	char level = template->place.level;

	for (uint64_t i = 0; i < sample->branch_n; i++) {
		struct location from, to;
		struct branch_ends ends;
		struct entry *e;

		to = sym_resolve_any(report->run->sym, task, sample->branches[i].to);
		from = sym_resolve_any(report->run->sym, task, sample->branches[i].from);
		template->x->map_size = place_map_size(&to);
		place_of(&ends.to, &to);
		place_of(&ends.from, &from);
		memcpy(&ends.flags, (const char *)&sample->branches[i] + 16, 8);
		if (report->o.hide_unresolved && (!ends.from.sym || !ends.to.sym))
			continue;
		template->x->branch = &ends;
		template->place = ends.to;
		template->place.addr = ends.to.ip; // not where it lies in the file; so does perf
		template->place.level = level;
		template->x->weight = MAX(branch_cycles(&sample->branches[i]), 1u);
		e = hist_entry(hist, template);
		entry_add(e, template->cpumode, 1, 1);
		count_sample(hist, !e->filtered, 1);
		count_addresses(hist, &from, &to);
		count_branch_type(report, ends.from.ip, ends.to.ip, ends.flags);
	}
	return 0;
}

// A sample on its way into the histogram.
struct taken {
	struct hist *hist;
	const struct sample *sample;
	struct task *task;
	struct location location;
	uint32_t stack;	  // 0: none
	bool is_of_place; // the stack ends where the sample lies
	bool has_pair;
	struct pair pair;
};

// What perf takes for the source where an event's samples have none.
static uint64_t source_of(const struct taken *taken)
{
	static const union perf_mem_data_src none = {
		.mem_op = PERF_MEM_OP_NA,
		.mem_lvl = PERF_MEM_LVL_NA,
		.mem_snoop = PERF_MEM_SNOOP_NA,
		.mem_lock = PERF_MEM_LOCK_NA,
		.mem_dtlb = PERF_MEM_TLB_NA,
	};

	return taken->hist->event->attr.sample_type & PERF_SAMPLE_DATA_SRC ? taken->sample->data_src
									   : none.val;
}

static void add_memory(struct entry *template, const struct taken *taken, uint32_t stack)
{
	struct hist *hist = taken->hist;
	const struct sample *sample = taken->sample;
	struct task *task = taken->task;
	struct report *report = hist->report;
	struct memory_access mem = {.source = source_of(taken),
				    .phys_addr = sample->phys_addr,
				    .page_size = sample->data_page_size};
	uint64_t cost = template->x->weight ? template->x->weight : 1;
	struct location location;
	struct entry *e;

	resolve_any(report, task, sample->ip, &mem.code);
	location = sym_resolve(report->run->sym, task, sample->cpumode, sample->addr);
	place_of(&mem.data, &location);
	template->x->mem = &mem;
	e = hist_entry(hist, template);
	entry_add(e, template->cpumode, 1, cost);
	count_sample(hist, !e->filtered, cost);
	if (report->use_chains && stack) {
		struct pair pair = pair_of(template, e->id, stack, cost);

		add_pair(hist, &pair);
	}
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

static void take_extra(struct report *report, struct entry *template, const struct taken *taken)
{
	const struct event *event = taken->hist->event;
	const struct sample *sample = taken->sample;
	struct extra *x = template->x;
	uint64_t quantum = report->quantum_ns;

	*x = (struct extra){.event = event,
			    .time = quantum ? sample->time / quantum * quantum : sample->time,
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
		x->map_size = place_map_size(&taken->location);
	if (!sample->raw)
		return;
	if (report->has_trace)
		x->trace = trace_text(report, event, sample);
	x->raw = sample->raw;
	x->raw_size = sample->raw_size;
}

// The slot of a place and a command; what it holds may be of others.
static struct recent_entry *recent_slot(struct hist *hist, const struct location *location,
					uint32_t comm, bool *ret_is_it)
{
	uint64_t at = hist->report->joins_unresolved ? 0 : location->addr;
	struct recent_entry *recent;

	if (location->sym)
		at = (uintptr_t)location->sym;
	recent = &hist->recent[hash_mix(at ^ (uint64_t)comm << 40, (uintptr_t)location->dso) % HIST_RECENT];
	*ret_is_it = recent->entry && recent->at == at && recent->dso == location->dso &&
		     recent->comm == comm && recent->has_symbol == !!location->sym;
	if (!*ret_is_it)
		*recent = (struct recent_entry){.dso = location->dso,
						.at = at,
						.comm = comm,
						.has_symbol = location->sym};
	return recent;
}

static void join_unresolved(struct entry *e, const struct location *location)
{
	if (!location->sym && (int64_t)(location->addr - e->place.addr) < 0)
		place_of(&e->place, location);
}

// As hist_entry, of a sample: most are where one was lately.
static struct entry *sample_entry(struct hist *hist, struct entry *template,
				  const struct location *location)
{
	struct recent_entry *recent;
	bool is_it;

	if (!hist->recent)
		return hist_entry(hist, template);
	recent = recent_slot(hist, location, template->comm, &is_it);
	if (!is_it)
		recent->entry = hist_entry(hist, template);
	if (hist->report->joins_unresolved)
		join_unresolved(recent->entry, location);
	return recent->entry;
}

static bool take(struct report *report, const struct hit *hit, struct taken *ret)
{
	if ((report->has_skip && (!filter_time(report->skip, hit->sample.time) ||
				  !filter_sample(report->skip, &hit->sample))) ||
	    !event_switch_passes(&report->event_switch, hit->event))
		return false;
	ret->hist = report_hist(report, hit->event);
	ret->sample = &hit->sample;
	ret->task = hit->task ? hit->task : sym_task(report->run->sym, UINT32_MAX, UINT32_MAX);
	ret->stack = 0;
	ret->is_of_place = ret->has_pair = false;
	return true;
}

// Where the sample lies; false: it isn't wanted from there.
static bool locate(struct report *report, struct taken *taken)
{
	const struct sample *sample = taken->sample;
	struct location *location = &taken->location;

	if (report->no_places)
		*location = (struct location){.ip = sample->ip, .cpumode = sample->cpumode};
	else
		*location = sym_resolve(report->run->sym, taken->task, sample->cpumode, sample->ip);
	run_count_place(report->run, location);
	if ((report->o.hide_unresolved && !location->sym) ||
	    (report->mode == MODE_BRANCH && !sample->branches))
		return false;
	if (location->dso)
		location->dso->hit = true;
	return true;
}

// Who counts by address has to know it of each sample.
static bool counts_first(const struct report *report)
{
	return report->counts_first && !report->addresses;
}

static void find_stacks_now(struct report *report, struct stack_ask *asks, struct taken **asking,
			    size_t n)
{
	stacks_of_samples(&report->stacks, asks, n);
	for (size_t i = 0; i < n; i++) {
		asking[i]->stack = asks[i].node;
		asking[i]->is_of_place = asks[i].is_of_place;
	}
}

static void find_stacks(struct report *report, struct taken *taken, size_t n)
{
	struct stack_ask asks[RUN_BATCH];
	struct taken *asking[RUN_BATCH];
	size_t asks_n = 0;

	_Static_assert((int)RUN_BATCH <= (int)STACK_BATCH, "");
	if (report->mode == MODE_BRANCH || report->history || !report->o.max_stack ||
	    (!report->children && !report->use_chains && !report->has_parent))
		return;
	for (struct taken *it = taken; it < taken + n; it++) {
		struct sample whole;
		const struct chain_of of = {it->hist->event, it->task, report->o.max_stack};
		const struct sample *chain = run_chain(report->run, &of, it->sample, &whole);
		struct stack_ask ask = {.task = it->task, .sample = chain};

		if (!chain->callchain_n)
			continue;
		asking[asks_n] = it;
		asks[asks_n++] = ask;
		if (chain == it->sample)
			continue;
		// Unwound, into a place that the next one needs. Each part of it has its limit already.
		find_stacks_now(report, asks, asking, asks_n - 1);
		report->stacks.max_stack = 0;
		find_stacks_now(report, &ask, &it, 1);
		report->stacks.max_stack = report->o.max_stack;
		asks_n = 0;
	}
	find_stacks_now(report, asks, asking, asks_n);
}

static int count_taken(struct report *report, struct taken *taken)
{
	struct hist *hist = taken->hist;
	const struct sample *sample = taken->sample;
	const struct location *location = &taken->location;
	struct task *task = taken->task;
	struct extra extra;
	struct entry template = {.x = report->needs_extra ? &extra : &report->no_extra}, *e;
	uint64_t period;
	uint32_t stack =
		report->history ? history_stack(report->history, task, sample) : taken->stack;

	hist->seen++;
	place_of(&template.place, location);
	template.hist = hist;
	entry_take_task(&template, sample, task);
	template.first = hist->seen;
	if (report->needs_extra)
		take_extra(report, &template, taken);
	if (report->has_hide)
		template.filtered = hidden_by(report, sample, task, location);
	if (stack) {
		if (report->has_ignore_regex)
			stack = without_callees(report, stack, &template);
		if (report->has_parent)
			template.x->parent = parent_of(report, stack);
	}
	if (report->o.exclude_other && !template.x->parent)
		template.filtered |= HIDDEN_PARENT;
	if (report->mode == MODE_BRANCH)
		return add_branches(hist, &template, sample, task);
	if (report->mode == MODE_MEMORY) {
		add_memory(&template, taken, stack);
		return 0;
	}
	period = sample_period(hist->event, sample);
	if (report->addresses && location->sym)
		annotate_counts_add(report->addresses, hist->event->index, location, period);
	e = sample_entry(hist, &template, location);
	entry_add(e, template.cpumode, 1, period);
	count_sample(hist, !e->filtered, period);
	if (report->children || report->use_chains) {
		if (report->history)
			history_count(report->history, e);
		taken->has_pair = true;
		taken->pair = pair_of(&template, e->id, stack, period);
		hist_expect_pair(hist, e->id, stack);
	}
	return 0;
}

// Adds the sample to the entry where one of its kind was lately; false: there is none, or more is to be done.
static bool count_again(struct report *report, struct taken *taken)
{
	struct hist *hist = taken->hist;
	const struct sample *sample = taken->sample;
	struct recent_entry *recent;
	uint64_t period;
	bool is_it;

	if (!report->only_counts || !hist->recent || report->addresses)
		return false;
	recent = recent_slot(hist, &taken->location, taken->task->comm, &is_it);
	if (!is_it)
		return false;
	period = sample_period(hist->event, sample);
	hist->seen++;
	entry_add(recent->entry, sample->cpumode, 1, period);
	count_sample(hist, !recent->entry->filtered, period);
	if (report->joins_unresolved)
		join_unresolved(recent->entry, &taken->location);
	return true;
}

// The sample adds to its context and stack, and to no row yet.
static void count_stack(struct report *report, struct taken *taken)
{
	struct hist *hist = taken->hist;
	const struct entry template = {.hist = hist, .task = taken->task};
	uint64_t period = sample_period(hist->event, taken->sample);
	uint32_t context = hist_context_of_sample(hist, taken->sample, taken->task);

	hist->seen++;
	report->run->places_n++;
	count_sample(hist, true, period);
	taken->has_pair = true;
	taken->pair = pair_of(&template, PAIR_OF_CONTEXT | context, taken->stack, period);
	hist_expect_pair(hist, taken->pair.entry, taken->stack);
}

static int count_one(struct report *report, struct taken *taken)
{
	if (counts_first(report) && taken->is_of_place) {
		count_stack(report, taken);
		return 0;
	}
	if (counts_first(report))
		locate(report, taken);
	return count_again(report, taken) ? 0 : count_taken(report, taken);
}

// Step by step for all: what one step looks up is on its way while the others are looked at.
static int count_all(struct report *report, struct taken *taken, size_t n)
{
	int err = 0;

	find_stacks(report, taken, n);
	for (size_t i = 0; report->blocks && i < n; i++)
		blocks_add_sample(report->blocks, report->run->sym, taken[i].task, taken[i].sample);
	for (size_t i = 0; i < n && !err; i++)
		err = count_one(report, &taken[i]);
	for (size_t i = 0; i < n; i++) {
		if (taken[i].has_pair)
			hist_expect_known(taken[i].hist, taken[i].pair.entry, taken[i].stack);
	}
	for (size_t i = 0; i < n; i++) {
		if (taken[i].has_pair)
			add_pair(taken[i].hist, &taken[i].pair);
	}
	return err;
}

int report_samples(void *arg, struct run *run, const struct hit *samples, size_t n)
{
	struct report *report = arg;
	struct taken taken[RUN_BATCH];
	size_t taken_n = 0;

	for (const struct hit *it = samples; it < samples + n; it++)
		taken_n += take(report, it, &taken[taken_n]) &&
			   (counts_first(report) || locate(report, &taken[taken_n]));
	return count_all(report, taken, taken_n);
}
