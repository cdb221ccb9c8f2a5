#!/bin/sh
# hostname for the programs of an MPI job: the name of this host as it is in $TMPDIR/machines.
exec uname -n
