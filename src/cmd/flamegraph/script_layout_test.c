// SPDX-License-Identifier: GPL-2.0-or-later
// Heads as perf script prints them, of tasks whose names look like fields, over the sets of fields (-F), the times since the
// boot (short times are padded) and with and without call chains (names are padded without): all read back.
#include "base/test.h"
#include "base/alloc.h"
#include "base/out.h"
#include "cmd/flamegraph/script_layout.h"

static const char *const names[] =
	{"#c 7", "x 1 2.3:",  "c 5.000000:",	 "a 1 12.000000:", "(sd-pam)", "12",
	 "1.5:", "worker 12", "a [1] b",	 "a [001] 7 1:",   "KE",       "d..1.",
	 "-1",	 "a/b",	      "x 12345.678901:", "kworker/0:1-eve"};
// These look like an event before frames: only with a time.
static const char *const names_in_time[] = {"a: b", "x 1 a:", "(t=1.000000: x"};
// These only with a sample of another name.
static const char *const names_of_others[] = {"b [001]",    "a 12/34",	 "e  12345",
					      "f  123/124", "ab 123456", "cs: 7 100000"};

static const unsigned times_s[] = {0, 1, 12, 999, 9999, 10000, 12345, 123456, 10000000};

struct print {
	const char *name;
	uint64_t time_ns;
	unsigned fields, n;
	bool chains, ns;
};

static void print_head(struct out *out, const struct print *print)
{
	unsigned fields = print->fields, n = print->n;
	unsigned long long s = print->time_ns / 1000000000, ns = print->time_ns % 1000000000;

	if (fields & HEAD_COMM)
		out_printf(out, print->chains ? "%s " : "%16s ", print->name);
	if (fields & HEAD_PAIR)
		out_printf(out, "%5u/%-5u ", 90 + n, 91 + n);
	else if (fields & HEAD_ID)
		out_printf(out, "%5u ", 90 + n);
	if (fields & HEAD_CPU)
		out_printf(out, "[%03u] ", n % 128);
	if (fields & HEAD_TIME) {
		if (print->ns)
			out_printf(out, "%5llu.%09llu: ", s, ns);
		else
			out_printf(out, "%5llu.%06llu: ", s, ns / 1000);
	}
	if (fields & HEAD_PERIOD)
		out_printf(out, "%10u ", 1000 + n * 100000);
	if (fields & HEAD_EVENT)
		out_printf(out, "%s: ", "cpu-clock");
}

static uint64_t time_of(const struct print *print)
{
	return print->ns ? print->time_ns : print->time_ns / 1000 * 1000;
}

// The line that print_head made is read as that.
static bool is_read(const struct script_layout *layout, const char *line, const struct print *print)
{
	unsigned fields = print->fields,
		 id = fields & (HEAD_ID | HEAD_PAIR) ? 90 + print->n : UINT32_MAX;
	struct script_head head;

	for (unsigned i = 0; i < layout->n; i++) {
		if (!script_head_parse(layout->heads[i], str_of(line), &head))
			continue;
		return str_is(head.comm, fields & HEAD_COMM ? print->name : "") &&
		       str_is(head.event, fields & HEAD_EVENT ? "cpu-clock" : "") &&
		       head.sample.pid == id &&
		       head.sample.cpu == (fields & HEAD_CPU ? print->n % 128 : UINT32_MAX) &&
		       head.sample.time == (fields & HEAD_TIME ? time_of(print) : UINT64_MAX) &&
		       head.period == (fields & HEAD_PERIOD ? 1000 + print->n * 100000 : 1);
	}
	return false;
}

static char *line_of(const struct print *print)
{
	struct out out;

	out_init_memory(&out);
	print_head(&out, print);
	if (print->chains)
		out_text(&out,
			 "\n\t    7fb1159339c5 f ([unknown])\n\tffffffff814cb9a0 g ([kernel.kallsyms])\n\n");
	else
		out_text(&out, "    7fb1159339c5 f ([unknown])\n");
	out_char(&out, 0);
	return out.buf;
}

// A text of 12 samples; the first ones, if any, of what the program was before its exec.
static unsigned count_misread(struct print print, unsigned others)
{
	struct script_layout layout;
	const char *name = print.name;
	unsigned misread = 0;
	struct out out;

	out_init_memory(&out);
	for (int pass = 0; pass < 2; pass++) {
		uint64_t begin_ns = print.time_ns;

		for (unsigned i = 0; i < 12; i++, print.time_ns += 1234567) {
			print.n = i * 7919;
			print.name = i < others ? "perf-exec" : name;
			char *line = line_of(&print);
			char *end = strchr(line, '\n');

			if (!pass)
				out_text(&out, line);
			*end = 0;
			bool is_bad = pass && !is_read(&layout, line, &print);
			if (is_bad && !misread++)
				print_message("misread: %s: '%s' fields %u chains %u\n", name, line,
					      print.fields, print.chains);
			free(line);
		}
		print.time_ns = begin_ns;
		if (!pass)
			script_layout_find(&layout, (struct str){out.buf, out.n});
	}
	out_done(&out);
	return misread;
}

// `least`: the field that all sets have.
static unsigned count_of_name(const char *name, unsigned least, unsigned others)
{
	unsigned misread = 0;

	for (unsigned fields = 1; fields < HEAD_EVENT * 2; fields++) {
		if ((fields & least) != least || ((fields & HEAD_ID) && (fields & HEAD_PAIR)))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(times_s) * 4; i++) {
			struct print print = {.name = name,
					      .time_ns = times_s[i / 4] * 1000000000ull + 1002003,
					      .fields = fields,
					      .chains = i & 1,
					      .ns = i & 2};

			misread += count_misread(print, others);
		}
	}
	return misread;
}

static void names_like_fields(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_int_equal(count_of_name(names[i], 0, 0), 0);
		assert_int_equal(count_of_name(names[i], HEAD_TIME, 1), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(names_in_time); i++)
		assert_int_equal(count_of_name(names_in_time[i], HEAD_TIME, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(names_of_others); i++)
		assert_int_equal(count_of_name(names_of_others[i], HEAD_TIME, 1), 0);
}

RUN_TESTS(TEST(names_like_fields))
