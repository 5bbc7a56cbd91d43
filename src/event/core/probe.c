// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/core/probe.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/num.h"
#include "base/out.h"
#include "base/vec.h"
#include "event/core/dynamic.h"
#include "obj/elf.h"
#include "obj/sdt.h"
#include <stdio.h>

static const struct probe_kind {
	const char *prefix, *pmu;
	bool at_return, in_file, is_static;
} kinds[] = {
	{"kprobe:", "kprobe", false, false},
	{"kretprobe:", "kprobe", true, false},
	{"uprobe:", "uprobe", false, true},
	{"uretprobe:", "uprobe", true, true},
	{"usdt:", "uprobe", .in_file = true, .is_static = true},
};

static const struct probe_kind *kind_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (text_starts(text, kinds[i].prefix))
			return &kinds[i];
	}
	return NULL;
}

bool event_probe_is(const char *name)
{
	return kind_of(name) != NULL;
}

// Where a function lies in its file.
static bool find_in(const struct elf *elf, const struct elf_section *section, struct str name,
		    uint64_t *ret)
{
	struct elf_segment segment;
	uint64_t addr;

	if (!elf_find_function(elf, section, name, &addr) || !elf_segment_of(elf, addr, &segment))
		return false;
	*ret = addr - segment.vaddr + segment.offset;
	return true;
}

static int open_elf(struct mapped *file, struct elf *elf, const char *path)
{
	int err = file_map_plain(file, path);

	if (err)
		return err;
	if (elf_init(elf, file->p, file->n)) {
		file_unmap(file);
		return fail(EINVAL, "%s is no ELF file: there is nothing to probe", path);
	}
	return 0;
}

static int find_function(const char *path, struct str name, uint64_t *ret)
{
	struct mapped file;
	struct elf elf;
	struct elf_section section;
	bool found = false;
	int err = open_elf(&file, &elf, path);

	if (err)
		return err;
	for (uint32_t i = 0; !found && elf_section(&elf, i, &section); i++) {
		if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
			found = find_in(&elf, &section, name, ret);
	}
	file_unmap(&file);
	return found ? 0
		     : fail(ENOENT, "%s has no function %.*s in its symbols", path, STR_FMT(name));
}

// Bits of config that hold where a probe's counter of users lies in the file (Linux 4.20): programs look at it and pass by the probe while
// it is 0. /sys/bus/event_source/devices/uprobe/format/ref_ctr_offset
enum { COUNTER_SHIFT = 32 };

static const char *fetched(struct arena *arena, const struct elf *elf, const struct sdt_note *note)
{
	unsigned left;
	struct out out;
	const char *ret;

	out_init_memory(&out);
	event_dynamic_fetch(&out, elf->machine, note->arguments, &left);
	if (left)
		inform("%s:%s: %u of the arguments '%s' can't be fetched by the kernel and are no fields",
		       note->provider, note->name, left, note->arguments);
	ret = arena_strdup(arena, (struct str){out.buf, out.n});
	out_done(&out);
	return ret;
}

// A static probe has as many places as the compiler made of it. *ret: what all have in common.
static int find_static(struct arena *arena, struct str name, struct event_probe **ret, size_t *ret_n)
{
	const struct event_probe *model = *ret;
	const char *path = (const char *)(uintptr_t)model->attr.uprobe_path;
	struct str rest = name, provider = str_cut(&rest, ':');
	struct sdt_notes notes;
	struct sdt_note note;
	VEC(struct event_probe) found = {0};
	struct mapped file;
	struct elf elf;
	int err = open_elf(&file, &elf, path);

	if (err)
		return err;
	for (bool has = sdt_notes_init(&notes, &elf); has && sdt_notes_next(&notes, &note);) {
		struct event_probe probe = *model;

		if (!str_is(provider, note.provider) || !str_is(rest, note.name))
			continue;
		if (note.semaphore > UINT32_MAX)
			err = fail(EOVERFLOW,
				   "%s: the counter of %.*s lies too far in the file for the kernel",
				   path, STR_FMT(name));
		probe.attr.probe_offset = note.location;
		probe.attr.config |= note.semaphore << COUNTER_SHIFT;
		probe.counter = note.semaphore;
		probe.fetch = fetched(arena, &elf, &note);
		vec_push(&found, probe);
	}
	file_unmap(&file);
	if (!err && !found.n)
		err = fail(ENOENT,
			   "%s has no static probe %.*s; 'readelf -n' shows those that it has",
			   path, STR_FMT(name));
	if (!err) {
		*ret = arena_memdup(arena, found.v, found.n * sizeof(*found.v));
		*ret_n = found.n;
	}
	vec_done(&found);
	return err;
}

static int probe_type(const struct probe_kind *kind, uint32_t *ret)
{
	char path[128];
	int64_t type;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", kind->pmu);
	if (file_read_i64("", path, &type) < 0)
		return fail(ENOENT, "this kernel has no %ss (no %s)", kind->pmu, path);
	*ret = (uint32_t)type;
	return 0;
}

// Cuts "+OFFSET" off a function's name.
static int cut_offset(struct str *name, uint64_t *ret)
{
	const char *plus = name->n ? memchr(name->p, '+', name->n) : NULL;
	struct str number;

	*ret = 0;
	if (!plus)
		return 0;
	number = (struct str){plus + 1, (size_t)(name->p + name->n - plus - 1)};
	name->n = (size_t)(plus - name->p);
	return num_parse_u64(number, ret)
		       ? fail(EINVAL, "+%.*s is no offset in bytes", STR_FMT(number))
		       : 0;
}

int event_probe_find(struct arena *arena, const char *text, struct event_probe **ret, size_t *ret_n)
{
	const struct probe_kind *kind = kind_of(text);
	struct str rest = str_of(text + strlen(kind->prefix)), name = rest;
	struct event_probe *probe = arena_zalloc(arena, sizeof(*probe));
	struct perf_event_attr *attr = &probe->attr;
	uint64_t offset, at = 0;
	int err;

	*attr = (struct perf_event_attr){.size = sizeof(*attr),
					 .sample_period = 1,
					 .config = kind->at_return};
	if (kind->in_file) {
		name = str_cut(&rest, '@');
		if (rest.n >= 2 && rest.p[0] == '"' && rest.p[rest.n - 1] == '"')
			rest = (struct str){rest.p + 1, rest.n - 2};
		if (!rest.n)
			return fail(EINVAL, "%s: which file? %s%s@\"FILE\"", text, kind->prefix,
				    kind->is_static ? "PROVIDER:NAME" : "FUNCTION");
	}
	if (!name.n || (kind->is_static && !memchr(name.p, ':', name.n)))
		return fail(EINVAL, "%s: which %s?", text,
			    kind->is_static ? "static probe (PROVIDER:NAME)" : "function");
	err = cut_offset(&name, &offset);
	if (!err && offset && (kind->at_return || kind->is_static))
		err = fail(EINVAL, "%s: %s has no offset", text,
			   kind->is_static ? "a static probe" : "a function's return");
	if (!err)
		err = probe_type(kind, &attr->type);
	if (err)
		return err;
	probe->in_kernel = !kind->in_file;
	probe->at_return = kind->at_return;
	probe->name = arena_fmt(arena, "%s%.*s", kind->prefix, STR_FMT(name));
	*ret = probe;
	*ret_n = 1;
	if (!kind->in_file) {
		attr->kprobe_func = (uintptr_t)arena_strdup(arena, name);
		attr->probe_offset = offset;
		return 0;
	}
	const char *path = arena_strdup(arena, rest);
	attr->uprobe_path = (uintptr_t)path;
	if (kind->is_static)
		return find_static(arena, name, ret, ret_n);
	err = find_function(path, name, &at);
	attr->probe_offset = at + offset;
	return err;
}
