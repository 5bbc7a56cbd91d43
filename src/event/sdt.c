// SPDX-License-Identifier: GPL-2.0-or-later
// Static probes of programs, as the build-id cache (~/.debug) knows them. They can be listed; to be recorded
// they are defined as uprobes first (sonde probe), which makes tracepoints of them.
#include "base/alloc.h"
#include "base/file.h"
#include "event/core/event_kind.h"
#include <dirent.h>
#include <limits.h>
#include <stdio.h>

enum { PROBES_MAX = 64 << 20 };

struct found {
	char *text; // "sdt_x:name@BUILDID"
	size_t name_n;
};

struct search {
	char *cache;
	VEC(struct found) all;
};

static void add_probes(struct search *s, const char *directory, const char *rest)
{
	auto_free char *path = text_dup_fmt("%s/.build-id/%s/%s/probes", s->cache, directory, rest);
	auto_free char *text = NULL;
	size_t n;

	if (file_read(path, PROBES_MAX, &text, &n) < 0)
		return;
	struct str lines = {text, n};
	while (lines.p) {
		struct str line = str_cut(&lines, '\n');

		// "%sdt_x:name=name"
		if (!line.n || line.p[0] != '%')
			continue;
		struct str name = str_cut(&line, '=');
		name.p++;
		name.n--;
		if (!memchr(name.p, ':', name.n))
			continue;
		vec_push(&s->all,
			 (struct found){text_dup_fmt("%.*s@%s%s", STR_FMT(name), directory, rest),
					name.n});
	}
}

static void search_directory(struct search *s, const char *directory)
{
	auto_free char *path = text_dup_fmt("%s/.build-id/%s", s->cache, directory);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			add_probes(s, directory, entry->d_name);
	if (dir)
		closedir(dir);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->text, ((const struct found *)b)->text);
}

static bool same_name(const struct found *a, const struct found *b)
{
	return a->name_n == b->name_n && !memcmp(a->text, b->text, a->name_n);
}

// The program's path stands in the cache's link: "../../usr/bin/x/BUILDID".
static char *program_of(const struct search *s, const char *build_id)
{
	auto_free char *link = text_dup_fmt("%s/.build-id/%.2s/%s", s->cache, build_id, build_id + 2);
	char target[PATH_MAX];
	ssize_t n = readlink(link, target, sizeof(target) - 1);

	if (n < 0)
		return NULL;
	target[n] = 0;
	char *slash = strrchr(target, '/');
	if (slash)
		*slash = 0;
	const char *path = target;
	while (text_starts(path, "../"))
		path += 3;
	return text_dup_fmt("/%s", path);
}

static void show(struct event_lister *lister, const struct search *s)
{
	for (size_t i = 0; i < s->all.n; i++) {
		struct found *f = &s->all.v[i];
		bool many = (i && same_name(f, f - 1)) || (i + 1 < s->all.n && same_name(f, f + 1));
		const char *id = f->text + f->name_n + 1;
		auto_free char *program = many ? program_of(s, id) : NULL;
		auto_free char *name = program ? text_dup_fmt("%.*s@%s(%.12s)", (int)f->name_n,
							      f->text, program, id)
					       : text_dup_fmt("%.*s", (int)f->name_n, f->text);

		if (i && !strcmp(f->text, f[-1].text))
			continue;
		lister->add(lister->arg, &(struct event_entry){
						 .name = name,
						 .label = "SDT event",
						 .is_form = true,
					 });
	}
}

static int list(struct event_lister *lister)
{
	const char *home = getenv("HOME");
	struct search s = {0};
	struct dirent *entry;

	if (!home || lister->ctx->no_search || (lister->ctx->root && *lister->ctx->root))
		return 0;
	s.cache = text_dup_fmt("%s/.debug", home);
	auto_free char *path = text_dup_fmt("%s/.build-id", s.cache);
	DIR *dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			search_directory(&s, entry->d_name);
	if (dir)
		closedir(dir);
	if (s.all.n)
		qsort(s.all.v, s.all.n, sizeof(*s.all.v), by_text);
	show(lister, &s);
	for (size_t i = 0; i < s.all.n; i++)
		free(s.all.v[i].text);
	vec_done(&s.all);
	free(s.cache);
	return 0;
}

static int missing(struct event_parser *p, struct str head)
{
	struct str name = {p->text + p->pos + 1, p->n - p->pos};

	if (event_peek(p) != ':' || !str_starts(head, "sdt_"))
		return 0;
	name.n = strcspn(name.p, ",/:{} ");
	return event_fail_absent(p, head,
				 "%.*s:%.*s is a static probe, and no event yet; it is made one by: sonde probe -x FILE %.*s:%.*s "
				 "(without -x when FILE is in the build-id cache)",
				 STR_FMT(head), STR_FMT(name), STR_FMT(head), STR_FMT(name));
}

const struct event_kind event_kind_sdt = {
	.name = "static probe",
	.short_name = "sdt",
	.rank = 9,
	.list_rank = 9,
	.list = list,
	.missing = missing,
};
