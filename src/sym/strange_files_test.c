// SPDX-License-Identifier: GPL-2.0-or-later
// What is no plain file, too large or another user's, where sonde looks by itself: in its cache and in /tmp.
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/test.h"
#include "sym/kernel_cache.h"
#include "sym/private.h"
#include "sym/unwind_cache.h"

enum { HANGS_AFTER_SECONDS = 20 };

static void only_plain_files_are_opened(void **state)
{
	static const struct {
		const char *path, *sentence;
		int err;
	} cases[] = {
		{"fifo", "fifo is a FIFO, not a file", -EINVAL},
		{"folder", "folder is a folder, not a file", -EISDIR},
		{"zero", "zero is a device, not a file", -EINVAL},
		{"loop", "can't open loop: Too many levels of symbolic links", -ELOOP},
		{"absent", "can't open absent: No such file or directory", -ENOENT},
		{"large", "large is larger than 1 MiB", -EFBIG},
	};
	char folder[] = "/tmp/sonde-strange-XXXXXX", command[64], *text;
	struct mapped map;
	size_t n;

	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(symlink("/dev/zero", "zero"), 0);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(file_write("plain", "text", 4), 0);
	assert_int_equal(file_write("large", "", 0), 0);
	assert_int_equal(truncate("large", 1ll << 36), 0);
	alarm(HANGS_AFTER_SECONDS);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(file_read_plain(cases[i].path, 1 << 20, &text, &n), cases[i].err);
		assert_string_equal(err_sentence(), cases[i].sentence);
		if (cases[i].err != -EFBIG)
			assert_int_equal(file_map_plain(&map, cases[i].path), cases[i].err);
	}
	assert_int_equal(file_read_plain("plain", 4, &text, &n), 0);
	assert_string_equal(text, "text");
	free(text);
	assert_int_equal(file_map_plain(&map, "plain"), 0);
	assert_int_equal(map.n, 4);
	file_unmap(&map);
	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void fifos_in_the_cache(void **state)
{
	const struct build_id id = {.n = 2, .bytes = {0xab, 0xcd}};
	const struct kernel_cache_key key = {{1, 2}};
	char folder[] = "/tmp/sonde-strange-XXXXXX", path[64];
	struct unwind_tables *tables = unwind_tables_new(false);
	struct kernel_copy copy;
	struct mapped map;

	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	snprintf(path, sizeof(path), "%s/sonde", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/sonde/unwind-abcd", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/sonde/kernel-symbols", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(HANGS_AFTER_SECONDS);
	assert_null(unwind_tables_find(tables, &id));
	assert_false(kernel_cache_load(&key, &copy, &map));
	unwind_tables_free(tables);
	snprintf(path, sizeof(path), "rm -r %s", folder);
	assert_int_equal(system(path), 0);
}

enum { PID = 0x7ffffff0 }; // more than the kernel gives

// The symbol at an address of code without a file, or why there is none.
static void look_up(bool foreign_maps, char ret[512])
{
	const struct sym_options options = {.root = "/nowhere",
					    .no_cache_dir = true,
					    .foreign_maps = foreign_maps};
	_Alignas(8) char bytes[sizeof(struct record_mmap2) + 8] = {0};
	struct record_mmap2 *record = (void *)bytes;
	struct location location;
	struct sym *sym;

	record->header = (struct perf_event_header){.type = PERF_RECORD_MMAP2,
						    .misc = PERF_RECORD_MISC_USER,
						    .size = sizeof(bytes)};
	record->pid = record->tid = PID;
	record->start = record->len = 0x1000;
	record->prot = PROT_EXEC;
	memcpy(record->filename, "//anon", 7);
	assert_int_equal(sym_new(&sym, &options), 0);
	assert_int_equal(sym_record(sym, &record->header, 1), 0);
	location = sym_resolve(sym, sym_task(sym, PID, PID), PERF_RECORD_MISC_USER, 0x1010);
	assert_non_null(location.dso);
	snprintf(ret, 512, "%s", location.sym ? location.sym->name : location.dso->note);
	sym_free(sym);
}

static void in_place_of_perfmaps(void **state)
{
	static const char text[] = "1000 100 jitted\n";
	char path[64], found[512], expected[512];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", PID);
	unlink(path);
	rmdir(path);
	alarm(HANGS_AFTER_SECONDS);
	look_up(false, found);
	snprintf(expected, 512, "%s is not here: let the JIT compiler write it", path);
	assert_string_equal(found, expected);

	assert_int_equal(mkfifo(path, 0600), 0);
	look_up(false, found);
	snprintf(expected, 512, "%s is a FIFO, not a file", path);
	assert_string_equal(found, expected);
	unlink(path);

	assert_int_equal(mkdir(path, 0700), 0);
	look_up(false, found);
	snprintf(expected, 512, "%s is a folder, not a file", path);
	assert_string_equal(found, expected);
	rmdir(path);

	assert_int_equal(symlink("/dev/zero", path), 0);
	look_up(false, found);
	snprintf(expected, 512, "%s is a device, not a file", path);
	assert_string_equal(found, expected);
	unlink(path);

	assert_int_equal(file_write(path, text, sizeof(text) - 1), 0);
	look_up(false, found);
	assert_string_equal(found, "jitted");
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		look_up(false, found);
		snprintf(expected, 512, "%s belongs to user 65534, ", path);
		assert_memory_equal(found, expected, strlen(expected));
		look_up(true, found);
		assert_string_equal(found, "jitted");
		assert_int_equal(chown(path, 0, 0), 0);
	}
	assert_int_equal(truncate(path, 100ll << 30), 0);
	look_up(false, found);
	snprintf(expected, 512, "%s is larger than 256 MiB, so it is not read", path);
	assert_string_equal(found, expected);
	unlink(path);
}

static void map_code(struct sym *sym, uint64_t start, uint64_t length)
{
	_Alignas(8) char bytes[sizeof(struct record_mmap2) + 8] = {0};
	struct record_mmap2 *record = (void *)bytes;

	record->header = (struct perf_event_header){.type = PERF_RECORD_MMAP2,
						    .misc = PERF_RECORD_MISC_USER,
						    .size = sizeof(bytes)};
	record->pid = record->tid = PID;
	record->start = start;
	record->len = length;
	record->prot = PROT_EXEC;
	memcpy(record->filename, "//anon", 7);
	assert_int_equal(sym_record(sym, &record->header, 1), 0);
}

static const struct dso *dso_of_pid(const struct sym *sym)
{
	for (size_t i = 0; i < sym->dsos.n; i++) {
		if (sym->dsos.v[i]->pid == PID)
			return sym->dsos.v[i];
	}
	return NULL;
}

static void check_name(struct sym *sym, uint64_t ip, const char *name)
{
	struct location location;

	location = sym_resolve(sym, sym_task(sym, PID, PID), PERF_RECORD_MISC_USER, ip);
	assert_non_null(location.dso);
	if (!name)
		assert_null(location.sym);
	else
		assert_string_equal(location.sym ? location.sym->name : "none", name);
}

// Lines of more code than the process has name nothing, and hide nothing that was written before; when it has more they are read.
static void names_of_all_there_is(void **state)
{
	static const char text[] =
		"1010 10 f\n2010 10 g\n500000 20 gone\n0 7fffffffffffffff zero\n800 2800 around\n"
		"ffffffffffffff00 200 wraps\n10000 8000 large\n";
	const struct sym_options options = {.root = "/nowhere", .no_cache_dir = true};
	char path[64];
	struct sym *sym;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", PID);
	unlink(path);
	file = fopen(path, "w");
	fputs(text, file);
	fclose(file);
	assert_int_equal(sym_new(&sym, &options), 0);
	map_code(sym, 0x1000, 0x1000);
	map_code(sym, 0x2000, 0x1000); // one piece with the other
	check_name(sym, 0x1018, "f");
	check_name(sym, 0x2018, "g");
	check_name(sym, 0x1000, NULL);
	assert_non_null(strstr(dso_of_pid(sym)->refused, "4 of its lines are not used"));
	map_code(sym, 0x10000, 0x10000);
	check_name(sym, 0x10800, "large");
	check_name(sym, 0x1019, "f");
	check_name(sym, 0x2019, "g");
	assert_non_null(strstr(dso_of_pid(sym)->refused, "3 of its lines are not used"));
	sym_free(sym);
	unlink(path);
}

RUN_TESTS(TEST(only_plain_files_are_opened), TEST(fifos_in_the_cache), TEST(in_place_of_perfmaps),
	  TEST(names_of_all_there_is))
