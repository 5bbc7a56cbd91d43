# stat: what it refuses, and its layouts without numbers
run()
{
	"$@"
	echo "[$?]"
}
run sonde stat -x, -j true
run sonde stat -r 3 -I 100 true
run sonde stat --table true
run sonde stat --timeout 5 true
run sonde stat --per-core true
run sonde stat --td-level x true
run sonde stat -M nosuch true
run sonde stat -M branch_mis_rate true
run sonde stat --per-thread -C 0 true
run sonde stat record -r 2 true
run sonde stat record -n -o kept.data -- no-such-program
run sonde stat report -i "$T/data/sleep.data"
run sonde stat report -i no-such-file
run sonde stat report -x, -j
run sonde stat report kept.data
run sonde stat -e no-such-event true
run sonde stat --log-fd 77 true
run sonde stat -n -- no-such-program
run sonde stat -n --quiet -- sh -c 'exit 3'
run sonde stat -n -o out.txt -- true
sed 's/on .*/on DATE/; s/[0-9]/9/g' out.txt
run sonde stat -n -o out.txt --append -r 2 -- true
grep -c '^# started on' out.txt
