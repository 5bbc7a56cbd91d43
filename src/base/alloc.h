// SPDX-License-Identifier: GPL-2.0-or-later
// Allocation that ends the program when memory is out, and clean-up attributes.
#pragma once
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noreturn, cold)) void alloc_failed(void);
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
// n * size with overflow check.
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *text) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t size) __attribute__((malloc, returns_nonnull));

// To be called before much is allocated (a recording is read): the heap grows in large steps and in huge pages, as a page
// fault for each 4 KiB costs more than what is done with them. Costs address space only;
// where that is bounded, nothing changes.
void alloc_expect_much(void);

#define NEW(type) ((type *)xcalloc(1, sizeof(type)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static inline void auto_free_(void *pp)
{
	free(*(void **)pp);
}
// Negative: it was never open.
static inline void close_if_open(int fd)
{
	if (fd >= 0)
		close(fd);
}
static inline void auto_close_(int *fd)
{
	close_if_open(*fd);
}
#define auto_free __attribute__((cleanup(auto_free_)))
#define auto_close __attribute__((cleanup(auto_close_)))
