// SPDX-License-Identifier: GPL-2.0-or-later
// Values that have names. Order matters for flags: what has several bits stands before its parts.
#include "abi/syscall_names.h"
#include "abi/syscall_args.h"
#include "base/alloc.h"

// clang-format off

// include/linux/socket.h
static const struct value_name names_af[] = {
	{0, "UNSPEC"}, {1, "LOCAL"}, {2, "INET"}, {3, "AX25"}, {4, "IPX"}, {5, "APPLETALK"}, {6, "NETROM"},
	{7, "BRIDGE"}, {8, "ATMPVC"}, {9, "X25"}, {10, "INET6"}, {11, "ROSE"}, {12, "DECnet"}, {13, "NETBEUI"},
	{14, "SECURITY"}, {15, "KEY"}, {16, "NETLINK"}, {17, "PACKET"}, {18, "ASH"}, {19, "ECONET"}, {20, "ATMSVC"},
	{21, "RDS"}, {22, "SNA"}, {23, "IRDA"}, {24, "PPPOX"}, {25, "WANPIPE"}, {26, "LLC"}, {27, "IB"}, {28, "MPLS"},
	{29, "CAN"}, {30, "TIPC"}, {31, "BLUETOOTH"}, {32, "IUCV"}, {33, "RXRPC"}, {34, "ISDN"}, {35, "PHONET"},
	{36, "IEEE802154"}, {37, "CAIF"}, {38, "ALG"}, {39, "NFC"}, {40, "VSOCK"}, {41, "KCM"}, {42, "QIPCRTR"},
	{43, "SMC"}, {44, "XDP"}, {45, "MCTP"}
};
// arch/x86/include/uapi/asm/prctl.h
static const struct value_name names_arch_prctl[] = {
	{0x1001, "SET_GS"}, {0x1002, "SET_FS"}, {0x1003, "GET_FS"}, {0x1004, "GET_GS"}, {0x1011, "GET_CPUID"},
	{0x1012, "SET_CPUID"}, {0x1021, "GET_XCOMP_SUPP"}, {0x1022, "GET_XCOMP_PERM"}, {0x1023, "REQ_XCOMP_PERM"},
	{0x1024, "GET_XCOMP_GUEST_PERM"}, {0x1025, "REQ_XCOMP_GUEST_PERM"}, {0x2001, "MAP_VDSO_X32"},
	{0x2002, "MAP_VDSO_32"}, {0x2003, "MAP_VDSO_64"}, {0x4001, "GET_UNTAG_MASK"}, {0x4002, "ENABLE_TAGGED_ADDR"},
	{0x4003, "GET_MAX_TAG_BITS"}, {0x4004, "FORCE_TAGGED_SVA"}, {0x5001, "SHSTK_ENABLE"}, {0x5002, "SHSTK_DISABLE"},
	{0x5003, "SHSTK_LOCK"}, {0x5004, "SHSTK_UNLOCK"}, {0x5005, "SHSTK_STATUS"}
};
// include/uapi/linux/fcntl.h
static const struct value_name names_at[] = {
	{256, "SYMLINK_NOFOLLOW"}, {512, "REMOVEDIR"}, {0x400, "SYMLINK_FOLLOW"}, {0x800, "NO_AUTOMOUNT"},
	{0x1000, "EMPTY_PATH"}, {0x2000, "STATX_FORCE_SYNC"}, {0x4000, "STATX_DONT_SYNC"}, {0x8000, "RECURSIVE"}
};
// include/uapi/linux/fcntl.h
static const struct value_name names_unlinkat[] = {
	{512, "REMOVEDIR"}
};
// include/uapi/linux/bpf.h
static const struct value_name names_bpf_cmd[] = {
	{0, "MAP_CREATE"}, {1, "MAP_LOOKUP_ELEM"}, {2, "MAP_UPDATE_ELEM"}, {3, "MAP_DELETE_ELEM"},
	{4, "MAP_GET_NEXT_KEY"}, {5, "PROG_LOAD"}, {6, "OBJ_PIN"}, {7, "OBJ_GET"}, {8, "PROG_ATTACH"},
	{9, "PROG_DETACH"}, {10, "PROG_TEST_RUN"}, {11, "PROG_GET_NEXT_ID"}, {12, "MAP_GET_NEXT_ID"},
	{13, "PROG_GET_FD_BY_ID"}, {14, "MAP_GET_FD_BY_ID"}, {15, "OBJ_GET_INFO_BY_FD"}, {16, "PROG_QUERY"},
	{17, "RAW_TRACEPOINT_OPEN"}, {18, "BTF_LOAD"}, {19, "BTF_GET_FD_BY_ID"}, {20, "TASK_FD_QUERY"},
	{21, "MAP_LOOKUP_AND_DELETE_ELEM"}, {22, "MAP_FREEZE"}, {23, "BTF_GET_NEXT_ID"}, {24, "MAP_LOOKUP_BATCH"},
	{25, "MAP_LOOKUP_AND_DELETE_BATCH"}, {26, "MAP_UPDATE_BATCH"}, {27, "MAP_DELETE_BATCH"}, {28, "LINK_CREATE"},
	{29, "LINK_UPDATE"}, {30, "LINK_GET_FD_BY_ID"}, {31, "LINK_GET_NEXT_ID"}, {32, "ENABLE_STATS"},
	{33, "ITER_CREATE"}, {34, "LINK_DETACH"}, {35, "PROG_BIND_MAP"}, {36, "TOKEN_CREATE"},
	{37, "PROG_STREAM_READ_BY_FD"}
};
// include/uapi/linux/time.h
static const struct value_name names_clock[] = {
	{0, "REALTIME"}, {1, "MONOTONIC"}, {2, "PROCESS_CPUTIME_ID"}, {3, "THREAD_CPUTIME_ID"}, {4, "MONOTONIC_RAW"},
	{5, "REALTIME_COARSE"}, {6, "MONOTONIC_COARSE"}, {7, "BOOTTIME"}, {8, "REALTIME_ALARM"}, {9, "BOOTTIME_ALARM"},
	{10, "SGI_CYCLE"}, {11, "TAI"}
};
// O_CLOEXEC and O_NONBLOCK, which many calls share
static const struct value_name names_cloexec_flags[] = {
	{0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}
};
static const struct value_name names_sock_flags[] = {
	{0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}
};
static const struct value_name names_pipe[] = {
	{0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}, {0x4000, "DIRECT"}, {128, "NOTIFICATION_PIPE"}
};
static const struct value_name names_eventfd[] = {
	{1, "SEMAPHORE"}, {0x80000, "CLOEXEC"}, {0x800, "NONBLOCK"}
};
// include/uapi/linux/sched.h
static const struct value_name names_clone[] = {
	{256, "VM"}, {512, "FS"}, {0x400, "FILES"}, {0x800, "SIGHAND"}, {0x1000, "PIDFD"}, {0x2000, "PTRACE"},
	{0x4000, "VFORK"}, {0x8000, "PARENT"}, {0x10000, "THREAD"}, {0x20000, "NEWNS"}, {0x40000, "SYSVSEM"},
	{0x80000, "SETTLS"}, {0x100000, "PARENT_SETTID"}, {0x200000, "CHILD_CLEARTID"}, {0x400000, "DETACHED"},
	{0x800000, "UNTRACED"}, {0x1000000, "CHILD_SETTID"}, {0x2000000, "NEWCGROUP"}, {0x4000000, "NEWUTS"},
	{0x8000000, "NEWIPC"}, {0x10000000, "NEWUSER"}, {0x20000000, "NEWPID"}, {0x40000000, "NEWNET"},
	{0x80000000, "IO"}, {128, "NEWTIME"}
};
static const struct value_name names_close_range[] = {
	{2, "UNSHARE"}, {4, "CLOEXEC"}
};
// include/uapi/linux/eventpoll.h
static const struct value_name names_epoll_op[] = {
	{1, "ADD"}, {2, "DEL"}, {3, "MOD"}
};
// include/uapi/linux/fadvise.h
static const struct value_name names_fadvise[] = {
	{0, "NORMAL"}, {1, "RANDOM"}, {2, "SEQUENTIAL"}, {3, "WILLNEED"}, {4, "DONTNEED"}, {5, "NOREUSE"}
};
// include/uapi/linux/falloc.h
static const struct value_name names_falloc[] = {
	{1, "KEEP_SIZE"}, {2, "PUNCH_HOLE"}, {4, "NO_HIDE_STALE"}, {8, "COLLAPSE_RANGE"}, {16, "ZERO_RANGE"},
	{32, "INSERT_RANGE"}, {64, "UNSHARE_RANGE"}, {128, "WRITE_ZEROES"}
};
// include/uapi/asm-generic/fcntl.h
static const struct value_name names_fcntl_cmd[] = {
	{0, "DUPFD"}, {1, "GETFD"}, {2, "SETFD"}, {3, "GETFL"}, {4, "SETFL"}, {5, "GETLK"}, {6, "SETLK"}, {7, "SETLKW"},
	{8, "SETOWN"}, {9, "GETOWN"}, {10, "SETSIG"}, {11, "GETSIG"}, {12, "GETLK64"}, {13, "SETLK64"},
	{14, "SETLKW64"}, {15, "SETOWN_EX"}, {16, "GETOWN_EX"}, {17, "GETOWNER_UIDS"}, {36, "OFD_GETLK"},
	{37, "OFD_SETLK"}, {38, "OFD_SETLKW"}, {0x400, "SETLEASE"}, {0x401, "GETLEASE"}, {0x402, "NOTIFY"},
	{0x403, "DUPFD_QUERY"}, {0x404, "CREATED_QUERY"}, {0x405, "CANCELLK"}, {0x406, "DUPFD_CLOEXEC"},
	{0x407, "SETPIPE_SZ"}, {0x408, "GETPIPE_SZ"}, {0x409, "ADD_SEALS"}, {0x40a, "GET_SEALS"},
	{0x40b, "GET_RW_HINT"}, {0x40c, "SET_RW_HINT"}, {0x40d, "GET_FILE_RW_HINT"}, {0x40e, "SET_FILE_RW_HINT"},
	{0x40f, "GETDELEG"}, {0x410, "SETDELEG"}
};
static const struct value_name names_fd_flags[] = {
	{1, "CLOEXEC"}
};
static const struct value_name names_flock[] = {
	{1, "SH"}, {2, "EX"}, {4, "NB"}, {8, "UN"}, {32, "MAND"}, {192, "RW"}, {64, "READ"}, {128, "WRITE"}
};
// include/uapi/linux/mount.h
static const struct value_name names_fsconfig[] = {
	{0, "SET_FLAG"}, {1, "SET_STRING"}, {2, "SET_BINARY"}, {3, "SET_PATH"}, {4, "SET_PATH_EMPTY"}, {5, "SET_FD"},
	{6, "CMD_CREATE"}, {7, "CMD_RECONFIGURE"}, {8, "CMD_CREATE_EXCL"}
};
static const struct value_name names_fsmount[] = {
	{1, "CLOEXEC"}
};
static const struct value_name names_fsopen[] = {
	{1, "CLOEXEC"}
};
static const struct value_name names_fspick[] = {
	{1, "CLOEXEC"}, {2, "SYMLINK_NOFOLLOW"}, {4, "NO_AUTOMOUNT"}, {8, "EMPTY_PATH"}
};
static const struct value_name names_mount_attr[] = {
	{1, "RDONLY"}, {2, "NOSUID"}, {4, "NODEV"}, {8, "NOEXEC"}, {16, "NOATIME"}, {32, "STRICTATIME"},
	{128, "NODIRATIME"}, {0x100000, "IDMAP"}, {0x200000, "NOSYMFOLLOW"}
};
static const struct value_name names_move_mount[] = {
	{1, "F_SYMLINKS"}, {2, "F_AUTOMOUNTS"}, {4, "F_EMPTY_PATH"}, {16, "T_SYMLINKS"}, {32, "T_AUTOMOUNTS"},
	{64, "T_EMPTY_PATH"}, {256, "SET_GROUP"}, {512, "BENEATH"}
};
static const struct value_name names_grnd[] = {
	{2, "RANDOM"}, {1, "NONBLOCK"}, {4, "INSECURE"}
};
// include/uapi/linux/futex.h
static const struct value_name names_futex_op[] = {
	{0, "WAIT"}, {1, "WAKE"}, {2, "FD"}, {3, "REQUEUE"}, {4, "CMP_REQUEUE"}, {5, "WAKE_OP"}, {6, "LOCK_PI"},
	{7, "UNLOCK_PI"}, {8, "TRYLOCK_PI"}, {9, "WAIT_BITSET"}, {10, "WAKE_BITSET"}, {11, "WAIT_REQUEUE_PI"},
	{12, "CMP_REQUEUE_PI"}, {13, "LOCK_PI2"}
};
static const struct value_name names_futex_val3[] = {
	{0xffffffff, "MATCH_ANY"}
};
// include/uapi/linux/wait.h
static const struct value_name names_id_type[] = {
	{0, "ALL"}, {1, "PID"}, {2, "PGID"}, {3, "PIDFD"}
};
// include/uapi/linux/inotify.h
static const struct value_name names_inotify[] = {
	{1, "ACCESS"}, {2, "MODIFY"}, {4, "ATTRIB"}, {8, "CLOSE_WRITE"}, {16, "CLOSE_NOWRITE"}, {32, "OPEN"},
	{64, "MOVED_FROM"}, {128, "MOVED_TO"}, {256, "CREATE"}, {512, "DELETE"}, {0x400, "DELETE_SELF"},
	{0x800, "MOVE_SELF"}, {0x2000, "UNMOUNT"}, {0x4000, "Q_OVERFLOW"}, {0x8000, "IGNORED"}, {0x1000000, "ONLYDIR"},
	{0x2000000, "DONT_FOLLOW"}, {0x4000000, "EXCL_UNLINK"}, {0x10000000, "MASK_CREATE"}, {0x20000000, "MASK_ADD"},
	{0x40000000, "ISDIR"}, {0x80000000, "ONESHOT"}
};
// include/uapi/linux/in.h
static const struct value_name names_ipproto[] = {
	{0, "IP"}, {1, "ICMP"}, {2, "IGMP"}, {4, "IPIP"}, {6, "TCP"}, {8, "EGP"}, {12, "PUP"}, {17, "UDP"}, {22, "IDP"},
	{29, "TP"}, {33, "DCCP"}, {41, "IPV6"}, {46, "RSVP"}, {47, "GRE"}, {50, "ESP"}, {51, "AH"}, {58, "ICMPV6"},
	{92, "MTP"}, {94, "BEETPH"}, {98, "ENCAP"}, {103, "PIM"}, {108, "COMP"}, {115, "L2TP"}, {132, "SCTP"},
	{136, "UDPLITE"}, {137, "MPLS"}, {143, "ETHERNET"}, {255, "RAW"}, {256, "SMC"}, {262, "MPTCP"}
};
static const struct value_name names_itimer[] = {
	{0, "REAL"}, {1, "VIRTUAL"}, {2, "PROF"}
};
// include/uapi/linux/kcmp.h
static const struct value_name names_kcmp[] = {
	{0, "FILE"}, {1, "VM"}, {2, "FILES"}, {3, "FS"}, {4, "SIGHAND"}, {5, "IO"}, {6, "SYSVSEM"}, {7, "EPOLL_TFD"}
};
// include/uapi/linux/keyctl.h
static const struct value_name names_keyctl[] = {
	{0, "GET_KEYRING_ID"}, {1, "JOIN_SESSION_KEYRING"}, {2, "UPDATE"}, {3, "REVOKE"}, {4, "CHOWN"}, {5, "SETPERM"},
	{6, "DESCRIBE"}, {7, "CLEAR"}, {8, "LINK"}, {9, "UNLINK"}, {10, "SEARCH"}, {11, "READ"}, {12, "INSTANTIATE"},
	{13, "NEGATE"}, {14, "SET_REQKEY_KEYRING"}, {15, "SET_TIMEOUT"}, {16, "ASSUME_AUTHORITY"}, {17, "GET_SECURITY"},
	{18, "SESSION_TO_PARENT"}, {19, "REJECT"}, {20, "INSTANTIATE_IOV"}, {21, "INVALIDATE"}, {22, "GET_PERSISTENT"},
	{23, "DH_COMPUTE"}, {24, "PKEY_QUERY"}, {25, "PKEY_ENCRYPT"}, {26, "PKEY_DECRYPT"}, {27, "PKEY_SIGN"},
	{28, "PKEY_VERIFY"}, {29, "RESTRICT_KEYRING"}, {30, "MOVE"}, {31, "CAPABILITIES"}, {32, "WATCH_KEY"}
};
// include/uapi/asm-generic/mman-common.h
static const struct value_name names_madvise[] = {
	{0, "MADV_NORMAL"}, {1, "MADV_RANDOM"}, {2, "MADV_SEQUENTIAL"}, {3, "MADV_WILLNEED"}, {4, "MADV_DONTNEED"},
	{8, "MADV_FREE"}, {9, "MADV_REMOVE"}, {10, "MADV_DONTFORK"}, {11, "MADV_DOFORK"}, {12, "MADV_MERGEABLE"},
	{13, "MADV_UNMERGEABLE"}, {14, "MADV_HUGEPAGE"}, {15, "MADV_NOHUGEPAGE"}, {16, "MADV_DONTDUMP"},
	{17, "MADV_DODUMP"}, {18, "MADV_WIPEONFORK"}, {19, "MADV_KEEPONFORK"}, {20, "MADV_COLD"}, {21, "MADV_PAGEOUT"},
	{22, "MADV_POPULATE_READ"}, {23, "MADV_POPULATE_WRITE"}, {24, "MADV_DONTNEED_LOCKED"}, {25, "MADV_COLLAPSE"},
	{100, "MADV_HWPOISON"}, {101, "MADV_SOFT_OFFLINE"}, {102, "MADV_GUARD_INSTALL"}, {103, "MADV_GUARD_REMOVE"}
};
// include/uapi/asm-generic/mman-common.h
static const struct value_name names_map[] = {
	{3, "SHARED_VALIDATE"}, {1, "SHARED"}, {2, "PRIVATE"}, {16, "FIXED"}, {32, "ANONYMOUS"}, {64, "32BIT"},
	{256, "GROWSDOWN"}, {0x800, "DENYWRITE"}, {0x1000, "EXECUTABLE"}, {0x2000, "LOCKED"}, {0x4000, "NORESERVE"},
	{0x8000, "POPULATE"}, {0x10000, "NONBLOCK"}, {0x20000, "STACK"}, {0x40000, "HUGETLB"}, {0x80000, "SYNC"},
	{0x100000, "FIXED_NOREPLACE"}, {0x4000000, "UNINITIALIZED"}
};
static const struct value_name names_mcl[] = {
	{1, "CURRENT"}, {2, "FUTURE"}, {4, "ONFAULT"}
};
// include/uapi/linux/membarrier.h
static const struct value_name names_membarrier[] = {
	{0, "QUERY"}, {1, "GLOBAL"}, {2, "GLOBAL_EXPEDITED"}, {4, "REGISTER_GLOBAL_EXPEDITED"},
	{8, "PRIVATE_EXPEDITED"}, {16, "REGISTER_PRIVATE_EXPEDITED"}, {32, "PRIVATE_EXPEDITED_SYNC_CORE"},
	{64, "REGISTER_PRIVATE_EXPEDITED_SYNC_CORE"}, {128, "PRIVATE_EXPEDITED_RSEQ"},
	{256, "REGISTER_PRIVATE_EXPEDITED_RSEQ"}, {512, "GET_REGISTRATIONS"}
};
static const struct value_name names_memfd[] = {
	{1, "CLOEXEC"}, {2, "ALLOW_SEALING"}, {4, "HUGETLB"}, {8, "NOEXEC_SEAL"}, {16, "EXEC"}
};
static const struct value_name names_mlock[] = {
	{1, "ONFAULT"}
};
// include/linux/stat.h
static const struct value_name names_mode[] = {
	{0xfff, "IALLUGO"}, {511, "IRWXUGO"}, {292, "IRUGO"}, {146, "IWUGO"}, {73, "IXUGO"}, {0xf000, "IFMT"},
	{0xc000, "IFSOCK"}, {0xa000, "IFLNK"}, {0x8000, "IFREG"}, {0x6000, "IFBLK"}, {0x4000, "IFDIR"},
	{0x2000, "IFCHR"}, {0x1000, "IFIFO"}, {0x800, "ISUID"}, {0x400, "ISGID"}, {512, "ISVTX"}, {448, "IRWXU"},
	{256, "IRUSR"}, {128, "IWUSR"}, {64, "IXUSR"}, {56, "IRWXG"}, {32, "IRGRP"}, {16, "IWGRP"}, {8, "IXGRP"},
	{7, "IRWXO"}, {4, "IROTH"}, {2, "IWOTH"}, {1, "IXOTH"}
};
// include/uapi/linux/mount.h
static const struct value_name names_mount[] = {
	{1, "RDONLY"}, {2, "NOSUID"}, {4, "NODEV"}, {8, "NOEXEC"}, {16, "SYNCHRONOUS"}, {32, "REMOUNT"},
	{64, "MANDLOCK"}, {128, "DIRSYNC"}, {256, "NOSYMFOLLOW"}, {0x400, "NOATIME"}, {0x800, "NODIRATIME"},
	{0x1000, "BIND"}, {0x2000, "MOVE"}, {0x4000, "REC"}, {0x8000, "SILENT"}, {0x10000, "POSIXACL"},
	{0x20000, "UNBINDABLE"}, {0x40000, "PRIVATE"}, {0x80000, "SLAVE"}, {0x100000, "SHARED"}, {0x200000, "RELATIME"},
	{0x400000, "KERNMOUNT"}, {0x800000, "I_VERSION"}, {0x1000000, "STRICTATIME"}, {0x2000000, "LAZYTIME"},
	{0x4000000, "SUBMOUNT"}, {0x8000000, "NOREMOTELOCK"}, {0x10000000, "NOSEC"}, {0x20000000, "BORN"},
	{0x40000000, "ACTIVE"}, {0x80000000, "NOUSER"}
};
static const struct value_name names_mremap[] = {
	{1, "MAYMOVE"}, {2, "FIXED"}, {4, "DONTUNMAP"}
};
// include/linux/socket.h
static const struct value_name names_msg[] = {
	{1, "OOB"}, {2, "PEEK"}, {4, "DONTROUTE"}, {8, "CTRUNC"}, {16, "PROBE"}, {32, "TRUNC"}, {64, "DONTWAIT"},
	{128, "EOR"}, {256, "WAITALL"}, {512, "FIN"}, {0x400, "SYN"}, {0x800, "CONFIRM"}, {0x1000, "RST"},
	{0x2000, "ERRQUEUE"}, {0x4000, "NOSIGNAL"}, {0x8000, "MORE"}, {0x10000, "WAITFORONE"},
	{0x20000, "SENDPAGE_NOTLAST"}, {0x4000000, "ZEROCOPY"}, {0x20000000, "FASTOPEN"}, {0x40000000, "CMSG_CLOEXEC"}
};
static const struct value_name names_msync[] = {
	{1, "ASYNC"}, {2, "INVALIDATE"}, {4, "SYNC"}
};
static const struct value_name names_perf_flags[] = {
	{1, "FD_NO_GROUP"}, {2, "FD_OUTPUT"}, {4, "PID_CGROUP"}, {8, "FD_CLOEXEC"}
};
static const struct value_name names_pkey[] = {
	{1, "DISABLE_ACCESS"}, {2, "DISABLE_WRITE"}
};
// include/uapi/linux/prctl.h
static const struct value_name names_prctl[] = {
	{1, "SET_PDEATHSIG"}, {2, "GET_PDEATHSIG"}, {3, "GET_DUMPABLE"}, {4, "SET_DUMPABLE"}, {5, "GET_UNALIGN"},
	{6, "SET_UNALIGN"}, {7, "GET_KEEPCAPS"}, {8, "SET_KEEPCAPS"}, {9, "GET_FPEMU"}, {10, "SET_FPEMU"},
	{11, "GET_FPEXC"}, {12, "SET_FPEXC"}, {13, "GET_TIMING"}, {14, "SET_TIMING"}, {15, "SET_NAME"},
	{16, "GET_NAME"}, {19, "GET_ENDIAN"}, {20, "SET_ENDIAN"}, {21, "GET_SECCOMP"}, {22, "SET_SECCOMP"},
	{23, "CAPBSET_READ"}, {24, "CAPBSET_DROP"}, {25, "GET_TSC"}, {26, "SET_TSC"}, {27, "GET_SECUREBITS"},
	{28, "SET_SECUREBITS"}, {29, "SET_TIMERSLACK"}, {30, "GET_TIMERSLACK"}, {31, "TASK_PERF_EVENTS_DISABLE"},
	{32, "TASK_PERF_EVENTS_ENABLE"}, {33, "MCE_KILL"}, {34, "MCE_KILL_GET"}, {35, "SET_MM"},
	{36, "SET_CHILD_SUBREAPER"}, {37, "GET_CHILD_SUBREAPER"}, {38, "SET_NO_NEW_PRIVS"}, {39, "GET_NO_NEW_PRIVS"},
	{40, "GET_TID_ADDRESS"}, {41, "SET_THP_DISABLE"}, {42, "GET_THP_DISABLE"}, {43, "MPX_ENABLE_MANAGEMENT"},
	{44, "MPX_DISABLE_MANAGEMENT"}, {45, "SET_FP_MODE"}, {46, "GET_FP_MODE"}, {47, "CAP_AMBIENT"},
	{50, "SVE_SET_VL"}, {51, "SVE_GET_VL"}, {52, "GET_SPECULATION_CTRL"}, {53, "SET_SPECULATION_CTRL"},
	{54, "PAC_RESET_KEYS"}, {55, "SET_TAGGED_ADDR_CTRL"}, {56, "GET_TAGGED_ADDR_CTRL"}, {57, "SET_IO_FLUSHER"},
	{58, "GET_IO_FLUSHER"}, {59, "SET_SYSCALL_USER_DISPATCH"}, {60, "PAC_SET_ENABLED_KEYS"},
	{61, "PAC_GET_ENABLED_KEYS"}, {62, "SCHED_CORE"}, {63, "SME_SET_VL"}, {64, "SME_GET_VL"}, {65, "SET_MDWE"},
	{66, "GET_MDWE"}, {67, "SET_MEMORY_MERGE"}, {68, "GET_MEMORY_MERGE"}, {69, "RISCV_V_SET_CONTROL"},
	{70, "RISCV_V_GET_CONTROL"}, {71, "RISCV_SET_ICACHE_FLUSH_CTX"}, {72, "PPC_GET_DEXCR"}, {73, "PPC_SET_DEXCR"},
	{74, "GET_SHADOW_STACK_STATUS"}, {75, "SET_SHADOW_STACK_STATUS"}, {76, "LOCK_SHADOW_STACK_STATUS"},
	{77, "TIMER_CREATE_RESTORE_IDS"}, {78, "FUTEX_HASH"}, {0x53564d41, "SET_VMA"}, {0x59616d61, "SET_PTRACER"}
};
static const struct value_name names_prctl_mm[] = {
	{1, "START_CODE"}, {2, "END_CODE"}, {3, "START_DATA"}, {4, "END_DATA"}, {5, "START_STACK"}, {6, "START_BRK"},
	{7, "BRK"}, {8, "ARG_START"}, {9, "ARG_END"}, {10, "ENV_START"}, {11, "ENV_END"}, {12, "AUXV"},
	{13, "EXE_FILE"}, {14, "MAP"}, {15, "MAP_SIZE"}
};
static const struct value_name names_prio[] = {
	{0, "PROCESS"}, {1, "PGRP"}, {2, "USER"}
};
static const struct value_name names_prot[] = {
	{1, "READ"}, {2, "WRITE"}, {4, "EXEC"}, {8, "SEM"}, {0x1000000, "GROWSDOWN"}, {0x2000000, "GROWSUP"}
};
// include/uapi/linux/ptrace.h, arch/x86/include/uapi/asm/ptrace-abi.h
static const struct value_name names_ptrace[] = {
	{0, "TRACEME"}, {1, "PEEKTEXT"}, {2, "PEEKDATA"}, {3, "PEEKUSER"}, {4, "POKETEXT"}, {5, "POKEDATA"},
	{6, "POKEUSER"}, {7, "CONT"}, {8, "KILL"}, {9, "SINGLESTEP"}, {12, "GETREGS"}, {13, "SETREGS"},
	{14, "GETFPREGS"}, {15, "SETFPREGS"}, {16, "ATTACH"}, {17, "DETACH"}, {18, "GETFPXREGS"}, {19, "SETFPXREGS"},
	{24, "SYSCALL"}, {25, "GET_THREAD_AREA"}, {26, "SET_THREAD_AREA"}, {30, "ARCH_PRCTL"}, {31, "SYSEMU"},
	{32, "SYSEMU_SINGLESTEP"}, {33, "SINGLEBLOCK"}, {0x4200, "SETOPTIONS"}, {0x4201, "GETEVENTMSG"},
	{0x4202, "GETSIGINFO"}, {0x4203, "SETSIGINFO"}, {0x4204, "GETREGSET"}, {0x4205, "SETREGSET"}, {0x4206, "SEIZE"},
	{0x4207, "INTERRUPT"}, {0x4208, "LISTEN"}, {0x4209, "PEEKSIGINFO"}, {0x420a, "GETSIGMASK"},
	{0x420b, "SETSIGMASK"}, {0x420c, "SECCOMP_GET_FILTER"}, {0x420d, "SECCOMP_GET_METADATA"},
	{0x420e, "GET_SYSCALL_INFO"}, {0x420f, "GET_RSEQ_CONFIGURATION"}, {0x4210, "SET_SYSCALL_USER_DISPATCH_CONFIG"},
	{0x4211, "GET_SYSCALL_USER_DISPATCH_CONFIG"}, {0x4212, "SET_SYSCALL_INFO"}
};
static const struct value_name names_rename[] = {
	{1, "NOREPLACE"}, {2, "EXCHANGE"}, {4, "WHITEOUT"}
};
// include/uapi/asm-generic/resource.h
static const struct value_name names_rlimit[] = {
	{0, "CPU"}, {1, "FSIZE"}, {2, "DATA"}, {3, "STACK"}, {4, "CORE"}, {5, "RSS"}, {6, "NPROC"}, {7, "NOFILE"},
	{8, "MEMLOCK"}, {9, "AS"}, {10, "LOCKS"}, {11, "SIGPENDING"}, {12, "MSGQUEUE"}, {13, "NICE"}, {14, "RTPRIO"},
	{15, "RTTIME"}
};
static const struct value_name names_rusage[] = {
	{0, "SELF"}, {0xffffffff, "CHILDREN"}, {1, "THREAD"}
};
static const struct value_name names_rwf[] = {
	{1, "HIPRI"}, {2, "DSYNC"}, {4, "SYNC"}, {8, "NOWAIT"}, {16, "APPEND"}, {32, "NOAPPEND"}, {64, "ATOMIC"},
	{128, "DONTCACHE"}
};
static const struct value_name names_seccomp[] = {
	{0, "STRICT"}, {1, "FILTER"}, {2, "GET_ACTION_AVAIL"}, {3, "GET_NOTIF_SIZES"}
};
static const struct value_name names_seccomp_flags[] = {
	{1, "TSYNC"}, {2, "LOG"}, {4, "SPEC_ALLOW"}, {8, "NEW_LISTENER"}, {16, "TSYNC_ESRCH"},
	{32, "WAIT_KILLABLE_RECV"}
};
static const struct value_name names_shm[] = {
	{0x1000, "RDONLY"}, {0x2000, "RND"}, {0x4000, "REMAP"}, {0x8000, "EXEC"}
};
static const struct value_name names_ipc[] = {
	{512, "CREAT"}, {0x400, "EXCL"}, {0x800, "NOWAIT"}
};
static const struct value_name names_shut[] = {
	{0, "RD"}, {1, "WR"}, {2, "RDWR"}
};
static const struct value_name names_sighow[] = {
	{0, "BLOCK"}, {1, "UNBLOCK"}, {2, "SETMASK"}
};
static const struct value_name names_signal[] = {
	{1, "HUP"}, {2, "INT"}, {3, "QUIT"}, {4, "ILL"}, {5, "TRAP"}, {6, "ABRT"}, {7, "BUS"}, {8, "FPE"}, {9, "KILL"},
	{10, "USR1"}, {11, "SEGV"}, {12, "USR2"}, {13, "PIPE"}, {14, "ALRM"}, {15, "TERM"}, {16, "STKFLT"},
	{17, "CHLD"}, {18, "CONT"}, {19, "STOP"}, {20, "TSTP"}, {21, "TTIN"}, {22, "TTOU"}, {23, "URG"}, {24, "XCPU"},
	{25, "XFSZ"}, {26, "VTALRM"}, {27, "PROF"}, {28, "WINCH"}, {29, "IO"}, {30, "PWR"}, {31, "SYS"}
};
// include/linux/socket.h
static const struct value_name names_sol[] = {
	{0, "IP"}, {1, "SOCKET"}, {6, "TCP"}, {17, "UDP"}, {41, "IPV6"}, {58, "ICMPV6"}, {132, "SCTP"},
	{136, "UDPLITE"}, {255, "RAW"}, {256, "IPX"}, {257, "AX25"}, {258, "ATALK"}, {259, "NETROM"}, {260, "ROSE"},
	{261, "DECNET"}, {262, "X25"}, {263, "PACKET"}, {264, "ATM"}, {265, "AAL"}, {266, "IRDA"}, {267, "NETBEUI"},
	{268, "LLC"}, {269, "DCCP"}, {270, "NETLINK"}, {271, "TIPC"}, {272, "RXRPC"}, {273, "PPPOL2TP"},
	{274, "BLUETOOTH"}, {275, "PNPIPE"}, {276, "RDS"}, {277, "IUCV"}, {278, "CAIF"}, {279, "ALG"}, {280, "NFC"},
	{281, "KCM"}, {282, "TLS"}, {283, "XDP"}, {284, "MPTCP"}, {285, "MCTP"}, {286, "SMC"}, {287, "VSOCK"}
};
// include/uapi/asm-generic/socket.h
static const struct value_name names_so[] = {
	{1, "DEBUG"}, {2, "REUSEADDR"}, {3, "TYPE"}, {4, "ERROR"}, {5, "DONTROUTE"}, {6, "BROADCAST"}, {7, "SNDBUF"},
	{8, "RCVBUF"}, {9, "KEEPALIVE"}, {10, "OOBINLINE"}, {11, "NO_CHECK"}, {12, "PRIORITY"}, {13, "LINGER"},
	{14, "BSDCOMPAT"}, {15, "REUSEPORT"}, {16, "PASSCRED"}, {17, "PEERCRED"}, {18, "RCVLOWAT"}, {19, "SNDLOWAT"},
	{20, "RCVTIMEO"}, {21, "SNDTIMEO"}, {22, "SECURITY_AUTHENTICATION"}, {23, "SECURITY_ENCRYPTION_TRANSPORT"},
	{24, "SECURITY_ENCRYPTION_NETWORK"}, {25, "BINDTODEVICE"}, {26, "ATTACH_FILTER"}, {27, "DETACH_FILTER"},
	{28, "PEERNAME"}, {29, "TIMESTAMP"}, {30, "ACCEPTCONN"}, {31, "PEERSEC"}, {32, "SNDBUFFORCE"},
	{33, "RCVBUFFORCE"}, {34, "PASSSEC"}, {35, "TIMESTAMPNS"}, {36, "MARK"}, {37, "TIMESTAMPING"}, {38, "PROTOCOL"},
	{39, "DOMAIN"}, {40, "RXQ_OVFL"}, {41, "WIFI_STATUS"}, {42, "PEEK_OFF"}, {43, "NOFCS"}, {44, "LOCK_FILTER"},
	{45, "SELECT_ERR_QUEUE"}, {46, "BUSY_POLL"}, {47, "MAX_PACING_RATE"}, {48, "BPF_EXTENSIONS"},
	{49, "INCOMING_CPU"}, {50, "ATTACH_BPF"}, {51, "ATTACH_REUSEPORT_CBPF"}, {52, "ATTACH_REUSEPORT_EBPF"},
	{53, "CNX_ADVICE"}, {55, "MEMINFO"}, {56, "INCOMING_NAPI_ID"}, {57, "COOKIE"}, {59, "PEERGROUPS"},
	{60, "ZEROCOPY"}, {61, "TXTIME"}, {62, "BINDTOIFINDEX"}, {63, "TIMESTAMP_NEW"}, {64, "TIMESTAMPNS_NEW"},
	{65, "TIMESTAMPING_NEW"}, {66, "RCVTIMEO_NEW"}, {67, "SNDTIMEO_NEW"}, {68, "DETACH_REUSEPORT_BPF"},
	{69, "PREFER_BUSY_POLL"}, {70, "BUSY_POLL_BUDGET"}, {71, "NETNS_COOKIE"}, {72, "BUF_LOCK"}, {73, "RESERVE_MEM"},
	{74, "TXREHASH"}, {75, "RCVMARK"}, {76, "PASSPIDFD"}, {77, "PEERPIDFD"}, {78, "DEVMEM_LINEAR"},
	{79, "DEVMEM_DMABUF"}, {80, "DEVMEM_DONTNEED"}, {81, "RCVPRIORITY"}, {82, "PASSRIGHTS"}, {83, "INQ"}
};
// include/uapi/linux/net.h
static const struct value_name names_socketcall[] = {
	{1, "SOCKET"}, {2, "BIND"}, {3, "CONNECT"}, {4, "LISTEN"}, {5, "ACCEPT"}, {6, "GETSOCKNAME"},
	{7, "GETPEERNAME"}, {8, "SOCKETPAIR"}, {9, "SEND"}, {10, "RECV"}, {11, "SENDTO"}, {12, "RECVFROM"},
	{13, "SHUTDOWN"}, {14, "SETSOCKOPT"}, {15, "GETSOCKOPT"}, {16, "SENDMSG"}, {17, "RECVMSG"}, {18, "ACCEPT4"},
	{19, "RECVMMSG"}, {20, "SENDMMSG"}
};
static const struct value_name names_splice[] = {
	{1, "MOVE"}, {2, "NONBLOCK"}, {4, "MORE"}, {8, "GIFT"}
};
// include/uapi/linux/stat.h
static const struct value_name names_statx[] = {
	{0x7ff, "BASIC_STATS"}, {1, "TYPE"}, {2, "MODE"}, {4, "NLINK"}, {8, "UID"}, {16, "GID"}, {32, "ATIME"},
	{64, "MTIME"}, {128, "CTIME"}, {256, "INO"}, {512, "SIZE"}, {0x400, "BLOCKS"}, {0x800, "BTIME"},
	{0x1000, "MNT_ID"}, {0x2000, "DIOALIGN"}, {0x4000, "MNT_ID_UNIQUE"}, {0x8000, "SUBVOL"},
	{0x10000, "WRITE_ATOMIC"}, {0x20000, "DIO_READ_ALIGN"}
};
static const struct value_name names_swap[] = {
	{0x8000, "PREFER"}, {0x10000, "DISCARD"}, {0x20000, "DISCARD_ONCE"}, {0x40000, "DISCARD_PAGES"}
};
static const struct value_name names_sync_range[] = {
	{7, "WRITE_AND_WAIT"}, {1, "WAIT_BEFORE"}, {2, "WRITE"}, {4, "WAIT_AFTER"}
};
static const struct value_name names_timer[] = {
	{1, "ABSTIME"}
};
static const struct value_name names_tfd_timer[] = {
	{1, "ABSTIME"}, {2, "CANCEL_ON_SET"}
};
static const struct value_name names_umount[] = {
	{1, "FORCE"}, {2, "DETACH"}, {4, "EXPIRE"}, {8, "NOFOLLOW"}
};
// include/uapi/linux/io_uring.h
static const struct value_name names_uring_enter[] = {
	{1, "GETEVENTS"}, {2, "SQ_WAKEUP"}, {4, "SQ_WAIT"}, {8, "EXT_ARG"}, {16, "REGISTERED_RING"}, {32, "ABS_TIMER"},
	{64, "EXT_ARG_REG"}, {128, "NO_IOWAIT"}
};
static const struct value_name names_uring_register[] = {
	{0, "REGISTER_BUFFERS"}, {1, "UNREGISTER_BUFFERS"}, {2, "REGISTER_FILES"}, {3, "UNREGISTER_FILES"},
	{4, "REGISTER_EVENTFD"}, {5, "UNREGISTER_EVENTFD"}, {6, "REGISTER_FILES_UPDATE"}, {7, "REGISTER_EVENTFD_ASYNC"},
	{8, "REGISTER_PROBE"}, {9, "REGISTER_PERSONALITY"}, {10, "UNREGISTER_PERSONALITY"},
	{11, "REGISTER_RESTRICTIONS"}, {12, "REGISTER_ENABLE_RINGS"}, {13, "REGISTER_FILES2"},
	{14, "REGISTER_FILES_UPDATE2"}, {15, "REGISTER_BUFFERS2"}, {16, "REGISTER_BUFFERS_UPDATE"},
	{17, "REGISTER_IOWQ_AFF"}, {18, "UNREGISTER_IOWQ_AFF"}, {19, "REGISTER_IOWQ_MAX_WORKERS"},
	{20, "REGISTER_RING_FDS"}, {21, "UNREGISTER_RING_FDS"}, {22, "REGISTER_PBUF_RING"},
	{23, "UNREGISTER_PBUF_RING"}, {24, "REGISTER_SYNC_CANCEL"}, {25, "REGISTER_FILE_ALLOC_RANGE"},
	{26, "REGISTER_PBUF_STATUS"}, {27, "REGISTER_NAPI"}, {28, "UNREGISTER_NAPI"}, {29, "REGISTER_CLOCK"},
	{30, "REGISTER_CLONE_BUFFERS"}, {31, "REGISTER_SEND_MSG_RING"}, {32, "REGISTER_ZCRX_IFQ"},
	{33, "REGISTER_RESIZE_RINGS"}, {34, "REGISTER_MEM_REGION"}
};
// include/uapi/linux/wait.h
static const struct value_name names_wait[] = {
	{1, "NOHANG"}, {2, "UNTRACED"}, {4, "EXITED"}, {8, "CONTINUED"}, {0x1000000, "NOWAIT"},
	{0x20000000, "NOTHREAD"}, {0x40000000, "ALL"}, {0x80000000, "CLONE"}
};
static const struct value_name names_whence[] = {
	{0, "SET"}, {1, "CUR"}, {2, "END"}, {3, "DATA"}, {4, "HOLE"}
};
static const struct value_name names_xattr[] = {
	{1, "CREATE"}, {2, "REPLACE"}
};
// include/uapi/asm-generic/fcntl.h
static const struct value_name names_open[] = {
	{2, "RDWR"}, {0x400, "APPEND"}, {0x2000, "ASYNC"}, {0x80000, "CLOEXEC"}, {64, "CREAT"}, {0x4000, "DIRECT"},
	{0x10000, "DIRECTORY"}, {128, "EXCL"}, {0x8000, "LARGEFILE"}, {0x20000, "NOFOLLOW"}, {0x400000, "TMPFILE"},
	{0x40000, "NOATIME"}, {256, "NOCTTY"}, {0x800, "NONBLOCK"}, {0x200000, "PATH"}, {0x101000, "SYNC"},
	{0x1000, "DSYNC"}, {512, "TRUNC"}, {1, "WRONLY"}
};
// clang-format on

#define NAMES(prefix_, list, form_, zero)                                                          \
	{                                                                                          \
		.prefix = prefix_, .names = list, .n = ARRAY_SIZE(list), .form = form_,            \
		.shows_zero = zero                                                                 \
	}

static const struct value_names kinds[ARG_KINDS] = {
	[ARG_AF] = NAMES("PF_", names_af, NAMES_ONE, true),
	[ARG_ARCH_PRCTL] = NAMES("ARCH_", names_arch_prctl, NAMES_ONE_HEX, false),
	[ARG_AT] = NAMES("AT_", names_at, NAMES_FLAGS, false),
	[ARG_BPF_CMD] = NAMES("BPF_", names_bpf_cmd, NAMES_ONE, true),
	[ARG_CLOCK] = NAMES("CLOCK_", names_clock, NAMES_ONE, true),
	[ARG_CLOEXEC_FLAGS] = NAMES("O_", names_cloexec_flags, NAMES_FLAGS, false),
	[ARG_CLONE] = NAMES("CLONE_", names_clone, NAMES_FLAGS, false),
	[ARG_CLOSE_RANGE] = NAMES("CLOSE_RANGE_", names_close_range, NAMES_FLAGS, false),
	[ARG_EPOLL_OP] = NAMES("EPOLL_CTL_", names_epoll_op, NAMES_ONE, true),
	[ARG_EVENTFD] = NAMES("EFD_", names_eventfd, NAMES_FLAGS, false),
	[ARG_FADVISE] = NAMES("POSIX_FADV_", names_fadvise, NAMES_ONE, false),
	[ARG_FALLOC] = NAMES("FALLOC_FL_", names_falloc, NAMES_FLAGS, false),
	[ARG_FCNTL_CMD] = NAMES("F_", names_fcntl_cmd, NAMES_ONE, true),
	[ARG_FD_FLAGS] = NAMES("FD_", names_fd_flags, NAMES_FLAGS, false),
	[ARG_FLOCK] = NAMES("LOCK_", names_flock, NAMES_FLAGS, false),
	[ARG_FSCONFIG] = NAMES("FSCONFIG_", names_fsconfig, NAMES_ONE, true),
	[ARG_FSMOUNT] = NAMES("FSMOUNT_", names_fsmount, NAMES_FLAGS, false),
	[ARG_FSOPEN] = NAMES("FSOPEN_", names_fsopen, NAMES_FLAGS, false),
	[ARG_FSPICK] = NAMES("FSPICK_", names_fspick, NAMES_FLAGS, false),
	[ARG_FUTEX_OP] = NAMES("FUTEX_", names_futex_op, NAMES_ONE_HEX, true),
	[ARG_FUTEX_VAL3] = NAMES("FUTEX_BITSET_", names_futex_val3, NAMES_ONE_HEX, false),
	[ARG_GRND] = NAMES("GRND_", names_grnd, NAMES_FLAGS, false),
	[ARG_ID_TYPE] = NAMES("P_", names_id_type, NAMES_ONE, true),
	[ARG_INOTIFY] = NAMES("IN_", names_inotify, NAMES_FLAGS, false),
	[ARG_IPC] = NAMES("IPC_", names_ipc, NAMES_FLAGS, false),
	[ARG_IPPROTO] = NAMES("IPPROTO_", names_ipproto, NAMES_ONE, false),
	[ARG_ITIMER] = NAMES("ITIMER_", names_itimer, NAMES_ONE, true),
	[ARG_KCMP] = NAMES("KCMP_", names_kcmp, NAMES_ONE, false),
	[ARG_KEYCTL] = NAMES("KEYCTL_", names_keyctl, NAMES_ONE, true),
	[ARG_MADVISE] = NAMES("", names_madvise, NAMES_ONE, false),
	[ARG_MAP] = NAMES("MAP_", names_map, NAMES_FLAGS, false),
	[ARG_MCL] = NAMES("MCL_", names_mcl, NAMES_FLAGS, false),
	[ARG_MEMBARRIER] = NAMES("MEMBARRIER_CMD_", names_membarrier, NAMES_ONE, true),
	[ARG_MEMFD] = NAMES("MFD_", names_memfd, NAMES_FLAGS, false),
	[ARG_MLOCK] = NAMES("MLOCK_", names_mlock, NAMES_FLAGS, false),
	[ARG_MODE] = NAMES("S_", names_mode, NAMES_FLAGS, false),
	[ARG_MOUNT] = NAMES("MS_", names_mount, NAMES_FLAGS, false),
	[ARG_MOUNT_ATTR] = NAMES("MOUNT_ATTR_", names_mount_attr, NAMES_FLAGS, false),
	[ARG_MOVE_MOUNT] = NAMES("MOVE_MOUNT_", names_move_mount, NAMES_FLAGS, false),
	[ARG_MREMAP] = NAMES("MREMAP_", names_mremap, NAMES_FLAGS, false),
	[ARG_MSG] = NAMES("MSG_", names_msg, NAMES_FLAGS, false),
	[ARG_MSYNC] = NAMES("MS_", names_msync, NAMES_FLAGS, false),
	[ARG_OPEN] = NAMES("O_", names_open, NAMES_FLAGS, false),
	[ARG_PERF_FLAGS] = NAMES("PERF_FLAG_", names_perf_flags, NAMES_FLAGS, false),
	[ARG_PIPE] = NAMES("O_", names_pipe, NAMES_FLAGS, false),
	[ARG_PKEY] = NAMES("PKEY_", names_pkey, NAMES_FLAGS, false),
	[ARG_PRCTL] = NAMES("PR_", names_prctl, NAMES_ONE, false),
	[ARG_PRCTL_MM] = NAMES("PR_SET_MM_", names_prctl_mm, NAMES_ONE, false),
	[ARG_PRIO] = NAMES("PRIO_", names_prio, NAMES_ONE, true),
	[ARG_PROT] = NAMES("PROT_", names_prot, NAMES_FLAGS, false),
	[ARG_PTRACE] = NAMES("PTRACE_", names_ptrace, NAMES_ONE_HEX, true),
	[ARG_RENAME] = NAMES("RENAME_", names_rename, NAMES_FLAGS, false),
	[ARG_RLIMIT] = NAMES("RLIMIT_", names_rlimit, NAMES_ONE, true),
	[ARG_RUSAGE] = NAMES("RUSAGE_", names_rusage, NAMES_ONE, true),
	[ARG_RWF] = NAMES("RWF_", names_rwf, NAMES_FLAGS, false),
	[ARG_SECCOMP] = NAMES("SECCOMP_SET_MODE_", names_seccomp, NAMES_ONE_HEX, true),
	[ARG_SECCOMP_FLAGS] = NAMES("SECCOMP_FILTER_FLAG_", names_seccomp_flags, NAMES_FLAGS, false),
	[ARG_SHM] = NAMES("SHM_", names_shm, NAMES_FLAGS, false),
	[ARG_SHUT] = NAMES("SHUT_", names_shut, NAMES_ONE, true),
	[ARG_SIGHOW] = NAMES("SIG_", names_sighow, NAMES_ONE, true),
	[ARG_SIGNAL] = NAMES("SIG", names_signal, NAMES_ONE_HEX, false),
	[ARG_SO] = NAMES("SO_", names_so, NAMES_ONE, false),
	[ARG_SOCKETCALL] = NAMES("SYS_", names_socketcall, NAMES_ONE, false),
	[ARG_SOCK_FLAGS] = NAMES("SOCK_", names_sock_flags, NAMES_FLAGS, false),
	[ARG_SOL] = NAMES("SOL_", names_sol, NAMES_ONE, true),
	[ARG_SPLICE] = NAMES("SPLICE_F_", names_splice, NAMES_FLAGS, false),
	[ARG_STATX] = NAMES("STATX_", names_statx, NAMES_FLAGS, false),
	[ARG_SWAP] = NAMES("SWAP_FLAG_", names_swap, NAMES_FLAGS, false),
	[ARG_SYNC_RANGE] = NAMES("SYNC_FILE_RANGE_", names_sync_range, NAMES_FLAGS, false),
	[ARG_TFD_TIMER] = NAMES("TFD_TIMER_", names_tfd_timer, NAMES_FLAGS, false),
	[ARG_TIMER] = NAMES("TIMER_", names_timer, NAMES_FLAGS, false),
	[ARG_UMOUNT] = NAMES("MNT_", names_umount, NAMES_FLAGS, false),
	[ARG_UNLINKAT] = NAMES("AT_", names_unlinkat, NAMES_FLAGS, false),
	[ARG_URING_ENTER] = NAMES("IORING_ENTER_", names_uring_enter, NAMES_FLAGS, false),
	[ARG_URING_REGISTER] = NAMES("IORING_", names_uring_register, NAMES_ONE, true),
	[ARG_WAIT] = NAMES("W", names_wait, NAMES_FLAGS, false),
	[ARG_WHENCE] = NAMES("SEEK_", names_whence, NAMES_ONE, true),
	[ARG_XATTR] = NAMES("XATTR_", names_xattr, NAMES_FLAGS, false),
};

const struct value_names *value_names(unsigned kind)
{
	return &kinds[kind];
}
