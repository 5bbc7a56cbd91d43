// SPDX-License-Identifier: GPL-2.0-or-later
// What --threads and --affinity are given, and options of perf that have nothing to do here.
#include "base/err.h"
#include "cmd/core/record/readers.h"
#include "cmd/core/record/record.h"
#include "sym/options.h"
#include <strings.h>

enum { MOST_CPUS = 1 << 20 };

static void no_cpu(void *arg, uint32_t cpu)
{
}

static bool is_cpu_list(struct str text)
{
	return text.n && num_parse_list(text, MOST_CPUS, no_cpu, NULL) >= 0;
}

// "CPUS/CPUS:...": each thread's CPUs to read, and those to run on.
static bool is_thread_spec(struct str text)
{
	while (text.p) {
		struct str run_on = str_cut(&text, ':');
		struct str read = str_cut(&run_on, '/');

		if (!is_cpu_list(read) || !run_on.p || !is_cpu_list(run_on))
			return false;
	}
	return true;
}

int record_opt_threads(void *at, const struct opt *opt, const char *arg, bool negated)
{
	static const char *const words[] = {"", "cpu", "core", "package", "numa"};

	struct record_options *options = at;
	bool is_word = false;

	options->threads = negated ? NULL : arg;
	if (negated)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		is_word |= !strcasecmp(arg, words[i]);
	return is_word || is_thread_spec(str_of(arg))
		       ? 0
		       : fail(EINVAL,
			      "--threads takes cpu, core, package, numa or lists of CPUs such as 0,2/0:1,3/1, not '%s'",
			      arg);
}

int record_opt_affinity(void *at, const struct opt *opt, const char *arg, bool negated)
{
	static const char *const words[] =
		{[AFFINITY_ANY] = "sys", [AFFINITY_NODE] = "node", [AFFINITY_CPU] = "cpu"};
	struct record_options *options = at;

	for (unsigned i = 0; i < ARRAY_SIZE(words) && !negated; i++) {
		if (!strcasecmp(arg, words[i])) {
			options->affinity = i;
			return 0;
		}
	}
	return negated ? 0 : fail(EINVAL, "--affinity takes node, cpu or sys, not '%s'", arg);
}

int record_opt_vmlinux(void *at, const struct opt *opt, const char *arg, bool negated)
{
	const struct sym_options options = {.vmlinux = arg};

	return negated ? 0 : sym_options_check(&options);
}
