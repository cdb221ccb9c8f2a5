package view_test

import (
	"testing"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/view"
)

// TestOutcome: an outcome has a cause that is the same for all of its kind, whatever the amounts and hosts.
func TestOutcome(t *testing.T) {
	for want, a := range map[string]grid.Accounting{
		"done":                       {},
		"failed: exit status 3":      {ExitStatus: 3},
		"failed: exit status 255":    {ExitStatus: 255},
		"killed: signal 9 (SIGKILL)": {ExitStatus: 137},
		"killed: signal 11 (SIGSEGV)": {ExitStatus: 139, Failed: 100,
			FailedText: report.SignalText + "11 (segmentation fault)"},
		"killed: out of memory": {ExitStatus: 137, Failed: 100,
			FailedText: "out of memory on h1: all jobs together have no more, this one had 3G"},
		"killed: limit h_rt":                  {ExitStatus: 137, Failed: 37, FailedText: "h_rt: 61 s of 60 s"},
		"killed: limit h_rt, h_cpu or h_vmem": {ExitStatus: 137, Failed: 37},
		"failed: assumedly after job":         {Failed: 100},
		"deleted by alice@h1":                 {ExitStatus: 137, Failed: 100, DeletedBy: "alice@h1"},
		"failed: opening input/output file":   {Failed: 26, FailedText: "can't open /x"},
		"rescheduled":                         {Failed: 25, ExitStatus: 99},
	} {
		if got := view.OutcomeOf(&a).String(); got != want {
			t.Errorf("%+v: %q, not %q", a, got, want)
		}
	}
}

// TestJobOutcome: the last attempt of a task decides; PE tasks and other jobs do not count.
func TestJobOutcome(t *testing.T) {
	o := view.OutcomeOfJob(7, []*grid.Accounting{ // the newest first
		{Job: 7, Task: 2, End: 50}, {Job: 8, Task: 3, ExitStatus: 1, End: 99}, {Job: 7, Task: 2, Failed: 25, End: 40},
		{Job: 7, Task: 4, ExitStatus: 2, PETask: "1.h1", End: 39}, {Job: 7, Task: 4, ExitStatus: 2, End: 38},
		{Job: 7, Task: 3, DeletedBy: "bob@h1", End: 30},
	})
	if got := o.Text(5); got != "1 failed, 1 deleted, 2 never started of 5 tasks" || o.End != 50 ||
		o.Failures() != 1 || o.Worst() != view.Failed {
		t.Errorf("%q at %d", got, o.End)
	}
	if got := view.OutcomeOfJob(8, nil); got.Text(1) != "never started" || got.End != 0 || got.Worst() != view.Done {
		t.Errorf("%+v", got)
	}
	done := view.OutcomeOfJob(7, []*grid.Accounting{{Job: 7, Task: 1}, {Job: 7, Task: 2}})
	if got := done.Text(2); got != "all 2 tasks done" {
		t.Error(got)
	}
}
