# events of recordings of all kinds, also of those that Debian's perf refuses
run()
{
	echo "\$ $*"
	"$@"
	echo "[$?]"
}
cd "$T/data"
for file in sleep.data compressed.data compressed2.data true-v1.data true-v2.data.gz piped.data \
	piped-group.data lost-samples.data tracepoints.data; do
	run sonde evlist -i $file
done
run sonde evlist -v -i sleep.data
run sonde evlist -F -i singleprocess.data
run sonde evlist -g -i lost-samples.data
run sonde evlist --trace-fields -i tracepoints.data
run sonde evlist --format json -i piped-group.data
cat piped-group.data | run sonde evlist -g -i -
run sonde evlist -g -v -i sleep.data
run sonde evlist --format xml -i sleep.data
run sonde evlist -i nosuch.data
run sonde evlist -i ../golden/evlist.t
head -c 5000 singleprocess.data | run sonde evlist -i -
