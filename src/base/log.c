// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.h"
#include "base/err.h"
#include "base/out.h"
#include <stdio.h>

static int level;
static struct out *diverted;

void log_set_level(int new_level)
{
	level = new_level;
}

int log_get_level(void)
{
	return level;
}

void log_divert(struct out *to)
{
	diverted = to;
}

static void put(const char *fmt, va_list args)
{
	char text[ERR_SENTENCE_SIZE];

	err_format(text, sizeof(text), fmt, args);
	if (diverted)
		out_printf(diverted, "%s\n", text);
	else
		fprintf(stderr, "%s\n", text);
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put(fmt, args);
	va_end(args);
}

#define LOG_AT(name, min)                                                                          \
	void name(const char *fmt, ...)                                                            \
	{                                                                                          \
		va_list args;                                                                      \
		if (level < (min))                                                                 \
			return;                                                                    \
		va_start(args, fmt);                                                               \
		put(fmt, args);                                                                    \
		va_end(args);                                                                      \
	}
LOG_AT(warn, LOG_WARN)
LOG_AT(inform, LOG_INFO)
LOG_AT(debug, LOG_DEBUG)
