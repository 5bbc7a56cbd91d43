// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/missing.h"
#include "base/log.h"
#include "sym/seen.h"
#include "sys/capture.h"
#include <stdio.h>

enum { SHOWN = 5 };

struct missing {
	const struct dso *dso;
	uint64_t samples_n;
};

static int by_samples(const void *a, const void *b)
{
	const struct missing *x = a, *y = b;

	return x->samples_n < y->samples_n ? 1 : -(x->samples_n > y->samples_n);
}

// What a program prints, its first line; false when it can't be run or fails.
static bool first_line(char *const argv[], char *ret, size_t ret_size)
{
	enum { MOST = 1 << 16 };
	struct out out;
	struct str rest;
	bool more;

	out_init_memory(&out);
	bool ran = capture(argv, MOST, &out, &more) == 0;
	rest = (struct str){out.buf, out.n};
	snprintf(ret, ret_size, "%.*s", STR_FMT(str_cut(&rest, '\n')));
	out_done(&out);
	return ran && *ret;
}

// Debian knows a file of /usr/lib by the name /lib as well, and only by one of both.
static bool package_of(const char *path, char *ret, size_t ret_size)
{
	const char *names[] = {path, text_starts(path, "/usr/") ? path + 4 : NULL};

	for (size_t i = 0; i < ARRAY_SIZE(names) && names[i]; i++) {
		char *argv[] = {"dpkg-query", "-S", (char *)names[i], NULL};

		if (!first_line(argv, ret, ret_size))
			continue;
		ret[strcspn(ret, ":,")] = '\0';
		return true;
	}
	return false;
}

static void put_help(const struct dso *dso, char *ret, size_t ret_size)
{
	char package[4096];

	*ret = '\0';
	if (dso->kind == DSO_KERNEL)
		snprintf(ret, ret_size, "sonde report --vmlinux FILE, or --kallsyms FILE");
	else if (dso->kind == DSO_USER && dso->is_other_file)
		snprintf(ret, ret_size,
			 "sonde archive where it was recorded, or DEBUGINFOD_URLS=https://debuginfod.debian.net");
	else if (dso->kind == DSO_USER && !is_deleted_name(dso->long_name) &&
		 dso->long_name[0] == '/' && package_of(dso->long_name, package, sizeof(package)))
		snprintf(ret, ret_size, "apt install %s-dbgsym%s", package,
			 dso->build_id.n ? ", or DEBUGINFOD_URLS=https://debuginfod.debian.net" : "");
	else if (dso->kind == DSO_USER && dso->build_id.n)
		snprintf(ret, ret_size,
			 "DEBUGINFOD_URLS=https://debuginfod.debian.net, or sonde "
			 "unpack an archive of it");
}

static const char *why_unnamed(const struct dso *dso)
{
	return dso->note;
}

static const char *why_cut(const struct dso *dso)
{
	if (dso->kind == DSO_ANON)
		return "code made at run time";
	return dso->is_other_file ? dso->note : "no unwind information";
}

struct table {
	const char *title, *heading;
	const char *(*why)(const struct dso *dso);
	VEC(struct missing) rows;
};

static void show_table(struct table *table, uint64_t total)
{
	if (!table->rows.n)
		return;
	qsort(table->rows.v, table->rows.n, sizeof(*table->rows.v), by_samples);
	warn("%s", table->title);
	warn("%s", table->heading);
	for (size_t i = 0; i < table->rows.n && i < SHOWN; i++) {
		const struct dso *dso = table->rows.v[i].dso;
		char help[4200];

		put_help(dso, help, sizeof(help));
		warn("  %6.2f%%  %s: %s%s%s",
		     100.0 * (double)table->rows.v[i].samples_n / (double)total, dso->short_name,
		     table->why(dso), *help ? "; get it with: " : "", help);
	}
	if (table->rows.n > SHOWN)
		warn("           and %zu more", table->rows.n - SHOWN);
	vec_done(&table->rows);
}

void missing_show(const struct run *run)
{
	struct table unnamed = {"names are missing:", "  samples  file", why_unnamed};
	struct table cut = {"stacks end too early:", "  samples  file where they end", why_cut};
	uint64_t total = run->places_n;
	bool is_wanted = log_get_level() >= LOG_INFO ||
			 (log_get_level() >= LOG_WARN && isatty(STDERR_FILENO));

	for (size_t i = 0; is_wanted && total && i < run->sym->dsos.n; i++) {
		const struct dso *dso = run->sym->dsos.v[i];

		if (dso->state == DSO_NO_SYMBOLS && dso->note && dso->samples_n)
			vec_push(&unnamed.rows, (struct missing){dso, dso->samples_n});
		if (dso->cut_stacks_n)
			vec_push(&cut.rows, (struct missing){dso, dso->cut_stacks_n});
	}
	show_table(&unnamed, total);
	show_table(&cut, total);
}
