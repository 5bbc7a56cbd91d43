// SPDX-License-Identifier: GPL-2.0-or-later
// What names and unwind information are missing in a result, of how many samples, and how to get them.
#pragma once
#include "flow/run.h"

// Tables on stderr, when that is a terminal or with -v: the share of samples that lie in each file without symbols or whose stacks
// end in it for want of unwind information, why (also: another build-id), and the command that would help. Nothing when
// nothing is missing. Asks dpkg for at most ten files.
void missing_show(const struct run *run);
