// SPDX-License-Identifier: GPL-2.0-or-later
// Names of ioctl requests by their type and number.
#include "abi/syscall_names.h"
#include "base/alloc.h"

// clang-format off
// include/uapi/linux/fs.h
static const struct value_name ioctls_12[] = {
	{93, "BLKROSET"}, {94, "BLKROGET"}, {95, "BLKRRPART"}, {96, "BLKGETSIZE"}, {97, "BLKFLSBUF"}, {98, "BLKRASET"},
	{99, "BLKRAGET"}, {100, "BLKFRASET"}, {101, "BLKFRAGET"}, {102, "BLKSECTSET"}, {103, "BLKSECTGET"},
	{104, "BLKSSZGET"}, {105, "BLKPG"}, {112, "BLKBSZGET"}, {113, "BLKBSZSET"}, {114, "BLKGETSIZE64"},
	{119, "BLKDISCARD"}, {120, "BLKIOMIN"}, {121, "BLKIOOPT"}, {122, "BLKALIGNOFF"}, {123, "BLKPBSZGET"},
	{124, "BLKDISCARDZEROES"}, {125, "BLKSECDISCARD"}, {126, "BLKROTATIONAL"}, {127, "BLKZEROOUT"}
};
// include/uapi/linux/perf_event.h
static const struct value_name ioctls_24[] = {
	{0, "PERF_ENABLE"}, {1, "PERF_DISABLE"}, {2, "PERF_REFRESH"}, {3, "PERF_RESET"}, {4, "PERF_PERIOD"},
	{5, "PERF_SET_OUTPUT"}, {6, "PERF_SET_FILTER"}, {7, "PERF_ID"}, {8, "PERF_SET_BPF"}, {9, "PERF_PAUSE_OUTPUT"},
	{10, "PERF_QUERY_BPF"}, {11, "PERF_MODIFY_ATTRIBUTES"}
};
// include/uapi/linux/loop.h
static const struct value_name ioctls_4c[] = {
	{0, "LOOP_SET_FD"}, {1, "LOOP_CLR_FD"}, {2, "LOOP_SET_STATUS"}, {3, "LOOP_GET_STATUS"},
	{4, "LOOP_SET_STATUS64"}, {5, "LOOP_GET_STATUS64"}, {6, "LOOP_CHANGE_FD"}, {7, "LOOP_SET_CAPACITY"},
	{8, "LOOP_SET_DIRECT_IO"}, {9, "LOOP_SET_BLOCK_SIZE"}, {10, "LOOP_CONFIGURE"}, {128, "LOOP_CTL_ADD"},
	{129, "LOOP_CTL_REMOVE"}, {130, "LOOP_CTL_GET_FREE"}
};
// include/uapi/linux/random.h
static const struct value_name ioctls_52[] = {
	{0, "RNDGETENTCNT"}, {1, "RNDADDTOENTCNT"}, {2, "RNDGETPOOL"}, {3, "RNDADDENTROPY"}, {4, "RNDZAPENTCNT"},
	{5, "RNDCLEARPOOL"}, {7, "RNDRESEEDCRNG"}
};
// arch/x86 and include/uapi/asm-generic/ioctls.h
static const struct value_name ioctls_54[] = {
	{1, "TCGETS"}, {2, "TCSETS"}, {3, "TCSETSW"}, {4, "TCSETSF"}, {5, "TCGETA"}, {6, "TCSETA"}, {7, "TCSETAW"},
	{8, "TCSETAF"}, {9, "TCSBRK"}, {10, "TCXONC"}, {11, "TCFLSH"}, {12, "TIOCEXCL"}, {13, "TIOCNXCL"},
	{14, "TIOCSCTTY"}, {15, "TIOCGPGRP"}, {16, "TIOCSPGRP"}, {17, "TIOCOUTQ"}, {18, "TIOCSTI"}, {19, "TIOCGWINSZ"},
	{20, "TIOCSWINSZ"}, {21, "TIOCMGET"}, {22, "TIOCMBIS"}, {23, "TIOCMBIC"}, {24, "TIOCMSET"},
	{25, "TIOCGSOFTCAR"}, {26, "TIOCSSOFTCAR"}, {27, "FIONREAD"}, {28, "TIOCLINUX"}, {29, "TIOCCONS"},
	{30, "TIOCGSERIAL"}, {31, "TIOCSSERIAL"}, {32, "TIOCPKT"}, {33, "FIONBIO"}, {34, "TIOCNOTTY"}, {35, "TIOCSETD"},
	{36, "TIOCGETD"}, {37, "TCSBRKP"}, {39, "TIOCSBRK"}, {40, "TIOCCBRK"}, {41, "TIOCGSID"}, {42, "TCGETS2"},
	{43, "TCSETS2"}, {44, "TCSETSW2"}, {45, "TCSETSF2"}, {46, "TIOCGRS485"}, {47, "TIOCSRS485"}, {48, "TIOCGPTN"},
	{49, "TIOCSPTLCK"}, {50, "TIOCGDEV"}, {51, "TCSETX"}, {52, "TCSETXF"}, {53, "TCSETXW"}, {54, "TIOCSIG"},
	{55, "TIOCVHANGUP"}, {56, "TIOCGPKT"}, {57, "TIOCGPTLCK"}, {64, "TIOCGEXCL"}, {65, "TIOCGPTPEER"},
	{66, "TIOCGISO7816"}, {67, "TIOCSISO7816"}, {80, "FIONCLEX"}, {81, "FIOCLEX"}, {82, "FIOASYNC"},
	{83, "TIOCSERCONFIG"}, {84, "TIOCSERGWILD"}, {85, "TIOCSERSWILD"}, {86, "TIOCGLCKTRMIOS"},
	{87, "TIOCSLCKTRMIOS"}, {88, "TIOCSERGSTRUCT"}, {89, "TIOCSERGETLSR"}, {90, "TIOCSERGETMULTI"},
	{91, "TIOCSERSETMULTI"}, {92, "TIOCMIWAIT"}, {93, "TIOCGICOUNT"}, {96, "FIOQSIZE"}
};
// include/uapi/linux/fs.h
static const struct value_name ioctls_58[] = {
	{31, "FS_IOC_FSGETXATTR"}, {32, "FS_IOC_FSSETXATTR"}, {119, "FIFREEZE"}, {120, "FITHAW"}, {121, "FITRIM"}
};
// include/uapi/linux/fs.h
static const struct value_name ioctls_66[] = {
	{1, "FS_IOC_GETFLAGS"}, {2, "FS_IOC_SETFLAGS"}, {11, "FS_IOC_FIEMAP"}
};
// include/uapi/linux/sockios.h
static const struct value_name ioctls_89[] = {
	{1, "FIOSETOWN"}, {2, "SIOCSPGRP"}, {3, "FIOGETOWN"}, {4, "SIOCGPGRP"}, {5, "SIOCATMARK"}, {11, "SIOCADDRT"},
	{12, "SIOCDELRT"}, {16, "SIOCGIFNAME"}, {18, "SIOCGIFCONF"}, {19, "SIOCGIFFLAGS"}, {20, "SIOCSIFFLAGS"},
	{21, "SIOCGIFADDR"}, {22, "SIOCSIFADDR"}, {23, "SIOCGIFDSTADDR"}, {25, "SIOCGIFBRDADDR"},
	{27, "SIOCGIFNETMASK"}, {28, "SIOCSIFNETMASK"}, {29, "SIOCGIFMETRIC"}, {33, "SIOCGIFMTU"}, {34, "SIOCSIFMTU"},
	{35, "SIOCSIFNAME"}, {36, "SIOCSIFHWADDR"}, {39, "SIOCGIFHWADDR"}, {49, "SIOCADDMULTI"}, {50, "SIOCDELMULTI"},
	{51, "SIOCGIFINDEX"}, {66, "SIOCGIFTXQLEN"}, {67, "SIOCSIFTXQLEN"}, {70, "SIOCETHTOOL"}, {71, "SIOCGMIIPHY"},
	{72, "SIOCGMIIREG"}, {83, "SIOCDARP"}, {84, "SIOCGARP"}, {85, "SIOCSARP"}, {144, "SIOCBONDENSLAVE"},
	{160, "SIOCBRADDBR"}, {161, "SIOCBRDELBR"}, {162, "SIOCBRADDIF"}, {163, "SIOCBRDELIF"}, {176, "SIOCSHWTSTAMP"},
	{177, "SIOCGHWTSTAMP"}
};
// include/uapi/linux/fs.h
static const struct value_name ioctls_94[] = {
	{9, "FICLONE"}, {13, "FICLONERANGE"}, {54, "FIDEDUPERANGE"}
};
// include/uapi/linux/kvm.h
static const struct value_name ioctls_ae[] = {
	{0, "KVM_GET_API_VERSION"}, {1, "KVM_CREATE_VM"}, {2, "KVM_GET_MSR_INDEX_LIST"}, {3, "KVM_CHECK_EXTENSION"},
	{4, "KVM_GET_VCPU_MMAP_SIZE"}, {5, "KVM_GET_SUPPORTED_CPUID"}, {65, "KVM_CREATE_VCPU"},
	{66, "KVM_GET_DIRTY_LOG"}, {70, "KVM_SET_USER_MEMORY_REGION"}, {71, "KVM_SET_TSS_ADDR"},
	{72, "KVM_SET_IDENTITY_MAP_ADDR"}, {96, "KVM_CREATE_IRQCHIP"}, {97, "KVM_IRQ_LINE"}, {98, "KVM_GET_IRQCHIP"},
	{99, "KVM_SET_IRQCHIP"}, {103, "KVM_IRQ_LINE_STATUS"}, {106, "KVM_SET_GSI_ROUTING"}, {118, "KVM_IRQFD"},
	{119, "KVM_CREATE_PIT2"}, {121, "KVM_IOEVENTFD"}, {128, "KVM_RUN"}, {129, "KVM_GET_REGS"},
	{130, "KVM_SET_REGS"}, {131, "KVM_GET_SREGS"}, {132, "KVM_SET_SREGS"}, {133, "KVM_TRANSLATE"},
	{134, "KVM_INTERRUPT"}, {136, "KVM_GET_MSRS"}, {137, "KVM_SET_MSRS"}, {138, "KVM_SET_CPUID"},
	{139, "KVM_SET_SIGNAL_MASK"}, {140, "KVM_GET_FPU"}, {141, "KVM_SET_FPU"}, {142, "KVM_GET_LAPIC"},
	{143, "KVM_SET_LAPIC"}, {144, "KVM_SET_CPUID2"}, {152, "KVM_GET_MP_STATE"}, {153, "KVM_SET_MP_STATE"},
	{154, "KVM_NMI"}, {159, "KVM_GET_VCPU_EVENTS"}, {160, "KVM_SET_VCPU_EVENTS"}, {171, "KVM_GET_ONE_REG"},
	{172, "KVM_SET_ONE_REG"}, {224, "KVM_CREATE_DEVICE"}, {225, "KVM_SET_DEVICE_ATTR"}, {226, "KVM_GET_DEVICE_ATTR"}
};
// include/uapi/linux/vhost.h
static const struct value_name ioctls_af[] = {
	{0, "VHOST_SET_FEATURES"}, {1, "VHOST_SET_OWNER"}, {2, "VHOST_RESET_OWNER"}, {3, "VHOST_SET_MEM_TABLE"},
	{4, "VHOST_SET_LOG_BASE"}, {7, "VHOST_SET_LOG_FD"}, {16, "VHOST_SET_VRING_NUM"}, {17, "VHOST_SET_VRING_ADDR"},
	{18, "VHOST_SET_VRING_BASE"}, {32, "VHOST_SET_VRING_KICK"}, {33, "VHOST_SET_VRING_CALL"},
	{34, "VHOST_SET_VRING_ERR"}, {48, "VHOST_NET_SET_BACKEND"}
};
// include/uapi/linux/nsfs.h
static const struct value_name ioctls_b7[] = {
	{1, "NS_GET_USERNS"}, {2, "NS_GET_PARENT"}, {3, "NS_GET_NSTYPE"}, {4, "NS_GET_OWNER_UID"}
};
// clang-format on

static const struct {
	unsigned type;
	const struct value_name *names;
	size_t n;
} ioctls[] = {
	{0x12, ioctls_12, ARRAY_SIZE(ioctls_12)}, {0x24, ioctls_24, ARRAY_SIZE(ioctls_24)},
	{0x4c, ioctls_4c, ARRAY_SIZE(ioctls_4c)}, {0x52, ioctls_52, ARRAY_SIZE(ioctls_52)},
	{0x54, ioctls_54, ARRAY_SIZE(ioctls_54)}, {0x58, ioctls_58, ARRAY_SIZE(ioctls_58)},
	{0x66, ioctls_66, ARRAY_SIZE(ioctls_66)}, {0x89, ioctls_89, ARRAY_SIZE(ioctls_89)},
	{0x94, ioctls_94, ARRAY_SIZE(ioctls_94)}, {0xae, ioctls_ae, ARRAY_SIZE(ioctls_ae)},
	{0xaf, ioctls_af, ARRAY_SIZE(ioctls_af)}, {0xb7, ioctls_b7, ARRAY_SIZE(ioctls_b7)},
};

const char *ioctl_name(unsigned type, unsigned number)
{
	for (size_t i = 0; i < ARRAY_SIZE(ioctls); i++) {
		if (ioctls[i].type != type)
			continue;
		for (size_t k = 0; k < ioctls[i].n; k++) {
			if (ioctls[i].names[k].value == number)
				return ioctls[i].names[k].name;
		}
	}
	return NULL;
}
