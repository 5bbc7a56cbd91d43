// SPDX-License-Identifier: GPL-2.0-or-later
// Completion scripts for shells, made from the tables of commands and options.
#pragma once
#include "base/out.h"

// shell: "bash", "zsh" or "fish"; -EINVAL with a sentence for others.
int complete_script(struct out *out, const char *shell);
