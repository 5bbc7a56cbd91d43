// SPDX-License-Identifier: GPL-2.0-or-later
#include "abi/tracepoint.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/test.h"
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <traceevent/event-parse.h>

// The oracle: a libtraceevent of its own.
struct oracle {
	struct tep_handle *tep;
	char text[1 << 20];
};

static const char *resolve(void *arg, uint64_t address, uint64_t *ret_start, const char **ret_module)
{
	(void)arg;
	(void)ret_module;
	if (address % 3)
		return NULL;
	*ret_start = address & ~0xfffull;
	return "some_function";
}

static char *resolve_tep(void *arg, unsigned long long *address, char **module)
{
	uint64_t start = 0;
	const char *name = resolve(arg, *address, &start, (const char **)module);

	if (name)
		*address = start;
	return (char *)name;
}

static uint64_t state_of_random = 88172645463325252ull;
static uint64_t rnd(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random;
}

static uint64_t number(bool small)
{
	switch (small ? rnd() % 3 : rnd() % 8) {
	case 0:
		return 0;
	case 1:
		return rnd() % 4;
	case 2:
		return 1ull << rnd() % 4;
	case 3:
		return 1ull << rnd() % 64;
	case 4:
		return UINT64_MAX;
	case 5:
		return rnd() % 1000;
	default:
		return rnd();
	}
}

static void put_text(uint8_t *p, size_t n)
{
	size_t length = n ? rnd() % n : 0;

	memset(p, 0, n);
	for (size_t i = 0; i < length; i++)
		p[i] = (uint8_t)(' ' + rnd() % 90);
}

#define RAW_MAX 8192

// Random data that is laid out as the kernel lays it out; returns its size.
static uint32_t make_raw(const struct tracepoint *tp, uint8_t *raw, bool small)
{
	const struct tp_field *fields;
	size_t n = tracepoint_fields(tp, &fields);
	uint32_t end = 0;

	memset(raw, 0, RAW_MAX);
	for (size_t i = 0; i < n; i++)
		if ((uint32_t)fields[i].offset + fields[i].size > end)
			end = (uint32_t)fields[i].offset + fields[i].size;
	if (end > RAW_MAX / 2)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const struct tp_field *f = &fields[i];
		uint64_t v = number(small);

		if (strcmp(f->name, "common_type") == 0)
			v = tracepoint_id(tp);
		if (f->is_dynamic && (f->size == 4 || f->size == 2)) {
			uint32_t size = (uint32_t)(rnd() % 5 ? rnd() % 24 : 0);
			uint32_t word;

			if (f->element_size > 1)
				size -= size % f->element_size;
			if (f->is_string)
				put_text(raw + end, size);
			else
				for (uint32_t k = 0; k < size; k++)
					raw[end + k] = (uint8_t)rnd();
			word = (end - (f->is_relative ? f->offset + 4u : 0)) | size << 16;
			memcpy(raw + f->offset, &word, f->size);
			end += size + 1;
		} else if (f->is_array && f->element_size <= 1) {
			put_text(raw + f->offset, f->size);
		} else if (f->size <= 8) {
			memcpy(raw + f->offset, &v, f->size);
		} else {
			for (uint32_t k = 0; k < f->size; k++)
				raw[f->offset + k] = (uint8_t)rnd();
		}
	}
	return end + 64;
}

static const char *oracle_print(struct oracle *oracle, uint8_t *raw, uint32_t size)
{
	struct tep_record record = {.size = (int)size, .data = raw};
	struct trace_seq s;

	trace_seq_init(&s);
	tep_print_event(oracle->tep, &s, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	snprintf(oracle->text, sizeof(oracle->text), "%.*s", (int)s.len, s.buffer);
	trace_seq_destroy(&s);
	return oracle->text;
}

// Adds and compares all formats that match; counts.
struct totals {
	unsigned formats, compiled, failed, different;
};

static void compare_format(struct tracepoints *all, struct oracle *oracle, const char *path,
			   const char *system, struct totals *totals)
{
	auto_free char *text = NULL;
	size_t size;
	uint64_t id = 0;
	const char *id_line;
	const struct tracepoint *tp;
	struct out out;
	uint8_t raw[RAW_MAX];
	bool small;

	if (file_read(path, 1 << 20, &text, &size) < 0)
		return;
	id_line = strstr(text, "ID: ");
	if (!id_line)
		return;
	id = strtoull(id_line + 4, NULL, 10);
	assert_int_equal(tracepoints_add(all, system, (struct str){text, size}), 0);
	tep_parse_event(oracle->tep, text, size, system);
	tp = tracepoints_by_id(all, (uint32_t)id);
	assert_non_null(tp);
	totals->formats++;
	if (!tracepoint_is_compiled(tp))
		print_message("left to libtraceevent: %s:%s\n", tracepoint_system(tp),
			      tracepoint_name(tp));
	totals->compiled += tracepoint_is_compiled(tp);
	// these read as many bytes as a field says
	small = strstr(text, "__print_hex") || strstr(text, "__print_array") ||
		strstr(text, "%.*") || strstr(text, "%*");
	out_init_memory(&out);
	for (int i = 0; i < 20; i++) {
		uint32_t n = make_raw(tp, raw, small);
		const char *wanted;

		if (!n)
			break;
		out.n = 0;
		wanted = oracle_print(oracle, raw, n);
		if (text_starts(wanted, "[FAILED")) {
			// those with a tab are understood by us
			totals->failed++;
			out_text(&out, "[FAILED TO PARSE]");
			tracepoint_print_fields(&out, tp, raw, n);
		} else {
			tracepoint_print(&out, tp, raw, n);
		}
		out_char(&out, 0);
		// addresses of our own memory
		if (strstr(text, "__get_dynamic_array") && strstr(text, "%p") &&
		    strstr(wanted, "0x7f"))
			continue;
		if (strcmp(out.buf, wanted) == 0)
			continue;
		// libtraceevent 1.7 knows no %c
		if (strstr(wanted, ">c<"))
			continue;
		if (totals->different++ < 20)
			print_message("%s:%s\n  wanted: %s\n  got:    %s\n", tracepoint_system(tp),
				      tracepoint_name(tp), wanted, out.buf);
		break;
	}
	// any size is survived
	for (uint32_t n = 0; n < 40; n += 3) {
		auto_free uint8_t *cut = xmemdup(raw, n ? n : 1);

		out.n = 0;
		tracepoint_print(&out, tp, cut, n);
		tracepoint_print_fields(&out, tp, cut, n);
	}
	out_done(&out);
}

static struct totals compare_all(const char *pattern, bool has_system_folder)
{
	struct tracepoints *all = tracepoints_new(&(struct tp_options){.long_size = 8});
	struct oracle *oracle = xcalloc(1, sizeof(*oracle));
	struct totals totals = {0};
	glob_t found = {0};

	oracle->tep = tep_alloc();
	tep_set_long_size(oracle->tep, 8);
	tep_set_function_resolver(oracle->tep, resolve_tep, NULL);
	tracepoints_set_resolver(all, resolve, NULL);
	glob(pattern, 0, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char system[256] = "saved", *slash;

		if (has_system_folder) {
			snprintf(system, sizeof(system), "%s", found.gl_pathv[i]);
			for (int k = 0; k < 2; k++) {
				slash = strrchr(system, '/');
				*slash = 0;
			}
			slash = strrchr(system, '/');
			memmove(system, slash + 1, strlen(slash + 1) + 1);
		}
		compare_format(all, oracle, found.gl_pathv[i], system, &totals);
	}
	globfree(&found);
	tep_free(oracle->tep);
	free(oracle);
	tracepoints_free(all);
	print_message("%s: %u formats, %u compiled, %u that libtraceevent can't parse, %u different\n",
		      pattern, totals.formats, totals.compiled, totals.failed / 20, totals.different);
	return totals;
}

static void test_saved_formats(void **state)
{
	(void)state;
	struct totals totals = compare_all("test/data/formats/*.format", false);

	assert_true(totals.formats >= 20);
	assert_int_equal(totals.different, 0);
	assert_int_equal(totals.compiled, totals.formats);
}

static void test_formats_of_this_kernel(void **state)
{
	(void)state;
	char folder[] = "/tmp/sonde-tracefs-XXXXXX";
	char pattern[128];
	struct totals totals;

	// a mount of our own leaves what is there as it is
	assert_non_null(mkdtemp(folder));
	if (mount("nodev", folder, "tracefs", 0, NULL) < 0) {
		rmdir(folder);
		print_message("SKIP: can't mount tracefs (%s)\n", strerror(errno));
		skip();
	}
	snprintf(pattern, sizeof(pattern), "%s/events/*/*/format", folder);
	totals = compare_all(pattern, true);
	umount(folder);
	rmdir(folder);
	// Signed fields of one byte libtraceevent reads as the compiler's char, which has no sign on arm64: ras:mc_event.
	assert_true(totals.different <= (CHAR_MIN < 0 ? 0 : 1));
	// nothing but what has its format in the data is left to the library
	assert_true(totals.compiled + 1 >= totals.formats);
}

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static void test_fields(void **state)
{
	(void)state;
	static const char format[] =
		"name: try\nID: 77\n" COMMON "\tfield:short a;\toffset:8;\tsize:2;\tsigned:1;\n"
		"\tfield:char comm[6];\toffset:10;\tsize:6;\tsigned:0;\n"
		"\tfield:__data_loc char[] path;\toffset:16;\tsize:4;\tsigned:0;\n"
		"\tfield:unsigned long ip;\toffset:24;\tsize:8;\tsigned:0;\n\n"
		"print fmt: \"a=%d comm=%s path=%s\", REC->a, REC->comm, __get_str(path)\n";
	struct tracepoints *all = tracepoints_new(&(struct tp_options){.long_size = 8});
	uint8_t raw[48] = {77,	0, 0, 0,  1, 0, 0,   0,	  0xfe, 0xff, 'b', 'a',	 's',
			   'h', 0, 0, 32, 0, 5, 0,   0,	  0,	0,    0,   0x10, 0,
			   0,	0, 0, 0,  0, 0, '/', 't', 'm',	'p',  0};
	const struct tracepoint *tp;
	const struct tp_field *fields, *f;
	struct out out;

	assert_int_equal(tracepoints_add(all, "mine", (struct str){format, sizeof(format) - 1}), 0);
	assert_int_equal(tracepoints_add(all, "mine", (struct str){format, sizeof(format) - 1}), 0);
	tp = tracepoints_by_name(all, "mine", "try");
	assert_non_null(tp);
	assert_ptr_equal(tp, tracepoints_by_id(all, 77));
	assert_null(tracepoints_by_name(all, "mine", "other"));
	assert_int_equal(tracepoint_fields(tp, &fields), 8);
	assert_string_equal(fields[0].name, "a");
	f = tracepoint_field(tp, "a");
	assert_int_equal(tp_number(f, raw, sizeof(raw)), (uint64_t)-2);
	assert_int_equal(tp_number(f, raw, 9), 0);
	f = tracepoint_field(tp, "comm");
	assert_true(f->is_string && f->is_array && f->array_len == 6);
	assert_true(str_is(tp_string(f, raw, sizeof(raw)), "bash"));
	f = tracepoint_field(tp, "path");
	assert_true(f->is_dynamic);
	assert_true(str_is(tp_string(f, raw, sizeof(raw)), "/tmp"));
	assert_null(tp_string(f, raw, 18).p);
	assert_true(tracepoint_field(tp, "ip")->is_symbolic_ip);
	out_init_memory(&out);
	tracepoint_print(&out, tp, raw, sizeof(raw));
	out_char(&out, 0);
	// the sign is lost, as in perf
	assert_string_equal(out.buf, "a=65534 comm=bash path=/tmp");
	out.n = 0;
	tracepoint_print_fields(&out, tp, raw, sizeof(raw));
	out_char(&out, 0);
	assert_string_equal(out.buf, " a=-2 comm=bash path=/tmp ip=0x10");
	out_done(&out);
	tracepoints_free(all);
}

static void test_big_endian(void **state)
{
	(void)state;
	static const char format[] = "name: try\nID: 77\n" COMMON
				     "\tfield:unsigned int a;\toffset:8;\tsize:4;\tsigned:0;\n"
				     "\nprint fmt: \"a=%u %x\", REC->a, REC->a >> 8\n";
	struct tracepoints *all =
		tracepoints_new(&(struct tp_options){.big_endian = true, .long_size = 4});
	uint8_t raw[12] = {0, 77, 0, 0, 0, 0, 0, 1, 0, 0, 1, 2};
	struct out out;

	assert_int_equal(tracepoints_add(all, "mine", (struct str){format, sizeof(format) - 1}), 0);
	out_init_memory(&out);
	tracepoint_print(&out, tracepoints_by_id(all, 77), raw, sizeof(raw));
	out_char(&out, 0);
	assert_string_equal(out.buf, "a=258 1");
	out_done(&out);
	tracepoints_free(all);
}

static void test_tab(void **state)
{
	(void)state;
	static const char format[] = "name: try\nID: 77\n" COMMON
				     "\tfield:unsigned int a;\toffset:8;\tsize:4;\tsigned:0;\n"
				     "\nprint fmt: \"a\t%u\\tb\", REC->a\n";
	struct tracepoints *all = tracepoints_new(&(struct tp_options){0});
	uint8_t raw[12] = {77, 0, 0, 0, 0, 0, 0, 0, 5};
	struct out out;

	assert_int_equal(tracepoints_add(all, "mine", (struct str){format, sizeof(format) - 1}), 0);
	out_init_memory(&out);
	tracepoint_print(&out, tracepoints_by_id(all, 77), raw, sizeof(raw));
	out_char(&out, 0);
	assert_string_equal(out.buf, "a\t5\tb");
	out_done(&out);
	tracepoints_free(all);
}

// docs/differences.md: perf 6.1 shows 32 bits of %zu and nothing of %c.
static void test_conversions_that_perf_lacks(void **state)
{
	(void)state;
	static const char format[] =
		"name: try\nID: 77\n" COMMON "\tfield:size_t a;\toffset:8;\tsize:8;\tsigned:0;\n"
		"\nprint fmt: \"size=%zu [%c%c]\", REC->a, REC->a ? 'S' : ' ', 'F'\n";
	struct tracepoints *all = tracepoints_new(&(struct tp_options){.long_size = 8});
	uint8_t raw[16] = {77, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1};
	struct out out;

	assert_int_equal(tracepoints_add(all, "mine", (struct str){format, sizeof(format) - 1}), 0);
	out_init_memory(&out);
	tracepoint_print(&out, tracepoints_by_id(all, 77), raw, sizeof(raw));
	out_char(&out, 0);
	assert_string_equal(out.buf, "size=4294967297 [SF]");
	out_done(&out);
	tracepoints_free(all);
}

static void test_bad_formats(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "name: x\n", "ID: x\n", "name: x\nID: 5\n",
					  "ID: 5\nformat:\n"};
	static const char unknown_field[] =
		"name: try\nID: 78\n" COMMON
		"\tfield:unsigned int a;\toffset:8;\tsize:4;\tsigned:0;\n"
		"\nprint fmt: \"%s\", __print_flags(REC->b, \"|\", {1, \"A\"})\n";
	struct tracepoints *all = tracepoints_new(&(struct tp_options){0});
	uint8_t raw[12] = {78, 0, 0, 0, 0, 0, 0, 0, 5};
	struct out out;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(tracepoints_add(all, "mine", str_of(bad[i])), -EINVAL);
	assert_int_equal(tracepoints_add(all, "mine", str_of(unknown_field)), 0);
	out_init_memory(&out);
	tracepoint_print(&out, tracepoints_by_id(all, 78), raw, sizeof(raw));
	out_char(&out, 0);
	assert_string_equal(out.buf, "[FAILED TO PARSE] a=5");
	out_done(&out);
	tracepoints_free(all);
}

RUN_TESTS(TEST(test_fields), TEST(test_big_endian), TEST(test_tab),
	  TEST(test_conversions_that_perf_lacks), TEST(test_bad_formats), TEST(test_saved_formats),
	  TEST(test_formats_of_this_kernel))
