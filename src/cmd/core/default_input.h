// SPDX-License-Identifier: GPL-2.0-or-later
// What is read when no file was named.
#pragma once
#include <stdbool.h>

// "-" when standard input is a pipe, a recording or an empty file (`any_file`: or another file), else "perf.data". An empty input is
// one: it never stands for another.
const char *default_input(bool any_file);
