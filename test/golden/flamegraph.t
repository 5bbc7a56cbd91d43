# Stacks in, stacks out: reading, merging, filtering.
cat >a.folded <<'END'
# comment
bash;main;run;vfs_read_[k] 12
bash;main;run 3
bash;main 1
java;Interp_[j];get_[i] 7
swapper;do_idle_[k];cpu_idle_[k] 20
END
echo '--- as it came, in order'
sonde flamegraph --folded a.folded
echo '--- from stdin, reversed'
sonde flamegraph --folded --reverse <a.folded
echo '--- grep and exclude'
sonde flamegraph --folded --grep 'main|java' --exclude 'vfs_read' -i a.folded
echo '--- plain names'
sonde flamegraph --folded --no-annotations a.folded
echo '--- difference, the first scaled'
sed 's/12$/30/; /java/d' a.folded >b.folded
sonde flamegraph --folded --diff --normalize a.folded b.folded
echo '--- two columns'
printf 'a;b 1 2.5\na;c 4 0\n' | sonde flamegraph --folded
echo '--- perf script text'
cat >s.txt <<'END'
bash 12/12 [000] 1.500000:     250000 cycles: 
	ffffffff81054fbf vfs_read+0x1f ([kernel.kallsyms])
	          401234 main+0x4 (/bin/bash)

bash 12/13 [001] 2.500000:     750000 cycles: 
	          401240 [unknown] (/usr/lib/libc.so.6)
	          401234 main+0x14 (/bin/bash)

xz 20/20 [001] 2.600000:          1 faults: 
	          401240 lzma_code+0x1 (/usr/lib/liblzma.so.5)

END
sonde flamegraph --folded s.txt
sonde flamegraph --folded --all --per-tid s.txt
sonde flamegraph --folded --period --comm bash --time 2, s.txt
echo '--- a recording'
sonde flamegraph --folded $T/data/singleprocess.data
echo '--- what goes wrong'
sonde flamegraph --folded -e nope s.txt
sonde flamegraph --folded --comm nobody s.txt
sonde flamegraph --grep '(' a.folded
sonde flamegraph --grep nothing a.folded
sonde flamegraph --colors aqau a.folded
sonde flamegraph --bgcolors pink a.folded
sonde flamegraph --width 5 a.folded
sonde flamegraph --diff a.folded
sonde flamegraph missing.data
sonde flamegraph /dev/null
printf 'x 1\nnonsense\n' | sonde flamegraph --folded
printf '\177ELF\0\0' | sonde flamegraph
echo "--- what editors, pipes and sums leave: a mark before UTF-8, a cut end, counts above 2^64, stacks without a frame"
from() # TEXT: as folded stacks
{
	printf "$1" >text
	sonde flamegraph --folded text
	echo "[$?]"
}
from '\357\273\277main;foo 3\nmain;bar 4\n'
from 'a;b 18446744073709551615\na;b 18446744073709551615\na;c 5\n'
from ';; 4\na;b 2\n'
from ';; 4\n'
from 'a;b 12'
sample='prog 1 [000] 1.5: 1 cycles: \n\t 1234 foo+0x1 (/bin/prog)\n\t 2345 main+0x2 (/bin/prog)\n'
from "\357\273\277$sample"
from "$sample\nprog 1 [000] 1.6: 1 cyc"
from "$sample\nprog 1 [000] 1.6: 1 cycles: \n\t 1234"
from "$sample\nprog 1 [000] 1.6: 1 cycles: \n\t 1234 foo+0x1 (/bin/prog)\n\t 2345 ma"
from "${sample%??}"
from 'prog 1 1.5: 1 cycles: 1234 foo+0x1 (/bin/prog)\nprog 1 1.6: 1 cycles: 1234 fo'
sonde flamegraph
