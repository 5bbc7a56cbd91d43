# SPDX-License-Identifier: GPL-2.0-or-later
# What the scripts in bench/ share; they source it: . tools/bench-lib.sh (from anywhere: cd first).
#
#	bench_start			goes to the top of the tree, finds the program, makes build/bench
#	bench_recording NAME		prints the path of a recording that perf made (kept in build/bench):
#					build-g   a build of many processes at -F 20000 -g
#					build     the same without call chains; build-again: once more
#					build-dwarf  the same with copies of stacks, at -F 2000
#					sched     all sched:* events of processes that send messages
#	bench_header			the heading of the table that bench_compare prints rows of
#	bench_compare NAME COUNT UNIT PEER OURS [RUNS]
#					runs both (shell text), prints CPU, wall, RSS of both and the ratios;
#					COUNT (samples, rows, ...): also ns of CPU per one
#	bench_skip WHY			says so and ends the script
#
# BENCH_SONDE: the program (default: the B=... of make, else build/sonde). BENCH_SECONDS: how long to
# record (default 16: about 400,000 samples on two CPUs). BENCH_BIG=1: ten times as long.

bench_start() {
	cd "$(dirname "$0")/.." || exit 2
	bench_dir=build/bench
	mkdir -p "$bench_dir"
	: "${BENCH_SONDE:=${B:-build}/sonde}"
	[ -x "$BENCH_SONDE" ] || { echo "bench: no program at $BENCH_SONDE: run make first" >&2; exit 2; }
	BENCH_SONDE=$(realpath "$BENCH_SONDE")
	: "${BENCH_SECONDS:=16}"
	: "${BENCH_BIG:=}"
	bench_big=
	if [ -n "$BENCH_BIG" ]; then
		BENCH_SECONDS=$((BENCH_SECONDS * 10))
		bench_big=-big
	fi
	if [ ! -x $bench_dir/measure ] || [ tools/bench-measure.c -nt $bench_dir/measure ]; then
		${CC:-cc} -O2 -o $bench_dir/measure tools/bench-measure.c || exit 2
	fi
}

bench_skip() {
	echo "skip: $*"
	exit 0
}

# The workload: compiles C files of this tree, each in its own processes, until it is stopped.
bench_build() {
	cat > $bench_dir/workload <<-'END'
		#!/bin/sh
		while :; do
			find src -name '*.c' ! -name '*_fuzz.c' | head -60 |
				xargs -P 2 -n 1 gcc -std=gnu17 -O1 -Isrc -D_GNU_SOURCE -w -o /dev/null -c
		done
	END
	chmod +x $bench_dir/workload
	echo "timeout $BENCH_SECONDS $bench_dir/workload"
}

# Many switches and wakeups, until it is stopped.
bench_messages() {
	cat > $bench_dir/messages <<-'END'
		#!/bin/sh
		while :; do
			perf bench -f simple sched messaging -g 2 -l 200 || exit
		done
	END
	chmod +x $bench_dir/messages
	echo "timeout $BENCH_SECONDS $bench_dir/messages"
}

bench_recording() {
	bench_file=$bench_dir/$1$bench_big.data
	if [ ! -s "$bench_file" ]; then
		command -v perf > /dev/null || return 1
		bench_work=bench_build
		case $1 in
		build-g) bench_events="-F 20000 -g -e cpu-clock" ;;
		build | build-again) bench_events="-F 20000 -e cpu-clock" ;;
		build-dwarf) bench_events="-F 2000 --call-graph dwarf -e cpu-clock" ;;
		sched) bench_events="-a -e sched:*" bench_work=bench_messages ;;
		*) echo "bench: no recording '$1'" >&2; return 1 ;;
		esac
		# shellcheck disable=SC2086,SC2046 # words are meant
		perf record -q $bench_events -o "$bench_file.part" $($bench_work) \
			> $bench_dir/record.log 2>&1
		[ -s "$bench_file.part" ] || { cat $bench_dir/record.log >&2; return 1; }
		mv "$bench_file.part" "$bench_file"
	fi
	echo "$bench_file"
}

# Samples in a recording, as the peer counts them.
bench_samples() {
	perf report -i "$1" --stats 2> /dev/null |
		awk '/SAMPLE events:/ { print $3; exit }'
}

bench_header() {
	printf '%-34s %9s %9s %6s  %9s %9s %6s  %8s %8s %6s  %s\n' '' \
		'perf CPU' 'ours' 'ratio' 'perf wall' 'ours' 'ratio' 'perf RSS' 'ours' 'ratio' 'ns per one'
}

bench_compare() {
	bench_runs=${6:-2}
	bench_theirs=$($bench_dir/measure "$bench_runs" sh -c "$4") || bench_theirs='0 0 0'
	bench_ours=$($bench_dir/measure "$bench_runs" sh -c "$5") || bench_ours='0 0 0'
	echo "$bench_theirs $bench_ours" | awk -v name="$1" -v count="${2:-0}" -v unit="$3" '
		function ratio(a, b) { return b > 0 && a > 0 ? sprintf("%.1fx", a / b) : "-" }
		{
			printf "%-34s %7.0fms %7.0fms %6s  %7.0fms %7.0fms %6s  %6.0fMB %6.0fMB %6s", name,
				$1, $4, ratio($1, $4), $2, $5, ratio($2, $5), $3 / 1024, $6 / 1024, ratio($3, $6)
			if (count > 0)
				printf "  %.0f -> %.0f ns/%s", $1 * 1e6 / count, $4 * 1e6 / count, unit
			print ""
		}'
}
