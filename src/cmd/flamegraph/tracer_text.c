// SPDX-License-Identifier: GPL-2.0-or-later
// Stacks that bpftrace and DTrace print, counted: a block of frames (innermost first) and a number.
#include "cmd/flamegraph/flamegraph.h"
#include <ctype.h>

struct block {
	struct flame *flame;
	const struct stack_options *options;
	struct stack_counts *counts;
	VEC(struct flame_frame) frames; // innermost first
	VEC(struct flame_frame) keys; // what the map is also told apart by: names of commands, ...
	uint64_t lines;
};

static bool is_count(struct str s, uint64_t *ret)
{
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit((unsigned char)s.p[i]))
			return false;
	}
	return s.n && num_parse_u64(s, ret) == 0;
}

// Without "+12", "+0x1f" at its end, and without an address before it (bpftrace's mode perf).
static struct str frame_name(struct str line)
{
	struct str name = str_trim(line), rest = name, word = str_cut(&rest, ' ');
	const char *plus = name.n ? memrchr(name.p, '+', name.n) : NULL;
	uint64_t ignored;

	if (plus && plus > name.p && plus + 1 < name.p + name.n) {
		struct str offset = {plus + 1, (size_t)(name.p + name.n - plus - 1)};

		if (is_count(offset, &ignored) ||
		    (str_starts(offset, "0x") && num_parse_hex(offset, &ignored) == 0))
			name.n = (size_t)(plus - name.p);
	}
	if (rest.n && word.n >= 8 && num_parse_hex(word, &ignored) == 0 && rest.p < name.p + name.n)
		name = str_trim((struct str){rest.p, (size_t)(name.p + name.n - rest.p)});
	return name;
}

static void clear(struct block *block)
{
	vec_clear(&block->frames);
	vec_clear(&block->keys);
	block->lines = 0;
}

static void add_block(struct block *block, uint64_t count)
{
	const struct stack_options *options = block->options;
	size_t n = block->frames.n, keys = options->no_base ? 0 : block->keys.n;
	uint32_t node = 0;

	for (size_t i = 0; i < keys && !options->reverse; i++)
		node = flame_child(block->flame, node, block->keys.v[i]);
	for (size_t i = 0; i < n; i++)
		node = flame_child(block->flame, node,
				   block->frames.v[options->reverse ? i : n - 1 - i]);
	for (size_t i = keys; i-- > 0 && options->reverse;)
		node = flame_child(block->flame, node, block->keys.v[i]);
	flame_add(block->flame, node, options->side, (double)count);
	block->counts->samples += count;
	block->counts->used_lines += block->lines;
	clear(block);
}

static void drop_block(struct block *block, uint64_t number)
{
	if (block->lines && !block->counts->bad_lines)
		block->counts->first_bad_line =
			number > block->lines ? number - block->lines : number;
	block->counts->bad_lines += block->lines;
	clear(block);
}

static void add_keys(struct block *block, struct str text)
{
	while (text.p) {
		struct str key = str_trim(str_cut(&text, ','));

		if (key.n)
			vec_push(&block->keys, (struct flame_frame){key, FLAME_PLAIN});
	}
}

// Where a map's element begins: "@[", "@name[bash, ".
static const char *map_begin(struct str line)
{
	size_t i = 1;

	if (!str_starts(line, "@"))
		return NULL;
	while (i < line.n && (isalnum((unsigned char)line.p[i]) || line.p[i] == '_'))
		i++;
	return i < line.n && line.p[i] == '[' ? line.p + i : NULL;
}

// "]: 12", ", bash]: 12": the end of a map's element, the value a count.
static bool map_end(struct str line, struct str *ret_keys, uint64_t *ret_count, bool *ret_is_count)
{
	const char *end = line.n ? memmem(line.p, line.n, "]: ", 3) : NULL;

	for (const char *next = end; next;
	     next = memmem(next + 1, (size_t)(line.p + line.n - next - 1), "]: ", 3))
		end = next;
	if (!end)
		return false;
	*ret_keys = (struct str){line.p, (size_t)(end - line.p)};
	*ret_is_count = is_count(str_trim((struct str){end + 3, (size_t)(line.p + line.n - end - 3)}),
				 ret_count);
	return true;
}

static void bpftrace_line(struct block *block, struct str line, uint64_t number)
{
	const char *begin = map_begin(line);
	struct str keys, rest;
	uint64_t count;
	bool counted;

	if (begin) {
		if (block->lines)
			drop_block(block, number);
		block->lines = 1;
		rest = (struct str){begin + 1, (size_t)(line.p + line.n - begin - 1)};
		if (!map_end(rest, &keys, &count, &counted)) {
			add_keys(block, rest);
			return;
		}
		line = rest; // all in one line: no stack was there
	} else if (!block->lines) {
		if (str_trim(line).n && !str_starts(line, "Attaching ")) {
			block->lines = 1;
			drop_block(block, number + 1);
		}
		return;
	} else {
		block->lines++;
	}
	if (map_end(line, &keys, &count, &counted)) {
		add_keys(block, keys);
		if (counted)
			add_block(block, count);
		else
			drop_block(block, number + 1);
	} else if (line.n && isspace((unsigned char)line.p[0])) {
		vec_push(&block->frames, (struct flame_frame){frame_name(line), FLAME_PLAIN});
	} else {
		add_keys(block, line); // ",": between two stacks
	}
}

static void dtrace_line(struct block *block, struct str line, uint64_t number)
{
	struct str text = str_trim(line);
	uint64_t count;

	if (!text.n) {
		drop_block(block, number);
		return;
	}
	block->lines++;
	if (is_count(text, &count)) {
		if (block->frames.n || block->keys.n)
			add_block(block, count);
		else
			drop_block(block, number + 1);
		return;
	}
	struct str name = frame_name(text);
	bool is_place = memchr(text.p, '`', text.n) || str_starts(text, "0x") || name.n != text.n;
	// What an aggregation is also told apart by stands before the frames.
	if (!is_place && !block->frames.n)
		vec_push(&block->keys, (struct flame_frame){name, FLAME_PLAIN});
	else
		vec_push(&block->frames, (struct flame_frame){name, FLAME_PLAIN});
}

bool stacks_is_bpftrace(struct str text)
{
	for (unsigned lines = 0; text.p && lines < 100; lines++) {
		if (map_begin(str_cut(&text, '\n')))
			return true;
	}
	return false;
}

bool stacks_is_dtrace(struct str text)
{
	bool in_frames = false;
	uint64_t count;

	for (unsigned lines = 0; text.p && lines < 1000; lines++) {
		struct str line = str_cut(&text, '\n'), trimmed = str_trim(line);

		if (!trimmed.n || !isspace((unsigned char)line.p[0])) {
			in_frames = false;
			continue;
		}
		if (in_frames && is_count(trimmed, &count))
			return true;
		in_frames |= memchr(trimmed.p, '`', trimmed.n) != NULL;
	}
	return false;
}

void stacks_from_tracer(struct flame *flame, struct str text, const struct stack_options *options,
			struct stack_counts *ret)
{
	struct block block = {.flame = flame, .options = options, .counts = ret};
	bool is_bpftrace = stacks_is_bpftrace(text);
	uint64_t number = 1;

	for (; text.p; number++) {
		struct str line = str_cut(&text, '\n');

		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (is_bpftrace)
			bpftrace_line(&block, line, number);
		else
			dtrace_line(&block, line, number);
	}
	drop_block(&block, number);
	vec_done(&block.frames);
	vec_done(&block.keys);
}
