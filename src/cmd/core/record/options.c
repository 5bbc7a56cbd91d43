// SPDX-License-Identifier: GPL-2.0-or-later
// The options of `sonde record` whose argument has a language of its own.
#include "base/alloc.h"
#include "base/err.h"
#include "base/num.h"
#include "base/time.h"
#include "cmd/core/settings.h"
#include "cmd/core/record/record.h"
#include <fcntl.h>
#include <stdio.h>
#include <time.h>

int record_opt_event(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	const struct event_context context = {0};

	return event_parse(&options->specs, arg, &context);
}

int record_opt_filter(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;

	return event_filter(&options->specs, arg);
}

int record_opt_call_graph(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	struct str rest = str_of(arg), mode = str_cut(&rest, ',');
	uint64_t size = 8192;

	if (negated || str_is(mode, "no")) {
		options->call_graph = CALL_GRAPH_NONE;
		return 0;
	}
	if (str_is(mode, "auto")) {
		const char *set = settings_get("record.call-graph");

		if (!set)
			set = settings_get("call-graph.record-mode");
		if (set && strcmp(set, "auto"))
			return record_opt_call_graph(at, opt, set, false);
		options->call_graph = CALL_GRAPH_AUTO;
		return 0;
	}
	if (str_is(mode, "fp")) {
		options->call_graph = CALL_GRAPH_FP;
		return 0;
	}
	if (str_is(mode, "lbr")) {
		options->call_graph = CALL_GRAPH_LBR;
		return 0;
	}
	if (!str_is(mode, "dwarf"))
		return fail(EINVAL,
			    "--call-graph is auto, fp, dwarf[,raw][,BYTES] or lbr, not '%s'", arg);
	for (struct str words = rest; words.p;) {
		struct str word = str_cut(&words, ',');

		if (!str_is(word, "raw"))
			continue;
		options->raw_stacks = true;
		rest = words.p ? words : (struct str){rest.p, (size_t)(word.p - rest.p)};
		if (rest.n && rest.p[rest.n - 1] == ',')
			rest.n--;
	}
	// The kernel takes multiples of 8 below 64 KiB: kernel/events/core.c, perf_copy_attr.
	if (rest.n && (num_parse_size(rest, &size) || !size || size > 65528))
		return fail(EINVAL, "--call-graph dwarf copies 8 to 65528 bytes of stack, not '%.*s'",
			    STR_FMT(rest));
	options->call_graph = CALL_GRAPH_DWARF;
	options->stack_bytes = rest.n || options->raw_stacks ? (uint32_t)((size + 7) & ~7ull) : 0;
	options->address |= options->raw_stacks;
	return 0;
}

int record_opt_branch(void *at, const struct opt *opt, const char *arg, bool negated)
{
	const uint64_t who =
		PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
	struct record_options *options = at;
	struct str rest = str_of(arg);
	uint64_t bits = 0;

	while (rest.p) {
		struct str word = str_cut(&rest, ',');
		uint64_t bit = event_branch_bit(word);

		if (!bit)
			return fail(EINVAL,
				    "'%.*s' is no branch filter (any, any_call, any_ret, ind_call, cond, call, u, k, ...)",
				    STR_FMT(word));
		bits |= bit;
	}
	if (!(bits & ~who))
		bits |= PERF_SAMPLE_BRANCH_ANY;
	options->branch_type |= bits;
	return 0;
}

#if defined(__aarch64__)
static const char *const registers[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",
					"x7",  "x8",  "x9",  "x10", "x11", "x12", "x13",
					"x14", "x15", "x16", "x17", "x18", "x19", "x20",
					"x21", "x22", "x23", "x24", "x25", "x26", "x27",
					"x28", "x29", "lr",  "sp",  "pc"};
#else
// In the order of arch/x86/include/uapi/asm/perf_regs.h; NULL can't be sampled.
static const char *const registers[] = {"AX", "BX",    "CX",  "DX",  "SI",  "DI",  "BP",  "SP",
					"IP", "FLAGS", "CS",  "SS",  NULL,  NULL,  NULL,  NULL,
					"R8", "R9",    "R10", "R11", "R12", "R13", "R14", "R15"};
#endif

int record_opt_regs(void *at, const struct opt *opt, const char *arg, bool negated)
{
	uint64_t *mask = (uint64_t *)((char *)at + opt->offset);
	struct str rest = str_of(arg);

	if (!arg || !*arg) {
		for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
			*mask |= registers[i] ? 1ull << i : 0;
		return 0;
	}
	if (!strcmp(arg, "?")) {
		fprintf(stderr, "available registers:");
		for (size_t i = 0; i < ARRAY_SIZE(registers); i++)
			fprintf(stderr, "%s%s", registers[i] ? " " : "",
				registers[i] ? registers[i] : "");
		fprintf(stderr, "\n");
		return fail(EINVAL, "--%s takes names from this list, separated by commas",
			    opt->name);
	}
	while (rest.p) {
		struct str word = str_cut(&rest, ',');
		size_t i = 0;

		while (i < ARRAY_SIZE(registers) && !(registers[i] && strlen(registers[i]) == word.n &&
						      !strncasecmp(registers[i], word.p, word.n)))
			i++;
		if (i == ARRAY_SIZE(registers))
			return fail(EINVAL, "there is no register '%.*s'; --%s='?' lists them",
				    STR_FMT(word), opt->name);
		*mask |= 1ull << i;
	}
	return 0;
}

int record_opt_mmap(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	struct str aux = str_of(arg), text = str_cut(&aux, ',');
	uint64_t n, page = (uint64_t)sysconf(_SC_PAGESIZE), pages = 1;
	bool is_size = text.n && strchr("BKMGbkmg", text.p[text.n - 1]);

	if (num_parse_size(text, &n) || !n || n > 1ull << 40)
		return fail(EINVAL, "-m takes a number of pages or a size such as 4M, not '%.*s'",
			    STR_FMT(text));
	if (is_size)
		n = (n + page - 1) / page;
	while (pages < n)
		pages *= 2;
	options->mmap_pages = pages;
	return 0;
}

int record_opt_frequency(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;

	if (!strcmp(arg, "max")) {
		options->frequency_max = true;
		return 0;
	}
	if (num_parse_u64(str_of(arg), &options->frequency) || !options->frequency)
		return fail(EINVAL, "-F takes samples per second, or max, not '%s'", arg);
	return 0;
}

int record_opt_switch(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	struct str text = str_of(arg);

	options->rotate.on = !negated;
	if (negated)
		return 0;
	if (!arg || !strcmp(arg, "signal")) {
		options->rotate.on_signal = true;
		return 0;
	}
	if (text.n && strchr("BKMG", text.p[text.n - 1]) &&
	    !num_parse_size(text, &options->rotate.bytes) && options->rotate.bytes)
		return 0;
	if (text.n && strchr("smhd", text.p[text.n - 1]) &&
	    !num_parse_duration(text, NSEC_PER_SEC, &options->rotate.ns) && options->rotate.ns)
		return 0;
	return fail(EINVAL, "--switch-output takes signal, a size (10M) or a time (30s), not '%s'",
		    arg);
}

int record_opt_switch_event(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	const struct event_context context = {0};

	options->rotate.on = options->rotate.on_signal = true;
	return event_parse(&options->rotate.specs, arg, &context);
}

int record_opt_synth(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	struct str rest = str_of(arg);

	options->synth.task = options->synth.mmap = options->synth.cgroup = false;
	while (rest.p) {
		struct str word = str_cut(&rest, ',');
		bool all = str_is(word, "all");

		if (str_is(word, "no"))
			options->synth.off = true;
		else if (!all && !str_is(word, "task") && !str_is(word, "mmap") &&
			 !str_is(word, "cgroup"))
			return fail(EINVAL, "--synth takes no, all, task, mmap, cgroup, not '%.*s'",
				    STR_FMT(word));
		options->synth.task |= all || str_is(word, "task");
		options->synth.mmap |= all || str_is(word, "mmap");
		options->synth.cgroup |= all || str_is(word, "cgroup");
	}
	return 0;
}

int record_opt_delay(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	struct str rest = str_of(arg);
	uint64_t before = 0;

	if (!strcmp(arg, "-1")) {
		options->start_disabled = true;
		return 0;
	}
	while (rest.p) {
		struct str to = str_cut(&rest, ','), from = str_cut(&to, '-');
		struct delay_range range = {0};

		if (num_parse_u64(from, &range.from_ms) || (to.p && num_parse_u64(to, &range.to_ms)) ||
		    (to.p && range.to_ms <= range.from_ms) || range.from_ms < before ||
		    (rest.p && !to.p))
			return fail(EINVAL,
				    "-D takes milliseconds, or rising ranges of them such as 10-20,30-40, not '%s'",
				    arg);
		before = range.to_ms;
		if (range.from_ms || range.to_ms)
			vec_push(&options->delays, range);
	}
	return 0;
}

int record_opt_control(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;

	return control_open(&options->control, arg);
}

int record_opt_clockid(void *at, const struct opt *opt, const char *arg, bool negated)
{
	static const struct {
		const char *name;
		uint32_t id;
	} clocks[] = {{"monotonic", CLOCK_MONOTONIC},
		      {"mono", CLOCK_MONOTONIC},
		      {"monotonic_raw", CLOCK_MONOTONIC_RAW},
		      {"raw", CLOCK_MONOTONIC_RAW},
		      {"realtime", CLOCK_REALTIME},
		      {"real", CLOCK_REALTIME},
		      {"boottime", CLOCK_BOOTTIME},
		      {"boot", CLOCK_BOOTTIME},
		      {"tai", CLOCK_TAI}};
	struct record_options *options = at;
	const char *name = strncasecmp(arg, "CLOCK_", 6) ? arg : arg + 6;
	uint64_t id;

	options->use_clockid = true;
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		if (!strcasecmp(name, clocks[i].name)) {
			options->clockid = clocks[i].id;
			return 0;
		}
	}
	if (num_parse_u64(str_of(arg), &id) || id > 64)
		return fail(EINVAL, "'%s' is no clock (mono, raw, real, boot, tai)", arg);
	options->clockid = (uint32_t)id;
	return 0;
}

int record_opt_compress(void *at, const struct opt *opt, const char *arg, bool negated)
{
	struct record_options *options = at;
	uint64_t level = 1;

	if (!negated && arg && (num_parse_u64(str_of(arg), &level) || level > 22))
		return fail(EINVAL, "-z takes a level from 0 (off) to 22, not '%s'", arg);
	options->zstd_level = negated ? 0 : (int)level;
	return 0;
}

int record_opt_unsupported(void *at, const struct opt *opt, const char *arg, bool negated)
{
	return fail(EOPNOTSUPP, "--%s: %s", opt->name, opt->help);
}
