// SPDX-License-Identifier: GPL-2.0-or-later
// The wait of a recording: for rings, signals, commands of --control, times and triggers. Private to cmd/record.
#pragma once
#include "cmd/core/record/record.h"
#include "flow/control.h"
#include <poll.h>

struct watch {
	struct pollfd *fds;
	size_t n, rings_n, early_n; // the early ones are the last
	int signal_fd;
	bool stop, dump;
	int exit_signal;
	size_t delay_at;
	uint64_t started_ns;
	struct control control;
};

// Of what is open; signal_fd and control are set before. fds is the caller's to free.
void watch_init(struct recorder *recorder, struct watch *watch);
// Collects until it ends; then what is left. 0, -errno with a sentence.
int watch_run(struct recorder *recorder, struct watch *watch);
