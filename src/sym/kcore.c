// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/kcore.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "base/vec.h"
#include "obj/elf.h"
#include "sym/kallsyms.h"
#include "sym/load.h"

enum {
	PAGE = 4096,
	DATA_AT = 2 * PAGE,
	MOST_RANGES = 64, // their headers lie in front of DATA_AT
	MOST_HEADERS = 1 << 20,
	MOST_TEXT = 1 << 28,
};
// Code of one range; more would be no code.
#define MOST_CODE (1ull << 31)

struct range {
	uint64_t start, end, from; // from: offset in kcore
};

struct ranges {
	struct range *v;
	size_t n, capacity;
};

struct kcore {
	const char *path;
	char *kallsyms, *modules;
	size_t kallsyms_n, modules_n;
	struct build_id id;
	struct ranges ranges;
	uint16_t machine;
};

static int read_beside(const char *folder, const char *name, char **ret, size_t *ret_size)
{
	auto_free char *path = text_dup_fmt("%s/%s", folder, name);
	int err = file_read(path, MOST_TEXT, ret, ret_size);

	return err < 0 ? fail(-err, "can't read %s: %s", path, strerror(-err)) : 0;
}

static int read_id(const char *folder, struct build_id *ret)
{
	auto_free char *path = text_dup_fmt("%s/../sys/kernel/notes", folder), *notes = NULL;
	size_t n;
	int err = file_read(path, 1 << 20, &notes, &n);

	if (err < 0)
		return fail(-err, "can't read %s, which tells the kernel's build-id: %s", path,
			    strerror(-err));
	ret->n = (uint8_t)notes_build_id((struct str){notes, n}, false, ret->bytes);
	return ret->n ? 0 : fail(ENOENT, "%s has no build-id of the kernel", path);
}

// Whole pages; what goes on where the last range ends makes that one longer.
static void want(struct ranges *ranges, uint64_t start, uint64_t end)
{
	struct range *last = ranges->n ? &vec_last(ranges) : NULL;

	start &= ~(uint64_t)(PAGE - 1);
	end = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	if (end <= start)
		return;
	if (last && start >= last->start && start <= last->end)
		last->end = MAX(last->end, end);
	else
		vec_push(ranges, (struct range){.start = start, .end = end});
}

// Modules stand with their size and address: "ext4 831488 2 - Live 0xffffffffc0400000".
static void want_modules(const struct kcore *kcore, struct ranges *ranges)
{
	for (struct str rest = {kcore->modules, kcore->modules_n}; rest.n;) {
		struct str line = str_cut(&rest, '\n'), words[6] = {0};
		uint64_t size, start;

		for (size_t i = 0; i < 6; i++)
			words[i] = str_cut(&line, ' ');
		if (num_parse_u64(words[1], &size) == 0 && num_parse_hex(words[5], &start) == 0 &&
		    start && start + size > start)
			want(ranges, start, start + size);
	}
}

// What the kernel made while it runs, for BPF and ftrace, is known to kallsyms only; so is code of modules in pieces. How
// long the last function of a page goes on nobody says.
static void want_symbols(const struct kcore *kcore, struct ranges *ranges)
{
	struct kallsyms_line line;

	for (struct str rest = {kcore->kallsyms, kcore->kallsyms_n}; kallsyms_next(&rest, &line);) {
		if ((line.type == 't' || line.type == 'T') && line.addr < UINT64_MAX - PAGE &&
		    memchr(line.name.p, '\t', line.name.n))
			want(ranges, line.addr, line.addr + 1);
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

// Sorted, and so few that their headers have room; gaps between them are taken along.
static void merge_ranges(struct ranges *ranges)
{
	if (ranges->n)
		qsort(ranges->v, ranges->n, sizeof(*ranges->v), compare_ranges);
	for (uint64_t gap = 1 << 20; gap < MOST_CODE; gap *= 2) {
		size_t n = 0;

		for (size_t i = 1; i < ranges->n; i++) {
			struct range *last = &ranges->v[n], *next = &ranges->v[i];

			if (next->start <= last->end || next->start - last->end < gap)
				last->end = MAX(last->end, next->end);
			else
				ranges->v[++n] = *next;
		}
		ranges->n = ranges->n ? n + 1 : 0;
		if (ranges->n <= MOST_RANGES / 2)
			return;
	}
}

static int find_ranges(struct kcore *kcore, const struct elf *elf)
{
	struct str text = {kcore->kallsyms, kcore->kallsyms_n};
	struct elf_segment segment;
	struct ranges wanted = {0};
	uint64_t start, end;

	if (!kallsyms_find(text, "_stext", &start) || !kallsyms_find(text, "_etext", &end) ||
	    !start || end <= start)
		return fail(EACCES,
			    "kallsyms beside %s doesn't say where the kernel's code lies: "
			    "sysctl kernel.kptr_restrict=0, or run as root",
			    kcore->path);
	want_modules(kcore, &wanted);
	want_symbols(kcore, &wanted);
	merge_ranges(&wanted);
	// The kernel's own comes first.
	(void)vec_add(&wanted);
	memmove(wanted.v + 1, wanted.v, (wanted.n - 1) * sizeof(*wanted.v));
	wanted.v[0] = (struct range){.start = start & ~(uint64_t)(PAGE - 1),
				     .end = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1)};
	vec_each(const struct range, w, &wanted) {
		for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
			uint64_t from = MAX(w->start, segment.vaddr);
			uint64_t to = MIN(w->end, segment.vaddr + segment.file_size);

			if (kcore->ranges.n < MOST_RANGES && segment.type == PT_LOAD && from < to &&
			    to - from <= MOST_CODE)
				vec_push(&kcore->ranges,
					 (struct range){from, to,
							segment.offset + from - segment.vaddr});
		}
	}
	vec_done(&wanted);
	if (!kcore->ranges.n)
		return fail(ENOENT, "%s doesn't hold the kernel's code", kcore->path);
	return 0;
}

static bool is_zero(const char *p, size_t n)
{
	return n && !p[0] && memcmp(p, p + 1, n - 1) == 0;
}

// What is not there, or only zeros, becomes a hole of the file.
static int copy_range(int in, int out, const struct range *range, uint64_t to)
{
	enum { CHUNK = 1 << 18 };
	auto_free char *chunk = xmalloc(CHUNK);
	uint64_t left = range->end - range->start, at = range->from;

	while (left) {
		ssize_t n = pread(in, chunk, MIN(left, (uint64_t)CHUNK), (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			n = PAGE; // pages that nobody has
		else if (!is_zero(chunk, (size_t)n) && pwrite(out, chunk, (size_t)n, (off_t)to) != n)
			return errno ? -errno : -ENOSPC;
		n = (ssize_t)MIN((uint64_t)n, left);
		at += (uint64_t)n;
		to += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return 0;
}

static int write_elf(const struct kcore *kcore, int in, int out)
{
	uint64_t at = DATA_AT;
	Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = kcore->machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)kcore->ranges.n,
	};
	int err = write_all(out, &head, sizeof(head));

	vec_each(const struct range, range, &kcore->ranges) {
		Elf64_Phdr segment = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = at,
			.p_vaddr = range->start,
			.p_filesz = range->end - range->start,
			.p_memsz = range->end - range->start,
			.p_align = PAGE,
		};

		if (err >= 0)
			err = write_all(out, &segment, sizeof(segment));
		at += segment.p_filesz;
	}
	// The code begins at a page, as its addresses do.
	if (err >= 0 && ftruncate(out, (off_t)at) < 0)
		err = -errno;
	at = DATA_AT;
	vec_each(const struct range, range, &kcore->ranges) {
		errno = 0;
		if (err >= 0)
			err = copy_range(in, out, range, at);
		at += range->end - range->start;
	}
	return err;
}

static int open_kcore(struct kcore *kcore, int *ret)
{
	auto_close int fd = open(kcore->path, O_RDONLY | O_CLOEXEC);
	auto_free uint8_t *head = xmalloc(MOST_HEADERS);
	struct elf elf;
	ssize_t n;
	int err;

	if (fd < 0)
		return fail(errno, "can't open %s: %s%s", kcore->path, strerror(errno),
			    errno == ENOENT ? " (this kernel was built without CONFIG_PROC_KCORE)"
			    : errno == EACCES || errno == EPERM ? "; run as root"
								: "");
	n = pread(fd, head, MOST_HEADERS, 0);
	if (n <= 0 || elf_init(&elf, head, (size_t)n) < 0 || !elf.is_64bit || elf.swap)
		return fail(EINVAL, "%s is no kcore of a machine like this one", kcore->path);
	kcore->machine = elf.machine;
	err = find_ranges(kcore, &elf);
	if (err < 0)
		return err;
	*ret = fd;
	fd = -1;
	return 0;
}

// The same modules at the same addresses, and the kernel itself: then the code is the same as well.
static bool is_kept(const struct kcore *kcore, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *found;
	bool is_same = false;

	while (dir && !is_same && (found = readdir(dir))) {
		auto_free char *modules = NULL, *kallsyms = NULL;
		auto_free char *path = text_dup_fmt("%s/%s", folder, found->d_name);
		uint64_t here, there;
		size_t modules_n, kallsyms_n;

		if (found->d_name[0] == '.' ||
		    read_beside(path, "modules", &modules, &modules_n) < 0 ||
		    read_beside(path, "kallsyms", &kallsyms, &kallsyms_n) < 0)
			continue;
		is_same = modules_n == kcore->modules_n &&
			  memcmp(modules, kcore->modules, modules_n) == 0 &&
			  kallsyms_find((struct str){kcore->kallsyms, kcore->kallsyms_n}, "_stext",
					&here) &&
			  kallsyms_find((struct str){kallsyms, kallsyms_n}, "_stext", &there) &&
			  here == there;
	}
	if (dir)
		closedir(dir);
	err_clear();
	return is_same;
}

// The three files; takes back what it made when it fails.
static int write_entry(const struct kcore *kcore, int in, const char *entry)
{
	auto_free char *code = text_dup_fmt("%s/kcore", entry);
	auto_free char *kallsyms = text_dup_fmt("%s/kallsyms", entry);
	auto_free char *modules = text_dup_fmt("%s/modules", entry);
	int out, err = mkdirs(entry);

	if (err < 0)
		return fail(-err, "can't make the folder %s: %s", entry, strerror(-err));
	out = open(code, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = out < 0 ? -errno : write_elf(kcore, in, out);
	if (out >= 0 && close(out) < 0 && err >= 0)
		err = -errno;
	if (err < 0)
		fail(-err, "can't copy %s to %s: %s", kcore->path, code, strerror(-err));
	if (err >= 0)
		err = file_write(kallsyms, kcore->kallsyms, kcore->kallsyms_n);
	if (err >= 0)
		err = file_write(modules, kcore->modules, kcore->modules_n);
	if (err < 0) {
		unlink(code);
		unlink(kallsyms);
		unlink(modules);
		rmdir(entry);
	}
	return err;
}

static int keep(struct kcore *kcore, const char *folder, bool force)
{
	char id[41], when[32];
	struct timespec now;
	struct tm tm;
	int in = -1, err;

	build_id_text(&kcore->id, id);
	auto_free char *all = text_dup_fmt("%s/[kernel.kcore]/%s", folder, id);
	if (!force && is_kept(kcore, all))
		return 0;
	err = open_kcore(kcore, &in);
	if (err < 0)
		return err;
	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(when, sizeof(when), "%Y%m%d%H%M%S", &tm);
	auto_free char *entry = text_dup_fmt("%s/%s%02ld", all, when, now.tv_nsec / 10000000);
	err = write_entry(kcore, in, entry);
	close(in);
	return err;
}

int kcore_keep(const char *path, const char *folder, bool force)
{
	const char *slash = strrchr(path, '/');
	struct kcore kcore = {.path = path};
	int err;

	if (strcmp(slash ? slash + 1 : path, "kcore"))
		return fail(EINVAL, "%s is not called kcore", path);
	auto_free char *beside =
		slash ? str_dup((struct str){path, (size_t)(slash - path)}) : xstrdup(".");
	err = read_id(beside, &kcore.id);
	if (err >= 0)
		err = read_beside(beside, "kallsyms", &kcore.kallsyms, &kcore.kallsyms_n);
	if (err >= 0)
		err = read_beside(beside, "modules", &kcore.modules, &kcore.modules_n);
	if (err >= 0)
		err = keep(&kcore, folder, force);
	free(kcore.kallsyms);
	free(kcore.modules);
	vec_done(&kcore.ranges);
	return err;
}

int kcore_save(const char *proc, const char *folder)
{
	auto_free char *path = text_dup_fmt("%s/kcore", proc);
	struct kcore kcore = {.path = path};
	int in = -1, err;

	err = read_beside(proc, "kallsyms", &kcore.kallsyms, &kcore.kallsyms_n);
	// A kernel without modules has no list of them.
	if (err >= 0 && read_beside(proc, "modules", &kcore.modules, &kcore.modules_n) < 0)
		err_clear();
	if (err >= 0)
		err = open_kcore(&kcore, &in);
	if (err >= 0) {
		err = write_entry(&kcore, in, folder);
		close(in);
	}
	free(kcore.kallsyms);
	free(kcore.modules);
	vec_done(&kcore.ranges);
	return err;
}

bool kcore_find_kallsyms(const char *folder, const char *id, char *ret, size_t ret_size)
{
	auto_free char *all = text_dup_fmt("%s/[kernel.kcore]/%s", folder, id);
	DIR *dir = opendir(all);
	struct dirent *entry;
	char newest[256] = "";

	while (dir && (entry = readdir(dir))) {
		auto_free char *path = text_dup_fmt("%s/%s/kallsyms", all, entry->d_name);

		// Their names are times.
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, newest) > 0 &&
		    access(path, R_OK) == 0)
			snprintf(newest, sizeof(newest), "%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return *newest && snprintf(ret, ret_size, "%s/%s/kallsyms", all, newest) < (int)ret_size;
}
