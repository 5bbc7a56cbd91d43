// SPDX-License-Identifier: GPL-2.0-or-later
#include "sys/tracefs.h"
#include "base/alloc.h"
#include "base/err.h"
#include "base/file.h"
#include "base/num.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

// include/uapi/linux/mount.h, of kernels newer than some C libraries
#ifndef SYS_fsopen
#define SYS_fsopen 430
#define SYS_fsconfig 431
#define SYS_fsmount 432
#endif
#define CLOEXEC_FSOPEN 1
#define CLOEXEC_FSMOUNT 1
#define CMD_CREATE 6

static struct tracefs *new_tracefs(char *path, int fd)
{
	struct tracefs *tracefs = NEW(struct tracefs);

	tracefs->path = path;
	tracefs->fd = fd;
	return tracefs;
}

void tracefs_enter_at(struct tracefs **ret, const char *path)
{
	*ret = new_tracefs(xstrdup(path), -1);
}

void tracefs_leave(struct tracefs *tracefs)
{
	if (!tracefs)
		return;
	if (tracefs->fd >= 0)
		close(tracefs->fd);
	free(tracefs->path);
	free(tracefs);
}

int tracefs_read(const struct tracefs *tracefs, const char *file, char **ret_text, size_t *ret_size)
{
	auto_free char *path = text_dup_fmt("/%s", file);
	return file_read_at(tracefs->path, path, ret_text, ret_size);
}

int tracefs_read_id(const struct tracefs *tracefs, const char *system, const char *name, uint64_t *ret)
{
	auto_free char *path = text_dup_fmt("events/%s/%s/id", system, name), *text = NULL;
	int err = tracefs_read(tracefs, path, &text, NULL);

	return err < 0 ? err : num_parse_u64(str_trim(str_of(text)), ret);
}

int tracefs_append(const struct tracefs *tracefs, const char *file, const char *line)
{
	auto_free char *path = text_dup_fmt("%s/%s", tracefs->path, file);
	auto_close int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	return fd < 0 ? -errno : write_all(fd, line, strlen(line));
}

// 0 when there is a tracing directory that we can read; -EACCES; -ENOENT.
static int probe(const char *path)
{
	auto_free char *events = text_dup_fmt("%s/events", path);

	if (access(events, R_OK | X_OK) == 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return -EACCES;
	// The directory above may hide it (debugfs is 0700).
	return -ENOENT;
}

// Looks for a mount of type tracefs or debugfs at an unusual place.
static int search_mounts(const char *root, char **ret)
{
	auto_free char *text = NULL;
	int err = -ENOENT;
	size_t n;

	if (file_read_at(root, "/proc/self/mounts", &text, &n) < 0 &&
	    file_read_at(root, "/proc/mounts", &text, &n) < 0)
		return -ENOENT;
	struct str rest = {text, n};
	while (rest.p) {
		struct str line = str_cut(&rest, '\n');

		str_cut(&line, ' ');
		struct str dir = str_cut(&line, ' '), type = str_cut(&line, ' ');
		bool debugfs = str_is(type, "debugfs");
		if (!dir.n || !(debugfs || str_is(type, "tracefs")))
			continue;
		char *path = text_dup_fmt("%s%.*s%s", root, STR_FMT(dir), debugfs ? "/tracing" : "");
		int tried = probe(path);
		if (tried == 0) {
			*ret = path;
			return 0;
		}
		if (tried == -EACCES)
			err = -EACCES;
		free(path);
	}
	return err;
}

// A mount that is attached nowhere: it lives as long as its descriptor.
static int mount_detached(const char *type)
{
	int fs = (int)syscall(SYS_fsopen, type, CLOEXEC_FSOPEN), mount = -1;

	if (fs < 0)
		return -errno;
	if (syscall(SYS_fsconfig, fs, CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, CLOEXEC_FSMOUNT, 0);
	int err = -errno;
	close(fs);
	return mount < 0 ? err : mount;
}

static int send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	return sendmsg(socket, &message, 0) < 0 ? -errno : 0;
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr message = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n;
	int fd;

	do {
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	if (n <= 0 || !head || head->cmsg_type != SCM_RIGHTS)
		return -ENOENT;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

__attribute__((noreturn)) static void mount_in_child(const char *type, int socket)
{
	int fd = -1;

	// /proc is a place that every machine has; in here nobody needs what it held.
	if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("none", "/proc", type, 0, NULL) == 0)
		fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		send_fd(socket, fd);
	_exit(0);
}

// For kernels before 5.2: a child mounts in a namespace of its own and hands the directory over. The
// namespace ends with the child; the mount lives on behind the descriptor.
static int mount_by_child(const char *type)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	pid_t child = fork();
	if (child == 0)
		mount_in_child(type, pair[1]);
	close(pair[1]);
	int fd = child < 0 ? -errno : receive_fd(pair[0]);
	close(pair[0]);
	if (child > 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	return fd;
}

static int mount_private(struct tracefs **ret)
{
	static const struct {
		const char *type, *below;
	} ways[] = {{"tracefs", ""}, {"debugfs", "/tracing"}};

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		int fd = mount_detached(ways[i].type);

		if (fd < 0)
			fd = mount_by_child(ways[i].type);
		if (fd < 0)
			continue;
		char *path = text_dup_fmt("/proc/self/fd/%d%s", fd, ways[i].below);
		if (probe(path) == 0) {
			*ret = new_tracefs(path, fd);
			return 0;
		}
		free(path);
		close(fd);
	}
	return -ENOENT;
}

int tracefs_enter(struct tracefs **ret, const char *root)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	int err = -ENOENT;
	char *found;

	if (!root)
		root = "";
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char *path = text_dup_fmt("%s%s", root, places[i]);
		int tried = probe(path);

		if (tried == 0) {
			*ret = new_tracefs(path, -1);
			return 0;
		}
		free(path);
		if (tried == -EACCES)
			err = -EACCES;
	}
	int searched = search_mounts(root, &found);
	if (searched == 0) {
		*ret = new_tracefs(found, -1);
		return 0;
	}
	if (searched == -EACCES)
		err = -EACCES;
	if (!*root && geteuid() == 0 && mount_private(ret) == 0)
		return 0;
	if (err == -EACCES)
		return fail(EACCES,
			    "tracefs can't be read by this user, so tracepoints can't be looked up; run "
			    "as root, or: sudo mount -o remount,mode=750,gid=$(id -g) "
			    "/sys/kernel/tracing");
	return fail(ENOENT,
		    "tracefs is not mounted, so tracepoints can't be looked up; try: sudo mount "
		    "-t tracefs tracefs /sys/kernel/tracing");
}
