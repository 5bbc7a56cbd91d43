// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/out.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char sentence[2048];

void err_tame(char *text)
{
	for (struct str rest = str_of(text); rest.n;) {
		size_t n = *rest.p == '\n' || *rest.p == '\t' ? 1 : out_shown_bytes(rest);

		if (!n)
			text[rest.p - text] = '?';
		n += !n;
		rest = (struct str){rest.p + n, rest.n - n};
	}
}

int fail(int code, const char *fmt, ...)
{
	char text[sizeof(sentence)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args); // args may point into the old sentence
	va_end(args);
	err_tame(text);
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
	err_tame(context);
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
