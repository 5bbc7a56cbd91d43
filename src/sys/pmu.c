// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/pmu.h"
#include "base/file.h"
#include "base/num.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>

#define DEVICES "/sys/bus/event_source/devices"
// More CPUs than any kernel is built for.
#define CPUS_MAX 65536

static DIR *open_dir(const char *root, const char *path)
{
	auto_free char *full = text_dup_fmt("%s%s", root ? root : "", path);
	return opendir(full);
}

// A small file's text without the line's end, in the arena; NULL when it is not there.
static const char *read_line(struct pmus *pmus, const char *path, struct str *ret)
{
	auto_free char *text = NULL;
	size_t n;

	if (file_read_at(pmus->root, path, &text, &n) < 0)
		return NULL;
	struct str line = str_trim((struct str){text, strnlen(text, n)});
	char *copy = arena_strdup(&pmus->arena, line);
	if (ret)
		*ret = (struct str){copy, line.n};
	return copy;
}

void pmus_load(struct pmus **ret, const char *root)
{
	struct pmus *pmus = NEW(struct pmus);
	DIR *dir = open_dir(root, DEVICES);
	struct dirent *entry;

	pmus->root = xstrdup(root ? root : "");
	*ret = pmus;
	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		int64_t type;

		if (entry->d_name[0] == '.')
			continue;
		auto_free char *path = text_dup_fmt(DEVICES "/%s/type", entry->d_name);
		if (file_read_i64(root, path, &type) < 0 || type < 0 || type > UINT32_MAX)
			continue;
		struct pmu *pmu = vec_add(&pmus->list);
		pmu->name = arena_strdup(&pmus->arena, str_of(entry->d_name));
		pmu->type = (uint32_t)type;
	}
	closedir(dir);
}

void pmus_free(struct pmus *pmus)
{
	if (!pmus)
		return;
	vec_each(struct pmu, pmu, &pmus->list) {
		vec_done(&pmu->formats);
		vec_done(&pmu->events);
	}
	vec_done(&pmus->list);
	arena_done(&pmus->arena);
	free(pmus->root);
	free(pmus);
}

struct pmu *pmus_find(struct pmus *pmus, struct str name)
{
	vec_each(struct pmu, pmu, &pmus->list)
		if (str_is(name, pmu->name))
			return pmu;
	return NULL;
}

struct pmu *pmus_find_type(struct pmus *pmus, uint32_t type)
{
	vec_each(struct pmu, pmu, &pmus->list)
		if (pmu->type == type)
			return pmu;
	return NULL;
}

int pmu_parse_format(struct str text, struct pmu_format *ret)
{
	struct str where = str_cut(&text, ':');
	uint64_t mask = 0;
	uint8_t config;

	if (str_is(where, "config"))
		config = 0;
	else if (where.n == 7 && str_starts(where, "config") && where.p[6] >= '1' && where.p[6] <= '3')
		config = (uint8_t)(where.p[6] - '0');
	else
		return -EINVAL;
	while (text.p) {
		struct str high = str_cut(&text, ','), low = str_cut(&high, '-');
		uint64_t first, last;

		if (num_parse_u64(low, &first) < 0)
			return -EINVAL;
		last = first;
		if (high.p && num_parse_u64(high, &last) < 0)
			return -EINVAL;
		if (first > last || last > 63)
			return -EINVAL;
		mask |= (last == 63 ? ~0ull : (1ull << (last + 1)) - 1) & ~((1ull << first) - 1);
	}
	if (!mask)
		return -EINVAL;
	ret->config = config;
	ret->mask = mask;
	return 0;
}

int pmu_spread(uint64_t mask, uint64_t value, uint64_t *ret)
{
	uint64_t result = 0;

	for (uint64_t left = mask; left; left &= left - 1) {
		if (value & 1)
			result |= left & -left;
		value >>= 1;
	}
	if (value)
		return -ERANGE;
	*ret = result;
	return 0;
}

static void read_formats(struct pmus *pmus, struct pmu *pmu)
{
	auto_free char *path = text_dup_fmt(DEVICES "/%s/format", pmu->name);
	DIR *dir = open_dir(pmus->root, path);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL) {
		struct pmu_format format = {0};
		struct str text;

		if (entry->d_name[0] == '.')
			continue;
		auto_free char *file = text_dup_fmt("%s/%s", path, entry->d_name);
		if (!read_line(pmus, file, &text) || pmu_parse_format(text, &format) < 0)
			continue;
		format.name = arena_strdup(&pmus->arena, str_of(entry->d_name));
		vec_push(&pmu->formats, format);
	}
	closedir(dir);
}

// "NAME.unit" and the like stand beside the event NAME.
static bool is_side_file(const char *name)
{
	static const char *const suffixes[] = {".unit", ".scale", ".per-pkg", ".snapshot"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (text_ends(name, suffixes[i]))
			return true;
	return false;
}

static void read_event(struct pmus *pmus, struct pmu *pmu, const char *dir, const char *name)
{
	struct pmu_event event = {.scale = 1.0};
	char file[1024];
	struct str text;

	snprintf(file, sizeof(file), "%s/%s", dir, name);
	event.terms = read_line(pmus, file, NULL);
	if (!event.terms)
		return;
	event.name = arena_strdup(&pmus->arena, str_of(name));
	snprintf(file, sizeof(file), "%s/%s.unit", dir, name);
	event.unit = read_line(pmus, file, NULL);
	snprintf(file, sizeof(file), "%s/%s.scale", dir, name);
	if (read_line(pmus, file, &text))
		num_parse_double(text, &event.scale);
	snprintf(file, sizeof(file), "%s/%s.per-pkg", dir, name);
	event.per_package = read_line(pmus, file, NULL) != NULL;
	snprintf(file, sizeof(file), "%s/%s.snapshot", dir, name);
	event.snapshot = read_line(pmus, file, NULL) != NULL;
	vec_push(&pmu->events, event);
}

static void read_events(struct pmus *pmus, struct pmu *pmu)
{
	auto_free char *path = text_dup_fmt(DEVICES "/%s/events", pmu->name);
	DIR *dir = open_dir(pmus->root, path);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.' && !is_side_file(entry->d_name))
			read_event(pmus, pmu, path, entry->d_name);
	closedir(dir);
}

struct cpu_list {
	VEC(uint32_t) cpus;
};

static void add_cpu(void *arg, uint32_t cpu)
{
	struct cpu_list *list = arg;
	vec_push(&list->cpus, cpu);
}

static bool read_cpus(struct pmus *pmus, struct pmu *pmu, const char *file)
{
	auto_free char *path = text_dup_fmt(DEVICES "/%s/%s", pmu->name, file);
	struct cpu_list list = {0};
	struct str text;

	if (!read_line(pmus, path, &text))
		return false;
	if (text.n && num_parse_list(text, CPUS_MAX, add_cpu, &list) == 0 && list.cpus.n) {
		pmu->cpus =
			arena_memdup(&pmus->arena, list.cpus.v, list.cpus.n * sizeof(*list.cpus.v));
		pmu->cpus_n = (uint32_t)list.cpus.n;
	}
	vec_done(&list.cpus);
	return true;
}

static int64_t read_number(struct pmus *pmus, const char *pmu, const char *file)
{
	auto_free char *path = text_dup_fmt(DEVICES "/%s/%s", pmu, file);
	int64_t value;

	return file_read_i64(pmus->root, path, &value) < 0 ? 0 : value;
}

void pmu_details(struct pmus *pmus, struct pmu *pmu)
{
	if (pmu->detailed)
		return;
	pmu->detailed = true;
	read_formats(pmus, pmu);
	read_events(pmus, pmu);
	if (read_cpus(pmus, pmu, "cpumask"))
		pmu->cpus_are_uncore = true;
	else if (read_cpus(pmus, pmu, "cpus"))
		pmu->is_core = true;
	if (!strcmp(pmu->name, "cpu"))
		pmu->is_core = true;
	pmu->max_precise = (uint32_t)read_number(pmus, pmu->name, "caps/max_precise");
	pmu->has_address_filters = read_number(pmus, pmu->name, "nr_addr_filters") > 0;
}

const struct pmu_format *pmu_format(const struct pmu *pmu, struct str name)
{
	vec_each(struct pmu_format, format, &pmu->formats)
		if (str_is(name, format->name))
			return format;
	return NULL;
}

const struct pmu_event *pmu_event(const struct pmu *pmu, struct str name)
{
	vec_each(struct pmu_event, event, &pmu->events)
		if (str_is(name, event->name))
			return event;
	return NULL;
}
