// SPDX-License-Identifier: GPL-2.0-or-later
// Empties the cache of files by build-id, whatever state it is in.
#include <fts.h>
#include <stdio.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/log.h"
#include "sym/idcache.h"

enum { SHOWN = 10 };

struct purge {
	const char *folder;
	size_t folder_n;
	unsigned failed, foreign;
};

static bool is_id(const char *name)
{
	struct build_id id;

	return strlen(name) >= 16 && build_id_parse(name, &id);
}

// What sonde and perf put into an entry's folder.
static bool is_known(const char *name)
{
	static const char *const names[] = {"elf",    "kallsyms", "vdso", "debug",
					    "probes", "modules",  "kcore"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

// Is it the cache's? Its folder may hold other things: $PERF_BUILDID_DIR can be any. Folders of names stay, as with perf.
static bool is_ours(const struct purge *purge, const FTSENT *entry)
{
	const char *inside = entry->fts_path + purge->folder_n;
	bool is_folder = entry->fts_info == FTS_DP;

	inside += strspn(inside, "/");
	if (is_id(entry->fts_name) && (is_folder || entry->fts_info == FTS_F))
		return true;
	if (is_folder)
		return false;
	if (text_starts(inside, ".build-id/"))
		return entry->fts_level <= 3;
	return entry->fts_info == FTS_F && is_known(entry->fts_name) &&
	       is_id(entry->fts_parent->fts_name);
}

static void tell(unsigned *count, const char *path, const char *what)
{
	if ((*count)++ < SHOWN)
		warn("Couldn't remove %s: %s", path, what);
}

static void take(struct purge *purge, const FTSENT *entry)
{
	switch (entry->fts_info) {
	case FTS_D:
		return;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		tell(&purge->failed, entry->fts_path, strerror(entry->fts_errno));
		return;
	}
	if (!entry->fts_level)
		return;
	if (!is_ours(purge, entry)) {
		if (entry->fts_info != FTS_DP)
			tell(&purge->foreign, entry->fts_path, "it is not the cache's");
		return;
	}
	if (remove(entry->fts_path) < 0)
		tell(&purge->failed, entry->fts_path, strerror(errno));
}

int idcache_purge(const char *folder)
{
	struct purge purge = {.folder = folder, .folder_n = strlen(folder)};
	char *roots[] = {(char *)folder, NULL};
	FTS *tree;
	FTSENT *entry;

	if (access(folder, F_OK) < 0 && errno == ENOENT)
		return 0;
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	if (!tree)
		return fail(errno, "can't read %s: %s", folder, strerror(errno));
	while ((entry = fts_read(tree)))
		take(&purge, entry);
	fts_close(tree);
	if (purge.failed > SHOWN)
		warn("and %u more", purge.failed - SHOWN);
	if (purge.foreign > SHOWN)
		warn("and %u more that are not the cache's", purge.foreign - SHOWN);
	return purge.failed ? fail(EIO, "%s could not be emptied", folder) : 0;
}
