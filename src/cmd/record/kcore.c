// SPDX-License-Identifier: GPL-2.0-or-later
// --kcore: the recording is a folder; beside the records lie the kernel's symbols, its modules and its code as it is in
// memory (patched, with ftrace and BPF trampolines), for annotate on another day or machine.
// Layout: perf's "perf.data directory format": data, kcore_dir/{kallsyms,modules,kcore}.
#include "base/err.h"
#include "base/file.h"
#include "cmd/record/record.h"
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum {
	MOST_TEXT = 256 << 20, // of kallsyms and modules
	MOST_SEGMENTS = 1 << 12,
	PAGE = 4096,
};

// What of the kernel's address space is code, as kallsyms tells.
struct code {
	uint64_t start, end;		     // of the kernel itself
	uint64_t modules_start, modules_end; // 0, 0: none
};

static int copy_text(const char *from, const char *to, char **ret_text)
{
	auto_free char *text = NULL;
	size_t n = 0;
	auto_close int fd = -1;
	int err = file_read(from, MOST_TEXT, &text, &n);

	// A kernel without modules has no list of them.
	if (err && (err != -ENOENT || ret_text))
		return fail(-err, "--kcore: can't read %s: %s", from, strerror(-err));
	fd = open(to, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0400);
	if (fd < 0)
		return fail(errno, "can't create %s: %s", to, strerror(errno));
	err = n ? write_all(fd, text, n) : 0;
	if (err)
		return fail(-err, "can't write %s: %s", to, strerror(-err));
	if (ret_text) {
		*ret_text = text;
		text = NULL;
	}
	return 0;
}

// "ffffffff81000000 T _stext", "... t name\t[module]"
static int find_code(const char *kallsyms, struct code *ret)
{
	struct code code = {0};
	struct str rest = str_of(kallsyms);

	while (rest.p) {
		struct str line = str_cut(&rest, '\n'), name = line;
		struct str address = str_cut(&name, ' ');
		uint64_t at;

		str_cut(&name, ' ');
		if (num_parse_hex(address, &at) < 0 || !at)
			continue;
		if (str_is(name, "_stext"))
			code.start = at;
		else if (str_is(name, "_etext"))
			code.end = at;
		else if (memchr(name.p, '\t', name.n)) {
			code.modules_start = code.modules_start ? MIN(code.modules_start, at) : at;
			code.modules_end = MAX(code.modules_end, at + 1);
		}
	}
	if (!code.start || code.end <= code.start)
		return fail(EACCES,
			    "--kcore: the kernel hides its addresses from this user; run as root, and: sysctl "
			    "kernel.kptr_restrict=0");
	code.start &= ~(uint64_t)(PAGE - 1);
	code.end = (code.end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	code.modules_start &= ~(uint64_t)(PAGE - 1);
	// The end of the last function is not known: perf takes one page more as well.
	if (code.modules_end)
		code.modules_end = ((code.modules_end + PAGE - 1) & ~(uint64_t)(PAGE - 1)) + PAGE;
	*ret = code;
	return 0;
}

// One range of addresses and where /proc/kcore has it.
struct piece {
	Elf64_Phdr header;
	uint64_t from;
};

static size_t cut(const Elf64_Phdr *segment, uint64_t start, uint64_t end, struct piece *ret)
{
	uint64_t segment_end = segment->p_vaddr + segment->p_filesz;

	start = MAX(start, segment->p_vaddr);
	end = MIN(end, segment_end);
	if (segment->p_type != PT_LOAD || segment_end < segment->p_vaddr || start >= end)
		return 0;
	*ret = (struct piece){.header = *segment,
			      .from = segment->p_offset + (start - segment->p_vaddr)};
	ret->header.p_vaddr = start;
	ret->header.p_paddr = 0;
	ret->header.p_filesz = ret->header.p_memsz = end - start;
	ret->header.p_align = PAGE;
	return 1;
}

static int copy_piece(int from, int to, const struct piece *piece)
{
	enum { CHUNK = 1 << 20 };
	auto_free char *buf = xmalloc(CHUNK);
	uint64_t left = piece->header.p_filesz, at = piece->from, to_at = piece->header.p_offset;

	while (left) {
		size_t n = MIN(left, (uint64_t)CHUNK);
		ssize_t got = pread(from, buf, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || got % PAGE) // pages that are not there read as zero
			memset(buf, 0, n);
		if (got <= 0 || got % PAGE)
			got = (ssize_t)n;
		if (pwrite(to, buf, (size_t)got, (off_t)to_at) != got)
			return -errno;
		left -= (uint64_t)got;
		at += (uint64_t)got;
		to_at += (uint64_t)got;
	}
	return 0;
}

static int copy_code(const char *to, const struct code *code)
{
	auto_close int in = open("/proc/kcore", O_RDONLY | O_CLOEXEC), out = -1;
	auto_free Elf64_Phdr *segments = NULL;
	struct piece pieces[8];
	Elf64_Ehdr header;
	size_t n = 0;
	uint64_t at;

	if (in < 0)
		return fail(errno, "--kcore: can't open /proc/kcore: %s%s", strerror(errno),
			    errno == ENOENT ? " (this kernel was built without CONFIG_PROC_KCORE)"
					    : "; run as root");
	if (pread(in, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > MOST_SEGMENTS)
		return fail(EINVAL, "--kcore: /proc/kcore is not laid out as expected");
	segments = xcalloc(header.e_phnum + 1u, sizeof(*segments));
	size_t size = header.e_phnum * sizeof(*segments);
	if (pread(in, segments, size, (off_t)header.e_phoff) != (ssize_t)size)
		return fail(EIO, "--kcore: /proc/kcore can't be read");
	for (size_t i = 0; i < header.e_phnum && n + 2 <= ARRAY_SIZE(pieces); i++) {
		n += cut(&segments[i], code->start, code->end, &pieces[n]);
		n += cut(&segments[i], code->modules_start, code->modules_end, &pieces[n]);
	}
	if (!n)
		return fail(ENOENT, "--kcore: /proc/kcore does not hold the kernel's code");
	out = open(to, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0400);
	if (out < 0)
		return fail(errno, "can't create %s: %s", to, strerror(errno));
	header.e_phoff = sizeof(header);
	header.e_phnum = (uint16_t)n;
	header.e_shoff = 0;
	header.e_shnum = header.e_shstrndx = 0;
	at = PAGE;
	for (size_t i = 0; i < n; i++) {
		pieces[i].header.p_offset = at;
		at += pieces[i].header.p_filesz;
		size_t place = sizeof(header) + i * sizeof(pieces[i].header);
		if (pwrite(out, &pieces[i].header, sizeof(pieces[i].header), (off_t)place) < 0)
			return fail(errno, "can't write %s: %s", to, strerror(errno));
	}
	if (pwrite(out, &header, sizeof(header), 0) < 0)
		return fail(errno, "can't write %s: %s", to, strerror(errno));
	for (size_t i = 0; i < n; i++) {
		int err = copy_piece(in, out, &pieces[i]);

		if (err)
			return fail(-err, "can't write %s: %s", to, strerror(-err));
	}
	return 0;
}

int kcore_save(const char *folder)
{
	auto_free char *dir = text_dup_fmt("%s/kcore_dir", folder);
	auto_free char *kallsyms = text_dup_fmt("%s/kallsyms", dir);
	auto_free char *modules = text_dup_fmt("%s/modules", dir);
	auto_free char *kcore = text_dup_fmt("%s/kcore", dir);
	auto_free char *text = NULL;
	struct code code;
	int err;

	if (mkdir(dir, 0700) < 0)
		return fail(errno, "can't make %s: %s", dir, strerror(errno));
	err = copy_text("/proc/kallsyms", kallsyms, &text);
	if (!err)
		err = find_code(text, &code);
	if (!err)
		err = copy_text("/proc/modules", modules, NULL);
	return err ? err : copy_code(kcore, &code);
}

void kcore_remove(const char *folder)
{
	static const char *const names[] = {"data", "kcore_dir/kallsyms", "kcore_dir/modules",
					    "kcore_dir/kcore"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *path = text_dup_fmt("%s/%s", folder, names[i]);
		unlink(path);
	}
	auto_free char *dir = text_dup_fmt("%s/kcore_dir", folder);
	rmdir(dir);
	rmdir(folder);
}
