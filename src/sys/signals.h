// SPDX-License-Identifier: GPL-2.0-or-later
// The signals of a run as a descriptor (signalfd(2)): those that end it, and SIGCHLD.
#pragma once
#include <stdbool.h>

// Blocks what ends a run (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and rarer ones), SIGCHLD and `also` (0: no other), which
// may be one of the former with another meaning, for good; they are read from the descriptor, which is the
// caller's to close and does not block. -errno with a sentence.
int signals_open(int also);
// In a forked child, before it becomes another program: nothing is blocked, and SIGPIPE and SIGXFSZ end it as usual.
void signals_of_child(void);
// Does one of those that end a run wait to be read?
bool signals_end_waits(void);
