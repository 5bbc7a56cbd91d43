// SPDX-License-Identifier: GPL-2.0-or-later
// A program's code that lies in anonymous memory: programs copy theirs to huge pages.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct moved_text {
	pid_t pid;
	const char *path;	       // of the file that is mapped beside it
	uint64_t start, end;	       // anonymous, executable
	uint64_t beside, beside_pgoff; // where some of the file is mapped
};

// Is what lies there what the file's segment has for these addresses? Compares some pages of both; `ret`: the place in the file.
bool moved_text_find(const struct moved_text *text, uint64_t *ret);
