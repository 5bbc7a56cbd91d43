// SPDX-License-Identifier: GPL-2.0-or-later
#include "input/core/live_probe.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include "obj/elf.h"
#include <stdio.h>

static const struct probe_kind {
	const char *prefix, *pmu;
	bool at_return, in_file;
} kinds[] = {
	{"kprobe:", "kprobe", false, false},
	{"kretprobe:", "kprobe", true, false},
	{"uprobe:", "uprobe", false, true},
	{"uretprobe:", "uprobe", true, true},
};

static const struct probe_kind *kind_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (text_starts(text, kinds[i].prefix))
			return &kinds[i];
	}
	return NULL;
}

bool probe_is(const char *name)
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

static int find_function(const char *path, struct str name, uint64_t *ret)
{
	struct mapped file;
	struct elf elf;
	struct elf_section section;
	bool found = false;
	int err = file_map(&file, path);

	if (err)
		return err;
	if (elf_init(&elf, file.p, file.n)) {
		file_unmap(&file);
		return fail(EINVAL, "%s is no ELF file: there is nothing to probe", path);
	}
	for (uint32_t i = 0; !found && elf_section(&elf, i, &section); i++) {
		if (section.type == SHT_SYMTAB || section.type == SHT_DYNSYM)
			found = find_in(&elf, &section, name, ret);
	}
	file_unmap(&file);
	return found ? 0
		     : fail(ENOENT, "%s has no function %.*s in its symbols", path, STR_FMT(name));
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

int probe_attr(struct arena *arena, const char *text, struct perf_event_attr *ret,
	       const char **ret_name)
{
	const struct probe_kind *kind = kind_of(text);
	struct str rest = str_of(text + strlen(kind->prefix)), name = rest;
	uint64_t offset, at = 0;
	int err;

	*ret = (struct perf_event_attr){.size = sizeof(*ret),
					.sample_period = 1,
					.config = kind->at_return};
	if (kind->in_file) {
		name = str_cut(&rest, '@');
		if (rest.n >= 2 && rest.p[0] == '"' && rest.p[rest.n - 1] == '"')
			rest = (struct str){rest.p + 1, rest.n - 2};
		if (!rest.n)
			return fail(EINVAL, "%s: which file? %sFUNCTION@\"FILE\"", text,
				    kind->prefix);
	}
	if (!name.n)
		return fail(EINVAL, "%s: which function?", text);
	err = cut_offset(&name, &offset);
	if (!err && offset && kind->at_return)
		err = fail(EINVAL, "%s: a function's return has no offset", text);
	if (!err)
		err = probe_type(kind, &ret->type);
	if (err)
		return err;
	*ret_name = arena_fmt(arena, "%s%.*s", kind->prefix, STR_FMT(name));
	if (!kind->in_file) {
		ret->kprobe_func = (uintptr_t)arena_strdup(arena, name);
		ret->probe_offset = offset;
		return 0;
	}
	const char *path = arena_strdup(arena, rest);
	err = find_function(path, name, &at);
	ret->uprobe_path = (uintptr_t)path;
	ret->probe_offset = at + offset;
	return err;
}
