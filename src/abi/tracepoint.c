// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/tracepoint.h"
#include "abi/tracepoint_impl.h"
#include "base/err.h"
#include "base/hash.h"
#include <ctype.h>
#include <stdio.h>

struct tracepoints *tracepoints_new(const struct tp_options *options)
{
	struct tracepoints *all = NEW(struct tracepoints);
	bool native_big = __BYTE_ORDER == __BIG_ENDIAN;

	all->options = *options;
	if (!all->options.long_size)
		all->options.long_size = sizeof(long);
	if (!all->options.page_size)
		all->options.page_size = 4096;
	all->swapped = options->big_endian != native_big;
	all->tep = tep_alloc();
	if (!all->tep)
		alloc_failed();
	tep_set_local_bigendian(all->tep, native_big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_file_bigendian(all->tep, options->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_long_size(all->tep, all->options.long_size);
	tep_set_page_size(all->tep, (int)all->options.page_size);
	return all;
}

void tracepoints_free(struct tracepoints *all)
{
	if (!all)
		return;
	tep_free(all->tep);
	map_done(&all->by_id);
	map_done(&all->by_name);
	map_done(&all->printk);
	vec_done(&all->list);
	arena_done(&all->arena);
	free(all->module_room);
	free(all);
}

static uint64_t name_key(const char *system, const char *name)
{
	return hash_mix(hash_bytes(system, strlen(system)), hash_bytes(name, strlen(name)));
}

static bool is_code_address(const char *name)
{
	static const char *const names[] = {"ip", "parent_ip", "caller_ip", "call_site", "caller"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static size_t count_fields(const struct tep_format_field *field)
{
	size_t n = 0;

	for (; field; field = field->next)
		n++;
	return n;
}

static size_t copy_fields(struct tracepoint *tp, size_t n, const struct tep_format_field *field)
{
	for (; field; field = field->next, n++) {
		unsigned long flags = field->flags;

		tp->tep_fields[n] = field;
		tp->fields[n] = (struct tp_field){
			.name = field->name,
			.type = field->type,
			.offset = (uint16_t)field->offset,
			.size = (uint16_t)field->size,
			.array_len = (uint16_t)field->arraylen,
			.element_size = (uint16_t)field->elementsize,
			.is_signed = flags & TEP_FIELD_IS_SIGNED,
			.is_string = flags & TEP_FIELD_IS_STRING,
			.is_pointer = flags & TEP_FIELD_IS_POINTER,
			.is_array = flags & TEP_FIELD_IS_ARRAY,
			.is_dynamic = flags & TEP_FIELD_IS_DYNAMIC,
			.is_relative = flags & TEP_FIELD_IS_RELATIVE,
			.is_long = flags & TEP_FIELD_IS_LONG,
			.is_symbolic_ip = is_code_address(field->name),
			.is_swapped = tp->all->swapped,
		};
	}
	return n;
}

static bool fields_fit(const struct tep_format_field *field)
{
	for (; field; field = field->next)
		if (field->offset < 0 || field->offset > UINT16_MAX || field->size < 0 ||
		    field->size > UINT16_MAX || !field->name || !field->type)
			return false;
	return true;
}

static void add_event(struct tracepoints *all, struct tep_event *event, bool failed, struct str format)
{
	struct tracepoint *tp = arena_zalloc(&all->arena, sizeof(*tp));
	size_t n = count_fields(event->format.fields) + count_fields(event->format.common_fields);
	bool is_new;
	uint64_t *first;

	tp->all = all;
	if (all->options.keep_formats)
		tp->format = (struct str){arena_memdup(&all->arena, format.p, format.n), format.n};
	tp->event = event;
	tp->system = event->system;
	tp->name = event->name;
	tp->id = (uint32_t)event->id;
	tp->failed = failed || event->flags & (int)TEP_EVENT_FL_FAILED;
	tp->fields = arena_zalloc(&all->arena, n * sizeof(*tp->fields));
	tp->tep_fields = arena_zalloc(&all->arena, n * sizeof(*tp->tep_fields));
	tp->not_text = arena_zalloc(&all->arena, n * sizeof(*tp->not_text));
	tp->n_own = copy_fields(tp, 0, event->format.fields);
	tp->n_fields = copy_fields(tp, tp->n_own, event->format.common_fields);
	vec_push(&all->list, tp);
	map_set_ptr(&all->by_id, tp->id, tp);
	first = map_at(&all->by_name, name_key(tp->system, tp->name), &is_new);
	if (is_new)
		*first = (uintptr_t)tp;
}

#ifdef __has_feature // clang
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
// libtraceevent leaks when it can't parse a format.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libtraceevent\n";
}
#endif

// What libtraceevent 1.7 stumbles over: tabs inside of the first quoted text become \t, 'c' its number. `text` has
// room for it.
static void adapt_print_fmt(char *text)
{
	char *p = strchr(text, '"');

	for (p = p ? p + 1 : text + strlen(text); *p && *p != '"'; p++) {
		if (*p == '\\' && p[1]) {
			p++;
		} else if (*p == '\t') {
			memmove(p + 1, p, strlen(p) + 1);
			*p++ = '\\';
			*p = 't';
		}
	}
	for (bool quoted = true; *p; p++) { // from the closing quote on
		char number[12];

		if (quoted && *p == '\\' && p[1]) {
			p++;
		} else if (*p == '"') {
			quoted = !quoted;
		} else if (!quoted && *p == '\'' && isprint((unsigned char)p[1]) && p[1] != '\\' &&
			   p[2] == '\'') {
			snprintf(number, sizeof(number), "%3u", (unsigned)p[1] % 128);
			memcpy(p, number, 3);
			p += 2;
		}
	}
}

static size_t count_tabs(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '\t';
	return n;
}

int tracepoints_add(struct tracepoints *all, const char *system, struct str format)
{
	auto_free char *text = xcalloc(1, format.n + count_tabs(format) + 16); // room for changes
	struct str fields = format, fmt = {0};
	const char *print = format.p ? memmem(format.p, format.n, "print fmt:", 10) : NULL;
	struct tep_event *event;
	bool failed = false;
	uint32_t id = 0;

	if (format.n)
		memcpy(text, format.p, format.n);
	if (print) {
		fields.n = (size_t)(print - format.p);
		fmt = (struct str){print, format.n - fields.n};
	}
	// NUL bytes end what libtraceevent sees of a text
	if (!format.n || memchr(format.p, 0, format.n) || !tp_check_fields(fields, &id))
		return fail(EINVAL, "the format of a tracepoint of %s can't be parsed", system);
	if (tracepoints_by_id(all, id))
		return 0;
	if (!tp_check_print_fmt(fields, fmt)) {
		memcpy(text + fields.n, "print fmt: \"\"\n", 15);
		failed = true;
	}
	adapt_print_fmt(text + fields.n);
	tep_parse_event(all->tep, text, strlen(text), system);
	// It returns an error, yet keeps the event, when only the print fmt is beyond it.
	event = tep_find_event(all->tep, (int)id);
	if (!event || !event->name || !event->system || !event->format.common_fields)
		return fail(EINVAL, "the format of tracepoint %u of %s can't be parsed", id, system);
	if (!fields_fit(event->format.fields) || !fields_fit(event->format.common_fields))
		return fail(EINVAL, "the format of %s:%s has fields in impossible places", system,
			    event->name);
	add_event(all, event, failed, format);
	return 0;
}

int tracepoints_add_printk(struct tracepoints *all, struct str text)
{
	struct str rest = text;

	// "0xffffffff8a0b1234 : "text\n"", kept without quotes and the last \n
	while (rest.p) {
		struct str line = str_cut(&rest, '\n');
		struct str address = str_trim(str_cut(&line, ':'));
		uint64_t value;

		if (line.n < 5 || num_parse_hex(address, &value) < 0)
			continue;
		line.p++; // the space
		line.n--;
		if (line.p[0] == '"' && line.p[line.n - 1] == '"') {
			auto_free char *quoted = str_dup(line);

			// For binary printk events, which libtraceevent prints. It looks at the last
			// letters without asking how many there are.
			if (strlen(quoted) == line.n)
				tep_register_print_string(all->tep, quoted, value);
			line.p++;
			line.n -= 2;
		}
		if (line.n >= 2 && line.p[line.n - 2] == '\\' && line.p[line.n - 1] == 'n')
			line.n -= 2;
		map_set_ptr(&all->printk, value, arena_strdup(&all->arena, line));
	}
	return 0;
}

int tracepoints_add_kallsyms(struct tracepoints *all, struct str text)
{
	return 0;
}

int tracepoints_add_cmdlines(struct tracepoints *all, struct str text)
{
	return 0;
}

struct tracepoint *tracepoints_by_id(const struct tracepoints *all, uint32_t id)
{
	return map_find_ptr(&all->by_id, id);
}

static bool is_named(const struct tracepoint *tp, const char *system, const char *name)
{
	return strcmp(tp->system, system) == 0 && strcmp(tp->name, name) == 0;
}

struct tracepoint *tracepoints_by_name(const struct tracepoints *all, const char *system,
				       const char *name)
{
	struct tracepoint *tp = map_find_ptr(&all->by_name, name_key(system, name));

	if (!tp || is_named(tp, system, name))
		return tp;
	for (size_t i = 0; i < all->list.n; i++)
		if (is_named(all->list.v[i], system, name))
			return all->list.v[i];
	return NULL;
}

// libtraceevent's side of the resolver, for what it prints itself.
static char *resolve_for_tep(void *arg, unsigned long long *address, char **ret_module)
{
	struct tracepoints *all = arg;
	const char *module = NULL;
	uint64_t start = 0;
	const char *name = all->resolve(all->resolve_arg, *address, &start, &module);

	if (!name)
		return NULL;
	*address = start;
	free(all->module_room);
	all->module_room = module ? xstrdup(module) : NULL;
	*ret_module = all->module_room;
	return (char *)name;
}

void tracepoints_set_resolver(struct tracepoints *all, tp_resolver *resolve, void *arg)
{
	all->resolve = resolve;
	all->resolve_arg = arg;
	tep_reset_function_resolver(all->tep);
	if (resolve)
		tep_set_function_resolver(all->tep, resolve_for_tep, all);
}

const char *tracepoint_system(const struct tracepoint *tp)
{
	return tp->system;
}
const char *tracepoint_name(const struct tracepoint *tp)
{
	return tp->name;
}
struct str tracepoint_format(const struct tracepoint *tp)
{
	return tp->format;
}

uint32_t tracepoint_id(const struct tracepoint *tp)
{
	return tp->id;
}

size_t tracepoint_fields(const struct tracepoint *tp, const struct tp_field **ret)
{
	*ret = tp->fields;
	return tp->n_fields;
}

const struct tp_field *tracepoint_field(const struct tracepoint *tp, const char *name)
{
	for (size_t i = 0; i < tp->n_fields; i++)
		if (strcmp(tp->fields[i].name, name) == 0)
			return &tp->fields[i];
	return NULL;
}

struct tp_field *tp_find_field(const struct tracepoint *tp, const struct tep_format_field *field)
{
	for (size_t i = 0; i < tp->n_fields; i++)
		if (tp->tep_fields[i] == field)
			return &tp->fields[i];
	return NULL;
}

uint64_t tp_number(const struct tp_field *field, const void *raw, uint32_t raw_size)
{
	uint64_t v = tp_read_number((struct str){raw, raw_size}, field->offset, field->size,
				    field->is_swapped);

	if (!field->is_signed)
		return v;
	switch (field->size) {
	case 1:
		return (uint64_t)(int8_t)v;
	case 2:
		return (uint64_t)(int16_t)v;
	case 4:
		return (uint64_t)(int32_t)v;
	default:
		return v;
	}
}

struct tp_extent tp_dynamic_extent(const struct tp_field *field, const void *raw, uint32_t raw_size)
{
	// Offset in the low 16 bits, size in the high ones.
	uint64_t word = tp_read_number((struct str){raw, raw_size}, field->offset, field->size,
				       field->is_swapped);
	uint64_t offset = word & 0xffff, size = word >> 16 & 0xffff;

	if ((uint32_t)field->offset + field->size > raw_size)
		return (struct tp_extent){0, 0};
	if (field->size == 2) // of old kernels: no size
		size = offset < raw_size ? raw_size - offset : 0;
	if (field->is_relative)
		offset += (uint64_t)field->offset + field->size;
	if (offset > raw_size)
		return (struct tp_extent){0, 0};
	if (offset + size > raw_size)
		size = 0;
	return (struct tp_extent){(uint32_t)offset, (uint32_t)size};
}

struct str tp_text_at(const void *raw, uint32_t raw_size, uint32_t offset)
{
	const char *p = (const char *)raw + offset;

	if (offset >= raw_size)
		return (struct str){"", 0};
	return (struct str){p, strnlen(p, raw_size - offset)};
}

struct str tp_string(const struct tp_field *field, const void *raw, uint32_t raw_size)
{
	struct tp_extent at = {field->offset, field->size};
	const char *p;

	if (field->is_dynamic) {
		if ((uint32_t)field->offset + field->size > raw_size)
			return (struct str){NULL, 0};
		at = tp_dynamic_extent(field, raw, raw_size);
	} else if (!field->size) { // the rest of the data
		at.size = raw_size > at.offset ? raw_size - at.offset : 0;
	}
	if (at.offset > raw_size || at.size > raw_size - at.offset)
		return (struct str){NULL, 0};
	p = (const char *)raw + at.offset;
	return (struct str){p, strnlen(p, at.size)};
}

static bool is_printable(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && p[i]; i++)
		if (!isprint(p[i]) && !isspace(p[i]))
			return false;
	return true;
}

// Where an array lies, cut to what there is.
static struct str array_bytes(const struct tp_field *field, const void *raw, uint32_t raw_size)
{
	struct tp_extent at = {field->offset, field->size};

	if (field->is_dynamic)
		at = tp_dynamic_extent(field, raw, raw_size);
	if (at.offset > raw_size)
		at = (struct tp_extent){raw_size, 0};
	return (struct str){(const char *)raw + at.offset, MIN(at.size, raw_size - at.offset)};
}

static void print_bytes(struct out *out, struct str bytes)
{
	out_text(out, "ARRAY[");
	for (size_t k = 0; k < bytes.n; k++) {
		if (k)
			out_text(out, ", ");
		out_hex_zeros(out, (uint8_t)bytes.p[k], 2);
	}
	out_char(out, ']');
}

static void print_array(struct out *out, const struct tracepoint *tp, size_t i, struct str raw)
{
	const struct tp_field *field = &tp->fields[i];
	struct str bytes = array_bytes(field, raw.p, (uint32_t)raw.n);

	if (field->is_string && !tp->not_text[i] && is_printable((const uint8_t *)bytes.p, bytes.n)) {
		out_str(out, tp_text_at(raw.p, (uint32_t)raw.n, (uint32_t)(bytes.p - raw.p)));
		return;
	}
	print_bytes(out, bytes);
	tp->not_text[i] = true;
}

static void print_number(struct out *out, const struct tp_field *field, const void *raw,
			 uint32_t raw_size)
{
	uint64_t v = tp_read_number((struct str){raw, raw_size}, field->offset, field->size,
				    field->is_swapped);

	if (field->is_pointer || (field->is_long && (!field->is_signed || field->size == 4))) {
		out_text(out, "0x");
		out_hex(out, v);
	} else if (field->is_signed) {
		switch (field->size) {
		case 4:
			out_i64(out, (int32_t)v);
			break;
		case 2:
			out_printf(out, "%2d", (int16_t)v);
			break;
		case 1:
			out_i64(out, (int8_t)v);
			break;
		default:
			out_i64(out, (int64_t)v);
		}
	} else {
		out_u64(out, v);
	}
}

void tp_print_value(struct out *out, const struct tp_field *field, const void *raw, uint32_t raw_size)
{
	if (field->is_array)
		print_bytes(out, array_bytes(field, raw, raw_size));
	else
		print_number(out, field, raw, raw_size);
}

void tracepoint_print_fields(struct out *out, const struct tracepoint *tp, const void *raw,
			     uint32_t raw_size)
{
	struct str data = {raw, raw_size};

	for (size_t i = 0; i < tp->n_own; i++) {
		out_char(out, ' ');
		out_text(out, tp->fields[i].name);
		out_char(out, '=');
		if (tp->fields[i].is_array)
			print_array(out, tp, i, data);
		else
			print_number(out, &tp->fields[i], raw, raw_size);
	}
}

bool tracepoint_is_compiled(const struct tracepoint *tp)
{
	if (!tp->compiled && !tp->failed)
		tp_compile((struct tracepoint *)tp);
	return tp->failed || tp->program;
}
