# values that mean nothing are refused in one sentence, not taken in silence
D=$T/data/example.data
run()
{
	echo "\$ $*"
	"$@" -i $D >/dev/null
	echo "[$?]"
}
run sonde report --percent-limit -5
run sonde report --percent-limit nan
run sonde report --max-stack -1
run sonde report --group-sort-idx -3
run sonde report --socket-filter -4
run sonde report -w 10,x
run sonde report -s ,,
run sonde report -F ,,
run sonde report -c ,
run sonde report -d ''
run sonde annotate --prefix-strip many
run sonde annotate --prefix-strip 1
run sonde report -S ,
run sonde report -g graph,-3
run sonde report --time 10%-5%
run sonde report --time-quantum -3
run sonde report --no-percent-limit
run sonde report --percent-type x
run sonde report -k nothing
run sonde report --kallsyms nothing
run sonde report --switch-on nothing 2>&1 | sed "s|$T|TEST|g"
run sonde report -s "$(printf 'fo\033[31mo')" 2>&1
run sonde script --stop-bt ,
run sonde script --max-stack -1
run sonde script -F ,,
run sonde script --time 9,3
run sonde script -k nothing
run sonde script --switch-off nothing 2>&1 | sed "s|$T|TEST|g"
run sonde flamegraph --width 0
run sonde flamegraph --width -5
run sonde flamegraph --height 0
run sonde flamegraph --minwidth -1
run sonde flamegraph --fontsize nan
run sonde heatmap --rows 0
run sonde heatmap --cols 0
run sonde heatmap --boxsize 0
run sonde heatmap --stepsec -1
record()
{
	echo "\$ sonde record $*"
	sonde record "$@" -- true
	echo "[$?]"
}
record -o ''
record -F 0
record -F -5
record -c -5
record -c 0
record -m 0
record --no-freq
record --max-size 0
record -r -1
record -e cpu-clock -o /dev/full
record --threads=foo
record --threads=0/x
record --vmlinux nothing
record --proc-map-timeout x
record -S
sonde daemon
echo "[$?]"
printf 'a\n#b 1 1.0: 1 c: \n\t401000 f (/x)\n\nc 1 1.0: 1 c: \n\t401000 f (/x)\n\n' | sonde flamegraph --folded -
