// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/control.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/num.h"
#include "base/str.h"
#include <fcntl.h>
#include <string.h>
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

static int open_descriptors(struct control *ret, const char *arg, struct str numbers)
{
	uint64_t control, ack = 0;
	struct str first = str_cut(&numbers, ',');

	if (num_parse_u64(first, &control) || (numbers.p && num_parse_u64(numbers, &ack)))
		return fail(EINVAL, "--control fd:N or fd:N,M takes numbers, not '%s'", arg);
	if (fcntl((int)control, F_GETFD) < 0 || (numbers.p && fcntl((int)ack, F_GETFD) < 0))
		return fail(EBADF, "--control %s: that descriptor is not open", arg);
	ret->fd = (int)control;
	ret->ack_fd = numbers.p ? (int)ack : -1;
	fcntl(ret->fd, F_SETFL, fcntl(ret->fd, F_GETFL) | O_NONBLOCK);
	return 0;
}

static int open_fifos(struct control *ret, struct str names)
{
	auto_free char *control = str_dup(str_cut(&names, ','));
	auto_free char *ack = names.p ? str_dup(names) : NULL;

	ret->fd = open(control, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (ret->fd < 0)
		return fail(errno, "can't open the control fifo %s: %s", control, strerror(errno));
	ret->ack_fd = ack ? open(ack, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
	if (ack && ret->ack_fd < 0)
		return fail(errno, "can't open the ack fifo %s: %s", ack, strerror(errno));
	return 0;
}

int control_open(struct control *ret, const char *arg)
{
	struct str rest = str_of(arg);

	if (str_starts(rest, "fd:"))
		return open_descriptors(ret, arg, (struct str){rest.p + 3, rest.n - 3});
	if (str_starts(rest, "fifo:"))
		return open_fifos(ret, (struct str){rest.p + 5, rest.n - 5});
	return fail(EINVAL, "--control takes fd:N[,M] or fifo:PATH[,PATH], not '%s'", arg);
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
