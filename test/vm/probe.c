// SPDX-License-Identifier: GPL-2.0-or-later
// System calls with arguments that are known: says for each function of the kernel what its probes must show.
// probe SEED FOLDER FILE: the files are made in FOLDER (a file system in memory), what is expected goes to FILE, as lines
// "EVENT NAME=VALUE...", in the order of the calls; texts are in quotes. Opening "begin" and "end" marks where it counts.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LARGE_FILE = 0100000 }; // what the kernel adds in 64-bit programs; 0 to the C library

static char said[1 << 16]; // no system call may come in between
static size_t said_n;
static unsigned seed;

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	said_n += (size_t)vsnprintf(said + said_n, sizeof(said) - said_n, fmt, args);
	va_end(args);
}

static long result(long n)
{
	return n < 0 ? -errno : n;
}

// Another number each time, up to `most`.
static unsigned some(unsigned most)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % most + 1;
}

static int open_it(const char *path, int flags, int mode)
{
	long fd = result(syscall(SYS_openat, AT_FDCWD, path, flags, mode));

	say("open dfd=%d path=\"%s\" again=\"%s\" flags=%d mode=%d\nopen__return value=%ld\n",
	    AT_FDCWD, path, path, flags | LARGE_FILE, mode, fd);
	return (int)fd;
}

static void read_it(int fd, const char *name, size_t n)
{
	static char buf[1 << 16];
	struct stat st;

	fstat(fd, &st);
	say("read name=\"%s\" inode=%lu count=%zu\nread__return value=%ld\n", name,
	    (unsigned long)st.st_ino, n, result(syscall(SYS_read, fd, buf, n)));
}

static void write_it(int fd, const char *text, size_t n)
{
	say("write fd=%d text=\"%s\" count=%zu\nwrite__return value=%ld\n", fd, text, n,
	    result(syscall(SYS_write, fd, text, n)));
}

static void seek_it(int fd, long offset, int whence)
{
	say("seek fd=%d offset=%ld whence=%d\nseek__return value=%ld\n", fd, offset, whence,
	    result(syscall(SYS_lseek, fd, offset, whence)));
}

static void files(void)
{
	char name[64], text[256];
	int fd, missing;
	long hint, at;
	size_t n;

	for (int i = 0; i < 3; i++) {
		unsigned length = some(200);

		snprintf(name, sizeof(name), "file-%u", some(1000000000));
		memset(text, 'a' + i, length);
		text[length] = '\0';
		fd = open_it(name, O_RDWR | O_CREAT | (i ? O_APPEND : 0), i ? 0640 : 0600);
		write_it(fd, text, length);
		seek_it(fd, -(long)some(length), SEEK_END);
		seek_it(fd, -100000, SEEK_CUR);
		seek_it(fd, 5000000000 + some(1000), SEEK_SET);
		seek_it(fd, 0, SEEK_SET);
		read_it(fd, name, some(60000) + 256);
		read_it(fd, name, 0);
		n = some(30000);
		say("chmod name=\"%s\" mode=%d\nchmod__return value=0\n", name, 0421 + i);
		syscall(SYS_fchmod, fd, 0421 + i);
		say("allocate name=\"%s\" mode=%d offset=%u len=%zu\n", name,
		    i ? FALLOC_FL_KEEP_SIZE : 0, 4096 * i, n);
		say("allocate__return value=%ld\n",
		    result(syscall(SYS_fallocate, fd, i ? FALLOC_FL_KEEP_SIZE : 0, 4096L * i, n)));
		hint = 0x600000000000 + ((long)some(1000) << 16);
		at = syscall(SYS_mmap, hint, 8192, PROT_READ, MAP_PRIVATE, fd, 4096L * (i + 1));
		say("map addr=%ld len=8192 prot=1 flag=2 pgoff=%d\nmap__return value=%ld\n", hint,
		    i + 1, at);
		say("dup from=%d to=%d flags=%d\ndup__return value=%d\n", fd, 100 + i, O_CLOEXEC,
		    100 + i);
		syscall(SYS_dup3, fd, 100 + i, O_CLOEXEC);
		syscall(SYS_close, fd);
	}
	missing = open_it("there/is/no such file", O_RDONLY | O_NOFOLLOW, 0);
	write_it(missing, "nowhere", 7);
	fd = open_it("written-only", O_WRONLY | O_CREAT, 0600);
	read_it(fd, "written-only", some(100));
	say("dup from=%d to=%d flags=0\ndup__return value=%d\n", fd, 1 << 30, -EBADF);
	syscall(SYS_dup3, fd, 1 << 30, 0);
	syscall(SYS_close, fd);
}

static void pipes(void)
{
	int ends[2];

	say("pipe flags=%d\npipe__return value=0\n", O_NONBLOCK | O_CLOEXEC);
	syscall(SYS_pipe2, ends, O_NONBLOCK | O_CLOEXEC);
	say("pipe flags=%d\npipe__return value=%d\n", O_APPEND, -EINVAL);
	syscall(SYS_pipe2, ends, O_APPEND);
}

static void tasks(void)
{
	for (int i = 0; i < 3; i++) {
		int status = (int)some(200);
		unsigned long flags = i == 1 ? CLONE_FS | CLONE_FILES : 0;
		long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

		if (!pid)
			syscall(i == 2 ? SYS_exit : SYS_exit_group, status);
		say("clone flags=%lu signal=%d\nclone__return value=%ld\nexit code=%d\n", flags,
		    SIGCHLD, pid, status << 8);
		syscall(SYS_wait4, pid, 0, 0, 0);
	}
	for (int i = 0; i < 2; i++) {
		struct timespec t = {.tv_nsec = some(900000)};

		say("sleep ns=%ld mode=1 clockid=1\nsleep__return value=0\n", t.tv_nsec);
		syscall(SYS_nanosleep, &t, 0);
	}
}

static void signals(void)
{
	int signo = SIGRTMIN + (int)some(20);
	long pid = syscall(SYS_getpid);

	signal(signo, SIG_IGN);
	say("signal sig=%d number=%d pid=%ld comm=\"known-program\"\nsignal__return value=0\n",
	    signo, signo, pid);
	syscall(SYS_tgkill, pid, pid, signo);
}

static void limits(struct rlimit now)
{
	struct rlimit then = now;

	then.rlim_cur = some(500) + 200;
	for (int i = 0; i < 2; i++) {
		say("limit resource=%d new=%lu before=%lu\nlimit__return value=0\n", RLIMIT_NOFILE,
		    (unsigned long)then.rlim_cur, (unsigned long)now.rlim_cur);
		syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &then, 0);
		now = then;
		then.rlim_cur -= some(50);
	}
}

static void network(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(to);
	static char bytes[5000];
	int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (bind(listening, (struct sockaddr *)&to, sizeof(to)) < 0 || listen(listening, 5) < 0 ||
	    getsockname(listening, (struct sockaddr *)&to, &n) < 0)
		perror("listen"), exit(1);
	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		size_t size = some(sizeof(bytes));

		if (i)
			setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
		say("connect family=%d port=%u address=%u reuse=%d protocol=%d\nconnect__return value=0\n",
		    AF_INET, to.sin_port, to.sin_addr.s_addr, i, IPPROTO_TCP);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
			perror("connect"), exit(1);
		say("send port=%u size=%zu\nsend__return value=%zu\n", to.sin_port, size, size);
		syscall(SYS_sendto, fd, bytes, size, 0, 0, 0);
		syscall(SYS_close, fd);
	}
}

int main(int argc, char **argv)
{
	struct rlimit now;
	FILE *out;

	if (argc != 4 || chdir(argv[2]) < 0)
		return 2;
	umask(0);
	getrlimit(RLIMIT_NOFILE, &now);
	seed = (unsigned)atoi(argv[1]);
	syscall(SYS_prctl, 15, "known-program");
	syscall(SYS_openat, AT_FDCWD, "begin", O_RDONLY, 0);
	files();
	pipes();
	tasks();
	signals();
	limits(now);
	network();
	syscall(SYS_openat, AT_FDCWD, "end", O_RDONLY, 0);
	out = fopen(argv[3], "w");
	return !out || fwrite(said, 1, said_n, out) != said_n || fclose(out);
}
