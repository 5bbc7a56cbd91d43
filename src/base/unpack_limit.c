// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/unpack_limit.h"
#include <sys/statvfs.h>

uint64_t unpack_room_bytes(int fd)
{
	struct statvfs disk;

	if (fstatvfs(fd, &disk) < 0 || !disk.f_blocks)
		return UINT64_MAX;
	return (uint64_t)disk.f_bavail * disk.f_frsize / 10 * 9;
}
