// SPDX-License-Identifier: GPL-2.0-or-later
// Values of arguments as text. The layout is that of perf trace.
#include "abi/syscall_args.h"
#include "abi/syscall_names.h"
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

enum {
	FUTEX_FLAGS = 128 | 256,
	SOCK_TYPE_BITS = 15,
	SCHED_RESET_ON_FORK_ = 0x40000000,
	MOUNT_MAGIC =
		0xC0ED0000, // old callers set it, the kernel takes it away: include/uapi/linux/mount.h
};

static void put_hex(struct out *out, uint64_t value)
{
	if (value)
		out_bytes(out, "0x", 2);
	out_hex(out, value);
}

bool syscall_shows_zero(enum syscall_kind kind)
{
	return kind >= ARG_NAMED && kind < ARG_KINDS && value_names(kind)->shows_zero;
}

// Names stand with or without the prefix that all of a kind have in C.
static void put_name(struct out *out, bool prefix, const char *kind, const char *name)
{
	if (prefix)
		out_text(out, kind);
	out_text(out, name);
}

static void put_flags(struct out *out, const struct value_names *names, uint64_t value, bool prefix)
{
	bool more = false;

	for (size_t i = 0; i < names->n && value; i++) {
		uint64_t bits = names->names[i].value;

		if ((value & bits) != bits)
			continue;
		if (more)
			out_char(out, '|');
		put_name(out, prefix, names->prefix, names->names[i].name);
		value &= ~bits;
		more = true;
	}
	if (value) {
		if (more)
			out_char(out, '|');
		put_hex(out, value);
	} else if (!more) {
		out_char(out, '0');
	}
}

static void put_one(struct out *out, const struct value_names *names, uint64_t value, bool prefix)
{
	for (size_t i = 0; i < names->n; i++) {
		if (names->names[i].value == value) {
			put_name(out, prefix, names->prefix, names->names[i].name);
			return;
		}
	}
	if (names->form == NAMES_ONE_HEX)
		put_hex(out, value);
	else
		out_i64(out, (int32_t)value);
	if (prefix && *names->prefix)
		out_printf(out, " /* %s??? */", names->prefix);
}

// R_OK and the like have what is the same behind the letter; bits are then set apart by '|'.
static void put_access(struct out *out, uint64_t mode, bool suffix)
{
	static const char letters[] = "RWX"; // 4, 2, 1
	bool more = false;

	for (unsigned i = 0; i < 3; i++) {
		if (!(mode & (4u >> i)))
			continue;
		if (suffix && more)
			out_char(out, '|');
		more = true;
		out_char(out, letters[i]);
		if (suffix)
			out_text(out, "_OK");
	}
	if (mode & ~7ull) {
		out_char(out, '|');
		put_hex(out, mode & ~7ull);
	} else if (!mode) {
		out_text(out, suffix ? "F_OK" : "F");
	}
}

static void put_open(struct out *out, uint64_t flags, bool prefix)
{
	bool reads = (flags & 3) == 0;

	if (reads)
		put_name(out, prefix, "O_", "RDONLY");
	if (reads && flags)
		out_char(out, '|');
	if (flags || !reads)
		put_flags(out, value_names(ARG_OPEN), flags, prefix);
}

static void put_futex_op(struct out *out, uint64_t op, bool prefix)
{
	put_one(out, value_names(ARG_FUTEX_OP), op & ~(uint64_t)FUTEX_FLAGS, prefix);
	if (op & 128)
		out_text(out, prefix ? "|FUTEX_PRIVATE_FLAG" : "|PRIVATE_FLAG");
	if (op & 256)
		out_text(out, prefix ? "|FUTEX_CLOCK_REALTIME" : "|CLOCK_REALTIME");
}

static void put_socket_type(struct out *out, uint64_t type, bool prefix)
{
	static const char *const names[] = {NULL,  "STREAM",	"DGRAM", "RAW",
					    "RDM", "SEQPACKET", "DCCP",	 [10] = "PACKET"};
	unsigned kind = type & SOCK_TYPE_BITS;

	if (kind < sizeof(names) / sizeof(names[0]) && names[kind])
		put_name(out, prefix, "SOCK_", names[kind]);
	else
		put_hex(out, kind);
	type &= ~(uint64_t)SOCK_TYPE_BITS;
	if (type) {
		out_char(out, '|');
		put_flags(out, value_names(ARG_SOCK_FLAGS), type, prefix);
	}
}

static void put_policy(struct out *out, uint64_t policy, bool prefix)
{
	static const char *const names[] = {"NORMAL", "FIFO", "RR",	  "BATCH",
					    "ISO",    "IDLE", "DEADLINE", "EXT"};
	uint64_t kind = policy & ~(uint64_t)SCHED_RESET_ON_FORK_;

	if (kind < sizeof(names) / sizeof(names[0]))
		put_name(out, prefix, "SCHED_", names[kind]);
	else
		put_hex(out, kind);
	if (policy & SCHED_RESET_ON_FORK_)
		out_text(out, prefix ? "|SCHED_RESET_ON_FORK" : "|RESET_ON_FORK");
}

// _IOC: include/uapi/asm-generic/ioctl.h
static void put_ioctl(struct out *out, uint64_t cmd)
{
	static const char *const directions[] = {"NONE", "WRITE", "READ", "READ|WRITE"};
	unsigned number = cmd & 255, type = cmd >> 8 & 255, size = cmd >> 16 & 0x3fff;
	const char *name = ioctl_name(type, number);

	if (name) {
		out_text(out, name);
		return;
	}
	out_char(out, '(');
	out_text(out, directions[cmd >> 30 & 3]);
	for (unsigned i = 0; i < 3; i++) {
		out_text(out, ", ");
		put_hex(out, i == 0 ? type : i == 1 ? number : size);
	}
	out_char(out, ')');
}

// Kernel's encoding to user space: include/linux/kdev_t.h, new_encode_dev.
static void put_device(struct out *out, uint64_t dev)
{
	out_u64(out, (dev & 0xfff00) >> 8);
	out_char(out, ':');
	out_u64(out, (dev & 0xff) | (dev >> 12 & 0xfff00));
}

void syscall_put_value(struct out *out, enum syscall_kind kind, uint64_t value, bool prefix)
{
	const struct value_names *names = value_names(kind);

	switch (kind) {
	case ARG_LONG:
		out_i64(out, (int64_t)value);
		return;
	case ARG_INT:
	case ARG_FD:
	case ARG_FD_NEW:
	case ARG_FD32:
	case ARG_PID:
		out_i64(out, (int32_t)value);
		return;
	case ARG_UINT:
		out_u64(out, (uint32_t)value);
		return;
	case ARG_HEX32:
		put_hex(out, (uint32_t)value);
		return;
	case ARG_ACCESS:
		put_access(out, (uint32_t)value, prefix);
		return;
	case ARG_OPEN:
		put_open(out, (uint32_t)value, prefix);
		return;
	case ARG_FUTEX_OP:
		put_futex_op(out, (uint32_t)value, prefix);
		return;
	case ARG_SOCK:
		put_socket_type(out, (uint32_t)value, prefix);
		return;
	case ARG_SCHED:
		put_policy(out, (uint32_t)value, prefix);
		return;
	case ARG_IOCTL:
		put_ioctl(out, value);
		return;
	case ARG_DEV:
		put_device(out, value);
		return;
	case ARG_MOUNT:
		if ((value & 0xffff0000) == (uint64_t)MOUNT_MAGIC)
			value &= 0xffff;
		put_flags(out, names, value, prefix);
		return;
	default:
		break;
	}
	if (!names->n) {
		put_hex(out, value);
	} else if (kind == ARG_PROT && !value) {
		put_name(out, prefix, names->prefix, "NONE");
	} else if (names->form == NAMES_FLAGS) {
		// mmap and mprotect take wider words; all else are ints
		put_flags(out, names, kind == ARG_MAP || kind == ARG_PROT ? value : (uint32_t)value,
			  prefix);
	} else {
		put_one(out, names, (uint32_t)value, prefix);
	}
}

enum syscall_kind syscall_fcntl_arg(uint64_t cmd, bool *ret_none, enum syscall_kind *ret_ret)
{
	// by enum syscall_kind; ARG_KINDS: takes none
	static const struct {
		uint16_t cmd;
		uint8_t arg, ret;
	} rows[] = {
		{0, ARG_INT, ARG_FD},	 {1, ARG_KINDS, ARG_FD_FLAGS},
		{2, ARG_FD_FLAGS, 0},	 {3, ARG_KINDS, ARG_OPEN},
		{4, ARG_OPEN, 0},	 {5, ARG_PTR, 0},
		{6, ARG_PTR, 0},	 {7, ARG_PTR, 0},
		{8, ARG_PID, 0},	 {9, ARG_KINDS, ARG_PID},
		{10, ARG_SIGNAL, 0},	 {11, ARG_KINDS, ARG_SIGNAL},
		{15, ARG_PTR, 0},	 {16, ARG_PTR, 0},
		{36, ARG_PTR, 0},	 {37, ARG_PTR, 0},
		{38, ARG_PTR, 0},	 {1025, ARG_KINDS, 0},
		{1030, ARG_INT, ARG_FD}, {1032, ARG_KINDS, 0},
		{1034, ARG_KINDS, 0},	 {1035, ARG_PTR, 0},
		{1036, ARG_PTR, 0},	 {1037, ARG_PTR, 0},
		{1038, ARG_PTR, 0},
	};

	*ret_none = false;
	*ret_ret = ARG_LONG;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].cmd != cmd)
			continue;
		*ret_none = rows[i].arg == ARG_KINDS;
		*ret_ret = rows[i].ret;
		return *ret_none ? ARG_LONG : rows[i].arg;
	}
	return ARG_LONG;
}

unsigned syscall_futex_args(uint64_t op)
{
	enum { UADDR = 1, OP = 2, VAL = 4, TIME = 8, UADDR2 = 16, VAL3 = 32 };
	// by FUTEX_OP; TIME is a number (val2) where it is no time
	static const uint8_t more[] = {
		TIME,
		0,
		0,
		TIME | UADDR2,
		TIME | UADDR2 | VAL3,
		TIME | UADDR2 | VAL3,
		TIME,
		0,
		0,
		TIME | VAL3,
		VAL3,
		TIME | UADDR2 | VAL3,
		TIME | UADDR2 | VAL3,
		TIME,
	};
	uint64_t kind = op & ~(uint64_t)FUTEX_FLAGS;

	return UADDR | OP | VAL |
	       (kind < sizeof(more) ? more[kind] : (unsigned)(TIME | UADDR2 | VAL3));
}

// ---- errors

// include/linux/errno.h: what only the kernel and tracers see.
static const struct {
	unsigned number;
	const char *name, *text;
} inner_errors[] = {
	{512, "ERESTARTSYS", "Restarted if the signal's handler allows"},
	{513, "ERESTARTNOINTR", "Always restarted"},
	{514, "ERESTARTNOHAND", "Restarted if there is no handler"},
	{515, "ENOIOCTLCMD", "No such ioctl"},
	{516, "ERESTART_RESTARTBLOCK", "Restarted by restart_syscall"},
	{517, "EPROBE_DEFER", "Probed again later"},
	{524, "ENOTSUPP", "Operation is not supported"},
	{529, "EIOCBQUEUED", "Completes later"},
};

const char *syscall_errno_name(unsigned error)
{
	for (size_t i = 0; i < sizeof(inner_errors) / sizeof(inner_errors[0]); i++) {
		if (inner_errors[i].number == error)
			return inner_errors[i].name;
	}
	return error && error < 512 ? strerrorname_np((int)error) : NULL;
}

const char *syscall_errno_text(unsigned error)
{
	for (size_t i = 0; i < sizeof(inner_errors) / sizeof(inner_errors[0]); i++) {
		if (inner_errors[i].number == error)
			return inner_errors[i].text;
	}
	return strerrordesc_np((int)error) ? strerrordesc_np((int)error) : "Unknown error";
}

// ---- structures

static void put_unix(struct out *out, const char *path, size_t size)
{
	bool abstract = size && !path[0];
	size_t n = abstract ? size : strnlen(path, size);

	if (!size)
		return;
	out_text(out, abstract ? ", path: \"@" : ", path: \"");
	for (size_t i = abstract; i < n; i++) {
		unsigned char c = (unsigned char)path[i];

		if (c < ' ' || c == '"' || c == '\\' || c >= 127)
			out_printf(out, "\\%03o", c);
		else
			out_char(out, (char)c);
	}
	out_char(out, '"');
}

static void put_internet(struct out *out, const void *bytes, bool is_6)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct sockaddr_in6 in6;
	struct sockaddr_in in;

	if (is_6) {
		memcpy(&in6, bytes, sizeof(in6));
		inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof(text));
		out_printf(out, ", port: %u, addr: %s", ntohs(in6.sin6_port), text);
		if (in6.sin6_scope_id)
			out_printf(out, ", scope: %u", in6.sin6_scope_id);
		return;
	}
	memcpy(&in, bytes, sizeof(in));
	inet_ntop(AF_INET, &in.sin_addr, text, sizeof(text));
	out_printf(out, ", port: %u, addr: %s", ntohs(in.sin_port), text);
}

void syscall_put_sockaddr(struct out *out, const void *bytes, size_t size, bool prefix)
{
	struct sockaddr_nl netlink;
	struct sockaddr_vm vm;
	uint16_t family;

	if (size < sizeof(family)) {
		out_text(out, "{ }");
		return;
	}
	memcpy(&family, bytes, sizeof(family));
	out_text(out, "{ .family: ");
	put_one(out, value_names(ARG_AF), family, prefix);
	if (family == AF_UNIX) {
		put_unix(out, (const char *)bytes + 2, size - 2);
	} else if (family == AF_INET && size >= sizeof(struct sockaddr_in)) {
		put_internet(out, bytes, false);
	} else if (family == AF_INET6 && size >= sizeof(struct sockaddr_in6)) {
		put_internet(out, bytes, true);
	} else if (family == AF_NETLINK && size >= sizeof(netlink)) {
		memcpy(&netlink, bytes, sizeof(netlink));
		out_printf(out, ", pid: %u, groups: %#x", netlink.nl_pid, netlink.nl_groups);
	} else if (family == AF_VSOCK && size >= sizeof(vm)) {
		memcpy(&vm, bytes, sizeof(vm));
		out_printf(out, ", cid: %u, port: %u", vm.svm_cid, vm.svm_port);
	}
	out_text(out, " }");
}

void syscall_put_timespec(struct out *out, const void *bytes, size_t size)
{
	int64_t parts[2];

	if (size < sizeof(parts)) {
		out_text(out, "{ }");
		return;
	}
	memcpy(parts, bytes, sizeof(parts));
	out_printf(out, "{ .tv_sec: %lld, .tv_nsec: %lld }", (long long)parts[0],
		   (long long)parts[1]);
}
