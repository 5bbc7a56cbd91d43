// SPDX-License-Identifier: GPL-2.0-or-later
// From a file or stdin, whatever it holds.
#include "base/err.h"
#include "base/file.h"
#include "cmd/core/default_input.h"
#include "cmd/flamegraph/flamegraph.h"
#include "view/folded.h"

void stack_counts_done(struct stack_counts *counts)
{
	free(counts->events);
	free(counts->event);
	free(counts->host);
	counts->events = counts->event = counts->host = NULL;
}

void stack_counts_other(struct stack_counts *counts, struct str event)
{
	struct str rest = str_of(counts->events);

	while (rest.p) {
		struct str known = str_trim(str_cut(&rest, ','));

		if (str_eq(known, event))
			return;
	}
	char *longer = counts->events ? text_dup_fmt("%s, %.*s", counts->events, STR_FMT(event))
				      : str_dup(event);
	free(counts->events);
	counts->events = longer;
}

enum stack_format stack_format_of(struct str bytes)
{
	struct str rest = bytes;
	unsigned lines = 0, folded = 0;

	if (input_is_recording(bytes))
		return STACKS_RECORDING;
	while (rest.p && lines < 100) {
		struct str line = str_cut(&rest, '\n');

		if (memchr(line.p, 0, line.n))
			return STACKS_UNKNOWN;
		if (line.n && line.p[0] == '\t')
			return STACKS_SCRIPT;
		if (!str_trim(line).n || line.p[0] == '#')
			continue;
		lines++;
		folded += folded_is_line(line);
	}
	if (!lines)
		return STACKS_UNKNOWN;
	if (stacks_is_bpftrace(bytes) || stacks_is_dtrace(bytes))
		return STACKS_TRACER;
	return folded * 2 >= lines ? STACKS_FOLDED : STACKS_SCRIPT;
}

static void read_folded(struct flame *flame, struct str text, const struct stack_options *options,
			struct stack_counts *ret)
{
	struct folded_result result;

	folded_read(flame, text,
		    &(struct folded_options){.side = options->side, .reverse = options->reverse},
		    &result);
	ret->samples = ret->used_lines = result.lines;
	ret->bad_lines = result.bad_lines;
	ret->first_bad_line = result.first_bad_line;
}

// A picture of the smaller part would be taken for all of it.
static int check_dropped(const struct stack_counts *counts, const char *name)
{
	if (counts->bad_lines <= counts->used_lines)
		return 0;
	return fail(EINVAL,
		    "%s: %llu lines are no stacks (the first is line %llu) and only %llu are: give the recording itself, or "
		    "what perf script prints without what others print",
		    name, (unsigned long long)counts->bad_lines,
		    (unsigned long long)counts->first_bad_line,
		    (unsigned long long)counts->used_lines);
}

int stacks_from_file(struct flame *flame, const char *path, const struct stack_options *options,
		     struct stack_counts *ret)
{
	auto_close int fd = -1;
	const char *name = strcmp(path, "-") == 0 ? "stdin" : path;
	struct mapped mapped;
	char by_fd[32];
	int err;

	*ret = (struct stack_counts){0};
	if (strcmp(path, "-") == 0) {
		err = input_stdin(&fd, by_fd);
		if (err < 0)
			return err;
		path = by_fd;
		err = file_map_fd(&mapped, fd, name);
	} else {
		err = file_map(&mapped, path);
	}
	if (err < 0)
		return err;
	struct str bytes = str_after_bom((struct str){(const char *)mapped.p, mapped.n});
	enum stack_format format = stack_format_of(bytes);
	ret->ends_in_line = format >= STACKS_FOLDED && bytes.n && bytes.p[bytes.n - 1] != '\n';
	if (format == STACKS_SCRIPT)
		err = stacks_from_script(flame, bytes, options, ret);
	else if (format == STACKS_TRACER)
		stacks_from_tracer(flame, bytes, options, ret);
	else if (format == STACKS_FOLDED)
		read_folded(flame, bytes, options, ret);
	if (err >= 0 && ret->samples)
		err = check_dropped(ret, name);
	file_unmap(&mapped);
	if (format == STACKS_RECORDING)
		err = stacks_from_recording(flame, path, options, ret);
	else if (format == STACKS_UNKNOWN && !bytes.n)
		err = fail(ENODATA, "%s is empty", name);
	else if (format == STACKS_UNKNOWN)
		err = fail(EINVAL,
			   "%s is neither a recording (perf.data) nor text with stacks (folded, of perf script, bpftrace or DTrace)",
			   name);
	return err;
}
