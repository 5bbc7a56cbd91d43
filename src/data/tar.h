// SPDX-License-Identifier: GPL-2.0-or-later
// tar archives in memory: files, folders, links; ustar, and GNU's and pax's long names. Layout: tar(5).
#pragma once
#include "base/out.h"
#include "base/str.h"
#include <stdbool.h>
#include <stdint.h>

enum tar_kind { TAR_FILE, TAR_FOLDER, TAR_SYMLINK, TAR_HARDLINK, TAR_OTHER };

struct tar_entry {
	enum tar_kind kind;
	char name[4096], link[4096];
	struct str content; // of a file, in the archive
};

// The next entry: 1; 0 at the end; -EINVAL (no sentence) for damage.
int tar_next(struct str *rest, struct tar_entry *ret);
// A relative path that stays below where it starts: no "..", no empty or "." part, not absolute.
bool tar_name_is_safe(const char *name);

void tar_put_file(struct out *out, const char *name, const void *content, uint64_t size);
void tar_put_symlink(struct out *out, const char *name, const char *target);
void tar_put_end(struct out *out);
