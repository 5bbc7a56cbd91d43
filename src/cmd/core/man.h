// SPDX-License-Identifier: GPL-2.0-or-later
// Help as a man page (man(7) macros), from the command's struct.
#pragma once
#include "base/out.h"
#include "cmd/core/command.h"

// The page sonde-NAME(1); the sub-commands are sections of it.
void man_command(struct out *out, const struct command *command);
// The page sonde(1).
void man_overview(struct out *out);
