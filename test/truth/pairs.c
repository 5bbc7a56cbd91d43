// SPDX-License-Identifier: GPL-2.0-or-later
// Pairs of events that cross CPUs, of which it is known how many there are.
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

// Keeps a CPU from being idle, for nobody's sake: a sandbox may hide what happens on idle ones.
static pid_t spin(int cpu)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "spin");
	sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
	pin(cpu);
	for (;;)
		;
}

// A call that nobody else makes: readv of PARTS parts, not as many as in another run
static void get(int fd)
{
	char byte;
	struct iovec parts[PARTS] = {{&byte, 1}};

	if (readv(fd, parts, PARTS) != 1)
		exit(1);
}

// n times to the other CPU and back; each side makes n calls that wait for the other.
static void ping_pong(long n)
{
	int there[2], back[2];

	if (pipe(there) || pipe(back))
		exit(1);
	pid_t other = fork();
	if (!other) {
		pin(1);
		while (n--) {
			get(there[0]);
			if (write(back[1], "", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	pin(0);
	while (n--) {
		struct timespec pause = {.tv_nsec = 200000};

		if (write(there[1], "", 1) != 1)
			exit(1);
		get(back[0]);
		nanosleep(&pause, NULL);
	}
	waitpid(other, NULL, 0);
}

// One thread that goes to the other CPU between a call and its return, n times. The size of the set tells it from others.
static void wander(long n)
{
	for (long i = 0; i < n; i++) {
		cpu_set_t sets[8]; // the kernel looks at a part of the first

		CPU_ZERO(sets);
		CPU_SET(i % 2, sets);
		sched_setaffinity(0, PARTS, sets);
	}
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	pid_t spins[2];

	if (argc < 3)
		return 2;
	for (int i = 0; i < 2; i++)
		spins[i] = spin(i);
	if (!strcmp(argv[1], "pingpong"))
		ping_pong(n);
	if (!strcmp(argv[1], "wander"))
		wander(n);
	if (!strcmp(argv[1], "hang")) { // a call that lasts n ms
		int ends[2];

		if (pipe(ends))
			return 1;
		if (!fork()) {
			usleep((useconds_t)n * 1000);
			_exit(write(ends[1], "", 1) != 1);
		}
		get(ends[0]);
	}
	for (int i = 0; i < 2; i++)
		kill(spins[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}
