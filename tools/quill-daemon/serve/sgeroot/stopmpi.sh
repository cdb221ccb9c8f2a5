#!/bin/sh
# stop_proc_args of parallel environments for MPI: removes what startmpi.sh has made.
rm -f "$TMPDIR/machines" "$TMPDIR/rsh" "$TMPDIR/hostname"
