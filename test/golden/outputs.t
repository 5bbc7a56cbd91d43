# An output that is the input is refused, by whatever name, and the input stays.
refused()
{
	echo "\$ sonde $*"
	sonde "$@"
	echo "[$?]"
	cmp in.data $T/data/singleprocess.data
	cmp a a.kept
}
cp $T/data/singleprocess.data in.data
ln in.data hard.data
ln -s in.data soft.data
printf 'a;b 3\na;c 1\n' >a
cp a a.kept
cp a b
refused flamegraph -i in.data -o in.data
refused flamegraph --folded -o hard.data ./in.data
refused flamegraph -o a <a
refused flamegraph a -o ./a
refused flamegraph --diff a b -o a
refused flamegraph --diff b a -o a
refused heatmap -i in.data -o soft.data
refused prof top --from in.data -o in.data
refused stat report -i in.data -o hard.data
refused stat -o hard.data report -i in.data
refused trace -i in.data -o soft.data
printf '1 2\n3 4\n' >a
cp a a.kept
refused heatmap a -o a
refused archive in.data -o in.data
refused archive in.data -o soft.data
[ -h soft.data ] && sonde flamegraph a.kept -o - 2>&1 | tail -n 1
sonde flamegraph -q b -o other && sonde flamegraph -q b -o other && test -s other && echo 'another output is written'
echo '--- an archive replaces files alone: what a link leads to, not what is no file'
archive()
{
	sonde archive -q in.data -o "$1" 2>&1
	echo "$1 [$?]"
}
packed()
{
	[ "$(head -c 4 "$1" | od -An -tx1)" = ' 28 b5 2f fd' ] && echo "packed $1"
}
mkfifo fifo
timeout 20 cat fifo >read &
archive fifo
wait
[ -p fifo ] && packed read
mkdir folder
ln -s folder/new to-new
ln -s to-new to-link
archive to-link
[ -h to-link ] && [ -h to-new ] && packed folder/new
echo old >folder/new
archive to-new
[ -h to-new ] && packed folder/new
ln -s loop loop
archive loop
archive folder
archive missing/x
ls folder
