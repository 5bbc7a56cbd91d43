// SPDX-License-Identifier: GPL-2.0-or-later
// Waits for the kernel's locks, as tools count them.
#pragma once
#include "tool/core/tool.h"

// For tool_events.
extern const struct tool_event *const tool_lock_waits[];
