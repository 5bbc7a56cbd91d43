// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes to all who listen at a port, or into a device or file. Nobody is waited for: who reads too slowly, or is not there, gets less,
// and is told how much he lacks.
#pragma once
#include "base/out.h"
#include <stdbool.h>
#include <stdint.h>

struct sender;

// What is said first to everyone, at his beginning and whenever he may have lost the thread.
typedef void sender_greeting(void *arg, struct out *out);

// Whole messages, with so many events that happened between these times.
struct sender_batch {
	const void *bytes;
	size_t n;
	uint64_t events, first_ns, last_ns;
};

// "[IP:]PORT" listens; a path is a character device, a FIFO, or a file, which is emptied at
// the first sender_send. -errno with a sentence.
int sender_new(struct sender **ret, const char *where, sender_greeting *greeting, void *arg);
// Becomes readable when there is something to do for sender_ready; -1: never.
int sender_fd(const struct sender *sender);
// Lets in who comes, writes what waits, notices who goes. Never blocks. -errno with a sentence when nothing more can be said to anyone.
int sender_ready(struct sender *sender);
// To all; the bytes are copied where they can't be written at once. As sender_ready.
int sender_send(struct sender *sender, const struct sender_batch *batch);
// Says END to all and waits a second at most for what waits. `may_return`: see wire_end.
int sender_finish(struct sender *sender, bool may_return);
void sender_free(struct sender *sender);
