// SPDX-License-Identifier: GPL-2.0-or-later
// The one error sentence of the program. A function that fails leaves it and returns -errno; callers
// may put context before it; main prints it once.
#pragma once
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>

// What fail takes beside errno: perf's exit statuses for a command that was used wrongly, and for a file of the kernel's symbols that is
// not there or a --time that can't be read, where perf's command says so.
enum { COMMAND_USAGE = 129, COMMAND_INVALID = 234 };

// Sets the sentence and returns -code (code > 0), so that one writes: return fail(ENOENT, "...").
int fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
// Puts "context: " before the sentence (or the errno text when there is none); returns err.
int fail_context(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3), cold));
// Leaves the sentence of an error again, when what failed later may have left its own; returns err.
int fail_again(int err, const char *sentence) __attribute__((cold));
const char *err_sentence(void); // "" when there is none
void err_clear(void);
// Sentences hold names that strangers chose: what would command a terminal or turn its writing, line ends, tabs, and what is no UTF-8,
// becomes '?' byte by byte. Sentences and messages are so already.
void err_tame(char *text);
// vsnprintf and err_tame of what fills the format: line ends and tabs of the format itself, and of the sentence so far, stay. size: at most
// ERR_SENTENCE_SIZE.
enum { ERR_SENTENCE_SIZE = 2048 };
void err_format(char *to, size_t size, const char *fmt, va_list args)
	__attribute__((format(printf, 3, 0)));
