// SPDX-License-Identifier: GPL-2.0-or-later
// What packed bytes of strangers may become: a few kilobytes can be made to fill a disk.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum {
	UNPACK_MOST_RATIO = 500, // stacks that were copied are mostly zeros and come to some 100
	UNPACK_NO_MATTER = 64 << 20, // so much is never too much
};

// More than what was packed can be believed to hold?
static inline bool unpack_is_absurd(uint64_t packed_bytes, uint64_t unpacked_bytes)
{
	return unpacked_bytes > UNPACK_NO_MATTER && unpacked_bytes / UNPACK_MOST_RATIO > packed_bytes;
}

// How much more may go to the file system where this file is: a tenth of what is free stays. UINT64_MAX where it has no size.
uint64_t unpack_room_bytes(int fd);
