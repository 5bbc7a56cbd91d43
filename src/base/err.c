// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/err.h"
#include "base/alloc.h"
#include "base/out.h"
#include <stdio.h>
#include <string.h>

enum { MARK = 1 };

static _Thread_local char sentence[ERR_SENTENCE_SIZE];

static bool is_blank(char c)
{
	return c == '\n' || c == '\t';
}

// `own`: of n bytes, a line end or tab of the text stays where it has MARK. NULL: none stays.
static void tame(char *text, const char *own, size_t n)
{
	for (struct str rest = {text, n}; rest.n;) {
		size_t at = (size_t)(rest.p - text);
		bool stays = own && own[at] == MARK && is_blank(*rest.p);
		size_t length = stays ? 1 : out_shown_bytes(rest);

		if (!length)
			text[at] = '?';
		length += !length;
		rest = (struct str){rest.p + length, rest.n - length};
	}
}

void err_tame(char *text)
{
	tame(text, NULL, strlen(text));
}

// What the sentence so far has of them was looked at when it was made.
static void mark_sentence(const char *text, char *own, size_t n)
{
	size_t length = strlen(sentence);
	const char *at =
		length && strpbrk(sentence, "\n\t") ? memmem(text, n, sentence, length) : NULL;

	for (size_t i = 0; at && i < length; i++) {
		if (is_blank(at[i]))
			own[at - text + (ptrdiff_t)i] = MARK;
	}
}

void err_format(char *to, size_t size, const char *fmt, va_list args)
{
	char own_fmt[1024], own[ERR_SENTENCE_SIZE] = "";
	va_list again;
	size_t n;

	va_copy(again, args);
	vsnprintf(to, size, fmt, args);
	n = strlen(to);
	// Those of the format come out as marks, those of what it is filled with as what they are.
	if (strpbrk(fmt, "\n\t") && strlen(fmt) < sizeof(own_fmt)) {
		for (size_t i = 0; i <= strlen(fmt); i++)
			own_fmt[i] = is_blank(fmt[i]) ? MARK : fmt[i];
		vsnprintf(own, MIN(size, sizeof(own)), own_fmt, again);
	}
	va_end(again);
	mark_sentence(to, own, n);
	tame(to, own, MIN(n, sizeof(own) - 1));
}

int fail(int code, const char *fmt, ...)
{
	char text[sizeof(sentence)];
	va_list args;

	va_start(args, fmt);
	err_format(text, sizeof(text), fmt, args); // args may point into the old sentence
	va_end(args);
	memcpy(sentence, text, sizeof(text));
	return -code;
}

int fail_context(int err, const char *fmt, ...)
{
	char old[sizeof(sentence)], context[512];
	va_list args;

	va_start(args, fmt);
	err_format(context, sizeof(context), fmt, args);
	va_end(args);
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
	if (*text && text != sentence)
		snprintf(sentence, sizeof(sentence), "%s", text);
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
