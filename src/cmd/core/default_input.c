// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/default_input.h"
#include <sys/stat.h>
#include <unistd.h>

const char *default_input(bool files_too)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || (files_too && S_ISREG(st.st_mode) && st.st_size > 0)))
		return "-";
	return "perf.data";
}
