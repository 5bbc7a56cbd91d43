// SPDX-License-Identifier: GPL-2.0-or-later
// Probes that were defined in a file before, kept by its build-id in perf's cache (sym/idcache.h): the file `probes` of an entry.
// Each has a line "#TEXT", as it was typed, or "%GROUP:NAME=NAME" of a static probe, and behind it a line of uprobe_events or
// kprobe_events for each of its places. Format: tools/perf/util/probe-file.c.
#pragma once
#include "base/arena.h"
#include "base/out.h"
#include "sym/idcache.h"

struct probe_cache_entry {
	const char *text; // without its mark
	const char *name; // "GROUP:EVENT"; NULL: the text gives it none
	bool is_static;
	VEC(const char *) definitions;
};

struct probe_cache {
	struct arena arena; // of all texts
	VEC(struct probe_cache_entry) v;
};

// Adds the entries of a file's text. Lines that belong to none are left out.
void probe_cache_parse(struct probe_cache *cache, struct str text);
void probe_cache_put(const struct probe_cache *cache, struct out *out);
// A file that isn't there is an empty one; -errno with a sentence.
int probe_cache_read(struct probe_cache *ret, const char *folder, const struct build_id *id);
// The entry of `id` in the folder has to be there (idcache_add). -errno with a sentence.
int probe_cache_write(const struct probe_cache *cache, const char *folder, const struct build_id *id);
void probe_cache_remove(struct probe_cache *cache, size_t i);
// Behind all others, and instead of those that have the same text or name. The definitions are to be added to what is returned,
// which is good until the next call.
struct probe_cache_entry *probe_cache_add(struct probe_cache *cache, const char *text);
void probe_cache_done(struct probe_cache *cache);
