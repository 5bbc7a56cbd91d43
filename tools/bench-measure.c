// SPDX-License-Identifier: GPL-2.0-or-later
// bench-measure RUNS CMD...: runs CMD so often with its output thrown away; prints the least CPU (user +
// system) and wall time in ms and the largest memory (RSS, KB), children included, also those that CMD leaves behind
// without waiting for them (perf's addr2line).
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ms_of(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static double cpu_of(const struct rusage *use)
{
	return ms_of(use->ru_utime) + ms_of(use->ru_stime);
}

int main(int argc, char **argv)
{
	double cpu_ms = 1e18, wall_ms = 1e18;
	long rss_kb = 0;
	int runs = argc > 2 ? atoi(argv[1]) : 0;

	if (runs < 1) {
		fprintf(stderr, "usage: bench-measure RUNS CMD...\n");
		return 2;
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < runs; i++) {
		struct timespec start, end;
		struct rusage use, left;
		int status;
		pid_t pid;

		clock_gettime(CLOCK_MONOTONIC, &start);
		pid = fork();
		if (pid == 0) {
			int null = open("/dev/null", O_RDWR);

			dup2(null, 0);
			dup2(null, 1);
			if (!getenv("BENCH_STDERR"))
				dup2(null, 2);
			execvp(argv[2], argv + 2);
			_exit(127);
		}
		if (pid < 0 || wait4(pid, &status, 0, &use) < 0) {
			perror("bench-measure");
			return 2;
		}
		clock_gettime(CLOCK_MONOTONIC, &end);
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			fprintf(stderr, "bench-measure: %s ended with status %d\n", argv[2], status);
			return 1;
		}
		double cpu = cpu_of(&use);
		double wall = (double)(end.tv_sec - start.tv_sec) * 1e3 +
			      (double)(end.tv_nsec - start.tv_nsec) / 1e6;
		while (wait4(-1, &status, 0, &left) > 0)
			cpu += cpu_of(&left);
		cpu_ms = cpu < cpu_ms ? cpu : cpu_ms;
		wall_ms = wall < wall_ms ? wall : wall_ms;
		rss_kb = use.ru_maxrss > rss_kb ? use.ru_maxrss : rss_kb;
	}
	printf("%.1f %.1f %ld\n", cpu_ms, wall_ms, rss_kb);
	return 0;
}
