// SPDX-License-Identifier: GPL-2.0-or-later
// A small program, built here; its source and the assembler's marks know where things are.
#include "base/test.h"
#include <stdio.h>
#include "base/err.h"
#include "base/file.h"
#include "probe/event.h"

static const char code[] =
	"#define MARK(name) __asm__ volatile(\".globl \" #name \"\\nnop\\n\" #name \":nop\")\n" // 1
	"struct pair { int first; struct { short low : 5; } in; char *text; };\n"		// 2
	"volatile int sink;\n"									// 3
	"static inline __attribute__((always_inline)) int inlined(int x)\n"			// 4
	"{\n"											// 5
	"	MARK(at_inlined);\n"								// 6
	"	return x + sink;\n"								// 7
	"}\n"											// 8
	"__attribute__((noinline)) int work(int n, struct pair *pair)\n"			// 9
	"{\n"						    // 10
	"	MARK(at_work);\n"			    // 11
	"	sink = n + pair->first;\n"		    // 12
	"	return sink;\n"				    // 13
	"}\n"						    // 14
	"int main(int argc, char **argv)\n"		    // 15
	"{\n"						    // 16
	"	struct pair pair = {argc, {1}, argv[0]};\n" // 17
	"	return work(inlined(argc), &pair);\n"	    // 18
	"}\n";						    // 19

static char folder[] = "/tmp/sonde-probe-XXXXXX";
static char program[64];

static int build(void **state)
{
	char source[64], command[256];
	const char *cc = getenv("CC");

	if (!mkdtemp(folder))
		return -1;
	snprintf(program, sizeof(program), "%s/t", folder);
	snprintf(source, sizeof(source), "%s/t.c", folder);
	if (file_write(source, code, strlen(code)) < 0)
		return -1;
	snprintf(command, sizeof(command), "%s -g -O0 -o %s %s 2>/dev/null", cc && *cc ? cc : "cc",
		 program, source);
	if (system(command))
		*program = '\0';
	return 0;
}

static int remove_all(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static void open_program(struct probe_target *target)
{
	static const struct probe_options options = {.max_probes = 8};
	static struct probe_options here;

	if (!*program) {
		print_message("no compiler here\n");
		skip();
	}
	here = options;
	here.exec = program;
	assert_int_equal(probe_target_open(target, &here), 0);
	assert_non_null(target->debug);
}

struct found {
	struct probe_site sites[8];
	unsigned n;
};

static int take(void *arg, const struct probe_site *site)
{
	struct found *found = arg;

	if (found->n < ARRAY_SIZE(found->sites))
		found->sites[found->n++] = *site;
	return 0;
}

static int find(struct probe_target *target, const char *text, struct found *ret)
{
	struct probe_request request;
	int n;

	*ret = (struct found){0};
	assert_int_equal(probe_parse(&target->arena, text, &request), 0);
	n = probe_find(target, &request.point, take, ret);
	probe_request_done(&request);
	return n;
}

// Within a line's few bytes around the mark, in the function that is meant.
static void test_places(void **state)
{
	static const struct {
		const char *text, *mark, *function;
		int n;
	} cases[] = {
		{"work:2", "at_work", "work", 1},	{"t.c:11", "at_work", "work", 1},
		{"work;*MARK*", "at_work", "work", 1},	{"t.c:6", "at_inlined", "main", 1},
		{"inlined:2", "at_inlined", "main", 1}, {"nobody", NULL, NULL, 0},
		{"work@other.c", NULL, NULL, 0},	{"t.c:2", NULL, NULL, 0},
	};
	struct probe_target target;

	open_program(&target);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct found found;
		int n = find(&target, cases[i].text, &found);
		uint64_t mark;

		if (n < 0 || !n != !cases[i].n)
			fail_msg("'%s': %d: %s", cases[i].text, n, err_sentence());
		err_clear();
		if (!cases[i].mark)
			continue;
		assert_true(probe_symbol(&target, cases[i].mark, &mark));
		if (found.sites[0].addr > mark || mark - found.sites[0].addr > 16)
			fail_msg("'%s': %#llx, not %#llx", cases[i].text,
				 (unsigned long long)found.sites[0].addr, (unsigned long long)mark);
		assert_string_equal(die_name(&found.sites[0].function), cases[i].function);
	}
	probe_target_done(&target);
}

// From an address back to what -l shows.
static void test_sources(void **state)
{
	struct probe_target target;

	open_program(&target);
	for (uint32_t line = 2; line <= 4; line++) {
		struct probe_point point = {0};
		struct found found;
		char at[32];

		snprintf(at, sizeof(at), "work:%u", line);
		assert_true(find(&target, at, &found) > 0);
		assert_true(probe_find_source(&target, found.sites[0].addr, &point));
		assert_string_equal(point.function, "work");
		assert_int_equal(point.line, line);
		assert_true(probe_same_file(point.file, "t.c"));
	}
	probe_target_done(&target);
}

static int note_line(void *arg, const char *file, uint32_t line, uint64_t addr)
{
	bool *seen = arg;

	assert_true(probe_same_file(file, "t.c"));
	assert_true(line < 32);
	seen[line] = true;
	return 0;
}

// A function's lines are those between its braces, without what was inlined into it.
static void test_lines(void **state)
{
	struct probe_target target;
	struct found found;
	bool seen[32] = {0};

	open_program(&target);
	assert_true(find(&target, "main", &found) == 1);
	assert_int_equal(probe_walk_lines(&target, &found.sites[0].function, note_line, seen), 0);
	for (uint32_t line = 0; line < ARRAY_SIZE(seen); line++) {
		if (seen[line] && (line < 15 || line > 19))
			fail_msg("line %u is not of main", line);
	}
	assert_true(seen[17] && seen[18]);
	probe_target_done(&target);
}

static void test_arguments(void **state)
{
	static const struct {
		const char *text, *name, *type; // name NULL: it fails
		bool follows;			// a pointer
	} cases[] = {
		{"work:2 n", "n", "s32"},
		{"work:2 count=n:u8", "count", "u8"},
		{"work:2 pair->first", "first", "s32", true},
		{"work:2 pair->text:string", "text", "string", true},
		{"work:2 pair->in.low", "low", "b5@0/16", true},
		{"work:2 x=%ax:u64", "x", "u64"},
		{"work:2 nobody"},
		{"work:2 pair->nobody"},
		{"work:2 n->first"},
	};
	struct probe_target target;

	open_program(&target);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_request request;
		struct probe_events events = {0};
		const struct probe_value *value;
		int err;

		assert_int_equal(probe_parse(&target.arena, cases[i].text, &request), 0);
		err = probe_make_events(&target, &request, &events);
		if ((err < 0) != !cases[i].name)
			fail_msg("'%s': %d: %s", cases[i].text, err, err_sentence());
		err_clear();
		if (cases[i].name) {
			assert_int_equal(events.v.n, 1);
			assert_string_equal(events.v.v[0].path, program);
			assert_int_equal(events.v.v[0].values.n, 1);
			value = &events.v.v[0].values.v[0];
			if (strcmp(value->name, cases[i].name) ||
			    strcmp(value->type ? value->type : "", cases[i].type))
				fail_msg("'%s': %s:%s", cases[i].text, value->name, value->type);
			assert_int_equal(strstr(value->value, "(+") || strstr(value->value, "(-"),
					 cases[i].follows);
		}
		probe_events_done(&events);
		probe_request_done(&request);
	}
	probe_target_done(&target);
}

static void test_too_many(void **state)
{
	struct probe_options one = {.exec = program, .max_probes = 1};
	struct probe_target target;
	struct found found;

	if (!*program)
		skip();
	assert_int_equal(probe_target_open(&target, &one), 0);
	assert_int_equal(find(&target, "work", &found), 1);
	assert_int_equal(find(&target, "*", &found), -ERANGE);
	err_clear();
	probe_target_done(&target);
}

static void test_missing(void **state)
{
	static const struct probe_options absent = {.exec = "/nowhere/t"}, folders = {.exec = "/usr"};
	struct probe_target target;

	assert_int_equal(probe_target_open(&target, &absent), -ENOENT);
	assert_true(probe_target_open(&target, &folders) < 0);
	err_clear();
}

int main(void)
{
	const struct CMUnitTest tests[] = {TEST(test_places),	TEST(test_sources),
					   TEST(test_lines),	TEST(test_arguments),
					   TEST(test_too_many), TEST(test_missing)};

	return cmocka_run_group_tests(tests, build, remove_all);
}
