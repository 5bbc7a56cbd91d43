// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/script/print.h"
#include "base/err.h"
#include "cmd/core/script/parts.h"
#include "code/source_text.h"
#include <stdio.h>

enum step {
	STEP_WHO, // comm, pid, tid
	STEP_CPU,
	STEP_CPU_LATENCY,
	STEP_MISC,
	STEP_TOD,
	STEP_TIME,
	STEP_PERIOD,
	STEP_EVENT,
	STEP_FLAGS,
	STEP_TRACE,
	STEP_ARROW,
	STEP_ADDR,
	STEP_DATA_SRC,
	STEP_WEIGHT,
	STEP_INS_LAT,
	STEP_RETIRE_LAT,
	STEP_IP,
	STEP_CHAIN,
	STEP_IREGS,
	STEP_UREGS,
	STEP_BRSTACK,
	STEP_BRSTACKSYM,
	STEP_BRSTACKOFF,
	STEP_BPF_OUTPUT,
	STEP_INSNS,
	STEP_PHYS_ADDR,
	STEP_DATA_PAGE_SIZE,
	STEP_CODE_PAGE_SIZE,
	STEP_CGROUP,
};

// How comm, pid and tid are written: the low bits are the comm's, the next those of pid and tid.
enum who_style {
	WHO_COMM_PLAIN = 1,
	WHO_COMM_16,
	WHO_COMM_8,
	WHO_COMM_MASK = 3,
	WHO_PID = 4,
	WHO_TID = 8,
};

// Short texts are copied whole, whatever their length: one move instead of a call.
enum { WHO_TEXT_MAX = 64, NAME_TEXT_MAX = 64, STEP_ROOM = 512 };

// The rendered text of a task, kept with it.
struct who {
	uint32_t comm, pid, tid;
	uint8_t style, n;
	char text[WHO_TEXT_MAX];
};

struct printer {
	uint32_t version; // of the fields
	uint8_t steps[32];
	uint8_t steps_n, start_n; // start: those that records have, too
	uint8_t who_style;
	bool any;
	uint32_t ip_style;
	uint64_t fields;
	struct str name; // "   cycles: ", NAME_TEXT_MAX readable
	uint64_t period; // whose text is kept
	char period_text[24];
	uint8_t period_n;
	struct event *event;
	struct out file; // --per-event-dump
	char *file_name;
	struct out *out;
	uint64_t samples;
};

// What is printed at the moment.
struct line {
	struct printer *printer;
	struct out *out;
	const struct sample *sample;
	struct task *task;
};

static const char pairs[201] = "00010203040506070809101112131415161718192021222324"
			       "25262728293031323334353637383940414243444546474849"
			       "50515253545556575859606162636465666768697071727374"
			       "75767778798081828384858687888990919293949596979899";

void print_init(struct print *print, struct run *run, struct fields *fields, struct chains *chains)
{
	*print = (struct print){.run = run, .fields = fields, .chains = chains};
}

int print_done(struct print *print, int err)
{
	for (size_t i = 0; i < print->printers.n; i++) {
		struct printer *printer = print->printers.v[i];

		if (printer->file_name) {
			int ended = out_end(&printer->file, printer->file_name, err);
			err = err < 0 ? err : ended;
			free(printer->file_name);
		}
		free(printer);
	}
	vec_done(&print->printers);
	source_texts_free(print->texts);
	map_done(&print->code_shown);
	insns_free(print->insns);
	arena_done(&print->arena);
	return err;
}

void print_dump_summary(struct print *print)
{
	for (size_t i = 0; i < print->printers.n; i++) {
		struct printer *printer = print->printers.v[i];

		if (!printer->file_name)
			continue;
		out_flush(&printer->file);
		out_printf(print->out, "[ sonde script: Wrote %.3f MB %s (%llu samples) ]\n",
			   (double)printer->file.written_bytes / 1024 / 1024, printer->file_name,
			   (unsigned long long)printer->samples);
	}
}

static void add(struct printer *printer, enum step step)
{
	printer->steps[printer->steps_n++] = (uint8_t)step;
}

static bool is_branch_trace(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE &&
	       (attr->config & PERF_COUNT_HW_BRANCH_INSTRUCTIONS) && attr->sample_period == 1;
}

static bool addr_has_symbol(const struct perf_event_attr *attr)
{
	return is_branch_trace(attr) ||
	       (attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
						     attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						     attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ));
}

static void compile_start(struct print *print, struct printer *printer, bool chain)
{
	uint64_t fields = printer->fields;

	if (fields & FIELD_BIT(COMM))
		printer->who_style = print->options.latency		 ? WHO_COMM_8
				     : (fields & FIELD_BIT(IP)) && chain ? WHO_COMM_PLAIN
									 : WHO_COMM_16;
	if (fields & FIELD_BIT(PID))
		printer->who_style |= WHO_PID;
	if (fields & FIELD_BIT(TID))
		printer->who_style |= WHO_TID;
	if (printer->who_style)
		add(printer, STEP_WHO);
	if (fields & FIELD_BIT(CPU))
		add(printer, print->options.latency ? STEP_CPU_LATENCY : STEP_CPU);
	if (fields & FIELD_BIT(MISC))
		add(printer, STEP_MISC);
	if (fields & FIELD_BIT(TOD))
		add(printer, STEP_TOD);
	if (fields & FIELD_BIT(TIME))
		add(printer, STEP_TIME);
	printer->start_n = printer->steps_n;
}

static void compile_branch_trace(struct print *print, struct printer *printer, bool chain)
{
	const struct output *output = fields_of(print->fields, &printer->event->attr);

	if (printer->fields & FIELD_BIT(IP))
		add(printer, chain ? STEP_CHAIN : STEP_IP);
	if ((printer->fields & FIELD_BIT(ADDR)) ||
	    ((printer->event->attr.sample_type & PERF_SAMPLE_ADDR) && !output->by_user)) {
		add(printer, STEP_ARROW);
		add(printer, STEP_ADDR);
	}
	if (printer->fields & FIELDS_OF_CODE)
		add(printer, STEP_INSNS);
}

static void compile_rest(struct print *print, struct printer *printer, bool chain)
{
	static const struct {
		uint64_t field;
		uint8_t step;
	} before[] =
		{
			{FIELD_BIT(TRACE), STEP_TRACE},
			{FIELD_BIT(ADDR), STEP_ADDR},
			{FIELD_BIT(DATA_SRC), STEP_DATA_SRC},
			{FIELD_BIT(WEIGHT), STEP_WEIGHT},
			{FIELD_BIT(INS_LAT), STEP_INS_LAT},
			{FIELD_BIT(RETIRE_LAT), STEP_RETIRE_LAT},
		},
	  after[] = {
		  {FIELD_BIT(IREGS), STEP_IREGS},
		  {FIELD_BIT(UREGS), STEP_UREGS},
		  {FIELD_BIT(BRSTACK), STEP_BRSTACK},
		  {FIELD_BIT(BRSTACKSYM), STEP_BRSTACKSYM},
		  {FIELD_BIT(BRSTACKOFF), STEP_BRSTACKOFF},
		  {FIELD_BIT(BPF_OUTPUT), STEP_BPF_OUTPUT},
		  {FIELDS_OF_CODE, STEP_INSNS},
		  {FIELD_BIT(PHYS_ADDR), STEP_PHYS_ADDR},
		  {FIELD_BIT(DATA_PAGE_SIZE), STEP_DATA_PAGE_SIZE},
		  {FIELD_BIT(CODE_PAGE_SIZE), STEP_CODE_PAGE_SIZE},
		  {FIELD_BIT(CGROUP), STEP_CGROUP},
	  };
	uint64_t fields = printer->fields;
	const struct perf_event_attr *attr = &printer->event->attr;

	// Only one form of the branch stack.
	if (fields & FIELD_BIT(BRSTACK))
		fields &= ~(FIELD_BIT(BRSTACKSYM) | FIELD_BIT(BRSTACKOFF));
	else if (fields & FIELD_BIT(BRSTACKSYM))
		fields &= ~FIELD_BIT(BRSTACKOFF);
	if (!(attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT))
		fields &= ~FIELD_BIT(BPF_OUTPUT);
	if (!printer->event->tp)
		fields &= ~FIELD_BIT(TRACE);
	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		if (fields & before[i].field)
			add(printer, before[i].step);
	}
	if (fields & FIELD_BIT(IP))
		add(printer, chain ? STEP_CHAIN : STEP_IP);
	for (size_t i = 0; i < ARRAY_SIZE(after); i++) {
		if (fields & after[i].field)
			add(printer, after[i].step);
	}
}

static void compile(struct print *print, struct printer *printer)
{
	const struct event *event = printer->event;
	const struct output *output = fields_of(print->fields, &event->attr);
	bool chain = print->fields->callchain && (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN);

	printer->version = print->fields->version;
	printer->fields = output->fields;
	printer->steps_n = printer->who_style = 0;
	printer->any = output->fields != 0;
	printer->ip_style = chains_style(print->chains, output->ip_fields);
	compile_start(print, printer, chain);
	if (output->fields & FIELD_BIT(PERIOD))
		add(printer, STEP_PERIOD);
	if (output->fields & FIELD_BIT(EVENT))
		add(printer, STEP_EVENT);
	if (print->fields->flags)
		add(printer, STEP_FLAGS);
	if (is_branch_trace(&event->attr))
		compile_branch_trace(print, printer, chain);
	else
		compile_rest(print, printer, chain);
	printer->name.p = NULL;
}

static int open_file(struct print *print, struct printer *printer)
{
	printer->out = print->out;
	if (!print->options.per_event)
		return 0;
	printer->file_name =
		text_dup_fmt("%s.%s.dump", print->run->recording->path, printer->event->name);
	printer->out = &printer->file;
	return out_open(&printer->file, printer->file_name);
}

static int printer_of(struct print *print, struct event *event, struct printer **ret)
{
	struct printer *printer = event->user;
	int err = 0;

	if (!printer) {
		event->user = printer = NEW(struct printer);
		printer->event = event;
		vec_push(&print->printers, printer);
		err = open_file(print, printer);
		compile(print, printer);
	} else if (printer->version != print->fields->version) {
		compile(print, printer);
	}
	*ret = printer;
	return err;
}

static struct str name_text(struct print *print, struct printer *printer)
{
	const struct recording *recording = print->run->recording;
	char *text;

	if (!print->name_width) {
		for (size_t i = 0; i < recording->events.n; i++)
			print->name_width =
				MAX(print->name_width, (int)strlen(recording->events.v[i]->name));
	}
	text = arena_fmt(&print->arena, "%*s: %*s", print->name_width, printer->event->name,
			 NAME_TEXT_MAX, "");
	return (struct str){text, strlen(text) - NAME_TEXT_MAX};
}

static void who_render(struct print *print, struct out *out, const struct line *line)
{
	const struct printer *printer = line->printer;
	const struct sample *sample = line->sample;
	const struct task *task = line->task;
	const char *comm = task ? task_comm(print->run->sym, task) : ":-1";
	unsigned numbers = printer->who_style & (WHO_PID | WHO_TID);

	switch (printer->who_style & WHO_COMM_MASK) {
	case WHO_COMM_PLAIN:
		out_printf(out, "%s ", comm);
		break;
	case WHO_COMM_16:
		out_printf(out, "%16s ", comm);
		break;
	case WHO_COMM_8:
		out_printf(out, "%8.8s ", comm);
		break;
	default:
		break;
	}
	if (numbers == (WHO_PID | WHO_TID))
		out_printf(out, "%5d/%-5d ", (int)sample->pid, (int)sample->tid);
	else if (numbers)
		out_printf(out, "%5d ", (int)(numbers == WHO_PID ? sample->pid : sample->tid));
}

static void put_who_slow(struct print *print, const struct line *line)
{
	const struct printer *printer = line->printer;
	struct out *out = line->out;
	const struct sample *sample = line->sample;
	struct task *task = line->task;
	struct who *who = task ? task->user : NULL;
	struct out text;

	out_init_memory(&text);
	who_render(print, &text, line);
	if (print->chains->options.escape)
		out_escaped_str(out, (struct str){text.buf, text.n});
	else
		out_bytes(out, text.buf, text.n);
	if (task && text.n <= WHO_TEXT_MAX && !print->chains->options.escape) {
		if (!who)
			task->user = who = arena_alloc(&print->arena, sizeof(*who));
		who->comm = task->comm;
		who->pid = sample->pid;
		who->tid = sample->tid;
		who->style = printer->who_style;
		who->n = (uint8_t)text.n;
		memcpy(who->text, text.buf, text.n);
	}
	out_done(&text);
}

static inline bool who_is_known(const struct printer *printer, const struct sample *sample,
				const struct task *task)
{
	const struct who *who = task ? task->user : NULL;

	return who && who->comm == task->comm && who->pid == sample->pid &&
	       who->tid == sample->tid && who->style == printer->who_style;
}

// 6 digits, zeros in front.
static inline char *put_six(char *p, uint32_t v)
{
	memcpy(p, pairs + v / 10000 * 2, 2);
	memcpy(p + 2, pairs + v / 100 % 100 * 2, 2);
	memcpy(p + 4, pairs + v % 100 * 2, 2);
	return p + 6;
}

static inline char *put_cpu(char *p, uint32_t cpu)
{
	if (cpu > 999)
		return p + snprintf(p, sizeof("[-2147483648] "), "[%03d] ", (int)cpu);
	*p++ = '[';
	*p++ = (char)('0' + cpu / 100);
	memcpy(p, pairs + cpu % 100 * 2, 2);
	p[2] = ']';
	p[3] = ' ';
	return p + 4;
}

static inline char *put_right(char *p, uint64_t v, unsigned width)
{
	char digits[20];
	unsigned n = num_put_u64(digits, v);

	while (width-- > n)
		*p++ = ' ';
	memcpy(p, digits, sizeof(digits));
	return p + n;
}

static inline char *put_time(struct print *print, char *p, uint64_t time)
{
	uint64_t ns = time, sec;
	uint32_t fraction;

	if (print->options.relative) {
		if (!print->initial_ns)
			print->initial_ns = time;
		ns = time - print->initial_ns;
	} else if (print->options.delta) {
		ns = print->previous_ns ? time - print->previous_ns : 0;
		print->previous_ns = time;
	}
	sec = ns / 1000000000u;
	fraction = (uint32_t)(ns % 1000000000u);
	p = put_right(p, sec, 5);
	*p++ = '.';
	p = put_six(p, fraction / 1000);
	if (print->options.ns) {
		fraction %= 1000;
		*p++ = (char)('0' + fraction / 100);
		memcpy(p, pairs + fraction % 100 * 2, 2);
		p += 2;
	}
	*p++ = ':';
	*p++ = ' ';
	return p;
}

static inline char *put_period(struct printer *printer, char *p, const struct sample *sample)
{
	const struct perf_event_attr *attr = &printer->event->attr;
	uint64_t period = attr->sample_type & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ)
				  ? sample->period
				  : attr->sample_period;

	if (period != printer->period || !printer->period_n) {
		char *end = put_right(printer->period_text, period, 10);

		*end++ = ' ';
		printer->period = period;
		printer->period_n = (uint8_t)(end - printer->period_text);
	}
	memcpy(p, printer->period_text, sizeof(printer->period_text));
	return p + printer->period_n;
}

static void put_addr(struct print *print, const struct line *line)
{
	const struct printer *printer = line->printer;
	struct out *out = line->out;
	const struct sample *sample = line->sample;
	struct task *task = line->task;
	struct location where;

	put_hex16(out, sample->addr);
	if (!addr_has_symbol(&printer->event->attr) || !task)
		return;
	where = sym_resolve_guess(print->run->sym, task, sample->cpumode, sample->addr);
	if (printer->fields & FIELD_BIT(SYM)) {
		out_char(out, ' ');
		put_symbol(out, print->chains, &where, printer->fields & FIELD_BIT(SYMOFF));
	}
	if (printer->fields & FIELD_BIT(DSO)) {
		out_bytes(out, " (", 2);
		put_dso(out, print->chains, &where);
		out_char(out, ')');
	}
}

static void put_weight(struct out *out, const struct printer *printer, const struct sample *sample)
{
	bool whole = printer->event->attr.sample_type & PERF_SAMPLE_WEIGHT;

	out_u64_right(out, whole ? sample->weight : (uint32_t)sample->weight, 16);
}

static void put_cgroup(struct print *print, struct out *out, const struct sample *sample)
{
	const char *path = sym_cgroup(print->run->sym, sample->cgroup);

	out_char(out, ' ');
	out_text(out, path ? path : "unknown");
}

static void put_branches_step(struct print *print, const struct line *line, enum field field)
{
	const struct branches branches = {print->chains, line->task, line->sample, field,
					  line->printer->fields & FIELD_BIT(DSO)};

	if (line->task)
		put_branches(line->out, &branches);
}

// The line of code of an address, unless it is the one that was shown last of the task.
static void put_code(void *arg, struct out *out, const struct insn_place *place)
{
	struct print *print = arg;
	struct chains *chains = print->chains;
	struct source_frame frame;
	struct location where;
	struct str code;
	uint64_t *shown, now;

	where = sym_resolve(chains->sym, place->task, place->cpumode, place->ip);
	if (!where.dso || !source_line(chains->sources, where.dso, where.addr, &frame) || !frame.file)
		return;
	if (!print->texts)
		print->texts = source_texts_new();
	shown = map_at(&print->code_shown, place->task->index, NULL);
	now = (uint64_t)intern_text(&chains->sym->strings, frame.file) << 32 | frame.line;
	if (*shown == now || !source_texts_line(print->texts, frame.file, frame.line, &code))
		return;
	*shown = now;
	out_printf(out, "|%-8u ", frame.line);
	if (chains->options.escape)
		out_escaped_str(out, code);
	else
		out_str(out, code);
	out_char(out, '\n');
}

static void put_insns(struct print *print, const struct line *line)
{
	const struct printer *printer = line->printer;
	const struct insns_options options = {
		.out = line->out,
		.fields = printer->fields,
		.max_blocks = print->options.max_blocks,
		.after = printer->fields & FIELD_BIT(SRCCODE) ? put_code : NULL,
		.arg = print,
	};
	int err;

	if (!line->task)
		return;
	if (!print->insns)
		print->insns = insns_new(print->chains);
	err = insns_put(print->insns, line->task, line->sample, &options);
	print->err = print->err ? print->err : err;
}

static void run_step(struct print *print, const struct line *line, enum step step)
{
	struct printer *printer = line->printer;
	struct out *out = line->out;
	const struct sample *sample = line->sample;
	struct task *task = line->task;
	const struct recording_info *info = &print->run->recording->info;
	const struct chains_print chain = {print->chains, out, task, printer->ip_style};

	switch (step) {
	case STEP_WHO:
		put_who_slow(print, line);
		break;
	case STEP_CPU_LATENCY:
		out_printf(out, "%3d ", (int)sample->cpu);
		break;
	case STEP_MISC:
		put_misc(out, sample->header->type, sample->header->misc);
		break;
	case STEP_TOD:
		put_time_of_day(out, info, sample->time, print->options.ns);
		out_char(out, ' ');
		break;
	case STEP_CPU:
	case STEP_TIME:
	case STEP_PERIOD:
		break; // done by the caller
	case STEP_EVENT:
		out_str(out, printer->name);
		break;
	case STEP_FLAGS:
		out_fill(out, ' ', 24);
		break;
	case STEP_TRACE:
		if (sample->raw)
			tracepoint_print(out, printer->event->tp, sample->raw, sample->raw_size);
		break;
	case STEP_ARROW:
		out_bytes(out, " => ", 4);
		break;
	case STEP_ADDR:
		put_addr(print, line);
		break;
	case STEP_DATA_SRC:
		put_data_src(out, sample->data_src, &print->data_src_width);
		break;
	case STEP_WEIGHT:
		put_weight(out, printer, sample);
		break;
	case STEP_INS_LAT:
		out_u64_right(out, sample->weight >> 32 & 0xffff, 16);
		break;
	case STEP_RETIRE_LAT:
		out_u64_right(out, sample->weight >> 48, 16);
		break;
	case STEP_IP:
		out_char(out, ' ');
		if (task)
			chains_print_ip(&chain, sample);
		break;
	case STEP_CHAIN:
		out_char(out, '\n');
		if (task)
			chains_print(&chain, sample);
		break;
	case STEP_IREGS:
		put_registers(out, info->arch, registers_intr(printer->event, sample));
		break;
	case STEP_UREGS:
		put_registers(out, info->arch, registers_user(printer->event, sample));
		break;
	case STEP_BRSTACK:
		put_branches_step(print, line, FIELD_BRSTACK);
		break;
	case STEP_BRSTACKSYM:
		put_branches_step(print, line, FIELD_BRSTACKSYM);
		break;
	case STEP_BRSTACKOFF:
		put_branches_step(print, line, FIELD_BRSTACKOFF);
		break;
	case STEP_BPF_OUTPUT:
		put_bpf_output(out, sample->raw, sample->raw_size);
		break;
	case STEP_INSNS:
		put_insns(print, line);
		break;
	case STEP_PHYS_ADDR:
		put_hex16(out, sample->phys_addr);
		break;
	case STEP_DATA_PAGE_SIZE:
		out_char(out, ' ');
		put_page_size(out, sample->data_page_size);
		break;
	case STEP_CODE_PAGE_SIZE:
		out_char(out, ' ');
		put_page_size(out, sample->code_page_size);
		break;
	case STEP_CGROUP:
		put_cgroup(print, out, sample);
		break;
	}
}

static void run_steps(struct print *print, const struct line *line, unsigned from, unsigned to)
{
	struct printer *printer = line->printer;
	struct out *out = line->out;
	const struct sample *sample = line->sample;
	struct task *task = line->task;
	char *p = out_room(out, STEP_ROOM);

	for (unsigned i = from; i < to; i++) {
		const struct who *who;

		switch ((enum step)printer->steps[i]) {
		case STEP_WHO:
			if (!who_is_known(printer, sample, task))
				break;
			who = task->user;
			memcpy(p, who->text, WHO_TEXT_MAX);
			p += who->n;
			continue;
		case STEP_CPU:
			p = put_cpu(p, sample->cpu);
			continue;
		case STEP_TIME:
			p = put_time(print, p, sample->time);
			continue;
		case STEP_PERIOD:
			p = put_period(printer, p, sample);
			continue;
		case STEP_EVENT:
			if (!printer->name.p)
				printer->name = name_text(print, printer);
			if (printer->name.n > NAME_TEXT_MAX)
				break;
			memcpy(p, printer->name.p, NAME_TEXT_MAX);
			p += printer->name.n;
			continue;
		default:
			break;
		}
		out->n = (size_t)(p - out->buf);
		run_step(print, line, (enum step)printer->steps[i]);
		p = out_room(out, STEP_ROOM);
	}
	out->n = (size_t)(p - out->buf);
}

int print_sample(struct print *print, struct event *event, const struct sample *sample,
		 struct task *task)
{
	struct printer *printer;
	struct line line;
	int err = printer_of(print, event, &printer);

	if (err || !printer->any)
		return err;
	printer->samples++;
	line = (struct line){printer, printer->out, sample, task};
	run_steps(print, &line, 0, printer->steps_n);
	out_char(printer->out, '\n');
	if ((printer->fields & FIELD_BIT(SRCCODE)) && task)
		put_code(print, printer->out,
			 &(struct insn_place){task, sample->cpumode, sample->ip});
	return print->err;
}

int print_start(struct print *print, struct event *event, const struct sample *sample,
		struct task *task)
{
	struct printer *printer;
	int err = printer_of(print, event, &printer);

	if (!err)
		run_steps(print, &(struct line){printer, print->out, sample, task}, 0,
			  printer->start_n);
	return err;
}
