// SPDX-License-Identifier: GPL-2.0-or-later
// Names as somebody with another root folder means them: of a container, by /proc/PID/root.
#pragma once

// Where `path` leads to when `root` is its root: without links and dots, to be put behind root. On the heap; NULL with errno as
// of realpath(3). Links to "/x" stay below root. Who may write there can make it another place afterwards.
char *rooted_path_dup(const char *root, const char *path);
