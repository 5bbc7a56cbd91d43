// SPDX-License-Identifier: GPL-2.0-or-later
// The values of options but -e, for the completion of shells.
#pragma once
#include "base/opt.h"
#include "base/out.h"

// Has this option values that complete_value may know? By its name and letter.
bool complete_has_values(const struct opt *opt);

// What may stand in the place of the half typed `text` of the option (a long name) of a command ("report", "prof top", ...): a line
// each, TEXT, TAB, what it is. Lists go on behind their last part. Never fails.
void complete_value(struct out *out, const char *command, const char *option, const char *text);
