// Package backup is quill backup and quill restore: all of a cell that cannot be made again, as a directory that grows
// with the log.
//
//	qmaster (or the directory of a cell that does not run)
//	  └─ pkg/history ─▶ DIR/segments/*.seg   the newest stored state and the lists after it; what each further backup adds
//	keys, common       ─▶ DIR/keys, DIR/common
//	                   ─▶ DIR/backup.json    written last: up to which frame the directory is complete
//
//	quill restore: DIR ─▶ $SGE_ROOT/$SGE_CELL, up to a list, with a take-over frame and the list of core.Restored after it
//
// A directory with a backup is read as that of a cell that does not run: every command with --log shows it. What a
// restored cell does about jobs that it does not know is qmaster/core's business (restore.go).
//
// Files: backup.go (the command), directory.go (DIR), restore.go, accounting.go (the accounting files up to a list).
//
// The package must not know the bytes of a log. To add something to a backup: copy it in backup.go beside the keys, and
// put it back in restore.go.
package backup
