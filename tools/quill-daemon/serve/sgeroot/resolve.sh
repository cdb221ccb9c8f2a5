#!/bin/sh
# gethostname, gethostbyname and gethostbyaddr of Grid Engine, for load sensors and scripts of sites. Quill
# takes the names of hosts as they are given, and calls a host by its own name, so that -name and -aname print the same.
me=${0##*/}
case $me in
gethostname) usage="usage:
 gethostname [-help|-name|-aname|-all]

get resolved hostname of this host" ;;
gethostbyaddr) usage="usage: gethostbyaddr [-help|-name|-aname|-all]x.x.x.x" ;;
*) usage="usage: gethostbyname [-help|-name|-aname|-all] <name>" ;;
esac
help() {
	printf 'Version: 8.1.9\n%s\n' "$usage"
	exit 1
}

option=
case ${1-} in
-name | -aname | -all) option=$1; shift ;;
-help) help ;;
esac
case $me in
gethostname)
	[ $# = 0 ] || help
	name=$(uname -n)
	[ "$option" != -name ] && [ "$option" != -aname ] || { echo "$name"; exit 0; }
	set -- "$name"
	;;
esac
[ $# = 1 ] && [ -n "$1" ] || help

if [ $me = gethostbyaddr ]; then
	lines=$(getent hosts "$1") || { echo "error resolving ip \"$1\": can't resolve ip address (h_errno = HOST_NOT_FOUND)" >&2; exit 1; }
	name=$(printf '%s\n' "$lines" | awk '{ print $2; exit }')
else
	name=$1
	lines=$(getent ahostsv4 -- "$name" || getent ahosts -- "$name") ||
		{ echo "error resolving host \"$name\": can't resolve host name (h_errno = HOST_NOT_FOUND)" >&2; exit 1; }
fi
case $option in
-name | -aname) echo "$name"; exit 0 ;;
esac
echo "Hostname: $name"
[ "$option" != -all ] || echo "SGE name: $name"
getent hosts -- "$1" | awk -v name="$name" '
	{ for (i = 2; i <= NF; i++) if ($i != name && !seen[$i]++) aliases = aliases " " $i }
	END { print "Aliases:" aliases }'
printf '%s\n' "$lines" | awk '!seen[$1]++ { a = a " " $1 } END { print "Host Address(es):" a }'
