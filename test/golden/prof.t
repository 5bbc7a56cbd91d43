# profilers over a recording: --from
R=$T/data/prof.data.gz
sonde prof trace -e sched:sched_wakeup,sched:sched_migrate_task --from $R -N 6
sonde prof trace -e 'sched:sched_wakeup/comm~work-b/' --from $R
sonde prof trace -e 'sched:sched_wakeup/comm~work-b/' --from $R --format csv
sonde prof trace -e 'sched:sched_wakeup/comm~work-b/' --from $R --format json
sonde prof top -e sched:sched_wakeup//key=pid/100/ --from $R
sonde prof task-state help | head -3
sonde prof syscalls --from $R help | head -5
sonde prof trace -e 'sched:sched_wakeup//exec="printf("PID=%d %s\n", pid*10, prio>120?"LO PRIO":"HI PRIO")"/' --from $R -N 2
sonde prof stat -e sched:sched_switch,sched:sched_wakeup --from $R
sonde prof stat -e sched:sched_switch,sched:sched_wakeup --period 50ms -i 200 --perins --from $R
sonde prof stat -e sched:sched_switch,sched:sched_wakeup --period 20ms -i 200 --from $R
sonde prof hrcount -e sched:sched_switch --period 10ms -i 100 --from $R
sonde prof top -e sched:sched_switch//key=prev_pid/comm=prev_comm/,sched:sched_wakeup//key=pid/alias=woken/ --from $R
sonde prof top -e raw_syscalls:sys_enter//key=id/ --from $R --format csv | head -4
sonde prof top -e sched:sched_wakeup//comm=comm/ --only-comm --from $R
sonde prof num-dist -e sched:sched_switch//num=prev_prio/,sched:sched_wakeup//num=prio+1/alias=next/ --from $R --than 129 | tail -5
sonde prof multi-trace -e sched:sched_wakeup//key=pid/ -e sched:sched_switch//key=next_pid/ --from $R --than 4ms --detail=samekey,+1ms
sonde prof multi-trace -e sched:sched_switch//key=prev_pid/ -e sched:sched_wakeup//key=pid/ --from $R --perins --format json | tail -2
sonde prof multi-trace -e sched:sched_wakeup//key=pid/ -e sched:sched_switch//key=next_pid/ --impl pair --from $R
sonde prof multi-trace -e 'sched:sched_switch//role="(next_pid?1:0)|(prev_pid?2:0)"/' --cycle --from $R
sonde prof rundelay --from $R --than 25ms --detail=samecpu
sonde prof multi-trace -e sched:sched_wakeup//key=pid/ -e sched:sched_switch//key=next_pid/ --from $R --than 10ms '--detail=samecpu,hide<100ms'
sonde prof multi-trace -e sched:sched_wakeup//key=pid/ -e sched:sched_switch//key=next_pid/ --from $R --than 10ms '--detail=samecpu,hide<4ms'
sonde prof task-state --from $R
sonde prof task-state --from $R --filter 'work*' -S --than 15ms
sonde prof task-state --from $R --perins -p 11026
sonde prof syscalls --from $R --than 20ms
sonde prof nested-trace -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -k common_pid --from $R
sonde prof oncpu --detail --from $R
sonde prof sched-migrate --from $R
sonde prof cpu-util --from $R
sonde prof event-lost -e sched:sched_switch --from $R
sonde prof sql -e sched:sched_switch,sched:sched_wakeup --from $R --query 'SELECT comm, COUNT(*) AS n FROM sched_wakeup GROUP BY comm; SELECT w.pid, MIN(s._time - w._time) AS delay FROM sched_wakeup w JOIN sched_switch s ON s.next_pid = w.pid WHERE s._time > w._time GROUP BY w.pid'

# what is wrong is one sentence
sonde prof nothing
sonde prof trac
sonde prof trace
sonde prof trace -e sched:sched_wakeup --period 1 --from $R
sonde prof trace -e sched:sched_wake --from $R
sonde prof trace -e sched:sched_wakeup//kee=pid/ --from $R
sonde prof top -e sched:sched_wakeup//kez=pid/ --from $R
sonde prof top -e sched:sched_wakeup//key=pdi/ --from $R
sonde prof top -e sched:sched_wakeup//key=comm/ --from $R
sonde prof trace -e 'sched:sched_wakeup/pdi<10/' --from $R
sonde prof trace -e 'sched:sched_wakeup///' --from $R
sonde prof trace -m 3 -e sched:sched_wakeup
sonde prof multi-trace -e sched:sched_wakeup --from $R
sonde prof multi-trace -e sched:sched_wakeup -e sched:sched_switch --than 10xyz --from $R
sonde prof multi-trace -e sched:sched_wakeup -e sched:sched_switch --detail=foo --from $R
sonde prof syscalls -e sched:sched_wakeup --from $R
sonde prof num-dist -e sched:sched_wakeup --from $R
sonde prof sql -e sched:sched_wakeup --from $R
sonde prof sql -e sched:sched_wakeup --query 'SELECT nix FROM sched_wakeup' --from $R
sonde prof trace -e sched:sched_wakeup --from $R -- true
sonde prof top -e sched:sched_wakeup//key=/ --from $R
sonde prof trace -e sched:sched_wakeup//stack=1/ --from $R
sonde prof top -e sched:sched_wakeup//key=pid/prio/ --from $R
sonde prof trace -e sched:sched_wakeup --watermark 500 --from $R
sonde prof sql -e sched:sched_wakeup --query '' --from $R
sonde prof percpu-stat --from $R
