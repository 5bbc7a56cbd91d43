# trace: a recording as it is shown, what can't be
run()
{
	echo "\$ $*"
	"$@" 2>&1
	echo "[$?]"
}
gzip -dc "$T/data/trace.data.gz" >trace.data
run sonde trace -i trace.data --max-events 40
run sonde trace -i trace.data -s --errno-summary
run sonde trace -i trace.data -e '%file' -T
run sonde trace -i trace.data -e 'mm*,!'
run sonde trace -i trace.data -e '!mmap,mprotect,openat,newfstatat,read,close' --no-comm
run sonde trace -i trace.data --failure
run sonde trace -i trace.data --duration 0.05
run sonde trace -i trace.data -e opnat
run sonde trace -i trace.data -e %fiel
run sonde trace -i trace.data -e sched:sched_switch
run sonde trace -i trace.data -e open, --filter 'x == 1'
run sonde trace -i trace.data -e 'raw_syscalls:sys_enter/max-events=2/'
run sonde trace -i trace.data -e '{raw_syscalls:sys_enter/nr=1/,raw_syscalls:sys_exit/nr=1/}'
run sonde trace -i trace.data -e '{raw_syscalls:sys_enter}:u'
run sonde trace -i trace.data -e '{raw_syscalls:sys_enter,}'
run sonde trace -i trace.data ls
run sonde trace -i "$T/data/example.data"
run sonde trace -i nosuch.data
run sonde trace -F some ls
run sonde trace --call-graph lbr ls
run sonde trace --call-graph dwarf,0 ls
run sonde trace -G a -p 1
run sonde trace --filter-pids x ls
run sonde trace --max-events x ls
