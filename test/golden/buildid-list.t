# build-ids: of the table, of what was hit, of an ELF file
run()
{
	echo "\$ $*"
	"$@"
	echo "[$?]"
}
cd "$T/data"
run sonde buildid-list -i singleprocess.data
run sonde buildid-list -H -i lost-samples.data
run sonde buildid-list -i true-v2.data.gz
run sonde buildid-list -i piped.data
run sonde buildid-list --format json -i sleep.data
run sonde buildid-list -i true-v1.data
run sonde buildid-list -i nosuch.data
run sonde buildid-list nosuch
