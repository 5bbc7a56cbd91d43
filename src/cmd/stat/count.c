// SPDX-License-Identifier: GPL-2.0-or-later
// Counters opened, read and added up in rows.
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/num.h"
#include "base/search.h"
#include "cmd/stat/stat.h"
#include "sys/topology.h"
#include <stdio.h>
#include <sys/ioctl.h>

static bool same_row(const struct stat_row *a, const struct stat_row *b)
{
	return a->cpu == b->cpu && a->socket == b->socket && a->die == b->die &&
	       a->core == b->core && a->node == b->node && a->thread == b->thread;
}

// Where the CPUs are, worked off once.
struct places {
	const struct topology *topology;
	struct map nodes; // CPU -> its memory node
	int node;
};

static void note_node(void *arg, uint32_t cpu)
{
	struct places *places = arg;
	bool is_new;
	uint64_t *node = map_at(&places->nodes, cpu, &is_new);

	if (is_new)
		*node = (uint64_t)places->node;
}

static struct stat_row row_of_cpu(const struct counting *stat, const struct places *places, int cpu)
{
	const struct topology *topology = places->topology;
	const uint64_t *node = map_find(&places->nodes, (uint64_t)cpu);
	size_t at = SEARCH(topology->cpus.n, i, (int)topology->cpus.v[i].cpu < cpu);
	enum stat_by by = stat->options->by;
	struct stat_row row = {-1, -1, -1, -1, -1, -1, "", 0};

	if (by == STAT_BY_CPU)
		row.cpu = cpu;
	if (by == STAT_BY_NODE && node)
		row.node = (int)*node;
	if (at < topology->cpus.n && (int)topology->cpus.v[at].cpu == cpu) {
		const struct topology_cpu *it = &topology->cpus.v[at];

		if (by == STAT_BY_SOCKET || by == STAT_BY_DIE || by == STAT_BY_CORE)
			row.socket = MAX(it->socket, 0);
		if (by == STAT_BY_DIE || by == STAT_BY_CORE)
			row.die = MAX(it->die, 0);
		if (by == STAT_BY_CORE)
			row.core = it->core;
	}
	return row;
}

// A row for each CPU of the target.
static struct stat_row *rows_of_cpus(const struct counting *stat, const struct topology *topology)
{
	const struct target *target = &stat->target;
	struct stat_row *rows = xcalloc(target->cpus.n + 1, sizeof(*rows));
	struct places places = {.topology = topology};

	vec_each(const struct topology_node, node, &topology->nodes) {
		places.node = (int)node->node;
		num_parse_list(str_of(node->cpus), UINT16_MAX, note_node, &places);
	}
	for (size_t i = 0; i < target->cpus.n; i++)
		rows[i] = row_of_cpu(stat, &places, target->cpus.v[i]);
	map_done(&places.nodes);
	return rows;
}

static void name_thread(const struct counting *stat, struct stat_row *row)
{
	char path[64];
	auto_free char *text = NULL;

	// It will be that as soon as it runs.
	if (stat->workload.pid && row->thread == stat->workload.pid) {
		snprintf(row->comm, sizeof(row->comm), "%.15s", text_base_name(stat->command[0]));
		return;
	}
	snprintf(path, sizeof(path), "/proc/%d/comm", (int)row->thread);
	if (row->thread > 0 && file_read(path, 4096, &text, NULL) == 0) {
		struct str comm = str_trim(str_of(text));
		snprintf(row->comm, sizeof(row->comm), "%.*s", STR_FMT(comm));
	}
}

static int order_of(const void *a, const void *b)
{
	const struct stat_row *x = a, *y = b;
	const int keys[][2] = {{x->node, y->node},
			       {x->socket, y->socket},
			       {x->die, y->die},
			       {x->core, y->core},
			       {x->cpu, y->cpu}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	}
	return 0;
}

void stat_rows_make(struct counting *stat, const struct topology *given)
{
	const struct target *target = &stat->target;
	size_t cells = target->cpus.n * target->threads.n;
	enum stat_by by = stat->options->by;
	struct topology read = {0};
	const struct topology *topology = given ? given : &read;

	if (stat->rows.n)
		return;
	if (!given && by != STAT_BY_ALL && by != STAT_BY_CPU && by != STAT_BY_THREAD)
		topology_read(&read, "");
	stat->row_of = xcalloc(cells, sizeof(*stat->row_of));
	auto_free struct stat_row *of_cpu = rows_of_cpus(stat, topology);
	// Rows first, in their order; then which cell belongs to which.
	for (int pass = 0; pass < 2; pass++) {
		for (size_t cell = 0; cell < cells; cell++) {
			struct stat_row row = of_cpu[cell / target->threads.n];
			size_t i = 0;

			if (by == STAT_BY_THREAD)
				row.thread = target->threads.v[cell % target->threads.n];
			while (i < stat->rows.n && !same_row(&stat->rows.v[i], &row))
				i++;
			if (i == stat->rows.n) {
				if (!given)
					name_thread(stat, &row);
				vec_push(&stat->rows, row);
			}
			stat->row_of[cell] = (unsigned)i;
			stat->rows.v[i].cells += (unsigned)pass;
		}
		if (!pass && by != STAT_BY_THREAD)
			qsort(stat->rows.v, stat->rows.n, sizeof(*stat->rows.v), order_of);
	}
	topology_done(&read);
	vec_each(struct stat_counter, counter, &stat->counters) {
		counter->rows = xcalloc(stat->rows.n, sizeof(*counter->rows));
		counter->row_cells = xcalloc(stat->rows.n, sizeof(*counter->row_cells));
		counter->totals = xcalloc(stat->rows.n, sizeof(*counter->totals));
		counter->before = xcalloc(cells, sizeof(*counter->before));
		counter->now = xcalloc(cells, sizeof(*counter->now));
		counter->fds = xcalloc(cells, sizeof(*counter->fds));
		for (size_t i = 0; i < cells; i++)
			counter->fds[i] = -1;
	}
}

void stat_rows_clear(struct counting *stat)
{
	vec_each(struct stat_counter, counter, &stat->counters) {
		for (size_t i = 0; i < stat->rows.n; i++) {
			counter->totals[i].value += counter->rows[i].value;
			counter->totals[i].enabled_ns += counter->rows[i].enabled_ns;
			counter->totals[i].running_ns += counter->rows[i].running_ns;
		}
		memset(counter->rows, 0, stat->rows.n * sizeof(*counter->rows));
		memset(counter->row_cells, 0, stat->rows.n * sizeof(*counter->row_cells));
	}
}

void stat_rows_total(struct counting *stat)
{
	stat_rows_clear(stat);
	vec_each(struct stat_counter, counter, &stat->counters)
		memcpy(counter->rows, counter->totals, stat->rows.n * sizeof(*counter->rows));
}

static void configure(struct counting *stat, struct stat_counter *counter)
{
	const struct stat_options *options = stat->options;
	struct perf_event_attr *attr = &counter->spec->attr;
	bool leads = counter == &stat->counters.v[counter->leader];

	attr->size = sizeof(*attr);
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	// What is counted together is read together, so that figures of a running group fit each other.
	if (leads && counter->group_n > 1 && !options->bpf_programs)
		attr->read_format |= PERF_FORMAT_GROUP;
	attr->sample_period = 0;
	attr->sample_type = 0;
	attr->freq = 0;
	attr->precise_ip = 0;
	attr->inherit = counter->spec->given & EVENT_INHERIT ? counter->spec->inherit
							     : !options->no_inherit;
	if (options->bpf_programs)
		attr->inherit = 0; // BPF programs read no others
	// Of a group only the leader is switched: members that were switched on after a software leader had run would count
	// nothing.
	attr->disabled = leads;
	attr->enable_on_exec = leads && stat->target.has_workload && !options->delay_ms;
	if (options->all_user || options->all_kernel) {
		attr->exclude_user = options->all_kernel;
		attr->exclude_kernel = options->all_user;
		attr->exclude_hv = options->all_user;
	}
}

static bool wanted_on(const struct event_spec *spec, int cpu)
{
	if (cpu < 0 || !spec->cpus)
		return true;
	for (uint32_t i = 0; i < spec->cpus_n; i++) {
		if (spec->cpus[i] == (uint32_t)cpu)
			return true;
	}
	return false;
}

static bool is_weak(const struct counting *stat, const struct stat_counter *counter)
{
	return stat->counters.v[counter->leader].group_n > 1 &&
	       stat->counters.v[counter->leader].spec->weak;
}

// 1: this machine has no such counter; 2: it may in a weak group that is broken up.
static int open_cell(struct counting *stat, struct stat_counter *counter, size_t cell)
{
	const struct target *target = &stat->target;
	const struct stat_counter *leader = &stat->counters.v[counter->leader];
	struct perf_open_at where = {.pid = target->threads.v[cell % target->threads.n],
				     .cpu = target->cpus.v[cell / target->threads.n],
				     .group_fd = leader == counter ? -1 : leader->fds[cell]};

	if (counter->cgroup_fd >= 0) {
		where.pid = counter->cgroup_fd;
		where.flags = PERF_FLAG_PID_CGROUP;
	}
	for (;;) {
		int fd = perf_open_any(&stat->missing, &counter->spec->attr, &where);

		if (fd >= 0) {
			counter->fds[cell] = fd;
			return 0;
		}
		if (fd == -ESRCH && target->threads.n > 1)
			return 0;
		if ((fd == -EACCES || fd == -EPERM) && perf_paranoid() > 1 &&
		    !target->system_wide && event_user_only(&stat->options->specs, counter->spec)) {
			stat->kernel_excluded = true;
			continue;
		}
		// Linux before 4.13 reads no groups that are inherited.
		if (fd == -EINVAL && counter->spec->attr.read_format & PERF_FORMAT_GROUP) {
			counter->spec->attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
			continue;
		}
		if (is_weak(stat, counter) && fd != -EACCES && fd != -EPERM)
			return 2;
		bool absent = fd == -EINVAL || fd == -ENOSYS || fd == -EOPNOTSUPP || fd == -ENXIO ||
			      (fd == -ENOENT && counter->cgroup_fd < 0);
		if (absent && (leader != counter || counter->group_n <= 1))
			return 1;
		return perf_open_failed(fd, &counter->spec->attr, counter->spec->name, &where);
	}
}

// The counters of this machine may be too few for a group; each for itself they take turns. Gives the group's first one.
static size_t break_up(struct counting *stat, const struct stat_counter *counter)
{
	size_t cells = stat->target.cpus.n * stat->target.threads.n, leader = counter->leader;
	size_t n = stat->counters.v[leader].group_n;

	inform("group of %s does not fit into the counters: its events count by turns",
	       stat->counters.v[leader].spec->name);
	for (size_t i = leader; i < leader + n; i++) {
		struct stat_counter *member = &stat->counters.v[i];

		for (size_t cell = 0; cell < cells; cell++) {
			if (member->fds[cell] >= 0)
				close(member->fds[cell]);
			member->fds[cell] = -1;
		}
		member->leader = (uint32_t)i;
		member->group_n = 1;
	}
	return leader;
}

int stat_open(struct counting *stat)
{
	size_t cells = stat->target.cpus.n * stat->target.threads.n;

	for (size_t i = 0; i < stat->counters.n; i++) {
		struct stat_counter *counter = &stat->counters.v[i];
		int err = 0;

		if (counter->spec->tool || !counter->supported)
			continue;
		configure(stat, counter);
		for (size_t cell = 0; cell < cells && counter->supported && err != 2; cell++) {
			err = 0;
			if (wanted_on(counter->spec,
				      stat->target.cpus.v[cell / stat->target.threads.n]))
				err = open_cell(stat, counter, cell);
			if (err < 0)
				return err;
			if (err == 1) {
				counter->supported = false;
				inform("%s event is not supported by the kernel.",
				       counter->spec->name);
			}
			if (counter->fds[cell] >= 0 && counter->spec->filter) {
				int refused =
					perf_set_filter(counter->fds[cell], counter->spec->filter,
							counter->spec->name);
				if (refused < 0)
					return refused;
			}
		}
		if (err == 2)
			i = break_up(stat, counter) - 1;
		else if (counter->supported)
			everywhere_add(&stat->everywhere, &counter->spec->attr, &stat->target);
	}
	return stat->options->bpf_programs ? stat_bpf_open(stat) : 0;
}

int stat_switch(struct counting *stat, bool on)
{
	size_t cells = stat->target.cpus.n * stat->target.threads.n;

	for (size_t i = 0; i < stat->counters.n; i++) {
		const struct stat_counter *counter = &stat->counters.v[i];

		for (size_t cell = 0; cell < cells && counter->leader == i; cell++) {
			if (counter->fds[cell] >= 0 &&
			    ioctl(counter->fds[cell],
				  on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) < 0)
				return fail(errno, "can't switch event %s: %s", counter->spec->name,
					    strerror(errno));
		}
	}
	return 0;
}

void stat_add(struct counting *stat, struct stat_counter *counter, size_t cell, struct stat_count now)
{
	struct stat_count *before = &counter->before[cell];
	struct stat_count delta = {now.value - before->value, now.enabled_ns - before->enabled_ns,
				   now.running_ns - before->running_ns};
	unsigned row = stat->row_of[cell];

	*before = now;
	// What ran only a part of its time is taken for the whole, if the part is known.
	if (stat->options->scale && delta.running_ns < delta.enabled_ns)
		delta.value = delta.running_ns
				      ? (uint64_t)((double)delta.value * (double)delta.enabled_ns /
							   (double)delta.running_ns +
						   0.5)
				      : 0;
	counter->rows[row].value += delta.value;
	counter->rows[row].enabled_ns += delta.enabled_ns;
	counter->rows[row].running_ns += delta.running_ns;
	counter->row_cells[row]++;
}

static uint64_t tool_value(const struct counting *stat, enum event_tool tool)
{
	return tool == EVENT_TOOL_DURATION ? stat->elapsed_ns
	       : tool == EVENT_TOOL_USER   ? stat->user_ns
					   : stat->system_ns;
}

// Of one cell of what is counted together, at the same time; the members' values stand in the order in which they were opened.
static void read_group(struct counting *stat, const struct stat_counter *leader, size_t cell)
{
	enum { HEAD = 3 }; // how many values, time enabled, time running
	size_t size = (HEAD + leader->group_n) * sizeof(uint64_t), i = 0;
	auto_free uint64_t *values = xcalloc(1, size);

	if (read(leader->fds[cell], values, size) < (ssize_t)(HEAD * sizeof(*values)))
		return;
	for (size_t j = 0; j < leader->group_n; j++) {
		struct stat_counter *member = &stat->counters.v[leader->leader + j];

		if (member->fds[cell] < 0)
			continue;
		if (i >= MIN(values[0], leader->group_n))
			return;
		member->now[cell] = (struct stat_count){values[HEAD + i++], values[1], values[2]};
	}
}

// Fills `now` of all cells; what can't be read stays as it was at the last read.
static void read_counters(struct counting *stat)
{
	size_t cells = stat->target.cpus.n * stat->target.threads.n;

	for (size_t i = 0; i < stat->counters.n; i++) {
		struct stat_counter *counter = &stat->counters.v[i];
		const struct stat_counter *leader = &stat->counters.v[counter->leader];

		for (size_t cell = 0; cell < cells; cell++) {
			bool grouped = leader->spec->attr.read_format & PERF_FORMAT_GROUP &&
				       leader->fds[cell] >= 0;
			struct stat_count now;

			if (counter->fds[cell] < 0 || (grouped && counter != leader))
				continue;
			if (grouped)
				read_group(stat, counter, cell);
			else if (read(counter->fds[cell], &now, sizeof(now)) == sizeof(now))
				counter->now[cell] = now;
		}
	}
}

void stat_read(struct counting *stat)
{
	size_t cells = stat->target.cpus.n * stat->target.threads.n;

	if (stat->options->bpf_programs)
		stat_bpf_read(stat);
	else
		read_counters(stat);
	vec_each(struct stat_counter, counter, &stat->counters) {
		enum event_tool tool = counter->spec->tool;
		double sum = 0;

		for (size_t i = 0; i < stat->rows.n; i++)
			sum -= (double)counter->rows[i].value;
		for (size_t cell = 0; cell < cells; cell++) {
			if (tool && !cell) {
				uint64_t v = tool_value(stat, tool);
				stat_add(stat, counter, cell, (struct stat_count){v, v, v});
			} else if (counter->fds[cell] >= 0) {
				stat_add(stat, counter, cell, counter->now[cell]);
			}
		}
		for (size_t i = 0; i < stat->rows.n; i++)
			sum += (double)counter->rows[i].value;
		spread_add(&counter->spread, sum);
	}
}

void stat_close(struct counting *stat)
{
	size_t cells = stat->target.cpus.n * stat->target.threads.n;

	stat_bpf_close(stat);
	everywhere_done(&stat->everywhere);
	vec_each(struct stat_counter, counter, &stat->counters) {
		for (size_t cell = 0; counter->fds && cell < cells; cell++) {
			if (counter->fds[cell] >= 0)
				close(counter->fds[cell]);
			counter->fds[cell] = -1;
			counter->before[cell] = counter->now[cell] = (struct stat_count){0};
		}
	}
}
