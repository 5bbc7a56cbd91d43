// SPDX-License-Identifier: GPL-2.0-or-later
// What is read when no file was named.
#pragma once
#include <stdbool.h>

// "-" when standard input is a pipe (`files_too`: or a file that isn't empty), else "perf.data".
const char *default_input(bool files_too);
