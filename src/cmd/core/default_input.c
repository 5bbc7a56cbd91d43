// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/default_input.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// What was directed here as a file: a recording, or nothing, which then is all there is to read.
static bool is_meant(off_t size)
{
	static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE", "ELIFFREP"};
	char bytes[8];

	if (!size)
		return true;
	if (pread(STDIN_FILENO, bytes, sizeof(bytes), lseek(STDIN_FILENO, 0, SEEK_CUR)) !=
	    sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (memcmp(bytes, magics[i], sizeof(bytes)) == 0)
			return true;
	}
	return false;
}

const char *default_input(bool any_file)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || (S_ISREG(st.st_mode) && (any_file || is_meant(st.st_size)))))
		return "-";
	return "perf.data";
}
