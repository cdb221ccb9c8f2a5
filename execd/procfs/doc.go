// Package procfs reads what the kernel reports about processes and control groups: /proc, proc(5), and the files of
// control groups (version 2).
//
//	ReadStat(pid) ─▶ Stat ─▶ ChildrenOf ─▶ WalkTree(roots)      processes, proc.go
//	ReadGroupUsage(dir) ─▶ GroupUsage; ReadGroupFile, ...Number, ...Event   control groups, group.go
//
// Nothing here changes a process or a group, but SignalExactly, which signals the process that was read and no later
// one with the same id. What cannot be read is 0 or empty: processes end while they are looked at.
//
// The package must not know jobs, attempts or limits: whose process one is, and what follows from its usage, is decided
// by execd/shepherd.
//
// To add a file that is read: a function that takes a process id or the directory of a group, without allocating where
// it is called for every process of a host.
package procfs
