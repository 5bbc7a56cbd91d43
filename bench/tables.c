// SPDX-License-Identifier: GPL-2.0-or-later
// Memory of unwind tables: makes those of all files that any process has mapped as code, as a recorder of the whole system
// would, and prints what they take. Ends with 1 above 200 MB or 16 bytes a row.
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include "base/file.h"
#include "base/intern.h"
#include "obj/cfi.h"

enum { MOST_MB = 200, MOST_ROW_BYTES = 16, SHOWN = 5 };

struct totals {
	uint64_t files, tables, rows, rule_bytes, expression_bytes, index_bytes;
};

struct large {
	uint64_t bytes;
	uint32_t rows;
	const char *name;
};

static void add_maps(struct intern *files, const char *pid)
{
	char path[300], prot[8], name[3600], line[4096];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%*x-%*x %7s %*x %*s %*s %3599[^\n]", prot, name) == 2 &&
		    prot[2] == 'x' && name[0] == '/') {
			// As that process sees it.
			char own[4096];
			struct stat st;

			snprintf(own, sizeof(own), "/proc/%s/root%s", pid, name);
			intern_text(files, stat(name, &st) == 0 ? name : own);
		}
	}
	if (maps)
		fclose(maps);
}

static void add_file(struct totals *totals, const char *path, struct large *large)
{
	struct mapped file;
	struct cfi_table table;
	struct elf elf;
	uint64_t bytes;

	totals->files++;
	if (file_map(&file, path) < 0)
		return;
	if (elf_init(&elf, file.p, file.n) == 0 && cfi_build(&table, &elf, NULL) == 0) {
		totals->tables++;
		totals->rows += table.rows_n;
		totals->rule_bytes += table.rules_n * 8ull;
		totals->expression_bytes += table.expressions_n;
		totals->index_bytes += table.index_n * 4ull;
		bytes = table.rows_n * 8ull + table.rules_n * 8ull + table.expressions_n +
			table.index_n * 4ull;
		for (size_t i = 0; i < SHOWN; i++) {
			if (bytes <= large[i].bytes)
				continue;
			memmove(&large[i + 1], &large[i], (SHOWN - 1 - i) * sizeof(*large));
			large[i] = (struct large){bytes, table.rows_n, path};
			break;
		}
		cfi_table_done(&table);
	}
	file_unmap(&file);
}

int main(void)
{
	struct large large[SHOWN] = {0};
	struct totals totals = {0};
	struct intern files;
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	uint64_t processes = 0, all;
	clock_t start = clock();

	intern_init(&files);
	while (proc && (entry = readdir(proc))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		processes++;
		add_maps(&files, entry->d_name);
	}
	if (proc)
		closedir(proc);
	for (uint32_t i = 1; i < files.strings.n; i++)
		add_file(&totals, intern_get(&files, i), large);
	all = totals.rows * 8 + totals.rule_bytes + totals.expression_bytes + totals.index_bytes;
	printf("%llu processes, %llu files of code, %llu tables: %llu rows, %.1f MB, %.1f bytes a row; made in %.2f s\n",
	       (unsigned long long)processes, (unsigned long long)totals.files,
	       (unsigned long long)totals.tables, (unsigned long long)totals.rows,
	       (double)all / 1e6, totals.rows ? (double)all / (double)totals.rows : 0,
	       (double)(clock() - start) / CLOCKS_PER_SEC);
	for (size_t i = 0; i < SHOWN && large[i].bytes; i++)
		printf("  %6.1f MB, %8u rows: %s\n", (double)large[i].bytes / 1e6, large[i].rows,
		       large[i].name);
	intern_done(&files);
	return all > MOST_MB * 1000000ull || all > totals.rows * MOST_ROW_BYTES;
}
