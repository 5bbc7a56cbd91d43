// SPDX-License-Identifier: GPL-2.0-or-later
// Tools that people know by name from elsewhere and that are not here, with the command line that answers their question.
#pragma once
#include <stdbool.h>

// The command line; NULL: no tool of that name is known, or nothing here answers it. A trailing "-bpfcc", ".bt" or ".py" is no part of a name.
const char *elsewhere_line(const char *name);
