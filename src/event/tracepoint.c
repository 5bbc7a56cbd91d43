// SPDX-License-Identifier: GPL-2.0-or-later
// SYSTEM:NAME, both may be globs: static tracepoints, and kprobes, uprobes and synthetic events that were
// defined before (they are tracepoints then).
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "event/core/event_kind.h"
#include "sys/tracefs.h"
#include <dirent.h>

static bool is_glob(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (strchr("*?[", s.p[i]))
			return true;
	return false;
}

// Names that could leave the events directory are no one's.
static bool is_safe(struct str s)
{
	return s.n && s.n < 256 && !memchr(s.p, '/', s.n) && !str_is(s, ".") && !str_is(s, "..");
}

static void add_event(struct event_parser *p, const char *system, const char *name, uint64_t id)
{
	struct event_spec *spec = event_add(p, PERF_TYPE_TRACEPOINT, id);
	struct arena *arena = &p->specs->arena;

	spec->attr.sample_period = 1;
	spec->attr.sample_type = EVENT_TRACEPOINT_SAMPLE;
	spec->tp_system = arena_strdup(arena, str_of(system));
	spec->tp_name = arena_strdup(arena, str_of(name));
	spec->name = arena_fmt(arena, "%s:%s", system, name);
}

static DIR *open_events(const struct tracefs *tracefs, const char *system)
{
	auto_free char *path = text_dup_fmt("%s/events%s%s", tracefs->path, system ? "/" : "",
					    system ? system : "");
	return opendir(path);
}

struct search {
	struct event_parser *p;
	const struct tracefs *tracefs;
	char *system, *name; // globs
	size_t found;
	int denied; // the last -EACCES
};

static void add_matching(struct search *s, const char *system)
{
	DIR *dir = open_events(s->tracefs, system);
	struct dirent *entry;
	uint64_t id;

	if (!dir) {
		if (errno == EACCES)
			s->denied = -EACCES;
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || !text_glob(entry->d_name, s->name))
			continue;
		int err = tracefs_read_id(s->tracefs, system, entry->d_name, &id);
		if (err == 0) {
			add_event(s->p, system, entry->d_name, id);
			s->found++;
		} else if (err == -EACCES || err == -EPERM) {
			s->denied = err;
		}
	}
	closedir(dir);
}

static int denied(struct event_parser *p, struct str where)
{
	event_fail(p, where,
		   "this user may not read tracefs, so it isn't known whether there is a "
		   "tracepoint '%.*s'; run as root, or: sudo mount -o "
		   "remount,mode=750,gid=$(id -g) /sys/kernel/tracing",
		   STR_FMT(where));
	return -EACCES;
}

static int take_glob(struct event_parser *p, struct search *s, struct str where)
{
	DIR *dir = open_events(s->tracefs, NULL);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && text_glob(entry->d_name, s->system))
			add_matching(s, entry->d_name);
	if (dir)
		closedir(dir);
	if (s->found)
		return 1;
	if (s->denied)
		return denied(p, where);
	return event_fail_absent(p, where,
				 "no tracepoint's name matches '%.*s' (all names: sonde "
				 "list tracepoint)",
				 STR_FMT(where));
}

static int take_exact(struct event_parser *p, struct search *s, struct str where)
{
	uint64_t id;
	int err = tracefs_read_id(s->tracefs, s->system, s->name, &id);

	if (err == 0) {
		add_event(p, s->system, s->name, id);
		return 1;
	}
	if (err == -EACCES || err == -EPERM)
		return denied(p, where);
	return 0; // the nearest names are found there
}

static int take(struct event_parser *p, struct str head)
{
	struct search s = {.p = p};
	struct tracefs *tracefs;
	int err;

	if (event_peek(p) != ':')
		return 0;
	p->pos++;
	struct str name = event_until(p, ",/:{} \t\n");
	if (!is_safe(head) || !is_safe(name))
		return 0;
	struct str where = {head.p, (size_t)(name.p + name.n - head.p)};
	err = event_tracefs(p->specs, p->ctx, &tracefs);
	if (err < 0) {
		event_fail(p, where, "%s", err_sentence());
		return err;
	}
	s.tracefs = tracefs;
	auto_free char *system_text = str_dup(head), *name_text = str_dup(name);
	s.system = system_text;
	s.name = name_text;
	return is_glob(head) || is_glob(name) ? take_glob(p, &s, where) : take_exact(p, &s, where);
}

struct names {
	struct arena arena;
	VEC(const char *) v;
};

static void gather(struct event_lister *lister, const struct tracefs *tracefs, const char *system,
		   struct names *names)
{
	DIR *dir = open_events(tracefs, system);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		auto_free char *id =
			text_dup_fmt("%s/events/%s/%s/id", tracefs->path, system, entry->d_name);
		if (access(id, lister->all ? F_OK : R_OK) == 0)
			vec_push(&names->v, arena_fmt(&names->arena, "%s:%s", system, entry->d_name));
	}
	if (dir)
		closedir(dir);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list(struct event_lister *lister)
{
	struct names names = {0};
	struct tracefs *tracefs;
	struct dirent *entry;
	int err = event_tracefs(lister->specs, lister->ctx, &tracefs);

	if (err < 0)
		return err;
	DIR *dir = open_events(tracefs, NULL);
	if (!dir)
		return fail(errno, "%s/events can't be read: %s", tracefs->path, strerror(errno));
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && entry->d_type != DT_REG)
			gather(lister, tracefs, entry->d_name, &names);
	closedir(dir);
	if (names.v.n)
		qsort(names.v.v, names.v.n, sizeof(*names.v.v), by_text);
	for (size_t i = 0; i < names.v.n; i++)
		lister->add(lister->arg, &(struct event_entry){.name = names.v.v[i],
							       .label = "Tracepoint event"});
	vec_done(&names.v);
	arena_done(&names.arena);
	return 0;
}

// Names that `sonde probe` gives.
static int missing(struct event_parser *p, struct str head)
{
	size_t at = p->pos;

	if (event_peek(p) != ':' || !(str_is(head, "probe") || str_starts(head, "probe_")))
		return 0;
	p->pos++;
	struct str name = event_until(p, ",/:{} ");
	struct str whole = {head.p, head.n + 1 + name.n};

	p->pos = at;
	if (!name.n || is_glob(name))
		return 0;
	if (head.n > 6)
		return event_fail_absent(p, whole,
					 "there is no event '%.*s'; define it first: sonde probe -x FILE --add %.*s, where FILE is the "
					 "program or library %.*s",
					 STR_FMT(whole), STR_FMT(name), (int)head.n - 6, head.p + 6);
	return event_fail_absent(p, whole,
				 "there is no event '%.*s'; define it first: sonde probe --add %.*s",
				 STR_FMT(whole), STR_FMT(name));
}

const struct event_kind event_kind_tracepoint = {
	.name = "tracepoint",
	.short_name = "tracepoint",
	.rank = 7,
	.list_rank = 8,
	.take = take,
	.missing = missing,
	.list = list,
	.no_config_terms = true,
};
