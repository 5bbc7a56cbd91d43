// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/receiver.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "flow/place.h"
#include "flow/wire.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum {
	BUFFER_BYTES = 2 * WIRE_MESSAGE_MAX,
	RETRY_MS = 1000,
};

enum kind { PORT, UNIX, DEVICE, PLAIN, ABSENT };

struct receiver {
	struct place place;
	enum kind kind;
	enum receiver_state state;
	bool connecting, told_away, quiet;
	bool awaited; // a path that wasn't there
	bool grows;   // a file that was read up to where its writer is
	int fd;
	uint32_t connections;
	uint64_t retry_ns;
	uint8_t *buf;
	size_t at, n;
};

// What a path is now; ABSENT: nothing, but somebody may put it there.
static int look(struct receiver *receiver)
{
	const char *path = receiver->place.text;
	struct stat st;

	if (stat(path, &st) < 0) {
		int err = errno;
		size_t n = (size_t)(text_base_name(path) - path);
		auto_free char *folder = str_dup((struct str){path, n});

		receiver->kind = ABSENT;
		receiver->awaited = true;
		// A word alone is more often one too many than a file to come.
		return err == ENOENT && n && stat(folder, &st) == 0
			       ? 0
			       : fail(err, "can't pull events from %s: %s", path, strerror(err));
	}
	if (S_ISDIR(st.st_mode) || S_ISBLK(st.st_mode))
		return fail(EINVAL, "can't pull events from %s: it is no file, device or socket",
			    path);
	receiver->kind = S_ISSOCK(st.st_mode)			       ? UNIX
			 : S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode) ? DEVICE
								       : PLAIN;
	// Its writer makes it, then locks it.
	if (receiver->kind == PLAIN && receiver->awaited && !st.st_size)
		receiver->kind = ABSENT;
	return 0;
}

int receiver_new(struct receiver **ret, const char *where)
{
	struct receiver *receiver = NEW(struct receiver);
	int err;

	*ret = receiver;
	receiver->fd = -1;
	receiver->buf = xmalloc(BUFFER_BYTES);
	err = place_parse(&receiver->place, where);
	return err || receiver->place.port ? err : look(receiver);
}

static void close_fd(struct receiver *receiver)
{
	if (receiver->fd >= 0)
		close(receiver->fd);
	receiver->fd = -1;
	receiver->connecting = false;
}

void receiver_free(struct receiver *receiver)
{
	if (!receiver)
		return;
	close_fd(receiver);
	place_done(&receiver->place);
	free(receiver->buf);
	free(receiver);
}

bool receiver_is_socket(const struct receiver *receiver)
{
	return receiver->kind == PORT || receiver->kind == UNIX;
}

static void tell_connected(const struct receiver *receiver)
{
	warn("Connected to %s%s",
	     receiver->place.host && !strchr(receiver->place.text, ':') ? "127.0.0.1:" : "",
	     receiver->place.text);
}

void receiver_be_quiet(struct receiver *receiver, bool quiet)
{
	if (receiver->quiet && !quiet && receiver_is_socket(receiver))
		tell_connected(receiver);
	receiver->quiet = quiet;
}

uint32_t receiver_connections(const struct receiver *receiver)
{
	return receiver->connections;
}

// ---- coming and going

static void opened(struct receiver *receiver)
{
	if (receiver->quiet)
		inform("connected to %s again", receiver->place.text);
	else if (receiver->kind == DEVICE)
		warn("Open cdev %s", receiver->place.text);
	else if (receiver->kind != PLAIN)
		tell_connected(receiver);
	receiver->state = RECEIVER_OPEN;
	receiver->connecting = receiver->told_away = false;
	receiver->connections++;
	receiver->at = receiver->n = 0;
}

static void away(struct receiver *receiver, const char *why)
{
	if (receiver->quiet)
		inform("disconnected from %s", receiver->place.text);
	else if (receiver->state == RECEIVER_OPEN)
		warn("Disconnect from %s%s%s; waiting for it to come back", receiver->place.text,
		     why ? ": " : "", why ? why : "");
	else if (!receiver->told_away)
		warn("%s: %s; waiting for it", receiver->place.text, why ? why : "nobody is there");
	close_fd(receiver);
	receiver->told_away = true;
	receiver->state = RECEIVER_AWAY;
	receiver->retry_ns = time_now_ns(CLOCK_MONOTONIC) + RETRY_MS * 1000000ull;
}

void receiver_end(struct receiver *receiver)
{
	if (receiver->kind != PLAIN && receiver->state == RECEIVER_OPEN)
		warn("Disconnect from %s", receiver->place.text);
	close_fd(receiver);
	receiver->state = RECEIVER_ENDED;
}

void receiver_hang_up(struct receiver *receiver)
{
	receiver->n = receiver->at;
	if (receiver->kind == PLAIN)
		receiver_end(receiver);
	else if (receiver->state == RECEIVER_OPEN)
		away(receiver, NULL);
}

static int connect_port(struct receiver *receiver)
{
	struct addrinfo *list;
	int err = place_addresses(&receiver->place, false, &list);

	if (err) {
		away(receiver, err_sentence());
		err_clear();
		return -1;
	}
	receiver->fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	err = receiver->fd < 0 ? -1 : connect(receiver->fd, list->ai_addr, list->ai_addrlen);
	freeaddrinfo(list);
	return err;
}

static int connect_unix(struct receiver *receiver)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t n = strlen(receiver->place.text);

	if (n >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, receiver->place.text, n);
	receiver->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return receiver->fd < 0
		       ? -1
		       : connect(receiver->fd, (struct sockaddr *)&address, sizeof(address));
}

static void try_open(struct receiver *receiver)
{
	int err;

	if (time_now_ns(CLOCK_MONOTONIC) < receiver->retry_ns)
		return;
	// A socket may be made anew as something else.
	if (receiver->kind != PORT && look(receiver) < 0) {
		away(receiver, err_sentence());
		err_clear();
		return;
	}
	if (receiver->kind == PORT) {
		err = connect_port(receiver);
		if (receiver->retry_ns > time_now_ns(CLOCK_MONOTONIC))
			return;
	} else if (receiver->kind == UNIX) {
		err = connect_unix(receiver);
	} else if (receiver->kind == ABSENT) {
		errno = ENOENT;
		err = -1;
	} else {
		receiver->fd =
			open(receiver->place.text, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		err = MIN(receiver->fd, 0);
	}
	if (!err)
		opened(receiver);
	else if (errno == EINPROGRESS)
		receiver->connecting = true;
	else
		away(receiver, strerror(errno));
}

static void see_whether_connected(struct receiver *receiver)
{
	struct pollfd fd = {.fd = receiver->fd, .events = POLLOUT};
	int error = 0;
	socklen_t n = sizeof(error);

	if (poll(&fd, 1, 0) <= 0)
		return;
	getsockopt(receiver->fd, SOL_SOCKET, SO_ERROR, &error, &n);
	if (error)
		away(receiver, strerror(error));
	else
		opened(receiver);
}

// ---- bytes

// Who pushes into a file holds its lock until all is written. Once it is free, what came since is read.
static bool is_being_written(struct receiver *receiver)
{
	bool was_growing = receiver->grows;

	receiver->grows = flock(receiver->fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (!receiver->grows)
		flock(receiver->fd, LOCK_UN);
	return receiver->grows || was_growing;
}

static void read_more(struct receiver *receiver)
{
	ssize_t n;

	if (receiver->at) {
		memmove(receiver->buf, receiver->buf + receiver->at, receiver->n - receiver->at);
		receiver->n -= receiver->at;
		receiver->at = 0;
	}
	if (receiver->n == BUFFER_BYTES)
		return;
	n = read(receiver->fd, receiver->buf + receiver->n, BUFFER_BYTES - receiver->n);
	if (n > 0)
		receiver->n += (size_t)n;
	else if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	else if (receiver->kind == PLAIN && !n && is_being_written(receiver))
		return;
	else if (receiver->kind == PLAIN)
		receiver->state = RECEIVER_ENDED;
	else if (receiver->kind == DEVICE && !n) // nobody is behind it now
		return;
	else
		away(receiver, n < 0 ? strerror(errno) : NULL);
}

enum receiver_state receiver_read(struct receiver *receiver, const uint8_t **ret_p, size_t *ret_n)
{
	if (receiver->state == RECEIVER_AWAY && !receiver->connecting)
		try_open(receiver);
	if (receiver->connecting)
		see_whether_connected(receiver);
	if (receiver->state == RECEIVER_OPEN)
		read_more(receiver);
	*ret_p = receiver->buf + receiver->at;
	*ret_n = receiver->n - receiver->at;
	return receiver->state;
}

void receiver_take(struct receiver *receiver, size_t n)
{
	receiver->at += n;
}

int receiver_wait(const struct receiver *receiver, int *ret_fd, short *ret_events)
{
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);

	*ret_fd = receiver->kind == PLAIN || receiver->kind == DEVICE ? -1 : receiver->fd;
	*ret_events = receiver->connecting ? POLLOUT : POLLIN;
	if (receiver->state == RECEIVER_ENDED)
		return RETRY_MS;
	if (receiver->kind == PLAIN && !receiver->grows && receiver->state == RECEIVER_OPEN)
		return 0;
	if (receiver->kind == PLAIN && receiver->state == RECEIVER_OPEN)
		return 10;
	// HUP would wake us up all the time.
	if (receiver->kind == DEVICE)
		return 10;
	if (receiver->state == RECEIVER_AWAY && !receiver->connecting)
		return receiver->retry_ns > now ? (int)((receiver->retry_ns - now) / 1000000) + 1 : 0;
	return RETRY_MS;
}
