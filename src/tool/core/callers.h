// SPDX-License-Identifier: GPL-2.0-or-later
// Call stacks of the kernel as a tool shows them: by whom a lock was taken.
#pragma once
#include "tool/core/tool.h"

// In plan: the keys that are stacks begin with the first function that is none of the kernel's locks'.
void tool_callers_of_locks(struct tool_run *run);
// "prepare_to_wait_event+0x3a" of the innermost frame of a key that is a stack; "unknown" where the kernel had none.
tool_name tool_caller_name;
