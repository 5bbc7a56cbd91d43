// SPDX-License-Identifier: GPL-2.0-or-later
// Programs of which it is known what profilers must see.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) void known_function(long n);
void known_function(long n)
{
	__asm__ volatile("" : : "r"(n));
}

static void calls(long n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void sleeps(long n, long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	while (n--)
		syscall(SYS_nanosleep, &t, NULL);
}

// Two loops that want the same CPU for `ms` each.
static void fight(long ms)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (int i = 0; i < 2; i++) {
		if (!fork()) {
			double end = now() + (double)ms / 1e3;

			while (now() < end)
				;
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0, ms = argc > 3 ? atol(argv[3]) : 0;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "calls"))
		calls(n);
	for (long i = 0; !strcmp(argv[1], "functions") && i < n; i++)
		known_function(i);
	if (!strcmp(argv[1], "sleeps"))
		sleeps(n, ms);
	if (!strcmp(argv[1], "fight"))
		fight(n);
	if (!strcmp(argv[1], "children")) { // each makes n calls
		for (int i = 0; i < 4; i++) {
			if (!fork()) {
				calls(n);
				_exit(0);
			}
		}
		while (wait(NULL) > 0)
			;
	}
	if (!strcmp(argv[1], "forks")) { // n children, one after the other
		while (n--) {
			if (!fork())
				_exit(0);
			wait(NULL);
		}
	}
	if (!strcmp(argv[1], "fails")) {
		while (n--)
			syscall(SYS_close, -1);
	}
	return 0;
}
