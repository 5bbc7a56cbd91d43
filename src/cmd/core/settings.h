// SPDX-License-Identifier: GPL-2.0-or-later
// What ~/.perfconfig and /etc/perfconfig say about commands, as perf's own would understand it.
#pragma once
#include "cmd/core/command.h"

// The value of a setting, NULL where it is not there (or there is no file that can be read). Stays for ever.
const char *settings_get(const char *key);
// The options that settings stand for, before those that were typed: returns a new argv (NULL at the end, words stay for ever), or
// NULL when there are none. *argc becomes its length. Sets PERF_BUILDID_DIR by buildid.dir. The caller frees the argv.
char **settings_as_options(const struct command *command, int *argc, char **argv);
