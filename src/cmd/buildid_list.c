// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/core/command.h"
#include "cmd/core/default_input.h"
#include "flow/run.h"
#include "obj/elf.h"
#include "flow/synthesize.h"
#include "sym/idcache.h"

struct options {
	const char *input, *format;
	bool with_hits, kernel, kernel_maps, force;
	int verbose;
};

static const struct opt opts[] = {
	{.kind = OPT_FLAG,
	 .letter = 'H',
	 .name = "with-hits",
	 .offset = offsetof(struct options, with_hits),
	 .help = "Only files in which a sample lies. Reads the whole recording."},
	{.kind = OPT_FLAG,
	 .letter = 'f',
	 .name = "force",
	 .offset = offsetof(struct options, force),
	 .help = "Also when the file belongs to someone else."},
	{.kind = OPT_TEXT,
	 .letter = 'i',
	 .name = "input",
	 .offset = offsetof(struct options, input),
	 .arg = "FILE",
	 .help = "The recording (default: perf.data; - is standard input), or an ELF file whose build-id to "
		 "print."},
	{.kind = OPT_FLAG,
	 .letter = 'k',
	 .name = "kernel",
	 .offset = offsetof(struct options, kernel),
	 .help = "The build-id of the running kernel."},
	{.kind = OPT_FLAG,
	 .letter = 'm',
	 .name = "kernel-maps",
	 .offset = offsetof(struct options, kernel_maps),
	 .help = "The running kernel and its modules with their addresses."},
	{.kind = OPT_COUNT,
	 .letter = 'v',
	 .name = "verbose",
	 .offset = offsetof(struct options, verbose),
	 .help = "Tell more."},
	{.kind = OPT_TEXT,
	 .name = "format",
	 .offset = offsetof(struct options, format),
	 .arg = "text|json",
	 .help = "json: one object for each file and line."},
	OPT_END,
};

static const struct command_example examples[] = {
	{.line = "sonde buildid-list",
	 .shows = "lists the programs and libraries of perf.data",
	 .test = "sonde buildid-list -i \"$T/data/sleep.data\""},
	{.line = "sonde buildid-list -i /bin/true", .shows = "prints the build-id of a program"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_buildid_list = {
	.name = "buildid-list",
	.summary = "List the build-ids of a recording's programs and libraries",
	.usage = "sonde buildid-list [options]",
	.description = "Prints the build-id and path of each program, library and kernel part that a "
		       "recording knows of. By these ids the right symbol and debug files are found "
		       "on another machine.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

struct line {
	struct out *out;
	bool json;
};

static void put(const struct line *line, const struct build_id *id, const char *name)
{
	char hex[41];

	build_id_text(id, hex);
	if (line->json) {
		struct json j;

		json_init(&j, line->out);
		json_object(&j);
		json_field_text(&j, "build_id", id->n ? hex : NULL);
		json_field_text(&j, "path", name);
		json_end(&j);
		json_line(&j);
		return;
	}
	out_text(line->out, hex);
	if (!id->n)
		out_fill(line->out, ' ', 40);
	if (name) {
		out_char(line->out, ' ');
		out_safe(line->out, name);
	}
	out_char(line->out, '\n');
}

static void notes_of(const char *path, struct build_id *ret)
{
	auto_free char *text = NULL;
	size_t n;

	*ret = (struct build_id){0};
	if (file_read(path, 1 << 16, &text, &n) >= 0)
		ret->n = (uint8_t)notes_build_id((struct str){text, n}, false, ret->bytes);
}

static int print_kernel(const struct line *line)
{
	struct build_id id;

	if (!kernel_build_id("", &id))
		return fail(ENOENT, "the running kernel tells no build-id: /sys/kernel/notes can't be "
				    "read or has none");
	put(line, &id, line->json ? "[kernel]" : NULL);
	return 0;
}

static int print_map(void *arg, const struct perf_event_header *header)
{
	const struct line *line = arg;
	const struct record_mmap *map = (const void *)header;
	const char *name, *base, *dot;
	struct build_id id;
	char hex[41];

	if (header->type != PERF_RECORD_MMAP || !record_is_whole(header))
		return 0;
	name = record_text(header, map->filename);
	if (!name)
		return 0;
	if (name[0] == '[') {
		if (text_starts(name, "[kernel.kallsyms]"))
			name = "[kernel.kallsyms]";
		notes_of(name[1] == 'k' ? "/sys/kernel/notes" : "", &id);
	} else {
		base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
		dot = strchr(base, '.');
		auto_free char *path =
			text_dup_fmt("/sys/module/%.*s/notes/.note.gnu.build-id",
				     (int)(dot ? dot - base : (long)strlen(base)), base);
		notes_of(path, &id);
	}
	build_id_text(&id, hex);
	out_text(line->out, hex);
	out_char(line->out, ' ');
	out_hex_right(line->out, map->start, 16);
	out_char(line->out, ' ');
	out_hex_right(line->out, map->start + map->len, 16);
	out_char(line->out, ' ');
	out_safe(line->out, name);
	out_char(line->out, '\n');
	return 0;
}

static int print_kernel_maps(struct line *line)
{
	struct synth synth = {.root = "", .emit = print_map, .arg = line, .exact_end = true};
	bool hidden = false;
	int err = synth_kernel(&synth, &hidden);

	if (err >= 0 && hidden)
		return fail(EACCES, "the kernel hides its addresses (sysctl -w kernel.kptr_restrict=0 "
				    "as root shows them)");
	return err;
}

static bool print_elf(const struct line *line, const char *path)
{
	struct mapped file;
	struct elf elf;
	struct build_id id = {0};

	if (!strcmp(path, "-") || access(path, R_OK) < 0 || file_map(&file, path) < 0)
		return false;
	if (elf_init(&elf, file.p, file.n) >= 0)
		id.n = (uint8_t)elf_build_id(&elf, id.bytes);
	if (id.n)
		put(line, &id, line->json ? path : NULL);
	file_unmap(&file);
	return id.n > 0;
}

static int mark(void *arg, struct run *run, const struct hit *hit)
{
	const struct sample *sample = &hit->sample;
	struct task *task = hit->task;
	struct location location;

	if (!task)
		return 0;
	location = sym_resolve_map(run->sym, task, sample->cpumode, sample->ip);
	if (location.dso)
		location.dso->hit = true;
	return 0;
}

static bool is_repeated(const struct recording_info *info, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(info->build_ids.v[k].name, info->build_ids.v[i].name))
			return true;
	return false;
}

static int print_recording(const struct line *line, const struct options *o)
{
	struct run_options how = {.path = o->input, .force = o->force};
	static const struct run_hooks hooks = {.hit = mark};
	struct run *run;
	bool with_hits = o->with_hits;
	int err = run_open(&run, &how), status;

	if (err < 0)
		return err;
	const struct recording_info *info = &run->recording->info;
	if (run->recording->features[FEATURE_AUXTRACE].present)
		with_hits = false; // what the trace hit is not known without decoding it
	if (!run->recording->features[FEATURE_BUILD_ID].present)
		with_hits = true;
	if (with_hits || run->recording->is_pipe)
		err = run_process(run, &hooks, NULL);
	for (size_t i = 0; with_hits && i < run->sym->dsos.n; i++) {
		const struct dso *dso = run->sym->dsos.v[i];

		if (dso->hit)
			put(line, &dso->build_id, dso->long_name);
	}
	for (size_t i = 0; !with_hits && i < info->build_ids.n; i++) {
		const struct recorded_build_id *known = &info->build_ids.v[i];
		struct build_id id = {.n = known->id_size};

		memcpy(id.bytes, known->id, sizeof(id.bytes));
		if (!is_repeated(info, i))
			put(line, &id, known->name);
	}
	status = run->recording->damage ? 1 : 0;
	out_flush(line->out);
	if (status)
		warn("%s", run->recording->damage);
	run_close(run);
	return err < 0 ? err : status;
}

static int run(int argc, char **argv)
{
	struct options o = {.input = default_input(false), .format = "text"};
	int n = command_parse(&command_buildid_list, &o, argv, 0), err, end;
	struct out out;
	struct line line = {.out = &out};

	if (n < 0)
		return n;
	if (n)
		return fail(COMMAND_USAGE, "'%s' is no option; the file goes behind -i", argv[1]);
	if (strcmp(o.format, "text") && strcmp(o.format, "json"))
		return fail(COMMAND_USAGE, "there is no format '%s': text and json are known",
			    o.format);
	line.json = !strcmp(o.format, "json");
	out_init_fd(&out, STDOUT_FILENO);
	if (o.kernel)
		err = print_kernel(&line);
	else if (o.kernel_maps)
		err = print_kernel_maps(&line);
	else if (print_elf(&line, o.input))
		err = 0;
	else
		err = print_recording(&line, &o);
	end = out_close(&out, "standard output");
	return err < 0 ? err : end < 0 ? end : err;
}
