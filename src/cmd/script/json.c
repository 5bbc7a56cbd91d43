// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/script/json.h"
#include "base/json.h"
#include "cmd/core/script/parts.h"
#include "cmd/core/script/records.h"

struct at {
	struct json j;
	const struct chains *chains;
	struct run *run;
	const struct event *event;
	const struct sample *sample;
	struct task *task;
};

static void put_where(struct at *at, const struct location *where)
{
	if (where->sym) {
		json_field_text(&at->j, "sym", where->sym->name);
		json_field_u64(&at->j, "offset", where->addr - where->sym->start);
	}
	if (where->dso)
		json_field_text(&at->j, "dso", dso_print_name(where->dso, false));
}

static void put_ip(struct at *at)
{
	struct location where;

	json_key(&at->j, "ip");
	json_hex(&at->j, at->sample->ip);
	if (!at->task)
		return;
	where = sym_resolve(at->run->sym, at->task, at->sample->cpumode, at->sample->ip);
	put_where(at, &where);
}

static void put_source(struct at *at, const struct source_frame *source)
{
	const struct chains *chains = at->chains;
	const char *text = source_text(chains->sources, source);

	if (text && source->line)
		json_field_text(&at->j, "srcline", text);
}

static void put_inlined(struct at *at, uint64_t ip, const struct source_frame *source)
{
	json_object(&at->j);
	json_key(&at->j, "ip");
	json_hex(&at->j, ip);
	json_field_text(&at->j, "sym", source->sym->name);
	json_field_bool(&at->j, "inlined", true);
	put_source(at, source);
	json_end(&at->j);
}

static void put_frame(void *arg, uint64_t ip, uint8_t cpumode, bool is_return)
{
	struct at *at = arg;
	struct location where = {0};
	struct source_frames found = {NULL, 0};

	if (at->task && is_return)
		where = sym_resolve_return(at->run->sym, at->task, cpumode, ip);
	else if (at->task)
		where = sym_resolve(at->run->sym, at->task, cpumode, ip);
	if (where.dso && where.sym && at->chains->options.inlines)
		found = source_frames(at->chains->sources, where.dso, where.addr - is_return,
				      where.sym);
	for (size_t i = 0; i + 1 < found.n; i++)
		put_inlined(at, ip, &found.v[i]);
	json_object(&at->j);
	json_key(&at->j, "ip");
	json_hex(&at->j, ip);
	put_where(at, &where);
	if (found.n)
		put_source(at, &found.v[found.n - 1]);
	json_end(&at->j);
}

static void put_callchain(struct at *at)
{
	json_key(&at->j, "callchain");
	json_array(&at->j);
	chains_each(at->sample, at->chains->options.max_stack, put_frame, at);
	json_end(&at->j);
}

static void put_json_branches(struct at *at)
{
	json_key(&at->j, "branches");
	json_array(&at->j);
	for (uint64_t i = 0; at->sample->branches && i < at->sample->branch_n; i++) {
		const struct perf_branch_entry *branch = &at->sample->branches[i];

		json_object(&at->j);
		json_key(&at->j, "from");
		json_hex(&at->j, branch->from);
		json_key(&at->j, "to");
		json_hex(&at->j, branch->to);
		if (branch->mispred || branch->predicted)
			json_field_bool(&at->j, "predicted", branch->predicted);
		json_field_u64(&at->j, "cycles", branch->cycles);
		if (*branch_type(branch))
			json_field_text(&at->j, "type", branch_type(branch));
		json_end(&at->j);
	}
	json_end(&at->j);
}

static void put_json_registers(struct at *at, const char *key, uint64_t mask,
			       const uint64_t *registers)
{
	const char *arch = at->run->recording->info.arch;

	if (!registers)
		return;
	json_key(&at->j, key);
	json_object(&at->j);
	for (uint64_t rest = mask; rest; rest &= rest - 1) {
		json_key(&at->j, register_name(arch, (unsigned)__builtin_ctzll(rest)));
		json_hex(&at->j, *registers++);
	}
	json_end(&at->j);
}

static void put_user_registers(struct at *at)
{
	put_json_registers(at, "user_regs", at->event->attr.sample_regs_user,
			   at->sample->user_abi ? at->sample->user_regs : NULL);
}

static void put_intr_registers(struct at *at)
{
	put_json_registers(at, "intr_regs", at->event->attr.sample_regs_intr,
			   at->sample->intr_abi ? at->sample->intr_regs : NULL);
}

static uint64_t element(const struct tp_field *field, const uint8_t *p, uint32_t i)
{
	struct tp_field one = *field;
	uint16_t size = field->element_size ? field->element_size : field->size;

	one.is_array = false;
	one.offset = (uint16_t)(i * size);
	one.size = size;
	return tp_number(&one, p, UINT32_MAX);
}

static void put_array(struct at *at, const struct tp_field *field)
{
	const uint8_t *raw = at->sample->raw;
	uint32_t offset = field->offset, size = field->size, element_size = field->element_size;

	if (field->is_dynamic) {
		uint32_t place = (uint32_t)tp_number(field, raw, at->sample->raw_size);

		offset = place & 0xffff;
		size = place >> 16;
		if (field->is_relative)
			offset += field->offset + field->size;
	}
	if (!element_size)
		element_size = 1;
	json_array(&at->j);
	if ((uint64_t)offset + size <= at->sample->raw_size &&
	    (element_size == 1 || element_size == 2 || element_size == 4 || element_size == 8)) {
		struct tp_field one = *field;

		one.is_dynamic = false;
		for (uint32_t i = 0; i < size / element_size; i++) {
			uint64_t v = element(&one, raw + offset, i);

			if (field->is_signed)
				json_i64(&at->j, (int64_t)v);
			else
				json_u64(&at->j, v);
		}
	}
	json_end(&at->j);
}

static void put_trace_fields(struct at *at)
{
	const struct tp_field *fields;
	size_t n;

	if (!at->event->tp || !at->sample->raw)
		return;
	n = tracepoint_fields(at->event->tp, &fields);
	json_key(&at->j, "fields");
	json_object(&at->j);
	for (size_t i = 0; i < n; i++) {
		const struct tp_field *field = &fields[i];
		const void *raw = at->sample->raw;
		uint32_t size = at->sample->raw_size;

		json_key(&at->j, field->name);
		if (field->is_string)
			json_str(&at->j, tp_string(field, raw, size));
		else if (field->is_array || field->is_dynamic)
			put_array(at, field);
		else if (field->is_pointer)
			json_hex(&at->j, tp_number(field, raw, size));
		else if (field->is_signed)
			json_i64(&at->j, (int64_t)tp_number(field, raw, size));
		else
			json_u64(&at->j, tp_number(field, raw, size));
	}
	json_end(&at->j);
}

static void put_cgroup(struct at *at)
{
	const char *path = sym_cgroup(at->run->sym, at->sample->cgroup);

	json_key(&at->j, "cgroup");
	if (path)
		json_text(&at->j, path);
	else
		json_u64(&at->j, at->sample->cgroup);
}

static void put_data_source(struct at *at)
{
	struct out text;
	size_t width = 0;

	json_key(&at->j, "data_src");
	json_hex(&at->j, at->sample->data_src);
	out_init_memory(&text);
	put_data_src(&text, at->sample->data_src, &width);
	json_key(&at->j, "data_src_text");
	// Behind the number.
	json_str(&at->j, text.n > 17 ? (struct str){text.buf + 17, text.n - 17} : STR(""));
	out_done(&text);
}

static void put_weights(struct at *at)
{
	if (at->event->attr.sample_type & PERF_SAMPLE_WEIGHT) {
		json_field_u64(&at->j, "weight", at->sample->weight);
		return;
	}
	json_field_u64(&at->j, "weight", (uint32_t)at->sample->weight);
	json_field_u64(&at->j, "ins_lat", at->sample->weight >> 32 & 0xffff);
	json_field_u64(&at->j, "retire_lat", at->sample->weight >> 48);
}

static void put_comm(struct at *at)
{
	if (at->task)
		json_field_text(&at->j, "comm", task_comm(at->run->sym, at->task));
}

enum kind { NUMBER_32, NUMBER_64, ADDRESS, SPECIAL };

// Every key of a sample, in the order of the line; written when the samples hold any of sample_type.
static const struct {
	const char *key;
	uint64_t sample_type;
	enum kind kind;
	size_t offset;
	void (*put)(struct at *at);
} keys[] = {
#define FIELD_AT(member) offsetof(struct sample, member), NULL
#define BY(function) 0, function
	{"time_ns", PERF_SAMPLE_TIME, NUMBER_64, FIELD_AT(time)},
	{"pid", PERF_SAMPLE_TID, NUMBER_32, FIELD_AT(pid)},
	{"tid", PERF_SAMPLE_TID, NUMBER_32, FIELD_AT(tid)},
	{"comm", PERF_SAMPLE_TID, SPECIAL, BY(put_comm)},
	{"cpu", PERF_SAMPLE_CPU, NUMBER_32, FIELD_AT(cpu)},
	{"period", PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ, NUMBER_64, FIELD_AT(period)},
	{"ip", PERF_SAMPLE_IP, SPECIAL, BY(put_ip)},
	{"addr", PERF_SAMPLE_ADDR, ADDRESS, FIELD_AT(addr)},
	{"phys_addr", PERF_SAMPLE_PHYS_ADDR, ADDRESS, FIELD_AT(phys_addr)},
	{"data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE, NUMBER_64, FIELD_AT(data_page_size)},
	{"code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE, NUMBER_64, FIELD_AT(code_page_size)},
	{"weight", PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, SPECIAL, BY(put_weights)},
	{"data_src", PERF_SAMPLE_DATA_SRC, SPECIAL, BY(put_data_source)},
	{"transaction", PERF_SAMPLE_TRANSACTION, ADDRESS, FIELD_AT(transaction)},
	{"cgroup", PERF_SAMPLE_CGROUP, SPECIAL, BY(put_cgroup)},
	{"fields", PERF_SAMPLE_RAW, SPECIAL, BY(put_trace_fields)},
	{"callchain", PERF_SAMPLE_CALLCHAIN, SPECIAL, BY(put_callchain)},
	{"branches", PERF_SAMPLE_BRANCH_STACK, SPECIAL, BY(put_json_branches)},
	{"user_regs", PERF_SAMPLE_REGS_USER, SPECIAL, BY(put_user_registers)},
	{"intr_regs", PERF_SAMPLE_REGS_INTR, SPECIAL, BY(put_intr_registers)},
#undef FIELD_AT
#undef BY
};

void json_sample(const struct json_script *to, const struct event *event,
		 const struct sample *sample, struct task *task)
{
	struct at at = {.chains = to->chains,
			.run = to->run,
			.event = event,
			.sample = sample,
			.task = task};

	json_init(&at.j, to->out);
	json_object(&at.j);
	json_field_text(&at.j, "event", event->name);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *field = (const char *)sample + keys[i].offset;

		if (!(event->attr.sample_type & keys[i].sample_type))
			continue;
		switch (keys[i].kind) {
		case NUMBER_32:
			json_key(&at.j, keys[i].key);
			json_i64(&at.j, *(const int32_t *)field);
			break;
		case NUMBER_64:
			json_key(&at.j, keys[i].key);
			json_u64(&at.j, *(const uint64_t *)field);
			break;
		case ADDRESS:
			json_key(&at.j, keys[i].key);
			json_hex(&at.j, *(const uint64_t *)field);
			break;
		case SPECIAL:
			keys[i].put(&at);
			break;
		}
	}
	json_end(&at.j);
	json_line(&at.j);
}

void json_record(const struct json_script *to, const struct sample *ids,
		 const struct perf_event_header *header)
{
	struct json j;
	struct out text;

	out_init_memory(&text);
	if (!put_record_body(&text, to->chains, header)) {
		out_done(&text);
		return;
	}
	json_init(&j, to->out);
	json_object(&j);
	json_field_text(&j, "record", record_type_name(header->type));
	if (ids->time != UINT64_MAX)
		json_field_u64(&j, "time_ns", ids->time);
	if (ids->pid != UINT32_MAX) {
		json_field_i64(&j, "pid", (int32_t)ids->pid);
		json_field_i64(&j, "tid", (int32_t)ids->tid);
	}
	if (ids->cpu != UINT32_MAX)
		json_field_u64(&j, "cpu", ids->cpu);
	json_key(&j, "text");
	json_str(&j, str_trim((struct str){text.buf, text.n}));
	json_end(&j);
	json_line(&j);
	out_done(&text);
}
