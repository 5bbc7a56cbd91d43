# What ~/.perfconfig says wrongly is said with the file and the line.
gzip -dc "$T/data/trace.data.gz" >trace.data
for setting in show_duration 'no_inherit = maybe' 'args_alignment = x' 'args_alignment = 9999g'; do
	printf '[trace]\n\t%s\n' "$setting" >conf
	echo "\$ $setting"
	PERF_CONFIG=conf sonde trace -i trace.data --max-events 1
done
printf '[trace]\n\targs_alignment = 0k\n' >conf # no warning
PERF_CONFIG=conf sonde trace -i trace.data --max-events 1
