// SPDX-License-Identifier: GPL-2.0-or-later
// What names are missing in a result, of how many samples, and how to get them.
#pragma once
#include "flow/session.h"

// A table on stderr, when that is a terminal or with -v: the share of samples that lie in each file without symbols, why, and
// the command that would help. Nothing when nothing is missing. Asks dpkg for at most five files.
void missing_show(const struct session *session);
