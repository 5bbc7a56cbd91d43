// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char sentence[2048];

int fail(int code, const char *fmt, ...)
{
	char text[sizeof(sentence)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args); // args may point into the old sentence
	va_end(args);
	memcpy(sentence, text, sizeof(text));
	return -code;
}

int fail_context(int err, const char *fmt, ...)
{
	char old[sizeof(sentence)], context[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(context, sizeof(context), fmt, args);
	va_end(args);
	if (sentence[0])
		memcpy(old, sentence, sizeof(old));
	else
		snprintf(old, sizeof(old), "%s", strerror(err < 0 ? -err : err));
	old[sizeof(old) - sizeof(context) - 3] = 0;
	snprintf(sentence, sizeof(sentence), "%s: %s", context, old);
	return err;
}

const char *err_sentence(void)
{
	return sentence;
}

void err_clear(void)
{
	sentence[0] = 0;
}
