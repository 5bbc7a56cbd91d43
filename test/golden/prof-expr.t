# expressions over the fields of recorded events
d=$T/data/prof.data.gz
expr() { sonde prof expr --from "$d" "$@" 2>&1; echo "exit $?"; }
expr -e sched:sched_wakeup 'prio > 100 ? pid * 10 : -1' -v -N 3
expr -e sched:sched_wakeup 'comm' -N 3
expr -e sched:sched_wakeup 'comm ~ "work*" && pid != 0 || target_cpu == 1' -v -N 2
expr -e sched:sched_wakeup '(unsigned char)(pid << 4 ^ prio), sizeof(comm) + ntohs(target_cpu)' -N 2
expr -e sched:sched_wakeup 'printf("%5d %-16s|%#x\n", pid, comm, prio++ + prio)' -N 3
expr -e sched:sched_wakeup '(char *)&common_type + 8' -N 1
expr -e sched:sched_wakeup 'max(_cpu, 0) == target_cpu ? min(_tid, 3u) : -1l' -N 2
expr -e sched:sched_wakeup '1 / (prio - 120)' -N 3
expr -e sched:sched_wakeup '*(long *)(long)pid' -N 3
expr -e sched:sched_wakeup 'comm[prio]' -N 3
expr -e sched:sched_wakeup 'pid + prioo' -N 1
expr -e sched:sched_wakeup 'printf("%s", pid)' -N 1
expr -e sched:sched_wakeup -N 1
