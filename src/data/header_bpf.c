// SPDX-License-Identifier: GPL-2.0-or-later
// What the header says about BPF programs, as perf prints it. Layout: struct bpf_prog_info of linux/bpf.h; its pointers are
// offsets into the bytes behind it (tools/perf/util/bpf-utils.c).
#include "base/map.h"
#include "base/out.h"
#include "data/private.h"
#include "obj/btf.h"
#include <string.h>

enum {
	INFO_ID = 4,
	INFO_NAME = 64,
	INFO_KSYMS_N = 104,
	INFO_LENGTHS_N = 108,
	INFO_KSYMS = 112,
	INFO_LENGTHS = 120,
	INFO_BTF_ID = 128,
	INFO_FUNCTION_SIZE = 132,
	INFO_FUNCTIONS = 136,
	INFO_FUNCTIONS_N = 144,
	INFO_TAGS_N = 180,
	INFO_TAGS = 184,
	INFO_SIZE = 192,
	NAME_SIZE = 16,
	TAG_SIZE = 8,
};

struct program {
	uint8_t info[INFO_SIZE]; // what an older kernel lacks is zero
	const uint8_t *data;
	uint32_t data_size;
	const struct btf *btf; // NULL: none
};

// Of FEATURE_BPF_BTF, each read when it is first asked for: programs share them.
struct types {
	struct map by_id; // index of v
	VEC(struct file_types {
		struct str bytes;
		struct btf btf;
		bool is_read;
	})
	v;
};

static uint32_t word(const struct program *program, size_t at)
{
	uint32_t v;

	memcpy(&v, program->info + at, sizeof(v));
	return v;
}

// Element i of the array whose offset stands at `at`; NULL when it isn't there.
static const uint8_t *element(const struct program *program, size_t at, uint32_t i, uint32_t size)
{
	uint64_t offset;

	memcpy(&offset, program->info + at, sizeof(offset));
	if (offset > program->data_size || size == 0 ||
	    i >= (program->data_size - (uint32_t)offset) / size)
		return NULL;
	return program->data + offset + (uint64_t)i * size;
}

static void types_init(struct types *types, const struct recording *recording)
{
	const struct feature *feature = &recording->features[FEATURE_BPF_BTF];
	struct cursor c = cursor_of(feature->data, feature->present ? feature->size : 0, false);
	uint32_t n = cursor_u32(&c);

	*types = (struct types){.by_id = {0}};
	while (n-- && !c.bad) {
		uint32_t id = cursor_u32(&c), size = cursor_u32(&c);
		const uint8_t *bytes = cursor_bytes(&c, size);
		bool is_new;
		uint64_t *at = bytes ? map_at(&types->by_id, id, &is_new) : NULL;

		if (!at || !is_new)
			continue;
		*at = types->v.n;
		vec_push(&types->v, ((struct file_types){.bytes = {(const char *)bytes, size}}));
	}
}

static void types_done(struct types *types)
{
	vec_each(struct file_types, it, &types->v)
		btf_done(&it->btf);
	vec_done(&types->v);
	map_done(&types->by_id);
}

static const struct btf *types_of(struct types *types, uint32_t id)
{
	const uint64_t *at = id ? map_find(&types->by_id, id) : NULL;
	struct file_types *file = at ? &types->v.v[*at] : NULL;

	if (!file)
		return NULL;
	if (!file->is_read)
		btf_init(&file->btf, file->bytes);
	file->is_read = true;
	return file->btf.types.n ? &file->btf : NULL;
}

static void put_name(struct out *out, const struct program *program, uint32_t i, uint32_t n)
{
	const uint8_t *tag = element(program, INFO_TAGS, i, TAG_SIZE), *function;
	const char *name = (const char *)program->info + INFO_NAME;
	uint32_t type;

	out_text(out, "bpf_prog_");
	for (size_t k = 0; tag && k < TAG_SIZE; k++)
		out_hex_zeros(out, tag[k], 2);
	if (program->btf) {
		function = i < word(program, INFO_FUNCTIONS_N)
				   ? element(program, INFO_FUNCTIONS, i,
					     word(program, INFO_FUNCTION_SIZE))
				   : NULL;
		if (!function || word(program, INFO_FUNCTION_SIZE) < 8)
			return;
		memcpy(&type, function + 4, sizeof(type));
		out_char(out, '_');
		out_safe(out, btf_name(program->btf, type));
	} else if (n > 1) {
		out_text(out, "_F");
	} else if (*name) {
		char text[NAME_SIZE + 1] = {0};

		memcpy(text, name, NAME_SIZE);
		out_char(out, '_');
		out_safe(out, text);
	}
}

static void put_program(struct out *out, const struct program *program)
{
	uint32_t n = word(program, INFO_KSYMS_N);

	if (n != word(program, INFO_TAGS_N) || n != word(program, INFO_LENGTHS_N))
		return;
	out_printf(out, "# bpf_prog_info %u:%s", word(program, INFO_ID), n == 1 ? " " : "\n");
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at = element(program, INFO_KSYMS, i, 8),
			      *length = element(program, INFO_LENGTHS, i, 4);
		uint64_t addr = 0;
		uint32_t size = 0;

		if (!at || !length)
			break;
		memcpy(&addr, at, sizeof(addr));
		memcpy(&size, length, sizeof(size));
		if (n > 1)
			out_printf(out, "# \tsub_prog %u: ", i);
		put_name(out, program, i, n);
		out_printf(out, " addr 0x%llx size %u\n", (unsigned long long)addr, size);
	}
}

void header_print_bpf(struct out *out, struct recording *recording, struct cursor *c)
{
	uint32_t n = cursor_u32(c);
	struct types types;

	types_init(&types, recording);
	// Of the other byte order perf says nothing either: what lies behind is not told apart.
	while (n-- && !c->bad && !c->swap) {
		struct program program = {0};
		uint32_t info_size = cursor_u32(c), data_size = cursor_u32(c);

		cursor_u64(c);
		const uint8_t *info = cursor_bytes(c, info_size);
		program.data = cursor_bytes(c, data_size);
		program.data_size = data_size;
		if (c->bad)
			break;
		memcpy(program.info, info, MIN(info_size, (uint32_t)INFO_SIZE));
		program.btf = types_of(&types, word(&program, INFO_BTF_ID));
		put_program(out, &program);
	}
	types_done(&types);
}
