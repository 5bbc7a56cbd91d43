# Only plain files are read as the cache's probes: a FIFO would be waited for.
run()
{
	echo "\$ $*"
	timeout 10 "$@"
	echo "[$?]"
}
id=0123456789012345678901234567890123456789
folder='.debug/[kernel.kallsyms]'/$id
mkdir -p "$folder" .debug/.build-id/01
ln -s '../../[kernel.kallsyms]'/$id .debug/.build-id/01/${id#01}
echo >"$folder/kallsyms"
printf '#probe:work=work n\np:probe/work work n=%%di:s32\n' >"$folder/probes"
run sonde probe --cache -l
rm "$folder/probes"
mkfifo "$folder/probes"
run sonde probe --cache -l
run sonde probe --cache -d work
