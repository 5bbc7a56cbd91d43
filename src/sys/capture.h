// SPDX-License-Identifier: GPL-2.0-or-later
// Other programs that are waited for.
#pragma once
#include "base/out.h"

// Runs argv[0], looked for in PATH, with nothing to read and without its standard error, and appends what it prints to `out`, a
// writer into memory, up to `most` bytes; *ret_more: there is more, and it was killed. Its wait(2) status, or -errno without a
// sentence.
int capture(char *const argv[], size_t most, struct out *out, bool *ret_more);
// Runs a line of shell with the streams that there are. Its wait(2) status, or -errno without a sentence.
int shell_run(const char *line);
