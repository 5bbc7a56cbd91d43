// SPDX-License-Identifier: GPL-2.0-or-later
// The text of source files, for commands that show code.
#pragma once
#include <stdint.h>
#include "base/str.h"

struct source_texts;

struct source_texts *source_texts_new(void);
void source_texts_free(struct source_texts *texts);
// A line, from 1, without its end; it stays until the next call. False: the file can't be read, is not a plain file, is larger
// than 16 MB, or has no such line. A file is read when its first line is asked for.
bool source_texts_line(struct source_texts *texts, const char *path, uint32_t line, struct str *ret);
