// SPDX-License-Identifier: GPL-2.0-or-later
// `perf script` text: a line that names the task and the event, lines of frames (innermost first), an empty line.
#include "base/err.h"
#include "obj/demangle.h"
#include "cmd/flamegraph/flamegraph.h"
#include "cmd/flamegraph/script_layout.h"
#include <ctype.h>

// The kernel's names of tasks have at most 15 bytes; perf pads some to 16.
enum { COMM_MAX = 15, COMM_PAD = 16 };

struct reader {
	struct flame *flame;
	const struct stack_options *options;
	struct stack_counts *counts;
	struct filter *filter;
	struct script_layout layout;
	struct arena arena;		// names of one sample
	VEC(struct flame_frame) frames; // as they come, innermost first
	bool open, wanted;
	bool nowhere;  // the last frame was in no map
	bool in_chain; // frames are those of lines, not the one of the head's line
	struct script_head head;
	struct str first_event;
	const char *cut; // where a line began that may be the first half of a head: names may hold line ends
};

static struct str base_name(struct str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? (struct str){slash + 1, path.n - (size_t)(slash + 1 - path.p)} : path;
}

static bool is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	}
	return s.n > 0;
}

// "[ext4]" is a module, "[heap]" is not: the address tells. 32-bit kernels begin at 2 GB or above.
static bool is_kernel_address(uint64_t ip)
{
	return ip >> 63 || (ip >> 32 == 0 && ip >> 31);
}

// perf reads the vdso from a temporary file.
static bool is_vdso_copy(struct str dso)
{
	return str_starts(dso, "/tmp/perf-vdso");
}

static enum flame_kind kind_of(struct str dso, uint64_t ip)
{
	if (str_is(dso, "inlined"))
		return FLAME_INLINED;
	if (is_vdso_copy(dso))
		return FLAME_PLAIN;
	if (str_starts(dso, "[JIT") || str_starts(dso, "/tmp/perf-") ||
	    (dso.n && memmem(dso.p, dso.n, "jitted-", 7)))
		return FLAME_JIT;
	if (str_starts(dso, "[kernel.") || str_starts(dso, "[guest.kernel."))
		return FLAME_KERNEL;
	if (!dso.n || str_is(dso, "[unknown]"))
		return FLAME_PLAIN;
	struct str name = base_name(dso);
	if (str_starts(dso, "["))
		return is_kernel_address(ip) && !memchr(dso.p, ' ', dso.n) &&
				       !str_starts(dso, "[vsyscall]")
			       ? FLAME_KERNEL
			       : FLAME_PLAIN;
	if (str_starts(name, "vmlinux") || memmem(name.p, name.n, ".ko", 3))
		return FLAME_KERNEL;
	if (str_starts(dso, "bpf_prog_"))
		return FLAME_KERNEL;
	return FLAME_PLAIN;
}

// "perf-1234.map"
static bool text_dso_is_map(struct str file)
{
	return file.n > 9 && str_starts(file, "perf-") &&
	       is_number((struct str){file.p + 5, file.n - 9}) &&
	       memcmp(file.p + file.n - 4, ".map", 4) == 0;
}

// Cuts the file's parentheses off: " (", the last that close at the end.
static struct str cut_dso(struct str *name)
{
	struct str dso = {0};

	if (!name->n || name->p[name->n - 1] != ')')
		return dso;
	size_t i = name->n - 1, depth = 1;
	while (i && depth) {
		i--;
		depth += name->p[i] == ')';
		depth -= name->p[i] == '(';
	}
	if (depth || (i && name->p[i - 1] != ' '))
		return dso;
	dso = (struct str){name->p + i + 1, name->n - i - 2};
	*name = str_trim((struct str){name->p, i});
	return dso;
}

// Where there is no symbol.
static struct str name_by_file(struct reader *reader, struct str dso, enum flame_kind kind)
{
	struct str file = base_name(dso);
	const char *module = kind == FLAME_KERNEL && file.n ? memmem(file.p, file.n, ".ko", 3) : NULL;

	if (is_vdso_copy(dso))
		return STR("[vdso]");
	if (module)
		file.n = (size_t)(module - file.p);
	if (str_starts(dso, "/tmp/perf-") && text_dso_is_map(file))
		return str_of(
			arena_fmt(&reader->arena, "[JIT] tid %.*s", (int)(file.n - 9), file.p + 5));
	if (file.n && file.p[0] != '[' && kind != FLAME_INLINED)
		return str_of(arena_fmt(&reader->arena, "[%.*s]", STR_FMT(file)));
	return file.n && kind != FLAME_INLINED ? file : STR("[unknown]");
}

// What stands behind a frame's address: "do_idle+0x1f ([kernel.kallsyms])"; each of the two may be missing.
static void add_frame(struct reader *reader, uint64_t ip, struct str rest)
{
	struct str name = str_trim(rest), dso = cut_dso(&name);
	enum flame_kind kind = kind_of(dso, ip);
	// The kernel's half; a caller of user code that lies there is a wrong frame pointer.
	if (ip >> 47 == 0x1ffff && (!dso.n || str_is(dso, "[unknown]")) &&
	    (!reader->frames.n || vec_last(&reader->frames).kind == FLAME_KERNEL))
		kind = FLAME_KERNEL;
	if (!name.n && !dso.n) { // only addresses were printed
		name = str_of(arena_fmt(&reader->arena, "0x%llx", (unsigned long long)ip));
	} else {
		// Of a row of addresses that lie in no map one stands for all, as of a recording.
		if (str_is(dso, "[unknown]") && str_is(name, "[unknown]") && reader->nowhere)
			return;
		const char *plus = name.n ? memrchr(name.p, '+', name.n) : NULL;
		if (plus && name.p + name.n - plus > 3 && plus[1] == '0' && plus[2] == 'x')
			name.n = (size_t)(plus - name.p);
		name = name_without_version(name);
		if (!name.n || str_is(name, "[unknown]"))
			name = name_by_file(reader, dso, kind);
	}
	reader->nowhere = str_is(dso, "[unknown]") && str_is(name, "[unknown]");
	vec_push(&reader->frames, (struct flame_frame){name, kind});
}

static bool event_wanted(struct reader *reader)
{
	const struct stack_options *options = reader->options;

	if (options->all_events)
		return true;
	if (options->event) {
		char *name = str_dup(reader->head.event);
		bool wanted = filter_event_name(name, options->event);

		free(name);
		return wanted;
	}
	if (!reader->first_event.p)
		reader->first_event = reader->head.event;
	return str_eq(reader->first_event, reader->head.event);
}

static bool is_wanted(struct reader *reader)
{
	if (!event_wanted(reader)) {
		reader->counts->other_events++;
		stack_counts_other(reader->counts, reader->head.event);
		return false;
	}
	bool wanted = filter_sample(reader->filter, &reader->head.sample);
	if (wanted && reader->options->filter.comms)
		wanted = filter_comm(reader->filter, arena_strdup(&reader->arena, reader->head.comm));
	reader->counts->filtered += !wanted;
	return wanted;
}

static void add_base(struct reader *reader)
{
	const struct stack_options *options = reader->options;
	const struct sample *sample = &reader->head.sample;
	struct str base = reader->head.comm;
	bool has_ids = sample->pid != UINT32_MAX;

	if (options->per_tid && has_ids)
		base = str_of(arena_fmt(&reader->arena, "%.*s-%u/%u", STR_FMT(base), sample->pid,
					sample->tid));
	else if (options->per_pid && has_ids)
		base = str_of(arena_fmt(&reader->arena, "%.*s-%u", STR_FMT(base), sample->pid));
	if (!options->no_base && base.n)
		vec_push(&reader->frames, (struct flame_frame){base, FLAME_PLAIN});
}

static void finish_sample(struct reader *reader)
{
	const struct stack_options *options = reader->options;

	if (reader->open && reader->wanted) {
		uint32_t node = 0;
		size_t n;

		add_base(reader);
		n = reader->frames.n;
		if (options->all_events && reader->head.event.n)
			node = flame_child(reader->flame, 0,
					   (struct flame_frame){reader->head.event, FLAME_PLAIN});
		for (size_t i = 0; i < n; i++)
			node = flame_child(reader->flame, node,
					   reader->frames.v[options->reverse ? i : n - 1 - i]);
		flame_add(reader->flame, node, options->side,
			  options->by_period ? (double)reader->head.period : 1);
		reader->counts->samples++;
	}
	reader->open = reader->in_chain = reader->nowhere = false;
	vec_clear(&reader->frames);
	arena_reset(&reader->arena);
}

static bool parse_head(struct reader *reader, struct str line, bool sure_only)
{
	for (unsigned i = 0; i < reader->layout.n; i++) {
		unsigned fields = reader->layout.heads[i];

		if ((!sure_only || script_fields_are_sure(fields)) &&
		    script_head_parse(fields, line, &reader->head))
			return true;
	}
	return false;
}

// A name may begin as comments and records of other kinds do.
static bool is_sure_head(struct reader *reader, struct str line)
{
	struct script_head head;

	for (unsigned i = 0; i < reader->layout.n; i++) {
		unsigned fields = reader->layout.heads[i];

		if (script_fields_are_sure(fields) && script_head_parse(fields, line, &head))
			return !str_starts(head.event, "PERF_RECORD_") &&
			       !str_starts(str_trim(head.rest), "PERF_RECORD_");
	}
	return false;
}

static bool is_followed_by_frame(struct reader *reader, struct str text)
{
	struct str next = str_cut(&text, '\n'), rest;
	uint64_t ip;

	return script_frame_line(&reader->layout, next, &ip, &rest);
}

// A head that may have begun in lines before: those are then no bad ones.
static bool parse_cut_head(struct reader *reader, struct str line, struct str after)
{
	const char *begin = reader->cut;
	uint64_t lines = 0, ip;
	struct str rest;

	reader->cut = NULL;
	bool is_near = begin && line.p - begin <= COMM_MAX + COMM_PAD;

	if (is_near) {
		struct str whole = {begin, (size_t)(line.p + line.n - begin)};

		if (parse_head(reader, whole, true) && reader->head.comm.n <= COMM_MAX) {
			for (const char *p = begin; p < line.p; p++)
				lines += *p == '\n' && p > begin && p[-1] != '\n';
			reader->counts->bad_lines -= MIN(lines, reader->counts->bad_lines);
			return true;
		}
	}
	if (parse_head(reader, line, true))
		return true;
	// Fields that anything could be: only where a sample begins.
	if (!reader->in_chain && parse_head(reader, line, false) &&
	    ((!reader->open && is_followed_by_frame(reader, after)) ||
	     script_frame_find(reader->head.rest, &ip, &rest)))
		return true;
	reader->cut = is_near ? begin : line.p;
	return false;
}

// Lines of a sample that are no frames: of -F srcline and what script_word_is_detail knows.
static bool is_detail(struct str line)
{
	struct str left = str_trim(line), word = str_cut(&left, ' ');

	if (str_starts(line, "  ") && line.n > 2 && !isspace((unsigned char)line.p[2]))
		return true;
	if (script_word_is_detail(word))
		return true;
	const char *colon = word.n && !left.p ? memrchr(word.p, ':', word.n) : NULL;
	return colon && is_number((struct str){colon + 1, (size_t)(word.p + word.n - colon - 1)});
}

static void begin_sample(struct reader *reader)
{
	reader->open = true;
	reader->wanted = is_wanted(reader);
}

// Of texts that have no heads.
static void begin_headless(struct reader *reader)
{
	reader->head = (struct script_head){.period = 1,
					    .sample = {.pid = UINT32_MAX,
						       .tid = UINT32_MAX,
						       .cpu = UINT32_MAX,
						       .time = UINT64_MAX}};
	begin_sample(reader);
}

static bool read_frame(struct reader *reader, struct str line)
{
	const struct script_layout *layout = &reader->layout;
	struct script_head head = reader->head;
	struct str rest;
	uint64_t ip;

	if (!script_frame_line(layout, line, &ip, &rest))
		return false;
	if (!layout->n && !layout->has_blank_lines) // each line is a sample
		finish_sample(reader);
	if (!layout->n && !reader->open)
		begin_headless(reader);
	if (!reader->open)
		return false;
	if (layout->indent != FRAMES_TAB && parse_head(reader, line, true)) {
		reader->head = head;
		return false; // names of tasks may look like addresses
	}
	if (!reader->in_chain) {
		vec_clear(&reader->frames);
		reader->nowhere = false;
	}
	reader->in_chain = true;
	if (reader->wanted)
		add_frame(reader, ip, rest);
	return true;
}

static void read_line(struct reader *reader, struct str line, struct str after, uint64_t number)
{
	struct str rest;
	uint64_t ip;

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (!str_trim(line).n) {
		finish_sample(reader);
		return;
	}
	if (line.p[0] == '#' && !reader->cut && (line.n == 1 || line.p[1] == ' ') &&
	    !is_sure_head(reader, line))
		return;
	if (read_frame(reader, line)) {
		reader->counts->used_lines++;
		return;
	}
	if (script_is_record(&reader->layout, line) && !is_sure_head(reader, line)) {
		finish_sample(reader);
		return;
	}
	struct script_head head = reader->head;
	if (parse_cut_head(reader, line, after)) {
		struct script_head begun = reader->head;

		reader->head = head;
		finish_sample(reader);
		reader->head = begun;
		begin_sample(reader);
		if (reader->wanted && script_frame_find(reader->head.rest, &ip, &rest))
			add_frame(reader, ip, rest);
		reader->counts->used_lines++;
		return;
	}
	reader->head = head;
	if (reader->open && is_detail(line)) {
		reader->cut = NULL;
		return;
	}
	if (!reader->counts->bad_lines++)
		reader->counts->first_bad_line = number;
}

// The last line, which does not end: the sample that it belongs to, or would begin, is left out.
static void read_cut_line(struct reader *reader, struct str line)
{
	const bool is_frame = line.p[0] == '\t' || (reader->in_chain && line.p[0] == ' ');

	if (!reader->layout.has_blank_lines && !is_frame)
		finish_sample(reader);
	reader->wanted = false;
	reader->counts->damaged = true;
}

int stacks_from_script(struct flame *flame, struct str text, const struct stack_options *options,
		       struct stack_counts *ret)
{
	struct reader reader = {.flame = flame, .options = options, .counts = ret};
	struct recording none = {
		.path = "perf script text"}; // percentages and CPUs of a recording are not to be had
	int err = filter_new(&reader.filter, &options->filter, &none);

	if (err < 0)
		return err;
	script_layout_find(&reader.layout, text);
	for (uint64_t number = 1; text.p; number++) {
		struct str line = str_cut(&text, '\n');

		if (!text.p && line.n && line.p[line.n - 1] != ')') // of a file: then it is whole
			read_cut_line(&reader, line);
		else
			read_line(&reader, line, text, number);
	}
	finish_sample(&reader);
	if (!options->all_events && !options->event && reader.first_event.n)
		ret->event = str_dup(reader.first_event);
	vec_done(&reader.frames);
	arena_done(&reader.arena);
	filter_free(reader.filter);
	return 0;
}
