#!/bin/sh
# rsh for the programs of an MPI job: starts a task of the job on one of its hosts, rsh [-n] [-l user] host command...
me=${0##*/} host= nostdin=
while [ $# -gt 0 ]; do
	case $1 in
	-n) nostdin=-nostdin ;;
	-l) shift ;; # tasks run as the user of the job
	-*) echo "$me: Unsupported option - $1"; exit 1 ;;
	*) [ -z "$host" ] || break; host=$1 ;;
	esac
	shift
done
[ -n "$host" ] || { echo "$me: missing hostname"; exit 1; }
exec "$SGE_ROOT/bin/$ARC/qrsh" -inherit $nostdin "$host" ${RCMD_PREFIX-} "$@"
