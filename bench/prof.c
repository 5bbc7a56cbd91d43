// SPDX-License-Identifier: GPL-2.0-or-later
// Loads for bench/prof, pinned to the CPU named first: N system calls, or N wake-ups of a partner through a pipe.
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[3]) : 1000000;
	int there[2], back[2];
	cpu_set_t set;
	char c = 0;

	CPU_ZERO(&set);
	CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	if (argc > 2 && argv[2][0] == 'c') {
		while (n--)
			syscall(SYS_getppid);
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
