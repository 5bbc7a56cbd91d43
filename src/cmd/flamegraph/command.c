// SPDX-License-Identifier: GPL-2.0-or-later
// Records a command in a process of its own, so that its signals and output stay what they are.
#include "base/err.h"
#include "base/log.h"
#include "cmd/flamegraph/flamegraph.h"
#include "cmd/core/record/record.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { FAILED = 255 };

// Without a name a file goes when we are killed. The recorder finds it among our descriptors, where it may look at them:
// programs with capabilities of their own hide them, and /proc may number processes as another namespace does.
static bool open_nameless(struct live_file *file, const char *folder)
{
	struct stat ours, seen;

	file->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (file->fd < 0)
		return false;
	file->path = text_dup_fmt("/proc/%d/fd/%d", (int)getpid(), file->fd);
	if (prctl(PR_GET_DUMPABLE) == 1 && fstat(file->fd, &ours) == 0 &&
	    stat(file->path, &seen) == 0 && ours.st_dev == seen.st_dev && ours.st_ino == seen.st_ino)
		return true;
	live_file_done(file);
	return false;
}

static int temporary_file(struct live_file *file)
{
	const char *folder = getenv("TMPDIR");

	*file = (struct live_file){.fd = -1};
	if (!folder || !folder[0])
		folder = "/tmp";
	if (open_nameless(file, folder))
		return 0;
	file->path = text_dup_fmt("%s/sonde-flame-XXXXXX", folder);
	file->fd = mkostemp(file->path, O_CLOEXEC);
	file->named = file->fd >= 0;
	if (file->named)
		return 0;
	int err = fail(errno, "no temporary file %s can be made: %s", file->path, strerror(errno));
	live_file_done(file);
	return err;
}

void live_file_done(struct live_file *file)
{
	if (file->named)
		unlink(file->path);
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	*file = (struct live_file){.fd = -1};
}

static int prepare(const struct live_options *options, struct record_options *ret)
{
	const char *frequency = options->frequency ? options->frequency : "99";
	const char *call_graph = options->call_graph ? options->call_graph : "auto";
	int err;

	record_options_init(ret);
	ret->quiet = true;
	ret->target.all_cpus = options->all_cpus;
	err = record_opt_frequency(ret, NULL, frequency, false);
	if (!err)
		err = record_opt_call_graph(ret, NULL, call_graph, false);
	if (!err && options->event)
		err = record_opt_event(ret, NULL, options->event, false);
	return err;
}

static _Noreturn void record_and_exit(struct record_options *record, char **command)
{
	int code = record_run(record, command);

	if (code < 0)
		say("sonde record: %s", err_sentence());
	_exit(code < 0 ? FAILED : code);
}

// Waits for the recording to end. Ctrl-C ends it, not the picture of it: from the terminal it has reached both processes,
// from kill(1) it is passed on. -EINTR when we were told to end ourselves.
static int wait_for(pid_t pid, const sigset_t *signals, int *ret_status)
{
	int ended = 0;

	for (;;) {
		siginfo_t info;
		int number = sigwaitinfo(signals, &info);

		if (number == SIGCHLD) {
			if (waitpid(pid, ret_status, WNOHANG) == pid)
				return ended;
		} else if (number > 0) {
			if (number == SIGTERM || number == SIGHUP)
				ended = fail(EINTR,
					     "stopped by signal %d before the picture was drawn",
					     number);
			if (info.si_code == SI_USER || ended)
				kill(pid, number);
		}
	}
}

static int judge(int status, const char *command)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;

	if (code == FAILED)
		return fail(ECHILD,
			    "'%s' could not be recorded; what `sonde record` said stands above",
			    command);
	if (status)
		inform("the recorded command ended with status %d",
		       WIFEXITED(status) ? code : status);
	return 0;
}

int flamegraph_record(const struct live_options *options, char **command, struct live_file *ret)
{
	struct sigaction heard = {.sa_handler = SIG_DFL},
			 child_before; // a parent may have had it ignored
	sigset_t signals, before;
	struct record_options record;
	struct live_file file = {.fd = -1};
	int status = 0, err = prepare(options, &record);

	if (!err)
		err = temporary_file(&file);
	if (err < 0) {
		event_specs_done(&record.specs);
		return err;
	}
	record.output = file.path;
	sigemptyset(&signals);
	static const int wanted[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD};
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		sigaddset(&signals, wanted[i]);
	sigaction(SIGCHLD, &heard, &child_before);
	sigprocmask(SIG_BLOCK, &signals, &before);
	pid_t pid = fork();
	if (pid == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		record_and_exit(&record, command);
	}
	if (pid < 0)
		err = fail(errno, "fork failed: %s", strerror(errno));
	else
		err = wait_for(pid, &signals, &status);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGCHLD, &child_before, NULL);
	event_specs_done(&record.specs);
	if (!err)
		err = judge(status, command[0]);
	if (err < 0) {
		live_file_done(&file);
		return err;
	}
	*ret = file;
	return 0;
}
