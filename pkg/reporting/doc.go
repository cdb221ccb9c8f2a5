// Package reporting is the reporting file, reporting(5): it turns lists of events into
// its lines.
//
//	events.List ─▶ Writer.Append ─▶ new_job job_log acct             (job.go)
//	                                queue host *_consumable          (host.go)
//	                                new_ar ar_attr ar_log ar_acct    (ar.go)
//	                                sharelog                         (share.go)
//
// A line follows from a list and the state before it, and from nothing else: the same log
// gives the same file, which is how a crash loses and doubles nothing. Records that are
// due at a time (sharelog) are written with the first list after it.
//
// Where the manual page and Grid Engine 8.1.9 differ, lines are as Grid Engine writes
// them, since programs read those: job_log has the priority before the submission time,
// priorities are 1024 higher than given, users are "master", "scheduler" and "execution
// daemon", PE task is NONE, elements are divided by commas, the record of an advance
// reservation's attributes is ar_attr, a finished task is in state T, the state of a
// queue instance does not include load alarms, and tasks of a parallel job have no
// job_log records.
//
// A task that runs past midnight has intermediate acct records, which the core decides on
// (Interim of a task): they, and the last one, contain the difference to the one before;
// the accounting file contains the total.
//
// It must not know where the file is, nor read or write it. To add a record: a
// case in Writer.event and a function beside its kind.
package reporting
