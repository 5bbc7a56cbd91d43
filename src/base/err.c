// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char sentence[2048];

// Sentences hold names that strangers chose; what would command a terminal becomes '?': control characters but line
// end and tab, and those of ISO 6429's upper half as UTF-8 writes them (C2 80 to C2 9F).
static void tame(char *text)
{
	for (unsigned char *p = (unsigned char *)text; *p; p++) {
		if ((*p < 32 && *p != '\n' && *p != '\t') || *p == 127)
			*p = '?';
		else if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
			p[0] = p[1] = '?';
	}
}

int fail(int code, const char *fmt, ...)
{
	char text[sizeof(sentence)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args); // args may point into the old sentence
	va_end(args);
	tame(text);
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
	tame(context);
	if (sentence[0])
		memcpy(old, sentence, sizeof(old));
	else
		snprintf(old, sizeof(old), "%s", strerror(err < 0 ? -err : err));
	old[sizeof(old) - sizeof(context) - 3] = 0;
	snprintf(sentence, sizeof(sentence), "%s: %s", context, old);
	return err;
}

int fail_again(int err, const char *text)
{
	return *text ? fail(-err, "%s", text) : err;
}

const char *err_sentence(void)
{
	return sentence;
}

void err_clear(void)
{
	sentence[0] = 0;
}
