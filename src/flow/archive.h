// SPDX-License-Identifier: GPL-2.0-or-later
// RECORDING.archive: what is needed to read a recording elsewhere, as a tar packed with zstd: files in the layout of the
// build-id cache, and below files/ what has no build-id (perf-PID.map, jitdumps).
#pragma once
#include <stdbool.h>

// Unpacks an archive of ours or of `perf archive` (tar, plain or packed by zstd, gzip, bzip2, xz) below a folder. What is
// there already stays. Nothing is written outside: such entries are left out and counted in *ret_refused. With `!all`
// only what belongs to the build-id cache. -errno with a sentence.
struct archive_counts {
	unsigned files, refused;
};
int archive_unpack(const char *path, const char *folder, bool all, struct archive_counts *ret);

// The folder with what lies beside a recording, unpacked in sonde's cache when it was not yet; where that can't be written, in
// a folder of $TMPDIR (0700) until archive_beside_done. A damaged one is told with warn().
struct archive_beside {
	char *folder; // NULL: there is none
	bool goes;    // at the end
	int lock;     // then: tells others that it is in use
};
void archive_beside_find(const char *recording, struct archive_beside *ret);
void archive_beside_done(struct archive_beside *beside);
