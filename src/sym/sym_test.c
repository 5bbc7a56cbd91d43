// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/sym.h"
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/file.h"
#include "base/out.h"
#include "base/test.h"
#include "obj/elf.h"
#include "sym/private.h"

static struct sym *start(void)
{
	static const struct sym_options options = {.root = "/nowhere",
						   .symfs = "/nowhere",
						   .no_cache_dir = true};
	struct sym *sym;

	assert_int_equal(sym_new(&sym, &options), 0);
	return sym;
}

static uint64_t now = 1;

static void give(struct sym *sym, struct perf_event_header *header, size_t size)
{
	header->size = (uint16_t)((size + 7) & ~7ull);
	assert_int_equal(sym_record(sym, header, now), 0);
}

struct mmap_args {
	uint32_t pid;
	uint64_t start, len, pgoff;
	uint16_t misc;
	uint32_t prot;
};

static void mmap2(struct sym *sym, const char *name, struct mmap_args args)
{
	_Alignas(8) char bytes[512] = {0};
	struct record_mmap2 *record = (void *)bytes;

	record->header.type = PERF_RECORD_MMAP2;
	record->header.misc = args.misc ? args.misc : PERF_RECORD_MISC_USER;
	record->pid = record->tid = args.pid;
	record->start = args.start;
	record->len = args.len;
	record->pgoff = args.pgoff;
	record->prot = args.prot ? args.prot : PROT_READ | PROT_EXEC;
	snprintf(record->filename, 256, "%s", name);
	give(sym, &record->header, sizeof(*record) + strlen(name) + 1);
}

static void comm(struct sym *sym, uint32_t pid, uint32_t tid, const char *name)
{
	_Alignas(8) char bytes[64] = {0};
	struct record_comm *record = (void *)bytes;

	record->header.type = PERF_RECORD_COMM;
	record->pid = pid;
	record->tid = tid;
	snprintf(record->comm, 16, "%s", name);
	give(sym, &record->header, sizeof(*record) + 16);
}

static void task(struct sym *sym, uint32_t type, const uint32_t ids[4], uint16_t misc)
{
	struct record_task record = {.header = {.type = type, .misc = misc},
				     .pid = ids[0],
				     .tid = ids[1],
				     .ppid = ids[2],
				     .ptid = ids[3]};

	give(sym, &record.header, sizeof(record));
}

static const char *where(struct sym *sym, uint32_t tid, uint64_t ip)
{
	struct location location;

	location = sym_resolve(sym, sym_find_task(sym, tid), PERF_RECORD_MISC_USER, ip);
	return location.dso ? location.dso->name : "nowhere";
}

static void comms(void **state)
{
	struct sym *sym = start();

	assert_string_equal(task_comm(sym, sym_task(sym, 0, 0)), "swapper");
	assert_string_equal(task_comm(sym, sym_task(sym, 5, 6)), ":6");
	assert_string_equal(task_comm(sym, sym_task(sym, UINT32_MAX, UINT32_MAX)), ":-1");
	comm(sym, 5, 5, "make");
	task(sym, PERF_RECORD_FORK, (uint32_t[]){7, 7, 5, 5}, 0);
	assert_string_equal(task_comm(sym, sym_task(sym, 7, 7)), "make");
	comm(sym, 7, 7, "cc1");
	assert_string_equal(task_comm(sym, sym_task(sym, 7, 7)), "cc1");
	// A child of a task without a known name has none either.
	task(sym, PERF_RECORD_FORK, (uint32_t[]){9, 9, 8, 8}, 0);
	assert_string_equal(task_comm(sym, sym_task(sym, 9, 9)), ":9");
	sym_free(sym);
}

// sh starts taskset, which becomes load: each on a CPU of its own, and their rings are read backward.
static void older_names_come_late(void **state)
{
	struct sym *sym = start();

	sym->options.live = true;
	comm(sym, 5, 5, "sh");
	now = 40;
	comm(sym, 7, 7, "load");
	now = 30;
	comm(sym, 7, 7, "taskset");
	assert_string_equal(task_comm(sym, sym_task(sym, 7, 7)), "load");
	now = 20;
	task(sym, PERF_RECORD_FORK, (uint32_t[]){7, 7, 5, 5}, 0);
	assert_string_equal(task_comm(sym, sym_task(sym, 7, 7)), "load");
	now = 50;
	task(sym, PERF_RECORD_FORK, (uint32_t[]){7, 7, 5, 5}, 0); // the number again
	assert_string_equal(task_comm(sym, sym_task(sym, 7, 7)), "sh");
	now = UINT64_MAX; // asked of /proc
	comm(sym, 7, 7, "asked");
	now = 60;
	comm(sym, 7, 7, "told");
	assert_string_equal(task_comm(sym, sym_task(sym, 7, 7)), "told");
	sym->options.live = false; // of a recording, as it comes
	now = 20;
	comm(sym, 7, 7, "last");
	assert_string_equal(task_comm(sym, sym_task(sym, 7, 7)), "last");
	now = 1;
	sym_free(sym);
}

static void threads_share_maps(void **state)
{
	struct sym *sym = start();

	mmap2(sym, "/bin/a", (struct mmap_args){.pid = 5, .start = 0x1000, .len = 0x1000});
	task(sym, PERF_RECORD_FORK, (uint32_t[]){5, 6, 5, 5}, 0);
	assert_ptr_equal(sym_task(sym, 5, 5)->space, sym_task(sym, 5, 6)->space);
	assert_string_equal(where(sym, 6, 0x1800), "/bin/a");
	// Whose process is learned late joins it then.
	assert_string_equal(task_comm(sym, sym_task(sym, UINT32_MAX, 77)), ":77");
	assert_string_equal(where(sym, 77, 0x1800), "nowhere");
	sym_task(sym, 5, 77);
	assert_string_equal(where(sym, 77, 0x1800), "/bin/a");
	sym_free(sym);
}

static void forks_copy_maps(void **state)
{
	struct sym *sym = start();

	mmap2(sym, "/bin/a", (struct mmap_args){.pid = 5, .start = 0x1000, .len = 0x1000});
	task(sym, PERF_RECORD_FORK, (uint32_t[]){7, 7, 5, 5}, 0);
	task(sym, PERF_RECORD_FORK, (uint32_t[]){8, 8, 5, 5}, 1 << 13);
	mmap2(sym, "/bin/b", (struct mmap_args){.pid = 7, .start = 0x1800, .len = 0x1000});
	assert_string_equal(where(sym, 7, 0x1000), "/bin/a");
	assert_string_equal(where(sym, 7, 0x1900), "/bin/b");
	assert_string_equal(where(sym, 5, 0x1900), "/bin/a");
	assert_string_equal(where(sym, 8, 0x1900), "nowhere");
	// The number is used again.
	task(sym, PERF_RECORD_EXIT, (uint32_t[]){7, 7, 5, 5}, 0);
	assert_true(sym_find_task(sym, 7)->exited);
	assert_string_equal(where(sym, 7, 0x1900), "/bin/b");
	task(sym, PERF_RECORD_FORK, (uint32_t[]){7, 7, 1, 1}, 0);
	assert_string_equal(where(sym, 7, 0x1900), "nowhere");
	sym_free(sym);
}

static void jit_names(const uint32_t pid, const char *text)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	unlink(path);
	if (text)
		assert_int_equal(file_write(path, text, strlen(text)), 0);
}

static const char *named(struct sym *sym, uint32_t pid)
{
	struct location location;

	location = sym_resolve(sym, sym_find_task(sym, pid), PERF_RECORD_MISC_USER, 0x1010);
	return location.sym ? location.sym->name : "nothing";
}

// Whoever is asked for first: PARENT's and CHILD's names, NULL: it wrote none.
static void forks_name(const char *const texts[2], const char *const names[2])
{
	enum { PARENT = 4194400, CHILD };
	const struct sym_options options = {.root = "/nowhere",
					    .no_cache_dir = true,
					    .foreign_maps = true};

	for (unsigned first = 0; first < 2; first++) {
		struct sym *sym;

		for (unsigned i = 0; i < 2; i++)
			jit_names(PARENT + i, texts[i]);
		assert_int_equal(sym_new(&sym, &options), 0);
		mmap2(sym, "/nowhere/code",
		      (struct mmap_args){.pid = PARENT, .start = 0x1000, .len = 0x1000});
		task(sym, PERF_RECORD_FORK, (uint32_t[]){CHILD, CHILD, PARENT, PARENT}, 0);
		for (unsigned i = 0; i < 4; i++) {
			unsigned who = (first + i) % 2;

			assert_string_equal(named(sym, PARENT + who), names[who]);
		}
		sym_free(sym);
		for (unsigned i = 0; i < 2; i++)
			jit_names(PARENT + i, NULL);
	}
}

static void forks_have_perf_maps_of_their_own(void **state)
{
	static const char before[] = "1000 100 before\n", after[] = "1000 100 after\n";

	forks_name((const char *[]){before, after}, (const char *[]){"before", "after"});
	forks_name((const char *[]){NULL, after}, (const char *[]){"nothing", "after"});
	// It goes on with the code that was there.
	forks_name((const char *[]){before, NULL}, (const char *[]){"before", "before"});
	forks_name((const char *[]){NULL, NULL}, (const char *[]){"nothing", "nothing"});
}

// A live run of a million short processes holds as many as live, and those that died lately.
static void dead_tasks_give_way(void **state)
{
	struct sym *sym;

	assert_int_equal(sym_new(&sym, &(struct sym_options){.root = "/nonexistent",
							     .live = true,
							     .no_cache_dir = true}),
			 0);
	mmap2(sym, "/bin/a", (struct mmap_args){.pid = 5, .start = 0x1000, .len = 0x1000});
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t pid = 100 + i % 60000;

		task(sym, PERF_RECORD_FORK, (uint32_t[]){pid, pid, 5, 5}, 0);
		task(sym, PERF_RECORD_FORK, (uint32_t[]){pid, pid + 100000, pid, pid}, 0);
		assert_string_equal(where(sym, pid + 100000, 0x1800), "/bin/a");
		task(sym, PERF_RECORD_EXIT, (uint32_t[]){pid, pid, 5, 5}, 0);
		task(sym, PERF_RECORD_EXIT, (uint32_t[]){pid, pid + 100000, 5, 5}, 0);
		assert_string_equal(where(sym, pid, 0x1800), "/bin/a"); // late samples
	}
	assert_true(sym->tasks.n < 10000);
	assert_string_equal(where(sym, 5, 0x1800), "/bin/a");
	sym_free(sym);
}

static void overlapping_maps_are_cut(void **state)
{
	struct sym *sym = start();
	struct location location;

	mmap2(sym, "/a",
	      (struct mmap_args){.pid = 1, .start = 0x1000, .len = 0x4000, .pgoff = 0x100});
	mmap2(sym, "/b", (struct mmap_args){.pid = 1, .start = 0x2000, .len = 0x1000});
	assert_string_equal(where(sym, 1, 0x1fff), "/a");
	assert_string_equal(where(sym, 1, 0x2000), "/b");
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_USER, 0x3010);
	assert_string_equal(location.dso->name, "/a");
	assert_int_equal(location.addr, 0x2110);
	assert_int_equal(location.level, '.');
	mmap2(sym, "/c", (struct mmap_args){.pid = 1, .start = 0x800, .len = 0x9000});
	assert_int_equal(sym_task(sym, 1, 1)->space->maps.n, 1);
	// An end below the start is no map.
	mmap2(sym, "/d", (struct mmap_args){.pid = 1, .start = 0x800, .len = UINT64_MAX});
	assert_string_equal(where(sym, 1, 0x900), "/c");
	sym_free(sym);
}

static void names_of_dsos(void **state)
{
	static const struct {
		const char *name, *dso, *short_name;
		enum dso_kind kind;
		uint32_t prot;
	} cases[] = {
		{"/usr/lib/libc.so.6", "/usr/lib/libc.so.6", "libc.so.6", DSO_USER, PROT_EXEC},
		{"/x/a (deleted)", "/x/a (deleted)", "a (deleted)", DSO_USER, PROT_EXEC},
		{"//anon", "/tmp/perf-3.map", "[JIT] tid 3", DSO_ANON, PROT_EXEC},
		{"//anon", "//anon", "anon", DSO_ANON, PROT_READ},
		{"[heap]", "[heap]", "[heap]", DSO_ANON, PROT_READ},
		{"[stack]", "/tmp/perf-3.map", "[JIT] tid 3", DSO_ANON, PROT_EXEC},
		{"/SYSV00000000", "/SYSV00000000", "SYSV00000000", DSO_ANON, PROT_READ},
		{"[vdso]", "[vdso]", "[vdso]", DSO_VDSO, PROT_EXEC},
		{"[vsyscall]", "[vsyscall]", "[vsyscall]", DSO_USER, PROT_EXEC},
		{"/memfd:x (deleted)", "/memfd:x (deleted)", "memfd:x (deleted)", DSO_USER, PROT_EXEC},
		{"//toolong", "//toolong", "toolong", DSO_USER, PROT_EXEC},
		{"anon_inode:[io_uring]", "anon_inode:[io_uring]", "anon_inode:[io_uring]",
		 DSO_USER, PROT_READ},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sym *sym = start();
		struct location location;

		mmap2(sym, cases[i].name,
		      (struct mmap_args){.pid = 3,
					 .start = 0x1000,
					 .len = 0x1000,
					 .prot = cases[i].prot});
		location = sym_resolve_map(sym, sym_task(sym, 3, 3), PERF_RECORD_MISC_USER, 0x1000);
		assert_non_null(location.dso);
		assert_string_equal(location.dso->name, cases[i].dso);
		assert_string_equal(location.dso->short_name, cases[i].short_name);
		assert_int_equal(location.dso->kind, cases[i].kind);
		sym_free(sym);
	}
}

static void names_of_modules(void **state)
{
	static const struct {
		const char *path, *name;
		bool is_module, is_compressed;
	} cases[] = {
		{"/lib/modules/6.1/kernel/fs/ext4/ext4.ko", "[ext4]", true, false},
		{"/lib/modules/6.1/snd-hda-intel.ko.xz", "[snd_hda_intel]", true, true},
		{"/x/a.ko.gz", "[a]", true, true},
		{"/x/a.b.ko.zst", "[a.b]", true, true},
		{"[ext4]", "[ext4]", true, false},
		{"[a-b.ko]", "[a-b.ko]", true, false},
		{"[kernel.kallsyms]", "[kernel.kallsyms]", false, false},
		{"[guest.kernel.kallsyms.5]", "[guest.kernel.kallsyms.5]", false, false},
		{"/boot/vmlinux-6.1", "vmlinux_6.1", false, false},
		{"/x/plain-name", "plain-name", false, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct module_name name;

		module_name_parse(&name, cases[i].path);
		assert_string_equal(name.name, cases[i].name);
		assert_int_equal(name.is_module, cases[i].is_module);
		assert_int_equal(name.is_compressed, cases[i].is_compressed);
	}
}

// A root with /proc/kallsyms; the caller removes it.
static void make_root(char root[64], const char *kallsyms)
{
	char path[128];

	snprintf(root, 64, "/tmp/sonde-sym-test-XXXXXX");
	assert_non_null(mkdtemp(root));
	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	assert_int_equal(file_write(path, kallsyms, strlen(kallsyms)), 0);
}

static void remove_root(const char *root)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	rmdir(root);
}

static void kernel_of_kallsyms(void **state)
{
	struct location location;
	struct sym *sym;
	char root[64];

	make_root(root, "ffffffff82000000 T _text\n"
			"ffffffff82000100 t __do_thing\n"
			"ffffffff82000100 T do_thing\n"
			"ffffffff82000200 r not_code\n"
			"ffffffff82001000 T goes_for_good\n"
			"ffffffff82001100 T __pfx_another\n"
			"ffffffff82001110 T another\n"
			"ffffffff82002000 T last\n"
			"ffffffffc0000000 t module_init\t[ext4]\n"
			"ffffffffc0000100 t module_run\t[ext4]\n"
			"ffffffffc0100000 t other\t[unknown]\n");
	sym_new(&sym, &(const struct sym_options){.root = root, .no_cache_dir = true});
	// Recorded at another place than where the kernel is now.
	mmap2(sym, "[kernel.kallsyms]_text",
	      (struct mmap_args){.pid = UINT32_MAX,
				 .start = 0xffffffff81000000,
				 .len = 0x1000000,
				 .pgoff = 0xffffffff81000000,
				 .misc = PERF_RECORD_MISC_KERNEL});
	mmap2(sym, "/lib/modules/6.1/ext4.ko",
	      (struct mmap_args){.pid = UINT32_MAX,
				 .start = 0xffffffffc0000000,
				 .len = 0x1000,
				 .misc = PERF_RECORD_MISC_KERNEL});
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL, 0xffffffff81000110);
	assert_string_equal(location.dso->name, "[kernel.kallsyms]");
	assert_int_equal(location.level, 'k');
	assert_string_equal(location.sym->name, "do_thing");
	assert_int_equal(location.addr - location.sym->start, 0x10);
	assert_int_equal(location.dso->origin, 'k');
	// Nothing returns to the padding of a function, and what was interrupted may be at its first instruction.
	location = sym_resolve_return(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL,
				      0xffffffff81001100);
	assert_string_equal(location.sym->name, "goes_for_good");
	assert_int_equal(location.addr - location.sym->start, 0x100);
	location = sym_resolve_return(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL,
				      0xffffffff81001110);
	assert_string_equal(location.sym->name, "another");
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL, 0xffffffffc0000104);
	assert_string_equal(location.dso->short_name, "[ext4]");
	assert_int_equal(location.dso->kind, DSO_MODULE);
	assert_string_equal(location.sym->name, "module_run");
	assert_int_equal(location.addr, 0x104);
	// A guess that was wrong is put right.
	location = sym_resolve_guess(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_USER,
				     0xffffffff81000000);
	assert_string_equal(location.sym->name, "_text");
	sym_free(sym);
	remove_root(root);
}

// What a recording knows of a file is found by which one it is; of a perf map, by its name.
static void facts_of_files(void **state)
{
	const struct file_id id = {{1, 2, 3}}, none = {{0}};
	struct sym *sym;

	sym_new(&sym, &(const struct sym_options){.root = "", .no_cache_dir = true});
	sym_learn_file(sym, &(const struct file_facts){.name = "/tmp/perf-tool", .id = id});
	sym_learn_file(sym, &(const struct file_facts){.name = "/tmp/perf-5.map", .id = id});
	sym_learn_file(sym, &(const struct file_facts){.name = "/tmp/perf-5.map.old", .id = id});
	assert_non_null(sym_facts(sym, "/tmp/perf-tool", &id));
	assert_null(sym_facts(sym, "/tmp/perf-tool", &none));
	assert_non_null(sym_facts(sym, "/tmp/perf-5.map", &none));
	assert_null(sym_facts(sym, "/tmp/perf-5.map.old", &none));
	sym_free(sym);
}

static void another_kernel_is_refused(void **state)
{
	struct location location;
	struct sym *sym;
	char root[64];

	make_root(root, "ffffffff81000000 T _text\n");
	sym_new(&sym, &(const struct sym_options){.root = root,
						  .no_cache_dir = true,
						  .other_machine = true});
	mmap2(sym, "[kernel.kallsyms]_text",
	      (struct mmap_args){.pid = UINT32_MAX,
				 .start = 0xffffffff81000000,
				 .len = 0x1000000,
				 .pgoff = 0xffffffff81000000,
				 .misc = PERF_RECORD_MISC_KERNEL});
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL, 0xffffffff81000000);
	assert_string_equal(location.dso->name, "[kernel.kallsyms]");
	assert_null(location.sym);
	assert_non_null(location.dso->note);
	sym_free(sym);
	remove_root(root);
}

static void hidden_addresses_are_said(void **state)
{
	struct location location;
	struct sym *sym;
	char root[64];

	make_root(root, "0000000000000000 T _text\n0000000000000000 T _etext\n");
	sym_new(&sym, &(const struct sym_options){.root = root, .no_cache_dir = true});
	mmap2(sym, "[kernel.kallsyms]_text",
	      (struct mmap_args){.pid = UINT32_MAX,
				 .start = 0xffffffff81000000,
				 .len = 0x1000000,
				 .misc = PERF_RECORD_MISC_KERNEL});
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_KERNEL, 0xffffffff81000000);
	assert_null(location.sym);
	assert_non_null(strstr(location.dso->note, "kptr_restrict"));
	sym_free(sym);
	remove_root(root);
}

static void bpf_programs_come_and_go(void **state)
{
	_Alignas(8) char bytes[128] = {0};
	struct record_ksymbol *record = (void *)bytes;
	struct sym *sym = start();
	struct location location;

	record->header.type = PERF_RECORD_KSYMBOL;
	record->addr = 0xffffffffa0000000;
	record->len = 0x100;
	record->ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF;
	strcpy(record->name, "bpf_prog_1234_x");
	give(sym, &record->header, sizeof(*record) + 16);
	location = sym_resolve(sym, NULL, PERF_RECORD_MISC_KERNEL, 0xffffffffa0000010);
	assert_string_equal(location.sym->name, "bpf_prog_1234_x");
	assert_int_equal(location.addr - location.sym->start, 0x10);
	assert_int_equal(location.dso->kind, DSO_BPF);
	record->flags = PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	give(sym, &record->header, sizeof(*record) + 16);
	location = sym_resolve(sym, NULL, PERF_RECORD_MISC_KERNEL, 0xffffffffa0000010);
	assert_null(location.dso);
	sym_free(sym);
}

struct ool {
	const char *name;
	uint64_t addr;
	uint32_t len;
	bool gone;
};

static void ool(struct sym *sym, const struct ool *made)
{
	_Alignas(8) char bytes[128] = {0};
	struct record_ksymbol *record = (void *)bytes;

	record->header.type = PERF_RECORD_KSYMBOL;
	record->addr = made->addr;
	record->len = made->len;
	record->ksym_type = PERF_RECORD_KSYMBOL_TYPE_OOL;
	record->flags = made->gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0;
	strcpy(record->name, made->name);
	give(sym, &record->header, sizeof(*record) + 32);
}

static const char *name_at(struct sym *sym, uint64_t addr)
{
	struct location location;

	location = sym_resolve(sym, NULL, PERF_RECORD_MISC_KERNEL, addr);
	return location.sym ? location.sym->name : "";
}

// Code that the kernel makes beside its own (ftrace, optimised kprobes), and changes of code in place.
static void trampolines_come_and_go(void **state)
{
	enum { PAGE = 4096 };
	const uint64_t at = 0xffffffffa0200000, text = 0xffffffff81000000;
	char root[64];
	_Alignas(8) char bytes[64] = {0};
	struct record_text_poke *poke = (void *)bytes;
	struct sym *sym;

	make_root(root,
		  "ffffffff81000000 T _text\nffffffff81000000 T first\nffffffff81000400 T second\n"
		  "ffffffff81000800 T third\nffffffff81001000 T _etext\n");
	sym_new(&sym, &(const struct sym_options){.root = root, .no_cache_dir = true});
	mmap2(sym, "[kernel.kallsyms]_text",
	      (struct mmap_args){.pid = UINT32_MAX,
				 .start = text,
				 .len = 0x1000000,
				 .misc = PERF_RECORD_MISC_KERNEL});
	ool(sym, &(struct ool){"ftrace_trampoline", at, PAGE});
	assert_string_equal(name_at(sym, at + 0x10), "ftrace_trampoline");
	assert_string_equal(name_at(sym, at + PAGE), "");
	// The same pages for something else, with word of it and without.
	ool(sym, &(struct ool){"ftrace_trampoline", at, PAGE, .gone = true});
	assert_string_equal(name_at(sym, at + 0x10), "");
	ool(sym, &(struct ool){"kprobe_optinsn_page", at, PAGE});
	assert_string_equal(name_at(sym, at + 0x10), "kprobe_optinsn_page");
	ool(sym, &(struct ool){"kprobe_insn_page", at, PAGE});
	assert_string_equal(name_at(sym, at + 0x10), "kprobe_insn_page");
	ool(sym, &(struct ool){"kprobe_insn_page", at, PAGE, .gone = true});
	assert_string_equal(name_at(sym, at + 0x10), "");
	// A jump is put into a function: its name stays.
	assert_string_equal(name_at(sym, text + 0x404), "second");
	poke->header.type = PERF_RECORD_TEXT_POKE;
	poke->addr = text + 0x404;
	poke->old_len = poke->new_len = 5;
	memcpy(poke->bytes, "\x0f\x1f\x44\0\0\xe9\1\2\3\4", 10);
	give(sym, &poke->header, 40);
	assert_string_equal(name_at(sym, text + 0x404), "second");
	// Inside of the kernel's own range: only where it is.
	ool(sym, &(struct ool){"patched", text + 0x900, 0x100});
	assert_string_equal(name_at(sym, text + 0x910), "patched");
	assert_string_equal(name_at(sym, text + 0x10), "first");
	assert_string_equal(name_at(sym, text + 0x810), "third");
	ool(sym, &(struct ool){"patched", text + 0x900, 0x100, .gone = true});
	assert_string_equal(name_at(sym, text + 0x910), "third");
	sym_free(sym);
	remove_root(root);
}

static void own_symbols(void **state)
{
	static const char name[] = "/proc/self/exe";
	struct location location;
	struct sym *sym;
	char path[256] = {0};
	uint64_t load;

	assert_true(readlink(name, path, sizeof(path) - 1) > 0);
	sym_new(&sym, &(const struct sym_options){.no_cache_dir = true});
	// The distance between a function's address and its place in the file, from the file itself.
	mmap2(sym, path, (struct mmap_args){.pid = 1, .start = 0x10000000, .len = 1 << 20});
	const struct symbol *symbol =
		dso_find_symbol_by_name(sym, sym_task(sym, 1, 1)->space->maps.v[0]->dso,
					"own_symbols");
	assert_non_null(symbol);
	load = 0x10000000 + symbol->start;
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_USER, load + 1);
	assert_string_equal(location.sym->name, "own_symbols");
	assert_int_equal(location.addr - location.sym->start, 1);
	sym_free(sym);
}

static void imported_functions_have_stubs(void **state)
{
	const struct symbol *symbols;
	char path[256] = {0};
	struct sym *sym;
	size_t n, stubs_n = 0;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	sym_new(&sym, &(const struct sym_options){.no_cache_dir = true});
	mmap2(sym, path, (struct mmap_args){.pid = 1, .start = 0x10000000, .len = 1 << 20});
	n = dso_symbols(sym, sym_task(sym, 1, 1)->space->maps.v[0]->dso, &symbols);
	for (size_t i = 0; i < n; i++)
		stubs_n += !strcmp(symbols[i].name, "readlink@plt") ||
			   !strcmp(symbols[i].name, "strcmp@plt");
	assert_int_equal(stubs_n, 2);
	sym_free(sym);
}

// What of a file's stubs has no name of its own is nobody's: _init, which tells no size, ends with its section.
static void stubs_are_not_init(void **state)
{
	static const char *const sections[] = {".plt", ".plt.got", ".plt.sec"};
	char path[256] = {0};
	struct mapped file;
	struct elf elf;
	struct sym *sym;
	struct dso *dso;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(file_map(&file, path), 0);
	assert_int_equal(elf_init(&elf, file.p, file.n), 0);
	sym_new(&sym, &(const struct sym_options){.no_cache_dir = true});
	mmap2(sym, path, (struct mmap_args){.pid = 1, .start = 0x10000000, .len = 1 << 20});
	dso = sym_task(sym, 1, 1)->space->maps.v[0]->dso;
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		struct elf_section section;

		if (!elf_find_section(&elf, sections[i], &section))
			continue;
		for (uint64_t at = 0; at < section.size; at += 4) {
			const struct symbol *symbol = dso_find_symbol(sym, dso, section.offset + at);

			if (symbol)
				assert_true(text_ends(symbol->name, "@plt"));
			else // the first entry calls the linker
				assert_true(i == 0 && at < 16);
		}
	}
	sym_free(sym);
	file_unmap(&file);
}

// The table of a file, as text; *ret_kept: it came from what an earlier run kept.
static char *table_of(const char *path, const struct sym_options *options, bool *ret_kept)
{
	const struct symbol *symbols;
	struct sym *sym;
	struct out out;
	size_t n;

	sym_new(&sym, options);
	mmap2(sym, path, (struct mmap_args){.pid = 1, .start = 0x10000000, .len = 1 << 20});
	out_init_memory(&out);
	// One is asked for before all are.
	(void)dso_find_symbol(sym, sym_task(sym, 1, 1)->space->maps.v[0]->dso, 0x2000);
	n = dso_symbols(sym, sym_task(sym, 1, 1)->space->maps.v[0]->dso, &symbols);
	for (size_t i = 0; i < n; i++)
		out_printf(&out, "%llx %llx %s %u %u %u %u\n", (unsigned long long)symbols[i].start,
			   (unsigned long long)symbols[i].end, symbols[i].name, symbols[i].binding,
			   symbols[i].type, symbols[i].is_place, symbols[i].guessed_end);
	out_char(&out, '\0');
	*ret_kept = sym->private->copies.n;
	sym_free(sym);
	return out.buf;
}

static void kept_symbols(void **state)
{
	char folder[] = "/tmp/sonde-kept-XXXXXX", path[64], command[128];
	const struct sym_options none = {.debug_dir = folder, .no_cache_dir = true};
	const struct sym_options with = {.debug_dir = folder};
	const struct sym_options functions = {.debug_dir = folder, .functions = true};
	char *own, *first, *second;
	bool kept;

	assert_non_null(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
	snprintf(path, sizeof(path), "%s/program", folder);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s", getpid(), path);
	assert_int_equal(system(command), 0);
	own = table_of(path, &none, &kept);
	assert_false(kept);
	assert_non_null(strstr(own, " kept_symbols "));
	first = table_of(path, &with, &kept);
	assert_false(kept);
	second = table_of(path, &with, &kept);
	assert_true(kept);
	assert_string_equal(first, own);
	assert_string_equal(second, own);
	free(first);
	free(second);
	// What would give another table is not answered by it.
	first = table_of(path, &functions, &kept);
	assert_false(kept);
	second = table_of(path, &functions, &kept);
	assert_true(kept);
	assert_string_equal(second, first);
	free(first);
	free(second);
	// Which stays.
	first = table_of(path, &with, &kept);
	assert_true(kept);
	free(first);
	snprintf(command, sizeof(command), "touch -d yesterday %s", path);
	assert_int_equal(system(command), 0);
	first = table_of(path, &functions, &kept);
	assert_false(kept);
	free(first);
	free(own);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void another_build_id_is_refused(void **state)
{
	static const struct build_id id = {20, {1, 2, 3}};
	struct location location;
	char path[256] = {0};
	struct sym *sym;

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	sym_new(&sym, &(const struct sym_options){.no_cache_dir = true});
	sym_build_id(sym, path, PERF_RECORD_MISC_USER, &id);
	mmap2(sym, path, (struct mmap_args){.pid = 1, .start = 0x10000000, .len = 1 << 20});
	location = sym_resolve(sym, sym_task(sym, 1, 1), PERF_RECORD_MISC_USER, 0x10002000);
	assert_null(location.sym);
	assert_non_null(strstr(location.dso->note, "build-id"));
	sym_free(sym);
}

static void malformed_records_change_nothing(void **state)
{
	struct sym *sym = start();
	struct perf_event_header header = {.type = PERF_RECORD_MMAP2, .size = 16};
	size_t tasks = sym->tasks.n;

	assert_true(sym_record(sym, &header, 0) < 0);
	assert_int_equal(sym->tasks.n, tasks);
	sym_free(sym);
}

RUN_TESTS(TEST(comms), TEST(older_names_come_late), TEST(threads_share_maps), TEST(forks_copy_maps),
	  TEST(forks_have_perf_maps_of_their_own), TEST(dead_tasks_give_way),
	  TEST(overlapping_maps_are_cut), TEST(names_of_dsos), TEST(names_of_modules),
	  TEST(kernel_of_kallsyms), TEST(facts_of_files), TEST(another_kernel_is_refused),
	  TEST(hidden_addresses_are_said), TEST(bpf_programs_come_and_go),
	  TEST(trampolines_come_and_go), TEST(own_symbols), TEST(imported_functions_have_stubs),
	  TEST(stubs_are_not_init), TEST(kept_symbols), TEST(another_build_id_is_refused),
	  TEST(malformed_records_change_nothing))
