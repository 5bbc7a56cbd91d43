// SPDX-License-Identifier: GPL-2.0-or-later
// Takes a known time of one CPU, however busy it is: burn MS THREADS [FILE MS]: each thread MS; then (FILE) writes its process to
// FILE and takes MS more. Says how long the threads ran, how long they waited for the CPU, and how long that last part ran, in ns, by the
// kernel's own account.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned long long all_ran, all_waited;
static long ms;

static void burn(long of_ms)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	} while ((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 < of_ms);
}

static void account(unsigned long long *ran, unsigned long long *waited)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
	file = fopen(path, "r");
	if (!file || fscanf(file, "%llu %llu", ran, waited) != 2)
		exit(1);
	fclose(file);
}

static void *work(void *arg)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	unsigned long long ran, waited;

	burn(ms);
	account(&ran, &waited);
	pthread_mutex_lock(&lock);
	all_ran += ran;
	all_waited += waited;
	pthread_mutex_unlock(&lock);
	return arg;
}

int main(int argc, char **argv)
{
	unsigned long long before = 0, after = 0, waited;
	long n = argc > 2 ? atol(argv[2]) : 1;
	pthread_t threads[64];
	cpu_set_t set;
	FILE *file;

	ms = argc > 1 ? atol(argv[1]) : 0;
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	if (argc > 4) {
		file = fopen(argv[3], "w");
		if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file))
			return 1;
		account(&before, &waited);
		burn(atol(argv[4]));
		account(&after, &waited);
	}
	printf("%llu %llu %llu\n", all_ran, all_waited, after - before);
	return 0;
}
