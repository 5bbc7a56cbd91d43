# exports of a recording as text
run()
{
	echo "\$ $*"
	"$@"
	echo "[$?]"
}
cd "$T/data"
# of programs that are not here
old="-q --symfs nothing --kallsyms /dev/null switches.data"
run sonde export --to csv $old | head -n 6
run sonde export --to folded $old | head -n 6
run sonde export --to speedscope $old | head -c 1500
run sonde export --to chrome $old | head -n 12
run sonde export --to firefox --no-gzip $old | head -c 1500
run sonde export --to
run sonde export switches.data
run sonde export --to svg switches.data
run sonde export --to csv nosuch.data
run sonde export --to csv --pid 1 switches.data
run sonde export --to csv -z --no-gzip switches.data
run sonde export --to csv switches.data sleep.data
