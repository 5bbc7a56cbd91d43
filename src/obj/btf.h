// SPDX-License-Identifier: GPL-2.0-or-later
// BTF, the kernel's short form of its own types: functions with their parameters, members of structures. Every offset is
// checked; nothing is copied. Layout: Documentation/bpf/btf.rst.
#pragma once
#include "base/vec.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum btf_kind {
	BTF_VOID,
	BTF_INT,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_KINDS
};

struct btf {
	struct str types, strings; // strings end with NUL
	VEC(uint32_t) at;	   // by id - first: offset in types; id 0 is void
	const struct btf *base;	   // a module's: the kernel's, whose ids and strings come first
	uint32_t first, strings_n;
};

// Of this machine's byte order. -EINVAL (no sentence) when it is no BTF; types behind a broken one are left out. 5 ns a type.
int btf_init(struct btf *ret, struct str bytes);
// Of a module (/sys/kernel/btf/MODULE), which goes on where the kernel's own ends; `base` has to live as long.
int btf_init_module(struct btf *ret, const struct btf *base, struct str bytes);
void btf_done(struct btf *btf);

// Without typedefs, const and the like; ids that make no sense are void.
uint32_t btf_real(const struct btf *btf, uint32_t id);
enum btf_kind btf_kind(const struct btf *btf, uint32_t id);
const char *btf_name(const struct btf *btf, uint32_t id); // "" when there is none
uint32_t btf_to(const struct btf *btf, uint32_t id);	  // what a pointer or array is of
uint64_t btf_size(const struct btf *btf, uint32_t id);	  // bytes; 0: not known
bool btf_is_signed(const struct btf *btf, uint32_t id);

// The prototype of a function, of a module only of its own; 0: there is none. As long as there are types.
uint32_t btf_function(const struct btf *btf, const char *name);
struct btf_param {
	const char *name;
	uint32_t type;
};
bool btf_param(const struct btf *btf, uint32_t prototype, uint32_t index, struct btf_param *ret);

// A member, also in nameless ones inside.
struct btf_member {
	uint32_t type;
	uint64_t bit_at; // from the start
	uint32_t bits;	 // of a bit field; 0: it is none
};
bool btf_member(const struct btf *btf, uint32_t type, struct str name, struct btf_member *ret);
