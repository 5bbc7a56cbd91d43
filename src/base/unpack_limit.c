// SPDX-License-Identifier: GPL-2.0-or-later
// Packed bytes are unpacked to what can be believed (base/unpack_limit: 500 to 1 beyond 64 MB), archives also to what the cache
// and the disk have room for. A file given by -o takes its name when it is whole (base/replace). Whatever goes to a terminal or
// to a file for other programs passes out_safe, out_clean or the encoder's own escaping; one function (out_shown_bytes) decides
// what only shows itself.
#include "base/unpack_limit.h"
#include <sys/statvfs.h>

uint64_t unpack_room_bytes(int fd)
{
	struct statvfs disk;

	if (fstatvfs(fd, &disk) < 0 || !disk.f_blocks)
		return UINT64_MAX;
	return (uint64_t)disk.f_bavail * disk.f_frsize / 10 * 9;
}
