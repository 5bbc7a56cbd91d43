// SPDX-License-Identifier: GPL-2.0-or-later
// From options to attrs. What perf puts into an attr for which option is kept, since tools read it back.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "cmd/core/record/record.h"
#include "sym/unwind.h"
#include <sys/resource.h>
#include <unistd.h>

static int choose_frequency(struct record_options *options)
{
	int64_t max = 0;

	if (options->count)
		return 0;
	if (file_read_i64("", "/proc/sys/kernel/perf_event_max_sample_rate", &max) < 0)
		return 0;
	if (options->frequency_max)
		options->frequency = (uint64_t)max;
	if (options->frequency > (uint64_t)max && max > 0) {
		if (options->strict_freq)
			return fail(EINVAL,
				    "-F %llu is above what this kernel allows (%lld); raise it: sysctl "
				    "kernel.perf_event_max_sample_rate=%llu",
				    (unsigned long long)options->frequency, (long long)max,
				    (unsigned long long)options->frequency);
		warn("-F %llu is above what this kernel allows: sampling at %lld Hz (sysctl "
		     "kernel.perf_event_max_sample_rate)",
		     (unsigned long long)options->frequency, (long long)max);
		options->frequency = (uint64_t)max;
	}
	return 0;
}

// Samples so frequent that copies of the stack would cost more than they tell.
enum { MOST_UNWOUND_HZ = 5000 };

static bool is_worth_unwinding(const struct record_options *options,
			       const struct perf_event_attr *attr)
{
	return (!attr->freq || attr->sample_freq <= MOST_UNWOUND_HZ) && options->timestamp &&
	       !options->kernel_callchains && !options->all_kernel && !attr->exclude_user &&
	       !options->branch_type && unwind_machine_here();
}

// As much as a ring has room for during the time that it may take until it is emptied, all events together; what a stack doesn't
// have is not copied. Of events by count nobody knows how many will come.
static uint32_t suitable_stack(const struct record_options *options,
			       const struct perf_event_attr *attr)
{
	enum { LEAST = 8192, MOST = 65528, MOST_BY_COUNT = 16384, ROUNDS = 16, BY_COUNT_HZ = 4000 };
	uint64_t hz = attr->freq && attr->sample_freq ? attr->sample_freq : BY_COUNT_HZ;
	uint64_t bytes = options->ring_bytes * ROUNDS / hz;

	bytes = MIN(bytes, (uint64_t)(attr->freq ? MOST : MOST_BY_COUNT));
	return (uint32_t)MAX(bytes, (uint64_t)LEAST) & ~7u;
}

static void set_call_graph(const struct record_options *options, struct perf_event_attr *attr,
			   enum call_graph_mode mode, uint32_t stack_bytes)
{
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	// The kernel refuses more than it has room for; what is unwound here has no such limit.
	attr->sample_max_stack = (uint16_t)MIN(MIN(options->max_stack, options->kernel_max_stack),
					       (uint32_t)UINT16_MAX);
	if (mode == CALL_GRAPH_AUTO)
		mode = is_worth_unwinding(options, attr) ? CALL_GRAPH_DWARF : CALL_GRAPH_FP;
	if (options->kernel_callchains)
		attr->exclude_callchain_user = 1;
	if (options->user_callchains)
		attr->exclude_callchain_kernel = 1;
	if (mode == CALL_GRAPH_LBR) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_HW_INDEX;
		attr->exclude_callchain_user = 1;
	} else if (mode == CALL_GRAPH_DWARF) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user |= unwind_regs_here();
		attr->sample_stack_user = stack_bytes ? stack_bytes : suitable_stack(options, attr);
		// Frame pointers lead on where the copy ends.
		attr->exclude_callchain_user |= options->raw_stacks;
	}
}

static void set_period(const struct record_options *options, struct perf_event_attr *attr,
		       bool is_fixed)
{
	bool chosen = options->count || options->frequency;

	if (!is_fixed && (!attr->sample_period || chosen)) {
		if (options->count) {
			attr->freq = 0;
			attr->sample_period = options->count;
		} else {
			attr->freq = 1;
			attr->sample_freq = options->frequency ? options->frequency : 4000;
		}
	}
	if (attr->freq)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (options->no_samples)
		attr->sample_freq = 0;
}

struct bit_option {
	size_t flag; // offset of the bool in record_options
	uint64_t sample_type;
};

static const struct bit_option bit_options[] = {
	{offsetof(struct record_options, address), PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC},
	{offsetof(struct record_options, raw), PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | PERF_SAMPLE_CPU},
	{offsetof(struct record_options, weight), PERF_SAMPLE_WEIGHT_STRUCT},
	{offsetof(struct record_options, phys_address), PERF_SAMPLE_PHYS_ADDR},
	{offsetof(struct record_options, sample_cpu), PERF_SAMPLE_CPU},
	{offsetof(struct record_options, data_page_size), PERF_SAMPLE_DATA_PAGE_SIZE},
	{offsetof(struct record_options, code_page_size), PERF_SAMPLE_CODE_PAGE_SIZE},
	{offsetof(struct record_options, transaction), PERF_SAMPLE_TRANSACTION},
	{offsetof(struct record_options, all_cgroups), PERF_SAMPLE_CGROUP},
};

static void set_tracking(const struct record_options *options, struct perf_event_attr *attr)
{
	attr->task = attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = 1;
	attr->ksymbol = 1;
	attr->bpf_event = !options->no_bpf_event;
	attr->build_id = options->buildid_mmap;
	attr->namespaces = options->namespaces;
	attr->cgroup = options->all_cgroups;
	attr->context_switch = options->switch_events;
	attr->mmap_data = options->address || options->raw_stacks;
}

static void set_terms(const struct record_options *options, struct event_spec *spec)
{
	struct perf_event_attr *attr = &spec->attr;
	uint32_t given = spec->given;

	if (given & EVENT_TIME)
		attr->sample_type = (attr->sample_type & ~(uint64_t)PERF_SAMPLE_TIME) |
				    (spec->time ? PERF_SAMPLE_TIME : 0);
	if (given & EVENT_CALL_GRAPH) {
		static const enum call_graph_mode modes[] = {CALL_GRAPH_NONE, CALL_GRAPH_FP,
							     CALL_GRAPH_DWARF, CALL_GRAPH_LBR};
		enum call_graph_mode mode = modes[spec->call_graph];

		attr->sample_type &= ~(uint64_t)(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER);
		attr->exclude_callchain_user = 0;
		if (mode != CALL_GRAPH_NONE)
			set_call_graph(options, attr, mode,
				       given & EVENT_STACK_SIZE ? spec->stack_size_bytes
				       : options->raw_stacks	? 8192
								: 0);
	}
	if (given & EVENT_MAX_STACK) {
		attr->sample_max_stack = (uint16_t)spec->max_stack;
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	}
	if (given & EVENT_INHERIT)
		attr->inherit = spec->inherit;
	if (given & EVENT_OVERWRITE)
		attr->write_backward = spec->overwrite;
	if (given & EVENT_BRANCH) {
		attr->branch_sample_type = spec->branch_type;
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	}
}

// What an event is among the others: that of a group that starts it, the one that tells what tasks do.
struct role {
	bool leads, tracks;
};

static void configure_event(const struct record_options *options, const struct target *target,
			    struct event_spec *spec, struct role role)
{
	struct perf_event_attr *attr = &spec->attr;
	bool is_dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
	bool per_thread = target->cpus.v[0] < 0;

	attr->size = sizeof(*attr);
	attr->sample_id_all = 1;
	attr->inherit = !options->no_inherit && !per_thread;
	attr->write_backward = options->overwrite;
	attr->read_format |= PERF_FORMAT_LOST;
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	set_period(options, attr, spec->given & (EVENT_PERIOD | EVENT_FREQ));
	if (options->inherit_stat) {
		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED |
				     PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
		attr->inherit_stat = 1;
	}
	if (options->call_graph && !is_dummy)
		set_call_graph(options, attr, options->call_graph, options->stack_bytes);
	for (size_t i = 0; i < ARRAY_SIZE(bit_options); i++) {
		if (*(const bool *)((const char *)options + bit_options[i].flag))
			attr->sample_type |= bit_options[i].sample_type;
	}
	if (options->intr_regs && !is_dummy) {
		attr->sample_regs_intr = options->intr_regs;
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
	}
	if (options->user_regs && !is_dummy) {
		attr->sample_regs_user |= options->user_regs;
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
	}
	if (target->has_cpus)
		attr->sample_type |= PERF_SAMPLE_CPU;
	if (options->timestamp &&
	    (attr->inherit || target->has_cpus || !per_thread || options->timestamp_given))
		attr->sample_type |= PERF_SAMPLE_TIME;
	if (options->branch_type && !is_dummy) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = options->branch_type;
	}
	if (options->no_buffering) {
		attr->watermark = 0;
		attr->wakeup_events = 1;
	}
	if (options->running_time)
		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (role.tracks)
		set_tracking(options, attr);
	if (role.leads) {
		attr->disabled = 1;
		attr->enable_on_exec =
			target->has_workload && !options->delays.n && !options->start_disabled;
	}
	if (options->use_clockid) {
		attr->use_clockid = 1;
		attr->clockid = (int)options->clockid;
	}
	if (spec->precise_max)
		attr->precise_ip = 3;
	if (options->all_user) {
		attr->exclude_kernel = 1;
		attr->exclude_user = 0;
	} else if (options->all_kernel) {
		attr->exclude_kernel = 0;
		attr->exclude_user = 1;
	}
	if (spec->cpus || spec->unit)
		attr->read_format |= PERF_FORMAT_ID;
	set_terms(options, spec);
	if (options->period_given && options->period)
		attr->sample_type |= PERF_SAMPLE_PERIOD;
	else if (options->period_given)
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

// Members of a group read with its leader don't sample themselves.
static void configure_group_read(struct opened *opened)
{
	for (size_t i = 0; i < opened->events.n; i++) {
		struct event_spec *spec = opened->events.v[i].spec;
		struct event_spec *leader = opened->events.v[opened->events.v[i].leader].spec;

		if (!leader->group_read || opened->events.v[opened->events.v[i].leader].group_n < 2)
			continue;
		spec->attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
		spec->attr.sample_type |= PERF_SAMPLE_READ;
		spec->attr.inherit = 0;
		if (spec == leader)
			continue;
		spec->attr.freq = 0;
		spec->attr.sample_period = 0;
		spec->attr.write_backward = 0;
		spec->attr.sample_type = leader->attr.sample_type;
	}
}

static void set_ids(const struct record_options *options, struct opened *opened)
{
	bool identifier = options->sample_identifier;

	for (size_t i = 1; i < opened->events.n; i++)
		identifier |= opened->events.v[i].spec->attr.sample_type !=
			      opened->events.v[0].spec->attr.sample_type;
	vec_each(struct opened_event, event, &opened->events) {
		struct perf_event_attr *attr = &event->spec->attr;

		attr->read_format |= PERF_FORMAT_ID;
		if (opened->events.n < 2 && !options->sample_identifier)
			continue;
		attr->sample_type |= identifier ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID;
	}
}

// "dummy:u" tells where the kernel changed its code, "dummy:HG" what tasks do.
static int add_dummy(struct record_options *options, const char *name)
{
	const struct event_context context = {.count_guests = true};
	int err = event_parse(&options->specs, name, &context);

	if (!err) {
		vec_last(&options->specs.events).attr.sample_period = 1;
		vec_last(&options->specs.events).given |= EVENT_PERIOD;
	}
	return err;
}

// The copy of the kernel's code that --kcore takes is true only with what was changed in it later. perf's event for that is opened on all
// CPUs, for everybody.
static bool wants_text_poke(const struct record_options *options, const struct target *target)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.text_poke = 1,
	};
	struct perf_open_at at = {.pid = -1, .group_fd = -1};
	int fd;

	if (!options->kcore || target->cpus.v[0] < 0)
		return false;
	at.cpu = target->cpus.v[0];
	fd = perf_open(&attr, &at);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

size_t record_stack_pages(const struct target *target)
{
	enum { MOST = 16 << 20, LEAST = 512 << 10, MOST_TOGETHER = 256 << 20 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = MOST;
	size_t rings_n = target->cpus.v[0] < 0 ? target->threads.n : target->cpus.n;
	struct rlimit limit;

	while (size > LEAST && size * rings_n > MOST_TOGETHER)
		size /= 2;
	// perf_event_mlock_kb for each CPU, and beyond that what the user may lock at all.
	if (geteuid() != 0 && getrlimit(RLIMIT_MEMLOCK, &limit) == 0) {
		while (size > LEAST && size * rings_n > limit.rlim_cur)
			size /= 2;
	}
	return size / page;
}

int record_configure(struct record_options *options, struct opened *opened,
		     const struct target *target)
{
	bool delayed = options->delays.n || options->start_disabled;
	bool needs_dummy = target->has_cpus || delayed;
	size_t events_n = options->specs.events.n;
	int64_t kernel_max;
	int err = choose_frequency(options);

	opened->specs = &options->specs;
	size_t pages = options->mmap_pages ? options->mmap_pages : record_stack_pages(target);

	options->ring_bytes = pages * (size_t)sysconf(_SC_PAGESIZE) / MAX(events_n, 1u);
	if (file_read_i64("", "/proc/sys/kernel/perf_event_max_stack", &kernel_max) < 0)
		kernel_max = 127;
	options->kernel_max_stack = (uint32_t)kernel_max;
	bool has_text_poke = !err && wants_text_poke(options, target);

	if (has_text_poke)
		err = add_dummy(options, "dummy:u");
	if (!err && needs_dummy)
		err = add_dummy(options, "dummy:HG");
	if (err)
		return err;
	if (options->exclude_self)
		event_exclude_pid(&options->specs, getpid());
	for (size_t i = 0; i < options->specs.events.n; i++) {
		struct event_spec *spec = &options->specs.events.v[i];
		struct opened_event *event = opened_add(opened, spec);
		bool is_dummy = i >= events_n, is_text_poke = has_text_poke && i == events_n;

		if (!is_dummy) {
			event->leader = options->group ? 0 : spec->leader;
			event->group_n =
				options->group ? (i ? 0 : (uint32_t)events_n) : spec->group_n;
		}
		configure_event(options, target, spec,
				(struct role){.leads = event->leader == i,
					      .tracks = needs_dummy ? is_dummy && !is_text_poke
								    : i == 0});
		if (is_text_poke)
			spec->attr.text_poke = 1;
		// Told once, by the event whose records come with those changes.
		if (has_text_poke)
			spec->attr.ksymbol = is_text_poke;
		if (is_dummy) {
			event->system_wide = target->system_wide || is_text_poke;
			spec->attr.freq = 0;
			spec->attr.sample_period = 1;
			spec->attr.sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
			// It follows tasks at once; those of a command from its exec on.
			spec->attr.disabled = target->has_workload && !is_text_poke;
			spec->attr.enable_on_exec = target->has_workload && !is_text_poke;
		}
	}
	configure_group_read(opened);
	set_ids(options, opened);
	return 0;
}
