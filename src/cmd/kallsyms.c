// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "base/out.h"
#include "cmd/core/command.h"
#include "cmd/core/rows.h"
#include "flow/synthesize.h"
#include "sym/sym.h"

struct options {
	int verbose;
};

static const struct opt opts[] = {
	OPT(OPT_COUNT, 'v', "verbose", offsetof(struct options, verbose), NULL, "Tell more."),
	OPT_END,
};

static const struct command_example examples[] = {
	{"sonde kallsyms schedule", "where the scheduler's entry lies",
	 "grep -q ' [tT] schedule$' /proc/kallsyms && [ \"$(id -u)\" = 0 ] || exit 77; sonde kallsyms schedule"},
	{0},
};

static int run(int argc, char **argv);

const struct command command_kallsyms = {
	.name = "kallsyms",
	.summary = "Find symbols of the running kernel",
	.usage = "sonde kallsyms [options] SYMBOL...",
	.description =
		"Prints the module, the file and the addresses of each symbol of the running kernel and its modules.",
	.opts = opts,
	.opts_size = sizeof(struct options),
	.examples = examples,
	.family = COMMAND_PERF,
	.run = run,
};

static int take_record(void *arg, const struct perf_event_header *header)
{
	sym_record(arg, header, UINT64_MAX);
	return 0;
}

static const struct symbol *find(struct sym *sym, const char *name, const struct mapping **ret_map)
{
	for (size_t i = 0; i < sym->kernel->maps.n; i++) {
		const struct mapping *map = sym->kernel->maps.v[i];
		const struct symbol *symbol = dso_find_symbol_by_name(sym, map->dso, name);

		if (symbol && symbol->start >= map->start && symbol->start < map->end) {
			*ret_map = map;
			return symbol;
		}
	}
	return NULL;
}

static void print(struct out *out, const char *name, const struct symbol *symbol,
		  const struct mapping *map)
{
	bool is_kernel = map && map->dso->kind == DSO_KERNEL;

	if (!symbol) {
		out_safe(out, name);
		out_text(out, ": not found\n");
		return;
	}
	out_printf(out, "%s: %s %s ", symbol->name, is_kernel ? "[kernel]" : map->dso->short_name,
		   is_kernel ? "[kernel.kallsyms]" : map->dso->long_name);
	// Addresses of kallsyms are those of the running kernel, so that both forms are the same.
	for (unsigned i = 0; i < 2; i++)
		out_printf(out, "%s%#llx-%#llx%s", i ? " (" : "", (unsigned long long)symbol->start,
			   (unsigned long long)symbol->end, i ? ")\n" : "");
}

static int run(int argc, char **argv)
{
	struct options options = {0};
	struct sym_options how = {.root = "", .live = true, .ignore_vmlinux = true};
	struct synth synth = {.root = "", .emit = take_record};
	bool hidden = false;
	struct sym *sym;
	struct out out;
	int n = command_parse(&command_kallsyms, &options, argv, 0), err;

	if (n < 0)
		return n;
	log_set_level(options.verbose);
	if (!n)
		return fail(COMMAND_USAGE, "which symbol? sonde kallsyms SYMBOL");
	err = sym_new(&sym, &how);
	if (err < 0)
		return err;
	synth.arg = sym;
	err = synth_kernel(&synth, &hidden);
	if (err >= 0 && hidden)
		err = fail(EACCES,
			   "the kernel hides its addresses (sysctl -w kernel.kptr_restrict=0 as root shows them)");
	out_init_fd(&out, STDOUT_FILENO);
	for (int i = 1; err >= 0 && i <= n; i++) {
		const struct mapping *map = NULL;
		const struct symbol *symbol = find(sym, argv[i], &map);

		print(&out, argv[i], symbol, map);
	}
	sym_free(sym);
	int closed = out_close(&out, "standard output");
	out_done(&out);
	return err < 0 ? err : closed;
}
