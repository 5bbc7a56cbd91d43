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

char *rooted_path_dup(const char *root, const char *path)
{
	auto_free char *done = xstrdup(""), *rest = xstrdup(path);
	unsigned links = 0;

	while (*rest) {
		struct str more = str_of(rest), part = str_cut(&more, '/');
		auto_free char *was = rest, *before = done;
		char *text;

		rest = more.p ? str_dup(more) : xstrdup("");
		if (!part.n || str_is(part, ".")) {
			done = xstrdup(before);
			continue;
		}
		if (str_is(part, "..")) {
			const char *slash = strrchr(before, '/');

			done = str_dup((struct str){before, slash ? (size_t)(slash - before) : 0});
			continue;
		}
		done = text_dup_fmt("%s/%.*s", before, STR_FMT(part));
		text = link_text(root, done);
		if (!text && errno)
			return NULL;
		if (!text)
			continue;
		if (++links > MOST_LINKS) {
			free(text);
			errno = ELOOP;
			return NULL;
		}
		auto_free char *left = rest, *followed = done;
		rest = text_dup_fmt("%s/%s", text, left);
		done = xstrdup(*text == '/' ? "" : before);
		free(text);
	}
	return *done ? xstrdup(done) : xstrdup("/");
}
