// SPDX-License-Identifier: GPL-2.0-or-later
#include "sym/probe_cache.h"
#include "base/err.h"
#include "base/file.h"

enum { LARGEST = 64 << 20 };

// "GROUP:EVENT" of "GROUP:EVENT=PLACE ARG..."; there are also a '=' of arguments and of patterns.
static const char *name_of(struct arena *arena, struct str text)
{
	size_t n = 0;

	while (n < text.n && !strchr(" ;=@+%", text.p[n]))
		n++;
	return n && n < text.n && text.p[n] == '=' ? arena_strdup(arena, (struct str){text.p, n})
						   : NULL;
}

static struct probe_cache_entry *new_entry(struct probe_cache *cache, struct str text)
{
	struct probe_cache_entry *entry = vec_add(&cache->v);

	*entry = (struct probe_cache_entry){.text = arena_strdup(&cache->arena, text),
					    .name = name_of(&cache->arena, text)};
	return entry;
}

void probe_cache_parse(struct probe_cache *cache, struct str text)
{
	struct probe_cache_entry *entry = NULL;

	while (text.p) {
		struct str line = str_cut(&text, '\n');

		if (!line.n || memchr(line.p, '\0', line.n))
			continue;
		if (*line.p == '#' || *line.p == '%') {
			entry = new_entry(cache, (struct str){line.p + 1, line.n - 1});
			entry->is_static = *line.p == '%';
		} else if (entry) {
			vec_push(&entry->definitions, arena_strdup(&cache->arena, line));
		}
	}
}

void probe_cache_put(const struct probe_cache *cache, struct out *out)
{
	for (size_t i = 0; i < cache->v.n; i++) {
		const struct probe_cache_entry *entry = &cache->v.v[i];

		out_printf(out, "%c%s\n", entry->is_static ? '%' : '#', entry->text);
		for (size_t k = 0; k < entry->definitions.n; k++)
			out_printf(out, "%s\n", entry->definitions.v[k]);
	}
}

static char *path_of(const char *folder, const struct build_id *id)
{
	auto_free char *link = idcache_link_dup(folder, id);

	return text_dup_fmt("%s/probes", link);
}

int probe_cache_read(struct probe_cache *ret, const char *folder, const struct build_id *id)
{
	auto_free char *path = path_of(folder, id), *text = NULL;
	struct probe_cache cache = {0};
	size_t n;
	int err = file_read_plain(path, LARGEST, &text, &n);

	if (err < 0 && err != -ENOENT && err != -ENOTDIR)
		return err;
	if (err < 0)
		err_clear();
	if (err >= 0)
		probe_cache_parse(&cache, (struct str){text, n});
	*ret = cache;
	return 0;
}

int probe_cache_write(const struct probe_cache *cache, const char *folder, const struct build_id *id)
{
	auto_free char *path = path_of(folder, id);
	struct out out;
	int err;

	out_init_memory(&out);
	probe_cache_put(cache, &out);
	err = file_write(path, out.buf, out.n);
	out_done(&out);
	return err;
}

void probe_cache_remove(struct probe_cache *cache, size_t i)
{
	vec_done(&cache->v.v[i].definitions);
	cache->v.n--;
	memmove(cache->v.v + i, cache->v.v + i + 1, (cache->v.n - i) * sizeof(*cache->v.v));
}

struct probe_cache_entry *probe_cache_add(struct probe_cache *cache, const char *text)
{
	const char *name = name_of(&cache->arena, str_of(text));

	for (size_t i = cache->v.n; i-- > 0;) {
		const struct probe_cache_entry *entry = &cache->v.v[i];

		if (!entry->is_static && (!strcmp(entry->text, text) ||
					  (name && entry->name && !strcmp(entry->name, name))))
			probe_cache_remove(cache, i);
	}
	return new_entry(cache, str_of(text));
}

void probe_cache_done(struct probe_cache *cache)
{
	while (cache->v.n)
		probe_cache_remove(cache, cache->v.n - 1);
	vec_done(&cache->v);
	arena_done(&cache->arena);
}
