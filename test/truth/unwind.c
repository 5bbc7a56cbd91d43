// SPDX-License-Identifier: GPL-2.0-or-later
// Programs whose stacks are known: unwind SCENARIO MILLISECONDS, of CPU time. All time goes into spin().
#define _GNU_SOURCE
#include <alloca.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

volatile unsigned long sink;
static long milliseconds;

NOINLINE void work(void)
{
	for (unsigned long i = 0; i < 50000; i++)
		sink += i;
}

NOINLINE void spin(void)
{
	struct timespec t;
	long end;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + milliseconds;
	do {
		work();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end);
	sink++;
}

NOINLINE int recurse(int n)
{
	volatile char frame[40];

	frame[n % 40] = (char)n;
	if (n == 0)
		spin();
	else
		recurse(n - 1);
	return frame[n % 40];
}

NOINLINE int variable(unsigned long n)
{
	char *p = alloca(n);

	// All of it: the kernel's copy of a stack ends at a page that was never touched.
	memset(p, 1, n);
	__asm__ volatile("" : : "r"(p) : "memory");
	if (n > 5000)
		spin();
	else
		variable(n * 3 + 1);
	return p[n - 1];
}

NOINLINE void handler(int signal)
{
	spin();
	sink++;
}

NOINLINE void interrupted(void)
{
	raise(SIGUSR1);
	sink++;
}

// The handler has a stack of its own: what was interrupted is on another one, of which nothing is copied.
NOINLINE void elsewhere(void)
{
	enum { SIZE = 1 << 17 };
	const stack_t own = {.ss_sp = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			     .ss_size = SIZE};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&own, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	sink++;
}

static void *run_elsewhere(void *arg)
{
	elsewhere();
	return arg;
}

// Both stacks lie near each other.
NOINLINE void thread_elsewhere(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, run_elsewhere, NULL);
	pthread_join(thread, NULL);
	sink++;
}

static long compare_once;

NOINLINE int compare(const void *a, const void *b)
{
	if (compare_once++ == 5)
		spin();
	return *(const int *)a - *(const int *)b;
}

NOINLINE void sort(void)
{
	int v[64];

	for (int i = 0; i < 64; i++)
		v[i] = i * 37 % 64;
	qsort(v, 64, sizeof(v[0]), compare);
	sink += (unsigned long)v[3];
}

NOINLINE int find(const void *a, const void *b)
{
	if (compare_once++ == 2)
		spin();
	return *(const int *)a - *(const int *)b;
}

NOINLINE void search(void)
{
	int v[64], key = 41;

	for (int i = 0; i < 64; i++)
		v[i] = i;
	sink += bsearch(&key, v, 64, sizeof(v[0]), find) != NULL;
}

NOINLINE int last(int n)
{
	sink += (unsigned long)n;
	spin();
	return (int)sink;
}

// Leaves no frame: last() returns to who called this.
NOINLINE int tail(int n)
{
	return last(n + 1);
}

NOINLINE void calls_tail(void)
{
	sink += (unsigned long)tail(3);
}

static jmp_buf back;

NOINLINE void jumps(int n)
{
	volatile char frame[100];

	frame[n] = 1;
	if (n == 0)
		longjmp(back, 1);
	jumps(n - 1);
	sink += (unsigned long)frame[n];
}

NOINLINE void jumped(void)
{
	if (!setjmp(back))
		jumps(20);
	else
		recurse(2);
	sink++;
}

NOINLINE void *thread(void *arg)
{
	recurse(3);
	return arg;
}

NOINLINE void threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

NOINLINE void forks(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		spin();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	sink++;
}

// Half of the time passes in stubs of the PLT.
NOINLINE void stubs(void)
{
	for (unsigned long i = 0; i < 1000000ul * (unsigned long)milliseconds / 10; i++)
		sink += (unsigned long)gnu_get_libc_version()[0];
}

extern void by_hand(void (*call)(void));

NOINLINE void assembly(void)
{
	by_hand(spin);
	sink++;
}

extern void undescribed(unsigned long n);
extern void untold(unsigned long n);

// Assembly that nothing describes, and that uses rbp for something else, or for its frame; here it is needed to get on.
NOINLINE void bare(void)
{
	volatile char *some = alloca((size_t)milliseconds + 16);

	some[milliseconds] = 1;
	undescribed((unsigned long)milliseconds * 1000000);
	untold((unsigned long)milliseconds * 1000000);
	sink = sink + some[milliseconds];
}

extern void templates(void (*call)(void));

NOINLINE void deep_templates(void)
{
	templates(spin);
	sink++;
}

static NOINLINE void recursion(void)
{
	recurse(30);
	sink++;
}

static NOINLINE void allocas(void)
{
	variable(8);
	sink++;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} scenarios[] = {
		{"recursion", recursion}, {"alloca", allocas},	   {"signal", interrupted},
		{"qsort", sort},	  {"bsearch", search},	   {"tail", calls_tail},
		{"longjmp", jumped},	  {"threads", threads},	   {"vfork", forks},
		{"plt", stubs},		  {"asm", assembly},	   {"templates", deep_templates},
		{"bare", bare},		  {"altstack", elsewhere}, {"threadalt", thread_elsewhere},
	};

	if (argc < 3)
		return 2;
	milliseconds = atol(argv[2]);
	signal(SIGUSR1, handler);
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (!strcmp(scenarios[i].name, argv[1])) {
			scenarios[i].run();
			sink++;
			// Nothing that runs at the end of a program is wanted in a recording.
			_exit(0);
		}
	}
	return 2;
}
