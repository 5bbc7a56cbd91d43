// SPDX-License-Identifier: GPL-2.0-or-later
// `perf script` text: a line that names the task and the event, lines of frames (innermost first), an empty line.
#include "base/err.h"
#include "base/time.h"
#include "cmd/flamegraph/flamegraph.h"
#include <ctype.h>

// The kernel's names of tasks have at most 15 bytes; perf pads some to 16.
enum { COMM_MAX = 15, COMM_PAD = 16 };

struct reader {
	struct flame *flame;
	const struct stack_options *options;
	struct stack_counts *counts;
	struct filter *filter;
	struct arena arena;		// names of one sample
	VEC(struct flame_frame) frames; // as they come, innermost first
	bool open, wanted;
	struct str comm, event, first_event;
	const char *cut; // where a line began that may be the first half of a head: names may hold line ends
	uint64_t period;
	struct sample sample;
};

static struct str next_word(struct str *rest)
{
	size_t i = 0;

	while (i < rest->n && isspace((unsigned char)rest->p[i]))
		i++;
	size_t from = i;
	while (i < rest->n && !isspace((unsigned char)rest->p[i]))
		i++;
	struct str word = {rest->p + from, i - from};
	*rest = (struct str){rest->p + i, rest->n - i};
	return word;
}

static bool is_number(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	}
	return s.n > 0;
}

// "1234" or "1234/1235"; -1 for tasks that had no number.
static bool parse_ids(struct str word, struct sample *ret)
{
	const char *slash = memchr(word.p, '/', word.n);
	struct str first = {word.p, slash ? (size_t)(slash - word.p) : word.n};
	struct str second = slash ? (struct str){slash + 1, word.n - first.n - 1} : first;
	uint64_t pid, tid;

	if (str_is(word, "-1") || str_is(word, "-1/-1")) {
		ret->pid = ret->tid = UINT32_MAX;
		return true;
	}
	if (!is_number(first) || !is_number(second) || num_parse_u64(first, &pid) < 0 ||
	    num_parse_u64(second, &tid) < 0)
		return false;
	ret->tid = (uint32_t)tid;
	ret->pid = (uint32_t)pid; // without a slash perf shows the thread; its process is not known
	return true;
}

static bool parse_cpu(struct str word, struct sample *ret)
{
	uint64_t cpu;

	if (word.n < 3 || word.p[0] != '[' || word.p[word.n - 1] != ']')
		return false;
	struct str digits = {word.p + 1, word.n - 2};
	while (digits.n > 1 && digits.p[0] == '0') { // not octal
		digits.p++;
		digits.n--;
	}
	if (!is_number(digits) || num_parse_u64(digits, &cpu) < 0)
		return false;
	ret->cpu = (uint32_t)cpu;
	return true;
}

// "123.456789:"
static bool parse_time(struct str word, struct sample *ret)
{
	return word.n > 2 && word.p[word.n - 1] == ':' && memchr(word.p, '.', word.n) &&
	       time_parse_sec((struct str){word.p, word.n - 1}, &ret->time) == 0;
}

static bool is_event(struct str word)
{
	return word.n > 1 && word.p[word.n - 1] == ':' &&
	       !is_number((struct str){word.p, word.n - 1});
}

// "comm PID[/TID] [CPU] TIME: PERIOD EVENT: ...". False: no such line. ret_rest: behind the event.
static bool parse_head(struct reader *reader, struct str line, struct str *ret_rest)
{
	struct str rest = line, word, found_rest = {0};
	struct sample sample = {.pid = UINT32_MAX,
				.tid = UINT32_MAX,
				.cpu = UINT32_MAX,
				.time = UINT64_MAX};
	struct sample ids = sample;
	const char *comm_end = NULL, *begin;

	reader->period = 1;
	reader->event = (struct str){0};
	word = next_word(&rest);
	if (!word.n)
		return false;
	begin = word.p;
	// The last number before the CPU, time or event is the task's; names may hold spaces and numbers.
	for (struct str after = rest; (word = next_word(&after)).n;) {
		if (parse_cpu(word, &sample) || parse_time(word, &sample) || is_event(word))
			break;
		if (parse_ids(word, &ids)) {
			comm_end = word.p;
			found_rest = after;
		} else if (comm_end) { // not a number, not known: flags ("d..1.")
			break;
		}
	}
	if (!comm_end)
		return false;
	reader->comm = str_trim((struct str){begin, (size_t)(comm_end - begin)});
	sample = ids;
	rest = found_rest;
	for (struct str after = rest; (word = next_word(&after)).n; rest = after) {
		uint64_t period;

		if (parse_cpu(word, &sample) || parse_time(word, &sample))
			continue;
		if (is_event(word)) {
			reader->event = (struct str){word.p, word.n - 1};
			rest = after;
			break;
		}
		if (is_number(word) && num_parse_u64(word, &period) == 0)
			reader->period = period;
		else if (word.p[0] == '(') // a frame has begun
			break;
	}
	reader->sample = sample;
	*ret_rest = rest;
	return true;
}

static struct str base_name(struct str path)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? (struct str){slash + 1, path.n - (size_t)(slash + 1 - path.p)} : path;
}

static enum flame_kind kind_of(struct str dso)
{
	if (str_is(dso, "inlined"))
		return FLAME_INLINED;
	if (!dso.n)
		return FLAME_PLAIN;
	if (str_is(dso, "[vdso]") || str_is(dso, "[vdso32]") || str_is(dso, "[vsyscall]") ||
	    str_is(dso, "[unknown]") || str_is(dso, "[heap]") || str_is(dso, "[stack]") ||
	    str_starts(dso, "[anon"))
		return FLAME_PLAIN;
	if (str_starts(dso, "[JIT]") || str_starts(dso, "/tmp/perf-") ||
	    memmem(dso.p, dso.n, "jitted-", 7))
		return FLAME_JIT;
	struct str name = base_name(dso);
	if (str_starts(dso, "[") || str_starts(name, "vmlinux") || memmem(name.p, name.n, ".ko", 3))
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

// "ffffffff81054fbf do_idle+0x1f ([kernel.kallsyms])"; false: no frame.
static bool parse_frame(struct reader *reader, struct str line)
{
	struct str rest = str_trim(line), word = next_word(&rest), dso = {0};
	uint64_t ip;

	// Without the tab it could be a task's name.
	if (!word.n || num_parse_hex(word, &ip) < 0 || (word.n < 3 && line.p[0] != '\t'))
		return false;
	struct str name = str_trim(rest);
	if (!name.n)
		return false;
	if (name.p[name.n - 1] ==
	    ')') { // the dso's own parentheses: " (", the last that closes at the end
		size_t i = name.n - 1, depth = 1;

		while (i && depth) {
			i--;
			depth += name.p[i] == ')';
			depth -= name.p[i] == '(';
		}
		if (!depth && (i == 0 || name.p[i - 1] == ' ')) {
			dso = (struct str){name.p + i + 1, name.n - i - 2};
			name = str_trim((struct str){name.p, i});
		}
	}
	const char *plus = memrchr(name.p, '+', name.n);
	if (plus && name.p + name.n - plus > 3 && plus[1] == '0' && plus[2] == 'x')
		name.n = (size_t)(plus - name.p);
	enum flame_kind kind = kind_of(dso);
	// The kernel's half; a caller of user code that lies there is a wrong frame pointer.
	if (ip >> 47 == 0x1ffff && (!dso.n || str_is(dso, "[unknown]")) &&
	    (!reader->frames.n || vec_last(&reader->frames).kind == FLAME_KERNEL))
		kind = FLAME_KERNEL;
	if (!name.n || str_is(name, "[unknown]")) {
		struct str file = base_name(dso);
		const char *module = kind == FLAME_KERNEL ? memmem(file.p, file.n, ".ko", 3) : NULL;

		if (module)
			file.n = (size_t)(module - file.p);
		if (str_starts(dso, "/tmp/perf-") && text_dso_is_map(file))
			name = str_of(arena_fmt(&reader->arena, "[JIT] tid %.*s", (int)(file.n - 9),
						file.p + 5));
		else if (file.n && file.p[0] != '[' && kind != FLAME_INLINED)
			name = str_of(arena_fmt(&reader->arena, "[%.*s]", STR_FMT(file)));
		else
			name = file.n && kind != FLAME_INLINED ? file : STR("[unknown]");
	}
	vec_push(&reader->frames, (struct flame_frame){name, kind});
	return true;
}

static bool event_wanted(struct reader *reader)
{
	const struct stack_options *options = reader->options;

	if (options->all_events)
		return true;
	if (options->event) {
		char *name = str_dup(reader->event);
		bool wanted = filter_event_name(name, options->event);

		free(name);
		return wanted;
	}
	if (!reader->first_event.p)
		reader->first_event = reader->event;
	return str_eq(reader->first_event, reader->event);
}

static bool is_wanted(struct reader *reader)
{
	if (!event_wanted(reader)) {
		reader->counts->other_events++;
		stack_counts_other(reader->counts, reader->event);
		return false;
	}
	bool wanted = filter_sample(reader->filter, &reader->sample);
	if (wanted && reader->options->filter.comms)
		wanted = filter_comm(reader->filter, arena_strdup(&reader->arena, reader->comm));
	reader->counts->filtered += !wanted;
	return wanted;
}

static void add_base(struct reader *reader)
{
	const struct stack_options *options = reader->options;
	struct str base = reader->comm;

	if (options->per_tid && reader->sample.pid != UINT32_MAX)
		base = str_of(arena_fmt(&reader->arena, "%.*s-%u/%u", STR_FMT(base),
					reader->sample.pid, reader->sample.tid));
	else if (options->per_pid && reader->sample.pid != UINT32_MAX)
		base = str_of(arena_fmt(&reader->arena, "%.*s-%u", STR_FMT(base), reader->sample.pid));
	if (!options->no_base)
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
		if (options->all_events && reader->event.n)
			node = flame_child(reader->flame, 0,
					   (struct flame_frame){reader->event, FLAME_PLAIN});
		for (size_t i = 0; i < n; i++)
			node = flame_child(reader->flame, node,
					   reader->frames.v[options->reverse ? i : n - 1 - i]);
		flame_add(reader->flame, node, options->side,
			  options->by_period ? (double)reader->period : 1);
		reader->counts->samples++;
	}
	reader->open = false;
	vec_clear(&reader->frames);
	arena_reset(&reader->arena);
}

// A head that may have begun in lines before: those are then no bad ones.
static bool parse_any_head(struct reader *reader, struct str line, struct str *ret_rest)
{
	const char *begin = reader->cut;
	uint64_t lines = 0;

	reader->cut = NULL;
	bool is_near = begin && line.p - begin <= COMM_MAX + COMM_PAD;

	if (is_near) {
		struct str whole = {begin, (size_t)(line.p + line.n - begin)};

		if (parse_head(reader, whole, ret_rest) && reader->comm.n <= COMM_MAX) {
			for (const char *p = begin; p < line.p; p++)
				lines += *p == '\n' && p > begin && p[-1] != '\n';
			reader->counts->bad_lines -= MIN(lines, reader->counts->bad_lines);
			return true;
		}
	}
	if (parse_head(reader, line, ret_rest))
		return true;
	reader->cut = is_near ? begin : line.p;
	return false;
}

static void read_line(struct reader *reader, struct str line, uint64_t number)
{
	struct str rest;

	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (!str_trim(line).n) {
		finish_sample(reader);
		return;
	}
	if (line.p[0] == '#' && !reader->cut)
		return;
	if (reader->open && isspace((unsigned char)line.p[0]) &&
	    (!reader->wanted || parse_frame(reader, line))) {
		struct str word = str_trim(line);
		uint64_t ip;

		word = next_word(&word);
		// A line of the next sample may begin with spaces too.
		if (reader->wanted || line.p[0] == '\t' || num_parse_hex(word, &ip) == 0)
			return;
	}
	finish_sample(reader);
	if (!parse_any_head(reader, line, &rest)) {
		if (!reader->counts->bad_lines++)
			reader->counts->first_bad_line = number;
		return;
	}
	reader->open = true;
	reader->wanted = is_wanted(reader);
	if (reader->wanted)
		parse_frame(reader,
			    rest); // samples without a call chain have their address on the same line
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
	for (uint64_t number = 1; text.p; number++)
		read_line(&reader, str_cut(&text, '\n'), number);
	finish_sample(&reader);
	if (!options->all_events && !options->event && reader.first_event.n)
		ret->event = str_dup(reader.first_event);
	vec_done(&reader.frames);
	arena_done(&reader.arena);
	filter_free(reader.filter);
	return 0;
}
