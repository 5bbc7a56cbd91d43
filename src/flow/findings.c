// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/findings.h"
#include "flow/chain.h"

// Three texts follow: name, note, refused.
struct finding {
	uint32_t nth, pid, n[3]; // nth: among the files of that name, by number
	uint8_t kind, state;
	bool is_other_file;
};

static uint32_t nth_of(const struct sym *sym, const struct dso *dso)
{
	uint32_t n = 0;

	for (size_t i = 0; i < dso->id; i++)
		n += !strcmp(sym->dsos.v[i]->name, dso->name);
	return n;
}

void findings_begin(struct run *run)
{
	run_unwind_mark(run);
}

void findings_put(void *arg, struct out *out)
{
	struct run *run = arg;
	struct unwind_counts counts;

	run_unwind_since_mark(run, &counts);
	out_bytes(out, &counts, sizeof(counts));
	for (size_t i = 0; i < run->sym->dsos.n; i++) {
		const struct dso *dso = run->sym->dsos.v[i];
		const char *texts[3] = {dso->name, dso->note, dso->refused};
		struct finding finding = {.pid = dso->pid,
					  .kind = (uint8_t)dso->kind,
					  .state = (uint8_t)dso->state,
					  .is_other_file = dso->is_other_file};

		if (!dso->refused && !(dso->state == DSO_NO_SYMBOLS && dso->note))
			continue;
		finding.nth = nth_of(run->sym, dso);
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			finding.n[k] = texts[k] ? (uint32_t)strlen(texts[k]) + 1 : 0;
		out_bytes(out, &finding, sizeof(finding));
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			out_bytes(out, texts[k], finding.n[k]);
	}
}

static struct dso *dso_of(struct sym *sym, const struct finding *finding, const char *name)
{
	uint32_t n = 0;

	for (size_t i = 0; i < sym->dsos.n; i++) {
		if (!strcmp(sym->dsos.v[i]->name, name) && n++ == finding->nth)
			return sym->dsos.v[i];
	}
	return sym_file(sym, name); // this process has not met it
}

static void take_one(struct sym *sym, const struct finding *finding, const char *const texts[3])
{
	struct dso *dso = dso_of(sym, finding, texts[0]);

	if (dso->state == DSO_NOT_LOADED) {
		dso->kind = (enum dso_kind)finding->kind;
		dso->pid = finding->pid;
		dso->is_other_file = finding->is_other_file;
		dso->state = (enum dso_state)finding->state;
		dso->note = texts[1] ? intern_get(&sym->strings, intern_text(&sym->strings, texts[1]))
				     : NULL;
	}
	if (!dso->refused && texts[2])
		dso->refused = intern_get(&sym->strings, intern_text(&sym->strings, texts[2]));
}

void findings_take(void *arg, struct str findings)
{
	struct run *run = arg;
	struct unwind_counts counts;
	struct finding finding;

	if (findings.n < sizeof(counts))
		return;
	memcpy(&counts, findings.p, sizeof(counts));
	run_unwind_add(run, &counts);
	for (const char *p = findings.p + sizeof(counts); p < findings.p + findings.n;) {
		const char *texts[3];

		memcpy(&finding, p, sizeof(finding));
		p += sizeof(finding);
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++) {
			texts[k] = finding.n[k] ? p : NULL;
			p += finding.n[k];
		}
		take_one(run->sym, &finding, texts);
	}
}
