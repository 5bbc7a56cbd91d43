// SPDX-License-Identifier: GPL-2.0-or-later
// annotate on a terminal: the heaviest function, and behind it the list of all.
#pragma once
#include "cmd/annotate/annotate.h"

// Is there a terminal, and was nothing asked for that is text?
bool annotate_wants_screen(const struct annotate *annotate);
// After report_finish. Negative with a sentence.
int annotate_run_screen(struct annotate *annotate);
