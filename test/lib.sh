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
# same_script MINE PERFS: as perf names stubs of libraries otherwise (docs/differences.md), a stub is as good as another one
same_script() { cmp -s <(sed 's/[^ ]*@plt/STUB/g' "$1") <(sed 's/[^ ]*@plt/STUB/g' "$2"); }
# same_but_stubs MINE PERFS: where perf's have some, their rows may stand elsewhere, and make columns wider
same_but_stubs()
{
	grep -q '@plt' "$2" && cmp -s <(stub_rows "$1") <(stub_rows "$2")
}
stub_rows() { sed -E -e '/@plt/d' -e 's/\.{3,}/.../g' -e 's/ +/ /g' -e 's/ $//' "$1" | sort; }
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
