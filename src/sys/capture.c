// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/capture.h"
#include "base/alloc.h"
#include "sys/signals.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(int to, char *const argv[])
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	signals_of_child();
	dup2(nothing, 0);
	dup2(to, 1);
	dup2(nothing, 2);
	execvp(argv[0], argv);
	_exit(127);
}

static bool read_all(int fd, size_t most, struct out *out)
{
	enum { CHUNK = 65536 };
	size_t total = 0;

	while (total < most) {
		ssize_t n = read(fd, out_room(out, CHUNK), MIN(most - total, (size_t)CHUNK));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		out->n += (size_t)n;
		total += (size_t)n;
	}
	return true;
}

int capture(char *const argv[], size_t most, struct out *out, bool *ret_more)
{
	int fds[2], status = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		child(fds[1], argv);
	int err = pid < 0 ? -errno : 0;
	close(fds[1]);
	*ret_more = !err && read_all(fds[0], most, out);
	close(fds[0]);
	if (err)
		return err;
	if (*ret_more)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

int shell_run(const char *line)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		signals_of_child();
		execl("/bin/sh", "sh", "-c", line, (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}
