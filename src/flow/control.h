// SPDX-License-Identifier: GPL-2.0-or-later
// The --control channel: commands a line each on a descriptor, "ack\n" back. As perf's record and stat.
#pragma once

enum control_command {
	CONTROL_NONE,
	CONTROL_ENABLE,
	CONTROL_DISABLE,
	CONTROL_SNAPSHOT,
	CONTROL_EVLIST,
	CONTROL_STOP,
	CONTROL_PING,
	CONTROL_UNKNOWN,
};

struct control {
	int fd, ack_fd; // borrowed; -1: none
	char line[256];
	unsigned n;
};

// Of --control's argument, fd:N[,M] or fifo:PATH[,PATH]; reading does not block. -errno with a sentence.
int control_open(struct control *ret, const char *arg);
// One pending command, CONTROL_NONE when nothing is there. Event names behind a command are ignored.
enum control_command control_read(struct control *control);
void control_ack(const struct control *control);
