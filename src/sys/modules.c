// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/modules.h"
#include <fts.h>
#include "base/alloc.h"
#include "base/file.h"

void module_files_init(struct module_files *ret, const char *root)
{
	auto_free char *text = NULL, *dep = NULL;
	struct str release = str_of("");

	*ret = (struct module_files){.root = root};
	if (file_read_at(root, "/proc/sys/kernel/osrelease", &text, NULL) == 0)
		release = str_trim(str_of(text));
	ret->folder = text_dup_fmt("/lib/modules/%.*s", STR_FMT(release));
	dep = text_dup_fmt("%s/modules.dep", ret->folder);
	// Without a release it would be what others may have put there.
	if (!release.n || file_read_at(root, dep, &ret->dep, NULL) < 0)
		ret->dep = NULL;
	ret->has_walked = !release.n;
}

void module_files_done(struct module_files *files)
{
	for (size_t i = 0; i < files->installed.n; i++)
		free(files->installed.v[i]);
	vec_done(&files->installed);
	free(files->folder);
	free(files->dep);
	*files = (struct module_files){0};
}

// "snd-hda.ko.xz" is the file of snd_hda.
static bool is_file_of(struct str path, struct str name)
{
	const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
	struct str base = path;
	size_t i = 0;

	if (slash)
		base = (struct str){slash + 1, path.n - (size_t)(slash + 1 - path.p)};
	while (i < name.n && i < base.n &&
	       (base.p[i] == name.p[i] || (base.p[i] == '-' && name.p[i] == '_')))
		i++;
	return i == name.n && base.n > i + 2 && !memcmp(base.p + i, ".ko", 3) &&
	       (base.n == i + 3 || base.p[i + 3] == '.');
}

static void walk(struct module_files *files)
{
	auto_free char *start = text_dup_fmt("%s%s", files->root, files->folder);
	char *const starts[] = {start, NULL};
	// Links lead to sources and build trees.
	FTS *tree = fts_open(starts, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	FTSENT *entry;

	files->has_walked = true;
	while (tree && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D && entry->fts_info != FTS_DP &&
		    strstr(entry->fts_name, ".ko"))
			vec_push(&files->installed, xstrdup(entry->fts_path + strlen(files->root)));
	}
	if (tree)
		fts_close(tree);
}

char *module_files_find(struct module_files *files, struct str name)
{
	struct str rest = str_of(files->dep ? files->dep : "");

	while (files->dep && rest.p) {
		struct str line = str_cut(&rest, '\n'), path = str_cut(&line, ':');

		if (is_file_of(path, name))
			return text_dup_fmt("%s/%.*s", files->folder, STR_FMT(path));
	}
	if (!files->has_walked)
		walk(files);
	for (size_t i = 0; i < files->installed.n; i++) {
		if (is_file_of(str_of(files->installed.v[i]), name))
			return xstrdup(files->installed.v[i]);
	}
	return NULL;
}

char *module_name_of(const char *path)
{
	const char *base = text_base_name(path), *end = strstr(base, ".ko");
	char *name = str_dup((struct str){base, end ? (size_t)(end - base) : strlen(base)});

	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	return name;
}
