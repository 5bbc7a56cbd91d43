// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/core/elsewhere.h"
#include "base/alloc.h"
#include "base/str.h"

struct elsewhere {
	const char *name, *line;
};

#define IO "sonde prof multi-trace -e block:block_rq_issue -e block:block_rq_complete -k sector"
#define FAULTS "sonde prof trace -e exceptions:page_fault_user"

// Of bcc, bpftrace, perf-prof, perf and others. Names in capitals are for the user to fill in.
static const struct elsewhere table[] = {
	{"argdist", "sonde prof num-dist -e 'SYSTEM:EVENT//num=FIELD/'"},
	{"bindsnoop", "sonde trace -a -e bind"},
	{"biosnoop", IO " --than 1us"},
	{"biostacks", "sonde record -e block:block_rq_issue -g -a"},
	{"biotop", "sonde prof top -e block:block_rq_issue//top-by=nr_sector/comm=comm/ --only-comm"},
	{"bitesize", "sonde prof num-dist -e block:block_rq_issue//num=nr_sector/"},
	{"blktrace", IO},
	{"breakpoint", "sonde prof trace -e 'breakpoint/\"0xADDRESS/4:rw\"/'"},
	{"capable", "sonde prof trace -e capability:cap_capable"},
	{"cpudist", "sonde prof task-state"},
	{"cpuwalk", "sonde prof oncpu"},
	{"drsnoop",
	 "sonde prof multi-trace -e vmscan:mm_vmscan_direct_reclaim_begin -e vmscan:mm_vmscan_direct_reclaim_end --than 1us"},
	{"execsnoop", "sonde trace -a -e execve,execveat"},
	{"exitsnoop", "sonde prof trace -e sched:sched_process_exit"},
	{"ftrace", "sonde prof trace -e kprobe:FUNCTION"},
	{"funccount", "sonde prof stat -e kprobe:FUNCTION"},
	{"funclatency", "sonde prof multi-trace -e kprobe:FUNCTION -e kretprobe:FUNCTION"},
	{"funcslower", "sonde prof multi-trace -e kprobe:FUNCTION -e kretprobe:FUNCTION --than 1ms"},
	{"hardirqs", "sonde prof multi-trace -e irq:irq_handler_entry -e irq:irq_handler_exit -k irq"},
	{"irq-off",
	 "sonde prof multi-trace -e irq:irq_handler_entry -e irq:irq_handler_exit -k irq --than 1ms"},
	{"killsnoop", "sonde trace -a -e kill,tkill,tgkill"},
	{"kvm", "sonde prof multi-trace -e kvm:kvm_exit -e kvm:kvm_entry"},
	{"kvm-exit", "sonde prof multi-trace -e kvm:kvm_exit -e kvm:kvm_entry"},
	{"kvmexit", "sonde prof multi-trace -e kvm:kvm_exit -e kvm:kvm_entry"},
	{"kwork",
	 "sonde prof multi-trace -e workqueue:workqueue_execute_start -e workqueue:workqueue_execute_end -k work"},
	{"latencytop", "sonde prof task-state -S -D -g"},
	{"llcstat", "sonde stat -a -e LLC-loads,LLC-load-misses"},
	{"mountsnoop", "sonde trace -a -e mount,umount2"},
	{"mpstat", "sonde prof cpu-util"},
	{"offcputime", "sonde prof trace -e sched:sched_switch -g --flame-graph offcpu"},
	{"oomkill", "sonde prof trace -e oom:mark_victim"},
	{"opensnoop", "sonde trace -a -e open,openat,openat2"},
	{"page-faults", FAULTS},
	{"pidpersec", "sonde prof stat -e sched:sched_process_fork"},
	{"runqslower", "sonde prof rundelay --than 10ms"},
	{"sched", "sonde prof rundelay"},
	{"shmsnoop", "sonde trace -a -e shmget,shmat,shmdt,shmctl"},
	{"sigsnoop", "sonde prof trace -e signal:signal_generate"},
	{"slabratetop",
	 "sonde prof top -e 'kmem:kmem_cache_alloc//top-by=bytes_alloc/comm=ksymbol(call_site)/' --only-comm"},
	{"softirqs", "sonde prof multi-trace -e irq:softirq_entry -e irq:softirq_exit -k vec"},
	{"stackcount", "sonde record -e SYSTEM:EVENT -g -a"},
	{"statsnoop", "sonde trace -a -e stat,newfstatat,statx"},
	{"strace", "sonde trace COMMAND"},
	{"syncsnoop", "sonde trace -a -e sync,fsync,fdatasync,syncfs,msync"},
	{"syscount", "sonde trace -a -s"},
	{"tcpaccept", "sonde trace -a -e accept,accept4"},
	{"tcpconnect", "sonde trace -a -e connect"},
	{"tcpdrop", "sonde prof trace -e skb:kfree_skb -g"},
	{"tcplife", "sonde prof trace -e sock:inet_sock_set_state"},
	{"tcpretrans", "sonde prof trace -e tcp:tcp_retransmit_skb"},
	{"tcprtt", "sonde prof num-dist -e tcp:tcp_probe//num=srtt/"},
	{"tcpstates", "sonde prof trace -e sock:inet_sock_set_state"},
	{"threadsnoop", "sonde trace -a -e clone,clone3"},
	{"timechart", "sonde prof task-state --perins"},
	{"tplist", "sonde list"},
	{"vfsstat", "sonde trace -a -s -e read,write,fsync,openat"},
	{"wakeuptime", "sonde prof trace -e sched:sched_wakeup -g --flame-graph wakeups"},
	{"xfsslower", "sonde trace -a --duration 10 -e read,write,openat,fsync"},
	{"ext4slower", "sonde trace -a --duration 10 -e read,write,openat,fsync"},
	{"fileslower", "sonde trace -a --duration 10 -e read,write,openat,fsync"},
};

const char *elsewhere_line(const char *name)
{
	static const char *const endings[] = {"-bpfcc", ".bt", ".py"};
	struct str bare = str_of(name);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (text_ends(name, endings[i]))
			bare.n = strlen(name) - strlen(endings[i]);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (str_is(bare, table[i].name))
			return table[i].line;
	return NULL;
}
