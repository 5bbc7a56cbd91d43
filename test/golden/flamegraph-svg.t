# The picture without its script.
draw() { sonde flamegraph "$@" | sed '/^<script>/,/<\/script>$/d'; }
printf 'bash;main;run;vfs_read_[k] 12\nbash;main;std::vector<int, std::allocator<int> >::push_back(int&&) 9\nbash;[libc.so.6] 1\nj;run_[j] 2\n' >a.folded
echo '--- plain'
draw a.folded
echo '--- hostile names'
printf 'x;<script>alert("1")</script>&amp; 5\nx;]]>\001\033[31m\377 3\nx;\303\274ber 2\n' | draw --title '<&>' --subtitle "it's" --notes '--><x/>'
echo '--- icicle, other looks'
draw --inverted --colors io --bgcolors yellow --height 20 --fontsize 14 --width 600 --countname us a.folded
echo '--- difference'
printf 'a;b 4 8\na;c 4 1\na 2 2\n' | draw
echo '--- narrow frames left out'
draw --minwidth 200 a.folded | grep -c '<g '
