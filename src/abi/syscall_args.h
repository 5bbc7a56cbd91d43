// SPDX-License-Identifier: GPL-2.0-or-later
// What the arguments of system calls are called and what they mean, and their values as text.
// Names: events/syscalls/sys_enter_*/format of Linux 6.18; values: the headers in include/uapi, which each table names.
#pragma once
#include "base/out.h"
#include <stdbool.h>
#include <stdint.h>

enum { SYSCALL_ARGS = 6 };

enum syscall_kind {
	ARG_LONG, // as wide as a register, signed
	ARG_INT,
	ARG_UINT,
	ARG_HEX,
	ARG_HEX32,
	// what needs to be known of the task
	ARG_FD,	    // a file descriptor
	ARG_FD_NEW, // one that is another file's after the call
	ARG_FD32,   // likewise in a wider register: -1 is none, and not shown with mmap's ANONYMOUS
	ARG_FDAT,   // or AT_FDCWD
	ARG_PID,
	// what the pointer points at
	ARG_PTR,
	ARG_PATH, // a name of a file
	ARG_TEXT,
	ARG_BUF, // bytes, as many as the next argument says
	ARG_SOCKADDR,
	ARG_TIMESPEC,
	ARG_OPEN_HOW,
	ARG_ARGV, // pointers to texts, the last one NULL
	// what depends on another argument
	ARG_FCNTL_ARG,
	ARG_PRCTL_ARG2,
	ARG_PRCTL_ARG3,
	ARG_SO,
	// numbers by their names
	ARG_NAMED,
	ARG_ACCESS = ARG_NAMED,
	ARG_AF,
	ARG_ARCH_PRCTL,
	ARG_AT,
	ARG_BPF_CMD,
	ARG_CLOCK,
	ARG_CLOEXEC_FLAGS,
	ARG_CLONE,
	ARG_CLOSE_RANGE,
	ARG_DEV,
	ARG_EPOLL_OP,
	ARG_EVENTFD,
	ARG_FADVISE,
	ARG_FALLOC,
	ARG_FCNTL_CMD,
	ARG_FLOCK,
	ARG_FSCONFIG,
	ARG_FSMOUNT,
	ARG_FSOPEN,
	ARG_FSPICK,
	ARG_FUTEX_OP,
	ARG_FUTEX_VAL3,
	ARG_GRND,
	ARG_ID_TYPE,
	ARG_INOTIFY,
	ARG_IOCTL,
	ARG_IPC,
	ARG_IPPROTO,
	ARG_ITIMER,
	ARG_KCMP,
	ARG_KEYCTL,
	ARG_MADVISE,
	ARG_MAP,
	ARG_MCL,
	ARG_MEMBARRIER,
	ARG_MEMFD,
	ARG_MLOCK,
	ARG_MODE,
	ARG_MOUNT,
	ARG_MOUNT_ATTR,
	ARG_MOVE_MOUNT,
	ARG_MREMAP,
	ARG_MSG,
	ARG_MSYNC,
	ARG_OPEN,
	ARG_PERF_FLAGS,
	ARG_PIPE,
	ARG_PKEY,
	ARG_PRCTL,
	ARG_PRIO,
	ARG_PROT,
	ARG_PTRACE,
	ARG_RENAME,
	ARG_RLIMIT,
	ARG_RUSAGE,
	ARG_RWF,
	ARG_SCHED,
	ARG_SECCOMP,
	ARG_SECCOMP_FLAGS,
	ARG_SHM,
	ARG_SHUT,
	ARG_SIGHOW,
	ARG_SIGNAL,
	ARG_SOCK,
	ARG_SOCKETCALL,
	ARG_SOCK_FLAGS,
	ARG_SOL,
	ARG_SPLICE,
	ARG_STATX,
	ARG_SWAP,
	ARG_SYNC_RANGE,
	ARG_TFD_TIMER,
	ARG_TIMER,
	ARG_UMOUNT,
	ARG_UNLINKAT,
	ARG_URING_ENTER,
	ARG_URING_REGISTER,
	ARG_WAIT,
	ARG_WHENCE,
	ARG_XATTR,
	// of fcntl and prctl
	ARG_FD_FLAGS,
	ARG_PRCTL_MM,
	ARG_KINDS,
};

enum syscall_ret {
	SYSCALL_RET_NUMBER,
	SYSCALL_RET_HEX,
	SYSCALL_RET_PID,
	SYSCALL_RET_FD,
	SYSCALL_RET_TIMEOUT, // 0: the time was over
};

struct syscall_def {
	const char *name;
	uint8_t args_n;
	uint8_t ret; // enum syscall_ret
	struct syscall_arg {
		const char *name;
		uint8_t kind; // enum syscall_kind
	} args[SYSCALL_ARGS];
};

// What a call of that name takes; NULL: not known. About 50 ns.
const struct syscall_def *syscall_def(const char *name);

// Is 0 a value with a name (SEEK_SET), which is shown? All other arguments that are 0 are left out, as perf does.
bool syscall_shows_zero(enum syscall_kind kind);
// The value by its names: "RDONLY|CLOEXEC"; what has none in hex or, of enumerations, as perf prints it. For kinds from ARG_NAMED
// on, and for the plain numbers; with `prefix` as C has them: "O_RDONLY|O_CLOEXEC". Some 10 ns.
void syscall_put_value(struct out *out, enum syscall_kind kind, uint64_t value, bool prefix);
// The kind of fcntl's argument, which its command decides; *ret_ret is that of the result.
enum syscall_kind syscall_fcntl_arg(uint64_t cmd, bool *ret_none, enum syscall_kind *ret_ret);
// Which arguments a futex operation takes, a bit for each.
unsigned syscall_futex_args(uint64_t op);

// "ENOENT" and "ERESTARTSYS" (which only tracers see); NULL: no error has that number.
const char *syscall_errno_name(unsigned error);
// What the C library says of it.
const char *syscall_errno_text(unsigned error);

// struct sockaddr of `size` bytes: "{ .family: INET, port: 80, addr: 127.0.0.1 }".
void syscall_put_sockaddr(struct out *out, const void *bytes, size_t size, bool prefix);
// struct __kernel_timespec: "{ .tv_sec: 1, .tv_nsec: 0 }".
void syscall_put_timespec(struct out *out, const void *bytes, size_t size);
