// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/script/dump.h"
#include "cmd/core/script/parts.h"
#include "cmd/core/script/records.h"
#include <stdio.h>

typedef unsigned long long ull;

// perf counts a pipe's bytes from behind it.
enum { PIPE_HEADER_SIZE = 16 };

static void dump_bytes(struct out *out, const struct perf_event_header *header)
{
	const uint8_t *bytes = (const uint8_t *)header;

	out_printf(out, ".\n. ... raw event: size %d bytes\n", header->size);
	for (unsigned i = 0; i < header->size; i += 16) {
		unsigned n = MIN(16u, header->size - i);

		out_bytes(out, ".  ", 3);
		out_hex_zeros(out, i, 4);
		out_bytes(out, ": ", 2);
		for (unsigned k = 0; k < n; k++) {
			out_char(out, ' ');
			out_hex_zeros(out, bytes[i + k], 2);
		}
		out_fill(out, ' ', (16 - n) * 3 + 2);
		for (unsigned k = 0; k < n; k++)
			out_char(out, bytes[i + k] >= 32 && bytes[i + k] < 127 ? (char)bytes[i + k]
									       : '.');
		out_fill(out, ' ', 16 - n);
		out_char(out, '\n');
	}
	out_char(out, '\n');
}

static void dump_times(struct dump *dump, const struct perf_event_header *header, uint32_t cpu,
		       uint64_t time)
{
	const struct recording *recording = dump->run->recording;
	size_t n = recording->events.n;
	uint64_t type = 0;

	// perf knows no more events of a pipe than were announced so far.
	if (recording->is_pipe)
		n = MIN(n, dump->announced_n);
	if (header->type != PERF_RECORD_SAMPLE &&
	    (!n || !recording->events.v[0]->attr.sample_id_all)) {
		out_text(dump->out, "-1 -1 ");
		return;
	}
	for (size_t i = 0; i < n; i++)
		type |= recording->events.v[i]->attr.sample_type;
	if (type & PERF_SAMPLE_CPU) {
		out_u64(dump->out, cpu);
		out_char(dump->out, ' ');
	}
	if (type & PERF_SAMPLE_TIME) {
		out_u64(dump->out, time);
		out_char(dump->out, ' ');
	}
}

static void dump_head(struct dump *dump, const struct record *record, uint32_t cpu, uint64_t time)
{
	const struct perf_event_header *header = record->header;
	const struct recording *recording = dump->run->recording;
	ull offset = record->offset - (recording->is_pipe ? PIPE_HEADER_SIZE : 0);

	out_printf(dump->out, "\n%#llx@%s [%#x]: event: %d\n", offset,
		   recording->is_pipe ? "pipe" : recording->path, header->size, (int)header->type);
	dump_bytes(dump->out, header);
	dump_times(dump, header, cpu, time);
	out_printf(dump->out, "%#llx [%#x]: PERF_RECORD_%s", offset, header->size,
		   record_type_name(header->type));
}

static void dump_event_update(struct out *out, const struct perf_event_header *header)
{
	struct {
		struct perf_event_header header;
		uint64_t type, id;
	} update;
	const char *text = (const char *)header + sizeof(update);

	if (header->size < sizeof(update) + 8)
		return;
	memcpy(&update, header, sizeof(update));
	out_printf(out, "\n... id:    %llu\n", (ull)update.id);
	int room = header->size - (int)sizeof(update);
	double scale;
	switch (update.type) {
	case 0:
		out_printf(out, "... unit:  %.*s\n", room, text);
		break;
	case 1:
		memcpy(&scale, text, sizeof(scale));
		out_printf(out, "... scale: %f\n", scale);
		break;
	case 2:
		out_printf(out, "... name:  %.*s\n", room, text);
		break;
	default:
		out_text(out, "... unknown type\n");
		break;
	}
}

static void dump_id_index(struct out *out, const struct perf_event_header *header)
{
	const uint64_t *words = (const uint64_t *)(header + 1);
	uint64_t room = (header->size - sizeof(*header)) / 8, n;
	bool guests;

	if (!room)
		return;
	n = words[0];
	if (n > (room - 1) / 4)
		return;
	guests = room - 1 >= n * 6;
	out_printf(out, " nr: %llu\n", (ull)n);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *entry = words + 1 + i * 4, *more = words + 1 + n * 4 + i * 2;

		out_printf(out, " ... id: %llu  idx: %llu  cpu: %lld  tid: %lld", (ull)entry[0],
			   (ull)entry[1], (long long)entry[2], (long long)entry[3]);
		if (guests)
			out_printf(out, "  machine_pid: %lld  vcpu: %llu", (long long)more[0],
				   (ull)more[1]);
		out_char(out, '\n');
	}
}

static void dump_thread_map(struct out *out, const struct perf_event_header *header)
{
	const uint64_t *words = (const uint64_t *)(header + 1);
	uint64_t room = (header->size - sizeof(*header)) / 8, n;

	if (!room)
		return;
	n = MIN(words[0], (room - 1) / 3);
	out_printf(out, " nr: %d thread%s: ", (int)n, n > 1 ? "s" : "");
	for (uint64_t i = 0; i < n; i++)
		out_printf(out, "%s%d", i ? ", " : "", (int)words[1 + i * 3]);
	out_char(out, '\n');
}

static void dump_cpu_map(struct out *out, const struct perf_event_header *header)
{
	size_t n = record_cpu_map(header, NULL, 0), last;
	auto_free int *cpus = xcalloc(n + 1, sizeof(*cpus));

	out_text(out, ": ");
	record_cpu_map(header, cpus, n);
	for (size_t i = 0; i < n; i = last + 1) {
		last = i;
		while (last + 1 < n && cpus[last + 1] == cpus[last] + 1)
			last++;
		out_printf(out, "%s%d", i ? "," : "", cpus[i]);
		if (last > i)
			out_printf(out, "-%d", cpus[last]);
	}
	out_char(out, '\n');
}

static void dump_stat_config(struct out *out, const struct perf_event_header *header)
{
	const struct record_stat_config *config = (const void *)header;
	size_t n = header->size < sizeof(*config)
			   ? 0
			   : (header->size - sizeof(*config)) / sizeof(config->terms[0]);
	uint64_t values[] =
		{[STAT_CONFIG_AGGREGATION] = 0, [STAT_CONFIG_INTERVAL] = 0, [STAT_CONFIG_SCALE] = 0};

	for (size_t i = 0; i < MIN(n, config->nr); i++) {
		if (config->terms[i].tag < ARRAY_SIZE(values))
			values[config->terms[i].tag] = config->terms[i].value;
	}
	out_printf(out, "\n... aggr_mode %d\n... scale     %d\n... interval  %u\n",
		   (int)values[STAT_CONFIG_AGGREGATION], (int)values[STAT_CONFIG_SCALE],
		   (unsigned)values[STAT_CONFIG_INTERVAL]);
}

static void dump_stat(struct out *out, const struct perf_event_header *header)
{
	const struct record_stat *stat = (const void *)header;

	if (header->size >= sizeof(*stat))
		out_printf(out,
			   "\n... id %llu, cpu %d, thread %d\n... value %llu, enabled %llu, running %llu\n",
			   (ull)stat->id, (int)stat->cpu, (int)stat->thread, (ull)stat->value,
			   (ull)stat->enabled_ns, (ull)stat->running_ns);
}

static void dump_stat_round(struct out *out, const struct perf_event_header *header)
{
	const struct record_stat_round *round = (const void *)header;

	if (header->size >= sizeof(*round))
		out_printf(out, "\n... time %llu, type %s\n", (ull)round->time_ns,
			   round->type == STAT_ROUND_FINAL ? "FINAL" : "INTERVAL");
}

static void dump_auxtrace(struct out *out, const struct perf_event_header *header)
{
	struct {
		struct perf_event_header header;
		uint64_t size, offset, reference;
		uint32_t idx, tid, cpu;
	} trace;

	if (header->size < 44)
		return;
	memcpy(&trace, header, 44);
	out_printf(out, " size: %#llx  offset: %#llx  ref: %#llx  idx: %u  tid: %d  cpu: %d\n",
		   (ull)trace.size, (ull)trace.offset, (ull)trace.reference, trace.idx,
		   (int)trace.tid, (int)trace.cpu);
}

static void dump_auxtrace_info(struct out *out, const struct perf_event_header *header)
{
	uint32_t type;

	if (header->size < sizeof(*header) + 4)
		return;
	memcpy(&type, header + 1, sizeof(type));
	out_printf(out, " type: %u\n", type);
}

static void dump_time_conv(struct out *out, const struct perf_event_header *header)
{
	const uint64_t *words = (const uint64_t *)(header + 1);
	size_t n = (header->size - sizeof(*header)) / 8;

	if (n < 3)
		return;
	out_printf(out,
		   "\n... Time Shift      %llu\n... Time Muliplier  %llu\n... Time Zero       %llu\n",
		   (ull)words[0], (ull)words[1], (ull)words[2]);
	if (n < 6)
		return;
	out_printf(out, "... Time Cycles     %llu\n... Time Mask       %#llx\n", (ull)words[3],
		   (ull)words[4]);
	out_printf(out, "... Cap Time Zero   %d\n... Cap Time Short  %d\n",
		   ((const uint8_t *)(words + 5))[0], ((const uint8_t *)(words + 5))[1]);
}

void dump_order(struct out *out, const struct recording *recording)
{
	if (!recording->is_pipe && recording->events.n && !recording->events.v[0]->attr.sample_id_all)
		out_text(out,
			 "WARNING: No sample_id_all support, falling back to unordered processing\n");
}

void dump_tool_record(struct dump *dump, const struct record *record)
{
	struct out *out = dump->out;

	if (record->header->type == RECORD_COMPRESSED || record->header->type == RECORD_COMPRESSED2)
		return;
	dump_head(dump, record, 0, 0);
	switch (record->header->type) {
	case RECORD_HEADER_ATTR:
		dump->announced_n++;
		break;
	case RECORD_EVENT_UPDATE:
		dump_event_update(out, record->header);
		break;
	case RECORD_FINISHED_ROUND:
		out_text(out, dump->rounds_shown ? "" : dump->unordered ? ": unhandled!\n" : "\n");
		break;
	case RECORD_ID_INDEX:
		dump_id_index(out, record->header);
		break;
	case RECORD_THREAD_MAP:
		dump_thread_map(out, record->header);
		out_text(out, dump->counts_only ? ": unhandled!\n" : "");
		break;
	case RECORD_CPU_MAP:
		dump_cpu_map(out, record->header);
		out_text(out, dump->counts_only ? ": unhandled!\n" : "");
		break;
	// The table of `script` has a use for these, and so doesn't dump them.
	case RECORD_STAT_CONFIG:
	case RECORD_STAT:
	case RECORD_STAT_ROUND:
		if (!dump->counts_only)
			break;
		if (record->header->type == RECORD_STAT_CONFIG)
			dump_stat_config(out, record->header);
		else if (record->header->type == RECORD_STAT)
			dump_stat(out, record->header);
		else
			dump_stat_round(out, record->header);
		out_text(out, ": unhandled!\n");
		break;
	case RECORD_AUXTRACE_INFO:
		dump_auxtrace_info(out, record->header);
		break;
	case RECORD_AUXTRACE:
		dump_auxtrace(out, record->header);
		break;
	case RECORD_TIME_CONV:
		dump_time_conv(out, record->header);
		out_text(out, ": unhandled!\n");
		break;
	case RECORD_FINISHED_INIT:
		out_text(out, ": unhandled!\n");
		break;
	default:
		break;
	}
}

static void dump_read(struct dump *dump, const struct event *event,
		      const struct perf_event_header *header)
{
	const struct record_read *read = (const void *)header;
	size_t n = (header->size - sizeof(*read)) / 8, i = 0;
	uint64_t format = event ? event->attr.read_format : 0;
	static const struct {
		uint64_t bit;
		const char *name;
	} parts[] = {
		{PERF_FORMAT_TOTAL_TIME_ENABLED, "time enabled "},
		{PERF_FORMAT_TOTAL_TIME_RUNNING, "time running "},
		{PERF_FORMAT_ID, "id           "},
		{1u << 4, "lost         "},
	};

	out_printf(dump->out, ": %d %d %s %llu\n", (int)read->pid, (int)read->tid,
		   event ? event->name : "(null)", (ull)(n ? read->values[i++] : 0));
	// perf reads these at fixed places, whatever the format leaves out.
	for (size_t k = 0; k < ARRAY_SIZE(parts); k++, i++) {
		if ((format & parts[k].bit) && i < n)
			out_printf(dump->out, "... %s: %llu\n", parts[k].name, (ull)read->values[i]);
	}
}

void dump_record(struct dump *dump, const struct hit *hit, bool shown)
{
	const struct perf_event_header *header = hit->record.header;
	const struct sample *ids = &hit->sample;

	dump_head(dump, &hit->record, ids->cpu, ids->time);
	if (!record_is_whole(header))
		return;
	switch (header->type) {
	case PERF_RECORD_LOST: {
		const struct record_lost *lost = (const void *)header;

		if (!shown)
			out_printf(dump->out, ": id:%llu: lost:%llu\n", (ull)lost->id,
				   (ull)lost->lost);
		break;
	}
	case PERF_RECORD_LOST_SAMPLES:
		out_printf(dump->out, ": id:%llu: lost samples :%llu\n", (ull)ids->id,
			   (ull)((const struct record_lost_samples *)header)->lost);
		break;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		out_text(dump->out, dump->counts_only ? ": unhandled!\n" : "");
		break;
	case PERF_RECORD_READ:
		dump_read(dump, hit->event, header);
		out_text(dump->out, dump->counts_only ? "" : ": unhandled!\n");
		break;
	case PERF_RECORD_EXIT:
		if (!shown)
			put_record_body(dump->out, dump->chains, header);
		break;
	default:
		put_record_body(dump->out, dump->chains, header);
		break;
	}
}

static void dump_lbr_chain(struct out *out, const struct sample *sample)
{
	uint32_t user = 0;

	while (user < sample->callchain_n && sample->callchain[user] != PERF_CONTEXT_USER)
		user++;
	if (user == sample->callchain_n || !sample->branch_n)
		return;
	out_printf(out, "... LBR call chain: nr:%llu\n", (ull)(user + 1 + sample->branch_n + 1));
	for (uint32_t i = 0; i <= user; i++)
		out_printf(out, "..... %2u: %016llx\n", i, (ull)sample->callchain[i]);
	out_printf(out, "..... %2u: %016llx\n", user + 1, (ull)sample->branches[0].to);
	for (uint64_t i = 0; i < sample->branch_n; i++)
		out_printf(out, "..... %2d: %016llx\n", (int)(i + user + 2),
			   (ull)sample->branches[i].from);
}

static void dump_chain(struct out *out, const struct event *event, const struct sample *sample)
{
	if (event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		dump_lbr_chain(out, sample);
	out_printf(out, "... FP chain: nr:%u\n", sample->callchain_n);
	for (uint32_t i = 0; i < sample->callchain_n; i++)
		out_printf(out, "..... %2u: %016llx\n", i, (ull)sample->callchain[i]);
}

static void dump_branches(struct out *out, const struct event *event, const struct sample *sample)
{
	bool stack = event->attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;

	if (stack)
		out_printf(out, "... branch callstack: nr:%llu\n", (ull)sample->branch_n + 1);
	else
		out_printf(out, "... branch stack: nr:%llu\n", (ull)sample->branch_n);
	for (uint64_t i = 0; i < sample->branch_n; i++) {
		const struct perf_branch_entry *branch = &sample->branches[i];
		uint64_t flags;

		memcpy(&flags, (const char *)branch + 16, sizeof(flags));
		if (stack && !i)
			out_printf(out, "..... %2llu: %016llx\n", (ull)i, (ull)branch->to);
		if (stack)
			out_printf(out, "..... %2llu: %016llx\n", (ull)i + 1, (ull)branch->from);
		else
			out_printf(out, "..... %2llu: %016llx -> %016llx %hu cycles %s%s%s%s %x %s\n",
				   (ull)i, (ull)branch->from, (ull)branch->to,
				   (unsigned short)branch->cycles, branch->mispred ? "M" : " ",
				   branch->predicted ? "P" : " ", branch->abort ? "A" : " ",
				   branch->in_tx ? "T" : " ", (unsigned)(flags >> 33),
				   branch_type(branch));
	}
}

static void dump_registers(struct dump *dump, const char *kind, struct registers registers)
{
	static const char *const abis[] = {"none", "32-bit", "64-bit"};
	const char *arch = dump->run->recording->info.arch;

	if (!registers.abi || !registers.v)
		return;
	out_printf(dump->out, "... %s regs: mask 0x%llx ABI %s\n", kind, (ull)registers.mask,
		   registers.abi < ARRAY_SIZE(abis) ? abis[registers.abi] : "unknown");
	for (uint64_t rest = registers.mask; rest; rest &= rest - 1)
		out_printf(dump->out, ".... %-5s 0x%016llx\n",
			   register_name(arch, (unsigned)__builtin_ctzll(rest)), (ull)*registers.v++);
}

static void dump_values(struct out *out, const struct event *event, const struct sample *sample)
{
	uint64_t format = event->attr.read_format;
	struct sample_read value;
	uint32_t pos = 0, n = 0;

	out_text(out, "... sample_read:\n");
	for (; sample_read_next(&event->plan, sample, &pos, &value); n++) {
		if (!n && (format & PERF_FORMAT_TOTAL_TIME_ENABLED))
			out_printf(out, "...... time enabled %016llx\n", (ull)value.time_enabled);
		if (!n && (format & PERF_FORMAT_TOTAL_TIME_RUNNING))
			out_printf(out, "...... time running %016llx\n", (ull)value.time_running);
		if (!n && (format & PERF_FORMAT_GROUP))
			out_printf(out, ".... group nr %llu\n", (ull)sample->read[0]);
		out_printf(out, "..... id %016llx, value %016llx", (ull)value.id, (ull)value.value);
		if (format & 1u << 4)
			out_printf(out, ", lost %llu", (ull)value.lost);
		out_char(out, '\n');
	}
}

// As recorded: the run turns it into the growth of the counter.
static uint64_t recorded_period(const struct event *event, const struct sample *sample,
				const struct perf_event_header *header)
{
	const int16_t at = event->plan.period;
	uint64_t period;

	if (at < 0)
		return event->attr.sample_period;
	if (at + 8 > header->size)
		return sample->period;
	memcpy(&period, (const char *)header + at, sizeof(period));
	return period;
}

void dump_sample(struct dump *dump, const struct event *event, const struct sample *sample,
		 const struct record *record)
{
	const struct perf_event_header *header = record->header;
	uint64_t type = event->attr.sample_type;
	struct out *out = dump->out;

	if (dump->last == header && dump->last_offset == record->offset)
		return;
	dump->last = header;
	dump->last_offset = record->offset;
	dump_head(dump, record, sample->cpu, sample->time);
	out_printf(out, "(IP, 0x%x): %d/%d: %#llx period: %llu addr: %#llx\n", header->misc,
		   (int)sample->pid, (int)sample->tid, (ull)sample->ip,
		   (ull)recorded_period(event, sample, header), (ull)sample->addr);
	if (type & PERF_SAMPLE_CALLCHAIN)
		dump_chain(out, event, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		dump_branches(out, event, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		dump_registers(dump, "user", registers_user(event, sample));
	if (type & PERF_SAMPLE_REGS_INTR)
		dump_registers(dump, "intr", registers_intr(event, sample));
	if (type & PERF_SAMPLE_STACK_USER)
		out_printf(out, "... ustack: size %llu, offset 0x%x\n", (ull)sample->user_stack_size,
			   sample->user_stack
				   ? (unsigned)(sample->user_stack - (const uint8_t *)header) - 8
				   : 0);
	if (type & PERF_SAMPLE_WEIGHT)
		out_printf(out, "... weight: %llu\n", (ull)sample->weight);
	if (type & PERF_SAMPLE_WEIGHT_STRUCT)
		out_printf(out, "... weight: %u,0x%x,0x%x\n", (unsigned)sample->weight,
			   (unsigned)(sample->weight >> 32 & 0xffff), 0);
	if (type & PERF_SAMPLE_DATA_SRC)
		out_printf(out, " . data_src: 0x%llx\n", (ull)sample->data_src);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		out_printf(out, " .. phys_addr: 0x%llx\n", (ull)sample->phys_addr);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE) {
		out_text(out, " .. data page size: ");
		put_page_size(out, sample->data_page_size);
		out_char(out, '\n');
	}
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE) {
		out_text(out, " .. code page size: ");
		put_page_size(out, sample->code_page_size);
		out_char(out, '\n');
	}
	if (type & PERF_SAMPLE_TRANSACTION)
		out_printf(out, "... transaction: %llx\n", (ull)sample->transaction);
	if (type & PERF_SAMPLE_READ)
		dump_values(out, event, sample);
}

void dump_place(struct dump *dump, const struct sample *sample, struct task *task)
{
	struct run *run = dump->run;
	struct location where;

	if (!task)
		return;
	where = sym_resolve_map(run->sym, task, sample->cpumode, sample->ip);
	out_text(dump->out, " ... thread: ");
	out_safe(dump->out, task_comm(run->sym, task));
	out_printf(dump->out, ":%d\n ...... dso: ", (int)task->tid);
	out_safe(dump->out, where.dso		 ? where.dso->long_name
			    : where.level == 'H' ? "[hypervisor]"
						 : "<not found>");
	out_char(dump->out, '\n');
}
