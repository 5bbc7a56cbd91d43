// SPDX-License-Identifier: GPL-2.0-or-later
// The file that a recording is written to, and the one that it replaces.
#pragma once
#include <stdbool.h>
#include "base/replace.h"

// Does it go to a pipe: -o -, or nothing was said (NULL) and standard output is one?
bool output_is_pipe(const char *output);
// Does -o name a FIFO that is there? What goes into it is written as to a pipe.
bool output_is_fifo(const char *output);
// Opens it for writing: waits for who reads it, until SIGINT, SIGTERM or SIGHUP, which have to be blocked, is pending (-EINTR). The
// descriptor, or -errno with a sentence.
int output_open_fifo(const char *path);
// The name of the file: perf.data when nothing was said. NULL with a sentence: '' is none, or a pipe would be a terminal.
const char *output_path(const char *output);

// As perf does, one older recording, file or folder, that isn't empty is kept as PATH.old. 1: it is there now; 0: there was none;
// -errno with a sentence: it can't be moved.
int output_keep_old(const char *path);
// A recording that is a folder (record --kcore); only the files that such a folder has are removed.
void output_remove_folder(const char *folder);

// The output would replace the recording, or the data of a recording that is a folder, while it is read: -EINVAL with a sentence. "-"
// is standard input; an output that is not there yet, or is no plain file, is none.
int output_check_input(const char *output, const char *input);

// A file that takes its name when it is whole, or a FIFO; to be ended by replacing_close. -errno with a sentence.
int output_file_open(struct replacing *file, const char *path);
