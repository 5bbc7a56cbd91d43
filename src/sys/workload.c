// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/workload.h"
#include "sys/signals.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/str.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(int go_fd, int exec_fd, char **argv)
{
	char go;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signals_of_child();
	// The parent closing without a word means: don't.
	if (read(go_fd, &go, 1) != 1)
		_exit(0);
	prctl(PR_SET_PDEATHSIG, 0);
	execvp(argv[0], argv);
	int why = errno;
	(void)!write(exec_fd, &why, sizeof(why));
	_exit(why == ENOENT ? 127 : 126);
}

static int can_execute(const char *path)
{
	struct stat st;

	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 || stat(path, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -EACCES;
}

// As execvp will look for it. What only exec can know (a bad format, a missing interpreter) is told by workload_start.
static int find_program(const char *name)
{
	const char *path = getenv("PATH");
	struct str rest = str_of(path ? path : "/bin:/usr/bin");
	int err = -ENOENT;

	if (!*name)
		return err;
	if (strchr(name, '/'))
		return can_execute(name);
	while (rest.p && err) {
		struct str folder = str_cut(&rest, ':');
		auto_free char *file =
			text_dup_fmt("%.*s%s%s", STR_FMT(folder), folder.n ? "/" : "", name);
		int found = can_execute(file);

		if (!found || found == -EACCES)
			err = found;
	}
	return err;
}

int workload_prepare(struct workload *workload, char **argv, bool quiet_stdout)
{
	int go[2], exec[2], err = find_program(argv[0]);

	*workload = (struct workload){.go_fd = -1, .exec_fd = -1};
	if (err)
		return fail(-err, "can't start %s: %s", argv[0], strerror(-err));
	if (pipe2(go, O_CLOEXEC) < 0)
		return fail(errno, "can't make a pipe: %s", strerror(errno));
	if (pipe2(exec, O_CLOEXEC) < 0) {
		close(go[0]);
		close(go[1]);
		return fail(errno, "can't make a pipe: %s", strerror(errno));
	}
	workload->pid = fork();
	if (workload->pid == 0) {
		close(go[1]);
		close(exec[0]);
		if (quiet_stdout)
			dup2(2, 1);
		child(go[0], exec[1], argv);
	}
	close(go[0]);
	close(exec[1]);
	workload->go_fd = go[1];
	workload->exec_fd = exec[0];
	if (workload->pid < 0) {
		workload->pid = 0;
		return fail(errno, "can't fork: %s", strerror(errno));
	}
	return 0;
}

static void reap(struct workload *workload)
{
	while (waitpid(workload->pid, &workload->status, 0) < 0 && errno == EINTR)
		;
	workload->reaped = true;
}

int workload_start(struct workload *workload, const char *name)
{
	int why = 0;

	workload->started = true;
	if (write(workload->go_fd, "", 1) != 1)
		return fail(EIO, "can't start %s: it is gone already", name);
	close(workload->go_fd);
	workload->go_fd = -1;
	// The pipe closes on a good exec and brings errno on a bad one.
	while (read(workload->exec_fd, &why, sizeof(why)) < 0 && errno == EINTR)
		;
	close(workload->exec_fd);
	workload->exec_fd = -1;
	if (!why)
		return 0;
	// It ends by itself now; a signal to it would tell of what never ran.
	reap(workload);
	return fail(why, "can't start %s: %s", name, strerror(why));
}

bool workload_ended(struct workload *workload)
{
	if (workload->reaped || !workload->pid)
		return workload->reaped;
	if (waitpid(workload->pid, &workload->status, WNOHANG) == workload->pid)
		workload->reaped = true;
	return workload->reaped;
}

int workload_exit_code(const struct workload *workload)
{
	if (!workload->reaped)
		return 0;
	if (WIFSIGNALED(workload->status))
		return 128 + WTERMSIG(workload->status);
	return WEXITSTATUS(workload->status);
}

void workload_done(struct workload *workload, bool terminate)
{
	if (workload->go_fd >= 0)
		close(workload->go_fd);
	if (workload->exec_fd >= 0)
		close(workload->exec_fd);
	workload->go_fd = workload->exec_fd = -1;
	if (!workload->pid || workload->reaped)
		return;
	// One that was never let go ends by itself, as its pipe is closed.
	if (terminate && workload->started)
		kill(workload->pid, SIGTERM);
	if (terminate || !workload->started)
		reap(workload);
}
