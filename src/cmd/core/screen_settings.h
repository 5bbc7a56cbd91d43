// SPDX-License-Identifier: GPL-2.0-or-later
// Screens in the colours of ~/.perfconfig.
#pragma once
#include "encoder/tui/screen.h"

// screen_open, then [colors]. What is no colour is told and left out.
int screen_open_as_set(struct screen **ret);
