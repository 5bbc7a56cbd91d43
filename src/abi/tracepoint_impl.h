// SPDX-License-Identifier: GPL-2.0-or-later
// What the tracepoint_*.c share; nobody else includes it.
#pragma once
#include "abi/tracepoint.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include <byteswap.h>
#include <traceevent/event-parse.h>

struct tp_program;

struct tracepoint {
	struct tracepoints *all;
	struct tep_event *event;
	const char *system, *name; // the event's
	struct str format;
	uint32_t id;
	struct tp_field *fields;		    // own ones first
	const struct tep_format_field **tep_fields; // beside them
	bool *not_text; // per field: once its bytes were no text it is shown as bytes, as libtraceevent does
	size_t n_own, n_fields;
	bool failed;		    // no usable print fmt
	struct tp_program *program; // made at the first print; NULL: libtraceevent prints
	bool compiled;		    // program was tried
};

struct tracepoints {
	struct tep_handle *tep;
	struct arena arena;
	struct tp_options options;
	bool swapped;
	struct map by_id, by_name; // by_name: hash of system and name to the first with it
	VEC(struct tracepoint *) list;
	struct map printk; // address to text
	tp_resolver *resolve;
	void *resolve_arg;
	char *module_room; // borrowed text for libtraceevent
};

struct tp_field *tp_find_field(const struct tracepoint *tp, const struct tep_format_field *field);

// Where a dynamic array lies; {0, 0} when it doesn't fit.
struct tp_extent {
	uint32_t offset, size;
};
struct tp_extent tp_dynamic_extent(const struct tp_field *field, const void *raw, uint32_t raw_size);
// Number of 1, 2, 4 or 8 bytes, not sign-extended; 0 for other sizes or outside of the data.
static inline uint64_t tp_read_number(struct str raw, uint64_t offset, uint32_t size, bool swapped)
{
	const char *p = raw.p + offset;
	uint16_t v2;
	uint32_t v4;
	uint64_t v8;

	if (offset > raw.n || size > raw.n - offset)
		return 0;
	switch (size) {
	case 1:
		return (uint8_t)*p;
	case 2:
		memcpy(&v2, p, 2);
		return swapped ? bswap_16(v2) : v2;
	case 4:
		memcpy(&v4, p, 4);
		return swapped ? bswap_32(v4) : v4;
	case 8:
		memcpy(&v8, p, 8);
		return swapped ? bswap_64(v8) : v8;
	default:
		return 0;
	}
}
// The text at offset, to its NUL or the end of the data.
struct str tp_text_at(const void *raw, uint32_t raw_size, uint32_t offset);

// tracepoint_check.c: is the part before "print fmt:" well-formed, and what is its ID?
bool tp_check_fields(struct str text, uint32_t *ret_id);
// Is the print fmt one that libtraceevent can be given? `fields` is the part before.
bool tp_check_print_fmt(struct str fields, struct str fmt);

// tracepoint_compile.c: makes tp->program, or leaves it NULL.
void tp_compile(struct tracepoint *tp);
