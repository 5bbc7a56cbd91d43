// SPDX-License-Identifier: GPL-2.0-or-later
// Settings in perf's form: [section], name = value. perf-config(1) and tools/perf/Documentation/perf-config.txt describe it.
#pragma once
#include "base/arena.h"
#include "base/out.h"
#include "base/vec.h"
#include <stdbool.h>
#include <sys/stat.h>

struct config_entry {
	const char *section, *name, *value; // value NULL: only the name stands there, which means true
	bool is_system;			    // from the system's file alone
	const char *file;		    // where it stands; NULL: it was set by config_set
	unsigned line;
};

// In the order of the files; entries of a section stand together. Zero-initialised is empty.
struct config {
	struct arena arena;
	VEC(struct config_entry) entries;
};

// Adds the text of a file. -EINVAL with a sentence that names the line; `name` is for messages.
int config_parse(struct config *config, struct str text, const char *name, bool is_system);
// Sets section.name, made when it is new. -EINVAL with a sentence when `key` has no section, or a file with it couldn't be read by
// config_parse or by perf: the name, and what is before the section's first '.', are of letters, digits, '-' and '_'.
int config_set(struct config *config, const char *key, const char *value, bool is_system);
// The text of a file with section.name set in it; all else stays as it is, comments too. Text that config_parse refuses must not be
// given; a key that config_set refuses is -EINVAL with a sentence.
int config_edit(struct out *ret, struct str text, const char *key, const char *value);
// NULL: not set. *ret_value may be NULL then, too; see config_entry.
const struct config_entry *config_find(const struct config *config, const char *key);
void config_done(struct config *config);

#define CONFIG_SYSTEM_PATH "/etc/perfconfig"

// One alone, or both, which is what every command reads.
enum config_files { CONFIG_SYSTEM = 1, CONFIG_USER = 2 };
// Reads what is there: the system's (unless PERF_CONFIG_NOSYSTEM is set), then $HOME/.perfconfig, which wins; where PERF_CONFIG
// names a file, only that. Neither variable counts when one file is asked for, as in perf. A file of somebody else is left out with
// a warning. -errno with a sentence.
int config_read(struct config *config, unsigned files);
// Where changes go of what config_read read: the one file, what PERF_CONFIG names, else the user's. -ENOENT with a sentence.
int config_path(char *ret, size_t ret_size, unsigned files);
// Whether config_read reads a file: 1, with what stat says of it; 0: it is not there; -errno with a sentence: it is left out.
int config_check(const char *path, struct stat *ret);
// "true", "on", "yes", "1" and nothing behind the name are true, likewise false; -1: neither.
int config_bool(const char *value);
