// SPDX-License-Identifier: GPL-2.0-or-later
// What ~/.perfconfig and /etc/perfconfig say about commands, as perf's own would understand it.
#pragma once
#include "cmd/core/command.h"

// The value of a setting, NULL where it is not there (or there is no file that can be read). Stays for ever.
const char *settings_get(const char *key);
// Likewise where it is there and is what it should be; else a warning names the file, and the answer is `otherwise`.
bool settings_bool(const char *key, bool otherwise);
unsigned settings_number(const char *key, unsigned otherwise);
// The sentence, of a value of -e, is about a setting that is there: says where it stands instead of -e; returns err.
int settings_blame(const char *key, int err);
// Puts where a setting stands before the sentence, when the sentence is about its value ('VALUE', `VALUE'); returns err.
int settings_explain(int err);
// The options that settings stand for, before those that were typed: returns a new argv (NULL at the end, words stay for ever), or
// NULL when there are none. Sets PERF_BUILDID_DIR by buildid.dir. The caller frees the argv.
char **settings_as_options(const struct command *command, char **argv);
