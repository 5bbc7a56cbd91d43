// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/identity.h"
#include <errno.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/hash.h"
#include "base/num.h"

void build_id_text(const struct build_id *id, char ret[41])
{
	num_put_bytes(ret, id->bytes, id->n);
}

static uint64_t device_word(unsigned major, unsigned minor)
{
	return major | (uint64_t)minor << 32;
}

// 0: not known
static uint64_t generation_of(int fd)
{
	int generation = 0;

	return ioctl(fd, FS_IOC_GETVERSION, &generation) < 0 ? 0 : (uint32_t)generation;
}

bool file_id_read(int fd, struct file_id *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	*ret = (struct file_id){
		{device_word(major(st.st_dev), minor(st.st_dev)), st.st_ino, generation_of(fd)}};
	return true;
}

// The numbers as /proc/PID/maps has them, which is what records have: those of a map of our own.
static bool numbers_in_maps(int fd, uint64_t *ret_device, uint64_t *ret_inode)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	char line[512];
	bool found = false;
	FILE *maps;

	if (at == MAP_FAILED)
		return false;
	maps = fopen("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		unsigned long long start, inode;
		unsigned major, minor;

		if (sscanf(line, "%llx-%*x %*s %*x %x:%x %llu", &start, &major, &minor, &inode) != 4 ||
		    start != (uintptr_t)at)
			continue;
		*ret_device = device_word(major, minor);
		*ret_inode = inode;
		found = true;
	}
	if (maps)
		fclose(maps);
	munmap(at, page);
	return found;
}

static bool same_generation(const struct file_id *id, int fd)
{
	// `inject --jit` writes 1.
	uint64_t here = id->words[2] > 1 ? generation_of(fd) : 0;

	return !here || here == id->words[2];
}

enum likeness file_likeness(const struct file_id *id, int fd, bool is_same_boot)
{
	uint64_t device, inode;
	struct statfs fs;
	struct stat st;

	if (!id->words[1] || fstat(fd, &st) < 0)
		return LIKE_UNKNOWN;
	device = device_word(major(st.st_dev), minor(st.st_dev));
	if (st.st_ino == id->words[1] && (!is_same_boot || device == id->words[0]))
		return same_generation(id, fd) ? LIKE_SAME : LIKE_OTHER;
	if (fstatfs(fd, &fs) < 0 || fs.f_type == OVERLAYFS_SUPER_MAGIC ||
	    !numbers_in_maps(fd, &device, &inode))
		return LIKE_UNKNOWN;
	if (inode == id->words[1] && (!is_same_boot || device == id->words[0]))
		return LIKE_SAME;
	return inode == st.st_ino ? LIKE_OTHER : LIKE_UNKNOWN;
}

bool file_print_read(int fd, struct file_print *ret)
{
	enum { PIECES = 256, PIECE = 4096 };
	uint64_t hash = 0, size, n;
	char piece[PIECE];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	size = (uint64_t)st.st_size;
	n = MIN(PIECES, (size + PIECE - 1) / PIECE);
	for (uint64_t i = 0; i < n; i++) {
		// The first piece begins where the file does, the last one ends there.
		uint64_t at = n < PIECES ? i * PIECE : i * ((size - PIECE) / (PIECES - 1));
		ssize_t got;

		if (i + 1 == PIECES)
			at = size - PIECE;
		got = pread(fd, piece, sizeof(piece), (off_t)at);
		if (got <= 0)
			return false;
		hash = hash_mix(hash, hash_bytes(piece, (size_t)got));
	}
	*ret = (struct file_print){(uint64_t)st.st_size, hash};
	return true;
}

// "file DEVICE INODE GENERATION SIZE HASH BUILD-ID NAME", BUILD-ID "-" where there is none and "?" where nothing is known, and a tab
// and the path where that is another.
char *file_facts_text(const struct file_facts *facts)
{
	const uint64_t *id = facts->id.words;
	char build_id[41] = "-";

	if (strpbrk(facts->name, "\n\t") || (facts->path && strpbrk(facts->path, "\n\t")))
		return NULL;
	if (facts->build_id.n)
		build_id_text(&facts->build_id, build_id);
	return text_dup_fmt("file %llx %llx %llx %llx %llx %s %s%s%s", (unsigned long long)id[0],
			    (unsigned long long)id[1], (unsigned long long)id[2],
			    (unsigned long long)facts->print.size,
			    (unsigned long long)facts->print.hash, facts->is_lost ? "?" : build_id,
			    facts->name, facts->path ? "\t" : "", facts->path ? facts->path : "");
}

static bool parse_build_id(struct str text, struct file_facts *ret)
{
	if (str_is(text, "?"))
		ret->is_lost = true;
	else if (!str_is(text, "-")) {
		if (!text.n || text.n % 2 || text.n / 2 > sizeof(ret->build_id.bytes))
			return false;
		ret->build_id.n = (uint8_t)(text.n / 2);
		for (unsigned i = 0; i < ret->build_id.n; i++) {
			uint64_t byte;

			if (num_parse_hex((struct str){text.p + 2 * i, 2}, &byte) < 0)
				return false;
			ret->build_id.bytes[i] = (uint8_t)byte;
		}
	}
	return true;
}

bool file_facts_parse(struct str line, struct file_facts *ret)
{
	struct file_facts facts = {0};
	uint64_t *numbers[] = {&facts.id.words[0], &facts.id.words[1], &facts.id.words[2],
			       &facts.print.size, &facts.print.hash};
	struct str name;

	if (!str_is(str_cut(&line, ' '), "file"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (num_parse_hex(str_cut(&line, ' '), numbers[i]) < 0)
			return false;
	}
	if (!parse_build_id(str_cut(&line, ' '), &facts))
		return false;
	name = str_cut(&line, '\t');
	if (!name.n || memchr(name.p, '\0', name.n))
		return false;
	facts.name = str_dup(name);
	facts.path = line.n ? str_dup(line) : NULL;
	*ret = facts;
	return true;
}
