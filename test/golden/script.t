# script: what perf can't be asked for (test/diff/script has the rest)
run()
{
	echo "\$ $*"
	"$@" 2>&1
	echo "[$?]"
}
head -c 9000 "$T/data/singleprocess.data" >cut.data
run sonde script --kallsyms /dev/null --symfs /nonexistent -G --time ,171.188920 -i cut.data
cd "$T/data"
run sonde script -i counts/counts.data
# recordings that Debian's perf refuses
for file in sleep.data compressed.data compressed2.data true-v2.data.gz; do
	run sonde script --kallsyms /dev/null --symfs /nonexistent -i $file
done
run sonde script --format json --kallsyms /dev/null --symfs /nonexistent --max-stack 2 -i tracepoints.data | head -5
run sonde script --format json --kallsyms /dev/null --symfs /nonexistent --show-task-events -i switches.data
run sonde script -F comm,symm -i sleep.data
run sonde script -F +metric -i sleep.data
run sonde script -F hq:comm -i sleep.data
run sonde script -F comm,+ip -i sleep.data
run sonde script -F +phys_addr -i sleep.data
run sonde script -F +iregs -i sleep.data
run sonde script --format xml -i sleep.data
run sonde script --format json -F ip -i sleep.data
run sonde script --reltime --deltatime -i sleep.data
run sonde script --time x -i sleep.data
run sonde script --time 10% -i true-v1.data
run sonde script -C a -i sleep.data
run sonde script --switch-on nosuch -i sleep.data
run sonde script --itrace=i -i sleep.data
run sonde script -s hello.py -i sleep.data
run sonde script futex-contention
run sonde script --colour -i sleep.data
run sonde script -i nosuch.data
