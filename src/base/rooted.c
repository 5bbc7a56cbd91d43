// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/rooted.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/alloc.h"
#include "base/str.h"

enum { MOST_LINKS = 40 }; // as the kernel's

// What a link says, or NULL with errno; 0: it is none.
static char *link_text(const char *root, const char *path)
{
	auto_free char *full = text_dup_fmt("%s%s", root, path);
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;

	errno = 0;
	if (lstat(full, &st) < 0 || !S_ISLNK(st.st_mode))
		return NULL;
	n = readlink(full, text, sizeof(text));
	if (n < 0 || n == sizeof(text))
		return NULL;
	return str_dup((struct str){text, (size_t)n});
}

static void replace(char **text, char *with)
{
	free(*text);
	*text = with;
}

static void drop_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

char *rooted_path_dup(const char *root, const char *path)
{
	auto_free char *done = xstrdup(""), *rest = xstrdup(path);
	unsigned links = 0;

	while (*rest) {
		struct str more = str_of(rest), first = str_cut(&more, '/');
		auto_free char *part = str_dup(first), *text = NULL;

		replace(&rest, str_dup(more));
		if (!*part || !strcmp(part, "."))
			continue;
		if (!strcmp(part, "..")) {
			drop_last(done);
			continue;
		}
		replace(&done, text_dup_fmt("%s/%s", done, part));
		text = link_text(root, done);
		if (!text && errno)
			return NULL;
		if (!text)
			continue;
		if (++links > MOST_LINKS) {
			errno = ELOOP;
			return NULL;
		}
		if (*text == '/')
			*done = '\0';
		else
			drop_last(done);
		replace(&rest, text_dup_fmt("%s/%s", text, rest));
	}
	return *done ? xstrdup(done) : xstrdup("/");
}
