// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of a session know of each other.
#pragma once

struct session_unwind;
void session_unwind_free(struct session_unwind *unwind);
