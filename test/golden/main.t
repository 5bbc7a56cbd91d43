# the start: names, options before the command, exit statuses
run()
{
	echo "\$ $*"
	"$@"
	echo "[$?]"
}
run sonde --version
run sonde -v
run sonde version -h
run sonde version --help
run sonde version --list-opts
run sonde vresion
run sonde xyzzyxyzzy
run sonde ''
run sonde --nosuch version
run sonde --no-pager version
run sonde version --nosuch
run sonde help nosuch
run sonde help version nosuch
run sonde help --completion csh
echo '$ no command'
sonde >out
echo "[$?]"
head -n 2 out
echo '$ closed pipe'
mkfifo closed
exec 4<>closed 5>closed 4>&- # nobody reads it, and no other process still has its other end
sonde help >&5
echo "[$?]"
exec 5>&-
echo '$ full disk'
sonde help >/dev/full
echo "[$?]"
sonde --list-cmds >/dev/full
echo "[$?]"
echo '$ closed standard output'
sonde version >&-
echo "[$?]"
echo '$ other names'
ln -s "$(command -v sonde)" perf
./perf --version
