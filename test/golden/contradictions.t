# Options that ask for two different outputs are refused, not one of them passed over.
r=$T/data/singleprocess.data
for options in "-D" "--header-only" "--stats" "--tasks" "--hierarchy" "-t ,"; do
	sonde report --format json $options -i $r
	echo "$?"
done
for options in "--tasks --stats --time 1%/x" "--header-only --mmaps --stats" "--header-only --hierarchy -F comm"; do
	sonde report $options -i $r
	echo "$?"
done
for options in "-D" "-F comm" "--header" "--header-only" "--per-event-dump"; do
	sonde script --format json $options -i $r
	echo "$?"
done
sonde flamegraph --folded --format svg -i $r
sonde stat -j -x , true
sonde export --to csv --gzip --no-gzip -i $r
