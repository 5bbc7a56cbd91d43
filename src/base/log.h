// SPDX-License-Identifier: GPL-2.0-or-later
// Messages for the person at the terminal, on stderr: warnings always, more with -v, none with -q. What a measurement lost is said with -q, too.
#pragma once

enum log_level { LOG_QUIET = -1, LOG_WARN = 0, LOG_INFO = 1, LOG_DEBUG = 2 };

void log_set_level(int level);
int log_get_level(void);
// Messages go there instead, until NULL: where several processes speak as one.
struct out;
void log_divert(struct out *to);
// One line each; a newline is added, control characters from outside are escaped.
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold)); // whatever the level is
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold));
void inform(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold)); // -v
void debug(const char *fmt, ...) __attribute__((format(printf, 1, 2), cold));  // -vv
