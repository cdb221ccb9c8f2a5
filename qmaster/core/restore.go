package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/quill-grid/quill/events"
	"github.com/quill-grid/quill/pkg/grid"
	"github.com/quill-grid/quill/pkg/report"
	"github.com/quill-grid/quill/pkg/state"
	"github.com/quill-grid/quill/qmaster/core/cell"
)

// A cell that is restored from a backup, or whose log has lost something, has forgotten what happened then. Numbers
// given since then are not given again, and what hosts still run from that time is forgotten: it is reported to the
// administrator, and kept or ended as qmaster_params END_FORGOTTEN_JOBS says.

// NumbersSkipped is how many numbers are left out unless the administrator says otherwise.
const NumbersSkipped = 1_000_000

// attemptsSkipped is how many attempts a task may have had between a backup and its restoration.
const attemptsSkipped = 1000

// Restored returns the list with which a state continues that was restored by who. The numbers of jobs, reservations,
// tokens and proposals continue after so many that may have been given since, and those of attempts as well.
func Restored(s *state.State, now grid.Time, who string, skip uint32) events.List {
	l := events.List{Seq: s.Seq + 1, At: max(now, s.At), Cause: events.Cause{Who: who, What: "restore"}}
	set := func(name string, value uint64) {
		l.Events = append(l.Events, events.Mod(&grid.Counter{Name: name, Value: value}))
	}
	attempts := s.Counter(grid.AttemptBase)
	s.Each(grid.KindJATask, func(o grid.Object) bool {
		attempts = max(attempts, uint64(o.(*grid.JATask).Attempt))
		return true
	})
	set(grid.AttemptBase, attempts+attemptsSkipped)
	if s.Counter(grid.RestoredAt) == 0 { // after the first of several: what was forgotten then may still run
		set(grid.RestoredAt, uint64(s.At))
	}
	set(grid.RestoredAsOf, uint64(s.At))
	set(grid.RestoredJob, s.Counter(grid.JobSeqNum))
	for _, name := range []string{grid.JobSeqNum, grid.TokenSeqNum, grid.ProposalSeqNum} {
		set(name, s.Counter(name)+uint64(skip))
	}
	set(grid.ARSeqNum, (s.Counter(grid.ARSeqNum)+uint64(skip))%grid.MostARs)
	return l
}

// What becomes of a forgotten attempt.
const (
	fateKept   = "it continues"
	fateEnding = "it is ended"
	fateEnded  = "it has ended"
)

// clocksDiffer is by how many seconds a host's clock may differ from qmaster's.
const clocksDiffer = 300

// isForgotten reports whether an attempt that the state does not know was started after the backup from which the state
// was restored. What had been started before and is not in the state was known to be over.
func (s *step) isForgotten(t report.Task) bool {
	if uint64(t.Attempt.N) > s.state.Counter(grid.AttemptBase) {
		return false
	}
	if uint64(t.Attempt.Job) > s.state.Counter(grid.RestoredJob) {
		return true
	}
	start := t.Start
	if t.Result != nil {
		start = t.Result.Start
	}
	return start == 0 || start.Add(clocksDiffer) >= grid.Time(s.state.Counter(grid.RestoredAt))
}

// takeForgotten decides on a forgotten attempt, and reports it once. Its task, if the state has it, is held: it must
// not run twice.
func (o *outbox) takeForgotten(host string, t report.Task, receipt *report.Receipt) {
	f := Forgotten{Host: host, Attempt: t.Attempt, Start: t.Start, Fate: fateKept}
	known := o.hosts.of(host).forgotten
	switch {
	case t.Phase == report.Ended:
		receipt.Have = append(receipt.Have, t.Attempt)
		f.Fate = fateEnded
		if t.Result != nil {
			f.Start, f.Fate = t.Result.Start, fmt.Sprintf("%s, exit status %d", fateEnded, t.Result.ExitStatus)
		}
		defer delete(known, t.Attempt)
	case o.cell.HasParam("END_FORGOTTEN_JOBS"):
		receipt.Drop = append(receipt.Drop, t.Attempt)
		f.Fate = fateEnding
	default:
		o.holdForgotten(t.Attempt)
	}
	if known[t.Attempt].Fate == f.Fate {
		return
	}
	if known == nil {
		known = map[report.Attempt]Forgotten{}
		o.hosts.of(host).forgotten = known
	}
	known[t.Attempt] = f
	o.ready.Forgotten = append(o.ready.Forgotten, f)
}

// endForgotten ends what continues, as soon as the configuration says so.
func (o *outbox) endForgotten() {
	if o.state.Counter(grid.RestoredAt) == 0 || !o.cell.HasParam("END_FORGOTTEN_JOBS") {
		return
	}
	for _, host := range sortedKeys(o.hosts) {
		known := o.hosts[host].forgotten
		for _, a := range slices.SortedFunc(maps.Keys(known), report.Attempt.Compare) {
			f := known[a]
			if f.Fate != fateKept {
				continue
			}
			f.Fate = fateEnding
			known[a] = f
			o.ready.Forgotten = append(o.ready.Forgotten, f)
			cmd := o.commandFor(host)
			cmd.Signals = append(cmd.Signals, report.Signal{Attempt: a, Kind: report.Terminate})
		}
	}
}

// holdForgotten gives the task of a forgotten attempt that continues a system hold.
func (s *step) holdForgotten(a report.Attempt) {
	j := s.state.Job(a.Job)
	if j == nil || a.PETask != "" || j.SysHold.Contains(a.Task) || !j.Pending.Contains(a.Task) &&
		s.state.Task(a.Job, a.Task) == nil {
		return
	}
	n := *j
	n.SysHold = j.SysHold.With(a.Task)
	n.Version++
	s.emit(events.Mod(&n))
}

// mailForgotten reports the forgotten attempts of a report to the administrators.
func (s *step) mailForgotten(host string) {
	const most = 100
	to := cell.ConfNames(s.cell.Param("administrator_mail"))
	if len(s.ready.Forgotten) == 0 || len(to) == 0 {
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "The cell was restored as of %s. Host %s reports what was started after it:\n",
		stamp(grid.Time(s.state.Counter(grid.RestoredAsOf))), host)
	for i, f := range s.ready.Forgotten {
		if i == most {
			fmt.Fprintf(&text, "and %d more, see the log of qmaster\n", len(s.ready.Forgotten)-most)
			break
		}
		fmt.Fprintf(&text, "job %d task %d (attempt %s), since %s: %s\n", f.Attempt.Job, f.Attempt.Task, f.Attempt,
			stamp(f.Start), f.Fate)
	}
	text.WriteString("Tasks of jobs that the cell has are on system hold: qrls -h s starts them again.\n")
	s.mail(host, to, "Forgotten jobs on host "+host, text.String())
}

// lostOn returns why an attempt is over that its host does not report any more.
func (s *step) lostOn(host string, a report.Attempt) string {
	text := "host " + host + " no longer knows it"
	if asOf := s.state.Counter(grid.RestoredAsOf); asOf != 0 && uint64(a.N) <= s.state.Counter(grid.AttemptBase) {
		text = "the cell was restored as of " + stamp(grid.Time(asOf)) + ", and " + text
	}
	return text
}

// awaitsHosts returns why a job of a restored state is not started yet: until every host that is not silent has
// reported its attempts, the job may run there already. "" when it may start.
func (out *outbox) awaitsHosts(job uint32) string {
	if uint64(job) > out.state.Counter(grid.RestoredJob) || out.complete {
		return ""
	}
	awaited := ""
	out.state.Each(grid.KindLoad, func(o grid.Object) bool {
		l := o.(*grid.Load)
		if talk := out.hosts[l.Host]; l.Host != grid.GlobalHost && !l.Unheard && (talk == nil || !talk.listed) {
			awaited = l.Host
		}
		return awaited == ""
	})
	if out.complete = awaited == ""; out.complete {
		return ""
	}
	return fmt.Sprintf("the cell was restored, and host %s has not yet reported what it runs", awaited)
}
