// SPDX-License-Identifier: GPL-2.0-or-later
// A small library, built here in every form that compilers and tools give debug information; the source knows the answers.
#include "sym/source.h"
#include <stdio.h>
#include <sys/mman.h>
#include "base/file.h"
#include "base/test.h"
#include "sym/private.h"

// Marks of the assembler say which address is meant. The lines of the calls are what the answers are compared with.
static const char source_text_c[] =
	"#define ALWAYS static inline __attribute__((always_inline))\n"			    // 1
	"#define MARK(name) asm volatile(\".globl \" #name \"\\nnop\\n\" #name \":nop\")\n" // 2
	"volatile int sink;\n"								    // 3
	"ALWAYS int innermost(int x)\n"							    // 4
	"{\n"										    // 5
	"	MARK(at_innermost);\n"							    // 6
	"	sink += x;\n"								    // 7
	"	return x + sink;\n"							    // 8
	"}\n"										    // 9
	"ALWAYS int middle(int x)\n"							    // 10
	"{\n"										    // 11
	"	x = innermost(x + sink);\n"						    // 12
	"	MARK(at_middle);\n"							    // 13
	"	return x * sink;\n"							    // 14
	"}\n"										    // 15
	"int top(int x)\n"								    // 16
	"{\n"										    // 17
	"	MARK(at_top);\n"							    // 18
	"	sink++;\n"								    // 19
	"	x = middle(x);\n"							    // 20
	"	return x + sink;\n"							    // 21
	"}\n"										    // 22
	"int other(int x)\n"								    // 23
	"{\n"										    // 24
	"	MARK(at_other);\n"							    // 25
	"	return x + sink;\n"							    // 26
	"}\n";										    // 27

struct expected {
	const char *mark;
	struct {
		const char *name;
		unsigned line;
	} frames[3];
};

static const struct expected answers[] = {
	{"at_innermost", {{"innermost", 6}, {"middle", 12}, {"top", 20}}},
	{"at_middle", {{"middle", 13}, {"top", 20}}},
	{"at_top", {{"top", 18}}},
	{"at_other", {{"other", 25}}},
};

static char folder[] = "/tmp/sonde-source-XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[4][256];
	static unsigned at;
	char *path = paths[at++ % 4];

	snprintf(path, 256, "%s/%.200s", folder, name);
	return path;
}

static bool shell(const char *command)
{
	char text[2048];

	snprintf(text, sizeof(text), "cd %s && (%s) >log 2>&1", folder, command);
	return system(text) == 0;
}

static bool have(const char *program)
{
	char text[256];

	snprintf(text, sizeof(text), "command -v %s", program);
	return shell(text);
}

static void map_to(struct sym *sym, const char *path, uint16_t misc, uint64_t start)
{
	_Alignas(8) char bytes[512] = {0};
	struct record_mmap2 *record = (void *)bytes;

	record->header.type = PERF_RECORD_MMAP2;
	record->header.misc = misc;
	record->header.size = (uint16_t)((sizeof(*record) + strlen(path) + 8) & ~7ull);
	record->pid = record->tid = misc == PERF_RECORD_MISC_USER ? 1 : UINT32_MAX;
	record->start = start;
	record->len = 0x100000;
	record->prot = PROT_READ | PROT_EXEC;
	snprintf(record->filename, 256, "%.255s", path);
	assert_int_equal(sym_record(sym, &record->header, 1), 0);
}

static void map_file(struct sym *sym, const char *path)
{
	map_to(sym, path, PERF_RECORD_MISC_USER, 0x100000);
}

static unsigned check_mark(struct sym *sym, struct sources *sources, struct dso *dso,
			   const struct expected *expected)
{
	const struct symbol *mark = dso_find_symbol_by_name(sym, dso, expected->mark);
	struct source_frames frames;
	unsigned wanted = 0, wrong = 0;
	struct source_frame line;

	assert_non_null(mark);
	frames = source_frames(sources, dso, mark->start, mark);
	while (wanted < 3 && expected->frames[wanted].name)
		wanted++;
	if (frames.n != wanted) {
		print_error("%s: %zu frames\n", expected->mark, frames.n);
		return 1;
	}
	for (unsigned i = 0; i < frames.n; i++) {
		const char *text = source_text(sources, &frames.v[i]);
		char line_text[64];
		// The last one is named by the symbol that was given.
		const char *name = i + 1 < frames.n ? expected->frames[i].name : mark->name;

		snprintf(line_text, sizeof(line_text), "code.c:%u", expected->frames[i].line);
		if (strcmp(frames.v[i].sym->name, name) || !text || strcmp(text, line_text) ||
		    frames.v[i].sym->inlined != (i + 1 < frames.n)) {
			print_error("%s: %s %s\n", expected->mark, frames.v[i].sym->name,
				    text ? text : "");
			wrong++;
		}
	}
	if (!source_line(sources, dso, mark->start, &line) || line.line != expected->frames[0].line)
		wrong++;
	return wrong;
}

// The number of wrong answers about a file.
static unsigned check_with(const struct sym_options *options, const char *path)
{
	struct sources *sources;
	struct sym *sym;
	struct dso *dso;
	unsigned wrong = 0;

	assert_int_equal(sym_new(&sym, options), 0);
	sources = sources_new(sym);
	map_file(sym, path);
	dso = dso_get(sym, path, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		wrong += check_mark(sym, sources, dso, &answers[i]);
	sources_free(sources);
	sym_free(sym);
	return wrong;
}

static unsigned check_file(const char *path)
{
	const struct sym_options options = {.root = "/nowhere", .no_cache_dir = true};

	return check_with(&options, path);
}

static int make_folder(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	return file_write(in_folder("code.c"), source_text_c, strlen(source_text_c));
}

static int remove_folder(void **state)
{
	char text[256];

	snprintf(text, sizeof(text), "rm -rf %s", folder);
	return system(text);
}

// What compilers and linkers make of the same source. Packing has nothing to do with the version.
struct form {
	int version;
	const char *compile, *link;
};

static const struct form forms[] = {
	{2, "", ""},
	{3, "", ""},
	{4, "", ""},
	{5, "", ""},
	{4, "-gsplit-dwarf", ""},
	{5, "-gsplit-dwarf", ""},
	{4, "-gsplit-dwarf -gz", "--compress-debug-sections=zlib"},
	{5, "-gz", "--compress-debug-sections=zlib"},
	// clang, which takes longest to start, makes the same of these.
	{2, "-gsplit-dwarf", ""},
	{3, "-gsplit-dwarf", ""},
	{4, "-gz", "--compress-debug-sections=zlib"},
	{5, "-gsplit-dwarf -gz", "--compress-debug-sections=zlib"},
	{4, "-ffunction-sections", "--gc-sections"},
	{5, "-ffunction-sections", "--gc-sections"},
	{5, "", "--compress-debug-sections=zlib-gnu"},
};
enum { FORMS_OF_CLANG = 8 };

static void build_all(const char *compiler, size_t n)
{
	char command[ARRAY_SIZE(forms)][512], name[32];
	FILE *script;
	unsigned built = 0;

	if (!have(compiler)) {
		print_message("%s is not installed\n", compiler);
		skip();
	}
	// One shell for all, two at a time: starting programs takes longer than what they do.
	snprintf(name, sizeof(name), "%s.sh", compiler);
	script = fopen(in_folder(name), "w");
	assert_non_null(script);
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s-%zu.so", compiler, i);
		// The output names the .dwo, so each has its own.
		snprintf(command[i], sizeof(command[i]),
			 "%s -gdwarf-%d -O2 %s -fPIC -c -o %s.o code.c && ld -shared %s -e top -o %s %s.o",
			 compiler, forms[i].version, forms[i].compile, name, forms[i].link, name,
			 name);
		fprintf(script, "%s &\n%s", command[i], i % 2 ? "wait\n" : "");
	}
	fprintf(script, "wait\n");
	fclose(script);
	snprintf(name, sizeof(name), "sh %s.sh", compiler);
	assert_true(shell(name));
	for (size_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s-%zu.so", compiler, i);
		if (access(in_folder(name), R_OK)) {
			print_message("not supported here: %s\n", command[i]);
			continue;
		}
		built++;
		if (check_file(in_folder(name)))
			fail_msg("wrong: %s", command[i]);
	}
	assert_true(built >= n - 3);
}

static void gcc_of_all_versions(void **state)
{
	build_all("gcc", ARRAY_SIZE(forms));
}

static void clang_of_all_versions(void **state)
{
	build_all("clang", FORMS_OF_CLANG);
}

static void older_architecture(void **state)
{
	if (!have("clang"))
		skip();
	// 32 bits and the other byte order: only objects for what the linker here knows.
	assert_true(shell("clang -m32 -gdwarf-4 -O2 -fPIC -c -o m32.o code.c && "
			  "ld -m elf_i386 -shared -o m32.so m32.o"));
	assert_int_equal(check_file(in_folder("m32.so")), 0);
}

static void separate_debug_file(void **state)
{
	assert_true(shell("gcc -g -O2 -fPIC -shared -nostdlib -Wl,--build-id -o whole.so code.c && "
			  "objcopy --only-keep-debug whole.so whole.debug && "
			  "cp whole.so bare.so && objcopy --strip-debug "
			  "--add-gnu-debuglink=whole.debug bare.so"));
	assert_int_equal(check_file(in_folder("bare.so")), 0);
}

// A module lies where the kernel put it; `below`: what stands for /.
static unsigned check_module(const char *below, const char *path)
{
	const struct sym_options options = {.root = "/nowhere", .symfs = below, .no_cache_dir = true};
	const struct symbol *mark;
	struct sources *sources;
	struct location location;
	struct sym *sym;
	struct dso *dso;
	unsigned wrong = 0;

	assert_int_equal(sym_new(&sym, &options), 0);
	sources = sources_new(sym);
	map_to(sym, path, PERF_RECORD_MISC_KERNEL, 0xffffffffc0000000);
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL, 0xffffffffc0000010);
	assert_non_null(location.dso);
	dso = (struct dso *)location.dso;
	assert_int_equal(dso->kind, DSO_MODULE);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		wrong += check_mark(sym, sources, dso, &answers[i]);
	// The same from an address of the kernel's.
	mark = dso_find_symbol_by_name(sym, dso, "at_middle");
	assert_non_null(mark);
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL,
			       location.map->start + mark->start - location.map->pgoff);
	wrong += location.sym != mark;
	sources_free(sources);
	sym_free(sym);
	return wrong;
}

static void kernel_modules(void **state)
{
	// Two files, so that neither code nor debug information of the second one begins at 0.
	assert_true(shell(
		"mkdir -p ko/usr/lib/debug && echo 'int first(int x) { return x * 3; }' >first.c && "
		"for f in first code; do gcc -g -O2 -mcmodel=kernel -fno-pic -c -o $f.ko.o $f.c || exit; done && "
		"ld -r --build-id -o ko/whole.ko first.ko.o code.ko.o && cp ko/whole.ko ko/bare.ko && "
		"cp ko/whole.ko ko/found.ko && objcopy --strip-debug ko/bare.ko && "
		"objcopy --strip-debug ko/found.ko && "
		"objcopy --only-keep-debug ko/whole.ko ko/usr/lib/debug/found.ko.debug"));
	assert_int_equal(check_module(in_folder("ko"), "/whole.ko"), 0);
	assert_int_equal(check_module(in_folder("ko"), "/found.ko"), 0);
	assert_true(check_module(in_folder("ko"), "/bare.ko") > 0);
}

static void stale_debug_file_is_refused(void **state)
{
	const struct sym_options options = {.root = "/nowhere", .no_cache_dir = true};
	struct sources *sources;
	struct sym *sym;
	struct dso *dso;

	assert_true(shell("gcc -g -O2 -fPIC -shared -nostdlib -Wl,--build-id -o new.so code.c && "
			  "gcc -g -O1 -DNEW -fPIC -shared -nostdlib -Wl,--build-id -o old.so code.c && "
			  "objcopy --only-keep-debug old.so old.debug && "
			  "objcopy --strip-debug --add-gnu-debuglink=old.debug new.so"));
	assert_int_equal(sym_new(&sym, &options), 0);
	sources = sources_new(sym);
	map_file(sym, in_folder("new.so"));
	dso = dso_get(sym, in_folder("new.so"), NULL);
	assert_false(source_exists(sources, dso));
	sources_free(sources);
	sym_free(sym);
}

static void moved_split_parts(void **state)
{
	assert_true(shell("mkdir -p a && cp code.c a && cd a && "
			  "gcc -g -O2 -gsplit-dwarf -fPIC -c -o part.o code.c && "
			  "gcc -shared -nostdlib -o moved.so part.o && cd .. && mv a b"));
	assert_int_equal(check_file(in_folder("b/moved.so")), 0);
}

static void package_of_split_parts(void **state)
{
	static const char *const versions[] = {"4", "5"};

	if (!have("dwp") && !have("llvm-dwp") && !have("llvm-dwp-14")) {
		print_message(
			"dwp (package binutils) and llvm-dwp (package llvm) are not installed\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		char command[1024];

		// Two units, so that the wanted one is not at the start.
		snprintf(command, sizeof(command),
			 "mkdir -p p%s && cd p%s && printf 'int first(int x) { return x * 3; }' >first.c && "
			 "cp ../code.c . && for f in first code; do clang -gdwarf-%s -O2 -gsplit-dwarf -fPIC -c "
			 "-o $f.o $f.c || exit; done && ld -shared -o packed.so first.o code.o && "
			 "{ llvm-dwp -o packed.so.dwp first.dwo code.dwo || llvm-dwp-14 -o packed.so.dwp "
			 "first.dwo code.dwo || dwp -o packed.so.dwp first.dwo code.dwo; } && rm *.dwo",
			 versions[i], versions[i], versions[i]);
		if (!shell(command)) {
			print_message("a .dwp of DWARF %s can't be made here\n", versions[i]);
			assert_int_not_equal(i, 0);
			continue;
		}
		snprintf(command, sizeof(command), "p%s/packed.so", versions[i]);
		assert_int_equal(check_file(in_folder(command)), 0);
	}
}

static void shared_supplement(void **state)
{
	if (!have("dwz")) {
		print_message("dwz is not installed\n");
		skip();
	}
	// What two files have in common moves to a third one.
	assert_true(shell(
		"mkdir -p dwz && cp code.c dwz && cd dwz && "
		"gcc -gdwarf-4 -O2 -fPIC -shared -nostdlib -Wl,--build-id -o one.so code.c && "
		"gcc -gdwarf-4 -O2 -DTWO -fPIC -shared -nostdlib -Wl,--build-id -Wl,-soname,two "
		"-o two.so code.c && dwz -m common.debug -M common.debug one.so two.so && "
		"readelf -S one.so | grep -q gnu_debugaltlink"));
	assert_int_equal(check_file(in_folder("dwz/one.so")), 0);
	assert_int_equal(check_file(in_folder("dwz/two.so")), 0);
	// Without it there are lines, and names that are not known are "??".
	assert_true(shell("rm dwz/common.debug"));
	assert_true(check_file(in_folder("dwz/one.so")) > 0);
}

static void supplement_within_a_file(void **state)
{
	if (!have("dwz"))
		skip();
	assert_true(shell(
		"mkdir -p two && cp code.c two && cd two && sed -e 's/at_/other_at_/g' "
		"-e 's/int top/int top2/;s/int other/int other2/;s/^volatile/extern volatile/' code.c "
		">second.c && gcc -g -O2 -gdwarf-4 -fPIC -shared -nostdlib -o both.so code.c second.c && "
		"dwz both.so"));
	assert_int_equal(check_file(in_folder("two/both.so")), 0);
}

// Code whose entry is inside of another function's.
static void function_within_a_function(void **state)
{
	static const struct expected inner = {"at_inner", {{"at_inner", 6}}};
	static const struct expected outer = {"at_outer", {{"at_outer", 10}}};
	static const char text[] =
		"#define MARK(name) asm volatile(\".globl \" #name \"\\nnop\\n\" #name \":nop\")\n"
		"int outer(int x)\n"
		"{\n"
		"	__attribute__((noinline)) int inner(int y)\n"
		"	{\n"
		"		MARK(at_inner);\n"
		"		return x * y;\n"
		"	}\n"
		"	x = inner(x) + inner(x + 1);\n"
		"	MARK(at_outer);\n"
		"	return inner(x);\n"
		"}\n";
	const struct sym_options options = {.root = "/nowhere", .no_cache_dir = true};
	struct sources *sources;
	struct sym *sym;
	struct dso *dso;

	assert_true(shell("mkdir -p nested"));
	assert_int_equal(file_write(in_folder("nested/code.c"), text, strlen(text)), 0);
	assert_true(shell("cd nested && gcc -g -O2 -fPIC -c code.c && ld -shared -o nested.so code.o && "
			  "readelf --debug-dump=info code.o | grep -q '<2>.*DW_TAG_subprogram'"));
	assert_int_equal(sym_new(&sym, &options), 0);
	sources = sources_new(sym);
	map_file(sym, in_folder("nested/nested.so"));
	dso = dso_get(sym, in_folder("nested/nested.so"), NULL);
	assert_int_equal(check_mark(sym, sources, dso, &inner), 0);
	assert_int_equal(check_mark(sym, sources, dso, &outer), 0);
	sources_free(sources);
	sym_free(sym);
}

// The second time they come from what was kept the first time, and a file whose answers may be others later keeps none.
static void kept_answers(void **state)
{
	const struct sym_options options = {.root = "/nowhere", .debug_dir = folder};

	setenv("XDG_CACHE_HOME", folder, 1);
	// Large enough to be worth it.
	assert_true(shell(
		"mkdir -p kept && cp code.c kept && cd kept && echo 'char pad[200000] = {1};' >>code.c && "
		"gcc -g -O2 -fPIC -shared -nostdlib -Wl,--build-id -o kept.so code.c"));
	assert_int_equal(check_with(&options, in_folder("kept/kept.so")), 0);
	assert_true(shell("set -- sonde/lines-*; [ $# = 1 ] && [ -s $1 ] && ls -i $1 >kept.inode"));
	assert_int_equal(check_with(&options, in_folder("kept/kept.so")), 0);
	assert_true(shell("ls -i sonde/lines-* | cmp - kept.inode"));
	// Damaged ones are made anew.
	assert_true(shell("echo nothing | dd of=$(echo sonde/lines-*) bs=1 seek=100 conv=notrunc"));
	assert_int_equal(check_with(&options, in_folder("kept/kept.so")), 0);
	assert_false(shell("ls -i sonde/lines-* | cmp - kept.inode"));

	assert_true(shell(
		"rm sonde/lines-*; cd kept && gcc -g -O2 -gsplit-dwarf -fPIC -c -o part.o code.c && "
		"gcc -shared -nostdlib -Wl,--build-id -o split.so part.o && mv part.dwo away"));
	assert_true(check_with(&options, in_folder("kept/split.so")) > 0);
	assert_false(shell("ls sonde/lines-*"));
	assert_true(shell("cd kept && mv away part.dwo"));
	assert_int_equal(check_with(&options, in_folder("kept/split.so")), 0);
	assert_true(shell("ls sonde/lines-*"));
	unsetenv("XDG_CACHE_HOME");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gcc_of_all_versions),
		TEST(clang_of_all_versions),
		TEST(older_architecture),
		TEST(separate_debug_file),
		TEST(stale_debug_file_is_refused),
		TEST(moved_split_parts),
		TEST(package_of_split_parts),
		TEST(shared_supplement),
		TEST(supplement_within_a_file),
		TEST(function_within_a_function),
		TEST(kernel_modules),
		TEST(kept_answers),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
