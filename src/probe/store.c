// SPDX-License-Identifier: GPL-2.0-or-later
// The events that the kernel has: uprobe_events and kprobe_events of tracefs. Lines are added and removed one by one, so that
// others' stay.
#include "probe/store.h"
#include "base/err.h"
#include "sys/tracefs.h"

static void parse_line(struct probe_store *store, struct str line, bool is_uprobe)
{
	struct probe_stored stored = {.line = arena_strdup(&store->arena, line)};
	struct str rest;

	if (!probe_line_parse((struct str){stored.line, line.n}, is_uprobe, &stored.is))
		return;
	for (rest = stored.is.args; rest.n;) {
		struct str value = str_cut(&rest, ' '), name = str_cut(&value, '=');

		if (value.p)
			vec_push(&stored.names, name);
	}
	vec_push(&store->v, stored);
}

static int by_line(const void *a, const void *b)
{
	return strcmp(((const struct probe_stored *)a)->line, ((const struct probe_stored *)b)->line);
}

static void read_file(struct probe_store *store, const char *name, bool is_uprobe)
{
	auto_free char *text = NULL;
	struct str rest;
	size_t n, first = store->v.n;

	if (tracefs_read(store->tracefs, name, &text, &n) < 0)
		return; // a kernel without such probes
	for (rest = (struct str){text, n}; rest.p;)
		parse_line(store, str_cut(&rest, '\n'), is_uprobe);
	if (store->v.n > first)
		qsort(store->v.v + first, store->v.n - first, sizeof(*store->v.v), by_line);
}

int probe_store_open(struct probe_store *ret)
{
	struct probe_store store = {0};
	int err = tracefs_enter(&store.tracefs, NULL);

	if (err < 0)
		return fail_context(err, "the kernel's probes can't be seen");
	read_file(&store, "kprobe_events", false);
	read_file(&store, "uprobe_events", true);
	*ret = store;
	return 0;
}

void probe_store_done(struct probe_store *store)
{
	for (size_t i = 0; i < store->v.n; i++)
		vec_done(&store->v.v[i].names);
	vec_done(&store->v);
	arena_done(&store->arena);
	tracefs_leave(store->tracefs);
}

const struct probe_stored *probe_store_find(const struct probe_store *store, const char *group,
					    const char *event)
{
	for (size_t i = 0; i < store->v.n; i++)
		if (str_is(store->v.v[i].is.group, group) && str_is(store->v.v[i].is.event, event))
			return &store->v.v[i];
	return NULL;
}

static bool tracefs_has(const struct probe_store *store, const char *file)
{
	auto_free char *path = text_dup_fmt("%s/%s", store->tracefs->path, file);

	return access(path, F_OK) == 0;
}

static const char *why(int err, const char *file)
{
	switch (err) {
	case ENOENT:
		return file[0] == 'k' ? "this kernel has no such symbol, or no kprobes"
				      : "this kernel has no uprobes";
	case EACCES:
	case EPERM:
		return "only root may do that; try: sudo sonde probe ...";
	case EINVAL:
		return "the kernel doesn't take it (its log says more: dmesg | tail)";
	case EEXIST:
		return "there is one of that name already";
	case EBUSY:
		return "it is in use; end who records it first";
	case EILSEQ:
		return "the place is in the middle of an instruction";
	default:
		return strerror(err);
	}
}

static int write_line(struct probe_store *store, const char *file, const char *line, const char *what)
{
	int err = tracefs_append(store->tracefs, file, line);

	return err < 0 ? fail(-err, "%s: %s", what, why(-err, file)) : 0;
}

int probe_store_note(struct probe_store *store, const struct probe_event *event)
{
	struct out line;

	out_init_memory(&line);
	probe_put_definition(&line, event);
	parse_line(store, (struct str){line.buf, line.n}, event->path != NULL);
	out_done(&line);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct probe_stored *x = a, *y = b;
	auto_free char *one = text_dup_fmt("%.*s:%.*s", STR_FMT(x->is.group), STR_FMT(x->is.event));
	auto_free char *two = text_dup_fmt("%.*s:%.*s", STR_FMT(y->is.group), STR_FMT(y->is.event));

	if (x->is.is_uprobe != y->is.is_uprobe)
		return x->is.is_uprobe ? 1 : -1;
	return strcmp(one, two);
}

void probe_store_sort_by_name(struct probe_store *store)
{
	if (store->v.n)
		qsort(store->v.v, store->v.n, sizeof(*store->v.v), by_name);
}

int probe_store_add(struct probe_store *store, const struct probe_event *event)
{
	struct out line;
	const char *file = event->path ? "uprobe_events" : "kprobe_events";
	int err;

	out_init_memory(&line);
	probe_put_definition(&line, event);
	if (!event->path && !tracefs_has(store, "kprobe_events")) {
		out_done(&line);
		return fail(ENOTSUP,
			    "this kernel was built without kprobes (CONFIG_KPROBE_EVENTS), so only programs and "
			    "libraries can be probed (-x FILE)");
	}
	out_char(&line, '\0');
	auto_free char *what = text_dup_fmt("%s:%s can't be added", event->group, event->event);
	err = write_line(store, file, line.buf, what);
	if (err == 0)
		probe_store_note(store, event);
	out_done(&line);
	return err;
}

int probe_store_remove(struct probe_store *store, const struct probe_stored *stored)
{
	auto_free char *line =
		text_dup_fmt("-:%.*s/%.*s", STR_FMT(stored->is.group), STR_FMT(stored->is.event));
	auto_free char *what = text_dup_fmt("%.*s:%.*s can't be removed", STR_FMT(stored->is.group),
					    STR_FMT(stored->is.event));

	return write_line(store, stored->is.is_uprobe ? "uprobe_events" : "kprobe_events", line,
			  what);
}
