# SPDX-License-Identifier: GPL-2.0-or-later
# Stand-in for stackcollapse-perf.pl, which Debian does not ship: perf script text to folded stacks. Run by mawk or gawk.
/^$/ {
	if (open)
		sum[comm stack]++
	open = 0
	next
}
/^#/ { next }
/^[^\t ]/ {
	open = 1
	stack = ""
	comm = $0
	sub(/ +-?[0-9]+(\/[0-9]+)? .*$/, "", comm)
	gsub(/ /, "_", comm)
	next
}
{
	name = $0
	sub(/^[ \t]*[0-9a-f]+ /, "", name)
	dso = name
	sub(/^.* \(/, "", dso)
	sub(/\)$/, "", dso)
	sub(/ \([^ ]*\)$/, "", name)
	sub(/\+0x[0-9a-f]+$/, "", name)
	if (name == "[unknown]" && dso != "[unknown]") {
		sub(/^.*\//, "", dso)
		name = "[" dso "]"
	} else if (dso ~ /^\[|vmlinux/ && dso !~ /unknown/) {
		name = name "_[k]"
	}
	gsub(/;/, ":", name)
	stack = ";" name stack
}
END {
	if (open)
		sum[comm stack]++
	for (s in sum)
		print s, sum[s]
}
