package core

import (
	"fmt"
	"strings"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// mail sends a mail about something of an owner to the addresses in to. Mails about what happens on a host are sent by
// its execution daemon.
func (s *step) mail(owner string, to []string, subject, text string) {
	if len(to) > 0 {
		s.ready.Mails = append(s.ready.Mails, report.Mail{Owner: owner, To: to, Subject: subject, Text: text})
	}
}

// mailAborted writes to those who want to know that a job is aborted or
// rescheduled: qsub -m a, -M.
func (s *step) mailAborted(j *grid.Job, subject, text string) {
	if j.Spec == nil || !strings.Contains(j.Spec.MailOptions, "a") {
		return
	}
	to := j.Spec.MailTo
	if len(to) == 0 {
		to = []string{j.Owner + "@" + j.Spec.SubmitHost}
	}
	s.mail(j.Owner, to, subject, text)
}

// mailKilled reports by mail that a started task is deleted; t.Kill names the user.
func (s *step) mailKilled(t *grid.JATask) {
	j := s.state.Job(t.Job)
	title := fmt.Sprintf("Job %d (%s)", j.ID, j.Name)
	if j.Array {
		title = fmt.Sprintf("Job-array task %d.%d (%s)", j.ID, t.ID, j.Name)
	}
	s.mailAborted(j, title+" Killed", fmt.Sprintf("%s was killed by %s\n", title, t.Kill))
}

// mailRescheduled reports by mail that qmod -r rescheduled a started task.
func (s *step) mailRescheduled(t *grid.JATask) {
	j, kind := s.state.Job(t.Job), "job"
	if j.Array {
		kind = "job-array task"
	}
	what := cell.DescribeTask(j, t.ID)
	s.mailAborted(j, "Pushed rescheduling of "+what,
		fmt.Sprintf("Your %s was running on host %s. Pushed manually/automatic rescheduling for this %s.\n", what,
			t.Grants[0].Host, kind))
}

// mailFailed reports to the administrators, administrator_mail of sge_conf(5), that a
// task failed, and the consequence: queue or job in error state, or rescheduled.
func (s *step) mailFailed(j *grid.Job, t *grid.JATask, res report.Result, fault report.Fault) {
	if fault == report.NoFault && res.Failed != report.FailedNoStatus {
		return
	}
	to := cell.ConfNames(s.cell.Param("administrator_mail"))
	if len(to) == 0 {
		return
	}
	g, title, action := t.Grants[0], fmt.Sprintf("Job %d", j.ID), "none"
	if j.Array {
		title = fmt.Sprintf("Job-array task %d.%d", j.ID, t.ID)
	}
	switch fault {
	case report.QueueFault:
		action = fmt.Sprintf("Queue %q set to ERROR", g.Instance())
	case report.HostFault:
		action = fmt.Sprintf("all queues of host %q set to ERROR", g.Host)
	}
	when := func(at grid.Time) string {
		if at == 0 {
			return "<unknown>"
		}
		return stamp(at)
	}
	text := fmt.Sprintf(
		"%s caused action: %s\n User        = %s\n Queue       = %s\n Start Time  = %s\n End Time    = %s\nfailed %s: %s\n",
		title, action, j.Owner, g.Instance(), when(res.Start), when(res.End), res.Failed, res.Text)
	s.mail(j.Owner, to, title+" failed", text)
}

// stamp returns a time in the form that mails show.
func stamp(t grid.Time) string { return t.Std().UTC().Format("01/02/2006 15:04:05 MST") }
