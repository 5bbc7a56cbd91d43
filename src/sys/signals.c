// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/signals.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include "base/alloc.h"
#include "base/err.h"
#include "sys/files_limit.h"

// All that would end the program by themselves, with nothing cleaned up, and are not its own fault.
static const int ends[] = {SIGINT,  SIGTERM, SIGHUP,	SIGQUIT, SIGUSR1, SIGUSR2,
			   SIGALRM, SIGPROF, SIGVTALRM, SIGXCPU, SIGPWR};

int signals_open(int also)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		sigaddset(&set, ends[i]);
	sigaddset(&set, SIGCHLD);
	if (also)
		sigaddset(&set, also);
	sigprocmask(SIG_BLOCK, &set, NULL);
	do // what is open already may be all that may be
		fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	while (fd < 0 && errno == EMFILE && files_limit_raise());
	return fd < 0 ? fail(errno, "can't take signals: %s", strerror(errno)) : fd;
}

bool signals_end_waits(void)
{
	sigset_t waiting;
	bool any = false;

	if (sigpending(&waiting) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		any |= sigismember(&waiting, ends[i]) > 0;
	return any;
}

void signals_of_child(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
}
