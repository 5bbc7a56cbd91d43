// SPDX-License-Identifier: GPL-2.0-or-later
// What is read when no file was named, and what it holds.
#pragma once
#include "base/str.h"

// "-" when standard input is a pipe, a recording or an empty file (`any_file`: or another file), else "perf.data". An empty input is
// one: it never stands for another.
const char *default_input(bool any_file);
// By its first bytes: perf.data of any age, also packed with gzip or zstd.
bool input_is_recording(struct str bytes);
// Stdin as a file that can be read twice (a copy in memory when it is a pipe); the caller closes the descriptor. -errno with a sentence.
int input_stdin(int *ret_fd, char path[32]);
