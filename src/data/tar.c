// SPDX-License-Identifier: GPL-2.0-or-later
#include "data/tar.h"
#include <errno.h>
#include <stdio.h>
#include "base/alloc.h"
#include "base/num.h"

enum { BLOCK = 512 };

struct header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static bool octal(const char *p, size_t n, uint64_t *ret)
{
	size_t i = 0;

	*ret = 0;
	// GNU's binary form of large numbers
	if ((unsigned char)p[0] == 0x80) {
		for (i = 1; i < n; i++) {
			if (*ret >> 55)
				return false;
			*ret = *ret << 8 | (unsigned char)p[i];
		}
		return true;
	}
	while (i < n && p[i] == ' ')
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		*ret = *ret << 3 | (uint64_t)(p[i] - '0');
	return i == n || p[i] == '\0' || p[i] == ' ';
}

static unsigned checksum(const struct header *header)
{
	const unsigned char *p = (const unsigned char *)header;
	unsigned sum = 0;

	for (size_t i = 0; i < BLOCK; i++) {
		bool is_own =
			i >= offsetof(struct header, checksum) && i < offsetof(struct header, type);
		sum += is_own ? ' ' : p[i];
	}
	return sum;
}

static bool copy_text(struct str from, char ret[4096])
{
	size_t n = strnlen(from.p, from.n);

	if (n >= 4096)
		return false;
	memcpy(ret, from.p, n);
	ret[n] = '\0';
	return true;
}

// "27 path=usr/bin/x\n": the path and linkpath of a pax header.
static void read_pax(struct str text, char name[4096], char link[4096])
{
	while (text.n) {
		struct str rest = text, number = str_cut(&rest, ' '), value, key;
		uint64_t n;

		if (num_parse_u64(number, &n) < 0 || n <= number.n + 1 || n > text.n)
			return;
		value = (struct str){rest.p, n - number.n - 1};
		if (value.n && value.p[value.n - 1] == '\n')
			value.n--;
		key = str_cut(&value, '=');
		if (str_is(key, "path") && value.n)
			copy_text(value, name);
		else if (str_is(key, "linkpath") && value.n)
			copy_text(value, link);
		text.p += n;
		text.n -= n;
	}
}

static enum tar_kind kind_of(char type)
{
	switch (type) {
	case '0':
	case '\0':
	case '7':
		return TAR_FILE;
	case '1':
		return TAR_HARDLINK;
	case '2':
		return TAR_SYMLINK;
	case '5':
		return TAR_FOLDER;
	default:
		return TAR_OTHER;
	}
}

static void put_names(const struct header *header, struct tar_entry *ret)
{
	char name[101], prefix[156];

	if (!*ret->link)
		copy_text((struct str){header->link, sizeof(header->link)}, ret->link);
	if (*ret->name)
		return;
	snprintf(name, sizeof(name), "%.100s", header->name);
	snprintf(prefix, sizeof(prefix), "%.155s", header->prefix);
	if (memcmp(header->magic, "ustar", 6) == 0 && *prefix)
		snprintf(ret->name, sizeof(ret->name), "%s/%s", prefix, name);
	else
		snprintf(ret->name, sizeof(ret->name), "%s", name);
}

int tar_next(struct str *rest, struct tar_entry *ret)
{
	ret->name[0] = ret->link[0] = '\0';
	while (rest->n >= BLOCK) {
		const struct header *header = (const void *)rest->p;
		struct str content;
		uint64_t size, sum;

		if (!header->name[0] && !header->checksum[0])
			return 0; // two empty blocks, of which one is enough
		if (!octal(header->checksum, sizeof(header->checksum), &sum) ||
		    sum != checksum(header) || !octal(header->size, sizeof(header->size), &size) ||
		    size > rest->n - BLOCK)
			return -EINVAL;
		if (kind_of(header->type) != TAR_FILE && kind_of(header->type) != TAR_OTHER)
			size = 0;
		content = (struct str){rest->p + BLOCK, size};
		size = MIN((size + BLOCK - 1) & ~(uint64_t)(BLOCK - 1), rest->n - BLOCK);
		rest->p += BLOCK + size;
		rest->n -= BLOCK + size;
		switch (header->type) {
		case 'L':
			if (!copy_text(content, ret->name))
				return -EINVAL;
			continue;
		case 'K':
			if (!copy_text(content, ret->link))
				return -EINVAL;
			continue;
		case 'x':
			read_pax(content, ret->name, ret->link);
			continue;
		case 'g':
			continue;
		}
		ret->kind = kind_of(header->type);
		ret->content = content;
		put_names(header, ret);
		return 1;
	}
	return rest->n ? -EINVAL : 0;
}

bool tar_name_is_safe(const char *name)
{
	struct str rest = str_of(name);

	if (!rest.n || *name == '/')
		return false;
	while (rest.p) {
		struct str part = str_cut(&rest, '/');

		if (!part.n && !rest.p)
			return true; // "folder/"
		if (!part.n || str_is(part, ".") || str_is(part, ".."))
			return false;
	}
	return true;
}

struct member;
static void put_header(struct out *out, const struct member *member);

struct member {
	const char *name, *link; // link: "" or where it leads
	uint64_t size;
	char type;
};

// What follows is a name that is too long for a header.
static void put_long(struct out *out, const char *text, char type)
{
	const size_t size = strlen(text) + 1;

	put_header(out, &(struct member){"././@LongLink", "", size, type});
	out_bytes(out, text, size);
	out_fill(out, 0, (BLOCK - size % BLOCK) % BLOCK);
}

static void put_header(struct out *out, const struct member *member)
{
	const char *name = member->name, *link = member->link;
	struct header header = {.type = member->type};

	if (strlen(name) > sizeof(header.name))
		put_long(out, name, 'L');
	if (strlen(link) > sizeof(header.link))
		put_long(out, link, 'K');
	memcpy(header.name, name, MIN(strlen(name), sizeof(header.name)));
	memcpy(header.link, link, MIN(strlen(link), sizeof(header.link)));
	memcpy(header.mode, "0000600", 8);
	memcpy(header.uid, "0000000", 8);
	memcpy(header.gid, "0000000", 8);
	snprintf(header.size, sizeof(header.size), "%011llo", (unsigned long long)member->size);
	memcpy(header.mtime, "00000000000", 12);
	memcpy(header.magic, "ustar", 6);
	memcpy(header.version, "00", 2);
	snprintf(header.checksum, sizeof(header.checksum), "%06o", checksum(&header));
	header.checksum[7] = ' ';
	out_bytes(out, &header, sizeof(header));
}

void tar_put_file(struct out *out, const char *name, const void *content, uint64_t size)
{
	put_header(out, &(struct member){name, "", size, '0'});
	out_bytes(out, content, size);
	out_fill(out, 0, (BLOCK - size % BLOCK) % BLOCK);
}

void tar_put_symlink(struct out *out, const char *name, const char *target)
{
	put_header(out, &(struct member){name, target, 0, '2'});
}

void tar_put_end(struct out *out)
{
	out_fill(out, 0, 2 * BLOCK);
}
