// SPDX-License-Identifier: GPL-2.0-or-later
// System calls with arguments of all kinds, in a known order; most fail at once, and none changes anything.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define C(name, ...) syscall(SYS_##name, ##__VA_ARGS__)
int main(void)
{
	static const char none[] = "/none/such";
	long i;
	// open flags
	static const int opens[] = {0,
				    1,
				    2,
				    3,
				    O_CREAT,
				    O_EXCL,
				    O_NOCTTY,
				    O_TRUNC | O_WRONLY,
				    O_APPEND | O_RDWR,
				    O_NONBLOCK,
				    O_DSYNC,
				    O_SYNC,
				    020000,
				    O_DIRECT,
				    0100000,
				    O_DIRECTORY,
				    O_NOFOLLOW,
				    O_NOATIME,
				    O_CLOEXEC,
				    O_PATH,
				    O_TMPFILE,
				    O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC,
				    0x10000000 | O_CLOEXEC};
	for (i = 0; i < sizeof(opens) / sizeof(*opens); i++)
		C(openat, AT_FDCWD, none, opens[i], 0);
	C(openat, -1, none, O_CREAT, 0644);
	C(openat, 77, none, O_CREAT, 04755);
	C(open, none, O_CREAT, 0100000);
	for (i = 0; i < 10; i++)
		C(access, none, i);
	for (i = 0; i < 7; i++)
		C(lseek, -1, i, i);
	// mmap of no length fails
	for (i = 0; i < 32; i++)
		C(mmap, 0, 0, 1l << i, 1l << i, -1, 0);
	C(mmap, 0x10000, 0, 3, 0x22, -1, 0x1000);
	C(mmap, 0x10000, 0, 7, 0x40022, 3, 0x1000);
	C(mprotect, 1, 4096, 3);
	C(mprotect, 1, 4096, 0x01000000);
	C(mprotect, 1, 4096, 0);
	for (i = 0; i < 5; i++)
		C(mremap, 1, 4096, 4096, i, 0);
	for (i = 0; i < 26; i++)
		C(madvise, 1, 4096, i);
	C(madvise, 1, 4096, 100);
	C(madvise, 1, 4096, 101);
	C(msync, 1, 4096, 7);
	C(mlock2, 1, 0x7fffffffffffl, 9);
	for (i = 0; i < 18; i++)
		C(clock_gettime, i, 0);
	C(clock_gettime, -3, 0);
	C(clock_nanosleep, 1, 1, 0, 0);
	for (i = 0; i < 70; i++)
		C(kill, 999999, i);
	C(tgkill, 999999, 999999, 9);
	C(tkill, 999999, 64);
	C(kill, -999999, 15);
	for (i = 0; i < 5; i++)
		C(rt_sigprocmask, i, 0, 0, 8);
	C(rt_sigaction, 2, 0, 0, 8);
	C(rt_sigaction, 0, 0, 0, 8);
	for (i = 0; i < 41; i++)
		C(fcntl, 555, i, 1);
	for (i = 1024; i < 1040; i++)
		C(fcntl, 555, i, i);
	C(fcntl, 1, F_GETFD);
	C(fcntl, 1, F_GETFL);
	C(fcntl, 1, F_SETFD, FD_CLOEXEC);
	C(fcntl, 1, F_SETFD, 0);
	C(fcntl, 555, F_SETFL, O_NONBLOCK | O_APPEND);
	for (i = 0; i < 47; i++)
		C(socket, i, 0, 0);
	for (i = 0; i < 12; i++)
		C(socket, 2, i, 255);
	C(socket, 2, 1 | 02000000 | 04000, 6);
	C(socket, 99, 99, 99);
	for (i = 0; i < 20; i++)
		C(socket, 2, 77, i);
	C(socket, 2, 77, 50);
	C(socket, 2, 77, 132);
	C(socket, 10, 77, 58);
	C(socket, 16, 77, 4);
	C(socket, 1, 77, 1);
	C(connect, -1, none, 5);
	C(bind, -1, none, 16);
	C(sendto, -1, none, 3, 0x4000, none, 16);
	for (i = 0; i < 31; i++)
		C(recvfrom, -1, none, 3, 1l << i, 0, 0);
	C(sendmsg, -1, none, 0x4040);
	for (i = 0; i < 6; i++)
		C(setsockopt, -1, i, 2, 0, 0);
	C(setsockopt, -1, 1, 15, none, 4);
	C(getsockopt, -1, 263, 1, none, 0);
	C(getsockopt, -1, 41, 1, none, 0);
	C(getsockopt, -1, 270, 1, none, 0);
	for (i = 0; i < 64; i++)
		C(futex, 1, i | (i % 2 ? 128 : 0), 1, 0, 0, i % 3 ? -1 : 1);
	C(futex, 1, 0 | 256 | 128, 2, 0, 0, 0);
	for (i = 0; i < 16; i++)
		C(prlimit64, 999999, i, 0, 0);
	C(prlimit64, 0, 77, 0, 0);
	for (i = 0; i < 5; i++)
		C(getitimer, i, 0);
	for (i = 0; i < 5; i++)
		C(epoll_ctl, -1, i, -1, 0);
	C(eventfd2, 0, 0x40000000);
	C(eventfd2, 1, 0x10000000 | 02000000);
	C(eventfd2, 0, 0x10000001 | 04000);
	C(pipe2, 1, 02000000 | 04000);
	C(pipe2, 1, 040000);
	C(pipe2, 1, 0x10000);
	C(getrandom, 1, 1, 1);
	C(getrandom, 1, 1, 3);
	C(getrandom, 1, 1, 4);
	C(getrandom, 1, 1, 12);
	for (i = 0; i < 10; i++)
		C(flock, -1, i);
	C(flock, -1, 0xe0);
	C(flock, -1, 4 | 2);
	for (i = 0; i < 65; i++)
		C(prctl, i ? i : 999, i == 15 ? 0 : 77, 9, 0, 0);
	C(prctl, 15, none);
	C(prctl, 0x59616d61, 1);
	C(prctl, 47, 2, 0, 0, 0);
	C(prctl, 4, 1);
	C(prctl, 35, 4, 0, 0, 0);
	C(arch_prctl, 0x1001, 1);
	C(arch_prctl, 0x1234, 1);
	for (i = 0; i < 38; i++)
		C(bpf, 5000 + i, 0, 0);
	for (i = 0; i < 8; i++)
		C(sched_setscheduler, 999999, i, 0);
	C(sched_setscheduler, 999999, 0x40000001, 0);
	for (i = 0; i < 5; i++)
		C(seccomp, i + (i == 0 ? 100 : 0), 0x80 << i, 0);
	for (i = 0; i < 16; i++)
		C(statx, AT_FDCWD, none, 1 << i, 1 << i, 0);
	C(statx, AT_FDCWD, none, 0x6000, 0x1fff, 0);
	for (i = 0; i < 5; i++)
		C(renameat2, AT_FDCWD, none, AT_FDCWD, none, i);
	for (i = 0; i < 32; i++)
		C(mount, none, none, none, 1ul << i, 0);
	C(mount, none, none, none, 0xc0ed0001, 0);
	for (i = 0; i < 32; i++)
		C(wait4, 999999, 0, 1u << i, 0);
	C(waitid, 1, 999999, 0, 4 | 1, 0);
	C(sync_file_range, -1, 0, 0, 7);
	C(sync_file_range, -1, 4, 5, 8);
	C(perf_event_open, 0, 0, -1, -1, 15);
	C(perf_event_open, 0, 999999, -1, 4, 0);
	for (i = 0; i < 9; i++)
		C(kcmp, 999999, 999998, i, 1, 2);
	C(pkey_alloc, 1, 0);
	C(pkey_alloc, 1, 3);
	C(pkey_mprotect, 1, 4096, 3, 5);
	C(pkey_free, 99);
	C(keyctl, 100, 0, 0, 0, 0);
	C(keyctl, 6, 0, 0, 0, 0);
	C(fsconfig, -1, 1, 0, 0, 0);
	C(fsmount, -1, 1, 1);
	C(fspick, -1, none, 3);
	C(move_mount, -1, none, -1, none, 0x44);
	for (i = 0x5400; i < 0x5460; i += 1)
		C(ioctl, 555, i, 7);
	C(ioctl, 555, 0xc0045401, 7);
	C(ioctl, 555, 0x2401, 7);
	C(ioctl, 555, 0x80045430, 7);
	C(ioctl, 555, 0xae01, 0);
	C(ioctl, 555, 0x8004510d, 0);
	for (i = 0; i < 11; i++)
		C(ioctl, 555, 0x2400 + i, 0);
	C(ioctl, 555, 0xaf00, 0);
	C(ioctl, 555, 0x40086409, 0);
	C(ioctl, 555, 0x5512, 0);
	C(ioctl, 555, 0x5600, 1);
	C(ioctl, 555, 0x1269, 1);
	C(ioctl, 555, 0x4004667f, 1);
	C(poll, 0, 0, 0);
	C(poll, 1, 9, -1);
	C(select, -1, 0, 0, 0, 0);
	C(ppoll, 1, 1, 0, 0, 0);
	C(unlinkat, AT_FDCWD, none, 0x200);
	C(fchownat, AT_FDCWD, none, -1, -1, 0x1100);
	C(faccessat, AT_FDCWD, none, 4);
	C(faccessat2, AT_FDCWD, none, 7, 0x200);
	C(newfstatat, AT_FDCWD, none, 0, 0x100);
	C(linkat, AT_FDCWD, none, -1, none, 0x400);
	C(symlinkat, none, AT_FDCWD, none);
	C(readlinkat, AT_FDCWD, none, 0, 5);
	C(utimensat, AT_FDCWD, none, 0, 0x100);
	C(mkdirat, AT_FDCWD, none, 01777);
	C(mknodat, AT_FDCWD, none, 020600, 0x103);
	C(fchmodat, AT_FDCWD, none, 0755);
	C(mkdir, none, 0);
	C(chmod, none, 07777);
	C(mknod, none, 0140644, 0);
	C(mknod, none, 0060000, 0);
	C(mknod, none, 0010000, 0);
	C(stat, none, 0);
	C(lstat, none, 0);
	C(fstat, -1, 0);
	C(umount2, none, 15);
	C(swapon, none, 0x18001);
	C(sendfile, -1, -1, 0, 5);
	C(uname, 0);
	C(getpgid, 999999);
	C(getpid);
	C(gettid);
	C(getppid);
	C(brk, 0);
	C(dup2, -1, 4);
	C(dup3, 5, 4000000, 02000000);
	C(dup, -1);
	C(pread64, -1, 0, 5, 6);
	C(preadv, -1, 0, 5, 6, 7);
	C(sched_yield);
	C(splice, -1, 0, -1, 0, 5, 15);
	C(tee, -1, -1, 5, 3);
	C(epoll_create1, 02000001);
	C(epoll_wait, -1, 0, 10, -1);
	C(accept4, -1, 0, 0, 02004000);
	C(shutdown, -1, 2);
	C(listen, -1, 128);
	C(inotify_add_watch, -1, none, 0xfff);
	C(inotify_init1, 3);
	C(memfd_create, 0, 3);
	C(membarrier, 999, 0, 0);
	C(timerfd_create, 99, 02004000);
	C(fallocate, -1, 3, 4, 5);
	C(fadvise64, -1, 0, 0, 4);
	C(unshare, 0x40000001);
	C(setns, -1, 0x20000000);
	C(signalfd4, -1, 0, 8, 02004000);
	C(setpriority, 99, 0, 3);
	C(getpriority, 99, 0);
	C(ptrace, 0x4207, 999999, 0, 0);
	C(personality, 0xffffffff);
	C(set_tid_address, 0);
	C(close_range, 4000000, 3, 6);
	C(openat2, AT_FDCWD, none, 0, 0);
	C(pidfd_open, 999999, 0);
	C(clone3, 0, 0);
	C(clone, 0x10000, 0, 0, 0, 0);
	C(io_uring_setup, 0, 0);
	C(execveat, AT_FDCWD, none, 0, 0, 0x1100);
	C(close, -1);
	C(close, 4000000);
	syscall(999);
	syscall(600);
	return 3;
}
