// SPDX-License-Identifier: GPL-2.0-or-later
// --cache -l and -d: the definitions that perf's cache keeps.
#include "base/err.h"
#include "cmd/probe/show.h"
#include "sym/load.h"
#include "sym/probe_cache.h"

// What filters are about.
static const char *shown_name(const struct probe_cache_entry *entry)
{
	return entry->name ? entry->name : entry->text;
}

typedef int cache_call(void *arg, struct probe_cache *cache, const struct idcache_entry *entry);

// Calls with each that has entries. A positive result: it is to be written.
static int each_cache(cache_call *call, void *arg)
{
	auto_free char *folder = idcache_folder_dup();
	struct idcache_list list;
	int err = 0;

	if (!folder)
		return fail(ENOENT, "HOME is not set, so there is no cache");
	idcache_list_take(folder, &list);
	for (size_t i = 0; err >= 0 && i < list.entries.n; i++) {
		const struct idcache_entry *entry = &list.entries.v[i];
		struct probe_cache cache;
		struct build_id id;

		if (!build_id_parse(entry->id, &id))
			continue;
		err = probe_cache_read(&cache, folder, &id);
		if (err < 0)
			break;
		if (cache.v.n)
			err = call(arg, &cache, entry);
		if (err > 0)
			err = probe_cache_write(&cache, folder, &id);
		probe_cache_done(&cache);
	}
	idcache_list_done(&list);
	return MIN(err, 0);
}

struct listing {
	struct probe_filter *wanted;
	struct out *out;
};

static int list_cache(void *arg, struct probe_cache *cache, const struct idcache_entry *file)
{
	struct listing *listing = arg;
	auto_free char *head = text_dup_fmt("%s (%s):", file->name, file->id);

	out_safe_line(listing->out, str_of(head));
	vec_each(struct probe_cache_entry, entry, &cache->v) {
		if (probe_filter_takes(listing->wanted, shown_name(entry)))
			out_safe_line(listing->out, str_of(entry->text));
	}
	return 0;
}

int probe_cached_list(const char *filter, struct out *out)
{
	struct listing listing = {.out = out};
	int err = probe_filter_new(&listing.wanted, filter ? filter : "");

	if (err == 0)
		err = each_cache(list_cache, &listing);
	probe_filter_free(listing.wanted);
	return err;
}

struct removing {
	const struct opt_list *wanted;
	bool *used; // of each wanted one
	const struct probe_show *show;
	struct out *out;
};

// "work" of "work n s", "EVENT" of "GROUP:EVENT=...".
static bool is_meant(const struct probe_cache_entry *entry, const char *wanted)
{
	if (text_glob(shown_name(entry), wanted))
		return true;
	if (entry->name)
		return probe_is_meant(entry->name, wanted);
	auto_free char *first = str_dup((struct str){entry->text, strcspn(entry->text, " ")});

	return text_glob(first, wanted);
}

static int remove_from(void *arg, struct probe_cache *cache, const struct idcache_entry *file)
{
	struct removing *removing = arg;
	int n = 0;

	(void)file;
	for (size_t i = 0; i < cache->v.n;) {
		const struct probe_cache_entry *entry = &cache->v.v[i];
		bool is = false;

		for (size_t k = 0; k < removing->wanted->n; k++) {
			if (is_meant(entry, removing->wanted->v[k]))
				is = removing->used[k] = true;
		}
		if (!is) {
			i++;
			continue;
		}
		if (!removing->show->quiet) {
			auto_free char *line = text_dup_fmt("Removed cached event: %s", entry->text);

			out_safe_line(removing->out, str_of(line));
		}
		probe_cache_remove(cache, i);
		n++;
	}
	return n && !removing->show->dry_run;
}

int probe_cached_remove(const struct opt_list *wanted, const struct probe_show *show, struct out *out)
{
	auto_free bool *used = xcalloc(wanted->n, sizeof(*used));
	struct removing removing = {.wanted = wanted, .used = used, .show = show, .out = out};
	int err = each_cache(remove_from, &removing);

	for (size_t k = 0; err == 0 && k < wanted->n; k++)
		if (!used[k])
			err = fail(ENOENT,
				   "the cache has no probe '%s' to remove; sonde probe --cache -l lists them",
				   wanted->v[k]);
	return err;
}
