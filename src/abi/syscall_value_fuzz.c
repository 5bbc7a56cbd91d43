// SPDX-License-Identifier: GPL-2.0-or-later
// Structures and values of strangers: addresses, times, numbers of every kind.
#include "abi/syscall_args.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct out out;
	uint64_t value = 0;

	out_init_memory(&out);
	syscall_put_sockaddr(&out, data, size, size & 1);
	syscall_put_timespec(&out, data, size);
	memcpy(&value, data, size < sizeof(value) ? size : sizeof(value));
	for (unsigned kind = 0; kind < ARG_KINDS; kind++)
		syscall_put_value(&out, kind, value, size & 1);
	out_done(&out);
	return 0;
}
