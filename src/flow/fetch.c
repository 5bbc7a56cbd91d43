// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/fetch.h"
#include <stdlib.h>
#include <sys/stat.h>
#include "base/log.h"
#include "base/vec.h"

static int by_samples(const void *a, const void *b)
{
	const struct dso *x = *(struct dso *const *)a, *y = *(struct dso *const *)b;

	if (x->samples_n != y->samples_n)
		return x->samples_n < y->samples_n ? 1 : -1;
	return (x->id > y->id) - (x->id < y->id);
}

static void fetch_all(struct run *counted)
{
	VEC(struct dso *) files = {0};

	for (size_t i = 0; i < counted->sym->dsos.n; i++) {
		struct dso *dso = counted->sym->dsos.v[i];

		if (dso->samples_n && dso->kind == DSO_USER)
			vec_push(&files, dso);
	}
	if (files.n)
		qsort(files.v, files.n, sizeof(*files.v), by_samples);
	for (size_t i = 0; i < files.n; i++) {
		const struct symbol *symbols;

		inform("symbols of %s, %llu samples", files.v[i]->name,
		       (unsigned long long)files.v[i]->samples_n);
		dso_symbols(counted->sym, files.v[i], &symbols);
	}
	vec_done(&files);
}

static void fetch_before(void *arg)
{
	const struct fetch_order *order = arg;
	struct run_options options = order->options;
	struct run *counted;

	options.count_places = options.no_fetch = true;
	// What it unpacked is unpacked once.
	options.sym.archive_dir = order->run->sym->options.archive_dir;
	if (run_open(&counted, &options) < 0)
		return;
	sym_share_wait(counted->sym, order->run->sym);
	if (run_process(counted, &(struct run_hooks){0}, NULL) >= 0)
		fetch_all(counted);
	sym_share_wait(order->run->sym, counted->sym);
	run_close(counted);
}

void fetch_hottest_first(struct fetch_order *order)
{
	struct stat st;

	if (stat(order->run->recording->path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	order->run->sym->before_servers_arg = order;
	order->run->sym->before_servers = fetch_before;
}
