package core

import (
	"strings"
	"testing"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// The texts are those that the real execd mails.
func TestMailTexts(t *testing.T) {
	begin := grid.TimeOf(time.Date(2026, 11, 21, 1, 57, 37, 0, time.UTC))
	conf, node1 := ParseConf(nil), mailHost{"node1", time.UTC}
	note := Note{
		Attempt: report.Attempt{Job: 29, Task: 2, N: 1}, Array: true, Name: "arrmail", Owner: "alice", Queue: "all.q@node1",
		Options: "bea", To: []string{"b@y.org", "al@x.org"},
	}
	for _, c := range []struct {
		name   string
		usage  grid.Usage
		result report.Result
		want   string
	}{
		{"complete", grid.Usage{MaxVMem: 3.25 * (1 << 20), CPU: 61},
			report.Result{Start: begin, End: begin.Add(1), ExitStatus: 3}, `
Job-array task 29.2 (arrmail) Complete
 User             = alice
 Queue            = all.q@node1
 Host             = node1
 Start Time       = 11/21/2026 01:57:37
 End Time         = 11/21/2026 01:57:38
 User Time        = 00:00:00
 System Time      = 00:00:00
 Wallclock Time   = 00:00:01
 CPU              = 00:01:01
 Max vmem         = 3.250M
 Exit Status      = 3
`},
		{"again", grid.Usage{}, report.Result{Start: begin, End: begin.Add(2), ExitStatus: 99}, `
Job-array task 29.2 (arrmail) Rescheduled
 Exit Status      = 99
 Signal           = unknown signal
 User             = alice
 Queue            = all.q@node1
 Host             = node1
 Start Time       = 11/21/2026 01:57:37
 End Time         = 11/21/2026 01:57:39
 CPU              = 00:00:00
 Max vmem         = NA
failed rescheduling because:
exit status = 99
`},
		{"out of memory", grid.Usage{}, report.Result{Start: begin, End: begin.Add(2), Failed: report.FailedAfterJob,
			ExitStatus: 137, Signal: 9, Text: "out of memory: 4.00G of 4.00G on node1"}, `
Job-array task 29.2 (arrmail) Aborted
 Exit Status      = 137
 Signal           = KILL
 User             = alice
 Queue            = all.q@node1
 Host             = node1
 Start Time       = 11/21/2026 01:57:37
 End Time         = 11/21/2026 01:57:39
 CPU              = 00:00:00
 Max vmem         = NA
failed assumedly after job because:
out of memory: 4.00G of 4.00G on node1
`},
		{"killed", grid.Usage{}, report.Result{Start: begin, End: begin.Add(2), Failed: report.FailedLimit,
			ExitStatus: 137, Signal: 9}, `
Job-array task 29.2 (arrmail) Aborted
 Exit Status      = 137
 Signal           = KILL
 User             = alice
 Queue            = all.q@node1
 Host             = node1
 Start Time       = 11/21/2026 01:57:37
 End Time         = 11/21/2026 01:57:39
 CPU              = 00:00:00
 Max vmem         = NA
failed qmaster enforced h_rt, h_cpu, or h_vmem limit because:
job 29.2 died through signal KILL (9)
`},
		{"no prolog", grid.Usage{}, report.Result{End: begin, Failed: report.FailedShell,
			Text: `execvlp(/no/such, "/no/such") failed: No such file or directory`}, `
Job-array task 29.2 (arrmail) Aborted
 Exit Status      = -1
 Signal           = unknown signal
 User             = alice
 Queue            = all.q@node1
 Host             = node1
 Start Time       = <unknown>
 End Time         = <unknown>
 CPU              = NA
 Max vmem         = NA
failed searching requested shell because:
execvlp(/no/such, "/no/such") failed: No such file or directory
`},
		{"no owner", grid.Usage{}, report.Result{End: begin, Failed: report.FailedOwner, Text: `can't get password entry`}, `
Job-array task 29.2 (arrmail) Set in error state
 Exit Status      = -1
 Signal           = unknown signal
 User             = alice
 Queue            = all.q@node1
 Host             = node1
 Start Time       = <unknown>
 End Time         = <unknown>
 CPU              = NA
 Max vmem         = NA
failed assumedly before job because:
can't get password entry
Use "qmod -c <jobid>" to clear job error state
once the problem is fixed.
`},
		{"no output file", grid.Usage{}, report.Result{Failed: report.FailedOutput,
			Text: `error: can't open output file "/nonexist/a": No such file or directory`}, `
Job-array task 29.2 (arrmail) Set in error state
 Exit Status      = -1
 Signal           = unknown signal
 User             = alice
 Queue            = all.q@node1
 Host             = node1
 Start Time       = <unknown>
 End Time         = <unknown>
 CPU              = NA
 Max vmem         = NA
failed opening input/output file because:
error: can't open output file "/nonexist/a": No such file or directory
Use "qmod -c <jobid>" to clear job error state
once the problem is fixed.
`},
	} {
		mails := note.endMails(node1, conf.mailedResult(&c.result), c.usage)
		if len(mails) != 1 || strings.Join(mails[0].To, " ") != "b@y.org al@x.org" || mails[0].Owner != note.Owner {
			t.Fatalf("%s: mails %+v", c.name, mails)
		}
		if got := mails[0].Text; got != strings.TrimPrefix(c.want, "\n") {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
	own := note
	own.OwnShell = true
	if m := own.endMails(node1, &report.Result{Failed: report.FailedShell}, grid.Usage{}); m[0].Subject !=
		"Job-array task 29.2 (arrmail) Set in error state" {
		t.Errorf("its own shell: %s", m[0].Subject)
	}
	quiet := note
	quiet.Options = "b"
	if m := quiet.endMails(node1, &report.Result{}, grid.Usage{}); m != nil {
		t.Errorf("-m b and mail at the end: %v", m)
	}
	if m := note.startMails(node1, &attempt{began: begin}); m[0].Text != `Job-array task 29.2 (arrmail) Started
 User       = alice
 Queue      = all.q
 Host       = node1
 Start Time = 11/21/2026 01:57:37
` {
		t.Errorf("%s", m[0].Text)
	}
}
