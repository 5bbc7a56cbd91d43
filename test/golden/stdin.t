# Without -i a pipe, a recording or an empty file is what is read; nothing stands for another file.
cp $T/data/singleprocess.data perf.data
: >empty
for command in "report --stdio" annotate script evlist buildid-list "export --to speedscope" "stat report" "data convert --to-json x" \
	flamegraph heatmap; do
	: | sonde $command
	echo "pipe: $?"
	sonde $command <empty
	echo "file: $?"
done
mv perf.data other
sonde evlist <other
sonde evlist <other | cat
cat other | sonde script 2>/dev/null | head -1
sonde script <other 2>/dev/null | head -1
echo text | sonde evlist
mv other perf.data
echo '--- a file that is none of its kind is not meant'
echo text >text
sonde evlist <text
sonde evlist </dev/null
echo '--- text with more else than stacks'
{ seq 20; printf 'a 1 1.0: 1 c: \n\t401000 f (/x)\n\n'; seq 20; } | sonde flamegraph --folded
seq 20 | sed 's/^/line /;s/$/ of a log/' | sonde flamegraph --folded
