// SPDX-License-Identifier: GPL-2.0-or-later
// What users say about symbols, looked at before work begins.
#pragma once
#include "sym/sym.h"

// -errno with a sentence when a file that the options name can't be read.
int sym_options_check(const struct sym_options *options);
