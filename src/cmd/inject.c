// SPDX-License-Identifier: GPL-2.0-or-later
// A recording with what it lacks: JIT code from jitdumps, build-ids, sleeping times.
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "cmd/core/command.h"
#include "cmd/core/output.h"
#include "cmd/inject/jit_elf.h"
#include "cmd/inject/output.h"
#include "flow/queue.h"
#include "obj/elf.h"
#include "sym/idcache.h"
#include "sym/seen.h"
#include "sym/sym.h"

struct options {
	const char *input, *output;
	bool jit, build_ids, build_ids_all, sched_stat, force;
	int verbose;
};

#define AT(member) .offset = offsetof(struct options, member)

static const struct opt opts[] = {
	{OPT_FLAG, 'b', "build-ids", AT(build_ids),
	 .help = "Put in the build-ids of the files in which a sample lies."},
	{OPT_FLAG, 0, "buildid-all", AT(build_ids_all),
	 .help = "Put in the build-ids of all files that were mapped."},
	{OPT_FLAG, 'j', "jit", AT(jit),
	 .help = "Write an ELF file jitted-PID-N.so beside the jitdump for each piece of code that a JIT compiler "
		 "made, and records that say when and where it lay. sonde's own commands don't need it: they read "
		 "jitdumps themselves."},
	{OPT_FLAG, 's', "sched-stat", AT(sched_stat),
	 .help = "Join sched_stat and sched_switch events: where tasks slept and how long."},
	{OPT_TEXT, 'i', "input", AT(input), "FILE",
	 .help = "The recording (default: -, standard input)."},
	{OPT_TEXT, 'o', "output", AT(output), "FILE",
	 .help = "Where the result goes (default: -, standard output; of a file it has to be a file)."},
	{OPT_FLAG, 'f', "force", AT(force), .help = "Also when the file belongs to someone else."},
	{OPT_COUNT, 'v', "verbose", AT(verbose), .help = "Tell more."},
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde record -o - true | sonde inject -b | sonde report -i -",
	 "adds build-ids to a recording on its way through a pipe",
	 .test = "sonde record -e cpu-clock -o - true | sonde inject -b | sonde report -i - >/dev/null"},
	{"sonde inject --jit -i perf.data -o perf.jit.data",
	 "names the code of JIT compilers for tools that can't read jitdumps",
	 .test = "sonde inject -b -i perf.data -o perf.jit.data"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_inject = {
	.name = "inject",
	.summary = "Add JIT code, build-ids or sleeping times to a recording",
	.usage = "sonde inject [options]",
	.description =
		"Reads a recording, puts in what was asked for, and writes it again, in the order of time.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

// Code that is to be told of at its time.
struct planned {
	uint64_t time;
	struct perf_event_header *record;
};

struct injector {
	const struct options *options;
	struct recording *recording;
	struct sym *sym;
	struct inject_output output;
	struct queue queue;
	VEC(struct planned) planned; // by time, from planned_at on
	size_t planned_at;
	struct map jit_pids; // host pids
	struct map switches; // pid -> copy of its last sched_switch sample
	size_t jit_dumps, jit_codes;
};

static const struct event *first_event(const struct injector *in)
{
	return in->recording->events.n ? in->recording->events.v[0] : NULL;
}

static void put_back(uint8_t *end, int16_t from_end, const void *p, size_t n)
{
	if (from_end > 0)
		memcpy(end - from_end, p, n);
}

// Where code was written to, and of which process it is.
struct code_file {
	const char *path;
	uint64_t size;
	uint32_t pid;
};

// An MMAP2 as the kernel would have written it, the trailing ids included.
static struct perf_event_header *make_mmap(const struct injector *in, const struct jit_code *code,
					   const struct code_file *file)
{
	const char *path = file->path;
	const uint32_t pid = file->pid;
	const struct event *event = first_event(in);
	const struct sample_plan *plan = &event->plan;
	size_t name_n = (strlen(path) + 8) & ~(size_t)7;
	size_t n = sizeof(struct record_mmap2) + name_n + plan->trailer_size;
	struct record_mmap2 *map = xcalloc(1, n);
	const uint32_t ids[2] = {pid, code->pid == pid ? code->tid : pid}; // of its pid namespace else
	uint64_t id = event->ids.n ? event->ids.v[0] : 0;
	uint8_t *end = (uint8_t *)map + n;
	struct stat st;

	map->header = (struct perf_event_header){.type = PERF_RECORD_MMAP2,
						 .misc = PERF_RECORD_MISC_USER,
						 .size = (uint16_t)n};
	map->pid = ids[0];
	map->tid = ids[1];
	map->start = code->addr;
	map->len = file->size;
	map->pgoff = JIT_ELF_TEXT;
	if (stat(path, &st) == 0) {
		map->maj = major(st.st_dev);
		map->min = minor(st.st_dev);
		map->ino = st.st_ino;
		map->ino_generation = 1;
	}
	map->prot = PROT_EXEC;
	map->flags = MAP_SHARED;
	memcpy(map->filename, path, strlen(path));
	put_back(end, plan->t_tid, ids, 8);
	put_back(end, plan->t_time, &code->time, 8);
	put_back(end, plan->t_id, &id, 8);
	put_back(end, plan->t_identifier, &id, 8);
	return &map->header;
}

static int by_time(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static int plan_codes(struct injector *in, const struct jitdump *dump, const char *path, uint32_t pid)
{
	const char *slash = strrchr(path, '/');
	struct map sizes = {0}; // by code index
	int err = 0;

	vec_each(const struct jit_code, code, &dump->codes) {
		auto_free char *elf =
			text_dup_fmt("%.*sjitted-%u-%llu.so", (int)(slash ? slash + 1 - path : 0),
				     path, dump->pid, (unsigned long long)code->index);
		struct code_file file = {elf, code->size, pid};

		if (!code->size || strlen(elf) > 4000)
			continue;
		if (code->kind == JIT_LOAD) {
			err = jit_elf_write(elf, dump, code, &file.size);
			if (err < 0)
				break;
			*map_at(&sizes, code->index, NULL) = file.size;
			in->jit_codes++;
		} else if (map_find(&sizes, code->index)) {
			file.size = *map_find(&sizes, code->index);
		}
		vec_push(&in->planned, (struct planned){code->time, make_mmap(in, code, &file)});
	}
	map_done(&sizes);
	if (in->planned.n > in->planned_at)
		qsort(in->planned.v + in->planned_at, in->planned.n - in->planned_at,
		      sizeof(*in->planned.v), by_time);
	return err;
}

// 1: the map was a jitdump and is not needed any more.
static int take_dump(struct injector *in, const char *path, uint32_t pid)
{
	const struct event *event = first_event(in);
	struct jitdump dump;
	struct mapped file;
	uint32_t dump_pid;
	int err;

	if (!event || !jitdump_is_path(path, &dump_pid))
		return 0;
	if (!event->attr.use_clockid || event->attr.clockid != CLOCK_MONOTONIC)
		return fail(EINVAL,
			    "when JIT code was made can't be told: record with -k mono (sonde's other "
			    "commands read %s without that)",
			    path);
	if (file_map_plain(&file, path) < 0) {
		warn("%s", err_sentence());
		err_clear();
		return 0;
	}
	if (jitdump_read(&dump, file.p, file.n) < 0 || dump.pid != dump_pid) {
		warn("%s is no jitdump of process %u", path, dump_pid);
		file_unmap(&file);
		return 0;
	}
	if (dump.damaged)
		inform("%s is damaged: what stands before is used", path);
	in->jit_dumps++;
	*map_at(&in->jit_pids, pid, NULL) = 1;
	err = dump.own_clock ? fail(ENOTSUP,
				    "%s has times of the processor's counter, which the "
				    "recording doesn't know",
				    path)
			     : plan_codes(in, &dump, path, pid);
	jitdump_done(&dump);
	file_unmap(&file);
	return err < 0 ? err : 1;
}

static bool is_jit_memory(const char *name)
{
	return text_starts(name, "//anon") || text_starts(name, "/memfd:") ||
	       text_starts(name, "/dev/zero") || text_starts(name, "/anon_hugepage");
}

// 1: the record is left out.
static int take_mmap(struct injector *in, const struct perf_event_header *header)
{
	const struct record_mmap2 *two = (const void *)header;
	const struct record_mmap *one = (const void *)header;
	bool is_two = header->type == PERF_RECORD_MMAP2;
	const char *name;

	if (!record_is_whole(header))
		return 0;
	name = record_text(header, is_two ? two->filename : one->filename);
	if (!name || !in->options->jit)
		return 0;
	if (is_jit_memory(name) && map_find(&in->jit_pids, one->pid))
		return 1;
	return take_dump(in, name, one->pid);
}

static bool is_listed(const struct recording *recording, const char *name)
{
	for (size_t i = 0; i < recording->info.build_ids.n; i++) {
		if (strcmp(recording->info.build_ids.v[i].name, name) == 0)
			return true;
	}
	return false;
}

// Of a pipe, what the header says comes with its records.
static void judge_by_host(struct injector *in)
{
	const char *recorded = in->recording->info.hostname;
	struct utsname here;

	in->sym->options.recorded_ns = in->recording->modified_ns;
	in->sym->options.same_boot = true;
	in->sym->options.same_host =
		recorded && uname(&here) == 0 && !strcmp(recorded, here.nodename);
}

static void put_build_id(struct injector *in, struct dso *dso)
{
	bool is_kernel = dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
	struct build_id id = dso->build_id;
	char path[PATH_MAX];

	if (dso->hit)
		return;
	dso->hit = true;
	if (is_listed(in->recording, dso->name))
		return;
	if (!id.n && dso->kind == DSO_KERNEL && !in->sym->options.other_machine &&
	    !kernel_build_id("", &id))
		return;
	judge_by_host(in);
	// That of another file of the name would be a lie for all who read it.
	if (!id.n && (dso->long_name[0] != '/' || !seen_own_path(in->sym, dso, path) ||
		      !file_build_id(path, &id)))
		return;
	inform("build-id of %s", dso->long_name);
	struct recorded_build_id entry = {
		.pid = -1,
		.misc = is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
		.id_size = id.n,
		.name = dso->kind == DSO_KERNEL ? "[kernel.kallsyms]" : dso->long_name,
	};
	memcpy(entry.id, id.bytes, sizeof(entry.id));
	inject_output_build_id(&in->output, &entry);
}

static void mark_hit(struct injector *in, const struct sample *sample)
{
	struct location location;

	location = sym_resolve_map(in->sym, sym_task(in->sym, sample->pid, sample->tid),
				   sample->cpumode, sample->ip);
	if (location.dso)
		put_build_id(in, location.dso);
}

// A sched_stat event says how long a task was away since its last switch: that switch, with this period.
// 1: the record is left out.
static int take_sched(struct injector *in, const struct event *event, const struct sample *sample)
{
	const char *name = event->tp ? tracepoint_name(event->tp) : "";
	const struct tp_field *pid = event->tp ? tracepoint_field(event->tp, "pid") : NULL;
	struct perf_event_header *sw;
	const struct event *sw_event;
	struct sample decoded;

	if (strcmp(name, "sched_switch") == 0) {
		free(map_find_ptr(&in->switches, sample->tid));
		map_set_ptr(&in->switches, sample->tid,
			    xmemdup(sample->header, sample->header->size));
		return 1;
	}
	if (strcmp(name, "sched_process_exit") == 0) {
		free(map_find_ptr(&in->switches, sample->tid));
		map_remove(&in->switches, sample->tid);
		return 1;
	}
	if (!text_starts(name, "sched_stat_") || !pid)
		return 0;
	sw = map_find_ptr(&in->switches, (uint32_t)tp_number(pid, sample->raw, sample->raw_size));
	sw_event = sw ? recording_event(in->recording, sw) : NULL;
	if (!sw_event || sample_decode(&sw_event->plan, sw, &decoded) < 0)
		return 1;
	if (sw_event->plan.time > 0)
		memcpy((char *)sw + sw_event->plan.time, &sample->time, 8);
	if (sw_event->plan.period > 0)
		memcpy((char *)sw + sw_event->plan.period, &sample->period, 8);
	inject_output_record(&in->output, sw);
	return 1;
}

static void put_planned(struct injector *in, uint64_t time)
{
	for (; in->planned_at < in->planned.n; in->planned_at++) {
		struct planned *planned = &in->planned.v[in->planned_at];

		if (planned->time > time)
			return;
		inject_output_record(&in->output, planned->record);
		free(planned->record);
	}
}

static int deliver(void *arg, const struct queued *queued)
{
	const struct perf_event_header *header = queued->header;
	struct injector *in = arg;
	struct sample sample;
	int drop = 0;

	if (queued->time != UINT64_MAX)
		put_planned(in, queued->time);
	if (header->type == PERF_RECORD_MMAP || header->type == PERF_RECORD_MMAP2) {
		drop = take_mmap(in, header);
	} else if (header->type == PERF_RECORD_SAMPLE && queued->event &&
		   sample_decode(&queued->event->plan, header, &sample) >= 0) {
		if (in->options->build_ids)
			mark_hit(in, &sample);
		if (in->options->sched_stat)
			drop = take_sched(in, queued->event, &sample);
	}
	if (drop < 0)
		return drop;
	sym_record(in->sym, header, queued->time);
	err_clear();
	if (!drop)
		inject_output_record(&in->output, header);
	return out_broken(&in->output.out) ? 1 : 0;
}

static uint64_t time_of(const struct event *event, const struct perf_event_header *header)
{
	struct sample sample = {.time = UINT64_MAX};

	if (header->type != PERF_RECORD_SAMPLE) {
		sample_decode_trailer(&event->plan, header, &sample);
		return event->plan.t_time > 0 ? sample.time : UINT64_MAX;
	}
	if (event->plan.time < 0 || event->plan.time + 8 > header->size)
		return UINT64_MAX;
	memcpy(&sample.time, (const char *)header + event->plan.time, 8);
	return sample.time;
}

static int take(struct injector *in, const struct record *record)
{
	const struct perf_event_header *header = record->header;
	struct event *event;
	uint64_t time;

	if (header->type == RECORD_FINISHED_ROUND)
		return queue_round(&in->queue, deliver, in);
	if (header->type == RECORD_AUXTRACE || header->type == RECORD_AUXTRACE_INFO)
		return fail(ENOTSUP,
			    "the recording holds a hardware trace, which inject can't carry over");
	if (header->type >= RECORD_HEADER_ATTR) {
		inject_output_record(&in->output, header);
		return 0;
	}
	event = recording_event(in->recording, header);
	time = event ? time_of(event, header) : UINT64_MAX;
	if (!time || time == UINT64_MAX)
		return deliver(in, &(struct queued){UINT64_MAX, header, record->offset, event});
	queue_add(&in->queue, time, record, event);
	return 0;
}

static int process(struct injector *in)
{
	struct record record;
	size_t records = 0;
	int err = 0;

	while (!err && recording_next(in->recording, &record) > 0) {
		err = take(in, &record);
		records++;
	}
	// What was there is worth more than nothing.
	if (!err && !records && in->recording->damage)
		return fail(EINVAL, "%s; there is nothing to write", in->recording->damage);
	if (!err)
		err = queue_finish(&in->queue, deliver, in);
	if (err < 0)
		return err;
	put_planned(in, UINT64_MAX);
	for (size_t i = 0; in->options->build_ids_all && i < in->sym->dsos.n; i++)
		put_build_id(in, in->sym->dsos.v[i]);
	return 0;
}

static int inject(struct injector *in)
{
	const struct options *o = in->options;
	struct recording_options reading = {.force = o->force};
	const struct sym_options none = {0};
	struct map_slot slot;
	int err = recording_open(&in->recording, o->input, &reading);

	if (err < 0)
		return err;
	if (in->recording->swap)
		err = fail(ENOTSUP, "%s is of the other byte order, which inject can't write",
			   o->input);
	if (err >= 0)
		err = sym_new(&in->sym, &none);
	if (err >= 0)
		err = inject_output_open(&in->output, in->recording, o->output);
	if (err >= 0) {
		err = inject_output_close(&in->output, process(in));
	}
	if (err >= 0 && in->recording->damage) {
		warn("%s", in->recording->damage);
		err = 1;
	}
	inform("%zu jitdump%s with %zu piece%s of code", in->jit_dumps,
	       in->jit_dumps == 1 ? "" : "s", in->jit_codes, in->jit_codes == 1 ? "" : "s");
	for (; in->planned_at < in->planned.n; in->planned_at++)
		free(in->planned.v[in->planned_at].record);
	vec_done(&in->planned);
	for (size_t i = 0; map_next(&in->switches, &i, &slot);)
		free((void *)(uintptr_t)slot.value);
	map_done(&in->switches);
	map_done(&in->jit_pids);
	queue_done(&in->queue);
	sym_free(in->sym);
	recording_close(in->recording);
	return err;
}

static int run(int argc, char **argv)
{
	struct options o = {.input = "-", .output = "-"};
	struct injector in = {.options = &o};
	int n = command_parse(&command_inject, &o, argv, 0);

	if (n < 0)
		return n;
	if (n)
		return fail(COMMAND_USAGE, "'%s' is no option; the recording goes behind -i",
			    argv[1]);
	if (strcmp(o.output, "-") && (n = output_check_input(o.output, o.input)) < 0)
		return n;
	log_set_level(o.verbose);
	return inject(&in);
}
