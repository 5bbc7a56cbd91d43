// SPDX-License-Identifier: GPL-2.0-or-later
// Records a command by `sonde record`, as a process of its own so that its signals and output stay what they are.
#include "base/err.h"
#include "base/log.h"
#include "cmd/flamegraph/flamegraph.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

static int temporary_file(char **ret)
{
	const char *folder = getenv("TMPDIR");
	char *path = text_dup_fmt("%s/sonde-flame-XXXXXX", folder && folder[0] ? folder : "/tmp");
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0) {
		int err = fail(errno, "no temporary file %s can be made: %s", path, strerror(errno));

		free(path);
		return err;
	}
	close(fd);
	*ret = path;
	return 0;
}

static void run_record(const struct live_options *options, char **command, const char *path)
{
	VEC(const char *) argv = {0};

	vec_push(&argv, "sonde");
	vec_push(&argv, "record");
	vec_push(&argv, "-q");
	vec_push(&argv, "-F");
	vec_push(&argv, options->frequency ? options->frequency : "99");
	if (options->call_graph) {
		vec_push(&argv, "--call-graph");
		vec_push(&argv, options->call_graph);
	} else {
		vec_push(&argv, "-g");
	}
	if (options->event) {
		vec_push(&argv, "-e");
		vec_push(&argv, options->event);
	}
	if (options->all_cpus)
		vec_push(&argv, "-a");
	vec_push(&argv, "-o");
	vec_push(&argv, path);
	vec_push(&argv, "--");
	for (; *command; command++)
		vec_push(&argv, *command);
	vec_push(&argv, NULL);
	execv("/proc/self/exe", (char **)argv.v);
	_exit(127);
}

int flamegraph_record(const struct live_options *options, char **command, char **ret_path)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
	char *path = NULL;
	int status = 0, err = temporary_file(&path);

	if (err < 0)
		return err;
	// Ctrl-C ends the recording, not the picture of it.
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	pid_t pid = fork();
	if (pid == 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		run_record(options, command, path);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	if (pid < 0)
		err = fail(errno, "fork failed: %s", strerror(errno));
	else if (WIFEXITED(status) && (WEXITSTATUS(status) == 127 || WEXITSTATUS(status) == 255 ||
				       WEXITSTATUS(status) == 129))
		err = fail(ECHILD,
			   "'%s' could not be recorded; what `sonde record` said stands above",
			   command[0]);
	else if (!WIFEXITED(status) || WEXITSTATUS(status))
		inform("the recorded command ended with status %d",
		       WIFEXITED(status) ? WEXITSTATUS(status) : status);
	if (err < 0) {
		unlink(path);
		free(path);
		return err;
	}
	*ret_path = path;
	return 0;
}
