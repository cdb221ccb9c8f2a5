package core

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
)

// Note is what is stored of a job for the mails after its start (qsub -m, -M).
type Note struct {
	Attempt report.Attempt
	Array   bool
	Name    string
	Owner   string
	Queue   string // queue instance
	Options string // letters of -m
	To      []string
	// OwnShell means that report.FailedShell puts the job into error.
	OwnShell bool
}

// noteOf returns nil when no mail is requested; PE tasks have none.
func noteOf(s *Start) *Note {
	spec := s.Job.Spec
	if spec == nil || s.Deliver.Launch != nil || !strings.ContainsAny(spec.MailOptions, "beas") {
		return nil
	}
	n := &Note{
		Attempt: s.Deliver.Attempt, Array: s.Job.Array, Name: s.Job.Name, Owner: s.Job.Owner,
		Queue: s.Queue.Name + "@" + s.Queue.Host, Options: spec.MailOptions, To: spec.MailTo,
		OwnShell: report.OwnShell(s.Job, s.Queue.ShellStartMode),
	}
	if len(n.To) == 0 {
		n.To = []string{n.Owner + "@" + spec.SubmitHost}
	}
	return n
}

// mailsLater reports whether there may be mail after the start.
func (n *Note) mailsLater() bool { return strings.ContainsAny(n.Options, "eas") }

// withoutStartMail returns the note as it is stored: the start is not mailed twice.
func (n *Note) withoutStartMail() Note {
	k := *n
	k.Options = strings.ReplaceAll(n.Options, "b", "")
	return k
}

func (n *Note) title() string {
	if n.Array {
		return fmt.Sprintf("Job-array task %d.%d (%s)", n.Attempt.Job, n.Attempt.Task, n.Name)
	}
	return fmt.Sprintf("Job %d (%s)", n.Attempt.Job, n.Name)
}

func (n *Note) mailsOf(subject, text string) []report.Mail {
	return []report.Mail{{Owner: n.Owner, To: n.To, Subject: subject, Text: subject + "\n" + text}}
}

// startMails returns the mail of -m b.
func (n *Note) startMails(on mailHost, a *attempt) []report.Mail {
	if !strings.Contains(n.Options, "b") {
		return nil
	}
	queue, _, _ := strings.Cut(n.Queue, "@")
	return n.mailsOf(n.title()+" Started", fmt.Sprintf(` User       = %s
 Queue      = %s
 Host       = %s
 Start Time = %s
`, n.Owner, queue, on.host, on.formatTime(a.began)))
}

// suspensionMails returns the mail of -m s, when the job is suspended and when it is resumed.
func (n *Note) suspensionMails(kind report.SignalKind) []report.Mail {
	what, ok := map[report.SignalKind]string{report.Suspend: " Suspended", report.Resume: " Continued"}[kind]
	if !ok || !strings.Contains(n.Options, "s") {
		return nil
	}
	return n.mailsOf(n.title()+what, "")
}

// endMails returns the mail of -m e, or of -m a for a job that failed.
func (n *Note) endMails(on mailHost, e *report.Result, u grid.Usage) []report.Mail {
	if e.Failed == report.NoFailure {
		if !strings.Contains(n.Options, "e") {
			return nil
		}
		return n.mailsOf(n.title()+" Complete", fmt.Sprintf(` User             = %s
 Queue            = %s
 Host             = %s
 Start Time       = %s
 End Time         = %s
 User Time        = %s
 System Time      = %s
 Wallclock Time   = %s
 CPU              = %s
 Max vmem         = %s
 Exit Status      = %d
`, n.Owner, n.Queue, on.host, on.formatTime(e.Start), on.formatTime(e.End), grid.FormatTimeSpan(u.UserSeconds), grid.FormatTimeSpan(u.SystemSeconds),
			grid.FormatTimeSpan(e.End.Sub(e.Start)), grid.FormatTimeSpan(u.CPU), formatMemory(u.MaxVMem), e.ExitStatus))
	}
	if !strings.Contains(n.Options, "a") {
		return nil
	}
	what, status, hint, cpu, end := "Aborted", fmt.Sprint(e.ExitStatus), "", grid.FormatTimeSpan(u.CPU),
		on.formatTime(e.End)
	switch e.Failed {
	case report.FailedMigrated:
		what = "Migrates"
	case report.FailedRestart:
		what = "Rescheduled"
	case report.FailedApplication:
		what = "Rescheduled due to application error"
	default:
		if e.Failed.Fault(n.OwnShell) != report.JobFault {
			break
		}
		what, hint = "Set in error state", "Use \"qmod -c <jobid>\" to clear job error state\nonce the problem is fixed.\n"
	}
	if e.Start == 0 {
		status, cpu, end = "-1", "NA", on.formatTime(0)
	}
	return n.mailsOf(n.title()+" "+what, fmt.Sprintf(` Exit Status      = %s
 Signal           = %s
 User             = %s
 Queue            = %s
 Host             = %s
 Start Time       = %s
 End Time         = %s
 CPU              = %s
 Max vmem         = %s
failed %s because:
%s
%s`, status, signalName(e.Signal), n.Owner, n.Queue, on.host, on.formatTime(e.Start), end, cpu, formatMemory(u.MaxVMem),
		e.Failed.Accounted(), n.reasonText(e), hint))
}

// mailedResult returns the result with the failure that qmaster derives from it.
func (c *Conf) mailedResult(e *report.Result) *report.Result {
	failed := e.Effective(c.MayRestart, c.MayFail)
	if failed == e.Failed {
		return e
	}
	own := *e
	own.Failed, own.Text = failed, fmt.Sprintf("exit status = %d", e.ExitStatus)
	return &own
}

func (n *Note) reasonText(e *report.Result) string {
	if e.Signal != 0 && (e.Text == "" || strings.HasPrefix(e.Text, report.SignalText)) {
		return fmt.Sprintf("job %d.%d died through signal %s (%d)", n.Attempt.Job, n.Attempt.Task,
			signalName(e.Signal), e.Signal)
	}
	return e.Text
}

// mailHost is what mails say of this host.
type mailHost struct {
	host string
	zone *time.Location
}

// formatTime returns a time as Grid Engine's mails do.
func (m mailHost) formatTime(t grid.Time) string {
	if t == 0 {
		return "<unknown>"
	}
	return t.Std().In(m.zone).Format("01/02/2006 15:04:05")
}

// formatMemory returns bytes with three decimals and a binary unit, NA for none.
func formatMemory(bytes float64) string {
	for _, u := range []struct {
		letter string
		size   float64
	}{{"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}} {
		if bytes >= u.size {
			return fmt.Sprintf("%.3f%s", bytes/u.size, u.letter)
		}
	}
	return "NA"
}

// signalName returns the name of a signal as mails have it.
func signalName(n uint32) string { return cmp.Or(report.SignalName(n), "unknown signal") }
