// SPDX-License-Identifier: GPL-2.0-or-later
// How many files may be open: an event takes one for each CPU and thread. When they are too few sonde takes all that it may have (the hard
// limit of getrlimit(2)); commands that it watches are started before.
#pragma once
#include <stdbool.h>

// False: it is the hard limit already.
bool files_limit_raise(void);
// -EMFILE with a sentence that says what was too much, how many may be open, and what to do.
int files_limit_fail(const char *what);
// Adds how many may be open, and what to do, to the sentence of an -EMFILE that doesn't tell.
void files_limit_explain(void);
// Are there enough left to read symbols and what processes there are? Nothing that then fails could tell that from what is not there.
// Raises the limit when not; -EMFILE with a sentence.
int files_limit_check(void);
