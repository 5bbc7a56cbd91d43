// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/default_input.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool input_is_recording(struct str bytes)
{
	static const struct str magics[] = {STR("PERFILE2"), STR("2ELIFREP"),
					    STR("PERFFILE"), STR("ELIFFREP"),
					    STR("\x1f\x8b"), STR("\x28\xb5\x2f\xfd")};

	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		if (bytes.n >= magics[i].n && memcmp(bytes.p, magics[i].p, magics[i].n) == 0)
			return true;
	}
	return false;
}

// What was directed here as a file: a recording, or nothing, which then is all there is to read.
static bool is_meant(off_t size)
{
	char bytes[8];

	if (!size)
		return true;
	return pread(STDIN_FILENO, bytes, sizeof(bytes), lseek(STDIN_FILENO, 0, SEEK_CUR)) ==
		       sizeof(bytes) &&
	       input_is_recording((struct str){bytes, sizeof(bytes)});
}

const char *default_input(bool any_file)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 &&
	    (S_ISFIFO(st.st_mode) || (S_ISREG(st.st_mode) && (any_file || is_meant(st.st_size)))))
		return "-";
	return "perf.data";
}

// Stdin as a file that can be read twice: itself when it is one, else a copy in memory.
static int seekable_stdin(int *ret_fd)
{
	struct stat st;
	char *buf;
	ssize_t n;
	int fd, err = 0;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode) &&
	    lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) {
		*ret_fd = dup(STDIN_FILENO);
		return *ret_fd < 0 ? fail(errno, "dup of stdin failed: %s", strerror(errno)) : 0;
	}
	fd = memfd_create("stdin", MFD_CLOEXEC);
	if (fd < 0)
		return fail(errno, "no memory file for stdin: %s", strerror(errno));
	buf = xmalloc(1 << 20);
	while (!err && (n = read(STDIN_FILENO, buf, 1 << 20)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = fail(errno, "reading stdin failed: %s", strerror(errno));
		else if ((err = write_all(fd, buf, (size_t)n)) < 0)
			err = fail(-err, "no memory for what stdin holds: %s", strerror(-err));
	}
	free(buf);
	if (err < 0) {
		close(fd);
		return err;
	}
	lseek(fd, 0, SEEK_SET);
	*ret_fd = fd;
	return 0;
}

int input_stdin(int *ret_fd, char path[32])
{
	int err = seekable_stdin(ret_fd);

	if (err >= 0)
		snprintf(path, 32, "/proc/self/fd/%d", *ret_fd);
	return err;
}
