// SPDX-License-Identifier: GPL-2.0-or-later
#include "flow/sender.h"
#include "base/err.h"
#include "base/log.h"
#include "base/time.h"
#include "base/vec.h"
#include "flow/place.h"
#include "flow/wire.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
	PEERS_MAX = 32,
	QUEUE_BYTES = 8 << 20, // of one who is slow
	FINISH_MS = 1000,
};

// Events that wait in a queue, up to this place of it.
struct mark {
	size_t end;
	uint64_t events, told; // told: lost ones that are told there
	uint64_t from_ns;      // before the first of them
};

struct peer {
	int fd;
	char name[128];
	struct out queue; // from `at` on it waits
	size_t at;
	VEC(struct mark) marks;
	uint64_t sent, lost, untold; // events; untold: the peer was not told yet that it lacks them
	uint64_t lost_from_ns, last_ns;
	bool is_socket, waits; // waits: epoll tells when it may be written to
	bool away;	       // a device behind which nobody listens
	int error;	       // of a device: the last write's; 0: it was taken
};

struct sender {
	struct place place;
	sender_greeting *greeting;
	void *arg;
	int listen_fd, epoll_fd;
	VEC(struct peer *) peers;
	bool is_device;
	bool is_old;				 // a file that is still to be emptied
	uint64_t sent_away;			 // connections that were one too many
	uint64_t next_look_ns, next_greeting_ns; // of a device
};

static int watch(struct sender *sender, struct peer *peer, int how)
{
	struct epoll_event event = {.data.ptr = peer};

	// A device tells by HUP whether somebody is there.
	event.events = (peer->is_socket ? EPOLLIN | EPOLLRDHUP : 0) | (peer->waits ? EPOLLOUT : 0);
	return epoll_ctl(sender->epoll_fd, how, peer->fd, &event);
}

static struct peer *add_peer(struct sender *sender, int fd, const char *name)
{
	struct peer *peer = NEW(struct peer);

	peer->fd = fd;
	snprintf(peer->name, sizeof(peer->name), "%s", name);
	out_init_memory(&peer->queue);
	vec_push(&sender->peers, peer);
	return peer;
}

static void free_peer(struct peer *peer)
{
	close(peer->fd);
	out_done(&peer->queue);
	vec_done(&peer->marks);
	free(peer);
}

static void tell_losses(const struct peer *peer)
{
	if (peer->lost)
		warn("%s was too slow: it lacks %llu events, beside %llu that it got", peer->name,
		     (unsigned long long)peer->lost, (unsigned long long)peer->sent);
}

static void drop(struct sender *sender, struct peer *peer)
{
	inform("Client hangs up %s", peer->name);
	tell_losses(peer);
	for (size_t i = 0; i < sender->peers.n; i++) {
		if (sender->peers.v[i] == peer) {
			sender->peers.v[i] = vec_last(&sender->peers);
			sender->peers.n--;
			break;
		}
	}
	free_peer(peer);
}

static size_t waiting(const struct peer *peer)
{
	return peer->queue.n - peer->at;
}

static ssize_t write_some(const struct peer *peer, const void *p, size_t n)
{
	return peer->is_socket ? send(peer->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT)
			       : write(peer->fd, p, n);
}

// 0, or -errno: it is gone.
static int flush(struct peer *peer)
{
	while (waiting(peer)) {
		ssize_t n = write_some(peer, peer->queue.buf + peer->at, waiting(peer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return n ? -errno : -EIO;
		peer->at += (size_t)n;
	}
	peer->at = peer->queue.n = peer->marks.n = 0;
	return 0;
}

// What waits is thrown away: its events were not sent, and what was told of lost ones is to be told again.
static void drop_queue(struct peer *peer)
{
	vec_each(struct mark, mark, &peer->marks) {
		if (mark->end <= peer->at)
			continue;
		if (!peer->untold || mark->from_ns < peer->lost_from_ns)
			peer->lost_from_ns = mark->from_ns;
		peer->sent -= mark->events;
		peer->lost += mark->events;
		peer->untold += mark->events + mark->told;
	}
	peer->at = peer->queue.n = peer->marks.n = 0;
}

static void lack(struct peer *peer, const struct sender_batch *batch)
{
	if (!batch->events)
		return;
	if (!peer->untold)
		peer->lost_from_ns = peer->last_ns;
	peer->untold += batch->events;
	peer->lost += batch->events;
}

// The beginning of the queue was sent.
static void shorten_queue(struct peer *peer)
{
	size_t left = 0;

	memmove(peer->queue.buf, peer->queue.buf + peer->at, waiting(peer));
	peer->queue.n = waiting(peer);
	for (size_t i = 0; i < peer->marks.n; i++) {
		struct mark mark = peer->marks.v[i];

		if (mark.end <= peer->at)
			continue;
		mark.end -= peer->at;
		peer->marks.v[left++] = mark;
	}
	peer->marks.n = left;
	peer->at = 0;
}

static void watch_writing(struct sender *sender, struct peer *peer)
{
	bool waits = waiting(peer) > 0;

	if (waits == peer->waits || sender->epoll_fd < 0)
		return;
	peer->waits = waits;
	watch(sender, peer, EPOLL_CTL_MOD);
}

static void tell_untold(struct peer *peer, uint64_t to_ns)
{
	struct wire_lost lost = {.cpu = UINT32_MAX,
				 .by_way = true,
				 .lost = peer->untold,
				 .from_ns = peer->lost_from_ns,
				 .to_ns = to_ns};

	if (peer->untold)
		wire_put_lost(&peer->queue, &lost);
	peer->untold = 0;
}

// To all that it fits, of bytes that stay the caller's.
static int write_or_keep(struct peer *peer, const char *p, size_t n)
{
	while (n && !waiting(peer)) {
		ssize_t done = write_some(peer, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0 && errno != EAGAIN)
			return done ? -errno : -EIO;
		if (done <= 0)
			break;
		p += done;
		n -= (size_t)done;
	}
	out_bytes(&peer->queue, p, n);
	return 0;
}

static int send_to(struct sender *sender, struct peer *peer, const struct sender_batch *batch)
{
	struct mark mark = {.events = batch->events};
	int err = flush(peer);

	if (err)
		return err;
	if (peer->at > QUEUE_BYTES / 2)
		shorten_queue(peer);
	if (waiting(peer) && waiting(peer) + batch->n > QUEUE_BYTES) {
		lack(peer, batch);
		return 0;
	}
	if (batch->events) {
		mark.told = peer->untold;
		mark.from_ns = peer->untold ? peer->lost_from_ns : peer->last_ns;
		tell_untold(peer, batch->first_ns);
	}
	err = write_or_keep(peer, batch->bytes, batch->n);
	if (err)
		return err;
	peer->sent += batch->events;
	if (batch->events)
		peer->last_ns = batch->last_ns;
	mark.end = peer->queue.n;
	if (batch->events && waiting(peer))
		vec_push(&peer->marks, mark);
	watch_writing(sender, peer);
	return 0;
}

// ---- a port

static int listen_at(struct sender *sender)
{
	struct addrinfo *list;
	int err = place_addresses(&sender->place, true, &list), one = 1, fd;
	char text[96], port[16];

	if (err)
		return err;
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
	    bind(fd, list->ai_addr, list->ai_addrlen) < 0 || listen(fd, PEERS_MAX) < 0)
		err = fail(errno, "can't listen at %s: %s", sender->place.text, strerror(errno));
	if (!err && getnameinfo(list->ai_addr, list->ai_addrlen, text, sizeof(text), port,
				sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		warn("Listen at %s:%s", text, port);
	freeaddrinfo(list);
	sender->listen_fd = fd;
	return err;
}

static void greet(struct sender *sender, struct peer *peer)
{
	sender->greeting(sender->arg, &peer->queue);
}

static void accept_all(struct sender *sender)
{
	for (;;) {
		struct sockaddr_storage address;
		socklen_t n = sizeof(address);
		int fd = accept4(sender->listen_fd, (struct sockaddr *)&address, &n,
				 SOCK_CLOEXEC | SOCK_NONBLOCK);
		char text[96] = "?", port[16] = "?", name[128];
		struct peer *peer;

		if (fd < 0)
			return;
		getnameinfo((struct sockaddr *)&address, n, text, sizeof(text), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
		snprintf(name, sizeof(name), "%s:%s", text, port);
		if (sender->peers.n == PEERS_MAX) {
			if (!sender->sent_away++)
				warn("%s is sent away: %d listen already", name, PEERS_MAX);
			close(fd);
			continue;
		}
		inform("Accept client %s", name);
		peer = add_peer(sender, fd, name);
		peer->is_socket = true;
		greet(sender, peer);
		if (watch(sender, peer, EPOLL_CTL_ADD) < 0 || flush(peer) < 0)
			drop(sender, peer);
		else
			watch_writing(sender, peer);
	}
}

// What a client says is not listened to.
static bool hangs_up(const struct peer *peer)
{
	char buf[4096];
	ssize_t n = recv(peer->fd, buf, sizeof(buf), MSG_DONTWAIT);

	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

// ---- devices and files

// What two wrote into one file at the same time nobody could read.
static int lock(int fd, const char *path)
{
	// Who pulls looks for a moment whether somebody has the lock (flow/receiver.c).
	for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; tries++) {
		if (errno != EWOULDBLOCK)
			return 0; // some file systems have no locks
		if (tries == 5)
			return fail(EBUSY, "another run pushes into %s", path);
		usleep(1000);
	}
	return 0;
}

// When the run has begun, so that one that can't leaves what was there.
static int empty_old(struct sender *sender)
{
	if (!sender->is_old)
		return 0;
	sender->is_old = false;
	return ftruncate(sender->peers.v[0]->fd, 0) == 0 ? 0
							 : fail(errno, "can't empty %s for push: %s",
								sender->place.text, strerror(errno));
}

static int open_path(struct sender *sender)
{
	const char *path = sender->place.text;
	struct stat st;
	bool exists = stat(path, &st) == 0;
	int fd, err;

	sender->is_device = exists && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
	// A FIFO can be opened for writing alone only when somebody reads.
	fd = sender->is_device ? open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
			       : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return fail(errno, "can't open %s for push: %s", path, strerror(errno));
	err = exists && S_ISCHR(st.st_mode) ? 0 : lock(fd, path);
	if (err < 0) {
		close(fd);
		return err;
	}
	sender->is_old = !sender->is_device;
	greet(sender, add_peer(sender, fd, path));
	if (sender->is_device)
		warn("Open cdev %s", path);
	return 0;
}

// Who comes to a device is not always seen, so it is greeted now and then. What waits while nobody is behind it would reach who comes
// next in the middle.
static void tend_device(struct sender *sender)
{
	enum { LOOK_MS = 100, GREET_MS = 1000 };
	struct peer *peer = sender->peers.v[0];
	struct pollfd fd = {.fd = peer->fd, .events = POLLOUT};
	uint64_t now = time_now_ns(CLOCK_MONOTONIC);

	if (now < sender->next_look_ns)
		return;
	sender->next_look_ns = now + LOOK_MS * 1000000ull;
	if (poll(&fd, 1, 0) >= 0 && fd.revents & (POLLHUP | POLLERR)) {
		if (!peer->away)
			warn("Cdev %s has hang up", peer->name);
		peer->away = true;
		drop_queue(peer);
		peer->untold = 0;
		return;
	}
	if (peer->away)
		warn("Cdev %s is connected", peer->name);
	if ((peer->away || now >= sender->next_greeting_ns) && waiting(peer) < QUEUE_BYTES / 2) {
		greet(sender, peer);
		sender->next_greeting_ns = now + GREET_MS * 1000000ull;
	}
	peer->away = false;
}

// A device may take something again; what it doesn't is counted.
static void device_failed(struct peer *peer, const struct sender_batch *batch, int err)
{
	if (!peer->error)
		warn("can't write %s: %s", peer->name, strerror(-err));
	peer->error = err;
	drop_queue(peer);
	lack(peer, batch);
}

static int path_failed(const struct sender *sender, int err)
{
	return fail(-err, "can't write %s: %s", sender->place.text, strerror(-err));
}

// ---- all

int sender_new(struct sender **ret, const char *where, sender_greeting *greeting, void *arg)
{
	struct sender *sender = NEW(struct sender);
	struct epoll_event event = {.events = EPOLLIN};
	int err;

	*ret = sender;
	sender->listen_fd = sender->epoll_fd = -1;
	sender->greeting = greeting;
	sender->arg = arg;
	err = place_parse(&sender->place, where);
	if (!err && !sender->place.port)
		return open_path(sender);
	if (!err)
		err = listen_at(sender);
	if (err)
		return err;
	sender->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (sender->epoll_fd < 0 ||
	    epoll_ctl(sender->epoll_fd, EPOLL_CTL_ADD, sender->listen_fd, &event) < 0)
		return fail(errno, "can't wait for clients: %s", strerror(errno));
	return 0;
}

int sender_fd(const struct sender *sender)
{
	return sender->epoll_fd;
}

int sender_ready(struct sender *sender)
{
	struct epoll_event events[PEERS_MAX + 1];
	int n = sender->epoll_fd < 0 ? 0
				     : epoll_wait(sender->epoll_fd, events, ARRAY_SIZE(events), 0);

	for (int i = 0; i < n; i++) {
		struct peer *peer = events[i].data.ptr;

		if (!peer)
			continue;
		if ((events[i].events & ~(uint32_t)EPOLLOUT && hangs_up(peer)) || flush(peer) < 0)
			drop(sender, peer);
		else
			watch_writing(sender, peer);
	}
	// Last, so that no peer of the list above is another one now.
	if (n > 0)
		accept_all(sender);
	return 0;
}

int sender_send(struct sender *sender, const struct sender_batch *batch)
{
	int old = empty_old(sender);

	if (old)
		return old;
	if (sender->is_device)
		tend_device(sender);
	for (size_t i = sender->peers.n; i-- > 0;) {
		struct peer *peer = sender->peers.v[i];
		int err = peer->away ? 0 : send_to(sender, peer, batch);

		if (err && peer->is_socket)
			drop(sender, peer);
		else if (err && !sender->is_device)
			return path_failed(sender, err);
		else if (err)
			device_failed(peer, batch, err);
		else if (batch->n)
			peer->error = 0;
	}
	return 0;
}

static bool flush_all(struct sender *sender)
{
	bool done = true;

	for (size_t i = sender->peers.n; i-- > 0;) {
		struct peer *peer = sender->peers.v[i];

		int err = flush(peer);

		if (err < 0 && sender->is_device)
			device_failed(peer, &(struct sender_batch){0}, err);
		else if (err < 0)
			drop(sender, peer);
		else
			done &= !waiting(peer);
	}
	return done;
}

int sender_finish(struct sender *sender, bool may_return)
{
	uint64_t until = time_now_ns(CLOCK_MONOTONIC) + FINISH_MS * 1000000ull;
	int old = empty_old(sender);

	if (old)
		return old;
	for (size_t i = 0; i < sender->peers.n; i++) {
		struct peer *peer = sender->peers.v[i];
		struct wire_end end = {peer->sent, peer->lost, may_return};

		tell_untold(peer, UINT64_MAX);
		wire_put_end(&peer->queue, &end);
	}
	if (sender->peers.n && !sender->place.port && !sender->is_device) {
		int err = flush(sender->peers.v[0]);

		return err ? path_failed(sender, err) : 0;
	}
	while (!flush_all(sender) && time_now_ns(CLOCK_MONOTONIC) < until)
		poll(NULL, 0, 5);
	for (size_t i = 0; i < sender->peers.n; i++) {
		const struct peer *peer = sender->peers.v[i];

		if (sender->is_device && peer->error)
			return fail(-peer->error,
				    "can't write %s: %s; it lacks %llu events, beside %llu that it got",
				    peer->name, strerror(-peer->error),
				    (unsigned long long)peer->lost, (unsigned long long)peer->sent);
		tell_losses(peer);
	}
	return 0;
}

void sender_free(struct sender *sender)
{
	if (!sender)
		return;
	for (size_t i = 0; i < sender->peers.n; i++)
		free_peer(sender->peers.v[i]);
	vec_done(&sender->peers);
	if (sender->listen_fd >= 0)
		close(sender->listen_fd);
	if (sender->epoll_fd >= 0)
		close(sender->epoll_fd);
	place_done(&sender->place);
	free(sender);
}
