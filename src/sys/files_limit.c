// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/files_limit.h"
#include "base/alloc.h"
#include "base/err.h"
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LEAST_LEFT = 8 };

static unsigned long long allowed(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	return limit.rlim_cur;
}

bool files_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int files_limit_fail(const char *what)
{
	return fail(EMFILE,
		    "too many open files for %s, %llu may be open: watch fewer events or CPUs, or raise the limit: ulimit -n 65536",
		    what, allowed());
}

void files_limit_explain(void)
{
	auto_free char *sentence = xstrdup(err_sentence());

	if (!strstr(sentence, "ulimit -n"))
		fail(EMFILE, "%s%s%llu files may be open: raise the limit: ulimit -n 65536",
		     sentence, *sentence ? "; " : "too many open files: ", allowed());
}

static bool are_left(void)
{
	int fd = fcntl(2, F_DUPFD_CLOEXEC, 0); // the lowest that is free

	if (fd < 0)
		return errno != EMFILE;
	close(fd);
	return (unsigned long long)fd + LEAST_LEFT <= allowed();
}

int files_limit_check(void)
{
	if (are_left() || (files_limit_raise() && are_left()))
		return 0;
	return files_limit_fail("the events and what else is to be read");
}
