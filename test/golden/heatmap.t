# The picture without its script and style.
draw() { sonde heatmap "$@" | sed '/^<script>/,/<\/script>$/d; /^<style>/,/^<\/style>/d'; }
printf '1000000 150\n1500000 250\n2000000 160\n2900000 990\n3000000 5000\n' >points
echo '--- times and values'
draw --unitstime us --unitslat us --maxlat 1000 --rows 4 --cols 4 points
echo '--- logarithmic, beyond left out'
draw --unitstime us --unitslat us --log --minlat 100 --maxlat 1000 --drop-beyond --rows 2 --cols 2 points | grep title
echo '--- times alone: offsets within the second'
printf '1.5\n1.51\n2.25\n' | draw | grep cell
echo '--- perf script text'
printf 'bash 1 [000] 7.250000: 1 c: \n\t12345 f (/x)\n\n' | draw | grep cell
echo '--- a recording'
draw --rows 4 $T/data/singleprocess.data | grep -c cell
echo '--- what goes wrong'
sonde heatmap --from-event a points
sonde heatmap --value x points
sonde heatmap --colors blau points
sonde heatmap --unitstime weeks points
sonde heatmap --stepsec 0.000000001 points
sonde heatmap --minlat 5 --maxlat 2 points
sonde heatmap --minlat five points
sonde heatmap $T/data/singleprocess.data --value nope
printf 'nothing here\n' | sonde heatmap
sonde heatmap missing
