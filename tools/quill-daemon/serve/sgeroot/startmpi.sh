#!/bin/sh
# start_proc_args of parallel environments for MPI: writes $TMPDIR/machines, a line with the host for each slot of the job.
#   startmpi.sh [-catch_rsh] [-catch_hostname] [-unique] $pe_hostfile
# -catch_rsh and -catch_hostname put a command rsh, which starts tasks of the job by qrsh -inherit, and a command hostname, which
# prints the name in the file, into $TMPDIR; -unique writes each host once.
echo "$*"
wrappers= once=0
while :; do
	case ${1-} in
	-catch_rsh) wrappers="$wrappers rsh" ;;
	-catch_hostname) wrappers="$wrappers hostname" ;;
	-unique) once=1 ;;
	*) break ;;
	esac
	shift
done
fail() {
	echo "${0##*/}: $1" >&2
	exit 1
}
[ $# = 1 ] || fail "got wrong number of arguments"
[ -r "$1" ] || fail "can't read $1"
awk -v once="$once" '{ if (!once) for (n = 0; n < $2; n++) print $1; else if (!seen[$1]++) print $1 }' "$1" >>"$TMPDIR/machines" ||
	fail "can't write $TMPDIR/machines"
cat "$TMPDIR/machines"
for w in $wrappers; do
	[ -x "$SGE_ROOT/mpi/$w" ] || fail "can't execute $SGE_ROOT/mpi/$w"
	ln -sf "$SGE_ROOT/mpi/$w" "$TMPDIR/$w" || fail "can't link $TMPDIR/$w"
done
