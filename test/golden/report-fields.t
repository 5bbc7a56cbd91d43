# Fields of tracepoints whose events share a table: each has its own values, and N/A where its event has no such field.
r=$T/data/tracepoints.data
for options in "-s comm,old_pid" "-s prio,comm,brk" "--hierarchy -s comm,prio,__syscall_nr" "--raw-trace" "--format csv -s comm,pid"; do
	sonde report --stdio --group $options -i $r 2>/dev/null | grep -v '^$'
done
# A text of variable length is whole.
sonde report --stdio --raw-trace -s comm,sched:sched_process_exec.filename -i $r 2>/dev/null | grep thing
