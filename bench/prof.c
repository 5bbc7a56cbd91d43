// SPDX-License-Identifier: GPL-2.0-or-later
// Loads for bench/prof, pinned to the CPU named first: N system calls (seconds: prints how many of CPU time they took), or N wake-ups of a partner
// through a pipe.
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[3]) : 1000000;
	struct timespec from, to;
	int there[2], back[2];
	cpu_set_t set;
	char c = 0;

	CPU_ZERO(&set);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (argc > 2 && (argv[2][0] == 'c' || argv[2][0] == 's')) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
		while (n--)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
		if (argv[2][0] == 's')
			printf("%.3f\n", (double)(to.tv_sec - from.tv_sec) +
						 (double)(to.tv_nsec - from.tv_nsec) / 1e9);
		return 0;
	}
	if (pipe(there) || pipe(back))
		return 1;
	if (!fork()) {
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			close(there[1]);
		_exit(0);
	}
	close(there[0]);
	while (n-- && write(there[1], &c, 1) == 1 && read(back[0], &c, 1) == 1)
		;
	close(there[1]);
	wait(NULL);
	return 0;
}
