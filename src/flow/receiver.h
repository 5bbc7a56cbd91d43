// SPDX-License-Identifier: GPL-2.0-or-later
// Bytes from who listens at a port, from a device or a file. When the other side goes away it is tried again each second.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct receiver;

enum receiver_state {
	RECEIVER_AWAY, // nobody is there (yet, or any more)
	RECEIVER_OPEN,
	RECEIVER_ENDED, // a file: all was read, and nobody pushes into it
};

// "[IP:]PORT", or the path of a unix socket, a character device, a FIFO or a file. -errno with a sentence; that nobody listens there is
// no error, nor that a path (with a slash) leads to nothing in a folder that exists: it is waited for.
int receiver_new(struct receiver **ret, const char *where);
void receiver_free(struct receiver *receiver);

// Reads what is there, or tries to connect when it is time. Never blocks. *ret_p has the *ret_n bytes that were read and not taken; they stay
// there until the next call. A connection that is new (the count has changed) begins with its own bytes.
enum receiver_state receiver_read(struct receiver *receiver, const uint8_t **ret_p, size_t *ret_n);
// Whether a stream begins when it is connected, so that its first bytes are a greeting.
bool receiver_is_socket(const struct receiver *receiver);
// Whether coming and going is told with -v only. Not any more: it is told that it is connected.
void receiver_be_quiet(struct receiver *receiver, bool quiet);
void receiver_take(struct receiver *receiver, size_t n);
uint32_t receiver_connections(const struct receiver *receiver); // so far
// The other side said that all is said: RECEIVER_ENDED from now on.
void receiver_end(struct receiver *receiver);
// What is said is no sense: as if it had gone away.
void receiver_hang_up(struct receiver *receiver);
// To wait for with poll(2); *ret_fd is -1 when there is nothing to wait for but time. The time in ms until it wants to be called, whatever
// comes: 0 of a file that has more.
int receiver_wait(const struct receiver *receiver, int *ret_fd, short *ret_events);
