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
	MOST_RANGES = 32, // in front of DATA_AT: there are two wanted, and few segments
	MOST_HEADERS = 1 << 20,
	MOST_TEXT = 1 << 28,
};
// Code of one range; more would be no code.
#define MOST_CODE (1ull << 31)

struct range {
	uint64_t start, end, from; // from: offset in kcore
};

struct kcore {
	const char *path;
	char *kallsyms, *modules;
	size_t kallsyms_n, modules_n;
	struct build_id id;
	VEC(struct range) ranges;
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

// Modules stand with their size and address: "ext4 831488 2 - Live 0xffffffffc0400000".
static void module_range(const struct kcore *kcore, struct range *ret)
{
	for (struct str rest = {kcore->modules, kcore->modules_n}; rest.n;) {
		struct str line = str_cut(&rest, '\n'), words[6] = {0};
		uint64_t size, start;

		for (size_t i = 0; i < 6; i++)
			words[i] = str_cut(&line, ' ');
		if (num_parse_u64(words[1], &size) < 0 || num_parse_hex(words[5], &start) < 0 ||
		    !start || start + size < start)
			continue;
		ret->start = ret->end ? MIN(ret->start, start) : start;
		ret->end = MAX(ret->end, start + size);
	}
}

static int find_ranges(struct kcore *kcore, const struct elf *elf)
{
	struct range wanted[2] = {0};
	struct str text = {kcore->kallsyms, kcore->kallsyms_n};
	struct elf_segment segment;

	if (!kallsyms_find(text, "_stext", &wanted[0].start) ||
	    !kallsyms_find(text, "_etext", &wanted[0].end) || !wanted[0].start ||
	    wanted[0].end <= wanted[0].start)
		return fail(EACCES,
			    "kallsyms beside %s doesn't say where the kernel's code lies: "
			    "sysctl kernel.kptr_restrict=0, or run as root",
			    kcore->path);
	module_range(kcore, &wanted[1]);
	for (size_t w = 0; w < 2; w++) {
		wanted[w].start &= ~(uint64_t)(PAGE - 1);
		wanted[w].end = (wanted[w].end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
		for (uint32_t i = 0; elf_segment(elf, i, &segment); i++) {
			uint64_t start = MAX(wanted[w].start, segment.vaddr);
			uint64_t end = MIN(wanted[w].end, segment.vaddr + segment.file_size);

			if (kcore->ranges.n < MOST_RANGES && segment.type == PT_LOAD &&
			    start < end && end - start <= MOST_CODE)
				vec_push(&kcore->ranges,
					 (struct range){start, end,
							segment.offset + start - segment.vaddr});
		}
	}
	if (!kcore->ranges.n)
		return fail(ENOENT, "%s doesn't hold the kernel's code", kcore->path);
	return 0;
}

static int copy_range(int in, int out, const struct range *range)
{
	enum { CHUNK = 1 << 20 };
	auto_free char *chunk = xmalloc(CHUNK);
	uint64_t left = range->end - range->start, at = range->from;

	while (left) {
		ssize_t n = pread(in, chunk, MIN(left, (uint64_t)CHUNK), (off_t)at);
		int err;

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		err = write_all(out, chunk, (size_t)n);
		if (err < 0)
			return err;
		at += (uint64_t)n;
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
	if (err >= 0 && lseek(out, DATA_AT, SEEK_SET) < 0)
		err = -errno;
	vec_each(const struct range, range, &kcore->ranges) {
		if (err >= 0)
			err = copy_range(in, out, range);
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
		return fail(errno, "can't read %s: %s", kcore->path, strerror(errno));
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

static int keep(struct kcore *kcore, const char *folder, bool force)
{
	char id[41], when[32];
	struct timespec now;
	struct tm tm;
	int in = -1, out, err;

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
	auto_free char *code = text_dup_fmt("%s/kcore", entry);
	auto_free char *kallsyms = text_dup_fmt("%s/kallsyms", entry);
	auto_free char *modules = text_dup_fmt("%s/modules", entry);
	err = mkdirs(entry);
	if (err < 0) {
		close(in);
		return fail(-err, "can't make the folder %s: %s", entry, strerror(-err));
	}
	out = open(code, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = out < 0 ? -errno : write_elf(kcore, in, out);
	close(in);
	if (out >= 0 && close(out) < 0 && err >= 0)
		err = -errno;
	if (err < 0) {
		unlink(code);
		rmdir(entry);
		return fail(-err, "can't copy %s to %s: %s", kcore->path, code, strerror(-err));
	}
	err = file_write(kallsyms, kcore->kallsyms, kcore->kallsyms_n);
	return err < 0 ? err : file_write(modules, kcore->modules, kcore->modules_n);
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
