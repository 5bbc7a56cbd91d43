# SPDX-License-Identifier: GPL-2.0-or-later
# What shell tests share. A test has it in front, . "$T/lib.sh", and ends with: exit $failed
failed=0
# result STATUS NAME
result()
{
	if [ "$1" = 0 ]; then echo "ok $2"; else echo "not ok $2"; failed=1; fi
}
# skip WHY: the test can't run here
skip() { echo "skip $*"; exit 77; }
# needs PROGRAM [PACKAGE]
needs() { command -v "$1" >/dev/null || skip "$1 is not installed${2:+ (package $2)}"; }
# same_script MINE PERFS: as perf names stubs of libraries otherwise, or not at all (docs/differences.md), a stub is as good as another one
same_script()
{
	awk 'function bare(line) {
			gsub(/ [^ ]*@plt(\+0x[0-9a-f]+)?| \[unknown\]| _init(\+0x[0-9a-f]+)?/, " STUB", line)
			return line
		}
		NR == FNR { mine[n = NR] = $0; next }
		$0 != mine[FNR] && ($0 mine[FNR] !~ /@plt/ || bare($0) != bare(mine[FNR])) { bad = 1 }
		END { exit bad || FNR != n }' "$1" "$2"
}
# same_but_stubs MINE PERFS: where there are some, their rows may stand elsewhere, make columns wider, and be addresses in perf
same_but_stubs()
{
	grep -q '@plt' "$1" "$2" && cmp -s <(stub_rows "$1") <(stub_rows "$2")
}
stub_rows() { sed -E -e '/@plt/d' -e '/[] -]0x[0-9a-f]+$/d' -e 's/\.{3,}/.../g' -e 's/ +/ /g' -e 's/ $//' "$1" | sort; }
# between NUMBER LEAST MOST NAME
between()
{
	if awk -v n="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(n != "" && n + 0 >= a && n + 0 <= b) }'; then
		echo "ok $4"
	else
		echo "not ok $4: $1 is not between $2 and $3"
		failed=1
	fi
}
