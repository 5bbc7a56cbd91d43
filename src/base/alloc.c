// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/alloc.h"
#include <string.h>

void alloc_failed(void)
{
	static const char text[] = "sonde: out of memory\n";

	(void)!write(2, text, sizeof(text) - 1);
	abort();
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
