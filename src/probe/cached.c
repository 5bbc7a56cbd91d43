// SPDX-License-Identifier: GPL-2.0-or-later
// What was defined in a file is kept by its build-id, where perf keeps it, and found there again by its text or name.
#include "probe/event.h"
#include "base/err.h"
#include "base/log.h"
#include "sym/load.h"
#include "sym/probe_cache.h"
#include <ctype.h>
#include <stdio.h>

// What is probed, as the cache has it.
struct kept_file {
	struct idcache_file file;
	char *folder;
};

// 0, or -errno with a sentence. The folder is the caller's to free.
static int kept_file(const struct probe_target *target, struct kept_file *ret)
{
	struct kept_file kept = {0};
	struct build_id *id = &kept.file.id;

	if (target->is_kernel && !target->module) {
		kept.file.name = "[kernel.kallsyms]";
		kept.file.path = "/proc/kallsyms";
		kept.file.kind = IDCACHE_KALLSYMS;
		if (!kernel_build_id("", id))
			return fail(ENOENT, "the running kernel tells no build-id");
	} else if (!target->path) {
		return fail(ENOENT, "the file of the module %s isn't here", target->module);
	} else {
		kept.file.name = target->name;
		kept.file.path = target->real;
		id->n = (uint8_t)elf_build_id(&target->elf, id->bytes);
		if (!id->n)
			return fail(ENOENT, "%s was linked without a build-id", target->path);
	}
	kept.folder = idcache_folder_dup();
	if (!kept.folder)
		return fail(ENOENT, "HOME is not set");
	*ret = kept;
	return 0;
}

// ---- definitions of the cache

static bool is_name(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!isalnum((unsigned char)text.p[i]) && text.p[i] != '_')
			return false;
	return text.n && !isdigit((unsigned char)*text.p);
}

// "0x1234(0x10)"
static bool take_offset(struct str text, struct probe_event *event)
{
	struct str counter = text, at = str_cut(&counter, '(');

	if (num_parse_hex(at, &event->at) < 0)
		return false;
	if (!counter.p)
		return true;
	return counter.n && counter.p[counter.n - 1] == ')' &&
	       num_parse_hex((struct str){counter.p, counter.n - 1}, &event->semaphore) == 0;
}

static bool take_place(struct arena *arena, struct str place, const char *path,
		       struct probe_event *event)
{
	const char *colon = place.n ? memrchr(place.p, ':', place.n) : NULL;
	struct str symbol, at = place;

	if (path) {
		event->path = path;
		return colon &&
		       take_offset((struct str){colon + 1, place.n - (size_t)(colon + 1 - place.p)},
				   event);
	}
	symbol = str_cut(&at, '+');
	event->symbol = arena_strdup(arena, symbol);
	return symbol.n && *symbol.p != '/' && (!at.p || num_parse_u64(at, &event->at) == 0);
}

// What stands in a cache may be anybody's: only what is whole is taken. path: NULL: of the kernel.
static bool take_definition(struct arena *arena, const char *line, const char *path,
			    struct probe_event *ret)
{
	struct str rest = str_of(line), head = str_cut(&rest, ' '), word;
	struct probe_event event = {.is_return = *line == 'r'};
	struct str kind = str_cut(&head, ':'), name = head, group = str_cut(&name, '/');
	bool good = (str_is(kind, "p") || str_is(kind, "r")) && is_name(group) && is_name(name) &&
		    take_place(arena, str_cut(&rest, ' '), path, &event);

	while (good && (word = str_cut(&rest, ' ')).n) {
		struct str value = word, arg = str_cut(&value, '=');
		bool has_name = value.p && is_name(arg);
		const char *text = arena_strdup(arena, has_name ? value : word);

		good = probe_is_word(text);
		vec_push(&event.values,
			 (struct probe_value){.name = has_name ? arena_strdup(arena, arg) : NULL,
					      .value = text});
	}
	if (!good) {
		inform("a line of the cache makes no sense and is left out: %s", line);
		vec_done(&event.values);
		return false;
	}
	event.group = arena_strdup(arena, group);
	event.event = event.real_name = arena_strdup(arena, name);
	*ret = event;
	return true;
}

static bool is_wanted(const struct probe_cache_entry *entry, const struct probe_request *request,
		      const char *text)
{
	const char *colon = entry->name ? strchr(entry->name, ':') : NULL;

	if (!request->is_sdt)
		return !strcmp(entry->text, text);
	if (!colon)
		return false;
	auto_free char *group = str_dup((struct str){entry->name, (size_t)(colon - entry->name)});

	return (!request->group || text_glob(group, request->group)) &&
	       text_glob(colon + 1, request->event);
}

static const char *text_of(struct arena *arena, const struct probe_request *request, const char *group)
{
	struct out out;
	const char *text;

	out_init_memory(&out);
	probe_put_request(&out, request, group);
	text = arena_strdup(arena, (struct str){out.buf, out.n});
	out_done(&out);
	return text;
}

struct finding {
	struct probe_target *target;
	const struct probe_request *request;
	const char *text; // of the request
	struct probe_events *events;
};

// How many, or -errno with a sentence; likewise below.
static int find_in(const struct finding *finding, const char *folder, const struct build_id *id,
		   const char *path)
{
	struct arena *arena = &finding->target->arena;
	uint32_t most = finding->target->options->max_probes;
	struct probe_cache cache;
	int n = 0;

	if (probe_cache_read(&cache, folder, id) < 0) {
		warn("%s; what it has is left out", err_sentence());
		err_clear();
		return 0;
	}
	vec_each(struct probe_cache_entry, entry, &cache.v) {
		if (!is_wanted(entry, finding->request, finding->text))
			continue;
		vec_each(const char *, line, &entry->definitions) {
			struct probe_event event;

			if (n < 0 || !take_definition(arena, *line, path, &event))
				continue;
			if (finding->events->v.n >= most) {
				vec_done(&event.values);
				n = fail(ERANGE,
					 "the cache has more than %u places; --max-probes allows more",
					 most);
				continue;
			}
			vec_push(&finding->events->v, event);
			n++;
		}
	}
	probe_cache_done(&cache);
	return n;
}

static bool is_module(const char *path)
{
	static const char *const ends[] = {".ko", ".ko.gz", ".ko.xz", ".ko.zst"};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (text_ends(path, ends[i]))
			return true;
	return false;
}

// Of all files, as long as they are the ones that the definitions were made for.
static int find_everywhere(const struct finding *finding)
{
	auto_free char *folder = idcache_folder_dup();
	struct build_id running = {0};
	struct idcache_list list;
	int n = 0;

	if (!folder)
		return 0;
	kernel_build_id("", &running);
	idcache_list_take(folder, &list);
	vec_each(struct idcache_entry, entry, &list.entries) {
		struct build_id id, now;
		int found = 0;

		if (n < 0 || !build_id_parse(entry->id, &id))
			continue;
		if (!strcmp(entry->name, "[kernel.kallsyms]") &&
		    same_build_id(&running, id.bytes, id.n))
			found = find_in(finding, folder, &id, NULL);
		else if (*entry->name == '/' && !is_module(entry->name) &&
			 file_build_id(entry->name, &now) && same_build_id(&now, id.bytes, id.n))
			found = find_in(finding, folder, &id,
					arena_strdup(&finding->target->arena, str_of(entry->name)));
		n = found < 0 ? found : n + found;
	}
	idcache_list_done(&list);
	return n;
}

int probe_cached_find(struct probe_target *target, const struct probe_request *request,
		      struct probe_events *events)
{
	struct finding finding = {.target = target, .request = request, .events = events};
	struct kept_file kept;
	int n;

	if (request->is_sdt && target->is_kernel && !target->module)
		return find_everywhere(&finding);
	if (kept_file(target, &kept) < 0) {
		err_clear();
		return 0;
	}
	// Who gave only a name to the event means the usual group.
	finding.text =
		request->is_sdt ? NULL : text_of(&target->arena, request, probe_group_of(target));
	n = find_in(&finding, kept.folder, &kept.file.id, target->is_kernel ? NULL : target->path);
	free(kept.folder);
	if (n > 0)
		inform("defined as the cache has it");
	return n;
}

// ----

static int add_to(const struct kept_file *kept, const char *text, const struct probe_events *events)
{
	struct probe_cache_entry *entry;
	struct probe_cache cache;
	int err = probe_cache_read(&cache, kept->folder, &kept->file.id);

	if (err < 0)
		return err;
	entry = probe_cache_add(&cache, text);
	vec_each(struct probe_event, event, &events->v) {
		struct probe_event kept_event = *event;
		struct out line;

		if (event->path)
			kept_event.path = kept->file.name;
		out_init_memory(&line);
		probe_put_definition(&line, &kept_event);
		vec_push(&entry->definitions,
			 arena_strdup(&cache.arena, (struct str){line.buf, line.n}));
		out_done(&line);
	}
	err = probe_cache_write(&cache, kept->folder, &kept->file.id);
	probe_cache_done(&cache);
	return err;
}

int probe_cached_add(struct probe_target *target, const struct probe_request *request,
		     const struct probe_events *events)
{
	struct kept_file kept;
	const char *text;
	int err = 0;

	if (!events->v.n || (request->is_sdt && target->is_kernel))
		return 0;
	err = kept_file(target, &kept);
	if (err < 0)
		return err;
	if (!idcache_has(kept.folder, &kept.file.id))
		err = idcache_add(kept.folder, &kept.file);
	// Static probes are there with the file.
	if (err >= 0 && !request->is_sdt) {
		text = text_of(&target->arena, request, events->v.v[0].group);
		for (const char *c = text; err >= 0 && *c; c++)
			if (iscntrl((unsigned char)*c))
				err = fail(EINVAL, "a text with control characters is not kept");
		if (err >= 0)
			err = add_to(&kept, text, events);
	}
	free(kept.folder);
	return err;
}
