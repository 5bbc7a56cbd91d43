// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

// As of all that fails.
enum { STATUS = 255 };
enum {
	HUGE_PAGE = 2 << 20,
	HEAP_STEP = 256 << 20,
	LARGEST_IN_HEAP = 32 << 20,
	SMALL_STEP = 128 << 10
};

static void advise_huge(void *p, size_t size)
{
	uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t to = ((uintptr_t)p + size) & ~(uintptr_t)(HUGE_PAGE - 1);

	if (to > from)
		madvise((void *)from, to - from, MADV_HUGEPAGE);
}

// Whether large steps would take away what is needed (ulimit -v, -d).
static bool space_is_scarce(void)
{
	static const int of[] = {RLIMIT_AS, RLIMIT_DATA};
	struct rlimit limit;

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		if (!getrlimit(of[i], &limit) && limit.rlim_cur / 16 < HEAP_STEP)
			return true;
	}
	return false;
}

void alloc_expect_much(void)
{
	char *before = sbrk(0), *after;
	void *first;

	if (space_is_scarce())
		return;
	mallopt(M_MMAP_THRESHOLD, LARGEST_IN_HEAP);
	mallopt(M_TRIM_THRESHOLD, HEAP_STEP * 2);
	mallopt(M_TOP_PAD, HEAP_STEP);
	first = malloc(HUGE_PAGE);
	__asm__ volatile(""
			 : "+r"(first)); // the compiler leaves out a malloc that is freed at once
	free(first);
	// Of a system that promises no more than it has.
	if (!first)
		mallopt(M_TOP_PAD, SMALL_STEP);
	after = sbrk(0);
	if (after > before)
		advise_huge(before, (size_t)(after - before));
}

void alloc_failed(void)
{
	static const char text[] =
		"sonde: out of memory: give it less at a time, or raise the limit (ulimit -v, "
		"memory.max)\n";
	(void)!write(2, text, sizeof(text) - 1);
	// What is to be undone is undone, where that needs no memory: glibc goes on with what is left when this happens there.
	exit(STATUS);
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		alloc_failed();
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		alloc_failed();
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		alloc_failed();
	if (size >= LARGEST_IN_HEAP)
		advise_huge(p, size);
	return p;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		alloc_failed();
	return xrealloc(p, total);
}

char *xstrdup(const char *text)
{
	return xmemdup(text, strlen(text) + 1);
}

void *xmemdup(const void *p, size_t size)
{
	void *copy = xmalloc(size);

	if (size)
		memcpy(copy, p, size);
	return copy;
}
