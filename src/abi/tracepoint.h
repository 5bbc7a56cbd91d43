// SPDX-License-Identifier: GPL-2.0-or-later
// Tracepoint formats (tracefs events/SYS/NAME/format, or the copy in a recording): fields as
// offsets, and a printer compiled from the print fmt. libtraceevent parses; what our compiled printer
// does not know is printed by it, so the text always equals libtraceevent's.
#pragma once
#include "base/out.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

struct tracepoints; // all formats of one system or recording
struct tracepoint;

struct tp_field {
	const char *name; // borrowed
	uint16_t offset, size, array_len, element_size;
	bool is_signed, is_string, is_pointer, is_array, is_dynamic /* __data_loc */, is_relative,
		is_long;
	bool is_symbolic_ip; // an address of kernel code, by its name (ip, call_site, ...)
	bool is_swapped;     // of the other byte order
	const char *type;    // as in the format file
};

struct tp_options {
	bool big_endian;
	uint8_t long_size; // 4 or 8
	uint32_t page_size;
	bool keep_formats;
};

struct tracepoints *tracepoints_new(const struct tp_options *options);
void tracepoints_free(struct tracepoints *all);
// Parses one format file; -EINVAL with a sentence.
int tracepoints_add(struct tracepoints *all, const char *system, struct str format);
// The trace_printk formats of a recording's tracing data (lines of 0xADDRESS : "text\n"): a pointer that a print
// shows as text is one of their addresses. 0.
int tracepoints_add_printk(struct tracepoints *all, struct str text);
// Its kernel symbols and saved command names: not used, as perf doesn't; addresses are resolved by the resolver
// below, and no print fmt shows a command that is not in its fields. 0.
int tracepoints_add_kallsyms(struct tracepoints *all, struct str text);
int tracepoints_add_cmdlines(struct tracepoints *all, struct str text);
struct tracepoint *tracepoints_by_id(const struct tracepoints *all, uint32_t id);
struct tracepoint *tracepoints_by_name(const struct tracepoints *all, const char *system,
				       const char *name);
// Resolves kernel addresses in prints (%pS, %ps); NULL result: printed as a number.
typedef const char *tp_resolver(void *arg, uint64_t addr, uint64_t *ret_start,
				const char **ret_module);
void tracepoints_set_resolver(struct tracepoints *all, tp_resolver *resolve, void *arg);

const char *tracepoint_system(const struct tracepoint *tp);
const char *tracepoint_name(const struct tracepoint *tp);
uint32_t tracepoint_id(const struct tracepoint *tp);
struct str tracepoint_format(
	const struct tracepoint *tp); // as it was given; empty without tp_options.keep_formats
// Is the print fmt printed by our compiled steps (and not by libtraceevent)?
bool tracepoint_is_compiled(const struct tracepoint *tp);
size_t tracepoint_fields(const struct tracepoint *tp,
			 const struct tp_field **ret); // own fields, then common_*
const struct tp_field *tracepoint_field(const struct tracepoint *tp, const char *name);

// A number field's value, sign-extended when it is signed; 0 when the raw data is too short or the field is not
// 1, 2, 4 or 8 bytes wide (of a dynamic array: its location word).
uint64_t tp_number(const struct tp_field *field, const void *raw, uint32_t raw_size);
// A number or array as the tools print fields without a format: addresses in hexadecimal.
void tp_print_value(struct out *out, const struct tp_field *field, const void *raw,
		    uint32_t raw_size);
// A string field's text, up to its NUL or end; {NULL,0} when it does not fit.
struct str tp_string(const struct tp_field *field, const void *raw, uint32_t raw_size);

// The print fmt's text, as `perf script` shows it (trace: field). Hot: compiled steps, no libtraceevent in the common case.
// On a terminal as out_escaped.
void tracepoint_print(struct out *out, const struct tracepoint *tp, const void *raw,
		      uint32_t raw_size);
// " name=value" (a space before each) of all own fields: perf's form for events without a usable print fmt and for
// --raw-trace.
void tracepoint_print_fields(struct out *out, const struct tracepoint *tp, const void *raw,
			     uint32_t raw_size);
