// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/control.h"
#include "base/alloc.h"
#include "base/str.h"
#include <unistd.h>

static enum control_command command_of(struct str line)
{
	static const struct {
		const char *name;
		enum control_command command;
	} commands[] = {{"enable", CONTROL_ENABLE},	{"disable", CONTROL_DISABLE},
			{"snapshot", CONTROL_SNAPSHOT}, {"evlist", CONTROL_EVLIST},
			{"stop", CONTROL_STOP},		{"ping", CONTROL_PING}};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (str_starts(line, commands[i].name))
			return commands[i].command;
	}
	return CONTROL_UNKNOWN;
}

enum control_command control_read(struct control *control)
{
	char c;

	while (control->fd >= 0 && read(control->fd, &c, 1) == 1) {
		if (c != '\n' && c != 0) {
			if (control->n < sizeof(control->line))
				control->line[control->n++] = c;
			continue;
		}
		struct str line = str_trim((struct str){control->line, control->n});
		control->n = 0;
		if (line.n)
			return command_of(line);
	}
	return CONTROL_NONE;
}

void control_ack(const struct control *control)
{
	if (control->ack_fd >= 0)
		(void)!write(control->ack_fd, "ack\n", 5);
}
