# help, man page and completion of one command
sonde help help
sonde help --man help
sonde help --man sonde | sed -n '1,/COMMANDS/p'
sonde help --completion bash >script.bash
bash -n script.bash
cat >complete.bash <<'END'
source ./script.bash
try()
{
	COMP_LINE=$*
	COMP_POINT=${#COMP_LINE}
	_sonde "$1"
	echo "$*: ${COMPREPLY[*]}"
}
try sonde vers
try sonde --ver
try sonde help --m
try sonde help --man --e
# what has two words is offered word by word
try sonde bench ''
try sonde bench sched ''
try sonde help bench mem ''
try sonde bench sched pipe --l
END
bash complete.bash
