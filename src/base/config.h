// SPDX-License-Identifier: GPL-2.0-or-later
// Settings in perf's form: [section], name = value. perf-config(1) and tools/perf/Documentation/perf-config.txt describe it.
#pragma once
#include "base/arena.h"
#include "base/vec.h"
#include <stdbool.h>

struct config_entry {
	const char *section, *name, *value; // value NULL: only the name stands there, which means true
	bool is_system;			    // from the system's file alone
};

// In the order of the files; entries of a section stand together. Zero-initialised is empty.
struct config {
	struct arena arena;
	VEC(struct config_entry) entries;
};

// Adds the text of a file. -EINVAL with a sentence that names the line; `name` is for messages.
int config_parse(struct config *config, struct str text, const char *name, bool is_system);
// Sets section.name, made when it is new. -EINVAL with a sentence when `key` has no section.
int config_set(struct config *config, const char *key, const char *value, bool is_system);
// NULL: not set. *ret_value may be NULL then, too; see config_entry.
const struct config_entry *config_find(const struct config *config, const char *key);
void config_done(struct config *config);

// The files: $HOME/.perfconfig and /etc/perfconfig; false when there is none.
bool config_user_path(char *ret, size_t ret_size);
#define CONFIG_SYSTEM_PATH "/etc/perfconfig"

enum config_files { CONFIG_SYSTEM = 1, CONFIG_USER = 2 };
// Reads what is there: the system's (unless PERF_CONFIG_NOSYSTEM is set), then the user's, which wins; where PERF_CONFIG names a
// file, only that. A file of somebody else is left out with a warning. -errno with a sentence.
int config_read(struct config *config, unsigned files);
// "true", "on", "yes", "1" and nothing behind the name are true, likewise false; -1: neither.
int config_bool(const char *value);
