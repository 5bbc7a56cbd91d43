// SPDX-License-Identifier: GPL-2.0-or-later
#include "obj/btf.h"
#include <errno.h>

enum {
	MAGIC = 0xeb9f,
	HEADER = 24,
	TYPE = 12,
	MOST_STEPS = 64,
	MOST_MEMBERS = 1 << 16,
	NESTING_COSTS = 256
};

static uint32_t u32_at(struct str s, uint64_t at)
{
	uint32_t v = 0;

	if (s.n >= 4 && at <= s.n - 4)
		memcpy(&v, s.p + at, 4);
	return v;
}

// The three words that each type begins with.
struct head {
	uint32_t name, info, size_or_type;
	uint64_t behind;  // offset of what follows
	struct str types; // in which it is
};

static enum btf_kind kind_of(const struct head *head)
{
	return (enum btf_kind)(head->info >> 24 & 31);
}

static uint32_t count_of(const struct head *head)
{
	return head->info & 0xffff;
}

static struct head head_of(const struct btf *btf, uint32_t id)
{
	struct head head = {0};
	uint32_t at;

	if (id < btf->first && btf->base)
		return head_of(btf->base, id);
	if (!id || id - btf->first >= btf->at.n)
		return head;
	at = btf->at.v[id - btf->first];
	head.types = btf->types;
	head.behind = at + TYPE;
	head.name = u32_at(btf->types, at);
	head.info = u32_at(btf->types, at + 4);
	head.size_or_type = u32_at(btf->types, at + 8);
	return head;
}

static uint64_t bytes_behind(const struct head *head)
{
	static const uint8_t fixed[BTF_KINDS] =
		{[BTF_INT] = 4, [BTF_ARRAY] = 12, [BTF_VAR] = 4, [BTF_DECL_TAG] = 4};
	static const uint8_t each[BTF_KINDS] =
		{[BTF_STRUCT] = 12,    [BTF_UNION] = 12,   [BTF_ENUM] = 8,
		 [BTF_FUNC_PROTO] = 8, [BTF_DATASEC] = 12, [BTF_ENUM64] = 12};

	return fixed[kind_of(head)] + (uint64_t)each[kind_of(head)] * count_of(head);
}

static bool part(struct str bytes, uint64_t at, uint64_t n, struct str *ret)
{
	if (at > bytes.n || n > bytes.n - at)
		return false;
	*ret = (struct str){bytes.p + at, n};
	return true;
}

int btf_init(struct btf *ret, struct str bytes)
{
	return btf_init_module(ret, NULL, bytes);
}

int btf_init_module(struct btf *ret, const struct btf *base, struct str bytes)
{
	struct btf btf = {.base = base};
	uint64_t header = u32_at(bytes, 4);

	if (bytes.n < HEADER || (u32_at(bytes, 0) & 0xffffff) != (MAGIC | 1 << 16) ||
	    !part(bytes, header + u32_at(bytes, 8), u32_at(bytes, 12), &btf.types) ||
	    !part(bytes, header + u32_at(bytes, 16), u32_at(bytes, 20), &btf.strings))
		return -EINVAL;
	btf.strings_n = (uint32_t)btf.strings.n;
	while (btf.strings.n && btf.strings.p[btf.strings.n - 1])
		btf.strings.n--;
	if (base)
		btf.first = base->first + (uint32_t)base->at.n;
	else
		vec_push(&btf.at, 0);
	for (uint64_t at = 0; at + TYPE <= btf.types.n;) {
		struct head head = {.info = u32_at(btf.types, at + 4)};
		uint64_t next;

		if (kind_of(&head) >= BTF_KINDS || kind_of(&head) == BTF_VOID)
			break;
		next = at + TYPE + bytes_behind(&head);
		if (next > btf.types.n)
			break;
		vec_push(&btf.at, (uint32_t)at);
		at = next;
	}
	*ret = btf;
	return 0;
}

void btf_done(struct btf *btf)
{
	vec_done(&btf->at);
}

static const char *text_at(const struct btf *btf, uint32_t at)
{
	if (btf->base && at < btf->base->strings_n)
		return text_at(btf->base, at);
	if (btf->base)
		at -= btf->base->strings_n;
	return at < btf->strings.n ? btf->strings.p + at : "";
}

uint32_t btf_real(const struct btf *btf, uint32_t id)
{
	for (int i = 0; i < MOST_STEPS; i++) {
		struct head head = head_of(btf, id);

		switch (kind_of(&head)) {
		case BTF_TYPEDEF:
		case BTF_VOLATILE:
		case BTF_CONST:
		case BTF_RESTRICT:
		case BTF_TYPE_TAG:
			id = head.size_or_type;
			break;
		case BTF_VOID:
			return 0;
		default:
			return id;
		}
	}
	return 0;
}

enum btf_kind btf_kind(const struct btf *btf, uint32_t id)
{
	struct head head = head_of(btf, id);

	return kind_of(&head);
}

const char *btf_name(const struct btf *btf, uint32_t id)
{
	return text_at(btf, head_of(btf, id).name);
}

uint32_t btf_to(const struct btf *btf, uint32_t id)
{
	struct head head = head_of(btf, id);

	if (kind_of(&head) == BTF_PTR)
		return head.size_or_type;
	return kind_of(&head) == BTF_ARRAY ? u32_at(head.types, head.behind) : 0;
}

uint64_t btf_size(const struct btf *btf, uint32_t id)
{
	uint64_t n = 1;

	for (int i = 0; i < MOST_STEPS; i++) {
		struct head head;

		id = btf_real(btf, id);
		head = head_of(btf, id);
		switch (kind_of(&head)) {
		case BTF_PTR:
			return n * 8;
		case BTF_INT:
		case BTF_STRUCT:
		case BTF_UNION:
		case BTF_ENUM:
		case BTF_ENUM64:
		case BTF_FLOAT:
			return n * head.size_or_type;
		case BTF_ARRAY:
			if (__builtin_mul_overflow(n, u32_at(head.types, head.behind + 8), &n) ||
			    n > UINT32_MAX)
				return 0;
			id = u32_at(head.types, head.behind);
			break;
		default:
			return 0;
		}
	}
	return 0;
}

bool btf_is_signed(const struct btf *btf, uint32_t id)
{
	struct head head = head_of(btf, btf_real(btf, id));

	if (kind_of(&head) == BTF_INT)
		return u32_at(head.types, head.behind) >> 24 & 1;
	return (kind_of(&head) == BTF_ENUM || kind_of(&head) == BTF_ENUM64) && head.info >> 31;
}

uint32_t btf_function(const struct btf *btf, const char *name)
{
	for (size_t i = 0; i < btf->at.n; i++) {
		struct head head = head_of(btf, btf->first + (uint32_t)i);

		if (kind_of(&head) == BTF_FUNC && !strcmp(text_at(btf, head.name), name) &&
		    btf_kind(btf, head.size_or_type) == BTF_FUNC_PROTO)
			return head.size_or_type;
	}
	return 0;
}

bool btf_param(const struct btf *btf, uint32_t prototype, uint32_t index, struct btf_param *ret)
{
	struct head head = head_of(btf, prototype);

	if (kind_of(&head) != BTF_FUNC_PROTO || index >= count_of(&head))
		return false;
	ret->name = text_at(btf, u32_at(head.types, head.behind + index * 8ull));
	ret->type = u32_at(head.types, head.behind + index * 8ull + 4);
	return true;
}

struct member_search {
	const struct btf *btf;
	struct str name;
	unsigned budget; // members that may still be looked at; made up types hold each other
};

static bool find_member(struct member_search *search, uint32_t type, struct btf_member *ret)
{
	const struct btf *btf = search->btf;
	struct head head = head_of(btf, btf_real(btf, type));
	bool has_bits = head.info >> 31;

	if (kind_of(&head) != BTF_STRUCT && kind_of(&head) != BTF_UNION)
		return false;
	for (uint32_t i = 0; i < count_of(&head) && search->budget; i++) {
		uint64_t at = head.behind + i * 12ull;
		const char *member = text_at(btf, u32_at(head.types, at));
		uint32_t of = u32_at(head.types, at + 4), offset = u32_at(head.types, at + 8);

		search->budget--;
		if (*member && str_is(search->name, member)) {
			*ret = (struct btf_member){
				.type = of,
				.bit_at = has_bits ? offset & 0xffffff : offset,
				.bits = has_bits ? offset >> 24 : 0,
			};
			return true;
		}
		if (*member)
			continue;
		search->budget -= MIN(search->budget, NESTING_COSTS);
		if (find_member(search, of, ret)) {
			ret->bit_at += has_bits ? offset & 0xffffff : offset;
			return true;
		}
	}
	return false;
}

bool btf_member(const struct btf *btf, uint32_t type, struct str name, struct btf_member *ret)
{
	struct member_search search = {btf, name, MOST_MEMBERS};

	return find_member(&search, type, ret);
}
