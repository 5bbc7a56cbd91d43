# what a new user runs into: one sentence each, with what to do
run()
{
	echo "\$ $*"
	"$@"
	echo "[$?]"
}
run sonde recrod
run sonde report
run sonde script -i nothing.data
run sonde report --sotr comm
run sonde record --frequncy 99 true
run sonde report -s nosuch -i $T/data/sleep.data
run sonde report -s symbl -i $T/data/sleep.data
run sonde script -F foo -i $T/data/sleep.data
run sonde record -c 5 -F 5 true
run sonde record -e cycels true
run sonde record -e cpu-clock/perod=5/ true
run sonde record -e cpu-clock:q true
run sonde record -e '{cpu-clock,page-faults' true
run sonde record -ag dwarf sleep 1
run sonde record -e ./watch.c/max=5/ true
run sonde stat -e task-clock, page-faults true
run sonde script flamegraph -i $T/data/sleep.data
run sonde script -F time, event -i $T/data/sleep.data
run sonde record -p 4194305
run sonde record -C 4095 -- true 2>&1 | sed 's/CPUs are .*/.../'
run sonde record --call-graph dwarf,100000000 true
run sonde record -m nonsense true
echo text >text.data
run sonde report -i text.data
: >empty.data
run sonde report -i empty.data
run sonde report -i /dev/null
run sonde report -i .
run sonde report -i /bin/sh
head -c 40 $T/data/sleep.data >head.data
run sonde report -i head.data
head -c 12000 $T/data/singleprocess.data >cut.data
echo '$ sonde script -i cut.data'
sonde script -i cut.data >out
echo "[$?]"
[ -s out ] && echo "what came before is shown"
echo '$ sonde report of another machine'
sonde report -i $T/data/singleprocess.data --stdio -s dso,sym >out
echo "[$?]"
grep -c '\[k\] 0xffffffff' out
# names of strangers end no line of a message and move no cursor
name=$(printf 'no\nsuch\033[2J\tfile')
named() # COMMAND...: with the name behind it
{
	echo "\$ $* NAME"
	"$@" "$name"
	echo "[$?]"
}
named sonde report -i
named sonde
named sonde report --symfs=/nowhere -i $T/data/sleep.data --sort
named sonde record -a -o x.data -e
named sonde prof top -e
named sonde config
named sonde annotate -i $T/data/sleep.data
# who is called by a name of its own says so
run sonde runqlat --format nosuch
run sonde lock contention --format nosuch
run sonde rundelay --format nosuch
run sonde tool runqlat --format nosuch
