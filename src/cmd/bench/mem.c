// SPDX-License-Identifier: GPL-2.0-or-later
// How fast memory is copied and filled.
#include "base/alloc.h"
#include "base/err.h"
#include "base/num.h"
#include "base/log.h"
#include "cmd/bench/bench.h"
#include "cmd/core/rows.h"
#include <stdio.h>
#include <sys/mman.h>

struct mem {
	const char *size, *function;
	unsigned loops;
};

struct routine {
	const char *name, *summary;
	void (*copy)(void *to, const void *from, size_t n);
	void (*fill)(void *to, size_t n);
};

static void copy_default(void *to, const void *from, size_t n)
{
	memcpy(to, from, n);
}

static void fill_default(void *to, size_t n)
{
	memset(to, 0, n);
}

#ifdef __x86_64__
static void copy_movsq(void *to, const void *from, size_t n)
{
	size_t words = n / 8, rest = n % 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(rest) : : "memory");
}
static void copy_movsb(void *to, const void *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
static void fill_stosq(void *to, size_t n)
{
	size_t words = n / 8, rest = n % 8;

	__asm__ volatile("rep stosq" : "+D"(to), "+c"(words) : "a"(0) : "memory");
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(rest) : "a"(0) : "memory");
}
static void fill_stosb(void *to, size_t n)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}
#endif

static const struct routine copies[] = {
	{"default", "Default memcpy() provided by glibc", .copy = copy_default},
#ifdef __x86_64__
	{"x86-64-movsq", "rep movsq", .copy = copy_movsq},
	{"x86-64-movsb", "rep movsb", .copy = copy_movsb},
#endif
	{NULL},
};
static const struct routine fills[] = {
	{"default", "Default memset() provided by glibc", .fill = fill_default},
#ifdef __x86_64__
	{"x86-64-stosq", "rep stosq", .fill = fill_stosq},
	{"x86-64-stosb", "rep stosb", .fill = fill_stosb},
#endif
	{NULL},
};

// "1MB", "4kb", "512".
static bool parse_size(const char *text, uint64_t *ret)
{
	size_t n = strlen(text);
	char unit[64];

	if (!n || n >= sizeof(unit))
		return false;
	for (size_t i = 0; i <= n; i++)
		unit[i] = text[i] >= 'a' && text[i] <= 'z' ? (char)(text[i] - 'a' + 'A') : text[i];
	if (n > 1 && unit[n - 1] == 'B' && (unit[n - 2] < '0' || unit[n - 2] > '9'))
		unit[n - 1] = 0;
	return num_parse_size(str_of(unit), ret) >= 0 && *ret > 0;
}

static void put_speed(const struct bench_common *common, double bytes_a_second)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB"};
	size_t unit = 0;

	if (common->simple) {
		out_printf(common->out, "%lf\n", bytes_a_second);
		return;
	}
	for (; unit + 1 < ARRAY_SIZE(units) && bytes_a_second >= 1024; unit++)
		bytes_a_second /= 1024;
	out_printf(common->out, " %14lf %s/sec\n", bytes_a_second, units[unit]);
}

static void *map_pages(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

struct buffers {
	char *to, *from;
	size_t n;
};

static void measure(const struct bench_common *common, const struct mem *mem,
		    const struct routine *routine, const struct buffers *buffers)
{
	char *to = buffers->to, *from = buffers->from;
	const size_t n = buffers->n;

	out_printf(common->out, "# function '%s' (%s)\n", routine->name, routine->summary);
	if (!common->simple)
		out_printf(common->out, "# Copying %s bytes ...\n\n", mem->size);
	// Not at the first touch of each page.
	memset(from, 1, n);
	memset(to, 2, n);
	uint64_t begin_ns = bench_now_ns();
	for (unsigned i = 0; i < mem->loops; i++) {
		if (routine->copy)
			routine->copy(to, from, n);
		else
			routine->fill(to, n);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	uint64_t ns = bench_now_ns() - begin_ns;
	put_speed(common, (double)n * mem->loops * 1e9 / (double)(ns ? ns : 1));
}

static void list_routines(struct out *out, const struct routine *routines)
{
	out_text(out, "Available functions:\n");
	for (; routines->name; routines++)
		out_printf(out, "\t%s ... %s\n", routines->name, routines->summary);
}

static int run_mem(const struct bench_common *common, const struct mem *mem,
		   const struct routine *routines)
{
	bool all = !strcmp(mem->function, "all");
	struct buffers buffers;
	uint64_t n;

	if (!strcmp(mem->function, "help")) {
		list_routines(common->out, routines);
		return 0;
	}
	if (!parse_size(mem->size, &n) || n > SIZE_MAX / 2) {
		say("Invalid size:%s", mem->size);
		return 1;
	}
	const struct routine *one = routines;
	while (!all && one->name && strcmp(one->name, mem->function))
		one++;
	if (!one->name) {
		out_printf(common->out, "Unknown function: %s\n", mem->function);
		list_routines(common->out, routines);
		return 1;
	}
	buffers = (struct buffers){map_pages(n), map_pages(n), n};
	if (!buffers.to || !buffers.from)
		return fail(ENOMEM, "memory is out: twice %s", mem->size);
	for (; one->name; one++) {
		measure(common, mem, one, &buffers);
		if (!all)
			break;
	}
	munmap(buffers.to, n);
	munmap(buffers.from, n);
	return 0;
}

static int run_memcpy(const struct bench_common *common, void *options)
{
	return run_mem(common, options, copies);
}

static int run_memset(const struct bench_common *common, void *options)
{
	return run_mem(common, options, fills);
}

static const struct opt opts[] = {
	OPT(OPT_TEXT, 's', "size", offsetof(struct mem, size), "SIZE",
	    "How much at once (1MB); units B, KB, MB, GB, TB."),
	OPT(OPT_TEXT, 'f', "function", offsetof(struct mem, function), "NAME",
	    "Which function; all (default), help lists them."),
	OPT(OPT_U32, 'l', "nr_loops", offsetof(struct mem, loops), "N", "How often (1).",
	    .least = OPT_ABOVE_ZERO),
	OPT_END,
};
static const struct mem defaults = {.size = "1MB", .function = "all", .loops = 1};

const struct bench bench_memcpy = {
	BENCH_NAMES("mem", "memcpy"),
	.summary = "Benchmark for memcpy() functions",
	.opts = opts,
	.opts_size = sizeof(struct mem),
	.defaults = &defaults,
	.run = run_memcpy,
};
const struct bench bench_memset = {
	BENCH_NAMES("mem", "memset"),
	.summary = "Benchmark for memset() functions",
	.opts = opts,
	.opts_size = sizeof(struct mem),
	.defaults = &defaults,
	.run = run_memset,
};
